#!/usr/bin/env bash
# run.sh TEST.py [ARGUMENT]...: runs a test of the Python module in $PYTHONPATH with
# Debian's Python ($GLOWISH_PYTHON); exits 77 where the module was not built.
set -euo pipefail
python=${GLOWISH_PYTHON:-/usr/bin/python3}
for module in numpy onnx glowish; do
  if ! error=$("$python" -c "import $module" 2>&1); then
    echo "skipped: no Python module $module (scripts/install-deps.sh --python):" \
      "${error##*$'\n'}"
    # A module that is there and can't be imported is an error.
    [[ $error == *ModuleNotFoundError* ]] && exit 77
    exit 1
  fi
done
test=$(realpath "$1")
shift
cd "$(dirname "$0")"
exec "$python" -W error::ResourceWarning "$test" "$@"
