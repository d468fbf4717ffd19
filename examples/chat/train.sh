#!/usr/bin/env bash
# train.sh [OUTPUT.onnx]: trains the language model with model-trainer on dialogues
# from a grammar, and writes chat.onnx (or OUTPUT.onnx) and, beside it, the
# tokenizer chat.tok (OUTPUT.tok). Reports how many tokens of dialogues that it has
# not seen it guesses right. With QUICK=1 it only shows that everything works:
# few dialogues, and no demand.
#
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use. Takes about a quarter of an hour.
set -euo pipefail
output=$(realpath -m "${1:-$(dirname "$0")/chat.onnx}")
cd "$(dirname "$0")/../.."
source examples/common.sh
work=build/chat-training
prepare "$work" --train

least=80 windows=()
[[ -z ${QUICK:-} ]] || least=0 windows=(--windows 32)
echo "==> drawing dialogues"
examples/chat/make_data.py "${windows[@]}" "$work"
examples/chat/make_model.py "$work/network.onnxtxt"

# The tables of angles are no weights. Nothing is in the cache: P is 0.
options=('-frozen=cosines|sines' -define-symbol=P,0)
model=$work/network.onnxtxt

# phase WINDOWS LENGTH BATCH EPOCHS RATE DECAY: trains $model, and the next phase
# goes on with what it saves.
phase() {
  local epochs=$4
  [[ -z ${QUICK:-} ]] || epochs=1
  echo "==> training on windows of $2 tokens"
  trainer -define-symbol="S,$2" -batch-size="$3" -model="$model" \
    -data="$work/$1" -seed="${SEED:-1}" -solver=adamw -clip-norm=1 \
    -epochs="$epochs" -learning-rate="$5" -learning-rate-decay="$6" \
    -save="$work/$1.onnx"
  model=$work/$1.onnx
}

# A token of a short window takes less than half the time of one of a long window.
# So the network gets to know words, and to repeat what was said, in short ones;
# then to look further back.
phase short 128 16 3 0.004 0.7
phase middle 256 8 1 0.002 1
phase long 512 4 1 0.0006 1
cp "$model" "$output"
cp "$work/chat.tok" "${output%.onnx}.tok"

echo "==> $output"
options+=(-define-symbol=S,512 -batch-size=4)
report "$output" "$work/test" "tokens not learned from" $least
