#!/usr/bin/env bash
# package.sh BUILD_FOLDER: installs that build and makes the digits and chat
# examples, and that for a microcontroller where there is a compiler for one, with
# the installed package only: find_package(glowish), glowish_add_bundle().
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../.."

work=$build/package-test
rm -rf "$work"
cmake --install "$build" --prefix "$work/prefix" >"$build/package-test.log"
cmake -S examples/digits -B "$work/digits" -G Ninja \
  -DCMAKE_C_COMPILER=clang-19 -DCMAKE_BUILD_TYPE=Release -DDIGITS_THREADS=2 \
  -Dglowish_DIR="$(echo "$work"/prefix/lib*/cmake/glowish)"
cmake --build "$work/digits"
cmake -S examples/chat -B "$work/chat" -G Ninja -DCMAKE_C_COMPILER=clang-19 \
  -DCMAKE_BUILD_TYPE=Release \
  -Dglowish_DIR="$(echo "$work"/prefix/lib*/cmake/glowish)"
cmake --build "$work/chat"
"$work/chat/chat" -p "Count to three." "$(find "$work/chat" -name '*.weights.bin')" \
  examples/chat/chat.tok | tee "$work/answer.txt"
grep -qx 'One, two, three.' "$work/answer.txt"
if command -v arm-none-eabi-gcc >/dev/null; then
  cmake -S examples/microcontroller -B "$work/board" -G Ninja \
    -DCMAKE_TOOLCHAIN_FILE=boards/mps2-an386.cmake \
    -Dglowish_DIR="$(echo "$work"/prefix/lib*/cmake/glowish)"
  cmake --build "$work/board"
fi
cd examples/digits/images
"$work/digits/recognise" 3_0.png | tee "$work/answer.txt"
grep -q '^3 .*3_0.png' "$work/answer.txt"

# Nothing of the build folder is needed once the package is installed.
! grep -r --include='*.cmake' -F "$build/lib" "$work/prefix" || exit 1
