#!/usr/bin/python3
"""machine_learning.py [--write FOLDER]: models of ai.onnx.ml.

Runs the models of machine_learning_models.py on both back ends and compares the
outputs with those of ONNX Runtime, which are in machine_learning.json, and with
those of trees that are walked here, node by node. Each model is also compiled for
up to 16 rows, and runs with as many as it has.

--write writes the models and their inputs, for machine_learning.mjs, which makes
machine_learning.json. $GLOWISH_BIN: the programs (default build/release/bin).
Exits 77 without NumPy."""

import argparse
import json
import math
import os
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
STARTED_IN = os.getcwd()
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Tolerance, describe_difference  # noqa: E402
from machine_learning_models import Node, encode_model, make_cases  # noqa: E402
from model_runs import BACKENDS, run_local  # noqa: E402

EXPECTED = os.path.join(HERE, "machine_learning.json")
TOLERANCE = Tolerance(of_largest=1e-4)
MOST_ROWS = 16


# Trees, walked as ONNX describes them.


def passes(node, x):
    if math.isnan(x) and node.passes_nan:
        return True
    tests = {"BRANCH_LEQ": lambda: x <= node.value, "BRANCH_LT": lambda: x < node.value,
             "BRANCH_GTE": lambda: x >= node.value, "BRANCH_GT": lambda: x > node.value,
             "BRANCH_EQ": lambda: x == node.value, "BRANCH_NEQ": lambda: x != node.value,
             "BRANCH_MEMBER": lambda: x in node.members}
    return tests[node.mode]()


def find_leaf(node, row):
    while node.mode != "LEAF":
        node = node.when_true if passes(node, row[node.feature]) else node.when_false
    return node.weights


def combine(trees, row):
    """The weights of each target that the row reaches, combined; None without one."""
    leaves = [find_leaf(root, row) for root in trees.roots]
    result = []
    for target in range(trees.targets):
        weights = [leaf[target] for leaf in leaves if target in leaf]
        functions = {"SUM": sum, "AVERAGE": lambda w: sum(w) / len(leaves), "MIN": min,
                     "MAX": max}
        result.append(functions[trees.function](weights) if weights else None)
    return result


def transform(scores, name):
    x = np.array(scores, np.float64)
    if name == "SOFTMAX":
        x = np.exp(x - x.max())
        return x / x.sum()
    if name == "SOFTMAX_ZERO":
        counts = np.abs(x) > 1e-7
        power = np.where(counts, np.exp(x - x.max()), 0)
        return np.where(counts, power, x * np.exp(-x.max())) / power.sum()
    if name == "LOGISTIC":
        return 1 / (1 + np.exp(-x))
    if name == "PROBIT":
        y = 2 * x - 1
        log = np.log((1 - y) * (1 + y))
        v = 2 / (np.pi * 0.147) + log / 2
        return np.sqrt(2) * np.sign(y) * np.sqrt(np.sqrt(v * v - log / 0.147) - v)
    return x


def walk(case):
    """The scores of each row, as a judge of what ONNX Runtime says; None for two classes, whose
    rules are its own."""
    trees, rows = case.trees, next(iter(case.inputs.values())).astype(np.float64)
    if trees.is_classifier and trees.targets == 2:
        return None
    results = []
    for row in rows:
        scores = [score or 0 for score in combine(trees, row)]
        base = trees.base or [0] * trees.targets
        scores = [score + own for score, own in zip(scores, base)]
        is_single = trees.targets == 1 and trees.transform != "PROBIT"
        results.append(scores if is_single else transform(scores, trees.transform))
    return np.array(results)


# Running.


def read_number(element, labels):
    if isinstance(element, str) and element in labels:
        return labels.index(element)
    return float(element) if element in ("NaN", "Infinity", "-Infinity") else element


def read_expected(case, output, elements):
    """The output that ONNX Runtime has, with the indices of strings."""
    kind = case.outputs[output]
    values = [read_number(element, case.labels) for element in elements]
    if kind in ("string", "int64"):
        return np.array([int(value) for value in values], np.int64)
    return np.array(values, kind)


