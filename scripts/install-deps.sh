#!/usr/bin/env bash
# install-deps.sh [--train] [--fonts] [--bench] [--cross] [--browser] [--torch]
# [--mlir] [--mpi] [--package] [--python] [--serving] [--docs]:
# installs what a bare Debian 12 lacks for building and testing glowish. Packages that
# are there already are left alone, and when none is missing nothing is run.
# Needs root or sudo.
#
#   --train    also what the train.sh of examples/ need (NumPy, Pillow)
#   --fonts    also the fonts of examples/digits
#   --bench    also what bench/compare (Node.js, PyTorch) and bench/kernels
#              (OpenBLAS, oneDNN) need
#   --cross    also the compilers for other processors with which
#              tests/e2e/cross.sh and examples/microcontroller link bundles, QEMU for
#              RISC-V without a system, and MinGW and Wine, with which
#              tests/e2e/platforms.py runs bundles for Windows (490 MB to load, 2.6 GB
#              installed)
#   --browser  also Chromium, in which tests/e2e/report.py opens reports and
#              tests/e2e/web_page.py the page of examples/web
#   --torch    also libtorch, with which TorchScript archives are read (260 MB to
#              load, 780 MB installed)
#   --mlir     also MLIR's tools, with which tests/e2e/mlir.py and glowish-fuzz run
#              what model-compiler -emit-mlir writes (62 MB to load, 370 MB
#              installed)
#   --mpi      also Open MPI, by which the tools run on several processes, for
#              libglowish-mpi and its tests
#   --package  also what scripts/package.sh needs for all Debian packages, libtorch and
#              Open MPI, and what tests/e2e/deb_packages.sh checks them with
#   --python   also what the Python module and its tests need: pybind11, NumPy, ONNX
#   --serving  also what examples/serving and its test need: libmicrohttpd, ab
#   --docs     also MkDocs, with which scripts/build-docs.sh makes a site of docs/
set -euo pipefail

packages=(
  # The compiler, its tools, and the libraries it is built with.
  cmake ninja-build ccache clang-19 lld-19 llvm-19-dev llvm-19-tools
  libonnx-dev libprotobuf-dev protobuf-compiler libflatbuffers-dev
  flatbuffers-compiler libgoogle-glog-dev libzip-dev zlib1g-dev libzstd-dev
  # scripts/format.sh, which a test runs, and scripts/tidy.sh.
  clang-format-19 clang-tidy-19
  # The tests: GoogleTest, the runtimes of the sanitizers and of libFuzzer, and lit's
  # interpreter.
  libgtest-dev libgmock-dev libbenchmark-dev libclang-rt-19-dev python3 python3-yaml
  # ONNX's own tests of release 1.12.
  libonnx-testdata
  # Run bundles for several levels of x86-64 on processors of each, and for
  # other processors.
  qemu-user qemu-system-arm
  # model-trainer reads PNG and JPEG files, the demo PNG files.
  libpng-dev libjpeg-dev
  # The compilers of projects with bundles by their usual names, cc and c++, and a
  # build system of theirs (tests/e2e/build_systems.sh).
  gcc g++ meson
  # Debian packages, and what tests/e2e/deb_packages.sh checks them with.
  dpkg-dev file pkgconf man-db
  # Proofs of what the rewrites of the optimizer keep.
  libz3-dev
  # Whether the interface in C is that of the last release.
  abigail-tools
)

for option in "$@"; do
  case $option in
    --train)
      packages+=(python3-numpy python3-pil)
      ;;
    --fonts)
      mapfile -t -O "${#packages[@]}" packages < <(
        sed -n 's/^\(fonts-[^ ]*\).*/\1/p' \
          "$(dirname "$0")/../examples/digits/fonts.txt")
      ;;
    --bench)
      packages+=(nodejs npm python3-torch python3-torchvision python3-onnx
        libopenblas-dev libdnnl-dev)
      ;;
    --cross)
      packages+=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross
        gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
        gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-arm-none-eabi
        gcc-powerpc64-linux-gnu libc6-dev-ppc64-cross
        gcc-s390x-linux-gnu libc6-dev-s390x-cross
        gcc-mingw-w64-x86-64-win32 mingw-w64-x86-64-dev wine64
        gcc-riscv64-unknown-elf qemu-system-misc)
      ;;
    --browser)
      packages+=(chromium)
      ;;
    --torch)
      packages+=(libtorch-dev)
      ;;
    --mlir)
      packages+=(mlir-19-tools libmlir-19 python3-numpy)
      ;;
    --mpi)
      packages+=(openmpi-bin libopenmpi-dev)
      ;;
    --package)
      packages+=(libtorch-dev libopenmpi-dev lintian debootstrap)
      ;;
    --serving)
      packages+=(libmicrohttpd-dev apache2-utils python3-numpy)
      ;;
    --docs)
      packages+=(mkdocs python3-pygments)
      ;;
    --python)
      packages+=(python3-dev pybind11-dev python3-numpy python3-onnx python3-wheel
        python3-setuptools)
      ;;
    -h | --help)
      sed -n '2,32s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "install-deps.sh: unknown option $option (see --help)" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "install-deps.sh: not a Debian system; nothing is installed." \
    "Needed: ${packages[*]}" >&2
  exit 0
fi

installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package}\n' |
  sed -n 's/^installed //p' | tr '\n' ' ')"
missing=()
for package in "${packages[@]}"; do
  # Node.js's own packages bring npm along inside nodejs.
  [[ $package == npm ]] && command -v npm >/dev/null && continue
  [[ $installed == *" $package "* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

echo "==> installing ${#missing[@]} Debian packages"
asRoot=()
if [[ $(id -u) != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: neither root nor sudo; as root, run" \
      "apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  asRoot=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  "${asRoot[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o Dpkg::Options::=--force-confold "$@" </dev/null >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    echo "install-deps.sh: apt-get $1 failed" >&2
    exit 1
  }
}
apt update
apt install --no-install-recommends "${missing[@]}"
