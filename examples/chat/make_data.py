#!/usr/bin/python3
"""Writes dialogues to train on, from a grammar (dialogues.py):

    make_data.py [--windows N] FOLDER

FOLDER/dialogues.txt has them to be read; FOLDER/chat.tok the pieces of text found
in them (tokenizer.py); FOLDER/short, middle, long and test windows of ids: the
inputs of the network (make_model.py) and label.npy, the ids that come next. Each
dialogue begins with the id 1, and each answer ends with 2. --windows: how many
there are at most. Needs NumPy.
"""

import argparse
import os
import random

import numpy as np

import make_model
import tokenizer
from dialogues import draw_dialogue

# Folder, seed, windows, their length.
WINDOWS = [("short", 2, 16000, 128), ("middle", 3, 10000, 256),
           ("long", 4, 2000, 512), ("test", 5, 100, 512)]
DIALOGUES_FOR_PIECES = 3000


def encode(pieces, turns):
    newline = tokenizer.FIRST_BYTE + ord("\n")
    ids = [tokenizer.START]
    for user, answer in turns:
        ids += pieces.encode(user) + [newline]
        ids += pieces.encode(answer) + [tokenizer.END]
    return ids


def fill_windows(pieces, dialogues, count, length):
    """Each window begins with a dialogue, and what is too long is cut."""
    windows = []
    for _ in range(count):
        ids = []
        while len(ids) <= length:
            ids += encode(pieces, next(dialogues))
        windows.append(ids[:length + 1])
    return np.array(windows, np.int64)


def write(folder, windows):
    os.makedirs(folder, exist_ok=True)
    arrays = {"input_ids": windows[:, :-1], "label": windows[:, 1:]}
    length = arrays["label"].shape[1]
    arrays["position_ids"] = np.tile(np.arange(length), (len(windows), 1))
    # Nothing is in the cache.
    past = np.zeros((len(windows), make_model.KEY_HEADS, 0, make_model.HEAD),
                    np.float32)
    for layer in range(make_model.LAYERS):
        arrays[f"past.{layer}.key"] = arrays[f"past.{layer}.value"] = past
    for name, array in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), array)


def draw_dialogues(seed):
    source = random.Random(seed)
    while True:
        yield draw_dialogue(source)


def main():
    parser = argparse.ArgumentParser(description="Write dialogues.")
    parser.add_argument("--windows", type=int, default=10 ** 6)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    dialogues = draw_dialogues(1)
    texts = [next(dialogues) for _ in range(DIALOGUES_FOR_PIECES)]
    with open(os.path.join(arguments.folder, "dialogues.txt"), "w",
              encoding="ascii") as file:
        for turns in texts:
            file.writelines(f"> {user}\n{answer}\n" for user, answer in turns)
            file.write("\n")
    lines = [line for turns in texts for turn in turns for line in turn]
    pieces = tokenizer.find_pieces(lines, make_model.TOKENS)
    tokenizer.write(os.path.join(arguments.folder, "chat.tok"), pieces)
    encoder = tokenizer.Tokenizer(pieces)
    for name, seed, count, length in WINDOWS:
        windows = fill_windows(encoder, draw_dialogues(seed),
                               min(count, arguments.windows), length)
        write(os.path.join(arguments.folder, name), windows)


if __name__ == "__main__":
    main()
