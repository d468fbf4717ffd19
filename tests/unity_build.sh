#!/usr/bin/env bash
# unity_build.sh FOLDER: all compiles with GLOWISH_UNITY, as .ci/run and
# scripts/demo.sh build it: no two files that are compiled together have the same name
# at file scope. It only has to compile, so nothing is optimised: not as a release
# build, whose tests state a level of optimization.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset release -B "$1" -DGLOWISH_UNITY=ON -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
ninja -C "$1" --quiet
