#!/usr/bin/env python3
"""Models beyond 2 GB and 2^31 elements. Skipped unless GLOWISH_HUGE=1: it takes
minutes, 8 GB of memory and 8 GB of disk.

A table of 1.6e9 halves (3.2 GB) as external data, of which rows are gathered and
multiplied: on both back ends in this process, written as ONNX again, and as a
linked bundle. Then a model's file that is itself too large for protobuf. Prints
what each step takes.
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROWS, WIDTH, OUT = 25_000_000, 64, 8
IDS = [0, 1, 12_345_678, 16_777_215, 16_777_216, 17_000_001, ROWS - 1]

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("GLOWISH_BIN",
                     os.path.join(HERE, "../../build/release/bin"))

MODEL = """ir_version: 8 opset_import { version: 13 } graph { name: "g"
node { op_type: "Gather" input: "table" input: "ids" output: "rows" }
node { op_type: "Cast" input: "rows" output: "wide"
       attribute { name: "to" type: INT i: 1 } }
node { op_type: "Gemm" input: "wide" input: "w" output: "y" }
input { name: "ids" type { tensor_type { elem_type: 7 shape {
  dim { dim_value: %d } } } } }
output { name: "y" type { tensor_type { elem_type: 1 } } }
initializer { name: "table" data_type: 10 dims: %d dims: %d
  data_location: EXTERNAL
  external_data { key: "location" value: "weights" } }
initializer { name: "w" data_type: 1 dims: %d dims: %d data_location: EXTERNAL
  external_data { key: "location" value: "weights" }
  external_data { key: "offset" value: "%d" }
  external_data { key: "length" value: "%d" } } }
"""


def write_npy(path, kind, shape, values):
    header = repr({"descr": "<" + kind, "fortran_order": False, "shape": shape})
    header = header.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header.encode())
        letter = {"i8": "q", "f4": "f"}[kind]
        file.write(struct.pack("<%d%s" % (len(values), letter), *values))


def write_model(folder):
    """All but the gathered rows is a hole in the file: it costs no disk."""
    row = lambda i: [((i + k) % 17 - 8) / 4 for k in range(WIDTH)]
    matrix = [((3 * k) % 11 - 5) / 8 for k in range(WIDTH * OUT)]
    with open(os.path.join(folder, "weights"), "wb") as file:
        for i in IDS:
            file.seek(i * WIDTH * 2)
            file.write(struct.pack("<%de" % WIDTH, *row(i)))
        offset = ROWS * WIDTH * 2
        file.seek(offset)
        file.write(struct.pack("<%df" % len(matrix), *matrix))
    with open(os.path.join(folder, "model.onnxtxt"), "w") as file:
        file.write(MODEL % (len(IDS), ROWS, WIDTH, WIDTH, OUT, offset,
                            4 * len(matrix)))
    # Exact: all numbers are small multiples of powers of two.
    expected = [sum(row(i)[k] * matrix[k * OUT + n] for k in range(WIDTH))
                for i in IDS for n in range(OUT)]
    write_npy(os.path.join(folder, "ids.npy"), "i8", (len(IDS),), IDS)
    write_npy(os.path.join(folder, "y.npy"), "f4", (len(IDS), OUT), expected)


def run(title, *command, code=0):
    """Runs a command and returns what it wrote."""
    start = time.time()
    child = subprocess.Popen(command, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    text = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    print("%-22s %6.1f s, at most %.2f GB" % (title, time.time() - start,
                                              usage.ru_maxrss / 1e6))
    if os.waitstatus_to_exitcode(status) != code:
        sys.exit("%s: exit code is not %d\n%s" % (title, code, text))
    return text


def main():
    if os.environ.get("GLOWISH_HUGE") != "1":
        print("GLOWISH_HUGE=1 asks for it: skipped")
        return 77
    folder = tempfile.mkdtemp(prefix="glowish-huge")
    inside = lambda name: os.path.join(folder, name)
    model = "-model=" + inside("model.onnxtxt")
    try:
        write_model(folder)
        for backend in ("Interpreter", "CPU"):
            run(backend, os.path.join(BIN, "model-runner"), model,
                "-backend=" + backend, "-input=ids=" + inside("ids.npy"),
                "-expect=y=" + inside("y.npy"), "-rtol=0", "-atol=1e-6")
        run("-emit-onnx", os.path.join(BIN, "model-compiler"), model,
            "-emit-onnx=" + inside("written.onnx"))
        run("what it wrote", os.path.join(BIN, "model-runner"),
            "-model=" + inside("written.onnx"), "-backend=CPU",
            "-input=ids=" + inside("ids.npy"), "-expect=y=" + inside("y.npy"),
            "-rtol=0", "-atol=1e-6")
        run("make_bundle.sh", os.path.join(HERE, "make_bundle.sh"),
            inside("bundle"), model)
        text = run("bundle", inside("bundle/run"),
                   inside("bundle/network.weights.bin"),
                   "-input=ids=" + inside("ids.npy"),
                   "-expect=y=" + inside("y.npy"))
        print(text.strip())
        text = run("-weights=embed", os.path.join(BIN, "model-compiler"), model,
                   "-emit-bundle=" + inside("embed"), "-network-name=network",
                   "-weights=embed", code=1)
        if "accepted with -weights=embed: at most 2147483647" not in text:
            sys.exit("not the error that was expected: " + text)
        with open(inside("large.onnx"), "wb") as file:
            file.write(b"\x08\x08")
            file.truncate(1 << 32)
        text = run("a file of 4 GB", os.path.join(BIN, "model-runner"),
                   "-model=" + inside("large.onnx"), code=1)
        if "accepted: weights as external data" not in text:
            sys.exit("not the error that was expected: " + text)
    finally:
        shutil.rmtree(folder)
    return 0


sys.exit(main())
