#!/usr/bin/env bash
# fuzz-graphs.sh FIRST LAST [OPTION...]: runs the random graphs FIRST ... LAST
# (docs/testing.md, section Random graphs) in blocks of 1000, with options of
# glowish-fuzz such as -ranges or -on=aarch64. A block that has run with the same
# options and build is left out, so that a fuzz session goes on where it was stopped, and
# can be divided by seeds. Default options: -max-nodes=6 -compiled=1, as in ctest.
#
# build/fuzz-graphs/log has a line for each block: the build, its first and last seed,
# the options, seconds, and what the last line of glowish-fuzz says; what differs is in
# build/fuzz-graphs/differences. Ends with the sum over this range; exits 1 if a block
# has a difference. $GLOWISH_BIN: the programs (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -lt 2 || ! $1$2 =~ ^[0-9]+$ ]]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0"
  exit 2
fi
first=$1 last=$2
shift 2
options="-max-nodes=6 -compiled=1${*:+ $*}"
fuzz=${GLOWISH_BIN:-build/release/bin}/glowish-fuzz
work=build/fuzz-graphs
mkdir -p "$work"
touch "$work/log"
build=$(git describe --always --dirty)

# The line of a block that has run; empty if it has not.
findBlock() { # first last
  awk -F'\t' -v b="$build" -v f="$1" -v l="$2" -v o="$options" \
    '$1 == b && $2 == f && $3 == l && $4 == o' "$work/log"
}

sum() {
  awk -F'\t' -v b="$build" -v f="$first" -v l="$last" -v o="$options" '
    $1 == b && $2 >= f && $3 <= l && $4 == o {
      split($6, words, " "); graphs += words[1]; differences += words[3]; seconds += $5
    }
    END {
      printf "%s, seeds %d to %d%s: %d graphs, %d differences, %d s\n",
        b, f, l, " (" o ")", graphs, differences, seconds
      exit differences > 0
    }' "$work/log"
}

for ((from = first; from <= last; from += 1000)); do
  to=$((from + 999 < last ? from + 999 : last))
  [[ -z $(findBlock $from $to) ]] || continue
  start=$SECONDS
  # shellcheck disable=SC2086
  "$fuzz" -seed=$from -count=$((to - from + 1)) -jobs="$(nproc)" $options \
    >"$work/block" 2>&1 || true
  result=$(tail -n 1 "$work/block")
  if [[ ! $result =~ ^[0-9]+\ graphs,\ [0-9]+\ differences$ ]]; then
    echo "seeds $from to $to: $(tail -n 3 "$work/block")" >&2
    exit 1
  fi
  [[ $result == *" 0 differences" ]] || cat "$work/block" >>"$work/differences"
  printf '%s\t%d\t%d\t%s\t%d\t%s\n' "$build" $from $to "$options" \
    $((SECONDS - start)) "$result" >>"$work/log"
done
sum
