#!/usr/bin/env bash
# format.sh [--check] [FILE...]: formats C and C++ files with clang-format-19,
# all of the project if none is named. With --check nothing is written: the
# first line of each file that is not formatted is listed, and the exit status
# is 1 if there is one, or 77 where clang-format-19 is not installed.
set -euo pipefail

check=
case ${1-} in
  --check)
    check=1
    shift
    ;;
  -h | --help)
    sed -n '2,5s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
  -*)
    echo "format.sh: unknown option $1 (see --help)" >&2
    exit 2
    ;;
esac

if ! command -v clang-format-19 >/dev/null; then
  echo "format.sh: clang-format-19 is not installed;" \
    "scripts/install-deps.sh installs it" >&2
  exit $((check ? 77 : 1))
fi

for file in "$@"; do
  if [[ ! -f $file ]]; then
    echo "format.sh: there is no file $file" >&2
    exit 2
  fi
done

files=("$@")
if [[ $# == 0 ]]; then
  cd "$(dirname "$0")/.."
  mapfile -t files < <(find bench examples include lib python tests tools \
    -name node_modules -prune -o -name '*.[ch]' -print -o -name '*.cpp' -print)
fi

# The style depends on this version, so that another one must not be taken.
format() {
  printf '%s\0' "${files[@]}" |
    xargs -0 -n 64 -P "$(nproc)" clang-format-19 --style=file "$@"
}

if [[ -z $check ]]; then
  format -i
  exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! format --dry-run 2>"$log"; then
  cat "$log" >&2
  exit 1
fi
wrong=$(sed -n 's/^\([^:]*\):\([0-9]*\):.*code should be clang-formatted.*/\1:\2/p' \
  "$log" | sort -t: -u -k1,1)
[[ -z $wrong ]] && exit 0
echo "$wrong"
echo "format.sh: $(wc -l <<<"$wrong") files are not formatted; scripts/format.sh formats them" >&2
exit 1
