"""The tests that mutants are run with: which there are, what they reach, and runs."""

import collections
import glob
import json
import os
import re
import resource
import shlex
import signal
import struct
import subprocess
import time

# The programs of tests/unit whose cases are tests.
PROGRAMS = ["IR", "Ops", "Optimizer", "Backends", "Driver", "Importer", "Exporter", "Autodiff"]
# Random graphs: so many a test, of this machine and of others in an emulator.
FUZZ_TESTS, FUZZ_GRAPHS = 40, 10
MACHINES, MACHINE_TESTS = ["aarch64", "riscv64", "cortex-m4", "cortex-m55", "wasm-simd"], 6
# The groups of tests that are processes of their own.
SINGLE_GROUPS = ["lit", "fuzz", "ranges", *(f"fuzz-{each}" for each in MACHINES), "onnx",
                 "amx", "llvm-ir", "proofs"]
# Those that can run in one process with others of their group.
JOINED_GROUPS = [*PROGRAMS, "lit", "onnx"]
# ONNX's own tests: a test has all whose names begin with the same word.
ONNX_TESTS = "onnx-backend/v1.22.0/node"
INDEX_BYTES = 1 << 16
# A mutant that allocates without an end is killed.
MEMORY_BYTES = 6 << 30

# In a command: the folder in which it runs.
FOLDER = "%FOLDER%"

Test = collections.namedtuple("Test", "name seconds mutants")
Outcome = collections.namedtuple("Outcome", "killed how seconds")


