#!/usr/bin/env bash
# train.sh [OUTPUT.onnx]: trains the digit recogniser with model-trainer, on
# digits drawn from fonts, and writes digits.onnx (or OUTPUT.onnx). Reports how
# many digits of fonts that it has not seen it reads, and how many handwritten
# ones where $GLOWISH_TEST_DATA (default ../shared/data) has images/mnist; it
# never learns from those. Fails below 98 and 85 %.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use. Takes some minutes.
set -euo pipefail
output=$(realpath -m "${1:-$(dirname "$0")/digits.onnx}")
cd "$(dirname "$0")/../.."
data=${GLOWISH_TEST_DATA:-../shared/data}

if [[ -z ${GLOWISH_BIN:-} ]]; then
  scripts/install-deps.sh --train
  scripts/build.sh release model-trainer
  GLOWISH_BIN=build/release/bin
fi

work=build/digits-training
batch=100
mkdir -p "$work"
echo "==> drawing digits"
examples/digits/make_data.py "$work"
examples/digits/make_model.py "$work/network.onnxtxt"

# trainer OPTION...: of batches of the model, which itself takes one picture.
trainer() {
  "$GLOWISH_BIN/model-trainer" -batch-size=$batch \
    -model-input="picture,float,[$batch,1,28,28]" -threads=2 "$@"
}

# report MODEL DATA WHAT LEAST: fails if fewer percent are right.
report() {
  trainer -model="$1" -data="$2" -validation="$2" -epochs=0 |
    awk -v what="$3" -v least="$4" '
      match($0, /validation accuracy [0-9.]+/) {
        share = substr($0, RSTART + 20, RLENGTH - 20) + 0
        printf "%s: %.2f %% right (at least %s expected)\n", what, share, least
        exit share < least }'
}

echo "==> training"
trainer -model="$work/network.onnxtxt" -initialize=kaiming -seed=1 \
  -data="$work/train" -validation="$work/test" -epochs=4 -solver=sgd \
  -momentum=0.9 -learning-rate=0.05 -learning-rate-decay=0.4 -l2=5e-4 \
  -loss-curve="$work/loss.svg" -save="$output"

echo "==> $output"
report "$output" "$work/test" "fonts not learned from" 98
if [[ -f $data/images/mnist/images-idx3-ubyte ]]; then
  examples/digits/make_data.py --mnist "$data/images/mnist" "$work/mnist"
  report "$output" "$work/mnist" "handwritten digits" 85
else
  echo "handwritten digits: skipped, $data/images/mnist is not there"
fi
