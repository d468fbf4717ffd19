#!/usr/bin/env bash
# train.sh [OUTPUT.onnx]: trains the recognizer of words with model-trainer, on synthetic
# recordings, quantizes it with model-compiler, and writes words.onnx (or OUTPUT.onnx) and
# examples.bin beside it. Reports how many words of the recordings for the test the float
# and the quantized network recognize; fails below 97 %. With QUICK=1 it only shows that
# everything works: few recordings, one epoch, and no demand.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of programs to
# use. Takes about three minutes on two cores.
set -euo pipefail
output=$(realpath -m "${1:-$(dirname "$0")/words.onnx}")
cd "$(dirname "$0")/../.."
source examples/common.sh
work=build/words-training
prepare "$work" --train

train=11000 test=2200 epochs=8 least=97
[[ -z ${QUICK:-} ]] || train=100 test=50 epochs=1 least=0
options=(-batch-size=50)
echo "==> making recordings"
examples/microcontroller/make_data.py --train $train --test $test "$work"
examples/microcontroller/make_model.py "$work/network.onnxtxt"

echo "==> training"
trainer -model="$work/network.onnxtxt" -initialize=kaiming -seed="${SEED:-1}" \
  -data="$work/train" -validation="$work/test" -epochs=$epochs -solver=adam \
  -learning-rate=0.004 -learning-rate-decay=0.7 -loss-curve="$work/loss.svg" \
  -save="$work/float.onnx"
report "$work/float.onnx" "$work/test" "words not learned from" $least

echo "==> quantizing"
"$GLOWISH_BIN/model-runner" -model="$work/float.onnx" -define-symbol=N,1 \
  -input-dir="$work/typical" -dump-profile="$work/profile.yaml" >"$work/profile.log"
quantize() { # recordings at once, output
  "$GLOWISH_BIN/model-compiler" -model="$work/float.onnx" \
    -define-symbol=N,"$1" -load-profile="$work/profile.yaml" \
    -quantization-schema=symmetric_with_uint8 -emit-onnx="$work/quantized.onnx"
  # The largest score that the eight bits can express.
  examples/microcontroller/integer_io.py "$work/quantized.onnx" "$2" 16
}
quantize $test "$work/test.onnx"
"$GLOWISH_BIN/model-runner" -model="$work/test.onnx" -backend=CPU \
  -input=features="$work/integers.npy" -output-dir="$work" >"$work/test.log"
/usr/bin/python3 - "$work" $least <<'PYTHON'
import sys
import numpy as np
labels, scores = (np.load(f"{sys.argv[1]}/{name}.npy")
                  for name in ("test/label", "scores"))
right = 100 * np.mean(scores.argmax(axis=1) == labels)
print(f"quantized: {right:.2f} % right (at least {sys.argv[2]} expected)")
sys.exit(bool(right < float(sys.argv[2])))
PYTHON

quantize 1 "$output"
cp "$work/examples.bin" "$(dirname "$output")/examples.bin"
echo "==> $output"
