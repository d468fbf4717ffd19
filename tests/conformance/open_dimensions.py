#!/usr/bin/env python3
"""open_dimensions.py [--results FILE] [--filter REGEX] [--jobs N]: ONNX's own tests with a
range for the first dimension of their inputs.

Each test that passes on the CPU is compiled once more with a symbol in the place of the
first dimension, whose range begins with 0 or 1 and ends behind the extent of the data:
for all inputs with the same first extent or, where that is refused, for one of them
(`onnx-backend-test -backend=OpenCPU`). It runs with the test's own data, and outputs are
compared as always. What is refused, which many operators do with reason, is counted by
its reason; what differs is listed, and an error unless expected-failures.txt has its cause
for the back end OpenCPU.

--results: takes the results of a former run, a file that `onnx-backend-test -results`
wrote for the back ends CPU, OpenInterpreter and OpenCPU.
$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if a result differs, 77
where there are no tests."""

import argparse
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
SUITE = os.path.join(os.environ.get("GLOWISH_TEST_DATA", "../shared/data"), "onnx-backend")
OPEN = ["OpenInterpreter", "OpenCPU"]
EXPECTED = "tests/conformance/expected-failures.txt"
REFUSED = "refused: "


def run_tests(path, options):
    """Writes the results of all tests to a file."""
    command = [os.path.join(BIN, "onnx-backend-test"), "-suite=" + SUITE,
               "-results=" + path, "-filter=" + (options.filter or "."),
               *["-backend=" + name for name in ["CPU", *OPEN]]]
    if options.jobs:
        command.append(f"-j={options.jobs}")
    # Refusals are failures there.
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def read_results(path):
    """{test: {back end: (result, reason)}}"""
    tests = collections.defaultdict(dict)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            tests[row["test"]][row["backend"]] = row["result"], row["reason"] or ""
    return tests


def classify(reason):
    """A refusal without names, types and numbers, and without what is accepted."""
    text = reason.removeprefix(REFUSED)
    text = re.sub(r"^('[^']*': )?node '[^']*' \((\w+)\): (\w+ '[^']*': )?", "", text)
    text = re.sub(r"\b\w+<[^>]*>", "TYPE", text)
    text = re.sub(r"'[^']*'?", "'_'", text)
    text = re.sub(r"(, at most \d+)?[;,] (and )?accepted.*|\.\.\.$", "", text)
    text = re.sub(r"\[[\d, ]*\]", "[_]", text)
    text = re.sub(r"\b\d+\b", "_", text)
    return re.sub(r" \((operand )?'_'.*", "", text)


def read_known():
    """{test: cause} of those that are known to differ."""
    known = {}
    with open(EXPECTED, encoding="utf-8") as file:
        for line in file:
            name, _, rest = line.partition(" ")
            backends, _, cause = rest.partition(": ")
            if "OpenCPU" in backends.split(","):
                known[name] = cause.strip()
    return known


def judge(results):
    """'failed', 'skipped', 'differs', 'refused' or 'passed', and why."""
    result, reason = results["CPU"]
    if result != "passed":
        return result, reason
    for backend in OPEN:
        result, reason = results[backend]
        if result != "passed":
            return "refused" if reason.startswith(REFUSED) else "differs", reason
    return "passed", ""


def print_table(judged):
    """A line for each suite, and one for all."""
    print("| Suite | Passed with known dimensions | With an open one | Refused | Different |")
    print("|---|---|---|---|---|")
    suites = collections.defaultdict(collections.Counter)
    for name, (verdict, _) in judged.items():
        for suite in (os.path.dirname(name), "all"):
            suites[suite][verdict] += 1
    for suite in sorted(suites, key=lambda name: (name == "all", name)):
        count = suites[suite]
        known = count["passed"] + count["refused"] + count["differs"]
        print(f"| {suite} | {known} | {count['passed']} | {count['refused']} | "
              f"{count['differs']} |")


def print_reasons(judged):
    reasons = collections.Counter(classify(reason) for verdict, reason in judged.values()
                                  if verdict == "refused")
    print("\n| Refused | Why |\n|---|---|")
    for reason, count in reasons.most_common():
        print(f"| {count} | {reason} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--results")
    parser.add_argument("--filter")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args()
    if not options.results and not os.path.isdir(SUITE):
        print(f"skipped: no tests of ONNX's: {SUITE} does not exist")
        return 77
    with tempfile.TemporaryDirectory() as work:
        path = options.results or os.path.join(work, "results.tsv")
        if not options.results:
            run_tests(path, options)
        judged = {name: judge(results) for name, results in read_results(path).items()}
    print_table(judged)
    print_reasons(judged)
    wrong = {name: reason for name, (verdict, reason) in judged.items()
             if verdict == "differs"}
    known = read_known()
    for name, reason in wrong.items():
        print(f"DIFFERENT {name}: {reason}" + (f" ({known[name]})" if name in known else ""))
    passing = [name for name in known if judged.get(name, ("",))[0] in ("passed", "refused")]
    for name in passing:
        print(f"{name} is listed in {EXPECTED}, and is not different")
    if not any(verdict == "passed" for verdict, _ in judged.values()):
        print("no test passed")
        return 1
    return 1 if passing or set(wrong) - set(known) else 0


if __name__ == "__main__":
    sys.exit(main())
