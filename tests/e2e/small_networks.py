"""Small networks in ONNX's text form, one for each family of kernels, for scripts that count
or guard what compiled code does. They need no test data: weights are random numbers, which
the compiler computes where they are few enough to be folded. Extents are not round, so that tiles have borders."""

import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../examples"))

from onnx_text import FLOAT, INT64, Graph, floating, integer, ints, tensor  # noqa: E402

UINT8, INT8 = 2, 3
MOST_FOLDED = 8192  # elements of a constant that the compiler computes


class Network(Graph):
    """A graph whose input is x and whose output is y."""

    def __init__(self, name):
        super().__init__(name)
        self.seed = 0

    def random(self, *dims, scale=0.2):
        assert math.prod(dims) <= MOST_FOLDED
        self.seed += 1
        return self.node("RandomNormal", [], "w%d" % self.seed, ints("shape", *dims),
                         floating("scale", scale), floating("seed", self.seed))

    def scalar(self, name, kind, value):
        field = "float_data" if kind == FLOAT else "int32_data"
        self.parts.append('initializer { name: "%s" data_type: %d %s: %s }'
                          % (name, kind, field, value))
        return name

    def quantize(self, value, name, scale, kind=UINT8, zero=128):
        """The value as 8 bits, as quantizers write it."""
        parameters = [self.scalar(name + "_scale", FLOAT, scale),
                      self.scalar(name + "_zero", kind, zero)]
        self.node("QuantizeLinear", [value, *parameters], name + "_q")
        return self.node("DequantizeLinear", [name + "_q", *parameters], name)

    def random_bytes(self, *dims):
        weights = self.random(*dims)
        return self.quantize(weights, weights + "_bytes", 0.01, INT8, 0)

    def convolution(self, value, name, weights, *attributes, bias=0, kind="Conv"):
        inputs = [value, weights] + ([self.random(bias)] if bias else [])
        return self.node(kind, inputs, name, *attributes)


def square_pads(pad):
    return ints("pads", pad, pad, pad, pad)


def convolution_3x3(g):
    g.convolution("x", "c", g.random(33, 19, 3, 3), square_pads(1), bias=33)
    g.node("Relu", ["c"], "y")
    return tensor("x", 1, 19, 13, 14)


def convolution_1x1(g):
    g.convolution("x", "c", g.random(50, 35, 1, 1), bias=50)
    g.node("Sigmoid", ["c"], "s")
    g.node("Mul", ["c", "s"], "y")
    return tensor("x", 1, 35, 13, 15)


def convolution_strided(g):
    """The first layers of image networks."""
    g.convolution("x", "c", g.random(24, 3, 7, 7), square_pads(3), ints("strides", 2, 2),
                  bias=24)
    g.node("Relu", ["c"], "r")
    g.node("MaxPool", ["r"], "y", ints("kernel_shape", 3, 3), ints("strides", 2, 2),
           square_pads(1))
    return tensor("x", 1, 3, 37, 35)


def convolution_depthwise(g):
    g.convolution("x", "a", g.random(37, 1, 3, 3), square_pads(1), integer("group", 37),
                  bias=37)
    g.node("Relu", ["a"], "b")
    g.convolution("b", "y", g.random(37, 1, 5, 5), square_pads(2), integer("group", 37),
                  ints("strides", 2, 2))
    return tensor("x", 1, 37, 17, 15)


def convolution_others(g):
    """With groups, dilated, transposed."""
    g.convolution("x", "a", g.random(20, 5, 3, 3), square_pads(1), integer("group", 4))
    g.convolution("a", "b", g.random(21, 20, 3, 3), square_pads(2), ints("dilations", 2, 2))
    g.convolution("b", "y", g.random(21, 9, 3, 3), ints("strides", 2, 2),
                  kind="ConvTranspose")
    return tensor("x", 1, 20, 11, 9)


def matmul(g):
    g.node("Gemm", ["x", g.random(67, 51), g.random(51)], "m")
    g.node("Relu", ["m"], "y")
    return tensor("x", 37, 67)


def matmul_vector(g):
    g.node("Gemm", ["x", g.random(113, 67), g.random(67)], "m")
    g.node("Relu", ["m"], "r")
    g.node("MatMul", ["r", g.random(67, 10)], "y")
    return tensor("x", 1, 113)


