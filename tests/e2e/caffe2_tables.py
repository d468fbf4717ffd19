#!/usr/bin/python3
"""Sums of rows of embedding tables on both back ends, against NumPy.

Tables of floats, of bytes with their scales in a tensor of their own, and of
fused rows: with numbers of 8 and 4 bits and scales of float and float16. Their
rows have 0 to 33 bytes of numbers; some lists are empty, in one case all of
them. The tables are inputs in one net and weights in another; a net has those
of all sizes.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what is wrong and
a count; exits 1 if anything is, 77 if NumPy is not there.
"""

import os
import shutil
import sys
from dataclasses import dataclass

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
WORK = "build/e2e/caffe2-tables"

try:
    import numpy as np
except ImportError:
    print("NumPy is not there")
    sys.exit(77)

from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, run_local  # noqa: E402

RANDOM = np.random.default_rng(1)
NUM_ROWS = 7
# The bytes of numbers in a row.
SIZES = [0, 1, 3, 7, 17, 33]
# Lengths of lists.
LISTS = {"some": [3, 0, 1, 0, 0, 9, 0], "one": [1] * 5, "empty": [0, 0, 0],
         "none": []}


@dataclass
class Form:
    """One of fused rows: the operators' ending and -model-input's type."""
    ending: str
    kind: str
    bits: int
    params: type


FORMS = [
    Form("Fused8BitRowwise", "uint8", 8, np.float32),
    Form("Fused8BitRowwise", "UInt8FusedQ", 8, np.float32),
    Form("Fused8BitRowwise", "UInt8FusedFP16Q", 8, np.float16),
    Form("Fused8BitRowwise", "ui8fusedfp16", 8, np.float16),
    Form("Fused4BitRowwise", "uint8", 4, np.float16),
    Form("Fused4BitRowwise", "UInt4FusedFP16Q", 4, np.float16),
    Form("Fused4BitRowwise", "UInt4FusedQ", 4, np.float32),
    Form("Fused4BitRowwise", "ui4fused", 4, np.float32),
]


def make_params(kind):
    """A scale and a bias for each row."""
    scales = RANDOM.uniform(0.01, 0.5, (NUM_ROWS, 1))
    biases = RANDOM.uniform(-3, 3, (NUM_ROWS, 1))
    return np.concatenate([scales, biases], 1).astype(kind)


def make_fused(form, size):
    """A table of fused rows, and the numbers that it stands for."""
    q = RANDOM.integers(0, 256, (NUM_ROWS, size)).astype(np.uint8)
    params = make_params(form.params)
    table = np.concatenate([q, params.view(np.uint8)], 1)
    if form.bits == 4:
        q = np.stack([q % 16, q // 16], 2).reshape(NUM_ROWS, -1)
    return table, dequantize(q, params)


def dequantize(q, params):
    params = params.astype(np.float64)
    return q * params[:, :1] + params[:, 1:]


class Net:
    """A net of sums, with its inputs, their types and what is expected."""

    def __init__(self, lists):
        self.text = ""
        self.lengths = np.asarray(LISTS[lists], np.int32)
        count = int(self.lengths.sum())
        self.inputs = {
            "indices": RANDOM.integers(0, NUM_ROWS, count).astype(np.int64),
            "weights": RANDOM.uniform(-2, 2, count).astype(np.float32),
            "lengths": self.lengths}
        self.types = {}
        self.expected = {}
        self.may_be_weights = []

    def add(self, ending, name, table, real, extra=()):
        """The sum, and the weighted sum, of rows that stand for `real`."""
        self.inputs[name] = table
        for kind, weights in [("Sum", []), ("WeightedSum", ["weights"])]:
            self.op(f"SparseLengths{kind}{ending}",
                    [name, *weights, "indices", "lengths", *extra],
                    f"{name}_{kind}")
            rows = real[self.inputs["indices"]].astype(np.float64)
            if weights:
                rows = rows * self.inputs["weights"][:, None]
            sums = np.zeros((len(self.lengths), real.shape[1]))
            np.add.at(sums, np.repeat(np.arange(len(self.lengths)),
                                      self.lengths), rows)
            self.expected[f"{name}_{kind}"] = sums.astype(np.float32)

    def op(self, kind, inputs, output):
        names = "".join(f'input: "{name}" ' for name in inputs)
        self.text += f'op {{ type: "{kind}" {names}output: "{output}" }}\n'

    def add_all(self, size):
        """Tables of all forms. Those of plain bytes may be weights, which have
        no stated type: it is that of the operator."""
        for i, form in enumerate(FORMS):
            name = f"fused{i}_{size}"
            table, real = make_fused(form, size)
            self.types[name] = form.kind
            self.add(form.ending, name, table, real)
            if form.kind == "uint8":
                self.may_be_weights.append(name)
        q = RANDOM.integers(0, 256, (NUM_ROWS, size)).astype(np.uint8)
        params = self.inputs[f"params_{size}"] = make_params(np.float32)
        self.add("8BitsRowwise", f"rowwise_{size}", q, dequantize(q, params),
                 [f"params_{size}"])
        self.may_be_weights.append(f"rowwise_{size}")
        table = RANDOM.uniform(-2, 2, (NUM_ROWS, size)).astype(np.float32)
        self.add("", f"floats_{size}", table, table)

    def write(self, folder, weights):
        """The files; the tables `weights` are filled by init_net."""
        fills = ""
        for name in weights:
            table = self.inputs.pop(name)
            data = "".join(f"\\{byte:03o}" for byte in table.tobytes())
            shape = "".join(f"ints: {extent} " for extent in table.shape)
            fills += (f'op {{ type: "GivenTensorByteStringToUInt8Fill" output: '
                      f'"{name}" arg {{ name: "shape" {shape}}} arg {{ name: '
                      f'"values" strings: "{data}" }} }}\n')
        outputs = "".join(f'external_output: "{name}"\n'
                          for name in self.expected)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for file, text in [("predict_net", self.text + outputs),
                           ("init_net", fills)]:
            with open(f"{folder}/{file}.pbtxt", "w", encoding="ascii") as out:
                out.write(text)

    def check(self, backend, work, weights=()):
        """What is wrong: a list."""
        self.write(f"{work}/model", weights)
        options = []
        for name, kind in self.types.items():
            if name in self.inputs:
                dims = ",".join(map(str, self.inputs[name].shape))
                options.append(f"-model-input={name},{kind},[{dims}]")
        outputs, text = run_local([f"{work}/model"], self.inputs, backend,
                                  f"{work}/run", options)
        if outputs is None:
            return [text.strip()]
        wrong = check_outputs(outputs, self.expected, Tolerance(of_largest=1e-6))
        return [wrong] if wrong else []


def main():
    """Checks all tables with all lists."""
    passed = failed = 0
    for lists in LISTS:
        net = Net(lists)
        for size in SIZES:
            net.add_all(size)
        for weights in [[], net.may_be_weights]:
            for backend in BACKENDS:
                inputs = dict(net.inputs)
                name = f"{lists}, {len(weights)} weights"
                wrong = net.check(backend, f"{WORK}/{backend}", weights)
                net.inputs = inputs
                for each in wrong:
                    print(f"{name} on {backend}: {each}")
                failed += bool(wrong)
                passed += not wrong
    shutil.rmtree(WORK, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
