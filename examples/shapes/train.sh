#!/usr/bin/env bash
# train.sh [OUTPUT.onnx]: trains a small residual network with model-trainer, on
# images of shapes that it draws, and writes images.onnx (or OUTPUT.onnx)
# into build/images-training. Reports how many images that it has not seen
# it names right; fails below 95 %. With QUICK=1 it only shows that everything
# works: few images, one epoch, and no demand.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use. Takes about two minutes.
set -euo pipefail
work=build/images-training
output=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/../.."
output=${output:-$work/images.onnx}
source examples/common.sh
prepare "$work" --train

count=2400 epochs=7 batch=64 least=95
[[ -z ${QUICK:-} ]] || count=32 epochs=1 batch=32 least=0
options=(-batch-size=$batch)
echo "==> drawing images"
rm -rf "$work/train" "$work/test"
examples/shapes/make_data.py --train "$count" --test $((count / 8)) \
  --sheet "$work/sheet.png" "$work"
examples/shapes/make_model.py "$work/network.onnxtxt"

echo "==> training"
trainer -model="$work/network.onnxtxt" -initialize=kaiming -seed="${SEED:-1}" \
  -data="$work/train" -validation="$work/test" -epochs=$epochs -solver=adam \
  -learning-rate=0.003 -learning-rate-decay=0.6 -loss-curve="$work/loss.svg" \
  -save="$output"

echo "==> $output"
report "$output" "$work/test" "images not learned from" $least
