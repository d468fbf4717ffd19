#!/usr/bin/env bash
# tidy.sh [FOLDER|FILE...]: runs clang-tidy-19 (.clang-tidy) on the source files of
# the release build below these, all of lib if none is named, and on the headers
# of the project that they include. JOBS=N sets how many run at once. What was
# found in a file is kept in build/tidy by its content and that of its headers, so
# that only what changed is looked at again. The exit status is 1 if there is a
# warning.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  -h | --help)
    sed -n '2,7s/^# \{0,1\}//p' "scripts/$(basename "$0")"
    exit 0
    ;;
  -*)
    echo "tidy.sh: unknown option $1 (see --help)" >&2
    exit 2
    ;;
esac
if ! command -v clang-tidy-19 >/dev/null; then
  echo "tidy.sh: clang-tidy-19 is not installed;" \
    "scripts/install-deps.sh installs it" >&2
  exit 1
fi

# It needs the commands of a build, and the headers that are generated or
# precompiled.
if [[ ! -e build/release/build.ninja ]]; then
  cmake --preset release >/dev/null
fi
mapfile -t headers < <(ninja -C build/release -t targets all |
  sed -nE 's/^(glowish(-CPU)?-generated|glowish-pch-[a-z]+|lib\/.*\.pb\.h):.*/\1/p')
log=$(ninja -C build/release "${headers[@]}" 2>&1) || {
  echo "$log" >&2
  exit 1
}
exec python3 scripts/tidy_files.py build/release build/tidy "${@:-lib}"