class Runner:
    """Runs tests with the library of mutants."""

    def __init__(self, build, work, root):
        self.build, self.work, self.root = map(os.path.abspath, (build, work, root))

    def command(self, names):
        """The command that runs tests, which are all of one group."""
        group = names[0].split(":")[0]
        cases = [name.split(":", 1)[1] for name in names]
        if group == "lit":
            return [*self.lit(), "-q", "--max-failures=1",
                    *(f"{self.work}/lit/{case}" for case in cases)]
        if group == "onnx":
            return [f"{self.build}/bin/onnx-backend-test", f"-suite={self.data()}/onnx-backend",
                    f"-filter=^v1.22.0/node/test_({'|'.join(cases)})(_|$)",
                    "-backend=Interpreter", "-backend=CPU", "-j=1",
                    f"-expected-failures={self.root}/tests/conformance/expected-failures.txt"]
        assert group in PROGRAMS or len(names) == 1
        if group.startswith("fuzz") or group == "ranges":
            _, _, machine = group.partition("-")
            extra = ["-ranges"] if group == "ranges" else [f"-on={machine}"] if machine else []
            return [f"{self.build}/bin/glowish-fuzz", f"-seed={1 + FUZZ_GRAPHS * int(cases[0])}",
                    f"-count={FUZZ_GRAPHS}", "-max-nodes=6", "-compiled=1", "-jobs=1",
                    "-max-reports=0", *extra]
        if group == "amx":
            return [f"{self.root}/tests/e2e/amx.py", f"--work={FOLDER}", cases[0]]
        if group == "llvm-ir":
            target, network = cases[0].split("/")
            return [f"{self.root}/tests/irinterp/run.py", f"--work={FOLDER}",
                    f"--target={target}", f"--network={network}"]
        if group == "proofs":
            return [f"{self.build}/bin/glowish-prove", f"-pass={cases[0]}"]
        return [f"{self.build}/bin/glowish-{group}-test", "--gtest_fail_fast",
                "--gtest_filter=" + ":".join(cases)]

    def data(self):
        """The folder of the test data."""
        return os.path.join(self.root, os.environ.get("GLOWISH_TEST_DATA", "../shared/data"))

    @staticmethod
    def lit():
        """lit's program."""
        path = "/usr/lib/llvm-19/build/utils/lit/lit.py"
        return ["/usr/bin/python3", path, "-j1"]

    def write_lit_site(self):
        """A configuration of lit whose tests are run with the library of mutants."""
        os.makedirs(f"{self.work}/lit", exist_ok=True)
        with open(f"{self.build}/tests/lit/lit.site.cfg.py", encoding="utf-8") as file:
            site = file.read()
        site += """
for name in os.environ:
    if name.startswith("GLOWISH_MUTA") or name in ("LD_LIBRARY_PATH", "TMPDIR"):
        config.environment[name] = os.environ[name]
config.test_exec_root = os.environ["TMPDIR"]
"""
        with open(f"{self.work}/lit/lit.site.cfg.py", "w", encoding="utf-8") as file:
            file.write(site)

    def run(self, command, environment, seconds):
        """Runs a command in an empty folder of its own. More than `seconds` of processor
        time, or ten times that of time, is a failure."""
        folder = f"{self.work}/run/{os.getpid()}-{time.monotonic_ns()}"
        os.makedirs(folder)
        command = [each.replace(FOLDER, folder) for each in command]
        environment = dict(os.environ, LD_LIBRARY_PATH=f"{self.work}/lib", TMPDIR=folder,
                           GLOWISH_BIN=f"{self.build}/bin", **environment)

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(f"{folder}.out", "wb") as out:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=subprocess.STDOUT, preexec_fn=limit, start_new_session=True)
            deadline = time.monotonic() + 20 + 10 * seconds
            ended = 0
            while not ended and time.monotonic() < deadline:
                time.sleep(0.01)
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            if not ended:
                _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime
        how = "passed"
        if not ended or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            how = "time limit"
        elif process.returncode < 0:
            how = "crash"
        elif process.returncode > 0:
            how = "failed"
        subprocess.run(["rm", "-rf", folder, f"{folder}.out"], check=False)
        return Outcome(how != "passed", how, spent)

    def run_tests(self, names, mutant, seconds):
        """Runs tests of one group with a mutant."""
        return self.run(self.command(names), {"GLOWISH_MUTANT": mutant}, seconds)

    # ---- Coverage -----------------------------------------------------------

    @staticmethod
    def read_coverage(path, units):
        """The ids of the mutants that a file of the coverage has: those that would have made
        a difference, and those that were executed."""
        with open(path, "rb") as file:
            data = file.read()
        differing, executed = set(), set()
        for k in range(0, INDEX_BYTES, 24):
            unit, begin, count = struct.unpack_from("<QQQ", data, k)
            if count == 0:
                break
            for identity, state in zip(units[unit], data[begin:begin + count]):
                if state & 1:
                    differing.add(identity)
                if state & 2:
                    executed.add(identity)
        return differing, executed

    def list_single_tests(self):
        """The tests of SINGLE_GROUPS."""
        lit = f"{self.root}/tests/lit"
        for path in sorted(glob.glob(f"{lit}/**/*.test", recursive=True)):
            yield "lit:" + os.path.relpath(path, lit)
        for number in range(FUZZ_TESTS):
            yield f"fuzz:{number}"
            if number % 4 == 0:
                yield f"ranges:{number}"
        for machine in MACHINES:
            for number in range(MACHINE_TESTS):
                yield f"fuzz-{machine}:{number}"
        folders = glob.glob(f"{self.data()}/{ONNX_TESTS}/test_*")
        for word in sorted({os.path.basename(path).split("_")[1] for path in folders}):
            yield f"onnx:{word}"
        for check in ("bytes", "bfloat16", "slices", "gradients"):
            yield f"amx:{check}"
        listed = subprocess.run([f"{self.root}/tests/irinterp/run.py", "--list"], check=True,
                                capture_output=True, text=True).stdout
        yield from ("llvm-ir:" + line for line in listed.split())
        for path in sorted(glob.glob(f"{self.root}/tests/proofs/rules/*.cases")):
            yield "proofs:" + os.path.basename(path).removesuffix(".cases")

    def record_single(self, name, units):
        """Runs a test and records what it reaches: no test where it fails or is skipped,
        and what it executes."""
        path = f"{self.work}/coverage-{os.getpid()}-{time.monotonic_ns()}"
        result = self.run(self.command([name]), {"GLOWISH_MUTATION_COVERAGE": path}, 300)
        if result.killed or not os.path.exists(path):
            return [], set()
        differing, executed = self.read_coverage(path, units)
        os.remove(path)
        return [Test(name, result.seconds, sorted(differing))], executed

    def link_listener(self, program, listener):
        """The program of tests with the listener, which tells its cases apart."""
        target = f"bin/glowish-{program}-test"
        listing = subprocess.run(["ninja", "-C", self.build, "-t", "commands", target],
                                 check=True, capture_output=True, text=True).stdout
        line = next(each for each in listing.splitlines() if f" -o {target} " in each)
        words = shlex.split(line)
        words = words[words.index("&&") + 1:]
        words = words[:words.index("&&")]
        output = f"{self.work}/bin/glowish-{program}-test"
        os.makedirs(f"{self.work}/bin", exist_ok=True)
        words[words.index("-o") + 1] = output
        subprocess.run([*words, listener, "-ldl"], cwd=self.build, check=True)
        return output

    def record_program(self, program, listener, units):
        """What each case of a program of tests reaches, and what all execute."""
        path = f"{self.work}/coverage-{program}"
        for each in (path, f"{path}.tests"):
            if os.path.exists(each):
                os.remove(each)
        self.run([self.link_listener(program, listener)], {"GLOWISH_MUTATION_COVERAGE": path},
                 3000)
        tests = []
        with open(f"{path}.tests", encoding="utf-8") as file:
            for line in file:
                name, seconds, *reached = line.rstrip("\n").split("\t")
                tests.append(Test(f"{program}:{name}", float(seconds) + 0.1,
                                  reached))
        return tests, self.read_coverage(path, units)[1]


def write_tests(path, tests):
    """Appends tests and what they reach to a file."""
    with open(path, "a", encoding="utf-8") as file:
        for test in tests:
            file.write(json.dumps(test._asdict()) + "\n")


def read_tests(path):
    """The tests of write_tests."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [Test(**json.loads(line)) for line in file]


def group_of(name):
    """What can run in one process with a test."""
    return re.match("[^:]*", name)[0]
