#!/usr/bin/env bash
# run.sh [OPTION...]: compiles the language model chat.onnx to a bundle, links it
# with main.c to build/chat/chat, and talks with it. README.md has the options; a
# wrong one lists them.
#
# $MODEL, $TOKENIZER: other files; $WORK: another folder than build/chat.
# Installs and builds what is missing, unless $GLOWISH_BIN names the folder of
# programs to use.
set -euo pipefail
here=$(dirname "$0")
# Symbols that the inputs have: sequences, which the training has several of,
# tokens that a call reads (one has code of its own), and tokens in the cache.
symbols=(-define-symbol=S,1,1..64 -define-symbol=P,0..511)
[[ -n ${MODEL:-} ]] || symbols+=(-define-symbol=N,1)
model=$(realpath "${MODEL:-$here/chat.onnx}")
tokenizer=${TOKENIZER:-$here/chat.tok}
work=$(realpath -m "${WORK:-$here/../../build/chat}")
if [[ -z ${GLOWISH_BIN:-} ]]; then
  GLOWISH_BIN=$here/../../build/release/bin
  if [[ ! -x $GLOWISH_BIN/model-compiler ]]; then
    "$here/../../scripts/install-deps.sh" >&2
    "$here/../../scripts/build.sh" release model-compiler >&2
  fi
fi

"$GLOWISH_BIN/model-compiler" -model="$model" "${symbols[@]}" -backend=CPU \
  '-state=past.*,present.*' -emit-bundle="$work" -network-name=model >&2
clang-19 -std=c11 -O2 -Wall -Wextra -I"$work" "$here"/*.c "$work/model.o" -lm \
  -o "$work/chat"
exec "$work/chat" "$@" "$work/model.weights.bin" "$tokenizer"
