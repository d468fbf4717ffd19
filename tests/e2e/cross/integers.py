#!/usr/bin/env python3
"""integers.py [SEED [COUNT]]: writes a model of many convolutions and matmuls
of 8-bit integers in ONNX's text form to standard output.

They are independent of each other: each takes a part of the only input, which
it quantizes, and what they compute is joined to the only output. The sizes are
not round, and kernels, strides, dilations, pads, groups and zero points are
drawn. Half of them give their sums, the others requantize them, per channel or
with one scale, with and without a Relu."""
import random
import sys

nodes, initializers = [], []


def initializer(name, kind, dims, values):
    """A constant of FLOAT (1), UINT8 (2), INT8 (3), INT32 (6) or INT64 (7)."""
    field = {1: "float_data", 7: "int64_data"}.get(kind, "int32_data")
    text = f'initializer {{ name: "{name}" data_type: {kind}'
    text += "".join(f" dims: {d}" for d in dims)
    initializers.append(
        text + "".join(f" {field}: {v}" for v in values) + " }")
    return name


def node(kind, inputs, output, **attributes):
    text = f'node {{ op_type: "{kind}"'
    text += "".join(f' input: "{name}"' for name in inputs)
    text += f' output: "{output}"'
    for name, value in attributes.items():
        if isinstance(value, int):
            body = f"type: INT i: {value}"
        else:
            body = "type: INTS" + "".join(f" ints: {v}" for v in value)
        text += f' attribute {{ name: "{name}" {body} }}'
    nodes.append(text + " }")
    return output


