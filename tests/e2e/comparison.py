"""Compares the outputs of a model with what they must be, and keeps what is wrong.

All tests that run models compare here, so that one that fails leaves an archive
(archives.py). To be imported by a script whose current folder is the project's.
"""

from dataclasses import dataclass

import numpy as np

import archives
from model_runs import legal


@dataclass
class Tolerance:
    """How far the elements of an output may be from the expected ones: the sum of
    what each field allows. Infinities and NaNs are the same."""
    # Of the output's largest finite magnitude, or of `smallest` if that is larger.
    of_largest: float = 0
    smallest: float = 1e-30
    # Of the element's own magnitude.
    relative: float = 0
    absolute: float = 0
    # Whether it is that of integers, too, which are the same otherwise.
    for_integers: bool = False

    def get_limits(self, expected):
        """What model-runner calls -rtol and -atol, for an output."""
        expected = np.asarray(expected)
        if not self.for_integers and not is_float(expected):
            return 0.0, 0.0
        finite = np.abs(expected[np.isfinite(expected)].astype(np.float64))
        largest = np.max(finite, initial=self.smallest)
        return float(self.relative), float(self.absolute + self.of_largest * largest)


EXACT = Tolerance()


def is_float(array):
    return np.issubdtype(array.dtype, np.floating)


def describe_difference(actual, expected, tolerance):
    """How an output differs; empty if it doesn't."""
    expected = np.asarray(expected)
    if (actual.dtype, actual.shape) != (expected.dtype, expected.shape):
        return (f"{actual.dtype}{list(actual.shape)}, "
                f"not {expected.dtype}{list(expected.shape)}")
    wrong = actual != expected
    relative, absolute = tolerance.get_limits(expected)
    if is_float(expected) or absolute or relative:
        a, b = actual.astype(np.float64), expected.astype(np.float64)
        finite = np.isfinite(a) & np.isfinite(b)
        with np.errstate(invalid="ignore"):
            near = finite & (np.abs(a - b) <= absolute + relative * np.abs(b))
        wrong &= ~near & ~(np.isnan(a) & np.isnan(b))
    if not np.any(wrong):
        return ""
    a, b = np.asarray(actual)[wrong], expected[wrong]
    with np.errstate(invalid="ignore"):
        errors = np.abs(a.astype(np.float64) - b.astype(np.float64))
    worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    place = [int(i) for i in np.argwhere(wrong)[worst]]
    return (f"error {errors[worst]:.3g} at {place}: {a[worst]}, not {b[worst]}; "
            f"{np.count_nonzero(wrong)} of {wrong.size} elements")


def check_outputs(outputs, expected, tolerance=EXACT, keeps=True):
    """What is wrong with the outputs of a run; empty if nothing is. Then it names the archive
    that has been made of it, unless not `keeps`: where the test expects a difference.
    `outputs`: of run_model() or run_local(); `expected`: by the model's names."""
    problems = {}
    for name, value in expected.items():
        actual = outputs.get(legal(name))
        problem = (f"there is no such output, but {sorted(outputs)}" if actual is None
                   else describe_difference(actual, value, tolerance))
        if problem:
            problems[name] = problem
    return report(outputs, expected, problems, tolerance, keeps)


def report(outputs, expected, problems, tolerance=EXACT, keeps=True):
    """The same where the test has found what is wrong itself: `problems` by the names of
    outputs. The archive's command compares with `tolerance`."""
    if not problems:
        return ""
    text = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
    if not keeps:
        return text
    limits = {name: tolerance.get_limits(expected[name]) for name in problems}
    return text + archives.keep(outputs, expected, problems, limits)


class Report:
    """Counts what is right, and prints what is not."""

    def __init__(self):
        self.passed, self.failed = 0, []

    def add(self, name, problem):
        if not problem:
            self.passed += 1
            return
        self.failed.append(name)
        print(f"{name}: {problem}")

    def finish(self):
        """Prints how many there are; the exit code."""
        print(f"{self.passed} checks passed, {len(self.failed)} failed")
        return 1 if self.failed else 0