def attention(g):
    """Of two heads, after one matmul for queries, keys and values."""
    g.node("MatMul", ["x", g.random(34, 102)], "qkv")
    shape = g.integers("shape", 1, 41, 3, 2, 17)
    g.node("Reshape", ["qkv", shape], "heads")
    g.node("Transpose", ["heads"], "turned", ints("perm", 2, 0, 3, 1, 4))
    g.node("Split", ["turned"], ["q", "k", "v"], integer("axis", 0))
    g.node("Transpose", ["k"], "kt", ints("perm", 0, 1, 2, 4, 3))
    g.node("MatMul", ["q", "kt"], "scores")
    g.node("Softmax", ["scores"], "weights", integer("axis", 4))
    g.node("MatMul", ["weights", "v"], "y")
    return tensor("x", 1, 41, 34)


def normalizations(g):
    """Layer normalization as exporters compose it, and Softmax."""
    axes = ints("axes", 1)
    g.node("ReduceMean", ["x"], "mean", axes)
    g.node("Sub", ["x", "mean"], "centred")
    g.node("Mul", ["centred", "centred"], "squares")
    g.node("ReduceMean", ["squares"], "variance", axes)
    g.node("Add", ["variance", g.scalar("epsilon", FLOAT, 1e-5)], "shifted")
    g.node("Sqrt", ["shifted"], "deviation")
    g.node("Div", ["centred", "deviation"], "normal")
    g.node("Mul", ["normal", g.random(77)], "scaled")
    g.node("Softmax", ["scaled"], "y", integer("axis", 1))
    return tensor("x", 23, 77)


def element_wise(g):
    for name, operator in (("e", "Exp"), ("t", "Tanh"), ("f", "Erf"), ("s", "Sigmoid")):
        g.node(operator, ["x"], name)
    g.node("Mul", ["e", "t"], "et")
    g.node("Add", ["et", "f"], "etf")
    g.node("Max", ["etf", "s"], "y")
    return tensor("x", 7, 131)


def lstm(g):
    directions, hidden, size = 1, 19, 21
    g.node("LSTM", ["x", g.random(directions, 4 * hidden, size),
                    g.random(directions, 4 * hidden, hidden),
                    g.random(directions, 8 * hidden)], "y", integer("hidden_size", hidden))
    return tensor("x", 6, 1, size)


def pooling_and_resizing(g):
    g.node("AveragePool", ["x"], "a", ints("kernel_shape", 3, 3), ints("strides", 2, 2))
    g.scalar("none", FLOAT, 0)
    g.weights("scales", 4, value=[1, 1, 2, 2])
    g.node("Resize", ["a", "", "scales"], "r", 'attribute { name: "mode" type: STRING s: "linear" }')
    g.node("GlobalAveragePool", ["r"], "m")
    g.node("Add", ["r", "m"], "y")
    return tensor("x", 1, 21, 15, 13)


def data_movement(g):
    """Transposes, a reversed sum, the largest elements, rows of a table."""
    g.node("Transpose", ["x"], "t", ints("perm", 2, 1, 0))
    g.node("CumSum", ["t", g.integers("axis", 1)], "sums")
    g.node("TopK", ["sums", g.integers("k", 3)], ["largest", "places"], integer("axis", 2))
    g.node("Gather", [g.random(17, 33), "places"], "y")
    return tensor("x", 11, 9, 7)


def int8_convolution(g):
    """Of 8 bits, with an activation and a depthwise convolution of 8 bits."""
    x = g.quantize("x", "xq", 0.008)
    g.convolution(x, "c", g.random_bytes(33, 19, 3, 3), square_pads(1))
    c = g.quantize("c", "cq", 0.03)
    g.node("Relu", [c], "r")
    r = g.quantize("r", "rq", 0.02, zero=0)
    g.convolution(r, "d", g.random_bytes(33, 1, 3, 3), square_pads(1), integer("group", 33))
    d = g.quantize("d", "dq", 0.03)
    g.convolution(d, "e", g.random_bytes(17, 33, 1, 1))
    g.quantize("e", "y", 0.05)
    return tensor("x", 1, 19, 11, 9)


def int8_matmul(g):
    x = g.quantize("x", "xq", 0.008)
    g.node("MatMul", [x, g.random_bytes(67, 35)], "m")
    g.quantize("m", "y", 0.05)
    return tensor("x", 13, 67)


MAKERS = [convolution_3x3, convolution_1x1, convolution_strided, convolution_depthwise,
          convolution_others, matmul, matmul_vector, attention, normalizations, element_wise,
          lstm, pooling_and_resizing, data_movement, int8_convolution, int8_matmul]
NAMES = [maker.__name__ for maker in MAKERS]


def write(folder):
    """Writes all into the folder; returns their paths by names."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for maker in MAKERS:
        network = Network(maker.__name__)
        network_input = maker(network)
        paths[network.name] = os.path.join(folder, network.name + ".onnxtxt")
        network.write(paths[network.name], [network_input], ['{ name: "y" }'])
    return paths
