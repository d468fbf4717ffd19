#!/usr/bin/python3
"""Lists networks with reference outputs for networks.sh.

    cases.py --work DIR [--exported DIR [NAME...]] [--trained DIR]
             [--light DIR]

    --exported  folders NAME/ with model.onnx, input_K.npy and output_K.npy
    --trained   folders NAME/ with model.onnx and test_data_set_0/*.pb, as
                ONNX's own tests have them
    --light     ONNX's "light" tests: NAME.onnx and NAME_output_0.pb; element
                i of the n elements of the input is i/n

Writes WORK/NAME/args for each: the arguments that model-runner takes, one a
line. Tensors that are not .npy files yet become some in WORK/NAME. Prints the
names in order. Uses nothing beyond Python's library.
"""

import argparse
import array
import os
import struct
import sys

# TensorProto.DataType: (NumPy's name, glowish's name, array's type code).
KINDS = {1: ("<f4", "float", "f"), 2: ("|u1", "uint8", "B"),
         3: ("|i1", "int8", "b"), 6: ("<i4", "int32", "i"),
         7: ("<i8", "int64", "q"), 9: ("|b1", "bool", "B"),
         11: ("<f8", "double", "d")}

# The networks of --trained that use only operators that are there.
TRAINED = """
face_rfb320 face_yunet face_blazeface detect_yolox_nano digits_cntk
digits_pytorch emotion_resnet20 cifar10_cnn flowers_mobilenetv2 audio_yamnet
imagenet_squeezenet super_resolution tiny_resnet8
tiny_mobilenet_vww tiny_autoencoder speech_dtln_1 speech_dtln_2 speech_silero_vad segment_selfie
""".split()

EXPORTED = """
lenet resnet18 resnet50 mobilenet_v2 mobilenet_v3_large squeezenet1_1 vgg16
densenet121 inception_v3 efficientnet_b0 unet_small espcn bert_base bert_tiny
gpt2_small vit_b_16 mlp mlp_b64 lstm_text dlrm
""".split()


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_fields(data):
    """The fields of a protobuf message: number and number or bytes each."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        if key & 7 == 0:
            value, at = read_varint(data, at)
        elif key & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = {1: 8, 5: 4}[key & 7]
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def write_varint(value):
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def encode(number, value):
    """A field of a protobuf message, which is the concatenation of its fields: an int, a float,
    a string, or bytes of a message."""
    if isinstance(value, int):
        return write_varint(number << 3) + write_varint(value)
    if isinstance(value, float):
        return write_varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return write_varint(number << 3 | 2) + write_varint(len(value)) + value


def read_integers(value):
    """A repeated integer field, packed or not."""
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = read_varint(value, at)
        numbers.append(number)
    return numbers


def read_tensor(path):
    """A TensorProto file: (data type, dimensions, elements as bytes)."""
    with open(path, "rb") as file:
        data = memoryview(file.read())
    kind, dims, raw, integers = 1, [], b"", []
    for number, value in read_fields(data):
        if number == 1:
            dims += read_integers(value)
        elif number == 2:
            kind = value
        elif number in (4, 9, 10):
            raw += bytes(value)
        elif number in (5, 7, 11):
            integers += read_integers(value)
    if integers:
        signed = [n - (1 << 64) if n >> 63 else n for n in integers]
        raw = array.array(KINDS[kind][2], signed).tobytes()
    return kind, dims, raw


def write_npy(path, kind, dims, raw):
    shape = "(%s)" % "".join("%d," % d for d in dims)
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        KINDS[kind][0], shape)
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode() + raw)


def read_npy_type(path):
    """A .npy file's type as -model-input takes it: float,[1,3,224,224]."""
    with open(path, "rb") as file:
        start = file.read(10)
        header = file.read(struct.unpack("<H", start[8:10])[0]).decode()
    names = {numpy: glowish for numpy, glowish, _ in KINDS.values()}
    description = header.split("'descr': '")[1].split("'")[0]
    shape = header.split("(")[1].split(")")[0].replace(" ", "").rstrip(",")
    return "%s,[%s]" % (names[description], shape)


