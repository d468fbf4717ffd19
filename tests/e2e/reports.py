#!/usr/bin/python3
"""reports.py [-only FOLDER...]: small models made from bug reports of comparable compilers.

$GLOWISH_TEST_DATA/reports/cases.tsv (default ../shared/data) has a line for each folder beside
it: the report, the flags of the compilation, and the tolerances. A folder has model.SUFFIX,
input_NAME.npy and expected_NAME.npy. Each model runs on both back ends. Floats must agree to
atol + rtol * |expected|, an atol 'X of the largest' to X of the output's largest magnitude;
infinities, NaNs and integers must be the same. Where the line says 'right or refused', one line of
error is as good.

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
from model_runs import BACKENDS, run_local  # noqa: E402

DATA = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"), "reports")

# {folder: {output that is not compared: why}}
CONTRADICTIONS = {
    "pt2_channels_last": {"as_strided": "the output is that of an input in channels-last "
                                        "order, whose strides the file states as row-major"}}


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
    failed = 0
    for case in cases:
        for backend in BACKENDS:
            with tempfile.TemporaryDirectory() as work:
                problems = find_problems(case, backend, os.path.join(work, "run"))
            failed += bool(problems)
            for problem in problems:
                print(f"{case['folder']} on {backend}: {problem}")
    print(f"{len(cases) * len(BACKENDS) - failed} right, {failed} wrong")
    return 1 if failed else 0


sys.exit(main())
