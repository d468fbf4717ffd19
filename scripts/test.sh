#!/usr/bin/env bash
# test.sh [--fast | --all] [CTEST OPTION...]: installs what is missing, builds the
# release preset, and runs the tests that a change must pass: those with the labels
# fast and full. With --fast only the first, with --all also those with the label
# nightly (docs/testing.md). Ends with ctest's summary, a line with the tests that
# were skipped, if there are any, and ctest's exit status.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  --fast) labels=(-L fast) ;;
  --all) labels=() ;;
  *) labels=(-LE nightly) ;;
esac
if [[ ${1-} == --fast || ${1-} == --all ]]; then shift; fi

source scripts/large-pages.sh
scripts/install-deps.sh --mpi --python
scripts/build.sh release
echo "==> testing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
ctest --test-dir build/release --output-on-failure -j "$(nproc)" \
  "${labels[@]}" "$@" |
  tee "$log" || status=${PIPESTATUS[0]}

skipped=$(sed -n 's/^[[:space:]]*[0-9]* - \([^ ]*\) (Skipped)$/\1/p' "$log" |
  paste -sd' ')
if [[ -n $skipped ]]; then
  data=${GLOWISH_TEST_DATA:-../shared/data}
  lacking=
  [[ -d $data ]] || lacking=" (there is no test data in $data)"
  echo "skipped$lacking: $skipped; what they need, and where it is from:" \
    "docs/testing.md, section Test data"
fi
exit "$status"
