#!/usr/bin/python3
"""against.py [--on NAME]... [--seed N] [--count N] [--jobs N] [--official FILE] [--doc]
against.py --check

Runs random graphs in other compilers and runtimes (`glowish-fuzz -on=NAME`: onnxruntime,
onnxruntime-plain, mlir-linalg, mlir-tosa, mlir-stablehlo; by default all that are installed),
and compares what they compute with the interpreter. A difference is known where a file of
tests/fuzz/disagreements explains it: a minimal graph below comments

    // on: REGEX        names of the others
    // node: KIND       a node that the shrunk graph has
    // says: REGEX      the report of glowish-fuzz
    // title: ...
    // right: ...       which is right by the specification

Prints how often each was found, and the graphs of differences that no file explains: exit
code 1. --official takes the results of ONNX's own tests, a file of `onnx-backend-test
-backend=OnnxRuntime -results`; --doc, with --official, writes docs/disagreements.md. --check
runs the graphs of the files alone: each must still differ as it says. $GLOWISH_BIN: the
programs (default build/release/bin). Exits 77 where none of the others is installed.
"""

import argparse
import csv
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
BIN = os.environ.get("GLOWISH_BIN", "build/release/bin")
FOLDER = "tests/fuzz/disagreements"
PAGE = "docs/disagreements.md"
OTHERS = {
    "onnxruntime": "ONNX Runtime 1.30, all optimizations",
    "onnxruntime-plain": "ONNX Runtime 1.30, no optimizations",
    "mlir-linalg": "MLIR 19, linalg",
    "mlir-tosa": "MLIR 19, TOSA",
    "mlir-stablehlo": "StableHLO's interpreter",
}
SKIPPED = 77
INTRODUCTION = """# Disagreements

What other compilers and runtimes make of the same graphs. `tests/fuzz/against.py --doc` writes
this page. Random graphs ([testing.md](testing.md#random-graphs)) are optimized by the graph
passes, written as ONNX models or as MLIR, and run there; the interpreter is the reference.
A difference shrinks to a minimal graph, and each kind of difference has a graph in
`tests/fuzz/disagreements` with which is right by the specification: the test
`differential-others` runs these. Left out are graphs that the other has no form of, mostly
element kinds."""


class Disagreement:
    """A file of the folder."""

    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.fields = dict(re.findall(r"^// (\w+): (.*)$", text, re.M))
        self.graph = re.sub(r"^//.*\n", "", text, flags=re.M).strip()

    def explains(self, other, report):
        return (re.fullmatch(self.fields["on"], other) is not None and
                re.search(self.fields["says"], report.message) is not None and
                self.fields["node"] + "(" in report.graph)


class Report:
    """A difference that glowish-fuzz has shrunk."""

    def __init__(self, seed, message, graph):
        self.seed, self.message, self.graph = seed, message, graph


class Run:
    """What glowish-fuzz says of many graphs."""

    def __init__(self, other, output):
        self.other = other
        counts = re.search(r"^(\d+) graphs, (\d+) differences$", output, re.M)
        if not counts:
            sys.exit(f"{other}: no summary: {output[-1000:]}")
        self.graphs, self.differences = map(int, counts.groups())
        omitted = re.search(r"^(\d+) of \d+ programs left out", output, re.M)
        self.omitted = int(omitted[1]) if omitted else 0
        compared = re.search(r"^([\d.]+)% of (\d+) elements compared", output, re.M)
        self.elements = round(float(compared[1]) * int(compared[2]) / 100)
        self.reports = [Report(*each) for each in re.findall(
            r"^seed (\d+): (.*?)^(module .*?^}$)", output, re.M | re.S)]


