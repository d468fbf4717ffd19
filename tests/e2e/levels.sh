#!/usr/bin/env bash
# levels.sh: compiles the digit recogniser for three levels of x86-64 in one
# bundle and runs it on emulated processors of each, and of none. The outputs
# must be the interpreter's, and the level chosen the best that there is. Exits
# 77 where there is no x86-64 or no qemu-x86_64. $GLOWISH_BIN: the programs
# (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."
export GLOWISH_BIN=${GLOWISH_BIN:-build/release/bin}
if [[ $(uname -m) != x86_64 ]] || ! command -v qemu-x86_64 >/dev/null; then
  echo "no x86-64, or no qemu-x86_64"
  exit 77
fi
work=build/e2e/levels
rm -rf "$work"
mkdir -p "$work"

# A random image: the output of a program that copies its input.
cat >"$work/image.graph" <<'GRAPH'
module "m"
placeholder %x : float<1x1x28x28> input "x"
placeholder %y : float<1x1x28x28> output "image"
function "main" {
  Save(%x, %y)
}
GRAPH
model=examples/digits/digits.onnx
"$GLOWISH_BIN/model-runner" -model="$work/image.graph" -random-inputs=7 \
  -output-dir="$work" >/dev/null
"$GLOWISH_BIN/model-runner" -model=$model -backend=Interpreter \
  -input=image="$work/image.npy" -output-dir="$work/expected" >/dev/null
args=(-input=image="$work/image.npy")
for file in "$work"/expected/*.npy; do
  name=${file##*/}
  args+=("-expect=${name%.npy}=$file")
done

# What network_select returns, as a distance from network_select itself.
cat >"$work/select.c" <<'C'
#include "network.h"
#include <stdio.h>
int main(void) {
  printf("%ld\n", (long)((const char *)network_select() -
                         (const char *)network_select));
  return 0;
}
C

compile() { # levels
  tests/e2e/make_bundle.sh "$work" -model=$model -mcpu="$1" >/dev/null
  clang-19 -std=c99 -O2 -I"$work" "$work/select.c" "$work/network.o" \
    -o "$work/select"
}

# Prints the name of the function that is chosen when "$@" runs the program.
chosen() {
  local distance
  distance=$("$@" "$work/select" 2>/dev/null)
  llvm-nm-19 "$work/select" | awk -v distance="$distance" '
    function number(hex,  i, n) {
      for (i = 1; i <= length(hex); ++i)
        n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
      return n
    }
    $2 ~ /[tT]/ { address[$3] = number($1) }
    END { for (name in address)
            if (address[name] - address["network_select"] == distance)
              print name }'
}

failed=0
check() { # expected function, runner...
  local expected=$1 actual output
  shift
  actual=$(chosen "$@")
  output=$("$@" "$work/run" "$work/network.weights.bin" "${args[@]}" 2>&1 || true)
  local verdict=right
  [[ $actual == "$expected" ]] || verdict="WRONG: chose $actual"
  if [[ $expected == refuse ]]; then
    [[ $output == *error* ]] || verdict="WRONG: not refused: $output"
  elif ! awk -F'[(]' '/of the largest magnitude/ { n++; if ($2 + 0 > 1e-5) bad = 1 }
                      END { exit bad || !n }' <<<"$output"; then
    verdict="WRONG: $output"
  fi
  printf '%-28s %-12s %s\n' "$*" "$expected" "$verdict"
  [[ $verdict == right ]] || failed=1
}

compile x86-64-v2,x86-64-v3,x86-64-v4
check network_v3 qemu-x86_64 -cpu Haswell
check network_v2 qemu-x86_64 -cpu Nehalem
check refuse qemu-x86_64 -cpu qemu64
# AVX2 that the system does not save does not count.
check network_v2 qemu-x86_64 -cpu Haswell,-xsave
# A processor with all of AVX2 but one feature that the level has.
check network_v2 qemu-x86_64 -cpu Haswell,-bmi2
if grep -qw avx512vl /proc/cpuinfo && grep -qw avx512dq /proc/cpuinfo; then
  check network_v4 env
fi
compile x86-64,x86-64-v3
check network_v3 qemu-x86_64 -cpu Haswell
check network_v1 qemu-x86_64 -cpu Nehalem
check network_v1 qemu-x86_64 -cpu qemu64
exit $failed
