#!/usr/bin/python3
"""Writes a network that guesses the next character, before it is trained, as ONNX
in protobuf text:

    make_model.py [--hidden N] FILE.onnxtxt

ASCII characters x, [N, T], are looked up in a table, go through an LSTM and a linear
layer, and become the scores of each character to come after them, [N, T, 128].
Weights are random, by a fixed seed. Needs NumPy.
"""

import argparse
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from onnx_text import INT64, Graph, integer, ints, tensor

CHARACTERS, WIDTH = 128, 32


def main():
    parser = argparse.ArgumentParser(description="Write an LSTM.")
    parser.add_argument("--hidden", type=int, default=160)
    parser.add_argument("file")
    arguments = parser.parse_args()
    hidden = arguments.hidden
    random = np.random.Generator(np.random.PCG64(1))
    graph = Graph("characters")

    def draw(name, bound, *dims):
        values = random.uniform(-bound, bound, int(np.prod(dims)))
        return graph.weights(name, *dims,
                             value=values.astype(np.float32).tolist())

    bound = hidden ** -0.5
    value = graph.node("Gather", [draw("table", 1, CHARACTERS, WIDTH), "x"],
                       "rows")
    value = graph.node("Transpose", [value], "steps", ints("perm", 1, 0, 2))
    value = graph.node(
        "LSTM", [value, draw("lstm.input", bound, 1, 4 * hidden, WIDTH),
                 draw("lstm.state", bound, 1, 4 * hidden, hidden),
                 graph.weights("lstm.bias", 1, 8 * hidden)], "states",
        integer("hidden_size", hidden))
    value = graph.node("Squeeze", [value, graph.integers("axes", 1)], "hidden")
    value = graph.node("Transpose", [value], "rows.hidden",
                       ints("perm", 1, 0, 2))
    value = graph.node("MatMul", [value, draw("classes.weight", bound, hidden,
                                              CHARACTERS)], "matmul")
    graph.node("Add", [value, graph.weights("classes.bias", CHARACTERS)],
               "scores")
    graph.write(arguments.file, [tensor("x", "N", "T", kind=INT64)],
                [tensor("scores", "N", "T", CHARACTERS)])


if __name__ == "__main__":
    main()
