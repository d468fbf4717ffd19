#!/usr/bin/env python3
"""Mutation testing of the compiler: small changes of its code that a test must find.

  mutate.py build    compiles libglowish with all mutants in it
  mutate.py cover    runs the tests once, and records which mutants each one reaches
  mutate.py run      runs a sample of mutants, each with the tests that reach it
  mutate.py report   prints tables, and mutants that survived; -doc writes them into
                     docs/mutation.md
  mutate.py list     prints the mutants of a file

All need a build folder (-build) of the project with its test programs, and keep what they
make in -work. docs/mutation.md describes them.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutation_build
import mutation_report
import mutation_tests

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# So many tests run alone, before the others run together.
ALONE = 5


class Session:
    """The mutants, tests and results in a folder."""

    def __init__(self, options):
        self.options = options
        self.runner = mutation_tests.Runner(options.build, options.work, ROOT)
        self.mutants, self.units = mutation_build.read_mutants(options.work)
        self.results_path = f"{options.work}/results.jsonl"
        self.executed_path = f"{options.work}/executed.txt"
        self.executed = set()
        if os.path.exists(self.executed_path):
            with open(self.executed_path, encoding="utf-8") as file:
                self.executed = set(file.read().split())
        self.lock = threading.Lock()
        # By file and test: the mutants that were killed, and those that are reached.
        self.kills, self.reached = collections.Counter(), collections.Counter()

    def read_results(self):
        """The last result of each mutant."""
        results = {}
        if os.path.exists(self.results_path):
            with open(self.results_path, encoding="utf-8") as file:
                for line in file:
                    result = json.loads(line)
                    results[result["id"]] = result
        return results

    # ---- Coverage -----------------------------------------------------------

    def cover(self):
        """Records what tests reach; those that were recorded are kept."""
        path = f"{self.options.work}/tests.jsonl"
        known = mutation_tests.read_tests(path)
        groups = {mutation_tests.group_of(test.name) for test in known}
        names = {test.name for test in known}
        self.runner.write_lit_site()
        wanted = self.options.groups.split(",")

        def record(task):
            tests, executed = task()
            with self.lock:
                mutation_tests.write_tests(path, tests)
                self.executed |= executed
                with open(self.executed_path, "w", encoding="utf-8") as file:
                    file.write("\n".join(sorted(self.executed)))
                for test in tests[:1]:
                    print(f"{test.name} ...: {len(tests)}, {sum(t.seconds for t in tests):.1f} s",
                          flush=True)

        def record_single(name):
            tests, executed = self.runner.record_single(name, self.units)
            if not tests:
                print(f"{name}: skipped or failed", flush=True)
            return tests, executed

        tasks = []
        for program in mutation_tests.PROGRAMS:
            if program in wanted and program not in groups:
                tasks.append(lambda program=program: self.runner.record_program(
                    program, self.options.listener, self.units))
        for name in self.runner.list_single_tests():
            if mutation_tests.group_of(name) in wanted and name not in names:
                tasks.append(lambda name=name: record_single(name))
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(record, tasks))

    # ---- Runs ---------------------------------------------------------------

    def sample(self):
        """Mutants by chance, of each layer in proportion to the root of how many it has,
        so that small layers have enough to tell. A larger sample has all of a smaller one."""
        layers = collections.defaultdict(list)
        for mutant in sorted(self.mutants.values(), key=lambda each: each.id):
            layers[mutant.layer].append(mutant)
        total = sum(len(each) ** 0.5 for each in layers.values())
        chosen = []
        for layer in sorted(layers):
            share = round(self.options.count * len(layers[layer]) ** 0.5 / total)
            random.Random(f"{self.options.seed} {layer}").shuffle(layers[layer])
            chosen += layers[layer][:share]
        random.Random(self.options.seed).shuffle(chosen)
        return chosen

    def kill(self, mutant, tests):
        """Runs a mutant with tests that reach it until one fails."""
        spent, count = 0.0, 0
        result = {"id": mutant.id, "reached": len(tests), "killed": False}

        def attempt(group):
            nonlocal spent, count
            seconds = sum(test.seconds for test in group)
            outcome = self.runner.run_tests([test.name for test in group], mutant.id,
                                            self.options.limit + 5 * seconds)
            spent += outcome.seconds
            count += len(group)
            if outcome.killed:
                result.update(killed=True, how=outcome.how,
                              by=group[0].name if len(group) == 1
                              else mutation_tests.group_of(group[0].name))
                if len(group) == 1:
                    with self.lock:
                        self.kills[mutant.file, group[0].name] += 1
            return outcome.killed

        def cost(test):
            """Low for quick tests, those that killed mutants of the same file, and those
            that reach little else than this file, as tests of one pass."""
            return (test.seconds * len(test.mutants) / self.reached[mutant.file, test.name] /
                    (1 + self.kills[mutant.file, test.name]), test.name)

        with self.lock:
            order = sorted(tests, key=cost)
        if not any(attempt([test]) for test in order[:ALONE]):
            rest, budget = collections.defaultdict(list), self.options.budget
            for test in order[ALONE:]:
                if test.seconds < budget:
                    budget -= test.seconds
                    rest[mutation_tests.group_of(test.name)].append(test)
            groups = []
            for group, members in rest.items():
                groups += ([members] if group in mutation_tests.JOINED_GROUPS
                           else [[each] for each in members])
            groups.sort(key=lambda group: sum(test.seconds for test in group))
            any(attempt(group) for group in groups)
        result.update(tests=count, seconds=round(spent, 2))
        return result

    def run(self):
        """Runs the sample; mutants that have results are skipped."""
        reaching = collections.defaultdict(list)
        for test in mutation_tests.read_tests(f"{self.options.work}/tests.jsonl"):
            for identity in test.mutants:
                if identity in self.mutants:
                    reaching[identity].append(test)
                    self.reached[self.mutants[identity].file, test.name] += 1
        done = self.read_results()
        chosen = self.sample()
        if self.options.mutants:
            chosen = [self.mutants[each] for each in self.options.mutants.split(",")]
        if self.options.survivors:
            done = {key: value for key, value in done.items() if value["killed"]}
        for result in done.values():
            if result["killed"] and ":" in result["by"] and result["id"] in self.mutants:
                self.kills[self.mutants[result["id"]].file, result["by"]] += 1
        begin = time.monotonic()
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"],
                                capture_output=True, text=True, check=False).stdout.strip()

        def run_one(mutant):
            if mutant.id in done or (self.options.minutes and
                                     time.monotonic() - begin > 60 * self.options.minutes):
                return
            result = self.kill(mutant, reaching[mutant.id])
            result.update(seed=self.options.seed, commit=commit)
            with self.lock, open(self.results_path, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(run_one, chosen))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["build", "cover", "run", "report", "list"])
    parser.add_argument("-build", default=f"{ROOT}/build/release")
    parser.add_argument("-work", default=f"{ROOT}/build/mutation")
    parser.add_argument("-plugin", help="the plugin; default: that of the build folder")
    parser.add_argument("-runtime", help="MutationRuntime's object")
    parser.add_argument("-listener", help="MutationListener's object")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count())
    parser.add_argument("-keep", action="store_true", help="keep objects that are there")
    groups = [*mutation_tests.PROGRAMS, *mutation_tests.SINGLE_GROUPS]
    parser.add_argument("-groups", default=",".join(groups),
                        help="tests to record; default: " + ", ".join(groups))
    parser.add_argument("-seed", type=int, default=1, help="of the sample")
    parser.add_argument("-count", type=int, default=1000, help="how many mutants")
    parser.add_argument("-mutants", help="run these ids instead, with commas")
    parser.add_argument("-survivors", action="store_true",
                        help="run again what survived before")
    parser.add_argument("-minutes", type=float, help="begin no mutant after so long")
    parser.add_argument("-budget", type=float, default=60,
                        help="seconds of tests for a mutant that survives")
    parser.add_argument("-limit", type=float, default=5,
                        help="seconds of processor time that tests may take beyond five times "
                             "those without a mutant")
    parser.add_argument("-doc", action="store_true", help="write docs/mutation.md")
    parser.add_argument("-file", help="report and list: of files that have this in their path")
    options = parser.parse_args()
    tools = f"{options.build}/tests/mutation"
    options.plugin = options.plugin or f"{tools}/glowish-mutation.so"
    for name in ("runtime", "listener"):
        if not getattr(options, name):
            setattr(options, name, f"{tools}/CMakeFiles/glowish-mutation-{name}.dir/"
                                   f"Mutation{name.capitalize()}.cpp.o")
    if options.command == "build":
        subprocess.run(["ninja", "-C", options.build, "glowish-mutation-tools"], check=True)
        mutation_build.build(options.build, os.path.abspath(options.work), ROOT,
                             os.path.abspath(options.plugin),
                             os.path.abspath(options.runtime), options.jobs, options.keep)
        return 0
    session = Session(options)
    if options.command == "cover":
        session.cover()
    elif options.command == "run":
        session.run()
    elif options.command == "list":
        for mutant in session.mutants.values():
            if not options.file or options.file in mutant.file:
                print(mutation_report.describe(mutant))
    else:
        return mutation_report.report(session, ROOT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
