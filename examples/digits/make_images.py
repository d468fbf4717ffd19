#!/usr/bin/python3
"""Draws the images that the demo recognises: images/<digit>_<n>.png.

    make_images.py [--per-digit N] [--seed N] [--out DIR]

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
    parser.add_argument("--out", default=os.path.join(here, "images"))
    arguments = parser.parse_args()

    os.makedirs(arguments.out, exist_ok=True)
    random = np.random.Generator(np.random.PCG64(arguments.seed))
    labels = np.repeat(np.arange(10), arguments.per_digit)
    raw = glyphs.Glyphs("test").sample(labels, random)
    images = glyphs.distort(raw, random, strength=0.7)
    images = (images * 255).round().astype(np.uint8)
    for i, image in enumerate(images):
        digit, number = divmod(i, arguments.per_digit)
        path = os.path.join(arguments.out, "%d_%d.png" % (digit, number))
        Image.fromarray(image).save(path, optimize=True)


if __name__ == "__main__":
    main()
