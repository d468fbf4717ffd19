#!/usr/bin/python3
"""Draws images of shapes, 32 by 32 in colours: FOLDER/train and FOLDER/test,
each with a folder for each shape.

    make_data.py [--train N] [--test N] [--seed N] [--sheet FILE.png] FOLDER

N counts the images of each shape. Place, size, rotation, colours, the
background's gradient, clutter and noise are random. With --sheet, the first
test images of each shape go into one image. Needs NumPy and Pillow.
"""

import argparse
import os

import numpy as np
from PIL import Image

SIZE = 32
# Points of a pixel's edge: their mean makes edges smooth.
POINTS = 3
SHEET_COLUMNS = 12


def polygon(u, v, corners, radius):
    """A regular one, by its sides' distance from the centre."""
    angle = np.arctan2(v, u) % (2 * np.pi / corners) - np.pi / corners
    return np.hypot(u, v) * np.cos(angle) < radius


def star(u, v):
    """The distance of its edge goes back and forth five times a turn."""
    turn = np.arctan2(v, u) * 5 / (2 * np.pi)
    return np.hypot(u, v) < 0.45 + 1.2 * np.abs(turn % 1 - 0.5)


def inside(u, v):
    return np.maximum(np.abs(u), np.abs(v)) < 0.95


# Where each shape is, in coordinates that go from about -1 to 1 in it.
SHAPES = {
    "checks": lambda u, v: inside(u, v) & (
        (np.floor(u * 2.1) + np.floor(v * 2.1)) % 2 == 0),
    "circle": lambda u, v: np.hypot(u, v) < 0.95,
    "cross": lambda u, v: (np.minimum(np.abs(u), np.abs(v)) < 0.3) &
                          (np.maximum(np.abs(u), np.abs(v)) < 1),
    "ring": lambda u, v: np.abs(np.hypot(u, v) - 0.75) < 0.25,
    "square": lambda u, v: polygon(u, v, 4, 0.8),
    "star": star,
    "stripes": lambda u, v: inside(u, v) & (np.floor(u * 2.63 + 0.5) % 2 == 0),
    "triangle": lambda u, v: polygon(u, v, 3, 0.55),
}


def draw_colours(random):
    """Of a shape and of two places of the background, which differ from it."""
    while True:
        colours = random.random((3, 3))
        if np.abs(colours[1:] - colours[0]).max(axis=1).min() > 0.4:
            return colours


def draw(shape, random):
    """[SIZE, SIZE, 3] in [0, 1]."""
    place = (np.arange(SIZE * POINTS) + 0.5) / (SIZE * POINTS) * 2 - 1
    y, x = np.meshgrid(place, place, indexing="ij")
    colour, begin, end = draw_colours(random)
    direction = random.random() * 2 * np.pi
    slope = (x * np.cos(direction) + y * np.sin(direction)) / 2 + 0.5
    image = begin + (end - begin) * slope[..., None]
    for _ in range(random.integers(3)):
        spot = random.uniform(-1, 1, 2)
        near = np.hypot(x - spot[0], y - spot[1]) < random.uniform(0.05, 0.15)
        image[near] = random.random(3)

    radius = random.uniform(0.5, 0.85)
    centre = random.uniform(-1, 1, 2) * (1 - radius)
    turn = random.random() * 2 * np.pi
    u = ((x - centre[0]) * np.cos(turn) + (y - centre[1]) * np.sin(turn)) / radius
    v = ((y - centre[1]) * np.cos(turn) - (x - centre[0]) * np.sin(turn)) / radius
    image[SHAPES[shape](u, v)] = colour

    image = image.reshape(SIZE, POINTS, SIZE, POINTS, 3).mean(axis=(1, 3))
    noise = random.uniform(0.02, 0.1)
    return np.clip(image + random.normal(0, noise, image.shape), 0, 1)


def write(folder, count, seed):
    """Count images of each shape; returns the first ones, side by side."""
    random = np.random.Generator(np.random.PCG64(seed))
    rows = []
    for shape in SHAPES:
        os.makedirs(os.path.join(folder, shape), exist_ok=True)
        images = [(draw(shape, random) * 255).round().astype(np.uint8)
                    for _ in range(count)]
        for i, image in enumerate(images):
            Image.fromarray(image).save(
                os.path.join(folder, shape, "%04d.png" % i), compress_level=1)
        rows.append(np.concatenate(images[:SHEET_COLUMNS], axis=1))
    return np.concatenate(rows)


def main():
    parser = argparse.ArgumentParser(description="Draw images of shapes.")
    parser.add_argument("--train", type=int, default=1600)
    parser.add_argument("--test", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sheet", metavar="FILE.png")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    write(os.path.join(arguments.folder, "train"), arguments.train,
          2 * arguments.seed)
    sheet = write(os.path.join(arguments.folder, "test"), arguments.test,
                  2 * arguments.seed + 1)
    if arguments.sheet:
        Image.fromarray(sheet).quantize(64).save(arguments.sheet, optimize=True)


if __name__ == "__main__":
    main()
