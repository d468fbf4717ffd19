#!/usr/bin/env bash
# check-reproducible.sh [FOLDER]: whether the sources of the last commit always give the same
# Debian packages: builds them twice with scripts/package.sh, in two checkouts of different
# folders below FOLDER (default: a temporary one, removed in the end), one after the other,
# with another umask, locale, time zone, home folder and number of compilers at once, and
# without ccache. The packages must have the same bytes.
# Prints the checksums; exits 1 with the files that differ.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  -h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
sources=$PWD
# The branch may go on in the meantime.
commit=$(git rev-parse HEAD)
if [[ $# -gt 0 ]]; then
  mkdir -p "$1"
  work=$(realpath "$1")
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# build FOLDER: the packages of a new checkout, in FOLDER/build/packages.
build() {
  rm -rf "$1"
  mkdir -p "$(dirname "$1")"
  git clone -q --no-hardlinks "$sources" "$1"
  git -C "$1" checkout -q --detach "$commit"
  echo "==> $1, umask $(umask), $(date -R)"
  # Tests are in no package.
  (cd "$1" && cmake --preset release -DGLOWISH_BUILD_TESTS=OFF >/dev/null)
  CCACHE_DISABLE=1 "$1/scripts/package.sh"
}

build "$work/one"
(
  umask 077
  mkdir -p "$work/home"
  export HOME=$work/home LC_ALL=C TZ=Pacific/Auckland JOBS=${JOBS:-$(($(nproc) + 1))}
  build "$work/a-folder-with-a-longer-name/two"
)

echo "==> comparing"
cd "$work/one/build/packages"
other="$work/a-folder-with-a-longer-name/two/build/packages"
different=0
for package in *.deb; do
  if cmp -s "$package" "$other/$package"; then
    sha256sum "$package"
    continue
  fi
  different=1
  echo "$package differs:"
  for each in "$PWD" "$other"; do
    rm -rf "$work/unpacked"
    dpkg-deb -R "$each/$package" "$work/unpacked"
    (cd "$work/unpacked" && find . -type f -exec sha256sum {} + | sort -k2) \
      >"$work/$([[ $each == "$PWD" ]] && echo one || echo two).txt"
  done
  diff "$work/one.txt" "$work/two.txt" || :
done
exit $different
