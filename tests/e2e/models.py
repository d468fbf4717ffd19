#!/usr/bin/python3
"""models.py [--all] [--only REGEX]: runs the models of the test data that have reference
outputs, in the interpreter and in the JIT. Without --all or --only, it leaves out in the
interpreter those that networks.sh runs there to the same bounds (TRAINED of cases.py), and
style_candy, which takes long there: the smaller style_mosaic has the same layers.

These are the folders trained, quantized and fusion of $GLOWISH_TEST_DATA (default
../shared/data): NAME/model.onnx and NAME/test_data_set_0, with outputs of ONNX Runtime. Open
dimensions get the extents of the inputs. All outputs must agree to 1e-4 of the output's
largest magnitude. models.txt has what can't, with the reason: a bound of its own, or that the
model does not run at all, which must stay true.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what differs from the rule and
a count; exits 1 if a model fails, 77 if there is none, or no NumPy or Python's onnx.
"""

import argparse
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "..", ".."))
sys.path.insert(0, HERE)
try:
    import numpy as np
    import onnx
    from onnx import numpy_helper
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

import cases  # noqa: E402
from comparison import Tolerance, check_outputs, describe_difference  # noqa: E402
from model_runs import BACKENDS, legal, run_local  # noqa: E402

DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
FOLDERS = ["trained", "quantized", "fusion"]
BOUND = "1e-4"
# Largest magnitudes below it count as it.
SMALLEST = 2e-3


def read_exceptions():
    """What models.txt has: the bound and the reason of a name."""
    exceptions = {}
    with open(os.path.join(HERE, "models.txt"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, bound, reason = line.strip().split(None, 2)
                exceptions[name] = bound, reason
    return exceptions


def read_tensors(folder, stem, names):
    """The tensors STEM_0.pb, ... of a test by the names of the model's inputs or outputs."""
    tensors = {}
    for i, name in enumerate(names):
        path = os.path.join(folder, "test_data_set_0", f"{stem}_{i}.pb")
        if os.path.exists(path):
            tensor = onnx.TensorProto()
            with open(path, "rb") as file:
                tensor.ParseFromString(file.read())
            tensors[name] = numpy_helper.to_array(tensor)
    return tensors


def get_tolerance(bound):
    """What rounds to a bound of two digits, as models.txt states it."""
    step = 10.0 ** np.floor(np.log10(float(bound)) + 1e-9)
    return Tolerance(of_largest=float(bound) + 0.05 * step, smallest=SMALLEST,
                     for_integers=True)


def find_other_types(actual, expected):
    """Outputs of another type or shape."""
    like = {name: np.zeros_like(value) for name, value in expected.items()}
    return "; ".join(filter(None, (
        describe_difference(np.zeros_like(actual[legal(name)]), value, Tolerance())
        for name, value in like.items())))


def judge(folder, backend, bound, work):
    """What is wrong with a model on a back end; empty if nothing is."""
    model = os.path.join(folder, "model.onnx")
    inputs, outputs = ([name for name, _ in values] for values in cases.read_interface(model))
    actual, text = run_local([model], read_tensors(folder, "input", inputs), backend, work)
    expected = read_tensors(folder, "output", outputs)
    if bound == "refused":
        return "" if actual is None or find_other_types(actual, expected) else "it runs"
    if actual is None:
        return text.strip()
    if not expected:
        return "it has no expected output"
    if bound == "random":
        return find_other_types(actual, expected)
    return check_outputs(actual, expected, get_tolerance(bound))


def list_models(only):
    """The folders of the models, by their names."""
    found = {}
    for parent in FOLDERS:
        parent = os.path.join(DATA, parent)
        for name in sorted(os.listdir(parent)) if os.path.isdir(parent) else []:
            folder = os.path.join(parent, name)
            if os.path.exists(os.path.join(folder, "model.onnx")) and \
                    os.path.isdir(os.path.join(folder, "test_data_set_0")) and \
                    re.search(only, name):
                found[name] = folder
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    is_part = not options.all and not options.only
    left_out = [*cases.TRAINED, "style_candy"]
    exceptions = read_exceptions()
    passed = excepted = failed = 0
    for name, folder in list_models(options.only).items():
        bound, reason = exceptions.get(name, (BOUND, ""))
        for backend in BACKENDS:
            if is_part and backend == "Interpreter" and name in left_out:
                continue
            with tempfile.TemporaryDirectory() as work:
                wrong = judge(folder, backend, bound, os.path.join(work, "run"))
            if wrong:
                failed += 1
                print(f"{name} on {backend}: {wrong} (allowed: {bound})")
            elif bound == BOUND:
                passed += 1
            else:
                excepted += 1
        if reason:
            print(f"{name}: {bound}: {reason}")
    if not passed + excepted + failed:
        print("no model to check")
        return 77
    print(f"{passed} right, {excepted} within a bound of their own or not compared,"
          f" {failed} wrong")
    return 1 if failed else 0


sys.exit(main())
