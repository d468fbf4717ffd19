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


def measure(actual, expected):
    """The largest error as a share of the largest magnitude."""
    actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    errors = np.where(same, 0, np.abs(actual - expected))
    errors = np.where(np.isnan(errors), np.inf, errors)
    finite = np.abs(expected[np.isfinite(expected)])
    return float(np.max(errors, initial=0) / np.max(finite, initial=SMALLEST))


def run(folder, backend, work):
    """The largest error of a model's outputs, or why there is none."""
    model = os.path.join(folder, "model.onnx")
    inputs, outputs = ([name for name, _ in values] for values in cases.read_interface(model))
    actual, text = run_local([model], read_tensors(folder, "input", inputs), backend, work)
    if actual is None:
        return None, text.strip()
    errors = []
    for name, expected in read_tensors(folder, "output", outputs).items():
        found = actual[legal(name)]
        if (found.dtype, found.shape) != (expected.dtype, expected.shape):
            return None, (f"{name} is {found.dtype}{list(found.shape)}, "
                          f"not {expected.dtype}{list(expected.shape)}")
        errors.append(measure(found, expected))
    return (max(errors), "") if errors else (None, "it has no expected output")


def judge(folder, backend, bound, work):
    """What is wrong with a model on a back end; empty if nothing is."""
    error, problem = run(folder, backend, work)
    if bound == "refused":
        return "" if problem else "it runs"
    # As models.txt states it.
    is_wrong = not problem and bound != "random" and float(f"{error:.1e}") > float(bound)
    return problem or (f"{error:.1e}" if is_wrong else "")


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
