# shellcheck shell=bash
# Sourced by scripts that compile: heaps in large pages (glibc 2.35) have fewer page faults,
# which take long on virtual machines. clang++ has a tenth of them and is 4 % faster,
# model-compiler half and 4 to 20 %.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}
