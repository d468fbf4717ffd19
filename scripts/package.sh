#!/usr/bin/env bash
# package.sh: builds the release preset and makes Debian packages of it, in
# build/packages. Their files have the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh --package
scripts/build.sh release
echo "==> packing"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
rm -rf build/packages
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cpack --config build/release/CPackConfig.cmake -B "$PWD/build/packages" \
  >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
rm -rf build/packages/_CPack_Packages
cd build/packages
for package in *.deb; do
  dpkg-deb --show --showformat='${Package} ${Installed-Size}\n' "$package"
done | while read -r name size; do
  file=$(echo "$name"_*.deb)
  printf '    %-32s %6d KB, installed %6d KB\n' "$file" \
    $(($(stat -c %s "$file") / 1024)) "$size"
done
