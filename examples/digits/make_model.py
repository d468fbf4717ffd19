#!/usr/bin/python3
"""Writes the recogniser before it is trained, as ONNX in protobuf text:

    make_model.py FILE.onnxtxt

Five small convolutions, each with batch normalization, and a linear layer; the
output is the chance of each digit. All filters are 0: model-trainer draws them
(-initialize).
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from onnx_text import Graph, integer, ints, tensor


def layer(graph, value, name, channels, new_channels, kernel, pad):
    value = graph.convolve(value, name, channels, new_channels, kernel, pad)
    value = graph.normalize(value, name + ".norm", new_channels)
    return graph.node("Relu", [value], name + ".relu")


def halve(graph, value, name):
    return graph.node("MaxPool", [value], name, ints("kernel_shape", 2, 2),
                      ints("strides", 2, 2))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    graph = Graph("digits")
    value = layer(graph, "image", "conv1", 1, 16, 5, 2)
    value = halve(graph, value, "pool1")
    value = layer(graph, value, "conv2", 16, 32, 3, 1)
    value = layer(graph, value, "conv3", 32, 32, 3, 1)
    value = halve(graph, value, "pool3")
    value = layer(graph, value, "conv4", 32, 48, 3, 1)
    value = layer(graph, value, "conv5", 48, 64, 3, 0)
    value = halve(graph, value, "pool5")
    value = graph.node("Flatten", [value], "features")
    value = graph.node("Gemm", [value, graph.weights("classes.weight", 10, 256),
                                graph.weights("classes.bias", 10)], "logits",
                       integer("transB", 1))
    graph.node("Softmax", [value], "chances")
    graph.write(sys.argv[1], [tensor("image", 1, 1, 28, 28)],
                [tensor("chances", 1, 10)])


if __name__ == "__main__":
    main()
