"""Small networks to train, and data for them, made without any library.

write(name, folder) writes FOLDER/model.onnxtxt, x.npy and label.npy of a network of
NETWORKS: convolutions, residual blocks with normalizations and Dropout, an LSTM
behind an embedding, and a transformer.
"""

import os
import random
import struct

SAMPLES = 48


class Graph:
    """A graph in the text form of ONNX."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.count = 0

    def attribute(self, name, value):
        if isinstance(value, str):
            return 'attribute { name: "%s" type: STRING s: "%s" }' % (name, value)
        if isinstance(value, int):
            return 'attribute { name: "%s" type: INT i: %d }' % (name, value)
        if isinstance(value, float):
            return 'attribute { name: "%s" type: FLOAT f: %r }' % (name, value)
        return 'attribute { name: "%s" type: INTS %s }' % (
            name, " ".join("ints: %d" % i for i in value))

    def node(self, kind, *inputs, outputs=None, **attributes):
        self.count += 1
        outputs = outputs or ["v%d" % self.count]
        self.lines.append("node { op_type: \"%s\" %s %s %s }" % (
            kind, " ".join('input: "%s"' % i for i in inputs),
            " ".join('output: "%s"' % o for o in outputs),
            " ".join(self.attribute(*a) for a in sorted(attributes.items()))))
        return outputs[0] or outputs[1]

    def tensor(self, kind, field, dims, values):
        self.count += 1
        name = "w%d" % self.count
        self.lines.append("initializer { name: \"%s\" data_type: %d %s %s }" % (
            name, kind, " ".join("dims: %d" % d for d in dims),
            " ".join("%s: %s" % (field, v) for v in values)))
        return name

    def ints(self, *values):
        return self.tensor(7, "int64_data", [len(values)], values)

    def constant(self, value, *dims):
        count = 1
        for dim in dims:
            count *= dim
        return self.tensor(1, "float_data", dims, [value] * count)

    def weight(self, *dims, scale=None):
        count, fan_in = 1, 1
        for dim in dims:
            count *= dim
        fan_in = count // dims[0] if len(dims) == 4 else dims[0]
        scale = scale or (1.5 / fan_in) ** 0.5
        return self.tensor(1, "float_data", dims, [
            "%.5g" % self.random.uniform(-scale, scale) for _ in range(count)])

    def linear(self, x, inputs, outputs):
        mixed = self.node("MatMul", x, self.weight(inputs, outputs))
        return self.node("Add", mixed, self.weight(outputs))

    def conv(self, x, inputs, outputs, **attributes):
        return self.node("Conv", x, self.weight(outputs, inputs, 3, 3),
                         pads=[1, 1, 1, 1], **attributes)

    def text(self, shape, kind, output):
        dims = " ".join("dim { dim_value: %d }" % d for d in shape)
        return """ir_version: 8 opset_import { version: 17 }
