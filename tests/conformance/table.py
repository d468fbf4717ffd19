#!/usr/bin/env python3
"""table.py [--check] [--data FOLDER] [--results FILE] [--jobs N]: writes docs/conformance.md,
which of ONNX's own tests pass on which back end, and with which error.

It runs all tests of FOLDER/v1.22.0 (default $GLOWISH_TEST_DATA/onnx-backend, or
../shared/data/onnx-backend) on all back ends, which takes about ten minutes of two cores, or
takes the results of a former run: a FILE that `onnx-backend-test -results` wrote. With
--check nothing is written: a small share of the tests is run anew, and their results must be
those of the page.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if a result differs or a test
fails without a known cause, 77 where there are no tests or no emulators.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
PAGE = "docs/conformance.md"
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
RELEASE = "v1.22.0"
# How many tests the release has; the test data may have fewer.
OFFICIAL = 1914
SUITES = ["node", "simple", "pytorch-operator", "pytorch-converted", "light"]
BACKENDS = {"Interpreter": "interpreter", "CPU": "CPU", "bundle": "bundle",
            "aarch64": "AArch64", "wasm": "wasm"}
# What --check runs: tests with and without errors, skipped ones and one that fails.
SHARE = "(test_(a[cd]|dft|e[rx]|l[ao]|s[eo])|pytorch-operator/test_operator_[a-e]|simple/)"
INTRODUCTION = """# Conformance

ONNX's own tests of the release 1.22.0, on each back end. `tests/conformance/table.py` writes
this page; the test `conformance-table` runs a share of it anew.

{number}

| Back end | What runs |
|---|---|
| interpreter | the reference, in this process |
| CPU | code for this machine, loaded into this process |
| bundle | a bundle for this machine, linked to a C program |
| AArch64 | a program for AArch64, linked without a C library, in QEMU |
| wasm | a WebAssembly module, without SIMD, in Node.js |

