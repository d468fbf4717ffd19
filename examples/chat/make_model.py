#!/usr/bin/python3
"""Writes a small decoder before it is trained, as ONNX in protobuf text:

    make_model.py FILE.onnxtxt

Ids of tokens, [N, S], become the scores of each token to come after them. The
keys and values of the P tokens before these are inputs, past.LAYER.key and
past.LAYER.value, and leave with the new ones appended, as present.LAYER.key and
present.LAYER.value: the same file is trained (with P = 0) and then chats. Weights
are random, by a fixed seed; the table of tokens is that of the scores, too. Needs
NumPy.
"""

import argparse
import os
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from onnx_text import INT64, Graph, floating, integer, ints, tensor

TOKENS, WIDTH, HIDDEN, LAYERS = 768, 64, 160, 3
HEADS, KEY_HEADS, HEAD = 4, 4, 16  # fewer key heads: some heads share theirs
POSITIONS = 512


class Decoder:
    def __init__(self):
        self.graph = Graph("chat")
        self.random = np.random.Generator(np.random.PCG64(1))
        self.inputs = [tensor("input_ids", "N", "S", kind=INT64),
                       tensor("position_ids", "N", "S", kind=INT64)]
        self.outputs = [tensor("logits", "N", "S", TOKENS)]

    def draw(self, name, *dims, deviation=None):
        deviation = deviation or dims[0] ** -0.5
        values = self.random.normal(0, deviation, int(np.prod(dims)))
        return self.graph.weights(name, *dims, value=[
            float("%.7g" % v) for v in values])

    def multiply(self, value, name, *dims):
        return self.graph.node("MatMul", [value, self.draw(name + ".w", *dims)],
                               name)

    def normalize(self, value, name):
        weight = self.graph.weights(name + ".w", WIDTH, value=1)
        return self.graph.node("RMSNormalization", [value, weight], name,
                               integer("axis", -1), floating("epsilon", 1e-5))

    def heads(self, value, name, count, turned):
        """[N, S, count * HEAD] as [N, count, S, HEAD], by the positions."""
        shape = self.graph.integers(name + ".shape", 0, 0, count, HEAD)
        value = self.graph.node("Reshape", [value, shape], name + ".split")
        value = self.graph.node("Transpose", [value], name + ".heads",
                                ints("perm", 0, 2, 1, 3))
        if not turned:
            return value
        return self.graph.node(
            "RotaryEmbedding", [value, "cosines", "sines", "position_ids"],
            name + ".turned")

    def project(self, value, name, count):
        """With a bias, queries and keys can be about positions alone."""
        value = self.multiply(value, name + ".matmul", WIDTH, count * HEAD)
        bias = self.draw(name + ".bias", count * HEAD, deviation=0.5)
        return self.graph.node("Add", [value, bias], name)

    def attend(self, value, layer):
        graph = self.graph
        query = self.project(value, layer + ".query", HEADS)
        key = self.project(value, layer + ".key", KEY_HEADS)
        rows = self.multiply(value, layer + ".value", WIDTH, KEY_HEADS * HEAD)
        past, present = ([f"{time}.{layer}.{what}" for what in ("key", "value")]
                         for time in ("past", "present"))
        for names, length, ports in ((past, "P", self.inputs),
                                     (present, "P + S", self.outputs)):
            ports += [tensor(n, "N", KEY_HEADS, length, HEAD) for n in names]
        value = graph.node(
            "Attention", [self.heads(query, layer + ".query", HEADS, True),
                          self.heads(key, layer + ".key", KEY_HEADS, True),
                          self.heads(rows, layer + ".value", KEY_HEADS, False),
                          "", *past],
            [layer + ".attention", *present], integer("is_causal", 1))
        value = graph.node("Transpose", [value[0]], layer + ".rows",
                           ints("perm", 0, 2, 1, 3))
        shape = graph.integers(layer + ".rows.shape", 0, 0, HEADS * HEAD)
        value = graph.node("Reshape", [value, shape], layer + ".merged")
        return self.multiply(value, layer + ".output", HEADS * HEAD, WIDTH)

    def feed_forward(self, value, layer):
        gate = self.multiply(value, layer + ".gate", WIDTH, HIDDEN)
        share = self.graph.node("Sigmoid", [gate], layer + ".sigmoid")
        gate = self.graph.node("Mul", [gate, share], layer + ".silu")
        up = self.multiply(value, layer + ".up", WIDTH, HIDDEN)
        value = self.graph.node("Mul", [gate, up], layer + ".gated")
        return self.multiply(value, layer + ".down", HIDDEN, WIDTH)

    def build(self):
        graph = self.graph
        angles = np.outer(np.arange(POSITIONS),
                          10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2)))
        for name, table in (("cosines", np.cos(angles)),
                            ("sines", np.sin(angles))):
            graph.weights(name, *table.shape,
                          value=[float("%.7g" % v) for v in table.flat])
        table = self.draw("tokens", TOKENS, WIDTH, deviation=0.125)
        value = graph.node("Gather", [table, "input_ids"], "embedded")
        for i in range(LAYERS):
            layer = str(i)
            normal = self.normalize(value, layer + ".norm1")
            value = graph.node("Add", [value, self.attend(normal, layer)],
                               layer + ".attended")
            normal = self.normalize(value, layer + ".norm2")
            value = graph.node("Add", [value, self.feed_forward(normal, layer)],
                               layer + ".end")
        value = self.normalize(value, "norm")
        table = graph.node("Transpose", [table], "classes", ints("perm", 1, 0))
        graph.node("MatMul", [value, table], "logits")


def main():
    parser = argparse.ArgumentParser(description="Write a decoder.")
    parser.add_argument("file")
    decoder = Decoder()
    decoder.build()
    decoder.graph.write(parser.parse_args().file, decoder.inputs,
                        decoder.outputs, opset=23)


if __name__ == "__main__":
    main()
