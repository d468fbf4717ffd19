#!/usr/bin/env bash
# demo.sh [IMAGE.png...]: compiles the digit recogniser of examples/digits to
# a bundle, links a C program with it, and shows it images of digits: those
# named, or the ones of the example. A file's first character is taken as the
# digit that it shows; fails if less than 95 % are recognised.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use.
set -euo pipefail
images=()
for image in "$@"; do images+=("$(realpath "$image")"); done
cd "$(dirname "$0")/.."

if [[ -z ${GLOWISH_BIN:-} ]]; then
  scripts/install-deps.sh
  scripts/build.sh release model-compiler
  GLOWISH_BIN=build/release/bin
fi

out=$PWD/build/demo
echo "==> compiling examples/digits/digits.onnx to a bundle"
"$GLOWISH_BIN/model-compiler" -model=examples/digits/digits.onnx \
  -backend=CPU -emit-bundle="$out" -network-name=digits \
  -bundle-api=static -weights=embed
echo "==> linking examples/digits/main.c with it"
clang-19 -std=c99 -O2 -Wall -Wextra -I"$out" examples/digits/main.c \
  "$out/digits.o" -lpng -o "$out/digits"

echo "==> running build/demo/digits"
cd examples/digits/images
[[ ${#images[@]} -gt 0 ]] || images=(*.png)
"$out/digits" "${images[@]}" | tee "$out/answers.txt"

# An answer is printed as: digit, chance, file.
grep -oE '[0-9] +[0-9.]+ %  [^ ]+\.png' "$out/answers.txt" |
  awk '{ n = split($4, path, "/")
         if (substr(path[n], 1, 1) == $1) right++ }
       END { printf "%d of %d images right (%.1f %%)\n",
                    right, NR, NR ? 100 * right / NR : 0
             exit !(NR && right >= 0.95 * NR) }'
