#!/usr/bin/env bash
# scripts/test.sh ends with a line that names the tests that were skipped, and
# with ctest's exit status. The tests here are a few commands.
set -euo pipefail
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/scripts" "$work/build/release" "$work/data"
cp "$scripts"/{test,large-pages}.sh "$work/scripts"
for name in install-deps build; do
  printf '#!/bin/sh\n' >"$work/scripts/$name.sh"
  chmod +x "$work/scripts/$name.sh"
done

# Runs test.sh with a test for each argument NAME=EXIT-CODE, and keeps the last
# line of its output and its exit status.
run() { # GLOWISH_TEST_DATA, NAME=CODE...
  local test
  for test in "${@:2}"; do
    echo "add_test(${test%=*} sh -c \"exit ${test#*=}\")"
    echo "set_tests_properties(${test%=*} PROPERTIES SKIP_RETURN_CODE 77)"
  done >"$work/build/release/CTestTestfile.cmake"
  status=0
  GLOWISH_TEST_DATA=$1 "$work/scripts/test.sh" >"$work/output" 2>&1 || status=$?
  line=$(tail -n 1 "$work/output")
}

expect() { # what, actual, expected
  [[ $2 == "$3" ]] || {
    printf '%s is\n  %s\nand not\n  %s\n' "$1" "$2" "$3"
    exit 1
  }
}

where="what they need, and where it is from: docs/testing.md, section Test data"
run "$work/none" works=0 e2e-models=77 conformance=77
expect "the exit status" "$status" 0
expect "the last line" "$line" \
  "skipped (there is no test data in $work/none): e2e-models conformance; $where"

run "$work/data" works=0 e2e-cross=77
expect "the last line with data" "$line" "skipped: e2e-cross; $where"

run "$work/none" fails=1 e2e-models=77
expect "the exit status of a failure" "$status" 8
expect "the last line after a failure" "$line" \
  "skipped (there is no test data in $work/none): e2e-models; $where"

run "$work/none" works=0
expect "the exit status of a success" "$status" 0
[[ $line != *skipped* ]] || expect "the last line" "$line" "ctest's own"
