"""The checks that operators.py and operators_torch.py make, and their number."""

import os

import numpy as np

from model_runs import BACKENDS, run_local, run_tool

MOST = 64  # numbers of the operator Describe
KINDS = {np.dtype(name): number for number, name in
         [(0, "float32"), (1, "float16"), (3, "float64"), (4, "int8"), (5, "uint8"),
          (6, "int16"), (8, "int32"), (10, "int64"), (12, "bool")]}
wrong = 0
checks = 0


def check(name, problem):
    global wrong, checks
    checks += 1
    if problem:
        wrong += 1
        print(f"WRONG {name}: {problem}")


def expect_description(inputs, attributes, num_outputs):
    """What the operator Describe returns. `inputs`: arrays, None for absent ones."""
    numbers = [len(inputs), num_outputs, len(attributes)]
    for x in inputs:
        if x is None:
            numbers.append(-1)
            continue
        numbers += [KINDS[x.dtype], x.ndim, *x.shape,
                    np.frombuffer(x.tobytes(), np.uint8).sum()]
    for name, value in attributes.items():
        elements = value if isinstance(value, list) else [value]
        kind = {int: 0, bool: 0, float: 1, str: 2}[type(elements[0])] if elements else 0
        numbers += [sum(name.encode()), kind, isinstance(value, list), len(elements)]
        numbers += [sum(e.encode()) if kind == 2 else np.float32(e) if kind == 1 else e
                    for e in elements]
    return np.array(numbers + [0] * (MOST - len(numbers)), np.float64), len(numbers)


def run_both(name, path, inputs, options, work, judge):
    """`judge`: (back end, outputs): what is wrong with them."""
    for backend in BACKENDS:
        outputs, text = run_local([path], inputs, backend, os.path.join(work, "run"), options)
        check(f"{name} ({backend})", text if outputs is None else judge(backend, outputs))


def check_refusal(name, expected, code, text):
    """One line that has `expected`, and exit code 1."""
    lines = text.strip().split("\n")
    is_list = lines[0].endswith("not supported:")
    check(name, "" if code == 1 and expected in text and len(lines) == 1 + is_list
          else f"exit code {code}: {text}")


def refuse(name, expected, *command):
    check_refusal(name, expected, *run_tool(*command))


def report():
    """Prints how many checks there were. Returns the exit code."""
    print(f"{checks} checks, {wrong} wrong")
    return 1 if wrong else 0
