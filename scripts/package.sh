#!/usr/bin/env bash
# package.sh: builds the release preset and makes Debian packages of it, in
# build/packages. The same commit gives the same bytes (docs/packages.md).
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-deps.sh --package
scripts/build.sh release
echo "==> packing"
rm -rf build/packages
packaging/pack.sh build/release build/packages
cd build/packages
for package in *.deb; do
  dpkg-deb --show --showformat='${Package} ${Installed-Size}\n' "$package"
done | while read -r name size; do
  file=$(echo "$name"_*.deb)
  printf '    %-32s %6d KB, installed %6d KB\n' "$file" \
    $(($(stat -c %s "$file") / 1024)) "$size"
done
