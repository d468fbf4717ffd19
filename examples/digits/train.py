#!/usr/bin/python3
"""Trains the digit recogniser of this folder and writes digits.onnx.

    train.py [--steps N] [--seed N] [--out digits.onnx] [--mnist DIR]

The network sees nothing but digits that glyphs.py draws from fonts. --mnist
names a folder with images-idx3-ubyte and labels-idx1-ubyte of handwritten
digits, to report how many of them it reads; it never learns from them.

Needs `scripts/install-deps.sh --train`; takes some minutes on one core.
"""

import argparse
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import glyphs


class Recogniser(nn.Module):
    """Four small convolutions and a linear layer; the output is the chance of
    each digit."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 40, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten())
        self.classes = nn.Linear(40 * 2 * 2, 10)

    def logits(self, pictures):
        return self.classes(self.features(pictures))

    def forward(self, pictures):
        return F.softmax(self.logits(pictures), dim=1)


def read_mnist(folder):
    with open(os.path.join(folder, "images-idx3-ubyte"), "rb") as file:
        pictures = np.frombuffer(file.read(), np.uint8, offset=16)
    with open(os.path.join(folder, "labels-idx1-ubyte"), "rb") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    pictures = pictures.reshape(len(labels), 1, 28, 28) / np.float32(255)
    return torch.from_numpy(pictures), torch.from_numpy(labels.astype(np.int64))


def share_right(net, pictures, labels):
    net.eval()
    with torch.no_grad():
        answers = torch.cat([net(part).argmax(1)
                             for part in pictures.split(500)])
    net.train()
    return 100 * (answers == labels).float().mean().item()


def train(net, steps, generator):
    fonts = glyphs.Glyphs("train")
    optimizer = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, total_steps=steps, pct_start=0.1)
    start, mean = time.time(), 0.0
    for step in range(steps):
        pictures, labels = glyphs.batch(fonts, 256, generator)
        loss = F.cross_entropy(net.logits(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        mean += (loss.item() - mean) / min(step + 1, 100)
        if (step + 1) % 250 == 0:
            print("step %5d  loss %.3f  %4.0f s" %
                  (step + 1, mean, time.time() - start), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description="Train the digit recogniser on digits drawn from fonts.")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default=os.path.join(here, "digits.onnx"))
    parser.add_argument("--mnist", metavar="DIR",
                        help="handwritten digits to report on")
    arguments = parser.parse_args()

    torch.manual_seed(arguments.seed)
    net = Recogniser()
    print("%d parameters" % sum(p.numel() for p in net.parameters()))
    train(net, arguments.steps, torch.Generator().manual_seed(arguments.seed))

    generator = torch.Generator().manual_seed(arguments.seed + 1)
    pictures, labels = glyphs.batch(glyphs.Glyphs("test"), 5000, generator,
                                    0.7)
    print("fonts not learned from: %.2f %% right" %
          share_right(net, pictures, labels))
    if arguments.mnist:
        print("handwritten digits:     %.2f %% right" %
              share_right(net, *read_mnist(arguments.mnist)))

    net.eval()
    torch.onnx.export(net, torch.zeros(1, 1, 28, 28), arguments.out,
                      opset_version=13, input_names=["picture"],
                      output_names=["chances"])


if __name__ == "__main__":
    main()
