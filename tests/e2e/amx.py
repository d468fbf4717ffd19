#!/usr/bin/env python3
"""amx.py [--work=FOLDER] [NAME...]: runs the kernels for Intel AMX on a
processor without it.

Bundles are compiled for AMX; in their LLVM IR its instructions become calls of
the functions in amx.c, and the outputs must be those of the interpreter: the
same bits of integers, and of bfloat16 and float a share of the largest
magnitude. The sizes have tails on every axis.

  NAME    of the checks bytes, bfloat16, slices, parts and gradients, only
          these
  --work  where models and bundles are written (default build/e2e/amx)

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 where outputs
differ, or where a layer is not computed by AMX; 77 where there is no processor
with AVX-512 to run the rest of the code."""

import argparse
import array
import math
import os
import random
import re
import struct
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
TARGET = ["-target=x86_64-pc-linux-gnu", "-mcpu=x86-64-v4",
          "-mattr=+amx-tile,+amx-int8,+amx-bf16"]
NEEDED = {"avx512f", "avx512vl", "avx512dq", "avx512bw"}
FLOAT, UINT8, INT8, INT32 = 1, 2, 3, 6


@dataclass
class Convolution:
    """A convolution of one group; pads: top, left, bottom, right."""
    batch: int
    channels: int
    height: int
    width: int
    out_channels: int
    kernel: tuple = (1, 1)
    strides: tuple = (1, 1)
    pads: tuple = (0, 0, 0, 0)
    dilations: tuple = (1, 1)
    signed: bool = False

    def input_shape(self):
        return (self.batch, self.channels, self.height, self.width)

    def filter_shape(self):
        return (self.out_channels, self.channels, *self.kernel)

    def output_shape(self):
        """Channels innermost."""
        top, left, bottom, right = self.pads
        spatial = [
            (extent + pad - dilation * (kernel - 1) - 1) // stride + 1
            for extent, pad, dilation, kernel, stride in zip(
                (self.height, self.width), (top + bottom, left + right),
                self.dilations, self.kernel, self.strides)]
        return (self.batch, *spatial, self.out_channels)

    def attributes(self):
        return "".join(
            f'attribute {{ name: "{name}" type: INTS '
            + " ".join(f"ints: {value}" for value in values) + " } "
            for name, values in (("strides", self.strides),
                                 ("pads", self.pads),
                                 ("dilations", self.dilations)))


