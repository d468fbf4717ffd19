#!/usr/bin/env bash
# train.sh [OUTPUT.onnx]: trains a small residual network with model-trainer, on
# pictures of shapes that it draws, and writes pictures.onnx (or OUTPUT.onnx)
# into build/pictures-training. Reports how many pictures that it has not seen
# it names right; fails below 95 %. With QUICK=1 it only shows that everything
# works: few pictures, one epoch, and no demand.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use. Takes about two minutes.
set -euo pipefail
work=build/pictures-training
output=${1:+$(realpath -m "$1")}
cd "$(dirname "$0")/../.."
output=${output:-$work/pictures.onnx}
source examples/common.sh
prepare "$work" --train

count=2400 epochs=7 least=95
[[ -z ${QUICK:-} ]] || count=80 epochs=1 least=0
options=(-batch-size=64)
echo "==> drawing pictures"
rm -rf "$work/train" "$work/test"
examples/pictures/make_data.py --train "$count" --test $((count / 8)) \
  --sheet "$work/sheet.png" "$work"
examples/pictures/make_model.py "$work/network.onnxtxt"

echo "==> training"
trainer -model="$work/network.onnxtxt" -initialize=kaiming -seed="${SEED:-1}" \
  -data="$work/train" -validation="$work/test" -epochs=$epochs -solver=adam \
  -learning-rate=0.003 -learning-rate-decay=0.6 -loss-curve="$work/loss.svg" \
  -save="$output"

echo "==> $output"
report "$output" "$work/test" "pictures not learned from" $least
