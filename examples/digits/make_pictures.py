#!/usr/bin/python3
"""Draws the pictures that the demo recognises: pictures/<digit>_<n>.png.

    make_pictures.py [--per-digit N] [--seed N] [--out DIR]

The fonts are the "test" ones of fonts.txt, which training never sees.
"""

import argparse
import os

import numpy as np
from PIL import Image

import glyphs


def main():
    parser = argparse.ArgumentParser(
        description="Draw distorted digits from fonts not learned from.")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--per-digit", type=int, default=6)
    parser.add_argument("--seed", type=int, default=2024)
    parser.add_argument("--out", default=os.path.join(here, "pictures"))
    arguments = parser.parse_args()

    os.makedirs(arguments.out, exist_ok=True)
    random = np.random.Generator(np.random.PCG64(arguments.seed))
    labels = np.repeat(np.arange(10), arguments.per_digit)
    raw = glyphs.Glyphs("test").sample(labels, random)
    pictures = glyphs.distort(raw, random, strength=0.7)
    pictures = (pictures * 255).round().astype(np.uint8)
    for i, picture in enumerate(pictures):
        digit, number = divmod(i, arguments.per_digit)
        path = os.path.join(arguments.out, "%d_%d.png" % (digit, number))
        Image.fromarray(picture).save(path, optimize=True)


if __name__ == "__main__":
    main()
