#!/usr/bin/env bash
# run.sh [BOARD...]: compiles words.onnx for boards (all that boards/ has a toolchain file for,
# if none is named), links it with main.c, and runs the program in QEMU. A board whose
# compiler or emulator is not installed is skipped with a line that names it
# (scripts/install-deps.sh --cross installs them). Exits 1 if a word is not recognized,
# 77 if every board was skipped.
#
# $WORK: another folder than build/microcontroller. Builds what is missing of glowish,
# unless $GLOWISH_BIN names the folder of programs to use.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
work=$(realpath -m "${WORK:-$root/build/microcontroller}")
available=(mps2-an386 mps3-an547 rv32imc)
[[ $# -gt 0 ]] || set -- "${available[@]}"
for board in "$@"; do
  if [[ " ${available[*]} " != *" $board "* ]]; then
    echo "run.sh: there is no board $board, only: ${available[*]}" >&2
    exit 1
  fi
done
if [[ -z ${GLOWISH_BIN:-} ]]; then
  GLOWISH_BIN=$root/build/release/bin
  if [[ ! -x $GLOWISH_BIN/model-compiler ]]; then
    "$root/scripts/install-deps.sh" >&2
    "$root/scripts/build.sh" release model-compiler >&2
  fi
fi

# The first program that the board's toolchain file names and that is not installed.
findMissing() { # board
  local program
  for program in $(sed -n 's/^set(CMAKE_C_COMPILER \([^ )]*\).*/\1/p
    s/^set(BOARD_EMULATOR \([^ )]*\).*/\1/p' \
    "$here/boards/$1.cmake"); do
    command -v "$program" >/dev/null || { echo "$program"; return; }
  done
}

ran=0 failed=0
for board in "$@"; do
  missing=$(findMissing "$board")
  if [[ -n $missing ]]; then
    echo "$board: skipped, $missing is not installed"
    continue
  fi
  echo "==> $board"
  mkdir -p "$work/$board"
  cmake -G Ninja -S "$here" -B "$work/$board" \
    -DCMAKE_TOOLCHAIN_FILE="$here/boards/$board.cmake" \
    -DGLOWISH_MODEL_COMPILER="$(realpath "$GLOWISH_BIN")/model-compiler" \
    >"$work/$board/cmake.log" 2>&1 || { cat "$work/$board/cmake.log"; exit 1; }
  cmake --build "$work/$board" >"$work/$board/build.log" 2>&1 ||
    { cat "$work/$board/build.log"; exit 1; }
  cmake --build "$work/$board" --target run -- --quiet </dev/null || ((++failed))
  ((++ran))
done
[[ $ran -gt 0 ]] || exit 77
[[ $failed -eq 0 ]]
