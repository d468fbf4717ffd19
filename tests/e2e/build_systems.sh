#!/usr/bin/env bash
# build_systems.sh BUILD_FOLDER cmake|meson|make: installs that build and makes
# examples/build-systems with it by that build system, for this machine and for
# 64-bit Arm, which QEMU runs. The program runs in its build folder, and from where it was
# installed after that folder was moved. With CMake also: the options that a toolchain file
# stands for make the same code as those that the docs state. Exits with 77 where the build
# system is not installed.
set -euo pipefail
trap 'echo "failed: line $LINENO" >&2' ERR
build=$(realpath "$1")
system=$2
cd "$(dirname "$0")/../.."
example=$PWD/examples/build-systems
wine=$PWD/tests/e2e/wine.py
if ! command -v "$system" >/dev/null; then
  echo "skipped: $system is not installed (scripts/install-deps.sh)"
  exit 77
fi

work=$build/build-systems-test/$system
rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
# Meson asks the second one in cross builds.
export PKG_CONFIG_PATH=$work/prefix/share/pkgconfig
export PKG_CONFIG_PATH_FOR_BUILD=$PKG_CONFIG_PATH
package=$(echo "$work"/prefix/lib*/cmake/glowish)
compiler=$work/prefix/bin/model-compiler
printf '%s: three\n%s: star\n' "$example/3.pgm" "$example/star.ppm" >"$work/expected.txt"

# quietly COMMAND...: its output is shown where it fails.
quietly() {
  "$@" >"$work/log.txt" 2>&1 || {
    echo "failed: $*"
    cat "$work/log.txt"
    return 1
  }
}

# check_program [EMULATOR...] PROGRAM: it names the images, from any working directory.
check_program() {
  (cd / && "$@" "$example/3.pgm" "$example/star.ppm") | diff "$work/expected.txt" -
}

# check_windows_program PROGRAM: so does a program for Windows, in Wine where that is there.
check_windows_program() {
  local status=0
  (cd / && "$wine" "$1" "$example/3.pgm" "$example/star.ppm") >"$work/windows.txt" || status=$?
  if [[ $status == 77 ]]; then
    echo "not tested: the program for Windows; $(cat "$work/windows.txt")"
  else
    [[ $status == 0 ]]
    tr -d '\r' <"$work/windows.txt" | diff "$work/expected.txt" -
  fi
}

# check_installed FOLDER [EMULATOR...]: so does the installed program after a move; and it
# fails where weights are missing.
check_installed() {
  local moved=$1-moved
  mv "$1" "$moved"
  check_program "${@:2}" "$moved/bin/recognize"
  find "$moved" -name 'shapes.weights.bin' -delete
  ! "${@:2}" "$moved/bin/recognize" 2>"$work/missing.txt" || return 1
  grep -q '^shapes.weights.bin: not found' "$work/missing.txt"
}

emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
has_cross=
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
  has_cross=1
else
  echo "not tested: cross builds, without aarch64-linux-gnu-gcc and qemu-aarch64"
fi

# get_text OBJECT: its code.
get_text() {
  llvm-objcopy-19 -O binary -j .text "$1" "$work/text" 2>"$work/objcopy.txt" || {
    cat "$work/objcopy.txt"
    return 1
  }
  [[ -s $work/text ]]
  sha256sum <"$work/text"
}

# compare_options NAME TOOLCHAIN OPTION...: a project with that toolchain file makes the code
# that the options make. TOOLCHAIN is the text of the file, or its path.
compare_options() {
  local name=$1 toolchain=$2
  shift 2
  mkdir -p "$work/$name"
  if [[ $toolchain == *'('* ]]; then
    echo "$toolchain" >"$work/$name/toolchain.cmake"
    toolchain=$work/$name/toolchain.cmake
  fi
  cat >"$work/$name/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(derived LANGUAGES C)
find_package(glowish REQUIRED)
glowish_add_bundle(words "$PWD/examples/microcontroller/words.onnx" WEIGHTS embed)
END
  quietly cmake -S "$work/$name" -B "$work/$name/build" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY \
    -Dglowish_DIR="$package"
  quietly cmake --build "$work/$name/build" --target words.bundle/words.o
  quietly "$compiler" -model=examples/microcontroller/words.onnx -weights=embed \
    -emit-bundle="$work/$name/stated" -network-name=words "$@"
  local built=$work/$name/build/words.bundle/words.o stated=$work/$name/stated/words.o
  cmp -s "$built" "$stated" || [[ $(get_text "$built") == $(get_text "$stated") ]] || {
    echo "$name: the toolchain file does not stand for $*"
    return 1
  }
}

