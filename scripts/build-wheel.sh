#!/usr/bin/env bash
# build-wheel.sh [BUILD_FOLDER]: makes dist/glowish-VERSION-cp311-cp311-linux_x86_64.whl
# of the release preset, which it builds, or of BUILD_FOLDER as it is. $DIST: another
# folder than dist. The wheel has the module and libglowish; the libraries that this needs
# are Debian's (docs/python.md#the-wheel), of which LLVM alone has 129 MB.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  -h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
build=${1-}
dist=$(realpath -m "${DIST:-dist}")
python=${GLOWISH_PYTHON:-/usr/bin/python3}
if [[ -z $build ]]; then
  scripts/install-deps.sh --python
  scripts/build.sh release glowish glowish-python
  build=build/release
fi
if [[ ! -e $(echo "$build"/python/glowish/_glowish.*.so) ]]; then
  echo "build-wheel.sh: '$build' has no Python module" \
    "(scripts/install-deps.sh --python)" >&2
  exit 1
fi

# Wheels have the permissions of their files.
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for component in Python Library; do
  cmake --install "$build" --strip --component "$component" --prefix "$work/install" \
    >/dev/null
done
mkdir "$work/wheel"
cp -r "$work"/install/lib/python3/dist-packages/* "$work/wheel"
# By the name that programs are linked with, in place of links, which wheels lack.
library=$(echo "$work"/install/lib*/libglowish.so.*.*.*)
cp "$library" "$work/wheel/glowish/$(basename "${library%.*}")"
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
info=$(echo "$work"/wheel/glowish-*.dist-info)
printf 'Wheel-Version: 1.0\nGenerator: glowish\nRoot-Is-Purelib: false\nTag: %s\n' \
  "$tag-$tag-linux_$(uname -m)" >"$info/WHEEL"
# Files have the time of the commit, so that it gives the same wheel.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
# What it is made of, where PEP 770 has it.
mkdir "$info/sboms"
pch=CMakeFiles/glowish-pch-
"$python" packaging/sbom.py --build "$build" --wheel \
  --output "$info/sboms/glowish.spdx.json" --requires glowish=python3,python3-numpy \
  "glowish=$work/wheel=lib/,python/,${pch}llvm,${pch}graph,${pch}onnx,${pch}codegen,${pch}driver"
mkdir -p "$dist"
"$python" -m wheel pack --dest-dir "$dist" "$work/wheel" >"$work/log" || {
  cat "$work/log" >&2
  exit 1
}
wheel=$(sed -n 's/^Repacking wheel as \(.*\.whl\)\.\.\.OK$/\1/p' "$work/log")
echo "$wheel: $(($(stat -c %s "$wheel") / 1024)) KB," \
  "installed $(du -sk "$work/wheel" | cut -f1) KB"
