"""Pictures of digits: glyphs of fonts, randomly distorted.

A picture is 28 by 28, light on dark, in [0, 1]. Everything is drawn from the
generator that the caller passes, so that a seed gives the same pictures on
one machine.
"""

import math
import os
import subprocess

import numpy as np
import torch
import torch.nn.functional as F
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
                                 "scripts/install-deps.sh --train" % words[0])
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
        pictures, weights = [], []
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
            pictures += drawn
            weights += [weight / len(drawn)] * len(drawn) if drawn else []
        self.pictures = torch.from_numpy(np.stack(pictures))
        self.weights = torch.tensor(weights)

    def sample(self, labels, generator):
        """One undistorted glyph for each label, of random fonts."""
        fonts = torch.multinomial(self.weights, len(labels), True,
                                  generator=generator)
        return self.pictures[fonts, labels].unsqueeze(1)


def uniform(count, low, high, generator):
    return low + (high - low) * torch.rand(count, generator=generator)


def warp_grid(count, strength, generator):
    """Sampling grids of a random affine map and a smooth random field."""
    g = generator
    angle = uniform(count, -0.3, 0.3, g) * strength
    shear = uniform(count, -0.35, 0.35, g) * strength
    across = 1 / (1 + uniform(count, -0.3, 0.15, g) * strength)
    down = 1 / (1 + uniform(count, -0.2, 0.15, g) * strength)
    cos, sin = torch.cos(angle), torch.sin(angle)
    shift_x = uniform(count, -0.16, 0.16, g) * strength
    shift_y = uniform(count, -0.16, 0.16, g) * strength
    theta = torch.stack([
        torch.stack([cos * across, (shear * cos - sin) * down, shift_x], 1),
        torch.stack([sin * across, (shear * sin + cos) * down, shift_y], 1),
    ], 1)
    grid = F.affine_grid(theta, (count, 1, RAW, RAW), align_corners=False)
    field = torch.randn(count, 2, 5, 5, generator=g) * 0.075 * strength
    field = F.interpolate(field, size=(RAW, RAW), mode="bicubic",
                          align_corners=True)
    return grid + field.permute(0, 2, 3, 1)


def change_strokes(pictures, generator):
    """Strokes made thicker or thinner: a blurred picture cut at a random
    share of its highest level, rounded off to grey at the edge."""
    count = len(pictures)
    blur = torch.exp(-torch.linspace(-2, 2, 9) ** 2)
    kernel = (blur[:, None] * blur[None, :] / blur.sum() ** 2)[None, None]
    wide = F.conv2d(pictures, kernel, padding=4)
    level = uniform(count, 0.15, 0.65, generator).view(-1, 1, 1, 1)
    highest = wide.amax((1, 2, 3), keepdim=True).clamp(min=0.1)
    return torch.sigmoid((wide / highest - level) * 14)


def distort(raw, generator, strength=1.0):
    """Pictures [n, 1, 28, 28] from glyphs [n, 1, RAW, RAW]."""
    count = len(raw)
    warped = F.grid_sample(raw, warp_grid(count, strength, generator),
                           align_corners=False)
    warped = change_strokes(warped, generator)
    small = F.interpolate(warped, size=(SIZE, SIZE), mode="bilinear",
                          align_corners=False, antialias=True)
    ink = uniform(count, 0.65, 1.0, generator).view(-1, 1, 1, 1)
    paper = uniform(count, 0.0, 0.12, generator).view(-1, 1, 1, 1)
    paper = paper * (torch.rand(count, 1, 1, 1, generator=generator) < 0.3)
    noise = torch.randn(small.shape, generator=generator)
    amount = uniform(count, 0.0, 0.08, generator).view(-1, 1, 1, 1)
    amount = amount * (torch.rand(count, 1, 1, 1, generator=generator) < 0.5)
    small = paper + (ink - paper) * small + amount * noise
    return small.clamp(0, 1)


def batch(glyphs, count, generator, strength=1.0):
    """`count` random pictures and their labels."""
    labels = torch.randint(0, 10, (count,), generator=generator)
    return distort(glyphs.sample(labels, generator), generator,
                   strength), labels
