#!/usr/bin/env bash
# c_interface.sh BUILD_FOLDER [--write]: installs that build, and makes examples/library with
# it by pkg-config, in each language whose compiler is there. What the programs print is what
# their README shows. glowish.h is C99, declares what the library exports, and differs from
# the interface of the last release, c_interface/release.abi, by additions alone (with abidw
# and abidiff of Debian's abigail-tools). --write: what it is now becomes that of a release.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/../.."
baseline=$PWD/tests/e2e/c_interface/release.abi

work=$build/c-interface-test
rm -rf "$work"
mkdir "$work"
cmake --install "$build" --prefix "$work/prefix" >"$work/install.log"
lib=$(dirname "$(find "$work/prefix" -name libglowish.so)")
export PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
read -ra flags <<<"$(pkg-config --cflags --libs libglowish-c)"
sources=$PWD/examples/library

#===--- The examples ---===#

sed -n '/^prints$/,$p' examples/library/README.md |
  sed -n '/^```$/,/^```$/p' | grep -v '```' >"$work/expected.txt"
[[ $(wc -l <"$work/expected.txt") -eq 4 ]]

# check_example LANGUAGE: the program of that name, and what it says of a file that there is not.
check_example() {
  "$work/$1" "$sources/softmax.onnxtxt" >"$work/$1.txt" 2>"$work/$1.progress"
  diff "$work/expected.txt" "$work/$1.txt"
  grep -q '^ *[0-9]* % generate code$' "$work/$1.progress"
  local status=0
  "$work/$1" none.onnx 2>"$work/$1.error" || status=$?
  [[ $status -eq 1 ]]
  diff - "$work/$1.error" <<<"error: 'none.onnx': there is no such file"
  echo "$1: as its README shows"
}

# has LANGUAGE PROGRAM
has() {
  command -v "$2" >/dev/null || {
    echo "$1: skipped, there is no $2"
    return 1
  }
}

warnings=(-pedantic -Wall -Wextra -Werror)
for compiler in clang-19 gcc; do
  has "C with $compiler" "$compiler" || continue
  "$compiler" -std=c99 "${warnings[@]}" "$sources/main.c" "${flags[@]}" -o "$work/c"
  check_example c
done
for compiler in clang++-19 g++; do
  has "C++ with $compiler" "$compiler" || continue
  "$compiler" -std=c++17 "${warnings[@]}" "$sources/main.cpp" "${flags[@]}" -o "$work/cpp"
  check_example cpp
done
if has Rust rustc; then
  read -ra libraries <<<"$(pkg-config --libs libglowish-c)"
  rustc -D warnings -O "$sources/main.rs" "${libraries[@]}" -o "$work/rust"
  check_example rust
fi
if has Go go; then
  GOCACHE=$build/go-cache GOFLAGS=-mod=mod go build -o "$work/go" "$sources/main.go"
  check_example go
fi

# The log of glowish.hpp.
clang++-19 -std=c++17 "${warnings[@]}" tests/e2e/c_interface/log.cpp "${flags[@]}" -o "$work/log"
"$work/log" "$sources/softmax.onnxtxt" >"$work/log.txt" 2>"$work/log.error"
[[ ! -s $work/log.error && $(sed 's/ .*//' "$work/log.txt" | tr '\n' ' ') == '0.1 0.2 ' ]]

#===--- The interface ---===#

# What the header declares is what the library exports beside C++, but for what bundles and
# plug-ins call.
header=$work/prefix/include/glowish.h
grep -oE '\bglowish_[a-z_]+\(' "$header" | tr -d '(' | sort -u |
  grep -v '_function$' >"$work/declared.txt"
nm -D --defined-only "$lib/libglowish.so" >"$work/symbols.txt"
for name in $(cat "$work/declared.txt"); do
  grep -q " T $name@@GLOWISH_" "$work/symbols.txt" || {
    echo "the library has no $name"
    exit 1
  }
done
# All symbols have the version of the map.
! grep -v '@@GLOWISH_\| A GLOWISH_' "$work/symbols.txt" || exit 1
[[ $(wc -l <"$work/declared.txt") -ge 30 ]]

has 'The interface of the last release' abidiff || exit 0
# A variable for each function, of its type: debug information has all types then, which a
# library without it has not.
{
  echo '#include <glowish.h>'
  sed 's/.*/__typeof__(&) *abi_&;/' "$work/declared.txt"
} >"$work/interface.c"
clang-19 -std=gnu99 -g -gdwarf-4 -shared -fPIC -I "$work/prefix/include" \
  "$work/interface.c" -o "$work/libinterface.so"
if [[ ${2-} == --write ]]; then
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs "$work/libinterface.so" |
    sed "s|path='[^']*/interface.c'|path='interface.c'|" >"$baseline"
fi
abidiff --no-added-syms "$baseline" "$work/libinterface.so"
# A function with another type is found.
sed 's/int32_t glowish_error_code/int64_t glowish_error_code/' "$header" \
  >"$work/prefix/include/glowish_changed.h"
sed 's/<glowish.h>/<glowish_changed.h>/' "$work/interface.c" >"$work/changed.c"
clang-19 -std=gnu99 -g -gdwarf-4 -shared -fPIC -I "$work/prefix/include" \
  "$work/changed.c" -o "$work/libchanged.so"
! abidiff --no-added-syms "$baseline" "$work/libchanged.so" >"$work/changed.txt" || {
  echo 'abidiff does not see a change'
  exit 1
}
echo 'interface: as in the last release, or with additions'
