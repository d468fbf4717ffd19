#!/usr/bin/python3
"""reports.py [-only FOLDER...]: small models made from bug reports of comparable compilers.

$GLOWISH_TEST_DATA/reports/cases.tsv (default ../shared/data) has a line for each folder beside
it: the report, the flags of the compilation, and the tolerances. A folder has model.SUFFIX,
input_NAME.npy and expected_NAME.npy. Each model runs on both back ends. Floats must agree to
atol + rtol * |expected|, an atol 'X of the largest' to X of the output's largest magnitude;
infinities, NaNs and integers must be the same. Where the line says 'right or refused', one line of
error is as good.

A fault of one format may be one of others: each output of an ONNX model is also written in the
other formats (glowish-fuzz -convert), imported from there, and compared with the same values.
UNWRITTEN has those without a counterpart.

-only: the folders to run, instead of all. $GLOWISH_BIN: the programs (default
build/release/bin). Prints what is wrong and a count; exits 1 if a case fails, 77 without the
data or NumPy.
"""

import argparse
import csv
import glob
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.join(HERE, "..", ".."))
sys.path.insert(0, HERE)
try:
    import numpy as np
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, BIN, run_local, run_tool  # noqa: E402

DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"), "reports")

# {folder: {output that is not compared: why}}
CONTRADICTIONS = {
    "pt2_channels_last": {"as_strided": "the output is that of an input in channels-last "
                                        "order, whose strides the file states as row-major"}}

FORMS = ["caffe2", "pt2", "tflite", "torchscript"]
HAS_LIBTORCH = os.path.exists(os.path.join(BIN, "../lib/glowish/libglowish-torch.so"))
# {folder: {format: the outputs that its operators can't state, or its writer does not}}
UNWRITTEN = {
    # A gradient is one of ONNX's operators; the node is the same for all formats.
    "grad_norm_zero": dict.fromkeys(FORMS, "dx"),
    # libtorch 1.13 has another operator.
    "attention_float_mask_row": {"caffe2": "y", "tflite": "y", "torchscript": "y"},
    "attention_masked_row": {"caffe2": "y", "tflite": "y", "torchscript": "y"},
    "convtranspose3d_notset": {"caffe2": "y", "tflite": "y"},
    "grid_bicubic_border_0": {"caffe2": "y", "tflite": "y"},
    "int64_pow_range": {"caffe2": "c r", "tflite": "c mm"},
    "p_powf_f8_0": {"tflite": "y"},
    "p_softplus_use": {"tflite": "s y z"},
    # PyTorch's sign of a NaN is 0.
    "reduce_nan_rows": {"pt2": "s", "torchscript": "s"},
    "stft_rank2": dict.fromkeys(FORMS, "y")}


def read_cases():
    """The lines of cases.tsv, as dictionaries."""
    with open(os.path.join(DATA, "cases.tsv"), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_arrays(folder, prefix):
    """The arrays of the files PREFIX_NAME.npy, by their names."""
    return {os.path.basename(path)[len(prefix) + 1:-len(".npy")]: np.load(path)
            for path in sorted(glob.glob(os.path.join(folder, prefix + "_*.npy")))}


def get_tolerance(case):
    """How far each element of an output may be off."""
    number, *unit = case["atol"].split(" of the ")
    absolute = {"of_largest" if unit else "absolute": float(number)}
    return Tolerance(relative=float(case["rtol"]), smallest=0, **absolute)


def is_allowed_refusal(case, text):
    """Whether an error, and nothing else, was printed, and the case allows it."""
    lines = text.strip().split("\n")
    return (case["what"].endswith("right or refused") and len(lines) == 1 and
            lines[0].startswith("error: "))


def find_problems(case, backend, work):
    """What is wrong with a case on a back end."""
    folder = os.path.join(DATA, case["folder"])
    models = glob.glob(os.path.join(folder, "model.*"))
    expected = read_arrays(folder, "expected")
    for name in CONTRADICTIONS.get(case["folder"], {}):
        del expected[name]
    if len(models) != 1 or not expected:
        return [f"{folder} has {len(models)} models and {len(expected)} outputs"]
    actual, text = run_local(models, read_arrays(folder, "input"), backend, work,
                             case["flags"].split())
    if actual is None:
        return [] if is_allowed_refusal(case, text) else [text.strip()]
    problem = check_outputs(actual, expected, get_tolerance(case))
    return [problem] if problem else []


def find_form_problems(case, form, work):
    """What is wrong with the outputs of an ONNX model by way of another format."""
    folder = os.path.join(DATA, case["folder"])
    inputs, expected = read_arrays(folder, "input"), read_arrays(folder, "expected")
    os.makedirs(work)
    code, text = run_tool("glowish-fuzz", "-form=" + form, "-convert=" + work,
                          os.path.join(folder, "model.onnx"))
    if code != 0:
        return [text.strip()]
    problems, unwritten = [], []
    for line in text.splitlines():
        output, is_unwritten, _ = line.partition(": ")
        if is_unwritten:
            unwritten.append(output)
            continue
        output, name, *needed = line.split()
        for backend in BACKENDS:
            actual, error = run_local([os.path.join(work, output + ".graph")],
                                      {each: inputs[each] for each in needed}, backend,
                                      os.path.join(work, "run"), case["flags"].split())
            if actual is None:
                problems.append(f"{output} on {backend}: {error.strip()}")
                continue
            actual[output] = actual.pop(name)
            problem = check_outputs(actual, {output: expected[output]}, get_tolerance(case))
            problems += [f"on {backend}: {problem}"] if problem else []
    stated = UNWRITTEN.get(case["folder"], {}).get(form, "").split()
    if sorted(unwritten) != stated:
        problems.append(f"written without {sorted(unwritten)}, and {stated} is stated")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-only", action="extend", nargs="+", metavar="FOLDER", default=[])
    only = parser.parse_args().only
    if not os.path.exists(os.path.join(DATA, "cases.tsv")):
        print(f"skipped: there is no {DATA}/cases.tsv")
        return 77
    cases = [case for case in read_cases() if not only or case["folder"] in only]
    unknown = set(only) - {case["folder"] for case in cases}
    if unknown:
        print("cases.tsv has no", ", ".join(sorted(unknown)))
        return 1
    right = wrong = 0
    for case in cases:
        is_onnx = os.path.exists(os.path.join(DATA, case["folder"], "model.onnx"))
        checks = [(find_problems, backend) for backend in BACKENDS]
        checks += [(find_form_problems, form) for form in FORMS
                   if is_onnx and (form != "torchscript" or HAS_LIBTORCH)]
        for check, way in checks:
            with tempfile.TemporaryDirectory() as work:
                problems = check(case, way, os.path.join(work, "run"))
            wrong += bool(problems)
            right += not problems
            for problem in problems:
                print(f"{case['folder']}, {way}: {problem}")
    if not HAS_LIBTORCH:
        print("not tested: torchscript, without libtorch (Debian: libtorch-dev)")
    print(f"{right} right, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
