#!/usr/bin/env python3
"""Models whose weights alone are quantized, as ONNX.

Makes a small model of random weights: an embedding, matmuls, a reduction and a
Gemm. For each kind of weights and several blocks it is written as ONNX, as
imported and as optimized; ONNX Runtime, and model-runner, must make of the file
what model-runner makes of the quantized model, to 1e-5 of the largest
magnitude. Prints a table; exits 1 if a file is wrong, 77 without
bench/node_modules/onnxruntime-node. $GLOWISH_BIN: the programs (default
build/release/bin).
"""

import os
import random
import struct
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
sys.path[:0] = ["examples", "tests/e2e"]
from cases import write_npy  # noqa: E402
from onnx_text import INT64, Graph, floating, integer, ints, tensor  # noqa: E402

BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
RUNTIME = "bench/node_modules/onnxruntime-node/package.json"
WORK = "build/e2e/quantized-weights"
MODEL, WRITTEN = WORK + "/net.onnxtxt", WORK + "/written.onnx"
TOLERANCE = 1e-5
CASES = [  # What model-compiler is told.
    "-quantize-weights=int4",
    "-quantize-weights=uint4",
    "-quantize-weights=int4 -weights-block=0",
    "-quantize-weights=uint4 -weights-block=48",
    "-quantize-weights=int4 -weights-block=12",  # DequantizeLinear of opset 21
    "-quantize-weights=uint4 -weights-block=7",
    "-quantize-weights=int8 -weights-block=16",
    "-quantize-embeddings=int8",
    "-quantize-embeddings=uint8 -weights-block=5",
    "-quantize-embeddings=int4 -quantize-weights=uint4",
    "-quantize-embeddings=uint4 -quantize-weights=int4",
]


def make_model():
    random.seed(1)
    graph = Graph("net")

    def weights(name, *dims):
        count = dims[0] * (dims[1] if len(dims) > 1 else 1)
        return graph.weights(
            name, *dims, value=[random.gauss(0, 0.2) for _ in range(count)])

    graph.node("Gather", [weights("table", 50, 73), "ids"], "rows")
    graph.node("MatMul", ["rows", weights("w1", 73, 100)], "m1")
    graph.node("ReduceMean", ["m1"], "mean", ints("axes", -1))
    graph.node("Sub", ["m1", "mean"], "centred")
    graph.node("Relu", ["centred"], "relu")
    graph.node("MatMul", ["relu", weights("w2", 100, 40)], "m2")
    graph.node("Reshape", ["m2", graph.integers("flat", 5, 40)], "matrix")
    graph.node("Gemm", ["matrix", weights("w3", 21, 40), weights("b", 21)],
               "y", integer("transB", 1), floating("alpha", 0.5))
    with open(MODEL, "w") as file:
        file.write("ir_version: 8 opset_import { version: 17 }\n"
                   'graph { name: "net"\n%s\ninput %s\noutput %s }\n' %
                   ("\n".join(graph.parts),
                    tensor("ids", 1, 5, kind=INT64), tensor("y", 5, 21)))


def write_ids(path):
    write_npy(path, INT64, [1, 5], struct.pack("<5q", 3, 49, 0, 17, -1))


def run(*arguments):
    result = subprocess.run(arguments, capture_output=True, text=True)
    if result.returncode:
        sys.exit("%s\n%s%s" % (" ".join(arguments), result.stdout,
                               result.stderr))
    return result.stdout


def main():
    if not os.path.exists(RUNTIME):
        print("skipped: no ONNX Runtime in bench/node_modules (bench/compare "
              "installs it)")
        return 77
    os.makedirs(WORK, exist_ok=True)
    make_model()
    write_ids(WORK + "/input_0.npy")
    runner = [BIN + "/model-runner", "-input=ids=" + WORK + "/input_0.npy"]
    wrong = 0
    for case in CASES:
        flags = case.split()
        run(*runner, "-model=" + MODEL, *flags, "-output-dir=" + WORK)
        os.replace(WORK + "/y.npy", WORK + "/output_0.npy")
        for phase in ("import", "optimize"):
            run(BIN + "/model-compiler", "-model=" + MODEL, *flags,
                "-emit-onnx=" + WRITTEN, "-stop-after=" + phase)
            run(*runner, "-model=" + WRITTEN, "-atol=1e-5", "-rtol=1e-5",
                "-expect=y=" + WORK + "/output_0.npy")
            error = float(run("node", "tests/e2e/quantized_weights.mjs", WORK,
                              WRITTEN))
            wrong += not error <= TOLERANCE
            print("%-50s %-8s %6d bytes %8.1e%s" % (
                case, phase, os.path.getsize(WRITTEN), error,
                "" if error <= TOLERANCE else "  WRONG"))
    return 1 if wrong else 0


sys.exit(main())
