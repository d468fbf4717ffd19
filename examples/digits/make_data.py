#!/usr/bin/python3
"""Draws the digits that the recogniser learns from: FOLDER/train with the
"train" fonts of fonts.txt, FOLDER/test with the "test" ones, as arrays for
model-trainer.

    make_data.py [--train N] [--test N] [--seed N] [--jobs N] FOLDER
    make_data.py --mnist DIR FOLDER

With --mnist, FOLDER gets the images of DIR, images-idx3-ubyte and
labels-idx1-ubyte, instead. Needs `scripts/install-deps.sh --train --fonts`.
"""

import argparse
import multiprocessing
import os

import numpy as np

import glyphs


def write(folder, images, labels):
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "image.npy"),
            images.reshape(-1, 1, glyphs.SIZE, glyphs.SIZE))
    np.save(os.path.join(folder, "label.npy"), labels)


def draw_part(job):
    use, count, strength, seed = job
    return glyphs.batch(glyphs.Glyphs(use), count,
                        np.random.Generator(np.random.PCG64(seed)), strength)


def draw(pool, use, count, strength, seed):
    """In parts of the same size whatever the number of jobs, so that a seed
    gives the same images."""
    part = 5000
    seeds = np.random.SeedSequence(seed).spawn(-(-count // part))
    jobs = [(use, min(part, count - i * part), strength, seeds[i])
            for i in range(len(seeds))]
    images, labels = zip(*pool.map(draw_part, jobs, chunksize=1))
    return np.concatenate(images), np.concatenate(labels)


def read_mnist(folder):
    with open(os.path.join(folder, "images-idx3-ubyte"), "rb") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16)
    with open(os.path.join(folder, "labels-idx1-ubyte"), "rb") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images / np.float32(255), labels


def main():
    parser = argparse.ArgumentParser(
        description="Draw digits from fonts for model-trainer.")
    parser.add_argument("--train", type=int, default=100000)
    parser.add_argument("--test", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--mnist", metavar="DIR")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    if arguments.mnist:
        write(arguments.folder, *read_mnist(arguments.mnist))
        return
    with multiprocessing.Pool(arguments.jobs) as pool:
        for use, count, strength, seed in (
                ("train", arguments.train, 1.0, 2 * arguments.seed),
                ("test", arguments.test, 0.7, 2 * arguments.seed + 1)):
            write(os.path.join(arguments.folder, use),
                  *draw(pool, use, count, strength, seed))


if __name__ == "__main__":
    main()
