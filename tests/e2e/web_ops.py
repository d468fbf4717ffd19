#!/usr/bin/python3
"""web_ops.py [--keep FOLDER] [FILE...]: the operator tests of ONNX Runtime Web.

Each file of the test data's folder contrib/ort-web-ops ($GLOWISH_TEST_DATA,
default ../shared/data), or FILE.jsonc of it, has tests: an operator, its
attributes and opset, and cases with inputs and outputs. Each case becomes a
folder as ONNX's tests have them, with a model of one node, and
onnx-backend-test runs them on both back ends. Outputs are compared as it does;
floats beyond that once more as ONNX Runtime's tests do. Prints a table of the
operators, and why cases don't pass. web_ops.txt names those that may not, and
must not.

--keep: a new folder where the models are left. $GLOWISH_BIN: the programs
(default build/release/bin). Exits 1 if other cases than those fail, 77 without
data."""

import argparse
import collections
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field

try:
    import numpy as np
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STARTED_IN = os.getcwd()
os.chdir(ROOT)
sys.path.insert(0, HERE)

from cases import encode  # noqa: E402
from model_runs import BACKENDS, run_tool  # noqa: E402

DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"),
                    "contrib/ort-web-ops")
LIST = os.path.join(HERE, "web_ops.txt")
# The opset where a test states none: one whose reductions have their axes as
# attributes, and which has LayerNormalization.
OPSET = {"domain": "", "version": 17}
# Inputs that are weights in models: they are constants here, too.
CONSTANTS = {"MatMulNBits": {1, 2, 3, 4, 5}}
# |actual - expected| <= TOLERANCE * (1 + |expected|) for floats.
TOLERANCE = 1e-3
KINDS = {"float32": (1, np.float32), "uint8": (2, np.uint8),
         "int8": (3, np.int8), "int32": (6, np.int32), "int64": (7, np.int64),
         "bool": (9, np.bool_), "float16": (10, np.float16),
         "float64": (11, np.float64), "uint32": (12, np.uint32),
         "uint64": (13, np.uint64), "uint4": (21, np.uint8),
         "int4": (22, np.int8)}


@dataclass
class Case:
    """A case of a test, and what became of it on each back end: empty if it
    passed."""
    name: str
    test: dict
    inputs: list
    outputs: list
    problems: dict = field(default_factory=dict)


@dataclass
class Expected:
    """A line of web_ops.txt."""
    pattern: str
    reason: str
    uses: int = 0


def encode_attribute(attribute):
    """An AttributeProto."""
    number, kind, convert = {
        "float": (2, 1, float), "int": (3, 2, int), "string": (4, 3, str),
        "floats": (7, 6, float), "ints": (8, 7, int),
        "strings": (9, 8, str)}[attribute["type"]]
    data = attribute["data"]
    values = data if isinstance(data, list) else [data]
    return (encode(1, attribute["name"]) + encode(20, kind) +
            b"".join(encode(number, convert(value)) for value in values))


def encode_value(name, tensor):
    """A ValueInfoProto, of an input or output."""
    dims = b"".join(encode(1, encode(1, dim)) for dim in tensor["dims"])
    kind = KINDS[tensor["type"]][0]
    return encode(1, name) + encode(
        2, encode(1, encode(1, kind) + encode(2, dims)))


def encode_tensor(name, tensor):
    """A TensorProto."""
    kind, element = KINDS[tensor["type"]]
    # Integers that are too large wrap, as in an array of JavaScript.
    values = np.array(tensor["data"])
    values = values.astype(
        np.float64 if values.dtype.kind == "f" else np.int64).astype(element)
    if values.size != np.prod(tensor["dims"], dtype=np.int64):
        raise ValueError(f"{values.size} elements for {tensor['dims']}")
    if tensor["type"] in ("uint4", "int4"):
        values = values.astype(np.uint8) & 15
        values = np.append(values, np.zeros(values.size % 2, np.uint8))
        values = values[::2] | values[1::2] << 4
    return (b"".join(encode(1, dim) for dim in tensor["dims"]) +
            encode(2, kind) + encode(8, name) + encode(9, values.tobytes()))


def encode_model(case):
    """A ModelProto of one node. What has no data is an input or output that is
    left out."""
    test, opset = case.test, case.test.get("opset", OPSET)
    node, values = b"", b""
    for i, tensor in enumerate(case.inputs):
        name = f"input_{i}" if has_data(tensor) else ""
        node += encode(1, name)
        if name and is_constant(case, i):
            values += encode(5, encode_tensor(name, tensor))
        elif name:
            values += encode(11, encode_value(name, tensor))
    for i, tensor in enumerate(case.outputs):
        name = f"output_{i}" if has_data(tensor) else ""
        node += encode(2, name)
        if name:
            values += encode(12, encode_value(name, tensor))
    node += encode(4, test["operator"]) + encode(7, opset["domain"])
    for attribute in test.get("attributes", []):
        node += encode(5, encode_attribute(attribute))
    graph = encode(1, node) + encode(2, "graph") + values
    return (encode(1, 10) + encode(7, graph) + encode(
        8, encode(1, opset["domain"]) + encode(2, opset["version"])))


# Cases.


def has_data(tensor):
    return tensor is not None and tensor.get("data") is not None


def is_constant(case, index):
    return index in CONSTANTS.get(case.test["operator"], ())


