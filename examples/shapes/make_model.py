#!/usr/bin/python3
"""Writes a residual network (He et al., 2016, arXiv 1512.03385, section 4.2)
before it is trained, as ONNX in protobuf text:

    make_model.py [--blocks N] FILE.onnxtxt

A convolution, three stages of N blocks with 16, 32 and 64 channels on 32, 16
and 8 pixels a side, the mean over all pixels, a linear layer. A skip that
changes shape is a convolution of one pixel. All filters are 0: model-trainer
draws them (-initialize).
"""

import argparse
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from onnx_text import Graph, integer, tensor

CLASSES = 8


def layer(graph, value, name, channels, new_channels, kernel, stride=1):
    value = graph.convolve(value, name, channels, new_channels, kernel,
                           kernel // 2, stride)
    return graph.normalize(value, name + ".norm", new_channels)


def block(graph, value, name, channels, new_channels, stride):
    skip = value
    value = layer(graph, value, name + ".conv1", channels, new_channels, 3,
                  stride)
    value = graph.node("Relu", [value], name + ".relu1")
    value = layer(graph, value, name + ".conv2", new_channels, new_channels, 3)
    if channels != new_channels:
        skip = layer(graph, skip, name + ".skip", channels, new_channels, 1,
                     stride)
    value = graph.node("Add", [value, skip], name + ".sum")
    return graph.node("Relu", [value], name + ".relu2")


def main():
    parser = argparse.ArgumentParser(description="Write a residual network.")
    parser.add_argument("--blocks", type=int, default=1)
    parser.add_argument("file")
    arguments = parser.parse_args()
    graph = Graph("images")
    channels = 16
    value = layer(graph, "image", "first", 3, channels, 3)
    value = graph.node("Relu", [value], "first.relu")
    for stage in range(3):
        for i in range(arguments.blocks):
            new_channels = 16 << stage
            value = block(graph, value, "stage%d.%d" % (stage + 1, i), channels,
                          new_channels, 2 if stage and i == 0 else 1)
            channels = new_channels
    value = graph.node("GlobalAveragePool", [value], "mean")
    value = graph.node("Flatten", [value], "features")
    graph.node("Gemm", [value, graph.weights("classes.weight", CLASSES, channels),
                        graph.weights("classes.bias", CLASSES)], "scores",
               integer("transB", 1))
    graph.write(arguments.file, [tensor("image", "N", 3, 32, 32)],
                [tensor("scores", "N", CLASSES)])


if __name__ == "__main__":
    main()