CONVOLUTIONS = [
    # One row of pixels, of which the last ones are packed.
    Convolution(1, 64, 7, 9, 32),
    Convolution(1, 96, 33, 17, 33),
    Convolution(3, 84, 17, 7, 47, signed=True),
    Convolution(2, 40, 40, 33, 16),
    # Windows, with borders on all sides.
    Convolution(1, 64, 17, 17, 64, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(2, 33, 9, 13, 17, (3, 3), pads=(1, 0, 0, 2), signed=True),
    Convolution(1, 3, 37, 33, 24, (7, 7), (2, 2), (3, 3, 3, 3)),
    Convolution(1, 16, 33, 17, 40, (5, 3), (3, 2), (2, 1, 2, 1)),
    Convolution(1, 24, 19, 23, 31, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Convolution(1, 36, 21, 33, 48, (3, 2), (2, 3), (4, 3, 4, 3), (3, 3)),
    Convolution(1, 128, 15, 15, 72, (1, 1), (2, 2)),
    # More rows than a task packs.
    Convolution(1, 64, 120, 130, 16, (3, 3), pads=(1, 1, 1, 1)),
]

# Kernel rows of whole registers: 32 channels each.
HALF_CONVOLUTIONS = [
    Convolution(1, 32, 33, 17, 33),
    Convolution(2, 64, 7, 9, 32, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(1, 16, 37, 33, 24, (4, 4), (2, 2), (1, 2, 2, 1)),
    Convolution(1, 96, 19, 23, 31, (3, 3), (2, 1), (2, 2, 2, 2), (2, 2)),
]

# Floats that become three slices of int8 with a scale for some pixels.
SLICED_CONVOLUTIONS = [
    # Pixels one after the other; several images; borders; strides, for which
    # the taps are gathered or in images of their own; a dilation.
    Convolution(1, 64, 15, 17, 40),
    Convolution(3, 100, 9, 7, 33),
    Convolution(1, 128, 17, 15, 64, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(2, 70, 9, 13, 49, (3, 3), pads=(1, 0, 0, 2)),
    Convolution(1, 64, 15, 15, 72, (1, 1), (2, 2)),
    Convolution(2, 96, 21, 17, 48, (3, 2), (2, 3), (2, 1, 2, 1)),
    Convolution(1, 128, 14, 14, 64, (3, 3), (2, 2), (1, 1, 1, 1)),
    Convolution(1, 64, 19, 23, 31, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
    Convolution(17, 64, 3, 3, 100, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(1, 640, 5, 5, 17, (3, 3), pads=(1, 1, 1, 1)),
]

# Such convolutions, and how many rows and columns a run needs of their results.
PARTS = [
    (Convolution(1, 128, 17, 15, 64, (3, 3), pads=(1, 1, 1, 1)), (17, 6)),
    (Convolution(1, 128, 17, 15, 64, (3, 3), pads=(1, 1, 1, 1)), (9, 15)),
    (Convolution(2, 256, 16, 16, 128, (2, 2), (2, 2)), (8, 3)),
    (Convolution(1, 64, 19, 23, 31, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
     (19, 11)),
    (Convolution(1, 128, 14, 14, 64, (3, 3), (2, 2), (1, 1, 1, 1)), (4, 3)),
]

# Gradients of the filters of such convolutions.
FILTER_GRADIENTS = [
    Convolution(4, 32, 14, 14, 32, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(6, 33, 11, 9, 40, (3, 3), pads=(1, 1, 1, 1)),
    Convolution(8, 64, 12, 12, 49),
    Convolution(5, 64, 13, 15, 47, (3, 3), (2, 2), (1, 1, 1, 1)),
    Convolution(4, 16, 12, 16, 48, (2, 5), (1, 3), (0, 2, 1, 2)),
    Convolution(4, 64, 9, 9, 16, (3, 3), (1, 1), (2, 2, 2, 2), (2, 2)),
]


@dataclass
class Model:
    """A file's text, the shapes of its inputs, its outputs y0, y1, ...,
    what its convolutions are computed by, and the largest input."""
    text: str
    inputs: dict
    count: int
    algorithm: str
    suffix: str = "onnxtxt"
    magnitude: float = 1
    # Symbols, which are inputs, and of other inputs the ends of the rows and
    # columns that are read; the rest of them is NaN.
    symbols: dict = field(default_factory=dict)
    ends: dict = field(default_factory=dict)


def tensor(name, kind, shape, values):
    """An initializer."""
    field = "float_data" if kind == FLOAT else "int32_data"
    dims = " ".join(f"dims: {extent}" for extent in shape)
    data = ", ".join(str(value) for value in values)
    return (f'initializer {{ name: "{name}" data_type: {kind} {dims} '
            f"{field}: [{data}] }}\n")


def node(operator, inputs, output, attributes=""):
    names = " ".join(f'input: "{name}"' for name in inputs)
    return (f'node {{ op_type: "{operator}" {names} output: "{output}" '
            f"{attributes}}}\n")


def model(nodes, tensors, inputs, outputs):
    """inputs: of float, their shapes by name."""
    text = "ir_version: 8 opset_import { version: 17 } graph { name: \"g\"\n"
    for name, shape in inputs.items():
        dims = " ".join(f"dim {{ dim_value: {extent} }}" for extent in shape)
        text += (f'input {{ name: "{name}" type {{ tensor_type {{ elem_type: '
                 f"{FLOAT} shape {{ {dims} }} }} }} }}\n")
    text += "".join(f'output {{ name: "{name}" }}\n' for name in outputs)
    return text + "".join(nodes) + "".join(tensors) + "}\n"


def make_bytes(rng):
    """QLinearConv of each convolution, of quantized inputs."""
    nodes, tensors, inputs, outputs = [], [], {}, []
    for number, conv in enumerate(CONVOLUTIONS):
        kind, zero = (INT8, -3) if conv.signed else (UINT8, 121)
        names = {name: f"{name}{number}"
                 for name in ("x", "q", "xs", "xz", "w", "ws", "wz", "ys",
                              "yz", "b", "y")}
        taps = conv.channels * conv.kernel[0] * conv.kernel[1]
        count = taps * conv.out_channels
        tensors += [
            tensor(names["xs"], FLOAT, (), [1 / 128]),
            tensor(names["xz"], kind, (), [zero]),
            tensor(names["w"], INT8, conv.filter_shape(),
                   [rng.randint(-128, 127) for _ in range(count)]),
            tensor(names["ws"], FLOAT, (conv.out_channels,),
                   [rng.uniform(0.5, 2) for _ in range(conv.out_channels)]),
            tensor(names["wz"], INT8, (conv.out_channels,),
                   [0] * conv.out_channels),
            # Some results saturate.
            tensor(names["ys"], FLOAT, (), [0.7 * taps ** 0.5]),
            tensor(names["yz"], kind, (), [zero + 5]),
            tensor(names["b"], INT32, (conv.out_channels,),
                   [rng.randint(-5000, 5000)
                    for _ in range(conv.out_channels)])]
        nodes += [
            node("QuantizeLinear", [names[n] for n in ("x", "xs", "xz")],
                 names["q"]),
            node("QLinearConv",
                 [names[n] for n in ("q", "xs", "xz", "w", "ws", "wz", "ys",
                                     "yz", "b")],
                 names["y"], conv.attributes())]
        inputs[names["x"]] = conv.input_shape()
        outputs.append(names["y"])
    return Model(model(nodes, tensors, inputs, outputs), inputs, len(outputs),
                 "amx")


class Floats:
    """A model of convolutions of floats."""

    def __init__(self, magnitude=1):
        self.magnitude = magnitude
        self.nodes, self.tensors, self.inputs = [], [], {}

    def add(self, rng, number, conv, has_weights):
        """Conv with y{number}; without weights these are an input."""
        x, w, b, y = (f"{name}{number}" for name in "xwby")
        count = math.prod(conv.filter_shape())
        if has_weights:
            self.tensors.append(tensor(w, FLOAT, conv.filter_shape(),
                                       [rng.uniform(-1, 1)
                                        for _ in range(count)]))
        else:
            self.inputs[w] = conv.filter_shape()
        largest = self.magnitude ** (1 if has_weights else 2)
        self.tensors.append(
            tensor(b, FLOAT, (conv.out_channels,),
                   [largest * rng.uniform(-1, 1)
                    for _ in range(conv.out_channels)]))
        self.nodes.append(node("Conv", [x, w, b], y, conv.attributes()))
        self.inputs[x] = conv.input_shape()

    def get_model(self, count, algorithm):
        outputs = [f"y{number}" for number in range(count)]
        return Model(model(self.nodes, self.tensors, self.inputs, outputs),
                     self.inputs, count, algorithm,
                     magnitude=self.magnitude)


def make_halves(rng):
    """Floats that become bfloat16."""
    floats = Floats()
    for number, conv in enumerate(HALF_CONVOLUTIONS):
        floats.add(rng, number, conv, has_weights=True)
    return floats.get_model(len(HALF_CONVOLUTIONS), "amx-bfloat16")


def make_slices(rng):
    """Some weights are sliced by the compiler, some in the bundle; the last is
    a matmul whose left side has its columns one after the other."""
    floats = Floats(2 ** -12)
    for number, conv in enumerate(SLICED_CONVOLUTIONS):
        floats.add(rng, number, conv, has_weights=number % 2 == 1)
    number = len(SLICED_CONVOLUTIONS)
    floats.nodes.append(node("Gemm", [f"x{number}", f"w{number}"], f"y{number}",
                             'attribute { name: "transA" type: INT i: 1 } '))
    floats.inputs |= {f"x{number}": (132, 83), f"w{number}": (132, 70)}
    return floats.get_model(number + 1, "int8-slices")


def make_parts(_):
    """A run needs some rows and columns of the results."""
    declared, nodes, inputs, symbols, ends = [], [], {}, {}, {}
    declared.append("constant %zero : float<> = [0.0]")
    for number, (conv, needed) in enumerate(PARTS):
        batch, channels, height, width = conv.input_shape()
        x, w, y = (f"{name}{number}" for name in "xwy")
        inputs |= {x: (batch, height, width, channels),
                   w: (conv.out_channels, *conv.kernel, channels)}
        declared += [f"placeholder %{name} : float<"
                     f'{"x".join(map(str, inputs[name]))}> input "{name}"'
                     for name in (x, w)]
        shape = conv.output_shape()
        declared.append(f"placeholder %{y} : float<"
                        f'{"x".join(map(str, shape))}> output "{y}"')
        for name, dim, count in zip("RC", (1, 2), needed):
            symbol = f"{name}{number}"
            symbols[symbol] = count
            own = [1, 1, 1, 1]
            own[dim] = shape[dim]
            declared += [
                f'placeholder %{symbol} : int64<> input "{symbol}" '
                f'range "{symbol}" [0, {shape[dim]}]',
                f'constant %numbers{symbol} : int64<{"x".join(map(str, own))}>'
                f" = {list(range(shape[dim]))}"]
            nodes.append(f"  %less{symbol} = Less(%numbers{symbol}, "
                         f"%{symbol})")
        dims = list(map(str, shape))
        open_dims = [dims[0], f"{dims[1]}{{R{number}}}",
                     f"{dims[2]}{{C{number}}}", dims[3]]
        attributes = ", ".join(
            f"{name} = {list(values)}" for name, values in (
                ("strides", conv.strides), ("pads", conv.pads),
                ("dilations", conv.dilations)))
        nodes += [f"  %c{number} = Convolution(%{x}, %{w}, none) "
                  f"{{{attributes}, group = 1}}",
                  *(f"  %{name}{number} = DeclareExtents(%{of}{number}) "
                    f"{{resultType = [float<{'x'.join(dims)}>]}}"
                    for name, of, dims in (("d", "c", open_dims),
                                           ("e", "d", dims))),
                  f"  %in{number} = And(%lessR{number}, %lessC{number})",
                  f"  %s{number} = Select(%in{number}, %e{number}, %zero)",
                  f"  Save(%s{number}, %{y})"]
        ends[x] = tuple(
            (count - 1) * stride + dilation * (kernel - 1) + 1 - pad
            for count, stride, dilation, kernel, pad in zip(
                needed, conv.strides, conv.dilations, conv.kernel, conv.pads))
    lines = ['module "m"', *declared, 'function "main" {', *nodes, "}"]
    return Model("\n".join(lines) + "\n", inputs, len(PARTS), "int8-slices",
                 "graph", 2 ** -12, symbols, ends)


def make_gradients(_):
    """The gradients of filters, as training computes them."""
    placeholders, nodes, inputs = [], [], {}
    for number, conv in enumerate(FILTER_GRADIENTS):
        batch, channels, height, width = conv.input_shape()
        shapes = {f"x{number}": (batch, height, width, channels),
                  f"g{number}": conv.output_shape(),
                  f"y{number}": (conv.out_channels, *conv.kernel, channels)}
        for name, shape in shapes.items():
            kind = "output" if name[0] == "y" else "input"
            placeholders.append(f"placeholder %{name} : float<"
                                f'{"x".join(map(str, shape))}> {kind} "{name}"')
            if kind == "input":
                inputs[name] = shape
        attributes = ", ".join(
            f"{name} = {list(values)}" for name, values in (
                ("kernels", conv.kernel), ("strides", conv.strides),
                ("pads", conv.pads), ("dilations", conv.dilations)))
        nodes += [f"  %d{number} = ConvolutionFilterGradient(%x{number}, "
                  f"%g{number}) {{{attributes}, group = 1}}",
                  f"  Save(%d{number}, %y{number})"]
    lines = ['module "m"', *placeholders, 'function "main" {', *nodes, "}"]
    return Model("\n".join(lines) + "\n", inputs, len(FILTER_GRADIENTS), "",
                 "graph", 2 ** -12)


def write_npy(path, shape, values, code="f"):
    """An array of float or int64 in the form of NumPy's files, version 1."""
    kind = {"f": "<f4", "q": "<i8"}[code]
    header = str({"descr": kind, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        array.array(code, values).tofile(file)


def replace_instructions(text):
    """LLVM IR whose AMX instructions are calls of amx.c, and that asks the
    system for no registers."""
    text = text[text.index("; ModuleID"):]
    text = re.sub(r"@llvm\.x86\.(ldtilecfg|tile\w+|tdp\w+)", r"@amx_\1", text)
    # Only intrinsics have such parameters, and these attributes.
    text = re.sub(r"^(declare void @amx_\w+\([^)]*\)).*$",
                  lambda match: match[1].replace(" immarg", ""), text,
                  flags=re.M)
    return re.sub(r"(tail )?call i64 asm sideeffect \"syscall\".*$",
                  "add i64 0, 0", text, flags=re.M)


def run(arguments, **options):
    return subprocess.run(arguments, check=True, text=True,
                          stdout=subprocess.PIPE, **options)


def compile_bundle(folder, path, arguments):
    """Links FOLDER/run; returns the algorithms of its convolutions, and how many
    kernels multiply in AMX."""
    threads = [f"-DBUNDLE_THREADS={value}" for argument in arguments
               for flag, _, value in [argument.partition("=")]
               if flag == "-threads"]
    compiled = run([os.path.join(BIN, "model-compiler"), f"-model={path}",
                    f"-emit-bundle={folder}", "-network-name=network",
                    "-bundle-api=dynamic", "-dump-ir", "-dump-llvm-ir",
                    *TARGET, *arguments], stderr=subprocess.PIPE)
    with open(f"{folder}/network.ll", "w", encoding="utf-8") as file:
        file.write(replace_instructions(compiled.stderr))
    # LLVM has optimized it already.
    run(["clang-19", "-Wno-override-module", "-O0", "-fPIC", "-c",
         f"{folder}/network.ll", "-o", f"{folder}/network.o"])
    sources = ["tests/e2e/run_bundle.c", "tests/e2e/amx.c"]
    if threads:
        sources += [f"{folder}/glowish_threads.c", "-pthread"]
    run(["clang-19", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror",
         f"-I{folder}", '-DBUNDLE_HEADER="network.h"', *threads,
         "-DBUNDLE_CONFIG=network_config", "-DBUNDLE_ENTRY=network",
         "-DBUNDLE_CHECK=network_check_weights", *sources,
         f"{folder}/network.o", "-lm", "-o", f"{folder}/run"])
    kernels = re.split(r"^define ", compiled.stderr, flags=re.M)
    return (re.findall(r"CPUConvolution.*?\"([\w-]+)[^\"]*\"", compiled.stderr),
            sum("@llvm.x86.tdp" in kernel.split("\n}\n")[0]
                for kernel in kernels[1:]))


def get_error(path, expected_path):
    """The largest difference as a share of the largest magnitude of the array
    that is expected."""
    with open(expected_path, "rb") as file:
        kind = re.search(rb"'descr': '.(..)'", file.read(128))[1].decode()
        file.seek(8)
        header_size = struct.unpack("<H", file.read(2))[0]
        file.seek(10 + header_size)
        code = {"f4": "f", "u1": "B", "i1": "b"}[kind]
        expected = array.array(code, file.read())
    with open(path, "rb") as file:
        values = array.array(code, file.read())
    if len(values) != len(expected):
        return math.inf
    differences = [abs(a - b) for a, b in zip(values, expected)]
    if any(map(math.isnan, differences)):  # which max() would pass over
        return math.inf
    return max(differences) / max(abs(value) for value in expected)


def check(work, name, make, arguments, tolerance):
    """Whether bundles of the model have the interpreter's outputs, and are
    computed by AMX."""
    rng = random.Random(1)
    made = make(rng)
    folder = f"{work}/{name}"
    os.makedirs(folder, exist_ok=True)
    path = f"{folder}/model.{made.suffix}"
    with open(path, "w", encoding="utf-8") as file:
        file.write(made.text)
    given = []
    for key, shape in made.inputs.items():
        values = [made.magnitude * rng.uniform(-1, 1)
                  for _ in range(math.prod(shape))]
        if key in made.ends:
            _, height, width, channels = shape
            end_row, end_column = made.ends[key]
            for i in range(len(values)):
                pixel = i // channels
                if (pixel // width % height >= end_row
                        or pixel % width >= end_column):
                    values[i] = math.nan
        write_npy(f"{folder}/{key}.npy", shape, values)
    for key, value in made.symbols.items():
        write_npy(f"{folder}/{key}.npy", (), [value], "q")
    for key in (*made.inputs, *made.symbols):
        given.append(f"-input={key}={folder}/{key}.npy")
    run([os.path.join(BIN, "model-runner"), f"-model={path}",
         "-backend=Interpreter", f"-output-dir={folder}/expected", *given,
         *arguments])
    written = [f"-output=y{number}={folder}/y{number}.bytes"
               for number in range(made.count)]
    good = True
    for threads in ([], ["-threads=3"]):
        algorithms, kernels = compile_bundle(folder, path,
                                             [*arguments, *threads])
        if made.algorithm:
            kernels = algorithms.count(made.algorithm)
        if kernels != made.count:
            print(f"{name}: {kernels} of {made.count} convolutions are computed "
                  "by AMX: " + ", ".join(algorithms))
            good = False
        run([f"{folder}/run", f"{folder}/network.weights.bin", *given,
             *written])
        for number in range(made.count):
            error = get_error(f"{folder}/y{number}.bytes",
                              f"{folder}/expected/y{number}.npy")
            if not error <= tolerance:
                print(f"{name} {' '.join(threads)}: y{number} differs by "
                      f"{error:.1e} of the largest magnitude")
                good = False
    return good


def main():
    os.chdir(ROOT)
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", default="build/e2e/amx")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    flags = set()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = set(file.read().split())
    if NEEDED - flags:
        print("no processor with " + ", ".join(sorted(NEEDED - flags)))
        return 77
    checks = {
        "bytes": (make_bytes, [], 0),
        # A step of bfloat16 is 2^-8 of a number.
        "bfloat16": (make_halves,
                     ["-convert-to-fp16", "-fp16-format=bfloat16"], 2 ** -8),
        "slices": (make_slices, [], 1e-6),
        "parts": (make_parts, [], 1e-6),
        "gradients": (make_gradients, [], 1e-6)}
    good = [check(options.work, name, *checks[name])
            for name in options.names or checks]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
