#!/usr/bin/env bash
# trained_onnx.sh: has model-trainer train the networks of bench/training for
# 20 steps with each solver, and takes those that are trained already (of
# examples/ and of train_lenet.sh). ONNX Runtime must make of the saved ONNX
# what glowish makes of it, to 1e-5 of the output's largest magnitude. Prints a
# table; exits 1 if a model is wrong, 77 without PyTorch or onnxruntime-node.
# $GLOWISH_BIN: the programs (default build/release/bin).
set -euo pipefail
cd "$(dirname "$0")/../.."

bin=${GLOWISH_BIN:-build/release/bin}
work=build/e2e/trained-onnx
skip() { echo "skipped: $1"; exit 77; }
[[ -e bench/node_modules/onnxruntime-node/package.json ]] ||
  skip "no ONNX Runtime in bench/node_modules (bench/compare installs it)"
/usr/bin/python3 -c 'import numpy, torch' 2>/dev/null || skip "no PyTorch"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

wrong=()
# check NAME MODEL INPUT OUTPUT: with input_0.npy; INPUT and OUTPUT are the
# model's names.
check() {
  rm -rf "$work/outputs"
  local error=1
  if "$bin/model-runner" -model="$2" -input="$3=$work/input_0.npy" \
      -output-dir="$work/outputs" -backend=CPU >"$work/log" 2>&1; then
    mv "$work/outputs/$4.npy" "$work/output_0.npy"
    error=$(node tests/e2e/trained_onnx.mjs "$2" "$work") || error=1
  else
    cat "$work/log" >&2
  fi
  local verdict=
  if ! awk '{ exit !($1 <= 1e-5) }' <<<"$error"; then
    verdict=WRONG
    wrong+=("$1")
  fi
  printf '%-22s %10s  %s\n' "$1" "$error" "$verdict"
}

echo 'Largest difference as a share of the largest magnitude; 1e-5 is allowed.'
printf '%-22s %10s\n' model difference
steps=20
for name in lenet resnet18 lstm transformer; do
  /usr/bin/python3 bench/training/torch_worker.py $name sgd $steps "$work" \
    export >"$work/log" 2>&1
  /usr/bin/python3 -c "
import numpy as np
np.save('$work/input_0.npy', np.load('$work/x.npy')[:32])"
  for solver in sgd adam; do
    "$bin/model-trainer" -model="$work/model.onnx" -data="$work" -label=label \
      -batch-size=32 -steps=$steps -solver=$solver -learning-rate=0.002 \
      -save="$work/trained.onnx" >"$work/log"
    ! cmp -s "$work/model.onnx" "$work/trained.onnx" || wrong+=("$name: untrained")
    check "$name $solver" "$work/trained.onnx" x y
  done
done

# check_trained NAME MODEL INPUT OUTPUT SHAPE: one that something else trains, on
# random numbers or, if the shape begins with "text", characters.
check_trained() {
  if [[ ! -e $2 ]]; then
    echo "$1: skipped, $2 has not been trained"
    return
  fi
  /usr/bin/python3 - "$5" "$work/input_0.npy" <<'PYTHON'
import sys
import numpy as np
shape, target = sys.argv[1:]
random = np.random.default_rng(1)
dims = [int(d) for d in shape.removeprefix("text").split("x")]
np.save(target, random.integers(32, 127, dims) if shape.startswith("text")
        else random.random(dims, np.float32))
PYTHON
  check "$1" "$2" "$3" "$4"
}

check_trained digits examples/digits/digits.onnx image chances 1x1x28x28
check_trained "LeNet on digits" build/train-lenet/trained.onnx image scores \
  32x1x28x28
check_trained images build/images-training/images.onnx image scores \
  32x3x32x32
check_trained characters build/characters-training/characters.onnx x scores \
  text32x64

if [[ ${#wrong[@]} -gt 0 ]]; then
  echo "wrong: ${wrong[*]}"
  exit 1
fi
