#!/usr/bin/env bash
# onnx_writer.sh [NAME...]: writes each exported network of $GLOWISH_MODELS
# (default build/models), or those named, as ONNX: as it is imported, and after
# the graph passes. onnx.checker must accept the files, and ONNX Runtime make of
# them what it makes of the original, to 1e-5 of an output's largest magnitude.
# Prints a table; exits 1 if a network is wrong, 77 if there is none, or no
# python3-onnx or onnxruntime-node. $GLOWISH_BIN: the programs (default
# build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

bin=${GLOWISH_BIN:-build/release/bin}
models=${GLOWISH_MODELS:-build/models}
work=build/e2e/onnx-writer
if [[ ! -e bench/node_modules/onnxruntime-node/package.json ]]; then
  echo "skipped: no ONNX Runtime in bench/node_modules (bench/compare installs it)"
  exit 77
fi
if ! /usr/bin/python3 -c 'import onnx.checker' 2>&-; then
  echo "skipped: no python3-onnx"
  exit 77
fi
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# The errors of both files, or what went wrong.
check() { # name
  local model=$models/$1/model.onnx
  "$bin/model-compiler" -model="$model" -emit-onnx="$work/imported.onnx" &&
    "$bin/model-compiler" -model="$model" -stop-after=optimize \
      -emit-onnx="$work/optimized.onnx" &&
    /usr/bin/python3 tests/e2e/check_onnx.py "$work"/*.onnx &&
    node tests/e2e/onnx_writer.mjs "$model" "$models/$1" \
      "$work/imported.onnx" "$work/optimized.onnx"
}

names=("$@")
if [[ $# -eq 0 ]]; then
  for model in "$models"/*/model.onnx; do
    [[ -e $model ]] && names+=("$(basename "$(dirname "$model")")")
  done
fi
if [[ ${#names[@]} -eq 0 ]]; then
  echo "no network to write"
  exit 77
fi

printf 'Largest difference as a share of the largest magnitude; 1e-5 is allowed.\n'
printf '%-22s %10s %10s\n' network imported optimized
wrong=()
for name in "${names[@]}"; do
  rm -f "$work"/*
  if errors=$(check "$name" 2>"$work/log") &&
    awk '{ if ($1 + 0 > 1e-5) exit 1 }' <<<"$errors"; then
    verdict=
  else
    verdict=WRONG
    wrong+=("$name")
    cat "$work/log" >&2
  fi
  printf '%-22s %10s %10s  %s\n' "$name" $errors "$verdict"
done
if [[ ${#wrong[@]} -gt 0 ]]; then
  echo "${#wrong[@]} of ${#names[@]} networks are wrong: ${wrong[*]}"
  exit 1
fi
echo "all ${#names[@]} networks are right"
