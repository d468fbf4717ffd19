#!/usr/bin/env bash
# build.sh [PRESET [TARGET...]]: configures and builds a CMake preset (release,
# debug or asan; release if none is named) in build/PRESET. JOBS=N sets the
# number of compilers that run at once; the default is one a processor.
#
# A folder that is configured already is configured again if Debian packages were
# installed or removed in the meantime: what is built depends on what is there.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/large-pages.sh

preset=${1:-release}
shift $(($# > 0 ? 1 : 0))
jobs=${JOBS:-$(nproc)}
folder=build/$preset

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Empty where there is no dpkg.
packages=$(sha256sum /var/lib/dpkg/status 2>/dev/null | cut -d' ' -f1 || :)
if [[ ! -e $folder/build.ninja || $packages != $(cat "$folder/packages.sum" 2>/dev/null) ]]; then
  echo "==> configuring $folder"
  # CMake looks again for what it did not find, but not for what it found.
  gone=()
  if [[ -e $folder/CMakeCache.txt ]]; then
    while IFS='=' read -r name path; do
      [[ -e $path ]] || gone+=("-U${name%%:*}")
    done < <(grep -E '^[^#/][^=]*:(FILE)?PATH=/' "$folder/CMakeCache.txt")
  fi
  cmake --preset "$preset" "${gone[@]}" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
  echo "$packages" >"$folder/packages.sum"
fi

echo "==> building ${*:-everything} in $folder"
quiet=(--quiet)
if [[ -t 1 ]]; then quiet=(); fi
SECONDS=0
ninja -C "$folder" -j "$jobs" "${quiet[@]}" "$@"
echo "    built in $SECONDS s"
