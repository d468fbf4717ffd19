#!/usr/bin/python3
"""Cuts texts into windows of characters: FOLDER/train and FOLDER/test, each with
x.npy, [windows, LENGTH] int64, and label.npy, the characters after each.

    make_data.py [--windows N] FOLDER TEXT...

Characters are ASCII; others become '?'. Windows for training overlap by half; the
last tenth of each text is for the test. --windows keeps the first N of each. Needs
NumPy.
"""

import argparse
import os

import numpy as np

LENGTH = 64


def read(path):
    with open(path, encoding="utf-8") as file:
        text = file.read().encode("ascii", "replace")
    return np.frombuffer(text, np.uint8).astype(np.int64)


def cut(text, step):
    """Windows of one character more than LENGTH."""
    starts = range(0, len(text) - LENGTH, step)
    return [text[start:start + LENGTH + 1] for start in starts]


def write(folder, windows):
    os.makedirs(folder, exist_ok=True)
    windows = np.stack(windows)
    np.save(os.path.join(folder, "x.npy"), windows[:, :-1])
    np.save(os.path.join(folder, "label.npy"), windows[:, 1:])


def main():
    parser = argparse.ArgumentParser(description="Cut texts into windows.")
    parser.add_argument("--windows", type=int)
    parser.add_argument("folder")
    parser.add_argument("texts", nargs="+")
    arguments = parser.parse_args()
    train, test = [], []
    for path in arguments.texts:
        text = read(path)
        border = len(text) * 9 // 10
        train += cut(text[:border], LENGTH // 2)
        test += cut(text[border:], LENGTH)
    for name, windows in ("train", train), ("test", test):
        write(os.path.join(arguments.folder, name),
              windows[:arguments.windows])


if __name__ == "__main__":
    main()
