#!/usr/bin/env bash
# run.sh [-debian] [OPTION]...: runs ONNX's own tests and compares which fail
# with a list of them, each with its cause. OPTION: see `onnx-backend-test
# --help`; without -backend the back ends are Interpreter and CPU. Exits 77
# where there are no tests. The tests are
#
#   those below $GLOWISH_TEST_DATA/onnx-backend (default ../shared/data), and
#   expected-failures.txt,
#   with -debian those of the package libonnx-testdata, and
#   expected-failures-debian.txt.
#
# $GLOWISH_BIN: the programs (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

suite=${GLOWISH_TEST_DATA:-../shared/data}/onnx-backend
list=tests/conformance/expected-failures.txt
if [[ ${1-} == -debian ]]; then
  shift
  suite=/usr/share/libonnx-testdata/data
  list=tests/conformance/expected-failures-debian.txt
fi
if [[ ! -d $suite ]]; then
  echo "no tests of ONNX's: $suite does not exist"
  exit 77
fi
[[ " $*" == *" -backend="* ]] || set -- -backend=Interpreter -backend=CPU "$@"
exec "${GLOWISH_BIN:-build/release/bin}/onnx-backend-test" -suite="$suite" \
  -expected-failures="$list" "$@"
