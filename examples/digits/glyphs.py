"""Images of digits: glyphs of fonts, randomly distorted.

An image is 28 by 28, light on dark, in [0, 1]. Everything is drawn from the
generator that the caller passes, so that a seed gives the same images on
one machine.
"""

import os
import subprocess

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIZE = 28
# Glyphs are kept at this size and distorted there, which leaves strokes
# smooth after the last scaling down.
RAW = 64


def read_fonts(use):
    """The packages of fonts.txt with this use: (weight, font files) each."""
    here = os.path.dirname(os.path.abspath(__file__))
    packages = []
    with open(os.path.join(here, "fonts.txt")) as lines:
        for line in lines:
            words = line.split()
            if not words or words[0].startswith("#") or words[1] != use:
                continue
            listing = subprocess.run(["dpkg", "-L", words[0]], text=True,
                                     capture_output=True, check=False).stdout
            files = sorted(f for f in listing.split()
                           if f.endswith((".ttf", ".otf")) and
                           os.path.isfile(f))
            if not files:
                raise SystemExit("%s is not installed: run "
                                 "scripts/install-deps.sh --fonts" % words[0])
            packages.append((float(words[2]), files))
    return packages


def draw_glyph(font, digit):
    """One digit, as large as fits in RAW by RAW with a margin; None if the
    font has no outline for it."""
    left, top, right, bottom = font.getbbox(digit)
    width, height = right - left, bottom - top
    if width <= 0 or height <= 0:
        return None
    glyph = Image.new("L", (width, height), 0)
    ImageDraw.Draw(glyph).text((-left, -top), digit, font=font, fill=255)
    inner = RAW * 20 // SIZE
    scale = inner / max(width, height)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    glyph = glyph.resize(size, Image.LANCZOS)
    # The centre of mass goes to the middle, as in the usual collections of
    # handwritten digits.
    mass = np.asarray(glyph, np.float64)
    if mass.sum() == 0:
        return None
    x = (mass.sum(0) * np.arange(size[0])).sum() / mass.sum()
    y = (mass.sum(1) * np.arange(size[1])).sum() / mass.sum()
    canvas = Image.new("L", (RAW, RAW), 0)
    canvas.paste(glyph, (round(RAW / 2 - x), round(RAW / 2 - y)))
    return np.asarray(canvas, np.float32) / 255


class Glyphs:
    """All digits of the fonts of one use, with the chance of each font."""

    def __init__(self, use):
        images, weights = [], []
        for weight, files in read_fonts(use):
            drawn = []
            for file in files:
                font = ImageFont.truetype(file, 96)
                digits = [draw_glyph(font, str(d)) for d in range(10)]
                # A font without digits draws the same empty box ten times.
                if any(d is None for d in digits):
                    continue
                if abs(digits[1] - digits[8]).mean() < 0.01:
                    continue
                drawn.append(np.stack(digits))
            images += drawn
            weights += [weight / len(drawn)] * len(drawn) if drawn else []
        self.images = np.stack(images)
        self.weights = np.array(weights) / sum(weights)

    def sample(self, labels, random):
        """One undistorted glyph for each label, of random fonts."""
        fonts = random.choice(len(self.weights), len(labels), p=self.weights)
        return self.images[fonts, labels]


def uniform(random, count, low, high):
    return random.uniform(low, high, (count, 1, 1)).astype(np.float32)


def cubic_weights(points, size):
    """A matrix that interpolates `points` values, the first and last of them
    at the ends, at `size` places: Catmull and Rom's splines."""
    place = np.linspace(0, points - 1, size)
    first = np.minimum(place.astype(int), points - 2)
    t = place - first
    weights = np.zeros((size, points), np.float32)
    parts = (((2 - t) * t - 1) * t / 2, ((3 * t - 5) * t * t + 2) / 2,
             ((4 - 3 * t) * t + 1) * t / 2, (t - 1) * t * t / 2)
    for offset, part in enumerate(parts, -1):
        column = np.clip(first + offset, 0, points - 1)
        np.add.at(weights, (np.arange(size), column), part)
    return weights


