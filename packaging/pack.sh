#!/usr/bin/env bash
# pack.sh BUILD_FOLDER FOLDER: makes the Debian packages of a build in FOLDER. The same build
# gives the same bytes: files have the time of the commit, or $SOURCE_DATE_EPOCH, and neither
# the umask nor the locale or the time zone matter.
set -euo pipefail
if [[ $# != 2 ]]; then
  sed -n '2,4s/^# \{0,1\}//p' "$0"
  exit 2
fi
build=$(realpath "$1")
folder=$(realpath -m "$2")
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
# Packages have the permissions of folders that CPack makes.
umask 022
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cpack --config "$build/CPackConfig.cmake" -B "$folder" >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
rm -rf "$folder/_CPack_Packages"
