#!/usr/bin/env bash
# run.sh [FOLDER] [OPTION]...: runs ONNX's own tests below FOLDER on both back
# ends and compares which fail with expected-failures.txt. Exits 77 where there
# are no tests. Without FOLDER they are those of $GLOWISH_TEST_DATA/onnx-backend
# (default ../shared/data); any other folder, such as that of Debian's
# libonnx-testdata, is only reported on: the list does not know its names.
# $GLOWISH_BIN: the programs (default build/release/bin). OPTION: see
# `glowish-conformance --help`.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=${GLOWISH_BIN:-build/release/bin}/glowish-conformance
if [[ $# -gt 0 && $1 != -* ]]; then
  exec "$program" "$@"
fi
data=${GLOWISH_TEST_DATA:-../shared/data}/onnx-backend
if [[ ! -d $data ]]; then
  echo "no tests of ONNX's: $data does not exist (see GLOWISH_TEST_DATA)"
  exit 77
fi
exec "$program" "$data" \
  -expected-failures=tests/conformance/expected-failures.txt "$@"