def warp(raw, strength, random):
    """Glyphs under random affine maps and smooth random fields."""
    count = len(raw)
    angle = uniform(random, count, -0.3, 0.3) * strength
    shear = uniform(random, count, -0.35, 0.35) * strength
    across = 1 / (1 + uniform(random, count, -0.3, 0.15) * strength)
    down = 1 / (1 + uniform(random, count, -0.2, 0.15) * strength)
    cos, sin = np.cos(angle), np.sin(angle)
    axis = (np.arange(RAW, dtype=np.float32) * 2 + 1) / RAW - 1
    x, y = axis[None, None, :] * across, axis[None, :, None] * down
    curve = cubic_weights(5, RAW)
    fields = random.standard_normal((2, count, 5, 5)).astype(np.float32)
    fields = curve @ (fields * (0.075 * strength)) @ curve.T
    shifts = [uniform(random, count, -0.16, 0.16) * strength for _ in "xy"]
    from_x = x * cos + y * (shear * cos - sin) + shifts[0] + fields[0]
    from_y = x * sin + y * (shear * sin + cos) + shifts[1] + fields[1]
    return look_up(raw, (from_x + 1) * (RAW / 2) + 0.5,
                   (from_y + 1) * (RAW / 2) + 0.5)


def look_up(raw, x, y):
    """Bilinear interpolation at places that count from the border of one pixel
    which is put around, black."""
    framed = np.pad(raw, ((0, 0), (1, 2), (1, 2)))
    pitch = framed.shape[2]
    x, y = np.clip(x, 0, RAW + 1), np.clip(y, 0, RAW + 1)
    column, row = x.astype(np.int32), y.astype(np.int32)
    x, y = x - column, y - row
    start = np.arange(len(raw), dtype=np.int32)[:, None, None]
    at = (start * pitch + row) * pitch + column
    framed = framed.ravel()
    above = framed[at] * (1 - x) + framed[at + 1] * x
    below = framed[at + pitch] * (1 - x) + framed[at + pitch + 1] * x
    return above * (1 - y) + below * y


def band(size, weights):
    """A matrix that blurs `size` values with `weights`."""
    radius = len(weights) // 2
    matrix = sum(np.eye(size, k=i - radius) * w for i, w in enumerate(weights))
    return matrix.astype(np.float32)


def shrinking(size, new_size):
    """A matrix that scales down by weighing neighbours with a triangle."""
    ratio = size / new_size
    centres = (np.arange(new_size) + 0.5) * ratio - 0.5
    matrix = np.maximum(0, 1 - abs(np.arange(size) - centres[:, None]) / ratio)
    return (matrix / matrix.sum(1, keepdims=True)).astype(np.float32)


def change_strokes(images, random):
    """Strokes made thicker or thinner: a blurred image cut at a random
    share of its highest level, rounded off to grey at the edge."""
    weights = np.exp(-np.linspace(-2, 2, 9) ** 2)
    blur = band(RAW, weights / weights.sum())
    wide = blur @ images @ blur.T
    level = uniform(random, len(images), 0.15, 0.65)
    highest = np.maximum(wide.max((1, 2), keepdims=True), 0.1)
    return 1 / (1 + np.exp((level - wide / highest) * 14))


def distort(raw, random, strength=1.0):
    """Images [n, 28, 28] from glyphs [n, RAW, RAW]."""
    count = len(raw)
    small = shrinking(RAW, SIZE)
    images = change_strokes(warp(raw, strength, random), random)
    images = small @ images @ small.T
    ink = uniform(random, count, 0.65, 1)
    paper = uniform(random, count, 0, 0.12)
    paper = paper * (random.random((count, 1, 1)) < 0.3)
    noise = random.standard_normal(images.shape).astype(np.float32)
    amount = uniform(random, count, 0, 0.08)
    amount = amount * (random.random((count, 1, 1)) < 0.5)
    images = paper + (ink - paper) * images + amount * noise
    return np.clip(images, 0, 1).astype(np.float32)


def batch(glyphs, count, random, strength=1.0):
    """`count` random images and their labels."""
    labels = random.integers(0, 10, count)
    parts = [distort(glyphs.sample(part, random), random, strength)
             for part in np.array_split(labels, max(1, count // 250))]
    return np.concatenate(parts), labels
