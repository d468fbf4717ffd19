"""ONNX models in protobuf text, as the examples write theirs.

All weights are those that training begins with; model-trainer draws the
others (-initialize).
"""

import math

FLOAT, INT64 = 1, 7


def ints(name, *values):
    """An attribute, as are those below."""
    return 'attribute { name: "%s" type: INTS ints: [%s] }' % (
        name, ", ".join(map(str, values)))


def integer(name, value):
    return 'attribute { name: "%s" type: INT i: %d }' % (name, value)


def floating(name, value):
    return 'attribute { name: "%s" type: FLOAT f: %g }' % (name, value)


def tensor(name, *dims, kind=FLOAT):
    """An input or output of the graph. A dimension that is a string is a
    symbol."""
    shape = " ".join(
        "dim { %s }" % ('dim_param: "%s"' % d if isinstance(d, str) else
                        "dim_value: %d" % d) for d in dims)
    return ('{ name: "%s" type { tensor_type { elem_type: %d shape { %s } } } }'
            % (name, kind, shape))


class Graph:
    """Nodes and weights, in the order in which they are added."""

    def __init__(self, name):
        self.name = name
        self.parts = []

    def weights(self, name, *dims, value=0):
        """Floats: all of them value, or those of the list value."""
        values = (value if isinstance(value, list) else
                  [value] * math.prod(dims))
        assert len(values) == math.prod(dims)
        return self._add_initializer(name, FLOAT, "float_data", dims, values)

    def integers(self, name, *values):
        """A vector of constants, as axes and shapes are."""
        return self._add_initializer(name, INT64, "int64_data", [len(values)],
                                     values)

    def _add_initializer(self, name, kind, field, dims, values):
        self.parts.append('initializer { name: "%s" data_type: %d %s %s: [%s] }'
                          % (name, kind, " ".join("dims: %d" % d for d in dims),
                             field, ", ".join(map(str, values))))
        return name

    def node(self, operator, inputs, outputs, *attributes):
        """Named like the first output, or like the only one, which may be a
        string; returns outputs."""
        names = [outputs] if isinstance(outputs, str) else outputs
        self.parts.append(
            'node { op_type: "%s" name: "%s" %s %s %s }' %
            (operator, names[0], " ".join('input: "%s"' % i for i in inputs),
             " ".join('output: "%s"' % o for o in names),
             " ".join(attributes)))
        return outputs

    def convolve(self, value, name, channels, new_channels, kernel, pad,
                 stride=1):
        return self.node(
            "Conv", [value, self.weights(name + ".weight", new_channels,
                                         channels, kernel, kernel)], name,
            ints("kernel_shape", kernel, kernel),
            ints("pads", pad, pad, pad, pad), ints("strides", stride, stride))

    def normalize(self, value, name, channels):
        return self.node("BatchNormalization", [
            value, self.weights(name + ".scale", channels, value=1),
            self.weights(name + ".bias", channels),
            self.weights(name + ".mean", channels),
            self.weights(name + ".variance", channels, value=1)], name)

    def write(self, path, inputs, outputs, opset=13):
        """Inputs and outputs are tensor()s."""
        parts = (self.parts + ["input " + i for i in inputs] +
                 ["output " + o for o in outputs])
        with open(path, "w") as file:
            file.write('ir_version: 7\nproducer_name: "glowish"\n'
                       'opset_import { version: %d }\n'
                       'graph {\n  name: "%s"\n  %s\n}\n' %
                       (opset, self.name, "\n  ".join(parts)))
