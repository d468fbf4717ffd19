"""Compiles models whose scales, zero points or axes are not what an operator
takes: each gives one line, which names the node, the operator and what would be
accepted.

check_malformed_quantization.py FOLDER"""

import subprocess
import sys

FLOAT, UINT8, INT8, INT32 = 1, 2, 3, 6


def tensor(name, kind, dims, value=1):
    """An initializer of equal elements."""
    count = 1
    for extent in dims:
        count *= extent
    field = "float_data" if kind == FLOAT else "int32_data"
    shape = " ".join(f"dims: {extent}" for extent in dims)
    values = ", ".join([str(value)] * count)
    return (f'initializer {{ name: "{name}" data_type: {kind} {shape} '
            f"{field}: [{values}] }}")


def model(kind, shape, operator, inputs, tensors, opset=13, **attributes):
    """One node; its first input is x, of kind and shape."""
    dims = " ".join(f"dim {{ dim_value: {extent} }}" for extent in shape)
    names = " ".join(f'input: "{name}"' for name in inputs)
    attrs = " ".join(f'attribute {{ name: "{name}" type: INT i: {value} }}'
                     for name, value in attributes.items())
    return (f"ir_version: 8 opset_import {{ version: {opset} }} graph {{\n"
            f'name: "g" node {{ op_type: "{operator}" {names} output: "y" '
            f"{attrs} }}\n" + "\n".join(tensors) +
            f'\ninput {{ name: "x" type {{ tensor_type {{ elem_type: {kind} '
            f'shape {{ {dims} }} }} }} }} output {{ name: "y" }} }}\n')


def linear(operator, scale=(), zero=(), kind=None, scale_kind=FLOAT,
           zero_kind=INT8, **more):
    """QuantizeLinear of floats, or DequantizeLinear of int8."""
    if kind is None:
        kind = FLOAT if operator == "QuantizeLinear" else INT8
    return model(kind, (2, 4, 6, 8), operator, ["x", "s", "z"],
                 [tensor("s", scale_kind, scale),
                  tensor("z", zero_kind, zero, 0)], **more)


CONVOLUTION = {"xs": (FLOAT, ()), "xz": (INT8, ()), "w": (INT8, (5, 4, 1, 1)),
               "ws": (FLOAT, ()), "wz": (INT8, ()), "ys": (FLOAT, ()),
               "yz": (INT8, ())}


def convolution(**other):
    """QLinearConv of int8 with some parameters replaced."""
    parameters = CONVOLUTION | other
    return model(INT8, (1, 4, 6, 6), "QLinearConv", ["x", *parameters],
                 [tensor(name, kind, dims)
                  for name, (kind, dims) in parameters.items()])


def integers(operator, shape, weights, zero, weights_zero):
    """MatMulInteger or ConvInteger of int8."""
    return model(INT8, shape, operator, ["x", "w", "xz", "wz"],
                 [tensor("w", INT8, weights), tensor("xz", *zero),
                  tensor("wz", *weights_zero)])


SCALAR = (INT8, ())
CASES = [
    (linear("DequantizeLinear", scale=[3], axis=1),
     "input 1 ('s') is float<3>; accepted: one value, or 4 for dimension 1"),
    (linear("QuantizeLinear", scale=[2, 2], axis=1),
     "input 1 ('s') is float<2x2>; accepted: one value, or 4 for dimension 1"),
    (linear("QuantizeLinear", scale=[4], zero=[3], axis=1),
     "input 2 ('z') is int8<3>; accepted: one value, or 4 for dimension 1"),
    (linear("QuantizeLinear", scale=[4], zero=[4], axis=7),
     "attribute 'axis' is 7; accepted for rank 4: -4 to 3"),
    (linear("DequantizeLinear", scale=[4], zero=[4], axis=-9),
     "attribute 'axis' is -9; accepted for rank 4: -4 to 3"),
    (linear("DequantizeLinear", zero_kind=UINT8),
     "input 2 ('z') is uint8<>; accepted: int8"),
    (linear("DequantizeLinear", scale_kind=INT8),
     "input 1 ('s') is int8<>; accepted: floats"),
    (linear("QuantizeLinear", opset=21, output_dtype=UINT8),
     "input 2 ('z') is int8<>; accepted: uint8"),
    (linear("DequantizeLinear", scale=[2, 4, 6, 3], opset=21, axis=3,
            block_size=4), "a parameter is float<2x4x6x3>; accepted: one value "
                           "for each 4 elements along dimension 3"),
    (linear("DequantizeLinear", scale=[2, 4, 6, 2], opset=21, axis=3,
            block_size=-4), "attribute 'block_size' is -4; accepted: 0 or more"),
    (convolution(ws=(FLOAT, [3])), "input 4 ('ws') is float<3>; accepted: one value, "
                                   "or one for each of 5 output channels"),
    (convolution(wz=(INT8, [4])), "input 5 ('wz') is int8<4>; accepted: one value, "
                                  "or one for each of 5 output channels"),
    (convolution(xs=(FLOAT, [2])), "input 1 ('xs') is float<2>; accepted: one value"),
    (convolution(xz=(UINT8, ())), "input 2 ('xz') is uint8<>; accepted: int8"),
    (convolution(yz=(FLOAT, ())),
     "input 7 ('yz') is float<>; accepted: one uint8 or int8"),
    (convolution(b=(INT32, [3])), "Convolution 'y': operand 'bias' (int32<3>): "
                                  "expected kind int32 and shape 5"),
    (integers("ConvInteger", (1, 4, 6, 6), (5, 4, 1, 1), (UINT8, ()), SCALAR),
     "input 2 ('xz') is uint8<>; accepted: int8"),
    (integers("ConvInteger", (1, 4, 6, 6), (5, 4, 1, 1), SCALAR, (INT8, [3])),
     "input 3 ('wz') is int8<3>; accepted: one value, or one for each of 5 output "
     "channels"),
    (integers("MatMulInteger", (3, 4), (4, 5), (INT8, [7]), SCALAR),
     "input 2 ('xz') is int8<7>; accepted: one value, or one for each row of "
     "int8<3x4>"),
    (integers("MatMulInteger", (3, 4), (4, 5), SCALAR, (INT8, [7])),
     "input 3 ('wz') is int8<7>; accepted: one value, or one for each column of "
     "int8<4x5>"),
]


def main(folder):
    wrong = 0
    for number, (text, message) in enumerate(CASES):
        path = f"{folder}/{number}.onnxtxt"
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run(["model-compiler", f"-model={path}",
                               f"-emit-bundle={folder}/out"],
                              capture_output=True, text=True)
        operator = text.split('op_type: "')[1].split('"')[0]
        expected = f"error: '{path}': node 'y' ({operator}): {message}\n"
        if (done.returncode, done.stdout, done.stderr) != (1, "", expected):
            wrong += 1
            print(path, done.returncode, done.stdout, done.stderr, expected)
    print(f"{len(CASES)} models, {wrong} wrong")


main(sys.argv[1])