def check_outputs(name, outputs, expected):
    """Prints what differs from `expected`, arrays in the shape of outputs; the number of that."""
    wrong = 0
    for output, values in expected.items():
        if output not in outputs:
            problem = "is missing"
        else:
            actual = outputs[output]
            problem = describe_difference(actual.reshape(-1), values.reshape(-1), TOLERANCE)
        if problem:
            print(f"{name}: {output}: {problem}")
            wrong += 1
    return wrong


class Checker:
    """Runs models in a folder."""

    def __init__(self, work):
        self.work, self.runs, self.wrong = work, 0, 0

    def run(self, name, model, inputs, backend, options=()):
        path = os.path.join(self.work, "model.onnx")
        with open(path, "wb") as file:
            file.write(model)
        outputs, text = run_local([path], inputs, backend, os.path.join(self.work, "run"), options)
        self.runs += 1
        if outputs is None:
            print(f"{name}: {text.strip()}")
            self.wrong += 1
        return outputs

    def check(self, case, expected, backend):
        name = f"{case.name} ({backend})"
        outputs = self.run(name, encode_model(case), case.inputs, backend)
        if outputs is not None:
            self.wrong += check_outputs(name, outputs, expected)

    def check_open(self, case, expected, backend):
        """The same of a program for any number of rows."""
        rows = {array.shape[0] for array in case.inputs.values()}
        if len(rows) > 1 or max(rows) > MOST_ROWS:
            return
        name = f"{case.name} ({backend}, up to {MOST_ROWS} rows)"
        outputs = self.run(name, encode_model(case, is_open=True), case.inputs, backend,
                           [f"-define-symbol=N,1..{MOST_ROWS}"])
        if outputs is None:
            return
        count = max(rows)
        outputs = {output: array[:count] for output, array in outputs.items()}
        self.wrong += check_outputs(name, outputs, expected)


def check_walk(case, expected):
    """Compares what ONNX Runtime says with the walked trees; the number of differences."""
    walked = walk(case) if case.trees else None
    if walked is None:
        return 0
    output = list(case.outputs)[-1]
    values = expected[output]
    return check_outputs(f"{case.name} (walked)", {output: walked.astype(values.dtype)},
                         {output: values})


def check_zip_map(checker):
    """The scores of a ZipMap pass through."""
    case = next(case for case in make_cases() if case.name == "classes")
    outputs = checker.run("classes", encode_model(case), case.inputs, "CPU")
    case.nodes.append(Node("ZipMap", ["scores"], ["maps"], {"classlabels_int64s": case.labels}))
    case.outputs = {"label": "int64", "maps": "maps"}
    zipped = checker.run("ZipMap", encode_model(case), case.inputs, "CPU")
    if zipped is not None:
        checker.wrong += check_outputs("ZipMap", zipped, {"maps": outputs["scores"]})


def write_cases(folder):
    for case in make_cases():
        with open(os.path.join(folder, case.name + ".onnx"), "wb") as file:
            file.write(encode_model(case))
        inputs = {name: {"type": str(array.dtype), "dims": list(array.shape),
                         "data": [str(x) if "int" in str(array.dtype) or not np.isfinite(x)
                                  else float(x) for x in array.reshape(-1)]}
                  for name, array in case.inputs.items()}
        text = json.dumps(inputs).replace('"nan"', '"NaN"')
        with open(os.path.join(folder, case.name + ".json"), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=lambda path: os.path.join(STARTED_IN, path))
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.write:
        os.makedirs(args.write, exist_ok=True)
        write_cases(args.write)
        return 0
    with open(EXPECTED, encoding="utf-8") as file:
        all_expected = json.load(file)
    cases = [case for case in make_cases() if not args.names or case.name in args.names]
    with tempfile.TemporaryDirectory() as work:
        checker = Checker(work)
        for case in cases:
            expected = {output: read_expected(case, output, elements)
                        for output, elements in all_expected[case.name].items()}
            checker.wrong += check_walk(case, expected)
            for backend in BACKENDS:
                checker.check(case, expected, backend)
            checker.check_open(case, expected, "CPU")
        check_zip_map(checker)
    print(f"{len(cases)} models, {checker.runs} runs, {checker.wrong} wrong")
    return 1 if checker.wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
