#!/usr/bin/env bash
# run.sh [-debian | -defaults | -written] [OPTION]...: runs ONNX's own tests and
# compares which fail with a list of them, each with its cause. OPTION: see `onnx-backend-test
# --help`; without -backend the back ends are Interpreter and CPU. Exits 77
# where there are no tests. The tests are
#
#   those below $GLOWISH_TEST_DATA/onnx-backend (default ../shared/data), and
#   expected-failures.txt,
#   with -debian those of the package libonnx-testdata, and
#   expected-failures-debian.txt,
#   with -written those of ONNX's last release that are one node, written as
#   ONNX (back ends Written and WrittenOptimized), and
#   expected-failures-written.txt; onnx.checker, where python3-onnx is, must
#   accept what is written.
#
# With -defaults nothing is run: default-attributes states attributes with their
# defaults in the models of the tests, and compares what becomes of them.
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
defaults=
if [[ ${1-} == -defaults ]]; then
  shift
  defaults=1
fi
written=
if [[ ${1-} == -written ]]; then
  shift
  list=tests/conformance/expected-failures-written.txt
  written=build/conformance-written
  rm -rf "$written"
  trap 'rm -rf "$written"' EXIT
  set -- -filter=v1.22.0/node -backend=Written -backend=WrittenOptimized \
    -keep-written="$written" "$@"
fi
if [[ ! -d $suite ]]; then
  echo "no tests of ONNX's: $suite does not exist"
  exit 77
fi
if [[ -n $defaults ]]; then
  exec "${GLOWISH_BIN:-build/release/bin}/default-attributes" -suite="$suite" \
    -later-defaults=tests/conformance/later-defaults.txt "$@"
fi
[[ " $*" == *" -backend="* ]] || set -- -backend=Interpreter -backend=CPU "$@"
"${GLOWISH_BIN:-build/release/bin}/onnx-backend-test" -suite="$suite" \
  -expected-failures="$list" "$@"
[[ -n $written ]] || exit 0
if ! /usr/bin/python3 -c 'import onnx.checker' 2>&-; then
  echo "what was written is not checked: no python3-onnx"
  exit 0
fi
find "$written" -name '*.onnx' -print0 | sort -z |
  xargs -0 /usr/bin/python3 tests/e2e/check_onnx.py
