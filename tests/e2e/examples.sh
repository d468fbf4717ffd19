#!/usr/bin/env bash
# examples.sh: the trainings of examples/shapes, examples/characters, examples/chat
# and examples/microcontroller, with little data and without demands; exits with 77
# where NumPy or Pillow is missing. (That of examples/digits takes longer, and checks
# what it makes.)
set -euo pipefail
cd "$(dirname "$0")/../.."
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null ||
  { echo "skipped: no NumPy and Pillow (scripts/install-deps.sh --train)"; exit 77; }
for name in shapes characters chat microcontroller; do
  QUICK=1 examples/$name/train.sh "build/e2e/$name.onnx"
done
rm build/e2e/{shapes,characters,chat,microcontroller}.onnx build/e2e/chat.tok \
  build/e2e/examples.bin
