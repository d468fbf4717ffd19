#!/usr/bin/env python3
"""Checks the mutation tester on a small program with known mutants.

  self_test.py COMPILER PLUGIN RUNTIME_OBJECT WORK_FOLDER

The comments of sample.cpp list the mutants of its functions, other than those of its cases,
and what becomes of each: all of them must be found, and no others. Also checks that the list
of explained mutants is of lines that are there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

import mutate
import mutation_build
import mutation_report
import mutation_tests

CASES = ["lists", "ranges", "numbers", "clamps"]
FOLDER = "lib/IR"


class SampleRunner(mutation_tests.Runner):
    """Runs cases of the sample."""

    def command(self, names):
        return [f"{self.work}/sample", names[0].split(":")[1]]

    def list_single_tests(self):
        return [f"sample:{case}" for case in CASES]

    def write_lit_site(self):
        pass


def compile_sample(compiler, plugin, runtime, work):
    """The sample with its mutants, and the text of the tables."""
    root = f"{work}/root"
    os.makedirs(f"{root}/{FOLDER}", exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    objects, tables = [], []
    for name in ("sample.h", "sample.cpp", "sample_other.cpp"):
        shutil.copy(f"{here}/{name}", f"{root}/{FOLDER}")
    for name in ("sample.cpp", "sample_other.cpp"):
        output = f"{work}/{name}.o"
        result = mutation_build.compile_object(
            f"{compiler} -std=c++20 -O2 -fno-exceptions -o X -c {root}/{FOLDER}/{name}",
            root, output, f"{output}.tsv", root, plugin)
        if result.returncode != 0:
            raise SystemExit(f"self_test.py: {name} does not compile:\n{result.stderr}")
        objects.append(output)
        with open(f"{output}.tsv", encoding="utf-8") as file:
            tables.append(file.read())
    subprocess.run([compiler, *objects, runtime, "-o", f"{work}/sample"], check=True)
    return root, tables


def read_expected(root):
    """By file, line, kind and change: the state."""
    expected = {}
    for name in ("sample.h", "sample.cpp"):
        pending = []
        with open(f"{root}/{FOLDER}/{name}", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                match = re.fullmatch(r"\s*// expect (\w+) \((.*)\): (.+)\n", line)
                if match:
                    pending.append(match.groups())
                elif pending:
                    for kind, detail, state in pending:
                        expected[f"{FOLDER}/{name}", number, kind, detail] = state
                    pending = []
    return expected


def find_states(session):
    """What became of the mutants of the sample, and how they were killed."""
    states, ways = {}, set()
    for identity, result in session.read_results().items():
        mutant = session.mutants[identity]
        state = mutation_report.state_of(session, mutant, result)
        ways.add(result.get("how"))
        if not re.match("main|.*::test", mutant.function):
            states[mutant.file, mutant.line, mutant.kind, mutant.detail] = state
    return states, ways


def check_list():
    """The list of explained mutants, and that wrong lines of it are found."""
    failures = mutation_report.check_explained(mutate.ROOT)
    if mutation_report.ENTRY.fullmatch("lib/IR/IR.cpp: `return x;`: bound: a reason"):
        failures.append("an explanation without its change was accepted")
    entry = mutation_report.ENTRY.fullmatch(
        "lib/IR/IR.cpp: `f(a); // `b`: c`: constant (f argument 0: 1 -> 2) at 3: a reason: b")
    if not entry or entry.groups() != ("lib/IR/IR.cpp", "f(a); // `b`: c", "constant",
                                       "f argument 0: 1 -> 2", "3", "a reason: b"):
        failures.append("an explanation was read wrongly")
    return failures


def main():
    if len(sys.argv) != 5 or not os.path.exists(sys.argv[2]):
        print("skipped: the compiler is not Clang of the version of LLVM")
        return 77
    compiler, plugin, runtime, work = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    root, tables = compile_sample(compiler, plugin, runtime, work)
    failures = check_list()
    if compile_sample(compiler, plugin, runtime, work)[1] != tables:
        failures.append("mutants have other ids when they are compiled again")

    options = argparse.Namespace(
        build=work, work=work, groups="sample", jobs=2, seed=1, count=1000, mutants=None,
        survivors=False, minutes=None, budget=60, limit=1, file=None, doc=False)
    session = mutate.Session(options)
    session.runner = SampleRunner(work, work, root)
    session.cover()
    session.run()
    expected, (states, ways) = read_expected(root), find_states(session)
    for place in sorted(expected.keys() | states.keys()):
        if expected.get(place) != states.get(place):
            file, line, kind, detail = place
            failures.append(f"{file}:{line}: {kind} ({detail}): {states.get(place)}, not "
                            f"{expected.get(place)}")
    if not {"failed", "crash", "time limit"} <= ways:
        failures.append(f"mutants were killed in these ways alone: {ways}")
    before = os.path.getsize(session.results_path)
    mutate.Session(options).run()
    if os.path.getsize(session.results_path) != before:
        failures.append("mutants were run again that had results")
    mutation_report.report(session, root, mutate.ROOT)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
