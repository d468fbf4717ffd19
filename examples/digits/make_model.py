#!/usr/bin/python3
"""Writes the recogniser before it is trained, as ONNX in protobuf text:

    make_model.py FILE.onnxtxt

Five small convolutions, each with batch normalization, and a linear layer; the
output is the chance of each digit. All filters are 0: model-trainer draws them
(-initialize).
"""

import math
import sys

WEIGHTS, NODES = [], []


def weights(name, *dims, value=0):
    WEIGHTS.append('initializer { name: "%s" data_type: 1 %s float_data: [%s] }'
                   % (name, " ".join("dims: %d" % d for d in dims),
                      ", ".join([str(value)] * math.prod(dims))))
    return name


def ints(name, *values):
    return 'attribute { name: "%s" type: INTS ints: [%s] }' % (
        name, ", ".join(map(str, values)))


def node(operator, inputs, output, *attributes):
    NODES.append('node { op_type: "%s" name: "%s" %s output: "%s" %s }' % (
        operator, output, " ".join('input: "%s"' % i for i in inputs), output,
        " ".join(attributes)))
    return output


def normalize(value, name, channels):
    return node("BatchNormalization", [
        value, weights(name + ".scale", channels, value=1),
        weights(name + ".bias", channels), weights(name + ".mean", channels),
        weights(name + ".variance", channels, value=1)], name)


def convolve(value, name, channels, new_channels, kernel, pad):
    value = node("Conv", [value, weights(name + ".weight", new_channels,
                                         channels, kernel, kernel)], name,
                 ints("kernel_shape", kernel, kernel),
                 ints("pads", pad, pad, pad, pad))
    return node("Relu", [normalize(value, name + ".norm", new_channels)],
                name + ".relu")


def halve(value, name):
    return node("MaxPool", [value], name, ints("kernel_shape", 2, 2),
                ints("strides", 2, 2))


def tensor(name, *dims):
    return ('{ name: "%s" type { tensor_type { elem_type: 1 shape { %s } } } }'
            % (name, " ".join("dim { dim_value: %d }" % d for d in dims)))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    value = halve(convolve("picture", "conv1", 1, 16, 5, 2), "pool1")
    value = convolve(value, "conv2", 16, 32, 3, 1)
    value = halve(convolve(value, "conv3", 32, 32, 3, 1), "pool3")
    value = convolve(value, "conv4", 32, 48, 3, 1)
    value = halve(convolve(value, "conv5", 48, 64, 3, 0), "pool5")
    value = node("Flatten", [value], "features")
    value = node("Gemm", [value, weights("classes.weight", 10, 256),
                          weights("classes.bias", 10)], "logits",
                 'attribute { name: "transB" type: INT i: 1 }')
    node("Softmax", [value], "chances")
    parts = NODES + WEIGHTS + ["input " + tensor("picture", 1, 1, 28, 28),
                               "output " + tensor("chances", 1, 10)]
    with open(sys.argv[1], "w") as file:
        file.write('ir_version: 7\nproducer_name: "glowish"\n'
                   'opset_import { version: 13 }\n'
                   'graph {\n  name: "digits"\n  %s\n}\n' %
                   "\n  ".join(parts))


if __name__ == "__main__":
    main()
