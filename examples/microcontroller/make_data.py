#!/usr/bin/python3
"""Makes recordings of synthetic words (words.py) and what the network sees of them
(features.py):

    FOLDER/train, FOLDER/test  arrays for model-trainer
    FOLDER/integers.npy        those of the test as the quantized network takes them
    FOLDER/typical             files by whose ranges the quantizer scales
    FOLDER/examples.bin        one of each word, which the program has in it

    make_data.py [--train N] [--test N] [--typical N] [--seed N] [--jobs N] FOLDER

Needs `scripts/install-deps.sh --train`.
"""

import argparse
import multiprocessing
import os
import shutil

import numpy as np

import features
import words

PART = 100


def draw_features(labels, random):
    return np.stack([features.compute(words.draw_recording(label, random))
                     for label in labels])[:, None]


def draw_part(job):
    seed, count = job
    random = np.random.Generator(np.random.PCG64(seed))
    labels = random.integers(0, len(words.LABELS), count)
    return draw_features(labels, random), labels


def draw(pool, count, seed):
    """In parts of the same size whatever the number of jobs, so that a seed gives
    the same recordings."""
    seeds = np.random.SeedSequence(seed).spawn(-(-count // PART))
    jobs = [(part, min(PART, count - i * PART)) for i, part in enumerate(seeds)]
    parts = pool.map(draw_part, jobs, chunksize=1)
    return [np.concatenate(arrays) for arrays in zip(*parts)]


def write(folder, inputs, labels):
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "features.npy"), inputs)
    np.save(os.path.join(folder, "label.npy"), labels)


def write_files(folder, inputs):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for i, values in enumerate(inputs):
        np.save(os.path.join(folder, f"{i:04}.npy"), values[None])


def write_examples(path, seed):
    """Of each word its number, a byte, and the integers of its features."""
    random = np.random.Generator(np.random.PCG64(seed))
    labels = range(len(words.LABELS))
    with open(path, "wb") as file:
        for label, values in zip(labels, draw_features(labels, random)):
            file.write(bytes([label]) + features.to_integers(values).tobytes())


def main():
    parser = argparse.ArgumentParser(description="Make recordings of words.")
    parser.add_argument("--train", type=int, default=11000)
    parser.add_argument("--test", type=int, default=2200)
    parser.add_argument("--typical", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    with multiprocessing.Pool(arguments.jobs) as pool:
        inputs, labels = draw(pool, arguments.train, [arguments.seed, 0])
        write(os.path.join(arguments.folder, "train"), inputs, labels)
        write_files(os.path.join(arguments.folder, "typical"),
                    inputs[:arguments.typical])
        inputs, labels = draw(pool, arguments.test, [arguments.seed, 1])
    write(os.path.join(arguments.folder, "test"), inputs, labels)
    np.save(os.path.join(arguments.folder, "integers.npy"),
            features.to_integers(inputs))
    write_examples(os.path.join(arguments.folder, "examples.bin"),
                   [arguments.seed, 2])


if __name__ == "__main__":
    main()