class Case:
    """One convolution or matmul, number `number`, of the input from `start` on."""

    def __init__(self, draw, number, start):
        self.draw, self.n, self.start = draw, f"c{number}_", start
        self.x_kind = draw.choice([2, 3])
        self.zero = draw.choice([0, 0, 7, 100]) - (20 if self.x_kind == 3 else 0)

    def name(self, text):
        return self.n + text

    def take(self, shape):
        """A part of the input as integers of `shape`."""
        count = 1
        for extent in shape:
            count *= extent
        end = self.start + count
        part = node("Slice", [
            "x", initializer(self.name("s"), 7, [1], [self.start]),
            initializer(self.name("e"), 7, [1], [end])], self.name("part"))
        self.start = end
        shaped = node("Reshape", [part, initializer(
            self.name("shape"), 7, [len(shape)], shape)], self.name("shaped"))
        self.scale = initializer(self.name("xs"), 1, [], [0.01])
        self.zero_name = initializer(self.name("xz"), self.x_kind, [],
                                     [self.zero])
        return node("QuantizeLinear", [shaped, self.scale, self.zero_name],
                    self.name("q"))

    def weights(self, shape, kind=3):
        count = 1
        for extent in shape:
            count *= extent
        low, high = (-128, 127) if kind == 3 else (0, 255)
        return initializer(self.name("w"), kind, shape, [
            self.draw.randint(low, high) for _ in range(count)])

    def convolution(self):
        draw = self.draw
        group = draw.choice([1, 1, 1, 2, 3])
        channels = draw.choice([1, 2, 3, 4, 5, 7, 8, 16, 17, 33])
        out = draw.choice([1, 2, 3, 5, 6, 8, 17, 33])
        if draw.randrange(3) == 0:  # depthwise
            group, channels, out = draw.choice([2, 3, 4, 7, 16, 17]), 1, 1
            out = draw.choice([1, 1, 1, 2])
        extents, pads, strides, dilations, kernels = [], [[], []], [], [], []
        for _ in range(2):
            kernel = draw.choice([1, 1, 2, 3, 3, 3, 5, 7])
            dilation = draw.choice([1, 1, 1, 2])
            reach = (kernel - 1) * dilation + 1
            pad = [draw.randrange(reach) for _ in range(2)]
            least = max(1, reach - sum(pad))
            extents.append(least + draw.choice([0, 1, 2, 3, 6, 16, 32]))
            for side, value in zip(pads, pad):
                side.append(value)
            kernels.append(kernel)
            dilations.append(dilation)
            strides.append(draw.choice([1, 1, 1, 2, 3]))
        if draw.randrange(4) == 0:
            kernels, dilations, pads = [1, 1], [1, 1], [[0, 0], [0, 0]]
        x = self.take([draw.choice([1, 1, 2]), channels * group] + extents)
        shape = [out * group, channels] + kernels
        attributes = {"pads": pads[0] + pads[1], "strides": strides,
                      "dilations": dilations, "group": group}
        if draw.randrange(2):
            w = self.weights(shape, draw.choice([2, 3, 3]))
            sums = node("ConvInteger", [x, w, self.zero_name],
                        self.name("sums"), **attributes)
            return self.finish_sums(sums)
        return self.finish(x, self.weights(shape), shape[0],
                           channels * kernels[0] * kernels[1], "Conv",
                           attributes)

    def matmul(self):
        draw = self.draw
        rows, depth, columns = (draw.choice([1, 1, 2, 3, 7, 17, 33, 64])
                                for _ in range(3))
        x = self.take([rows, depth])
        w = self.weights([depth, columns])
        if draw.randrange(2):
            sums = node("MatMulInteger", [x, w, self.zero_name],
                        self.name("sums"))
            return self.finish_sums(sums)
        return self.finish(x, w, columns, depth, "MatMul", {})

    def finish_sums(self, sums):
        return self.flatten(node("Cast", [sums], self.name("y"), to=1))

    def finish(self, x, w, channels, depth, kind, attributes):
        """Dequantized operands, and the result requantized."""
        draw = self.draw
        per_channel = kind == "Conv" and draw.randrange(2)
        real_x = node("DequantizeLinear", [x, self.scale, self.zero_name],
                      self.name("dx"))
        dims = [channels] if per_channel else []
        scales = initializer(self.name("ws"), 1, dims, [
            round(draw.uniform(0.002, 0.02), 6) for _ in range(channels or 1)]
            if per_channel else [0.011])
        zeros = initializer(self.name("wz"), 3, dims,
                            [0] * (channels if per_channel else 1))
        real_w = node("DequantizeLinear", [w, scales, zeros], self.name("dw"),
                      **({"axis": 0} if per_channel else {}))
        y = node(kind, [real_x, real_w], self.name("real"), **attributes)
        if draw.randrange(2):
            y = node("Relu", [y], self.name("relu"))
        kind = draw.choice([2, 3])
        zero = draw.choice([0, 3]) if kind == 2 else draw.choice([0, -128, 5])
        scale = initializer(self.name("ys"), 1, [], [
            round(0.004 * max(depth, 1) ** 0.5 * draw.uniform(0.3, 1.5), 6)])
        zero = initializer(self.name("yz"), kind, [], [zero])
        y = node("QuantizeLinear", [y, scale, zero], self.name("yq"))
        y = node("DequantizeLinear", [y, scale, zero], self.name("y"))
        return self.flatten(y)

    def flatten(self, y):
        return node("Reshape", [y, initializer(self.name("f"), 7, [1], [-1])],
                    self.name("flat"))


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    draw = random.Random(seed)
    start, parts = 0, []
    for number in range(count):
        case = Case(draw, number, start)
        parts.append(case.matmul() if number % 4 == 3 else case.convolution())
        start = case.start
    node("Concat", parts, "y", axis=0)
    print("ir_version: 7\nopset_import { version: 13 }\ngraph {")
    print('  name: "integers"')
    for line in nodes + initializers:
        print("  " + line)
    print('  input { name: "x" type { tensor_type { elem_type: 1 shape {'
          f" dim {{ dim_value: {start} }} }} }} }} }}")
    print('  output { name: "y" type { tensor_type { elem_type: 1 shape {'
          ' dim { dim_param: "n" } } } } }')
    print("}")


main()
