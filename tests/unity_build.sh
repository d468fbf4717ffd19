#!/usr/bin/env bash
# unity_build.sh FOLDER: the library compiles with GLOWISH_UNITY, as scripts/demo.sh
# builds it: no two files of a layer that are compiled together have the same name
# at file scope.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release -B "$1" -DGLOWISH_UNITY=ON -DGLOWISH_BUILD_TESTS=OFF >/dev/null
ninja -C "$1" --quiet glowish
