#!/usr/bin/env bash
# unity_build.sh FOLDER: the library compiles with GLOWISH_UNITY, as scripts/demo.sh
# builds it: no two files of a layer that are compiled together have the same name
# at file scope. It only has to compile, so nothing is optimised.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release -B "$1" -DGLOWISH_UNITY=ON -DGLOWISH_BUILD_TESTS=OFF \
  -DCMAKE_CXX_FLAGS_RELEASE=-O0 >/dev/null
ninja -C "$1" --quiet glowish
