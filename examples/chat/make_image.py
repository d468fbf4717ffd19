#!/usr/bin/python3
"""Draws a conversation with build/chat/chat as it looks in a terminal, for
README.md:

    make_image.py LINES.txt IMAGE.svg

The lines are said one after the other, with the default options.
"""

import argparse
import os
import subprocess
import textwrap
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(HERE, "../../build/chat")
COLUMNS, WIDTH, HEIGHT, EDGE = 76, 8.4, 18, 16
USER, ANSWER = "#74c0fc", "#f1f3f5"


def converse(lines):
    """Pairs of a colour and a line of the terminal."""
    done = subprocess.run(
        [os.path.join(WORK, "chat"), os.path.join(WORK, "model.weights.bin"),
         os.path.join(HERE, "chat.tok")], input="\n".join(lines) + "\n",
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines), done.stdout
    shown = [(USER, "$ examples/chat/run.sh")]
    for line, answer in zip(lines, answers):
        shown.append((USER, "> " + line))
        shown += [(ANSWER, part) for part in textwrap.wrap(answer, COLUMNS)]
    return shown


def draw(shown):
    width = COLUMNS * WIDTH + 2 * EDGE
    height = len(shown) * HEIGHT + 2 * EDGE
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
             f'height="{height}">',
             '<rect width="100%" height="100%" rx="8" fill="#16181d"/>']
    for i, (colour, text) in enumerate(shown):
        parts.append(f'<text x="{EDGE}" y="{EDGE + 13 + i * HEIGHT}" '
                     'font-family="monospace" font-size="14" '
                     f'textLength="{len(text) * WIDTH:.1f}" xml:space="preserve" '
                     f'fill="{colour}">{escape(text)}</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description="Draw a conversation.")
    parser.add_argument("lines")
    parser.add_argument("image")
    arguments = parser.parse_args()
    with open(arguments.lines, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(arguments.image, "w", encoding="utf-8") as file:
        file.write(draw(converse(lines)))


if __name__ == "__main__":
    main()
