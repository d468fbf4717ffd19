#!/usr/bin/python3
"""Makes a quantized model take and give integers of 8 bits:

    integer_io.py IN.onnx OUT.onnx LARGEST

The quantizer leaves inputs and outputs in float: IN quantizes its input first, and its
scores are float. OUT takes what that QuantizeLinear would give, and gives the scores
divided by a scale with which LARGEST becomes 127. Needs protoc and ONNX's onnx.proto
(scripts/install-deps.sh).
"""

import re
import struct
import subprocess
import sys

PROTOC = ["protoc", "-I/usr/include/onnx", "onnx.proto"]
INPUT, OUTPUT, REAL = "features", "scores", "scores.real"
INT8 = 3


def convert(option, data):
    return subprocess.run([*PROTOC, f"--{option}=onnx.ModelProto"], input=data,
                          capture_output=True, check=True).stdout


def replace_once(text, pattern, replacement):
    text, count = re.subn(pattern, lambda _: replacement, text, flags=re.S)
    if count != 1:
        raise SystemExit(f"integer_io.py: {count} places in the model, and not one, "
                         f"match {pattern}")
    return text


def take_integers(text):
    """The input becomes int8, without the node that quantizes it."""
    node = (r'  node \{\n    input: "%s"\n[^}]*?output: "([^"]*)"\n[^}]*?'
            r'op_type: "QuantizeLinear"\n  \}\n' % INPUT)
    found = re.search(node, text)
    if not found:
        raise SystemExit(f"integer_io.py: nothing quantizes {INPUT}")
    text = text.replace(found[0], "").replace(f'input: "{found[1]}"',
                                              f'input: "{INPUT}"')
    return make_int8(text, "input", INPUT)


def make_int8(text, kind, name):
    head = f'  {kind} {{\n    name: "{name}"\n    type {{\n      tensor_type {{\n'
    return replace_once(text, re.escape(head + "        elem_type: 1\n"),
                        f"{head}        elem_type: {INT8}\n")


def give_integers(text, largest):
    text = replace_once(text, re.escape(f'    output: "{OUTPUT}"\n'),
                        f'    output: "{REAL}"\n')
    scale = "".join(f"\\{byte:03o}" for byte in struct.pack("<f", largest / 127))
    text = replace_once(text, r'  name: "words"\n', f"""\
  node {{
    input: "{REAL}"
    input: "{OUTPUT}.scale"
    input: "{OUTPUT}.zero_point"
    output: "{OUTPUT}"
    name: "{OUTPUT}"
    op_type: "QuantizeLinear"
  }}
  name: "words"
  initializer {{
    data_type: 1
    name: "{OUTPUT}.scale"
    raw_data: "{scale}"
  }}
  initializer {{
    data_type: {INT8}
    name: "{OUTPUT}.zero_point"
    raw_data: "\\000"
  }}
""")
    return make_int8(text, "output", OUTPUT)


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    with open(sys.argv[1], "rb") as file:
        text = convert("decode", file.read()).decode()
    text = give_integers(take_integers(text), float(sys.argv[3]))
    with open(sys.argv[2], "wb") as file:
        file.write(convert("encode", text.encode()))


if __name__ == "__main__":
    main()