A test passes where all of its outputs have the expected types and shapes, and elements within
ONNX's own tolerances, or equal where they are no floats
([testing.md](testing.md#onnxs-own-tests)). Errors are in units in the last place (ULP) of the
expected element in its own type, the largest of all outputs. An element under 1e-4, where
the absolute tolerance is the larger one, is measured in the ULP of 1e-4. Hundreds and thousands
of ULP are those of sums whose terms cancel, and of data that have few digits (RoiAlign). Of
outputs that random numbers decide there is no error."""


def split_name(name):
    """(suite, test) of "v1.22.0/node/test_abs"."""
    return tuple(name.split("/", 2)[1:])


class Results:
    """The lines of a file that onnx-backend-test wrote: by test and back end."""

    def __init__(self, path):
        self.tests = defaultdict(dict)
        self.operators = {}
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                name = split_name(row["test"])
                self.tests[name][row["backend"]] = row
                self.operators[name] = row["operators"].split(",")

    def count(self, names, backend, result):
        return sum(self.tests[name][backend]["result"] == result for name in names)

    def find(self, result):
        return [name for name in sorted(self.tests)
                if any(row["result"] == result for row in self.tests[name].values())]


def run_tests(data, path, backends, pattern, jobs):
    """Writes the results of the tests to a file; returns the exit code."""
    command = [os.path.join(BIN, "onnx-backend-test"), "-suite=" + data,
               "-filter=" + pattern, "-results=" + path, "-time-limit=3600",
               "-expected-failures=tests/conformance/expected-failures.txt",
               *["-backend=" + name for name in backends]]
    if jobs:
        command.append("-j=%d" % jobs)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print(done.stdout.strip())
    return done.returncode


#--- The page ---

def format_ulps(text):
    """Two digits are enough, and no more than what other machines have, too."""
    value = float("%.2g" % float(text))
    return "%d" % value if value == int(value) else "%g" % value


def format_row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def format_share(passed, everything):
    return "%d (%.1f %%)" % (passed, 100 * passed / everything)


def make_summary(results):
    yield format_row(["Suite", "Tests", *BACKENDS.values(), "Skipped"])
    yield "|---" * (len(BACKENDS) + 3) + "|"
    for suite in [*SUITES, None]:
        names = [name for name in results.tests if suite in (None, name[0])]
        if names:
            yield format_row([
                suite or "**all**", len(names),
                *[format_share(results.count(names, each, "passed"), len(names))
                  for each in BACKENDS],
                results.count(names, "CPU", "skipped")])


def make_failures(results):
    yield format_row(["Test", "Fails on", "Cause"])
    yield "|---|---|---|"
    for name in results.find("failed"):
        causes = defaultdict(list)
        for backend, row in results.tests[name].items():
            if row["result"] == "failed":
                causes[row["reason"]].append(BACKENDS[backend])
        for cause, backends in causes.items():
            where = "all" if len(backends) == len(BACKENDS) else ", ".join(backends)
            yield format_row(["/".join(name), where, cause.replace("|", "\\|")])


def make_skips(results):
    by_reason = defaultdict(list)
    for name in results.find("skipped"):
        by_reason[results.tests[name]["CPU"]["reason"]].append("/".join(name))
    for reason, names in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        kind, text = reason.split(": ", 1)
        yield "**%s** (%d): %s: %s." % (kind, len(names), text,
                                        ", ".join(names))
        yield ""


def make_operators(results):
    by_operator = defaultdict(list)
    for name, operators in results.operators.items():
        if name[0] == "node":
            for operator in operators:
                by_operator[operator].append(name)
    yield format_row(["Operator", "Tests", *BACKENDS.values()])
    yield "|---" * (len(BACKENDS) + 2) + "|"
    for operator, names in sorted(by_operator.items()):
        cells = []
        for backend in BACKENDS:
            passed = [results.tests[name][backend] for name in names
                      if results.tests[name][backend]["result"] == "passed"]
            ulps = max((float(row["ulps"]) for row in passed), default=0)
            cells.append("%d: %s" % (len(passed), format_ulps(ulps)) if passed else "0")
        yield format_row([operator, len(names), *cells])


def make_cell(row):
    return format_ulps(row["ulps"]) if row["result"] == "passed" else row["result"]


def make_tests(results):
    """A table of those that have an error somewhere, and a list of the others."""
    for suite in SUITES:
        exact, rows = [], []
        for name in sorted(results.tests):
            cells = [make_cell(results.tests[name][each]) for each in BACKENDS]
            if name[0] != suite or "skipped" in cells:
                continue
            if set(cells) == {"0"}:
                exact.append(name[1])
            else:
                rows.append(format_row([name[1], *cells]))
        if exact or rows:
            yield "### %s\n" % suite
        if rows:
            yield format_row(["Test", *BACKENDS.values()])
            yield "|---" * (len(BACKENDS) + 1) + "|"
            yield from rows
            yield ""
        if exact:
            yield "Without an error on any back end: %s.\n" % ", ".join(exact)


def make_page(results):
    number = len(results.tests)
    text = "It has all %s of them." % format(OFFICIAL, ",")
    if number != OFFICIAL:
        text = ("The release has %s tests. Here are the %s that the test data have\n"
                "([testing.md](testing.md#test-data)), and of these all: those that are skipped "
                "are part of the\npercentages." % (format(OFFICIAL, ","), format(number, ",")))
    sections = [
        ("", [INTRODUCTION.format(number=text)]),
        ("## Summary\n\nThat passed, of all tests of a suite.\n", make_summary(results)),
        ("## What fails\n", make_failures(results)),
        ("## What is skipped\n", make_skips(results)),
        ("## Operators\n\nOf the suite node: how many tests have the operator, how many of "
         "them pass, and the\nlargest error in ULP.\n", make_operators(results)),
        ("## Tests\n\nThe largest error of each test in ULP.\n", make_tests(results))]
    page = "\n\n".join(heading + ("\n" if heading else "") + "\n".join(lines).rstrip("\n")
                       for heading, lines in sections)
    return page.replace("\n\n\n", "\n\n") + "\n"


#--- Checking ---

def read_page():
    """{(suite, test): the cells of its row}, and the names of the other tests there."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    listed, tests = {}, text.split("\n## Tests\n", 1)[1]
    for part in tests.split("\n### ")[1:]:
        suite, body = part.split("\n", 1)
        for row in re.findall(r"^\| (test\S+|light\S+) \| (.*) \|$", body, re.M):
            listed[suite, row[0]] = row[1].split(" | ")
        for names in re.findall(r"^Without an error on any back end: (.*)\.$", body, re.M):
            listed.update({(suite, name): ["0"] * len(BACKENDS) for name in names.split(", ")})
    skipped = text.split("\n## What is skipped\n", 1)[1].split("\n## ", 1)[0]
    return listed, set(re.findall(r"[\w-]+/\w+", skipped))


def is_same(actual, expected, backend):
    """Errors of compiled code depend on the processor's instructions."""
    if "failed" in (actual, expected):
        return actual == expected
    if backend == "Interpreter":
        return actual == expected
    return float(actual) <= max(2 * float(expected), float(expected) + 4)


def compare(results):
    listed, skipped = read_page()
    for name in sorted(results.tests):
        for backend, row in results.tests[name].items():
            actual = make_cell(row)
            if actual == "skipped":
                is_right = "/".join(name) in skipped
            else:
                expected = listed.get(name, ["absent"] * len(BACKENDS))
                expected = expected[list(BACKENDS).index(backend)]
                is_right = expected not in ("absent", "skipped") and is_same(
                    actual, expected, backend)
            if not is_right:
                yield "%s/%s on %s: %s, unlike in %s" % (*name, backend, actual, PAGE)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--data", default=os.path.join(
        os.environ.get("GLOWISH_TEST_DATA", "../shared/data"), "onnx-backend"))
    parser.add_argument("--results")
    parser.add_argument("--jobs", type=int, default=0)
    options = parser.parse_args()
    if not options.results and not os.path.isdir(os.path.join(options.data, RELEASE)):
        print("skipped: there are no tests in %s/%s" % (options.data, RELEASE))
        return 77
    with tempfile.TemporaryDirectory() as folder:
        path, code = options.results or os.path.join(folder, "results.tsv"), 0
        if not options.results:
            code = run_tests(options.data, path,
                             ["Interpreter", "CPU"] if options.check else BACKENDS,
                             RELEASE + "/.*" + SHARE if options.check else RELEASE + "/",
                             options.jobs)
            if not os.path.exists(path):
                return code or 1
        results = Results(path)
    if options.check:
        problems = list(compare(results))
        print("\n".join(problems + ["%d tests: %d results are not those of %s"
                                    % (len(results.tests), len(problems), PAGE)]))
        return 1 if problems or code else 0
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(make_page(results))
    return code


if __name__ == "__main__":
    sys.exit(main())