# A name, the compiler, and the options that a toolchain file of this name stands for.
toolchains=$(cat <<'END'
mps2-an386 arm-none-eabi-gcc -target=thumbv7em-none-eabihf -mcpu=cortex-m4
mps3-an547 arm-none-eabi-gcc -target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55
rv32imc riscv64-unknown-elf-gcc -target=riscv32-unknown-elf -mattr=+m,+c -mabi=ilp32
m4 arm-none-eabi-gcc -target=arm -mcpu=cortex-m4 -float-abi=hard
m4-soft arm-none-eabi-gcc -target=thumbv7em-none-eabi -mcpu=cortex-m4 -mattr=-fpregs
m33 arm-none-eabi-gcc -target=thumbv8m.main-none-eabihf -mcpu=cortex-m33
m33-no-dsp arm-none-eabi-gcc -target=thumbv8m.main-none-eabihf -mcpu=cortex-m33 -mattr=-dsp
m55-no-mve arm-none-eabi-gcc -target=thumbv8.1m.main-none-eabihf -mcpu=cortex-m55 -mattr=-mve,-mve.fp
aarch64 aarch64-linux-gnu-gcc -target=aarch64-linux-gnu
armhf arm-linux-gnueabihf-gcc -target=armv7a-linux-gnueabihf -mattr=-neon
riscv64 riscv64-linux-gnu-gcc -target=riscv64-linux-gnu
mingw x86_64-w64-mingw32-gcc -target=x86_64-w64-mingw32
clang-aarch64-linux-gnu clang-19 -target=aarch64-linux-gnu
clang-riscv64-linux-gnu clang-19 -target=riscv64-linux-gnu
stated clang-19 -target=x86_64-linux-gnu -mcpu=x86-64-v2
END
)

# get_toolchain NAME COMPILER OPTION...: the text of the toolchain file, or its path.
get_toolchain() {
  local system=Linux more=
  case $1 in
    mps* | rv32*)
      echo "$PWD/examples/microcontroller/boards/$1.cmake"
      return
      ;;
    m4) more='-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16' ;;
    m4-soft) more='-mcpu=cortex-m4 -mfloat-abi=soft' ;;
    m33) more='-mcpu=cortex-m33 -mfloat-abi=hard' ;;
    m33-no-dsp) more='-mcpu=cortex-m33+nodsp -mfloat-abi=hard' ;;
    m55-no-mve) more='-mcpu=cortex-m55+nomve -mfloat-abi=hard' ;;
  esac
  if [[ -n $more ]]; then
    system=Generic
    more="set(CMAKE_C_FLAGS_INIT \"-mthumb $more\")"
  elif [[ $1 == clang-* ]]; then
    more="set(CMAKE_C_COMPILER_TARGET ${1#clang-})"
  elif [[ $1 == stated ]]; then
    more="set(GLOWISH_TARGET_OPTIONS ${*:3})"
  fi
  printf '%s\n' "set(CMAKE_SYSTEM_NAME $system)" "set(CMAKE_C_COMPILER $2)" "$more"
}

# What toolchain files stand for, where their compilers are installed.
compare_toolchains() {
  local compared=0 name cc options
  while read -r name cc options; do
    command -v "$cc" >/dev/null || continue
    # shellcheck disable=SC2086
    compare_options "$name" "$(get_toolchain "$name" "$cc" $options)" $options
    compared=$((compared + 1))
  done <<<"$toolchains"
  echo "$compared toolchain files compared with options"
}

# refuse TEXT COMMAND: a project with this command in a folder above the one with the package
# fails with TEXT. All of them have one build folder, for which CMake tries the C compiler once.
refuse() {
  local folder=$work/refused
  mkdir -p "$folder/inner"
  cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.18)
project(refused LANGUAGES C)
add_subdirectory(inner)
add_executable(app "$example/main.c")
glowish_add_bundle(digits "$PWD/examples/digits/digits.onnx" WEIGHTS embed)
$2
END
  echo 'find_package(glowish REQUIRED)
