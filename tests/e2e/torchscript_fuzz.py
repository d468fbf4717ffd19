#!/usr/bin/python3
"""torchscript_fuzz.py [COUNT [FIRST]] [--show]: random modules whose tensors share
memory.

COUNT modules (200; alias_programs.py), from seed FIRST (0) on, are scripted and
called three times, in Python and on the interpreter, each tenth on the CPU back
end, too: outputs must be Python's, or the module is refused in one line. PyTorch
drops some writes as it loads an archive; then its own outputs decide. Prints what
is wrong with its program, and how many were refused; exits 1 if one is wrong or a
fifth is refused, and 77 without PyTorch. --show: prints the programs.

$GLOWISH_BIN: the programs (default build/release/bin)."""

import argparse
import collections
import linecache
import os
import re
import subprocess
import sys
import tempfile

from pytorch_or_skip import torch
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Tolerance, describe_difference  # noqa: E402
from model_runs import BIN, glowish  # noqa: E402
import alias_programs  # noqa: E402

CALLS = 3
TOLERANCE = Tolerance(relative=1e-4, absolute=1e-4)
TYPES = ["x,float,[3,4]", "p,bool,[]", "q,bool,[]", "i,int64,[]", "n,int64,[]"]


def make_module(source, name):
    """The module of a program's source, which PyTorch wants to read again when it
    is scripted."""
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    scope = {"__name__": "programs"}
    exec(compile(source, name, "exec"), scope)
    return scope["Program"]()


def make_inputs(seed):
    """The inputs of each call."""
    random = np.random.default_rng(seed)
    return [{"x": random.normal(size=(3, 4)).astype(np.float32),
             "p": np.array(random.integers(2) == 1),
             "q": np.array(random.integers(2) == 1),
             "i": np.array(random.integers(3), np.int64),
             "n": np.array(random.integers(4), np.int64)} for _ in range(CALLS)]


def run_pytorch(module, calls):
    expected = []
    with torch.no_grad():
        for inputs in calls:
            tensors = [torch.from_numpy(value.copy()) for value in inputs.values()]
            expected.append([value.clone().numpy() for value in module(*tensors)])
    return expected


def run(path, backend, calls):
    model = glowish.load(path, backend=backend, model_input=TYPES,
                         max_trip_count=3)
    outputs = []
    for inputs in calls:
        results = model.run(inputs)
        outputs.append([results[f"output.{k}"].copy() for k in range(len(
            [name for name in results if name.startswith("output.")]))])
    return outputs


def find_difference(actual, expected):
    for call, (outputs, values) in enumerate(zip(actual, expected)):
        if len(outputs) != len(values):
            return f"call {call}: {len(outputs)} outputs, not {len(values)}"
        for k, (own, value) in enumerate(zip(outputs, values)):
            problem = describe_difference(own, value, TOLERANCE)
            if problem:
                return f"call {call}, output {k}: {problem}\n{own}\nnot\n{value}"
    return ""


def check(seed, folder):
    """What became of a program, and why: 'right', 'wrong', 'refused', or 'none'
    where PyTorch has no values."""
    source = alias_programs.generate(seed)
    calls = make_inputs(seed)
    try:
        module = make_module(source, f"program_{seed}.py")
        path = os.path.join(folder, "program.pt")
        torch.jit.script(module).save(path)
        # As Python executes it: TorchScript's own optimizations can be wrong.
        expected = run_pytorch(module, calls)
    except (RuntimeError, torch.jit.frontend.FrontendError) as error:
        return "none", str(error).strip().splitlines()[-1]
    if not all(np.isfinite(value).all() for values in expected for value in values):
        return "none", "not finite"
    for backend in ["Interpreter", "CPU"] if seed % 10 == 0 else ["Interpreter"]:
        try:
            actual = run(path, backend, calls)
        except glowish.Error as error:
            lines = str(error).strip().splitlines()
            is_told = len(lines) == 1 and "internal: " not in lines[0]
            return ("refused" if is_told else "wrong"), lines[0]
        problem = find_difference(actual, expected)
        if problem and not find_difference(
                actual, run_pytorch(torch.jit.load(path), calls)):
            return "none", "PyTorch loads another program than it saves"
        if problem:
            return "wrong", f"{backend}: {problem}"
    return "right", ""


def check_range(first, end):
    """Checks programs and prints a line for each."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            print("begin", seed, flush=True)
            result, text = check(seed, folder)
            print(result, seed, text.replace("\n", "\t"), flush=True)


def run_ranges(first, end):
    """The lines of check_range(), whose process may die of a program."""
    while first < end:
        process = subprocess.run(
            [sys.executable, __file__, "--range", str(first), str(end)],
            stdout=subprocess.PIPE, text=True, check=False)
        begun = first
        for line in process.stdout.splitlines():
            kind, seed, *_ = line.split(" ", 2)
            begun = int(seed)
            if kind != "begin":
                yield line
        if process.returncode == 0:
            return
        yield f"wrong {begun} exit code {process.returncode}"
        first = begun + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--range", type=int, nargs=2)
    arguments = parser.parse_args()
    if glowish is None or not os.path.exists(
            os.path.join(BIN, "../lib/glowish/libglowish-torch.so")):
        print("skipped: this build does not read TorchScript, or has no Python "
              "module (Debian: libtorch-dev, pybind11-dev)")
        return 77
    if arguments.range:
        check_range(*arguments.range)
        return 0
    counts, reasons = collections.Counter(), collections.Counter()
    step = 500
    for first in range(arguments.first, arguments.first + arguments.count, step):
        end = min(first + step, arguments.first + arguments.count)
        for line in run_ranges(first, end):
            result, seed, text = (line + " ").split(" ", 2)
            counts[result] += 1
            if result == "wrong" or arguments.show:
                print(alias_programs.generate(int(seed)))
                print(result, seed, text.strip().replace("\t", "\n"), flush=True)
            elif result == "refused":
                reasons[re.sub(r"^.*?\): ", "", text.strip())[:100]] += 1
    tried = sum(counts.values()) - counts["none"]
    print(f"{tried} programs: {counts['right']} right, {counts['wrong']} wrong, "
          f"{counts['refused']} refused; of {counts['none']} PyTorch has no values")
    for reason, number in reasons.most_common(12):
        print(f"  {number} {reason}")
    return int(counts["wrong"] > 0 or counts["refused"] * 5 > tried)


if __name__ == "__main__":
    sys.exit(main())