def read_json(path):
    """JSON with comments, which strings can look like."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(re.sub(
        r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/',
        lambda match: match.group(1) or "", text, flags=re.DOTALL))


def shorten(name):
    """A name as that of a folder."""
    return re.sub(r"[^A-Za-z0-9=.-]+", "_", name).strip("_.") or "_"


def read_cases(names):
    """All cases of the files: FILE/TEST/CASE, and a number where several have
    the same name."""
    cases, counts = [], collections.Counter()
    for file in names:
        for test in read_json(os.path.join(DATA, file + ".jsonc")):
            for case in test["cases"]:
                name = "/".join([file, shorten(test["name"]),
                                 shorten(case["name"])])
                counts[name] += 1
                if counts[name] > 1:
                    name += f"_{counts[name]}"
                cases.append(Case(name, test, case["inputs"], case["outputs"]))
    return cases


def write_case(case, folder):
    """Writes the model and its data below folder."""
    data = os.path.join(folder, case.name, "test_data_set_0")
    os.makedirs(data)
    with open(os.path.join(folder, case.name, "model.onnx"), "wb") as file:
        file.write(encode_model(case))
    files = {f"input_{i}": tensor for i, tensor in enumerate(case.inputs)
             if has_data(tensor) and not is_constant(case, i)}
    write_tensors(data, "input", files)
    files = {f"output_{i}": tensor for i, tensor in enumerate(case.outputs)
             if has_data(tensor)}
    write_tensors(data, "output", files)


def write_tensors(folder, prefix, tensors):
    """Files are numbered without those that are left out."""
    for i, (name, tensor) in enumerate(tensors.items()):
        with open(os.path.join(folder, f"{prefix}_{i}.pb"), "wb") as file:
            file.write(encode_tensor(name, tensor))


# Running.


def run_cases(cases, folder):
    """Sets the problems of all cases."""
    by_name = {case.name: case for case in cases}
    for backend in BACKENDS:
        _, text = run_tool("onnx-backend-test", "-suite=" + folder,
                           "-backend=" + backend)
        failed = re.findall(r"^FAILED (\S+): (.*)", text, re.MULTILINE)
        if f"{len(cases) - len(failed)} passed, {len(failed)} failed, " \
                "0 skipped" not in text:
            sys.exit("onnx-backend-test did not run all cases:\n" + text)
        for name, problem in failed:
            if not is_near(problem, os.path.join(folder, name), backend):
                by_name[name].problems[backend] = problem


def is_near(problem, folder, backend):
    """Whether outputs that differ do so within the tolerance of ONNX Runtime's
    tests; integers are exact."""
    if not is_wrong(problem):
        return False
    code, _ = run_tool("model-runner", f"-model={folder}/model.onnx",
                       f"-test-data={folder}/test_data_set_0",
                       "-backend=" + backend, f"-rtol={TOLERANCE}",
                       f"-atol={TOLERANCE}")
    return code == 0


def is_wrong(problem):
    """Whether outputs are wrong, and the model was not refused."""
    return problem.startswith("output '")


# Report.


def print_table(cases):
    """Cases by operator; one that is wrong on a back end is wrong."""
    counts = collections.defaultdict(collections.Counter)
    for case in cases:
        problems = case.problems.values()
        counts[case.test["operator"]][
            "passed" if not problems else
            "wrong" if any(map(is_wrong, problems)) else "refused"] += 1
    columns = ("passed", "refused", "wrong")
    print(f"{'operator':34}" + "".join(f"{name:>9}" for name in columns))
    for operator in sorted(counts):
        print(f"{operator:34}" + "".join(
            f"{counts[operator][name]:9}" for name in columns))
    print(f"{'all':34}" + "".join(
        f"{sum(count[name] for count in counts.values()):9}"
        for name in columns))


def read_exceptions():
    exceptions = []
    with open(LIST, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                pattern, reason = line.split(" | ")
                exceptions.append(Expected(pattern.strip(), reason.strip()))
    return exceptions


def check_case(case, exceptions):
    """Prints what is wrong with a case; the number of things."""
    found = [e for e in exceptions if re.fullmatch(e.pattern, case.name)]
    for exception in found:
        exception.uses += 1
    if not case.problems:
        if found:
            print(f"PASSES and is listed: {case.name}")
        return len(found)
    note = f"expected: {found[0].reason}" if found else "UNEXPECTED"
    problems = collections.defaultdict(list)
    for backend, problem in case.problems.items():
        problems[problem].append(backend)
    for problem, backends in problems.items():
        print(f"{case.name} ({', '.join(backends)}): {problem} ({note})")
    return not found


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=lambda path: os.path.join(STARTED_IN, path))
    parser.add_argument("files", nargs="*")
    return parser.parse_args()


def main():
    args = parse_arguments()
    if not os.path.isdir(DATA):
        print(f"skipped: there is no {DATA}")
        return 77
    names = args.files or sorted(
        file.removesuffix(".jsonc") for file in os.listdir(DATA)
        if file.endswith(".jsonc"))
    cases, exceptions = read_cases(names), read_exceptions()
    with tempfile.TemporaryDirectory() as work:
        folder = args.keep or work
        for case in cases:
            write_case(case, folder)
        run_cases(cases, folder)
    wrong = sum(check_case(case, exceptions) for case in cases)
    for exception in exceptions:
        if not args.files and not exception.uses:
            wrong += 1
            print(f"listed, but no case: {exception.pattern}")
    print_table(cases)
    print(f"{len(cases)} cases, {wrong} unexpected")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