glowish_add_bundle(inside "'"$PWD"'/examples/digits/digits.onnx")' >"$folder/inner/CMakeLists.txt"
  ! cmake -S "$folder" -B "$folder/build" -G Ninja -Dglowish_DIR="$package" \
    >"$work/refused.txt" 2>&1 || {
    echo "accepted: $2"
    return 1
  }
  tr -s '\n ' ' ' <"$work/refused.txt" | grep -qF "$1" || {
    cat "$work/refused.txt"
    return 1
  }
}

case $system in
  cmake)
    # compile NAME [OPTION...]
    compile() {
      quietly cmake -S "$example" -B "$work/$1" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS_RELEASE='-O2 -Wall -Wextra -Werror' -Dglowish_DIR="$package" "${@:2}"
      quietly cmake --build "$work/$1"
      quietly cmake --install "$work/$1" --prefix "$work/$1-installed"
      [[ -f $work/$1-installed/share/recognize/digits.weights.bin ]]
    }
    compile native
    check_program "$work/native/recognize"
    check_installed "$work/native-installed"
    # Nothing to do is left; and a changed model comes to the program's folder.
    cmake --build "$work/native" | grep -q 'no work to do'
    printf stale >"$work/native/digits.weights.bin"
    touch "$work"/native/digits.bundle/digits.weights.bin
    quietly cmake --build "$work/native"
    check_program "$work/native/recognize"
    # So does GNU Make.
    quietly cmake -S "$example" -B "$work/make" -G 'Unix Makefiles' -Dglowish_DIR="$package"
    quietly cmake --build "$work/make" --parallel 2
    check_program "$work/make/recognize"
    if [[ -n $has_cross ]]; then
      compile arm -DCMAKE_TOOLCHAIN_FILE="$example/toolchains/aarch64.cmake"
      check_program "${emulator[@]}" "$work/arm/recognize"
      check_installed "$work/arm-installed" "${emulator[@]}"
    fi
    if command -v x86_64-w64-mingw32-gcc >/dev/null; then
      compile windows -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc
      check_windows_program "$work/windows/recognize.exe"
    fi
    compare_toolchains
    refuse 'unknown arguments: NONE' 'glowish_add_bundle(x x.onnx NONE)'
    refuse 'the target inside is of another folder' 'glowish_add_bundle(x x.onnx TARGET inside)'
    refuse 'digits is no target of glowish_add_bundle with weights in files' \
      'glowish_install_weights(app digits)'
    refuse 'nothing is no target of glowish_add_bundle with weights in files' \
      'glowish_install_weights(app nothing)'
    refuse 'its weights are in two folders' 'glowish_install_weights(app inside)
glowish_install_weights(app inside DESTINATION share/app)'
    refuse 'does not say what it compiles for' 'set(CMAKE_CROSSCOMPILING TRUE)
set(CMAKE_C_FLAGS -fnonsense)
glowish_add_bundle(x x.onnx)'
    ;;
  meson)
    # compile NAME [OPTION...]
    compile() {
      quietly meson setup "$work/$1" "$example" --prefix="$work/$1-installed" \
        --werror -Dwarning_level=2 "${@:2}"
      quietly meson compile -C "$work/$1"
      quietly meson test -C "$work/$1"
      quietly meson install -C "$work/$1"
      [[ -f $work/$1-installed/share/recognize/digits.weights.bin ]]
    }
    compile native
    check_program "$work/native/recognize"
    check_installed "$work/native-installed"
    if [[ -n $has_cross ]]; then
      compile arm --cross-file="$example/toolchains/aarch64.meson"
      check_program "${emulator[@]}" "$work/arm/recognize"
      check_installed "$work/arm-installed" "${emulator[@]}"
      "${LLVM_READOBJ:-llvm-readobj-19}" -h "$work/arm/digits.o" | grep -q EM_AARCH64
    fi
    ;;
  make)
    # compile NAME [VARIABLE=VALUE...]
    compile() {
      quietly make -C "$example" CFLAGS='-O2 -Wall -Wextra -Werror' BUILD="$work/$1" \
        PREFIX="$work/$1-installed" "${@:2}" all install
    }
    compile native
    check_program "$work/native/recognize"
    check_installed "$work/native-installed"
    if [[ -n $has_cross ]]; then
      compile arm CC=aarch64-linux-gnu-gcc GLOWISH_OPTIONS='-target=aarch64-linux-gnu'
      check_program "${emulator[@]}" "$work/arm/recognize"
      check_installed "$work/arm-installed" "${emulator[@]}"
    fi
    ;;
  *)
    echo "build_systems.sh: $system is not cmake, meson or make" >&2
    exit 2
    ;;
esac
