#!/usr/bin/python3
"""The instructions that programs for a range of extents take where a run states few, against
those of programs for exactly as many: at most LIMITS times as many. QEMU executes and counts
them, as in instruction_counts.py, and so the counts are the same on all machines. Exits 1 if
one takes more, 77 without QEMU, clang or lld."""

import math
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "../.."))
sys.path.insert(0, HERE)
from instruction_counts import CROSS, TARGETS, find_ranges, write_list  # noqa: E402
import instruction_counts  # noqa: E402
from programs import has_programs, run, tool  # noqa: E402
from small_networks import FLOAT, INT8, Network, integer, ints, tensor  # noqa: E402

WORK = os.path.abspath("build/e2e/range_counts")
MOST, STATED = 512, 17
# Few columns of an image do not fill the last tile.
LIMITS = {"tokens": 1.1, "byte_tokens": 1.1, "lines": 1.2, "byte_lines": 1.4}
HIDDEN, HEADS, INNER = 128, 2, 512


def normalize(g, value, name):
    axes = ints("axes", 2)
    mean = g.node("ReduceMean", [value], name + "_mean", axes)
    centred = g.node("Sub", [value, mean], name + "_centred")
    squares = g.node("Mul", [centred, centred], name + "_squares")
    variance = g.node("ReduceMean", [squares], name + "_variance", axes)
    shifted = g.node("Add", [variance, g.scalar(name + "_epsilon", FLOAT, 1e-5)],
                     name + "_shifted")
    deviation = g.node("Sqrt", [shifted], name + "_deviation")
    return g.node("Div", [centred, deviation], name)


def make_weights(g, name, dims, are_bytes):
    """Random weights, perhaps as 8 bits."""
    numbers = [random.randrange(-127, 128) for _ in range(math.prod(dims))]
    if not are_bytes:
        return g.weights(name, *dims, value=[number / 1000 for number in numbers])
    g.parts.append('initializer { name: "%s_q" data_type: %d %s int32_data: [%s] }' % (
        name, INT8, " ".join("dims: %d" % d for d in dims), ", ".join(map(str, numbers))))
    return g.node("DequantizeLinear", [
        name + "_q", g.scalar(name + "_scale", FLOAT, 0.001),
        g.scalar(name + "_zero", INT8, 0)], name)


def layer(g, quantize):
    """A layer of a transformer for tokens x [1, S, HIDDEN]."""
    def matmul(value, name, *dims):
        weights = make_weights(g, name + "_w", dims, quantize is not None)
        return hold(g.node("MatMul", [value, weights], name), 0.05)

    def hold(value, scale):
        """The value, perhaps as 8 bits."""
        return value if quantize is None else quantize(value, value + "_h", scale)

    shape = g.integers("shape", 0, 0, HEADS, HIDDEN // HEADS)
    joined = g.integers("joined", 0, 0, HIDDEN)

    def split(value, *permutation):
        parts = g.node("Reshape", [value, shape], value + "_parts")
        return g.node("Transpose", [parts], value + "_heads", ints("perm", *permutation))

    x = hold(normalize(g, "x", "n"), 0.03)
    q = split(matmul(x, "q", HIDDEN, HIDDEN), 0, 2, 1, 3)
    k = split(matmul(x, "k", HIDDEN, HIDDEN), 0, 2, 3, 1)
    v = split(matmul(x, "v", HIDDEN, HIDDEN), 0, 2, 1, 3)
    scores = hold(g.node("MatMul", [q, k], "scores"), 0.1)
    shares = hold(g.node("Softmax", [scores], "shares", integer("axis", 3)), 1 / 255)
    mixed = g.node("MatMul", [shares, v], "mixed")
    turned = g.node("Transpose", [mixed], "turned", ints("perm", 0, 2, 1, 3))
    flat = hold(g.node("Reshape", [turned, joined], "flat"), 0.05)
    total = g.node("Add", [x, matmul(flat, "out", HIDDEN, HIDDEN)], "total")
    y = hold(normalize(g, total, "m"), 0.03)
    active = hold(g.node("Relu", [matmul(y, "up", HIDDEN, INNER)], "active"), 0.05)
    g.node("Add", [y, matmul(active, "down", INNER, HIDDEN)], "y")


def lines(g, quantize):
    """Convolutions and poolings of x [1, 16, S] along S, with pads behind its end."""
    def convolve(value, name, outputs, inputs, taps):
        weights = make_weights(g, name + "_w", (outputs, inputs, taps), quantize is not None)
        return g.node("Conv", [value, weights], name, ints("pads", taps // 2, taps // 2))

    def hold(value):
        return value if quantize is None else quantize(value, value + "_h", 0.05)

    wide = hold(g.node("Relu", [convolve(hold("x"), "wide", 48, 16, 5)], "active"))
    pooled = g.node("MaxPool", [wide], "pooled", ints("kernel_shape", 3), ints("pads", 1, 1))
    convolve(pooled, "y", 16, 48, 3)


def write(name, build, dims, quantizes):
    random.seed(1)
    network = Network(name)
    build(network, network.quantize if quantizes else None)
    path = f"{WORK}/{name}.onnxtxt"
    network.write(path, [tensor("x", *dims)], ['{ name: "y" }'])
    return path


def count(target, paths):
    """The instructions of a call of each bundle, by names."""
    folder = f"{WORK}/{target.name}"
    networks = {}
    for name, path in paths.items():
        for form, extent in (("fixed", STATED), ("ranged", f"1..{MOST}")):
            networks[f"{name}_{form}"] = path
            tool("model-compiler", "-model=" + path, "-emit-bundle=" + folder,
                 f"-network-name=n_{name}_{form}", "-bundle-api=dynamic", "-weights=embed",
                 f"-define-symbol=S,{extent}", *target.options)
    write_list(folder, networks)
    with open(folder + "/networks.h", "a") as file:
        file.write(f"#define EXTENT {STATED}\n")
    target.link(folder, [f"{folder}/n_{name}.o" for name in networks])
    ranges = find_ranges(folder)
    counts = instruction_counts.execute(
        target.emulator, [f"range={begin:#x}-{end:#x}" for begin, end in ranges.values()],
        folder + "/run")
    return {name: counts[f"{ranges[name][0]:#x}"] for name in networks}


def main():
    if not has_programs({"qemu-x86_64": "qemu-user", "clang-19": "clang-19",
                         "ld.lld-19": "lld-19"}):
        return 77
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    instruction_counts.WORK = WORK
    run("clang-19", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror",
        "-D_POSIX_C_SOURCE=200809L", "-shared", "-fPIC", CROSS + "/count_ranges.c",
        "-o", WORK + "/count_ranges.so")
    tokens, elements = (1, "S", HIDDEN), (1, 16, "S")
    paths = {"tokens": write("tokens", layer, tokens, False),
             "byte_tokens": write("byte_tokens", layer, tokens, True),
             "lines": write("lines", lines, elements, False),
             "byte_lines": write("byte_lines", lines, elements, True)}
    wrong = 0
    for target in TARGETS[:1]:
        counts = count(target, paths)
        for name in paths:
            fixed, ranged = counts[name + "_fixed"], counts[name + "_ranged"]
            print(f"{target.name}, {name}: {fixed} instructions for an extent of {STATED},"
                  f" {ranged} for {STATED} of up to {MOST}: {ranged / fixed:.3f}")
            if ranged > LIMITS[name] * fixed:
                print(f"WRONG {target.name}, {name}: more than {LIMITS[name]} times as many")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