def run_graphs(other, arguments):
    """None where the other is not installed."""
    command = [f"{BIN}/glowish-fuzz", f"-on={other}", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if result.returncode == SKIPPED else result.stdout


def run_random(other, options):
    output = run_graphs(other, [
        f"-seed={options.seed}", f"-count={options.count}", f"-jobs={options.jobs}",
        "-max-nodes=6", "-compiled=1", f"-max-reports={options.count}",
        "-max-checks=60"])
    return None if output is None else Run(other, output)


def check(known):
    """Whether each graph still differs as its file says."""
    wrong = ran = 0
    for each in known:
        others = [name for name in OTHERS if re.fullmatch(each.fields["on"], name)]
        output = run_graphs(others[0], [each.path])
        if output is None:
            continue
        ran += 1
        if output.endswith(": same\n") or not re.search(each.fields["says"], output):
            wrong += 1
            print(f"{each.path}: {others[0]} says: {output}")
    if not ran:
        print("skipped: none of the others is installed")
        return SKIPPED
    print(f"{ran} of {len(known)} disagreements run, {wrong} differ otherwise")
    return 1 if wrong else 0


def sort_reports(runs, known):
    """By the disagreements, how often each other differed so; and what none explains."""
    found, unexplained = {each.path: {} for each in known}, []
    for run in runs:
        for report in run.reports:
            causes = [each for each in known if each.explains(run.other, report)]
            if not causes:
                unexplained.append((run.other, report))
                continue
            counts = found[causes[0].path]
            counts[run.other] = counts.get(run.other, 0) + 1
        if len(run.reports) != run.differences:
            sys.exit(f"{run.other}: {run.differences} differences, but "
                     f"{len(run.reports)} reports")
    return found, unexplained


def read_official(path):
    """The tests that ran in ONNX Runtime, and what it says of those that failed."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    ran = [row for row in rows if row["result"] != "skipped"]
    failed = [row for row in ran if row["result"] == "failed"]
    return ran, failed


def describe_failure(reason):
    """What kind of failure: few words."""
    kinds = [("has no kernel|Failed to find kernel", "no kernel"),
             # The binding runs out of memory at those under 8 bits.
             ("in Node.js|Unsupported data type|few GCs", "no such tensors in Node.js"),
             ("are not passed|Non tensor type", "sequences and optionals are not passed"),
             ("Unrecognized attribute|is not a registered function|opset|Opset",
              "operator or opset that it does not know")]
    for pattern, kind in kinds:
        if re.search(pattern, reason):
            return kind
    return "other"


def print_official(write, path):
    ran, failed = read_official(path)
    kinds = {}
    for row in failed:
        kinds.setdefault(describe_failure(row["reason"]), []).append(row)
    write("\n## ONNX's own tests\n")
    write(f"Of {len(ran)} tests of the release 1.22.0 that are run here "
          f"([conformance.md](conformance.md)), ONNX Runtime passes {len(ran) - len(failed)}. "
          "The expected outputs are the specification's own.\n")
    write("| Failed | Tests |\n|---|---:|")
    for kind, rows in sorted(kinds.items(), key=lambda item: -len(item[1])):
        write(f"| {kind} | {len(rows)} |")
    if "other" in kinds:
        write("\nThe others:\n\n| Test | What ONNX Runtime does |\n|---|---|")
        for row in kinds["other"]:
            reason = re.sub(r"/\S*/", "", row["reason"]).replace("|", "\\|")
            write(f"| `{row['test'].split('/', 1)[1]}` | {reason[:160]} |")


def write_page(runs, known, found, options):
    lines = [INTRODUCTION, ""]
    write = lines.append
    write(f"Graphs {options.seed} to {options.seed + options.count - 1}, of at most six "
          "nodes:\n")
    write("| Other | Graphs | Left out | Elements compared | Differences |\n"
          "|---|---:|---:|---:|---:|")
    for run in runs:
        write(f"| {OTHERS[run.other]} | {run.graphs} | {run.omitted} | {run.elements} | "
              f"{run.differences} |")
    for each in known:
        write(f"\n## {each.fields['title']}\n")
        counts = found[each.path]
        times = ", ".join(f"{OTHERS[other]}: {count}" for other, count in counts.items())
        write(f"{each.fields['right']}\n")
        write(f"Found in this run: {times or 'not once'}.\n")
        write("```\n" + each.graph + "\n```")
    if options.official:
        print_official(write, options.official)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--on", action="append", choices=OTHERS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--official")
    parser.add_argument("--doc", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.doc and not options.official:
        parser.error("--doc needs --official, of which a section of the page is made")
    known = [Disagreement(path) for path in sorted(glob.glob(f"{FOLDER}/*.graph"))]
    if options.check:
        return check(known)
    runs = [run for run in (run_random(other, options) for other in options.on or OTHERS)
            if run]
    if not runs:
        print("skipped: none of the others is installed")
        return SKIPPED
    found, unexplained = sort_reports(runs, known)
    for run in runs:
        print(f"{run.other}: {run.graphs} graphs, {run.omitted} left out, "
              f"{run.elements} elements compared, {run.differences} differences")
    for each in known:
        print(f"{sum(found[each.path].values()):6} {each.fields['title']}")
    for other, report in unexplained:
        print(f"unexplained: {other}, seed {report.seed}: {report.message}{report.graph}")
    if options.doc:
        write_page(runs, known, found, options)
    print(f"{len(unexplained)} unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
