#!/usr/bin/env bash
# build.sh [FOLDER]: makes the page in build/web (or FOLDER): compiles the two
# networks to WebAssembly and copies the page's files beside them. A static server
# is all that it needs then:
#
#   python3 -m http.server -d build/web
#
# Builds what is missing, unless $GLOWISH_BIN names the folder of programs to use.
set -euo pipefail
folder=$(realpath -m "${1:-build/web}")
cd "$(dirname "$0")/../.."
if [[ -z ${GLOWISH_BIN:-} ]]; then
  scripts/install-deps.sh
  scripts/build.sh release model-compiler
  GLOWISH_BIN=build/release/bin
fi

compile() { # network, options
  "$GLOWISH_BIN/model-compiler" -model="examples/$1/$1.onnx" \
    -target=wasm32-unknown-unknown -mattr=+simd128 \
    -emit-bundle="$folder/$1" -network-name="$1" "${@:2}"
}

mkdir -p "$folder"
compile digits
compile shapes -define-symbol=N,1
cp examples/web/index.html examples/web/page.mjs examples/web/page.css \
  examples/shapes/sheet.png "$folder"
echo "==> $folder"
