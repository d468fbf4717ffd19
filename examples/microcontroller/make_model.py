#!/usr/bin/python3
"""Writes the network that recognizes words, before it is trained, as ONNX in protobuf
text:

    make_model.py FILE.onnxtxt

A convolution of 5 by 5 that halves both sides, then three times a depthwise convolution of 3
by 3 and one of 1 by 1, the mean over all places, and a linear layer: the scheme of Zhang,
Suda, Lai and Chandra, "Hello Edge: Keyword Spotting on Microcontrollers" (2017, arXiv
1711.07128), smaller. All filters are 0: model-trainer draws them (-initialize).
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import features  # noqa: E402
import words  # noqa: E402
from onnx_text import Graph, integer, ints, tensor  # noqa: E402

# Input channels, output channels and stride of the pairs of convolutions.
PAIRS = [(24, 40, 1), (40, 56, 2), (56, 64, 1)]


def finish(graph, value, name, channels):
    value = graph.normalize(value, name + ".norm", channels)
    return graph.node("Relu", [value], name + ".relu")


def depthwise(graph, value, name, channels, stride):
    weights = graph.weights(name + ".weight", channels, 1, 3, 3)
    value = graph.node("Conv", [value, weights], name, ints("kernel_shape", 3, 3),
                       ints("pads", 1, 1, 1, 1), ints("strides", stride, stride),
                       integer("group", channels))
    return finish(graph, value, name, channels)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    graph = Graph("words")
    value = graph.convolve("features", "conv", 1, PAIRS[0][0], 5, 2, 2)
    value = finish(graph, value, "conv", PAIRS[0][0])
    for number, (channels, new_channels, stride) in enumerate(PAIRS, 1):
        value = depthwise(graph, value, f"depth{number}", channels, stride)
        value = graph.convolve(value, f"point{number}", channels, new_channels, 1, 0)
        value = finish(graph, value, f"point{number}", new_channels)
    value = graph.node("GlobalAveragePool", [value], "mean")
    value = graph.node("Flatten", [value], "flat")
    classes, channels = len(words.LABELS), PAIRS[-1][1]
    graph.node("Gemm", [value, graph.weights("classes.weight", classes, channels),
                        graph.weights("classes.bias", classes)], "scores",
               integer("transB", 1))
    graph.write(sys.argv[1],
                [tensor("features", "N", 1, features.FRAMES, features.BANDS)],
                [tensor("scores", "N", classes)])


if __name__ == "__main__":
    main()