def read_dims(value_info):
    """The dimensions that a ValueInfoProto states; 1 for symbolic ones."""
    dims = []
    for field, type_proto in read_fields(value_info):
        if field != 2:
            continue
        tensor_type = dict(read_fields(type_proto))[1]
        shape = dict(read_fields(tensor_type)).get(2, b"")
        for _, dim in read_fields(shape):
            dims.append(dict(read_fields(dim)).get(1, 1))
    return dims


def read_interface(path):
    """The inputs, without the weights, and the outputs of a model: a list of
    (name, dimensions) each."""
    with open(path, "rb") as file:
        model = memoryview(file.read())
    graph = dict(read_fields(model))[7]
    weights, inputs, outputs = set(), [], []
    for number, value in read_fields(graph):
        if number == 5:
            weights.update(bytes(v) for n, v in read_fields(value) if n == 8)
        elif number in (11, 12):
            name = bytes(dict(read_fields(value)).get(1, b""))
            values = inputs if number == 11 else outputs
            values.append((name, read_dims(value)))
    return ([(n.decode(), d) for n, d in inputs if n not in weights],
            [(n.decode(), d) for n, d in outputs])


def write_case(folder, model, inputs, outputs):
    """`inputs` and `outputs`: pairs of a name and a .npy file."""
    lines = ["-model=" + model]
    for name, path in inputs:
        lines.append("-model-input=%s,%s" % (name, read_npy_type(path)))
        lines.append("-input=%s=%s" % (name, path))
    lines += ["-expect=%s=%s" % pair for pair in outputs]
    with open(os.path.join(folder, "args"), "w") as file:
        file.write("\n".join(lines) + "\n")


def add_exported(source, folder):
    model = os.path.join(source, "model.onnx")
    inputs, outputs = read_interface(model)
    write_case(folder, model,
               [(name, os.path.join(source, "input_%d.npy" % i))
                for i, (name, _) in enumerate(inputs)],
               [(name, os.path.join(source, "output_%d.npy" % i))
                for i, (name, _) in enumerate(outputs)])


def add_trained(source, folder):
    model = os.path.join(source, "model.onnx")

    def convert(values, stem):
        pairs = []
        for i, (name, _) in enumerate(values):
            tensor = os.path.join(source, "test_data_set_0",
                                  "%s_%d.pb" % (stem, i))
            path = os.path.join(folder, "%s_%d.npy" % (stem, i))
            write_npy(path, *read_tensor(tensor))
            pairs.append((name, path))
        return pairs

    inputs, outputs = read_interface(model)
    write_case(folder, model, convert(inputs, "input"),
               convert(outputs, "output"))


def add_light(source, folder):
    (name, dims), = read_interface(source + ".onnx")[0]
    count = 1
    for dim in dims:
        count *= dim
    values = array.array("f", (i / count for i in range(count)))
    input_path = os.path.join(folder, "input_0.npy")
    write_npy(input_path, 1, dims, values.tobytes())
    output_path = os.path.join(folder, "output_0.npy")
    write_npy(output_path, *read_tensor(source + "_output_0.pb"))
    output = read_interface(source + ".onnx")[1][0][0]
    write_case(folder, source + ".onnx", [(name, input_path)],
               [(output, output_path)])


def main():
    parser = argparse.ArgumentParser(description="List networks to check.")
    parser.add_argument("--work", required=True)
    for option in ("--exported", "--trained", "--light"):
        parser.add_argument(option, default="")
    parser.add_argument("names", nargs="*", default=EXPORTED)
    arguments = parser.parse_args()
    light = []
    if os.path.isdir(arguments.light):
        light = sorted(f[:-5] for f in os.listdir(arguments.light)
                       if f.endswith(".onnx"))
    for add, parent, names in (
            (add_exported, arguments.exported, arguments.names),
            (add_trained, arguments.trained, TRAINED),
            (add_light, arguments.light, light)):
        for name in names:
            source = os.path.join(parent, name)
            marker = source + (".onnx" if add is add_light else "/model.onnx")
            if not os.path.exists(marker):
                continue
            folder = os.path.join(arguments.work, name)
            os.makedirs(folder, exist_ok=True)
            add(source, folder)
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
