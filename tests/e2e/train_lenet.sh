#!/usr/bin/env bash
# train_lenet.sh: LeNet learns from 1,500 handwritten digits and reads at least
# 95 % of 500 others. Needs python3-torch for the model and
# $GLOWISH_TEST_DATA/images/mnist; exits with 77 where they are missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${GLOWISH_TEST_DATA:-../shared/data}/images/mnist
skip() { echo "skipped: $1"; exit 77; }
[[ -f $data/images-idx3-ubyte ]] || skip "$data is not there"
/usr/bin/python3 -c 'import numpy, torch' 2>/dev/null || skip "no PyTorch"

work=build/train-lenet
mkdir -p "$work"
/usr/bin/python3 - "$data" "$work" <<'PYTHON'
import os
import sys

import numpy as np
import torch
import torch.nn as nn

data, work = sys.argv[1:]
with open(os.path.join(data, "images-idx3-ubyte"), "rb") as file:
    images = np.frombuffer(file.read(), np.uint8, offset=16)
with open(os.path.join(data, "labels-idx1-ubyte"), "rb") as file:
    labels = np.frombuffer(file.read(), np.uint8, offset=8)
images = images.reshape(-1, 1, 28, 28) / np.float32(255)
for name, rows in ("train", slice(0, 1500)), ("test", slice(1500, 2000)):
    os.makedirs(os.path.join(work, name), exist_ok=True)
    np.save(os.path.join(work, name, "image.npy"), images[rows])
    np.save(os.path.join(work, name, "label.npy"), labels[rows])
net = nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
    nn.Linear(84, 10))
torch.onnx.export(net, torch.zeros(2, 1, 28, 28),
                  os.path.join(work, "lenet.onnx"), opset_version=13,
                  input_names=["image"], output_names=["scores"],
                  dynamic_axes={"image": {0: "N"}, "scores": {0: "N"}})
PYTHON

"$GLOWISH_BIN/model-trainer" -model="$work/lenet.onnx" -data="$work/train" \
  -validation="$work/test" -batch-size=10 -epochs=20 -solver=sgd \
  -momentum=0.9 -learning-rate=0.01 -learning-rate-decay=0.9 -l2=5e-3 \
  -initialize=kaiming -save="$work/trained.onnx" | tee "$work/epochs.txt"
tail -n 1 "$work/epochs.txt" | grep -oE 'validation accuracy [0-9.]+' |
  awk '{ right = $3 } END { exit !(right >= 95) }'