graph {
name: "network"
%s
input { name: "x" type { tensor_type { elem_type: %d shape { dim { dim_param: "N" } %s } } } }
output { name: "%s" }
}
""" % ("\n".join(self.lines), kind, dims, output)


def make_convolutions(g):
    x = g.node("Relu", g.conv("x", 1, 6))
    x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("Relu", g.conv(x, 6, 8))
    x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("Flatten", x)
    return g.linear(g.node("Relu", g.linear(x, 72, 20)), 20, 5)


def make_residual(g):
    def norm(x, channels):
        return g.node("BatchNormalization", x, g.constant(1, channels),
                      g.constant(0, channels), g.constant(0, channels),
                      g.constant(1, channels))
    x = g.node("Relu", norm(g.conv("x", 1, 8), 8))
    for stride in 1, 2:
        y = g.node("Relu", norm(g.conv(x, 8, 8, strides=[stride, stride]), 8))
        y = norm(g.conv(y, 8, 8), 8)
        if stride == 2:
            x = norm(g.conv(x, 8, 8, strides=[2, 2]), 8)
        x = g.node("Relu", g.node("Add", x, y))
    x = g.node("Flatten", g.node("GlobalAveragePool", x))
    ratio = g.tensor(1, "float_data", [], [0.25])
    return g.linear(g.node("Dropout", x, ratio), 8, 5)


def make_lstm(g):
    x = g.node("Gather", g.weight(20, 12, scale=1), "x")
    x = g.node("Transpose", x, perm=[1, 0, 2])
    g.node("LSTM", x, g.weight(1, 64, 12, scale=0.4),
           g.weight(1, 64, 16, scale=0.4), g.weight(1, 128, scale=0.1),
           outputs=["h"], hidden_size=16)
    x = g.node("Squeeze", "h", g.ints(1))
    ratio = g.tensor(1, "float_data", [], [0.2])
    x = g.node("Dropout", x, ratio)
    x = g.node("Transpose", x, perm=[1, 0, 2])
    return g.linear(x, 16, 20)


def make_transformer(g):
    width, length, heads = 16, 10, 2
    x = g.node("Add", g.node("Gather", g.weight(20, width, scale=1), "x"),
               g.weight(1, length, width, scale=0.1))

    def split(x):
        x = g.node("Reshape", g.linear(x, width, width),
                   g.ints(-1, length, heads, width // heads))
        return g.node("Transpose", x, perm=[0, 2, 1, 3])

    def norm(x):
        return g.node("LayerNormalization", x, g.constant(1, width),
                      g.constant(0, width))
    for _ in range(2):
        y = norm(x)
        query, key, value = split(y), split(y), split(y)
        scores = g.node("MatMul", query, g.node("Transpose", key,
                                                perm=[0, 1, 3, 2]))
        scores = g.node("Mul", scores, g.tensor(1, "float_data", [], [0.35]))
        y = g.node("MatMul", g.node("Softmax", scores, axis=-1), value)
        y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]),
                   g.ints(-1, length, width))
        x = g.node("Add", x, g.linear(y, width, width))
        y = g.node("Relu", g.linear(norm(x), width, 32))
        x = g.node("Add", x, g.linear(y, 32, width))
    return g.linear(g.node("ReduceMean", x, axes=[1], keepdims=0), width, 5)


def write_npy(path, kind, dims, values):
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': (%s,), }" % (
        {"f": "f4", "q": "i8"}[kind], ", ".join(map(str, dims)))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header.encode())
        file.write(struct.pack("<%d%s" % (len(values), kind), *values))


def make_images(draw, folder):
    """A pattern for each of five classes, under noise."""
    pixels = 12 * 12
    patterns = [[draw.gauss(0, 0.5) for _ in range(pixels)] for _ in range(5)]
    labels = [draw.randrange(5) for _ in range(SAMPLES)]
    write_npy(os.path.join(folder, "x.npy"), "f", [SAMPLES, 1, 12, 12],
              [p + draw.gauss(0, 1) for label in labels for p in patterns[label]])
    write_npy(os.path.join(folder, "label.npy"), "q", [SAMPLES], labels)


def make_words(draw, folder):
    """Each word is followed by one of two that belong to it."""
    followers = [[draw.randrange(20) for _ in range(2)] for _ in range(20)]
    inputs, labels = [], []
    for _ in range(SAMPLES):
        word = draw.randrange(20)
        for _ in range(10):
            inputs.append(word)
            word = draw.choice(followers[word])
            labels.append(word)
    write_npy(os.path.join(folder, "x.npy"), "q", [SAMPLES, 10], inputs)
    write_npy(os.path.join(folder, "label.npy"), "q", [SAMPLES, 10], labels)


def make_sentences(draw, folder):
    """The class is that of the first word."""
    words = [[draw.randrange(20) for _ in range(10)] for _ in range(SAMPLES)]
    write_npy(os.path.join(folder, "x.npy"), "q", [SAMPLES, 10], sum(words, []))
    write_npy(os.path.join(folder, "label.npy"), "q", [SAMPLES],
              [sentence[0] % 5 for sentence in words])


# The network, its data, the shape of a sample, ONNX's number of its kind, and a
# learning rate.
NETWORKS = {
    "convolutions": (make_convolutions, make_images, [1, 12, 12], 1, 0.05),
    "residual": (make_residual, make_images, [1, 12, 12], 1, 0.05),
    "lstm": (make_lstm, make_words, [10], 7, 0.2),
    "transformer": (make_transformer, make_sentences, [10], 7, 0.05),
}


def write(name, folder):
    """Writes model and data; the learning rate."""
    network, data, shape, kind, rate = NETWORKS[name]
    os.makedirs(folder, exist_ok=True)
    graph = Graph(seed=1)
    output = network(graph)
    with open(os.path.join(folder, "model.onnxtxt"), "w",
              encoding="utf-8") as file:
        file.write(graph.text(shape, kind, output))
    data(random.Random(2), folder)
    return rate
