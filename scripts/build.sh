#!/usr/bin/env bash
# build.sh [PRESET [TARGET...]]: configures and builds a CMake preset (release,
# debug or asan; release if none is named) in build/PRESET. JOBS=N sets the
# number of compilers that run at once; the default is one a processor.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
shift $(($# > 0 ? 1 : 0))
jobs=${JOBS:-$(nproc)}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [[ ! -e build/$preset/build.ninja ]]; then
  echo "==> configuring build/$preset"
  cmake --preset "$preset" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
fi

echo "==> building ${*:-everything} in build/$preset"
quiet=(--quiet)
if [[ -t 1 ]]; then quiet=(); fi
SECONDS=0
ninja -C "build/$preset" -j "$jobs" "${quiet[@]}" "$@"
echo "    built in $SECONDS s"
