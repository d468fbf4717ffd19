#!/usr/bin/python3
"""onnx_backend.py [--share N] [--verbose]: runs ONNX's own tests by its own runner,
onnx.backend.test, on glowish.backend, and compares by name what passes with what the
test `conformance-debian` passes. With --share N, each N-th of the tests.

What that passes must pass here. Of outputs that random numbers decide, both compare what
is not random: the files have those of NumPy's generator.
"""
import argparse
import os
import subprocess
import sys
import time
import unittest
import warnings

import numpy as np

# ONNX 1.12's runner has this name of NumPy before 1.24.
np.object = object

import onnx.backend.test  # noqa: E402

import glowish.backend  # noqa: E402
import models  # noqa: E402


def check_bernoulli(outputs, inputs):
    np.testing.assert_array_equal(np.isin(outputs[0], (0, 1)), True)


def check_dropout(outputs, inputs):
    ratio = float(inputs[1]) if len(inputs) > 1 else 0.5
    kept = outputs[0] != 0
    np.testing.assert_allclose(outputs[0], kept * (inputs[0] / (1 - ratio)), rtol=1e-3)
    if len(outputs) > 1:
        np.testing.assert_array_equal(outputs[1], kept)


# What random outputs of tests are checked by.
RANDOM = {"test_bernoulli": check_bernoulli, "test_training_dropout": check_dropout}


class Backend(glowish.backend.GlowishBackend):
    """Tells the runner what it ran last."""
    inputs = None

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        prepared = super().prepare(model, device, **kwargs)
        run = prepared.run

        def run_and_tell(inputs, **kwargs):
            cls.inputs = inputs
            return run(inputs, **kwargs)

        prepared.run = run_and_tell
        return prepared


class Runner(onnx.backend.test.BackendTest):
    """Compares what random numbers decide with what it may be."""
    check = None

    @classmethod
    def assert_similar_outputs(cls, ref_outputs, outputs, rtol, atol):
        if cls.check is None:
            super().assert_similar_outputs(ref_outputs, outputs, rtol, atol)
            return
        for output, reference in zip(outputs, ref_outputs, strict=True):
            np.testing.assert_equal((output.dtype, output.shape),
                                    (reference.dtype, reference.shape))
        cls.check(outputs, Backend.inputs)

    @classmethod
    def expect(cls, name):
        """Says which test is next."""
        check = next((check for prefix, check in RANDOM.items()
                      if name.startswith(prefix)), None)
        cls.check = check and staticmethod(check)


def takes_tensors(model):
    """Whether no input is a sequence or an optional: a program takes tensors."""
    return not os.path.exists(model) or all(
        value.type.HasField("tensor_type")
        for value in onnx.load(model, load_external_data=False).graph.input)


def list_expected():
    """The names of the tests that conformance-debian passes, and that take tensors."""
    suite = "/usr/share/libonnx-testdata/data"
    program = os.path.join(os.environ.get("GLOWISH_BIN", models.ROOT +
                                          "/build/release/bin"), "onnx-backend-test")
    listed = subprocess.run([program, f"-suite={suite}", "-backend=CPU", "-list-tests"],
                            capture_output=True, text=True, check=True).stdout.split()
    failing = set()
    with open(models.ROOT + "/tests/conformance/expected-failures-debian.txt",
              encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                failing.add(line.split()[0])
    return {name for name in listed if name not in failing
            and takes_tensors(os.path.join(suite, name, "model.onnx"))}


class Recorder(unittest.TestResult):
    """Keeps what became of each test."""

    def __init__(self):
        super().__init__()
        self.outcomes = {}

    def _set(self, test, outcome):
        self.outcomes[test.id().rsplit(".", 1)[1]] = outcome

    def addSuccess(self, test):
        self._set(test, "passed")

    def addSkip(self, test, reason):
        self._set(test, f"skipped: {reason}")

    def _add_problem(self, test, error):
        text = str(error[1]).strip().splitlines() or [error[0].__name__]
        self._set(test, "failed: " + " ".join(text[:6])[:200])

    addFailure = addError = _add_problem


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if not os.path.isdir(onnx.backend.test.loader.DATA_DIR):
        print("skipped: no tests of ONNX's (the package libonnx-testdata)")
        return 77
    warnings.simplefilter("ignore")
    expected = list_expected()
    start = time.time()
    # Models that would be downloaded are no tests here.
    runner = Runner(Backend, __name__)
    kinds = {"Node": "node", "Simple": "simple", "PyTorchConverted": "pytorch-converted",
             "PyTorchOperator": "pytorch-operator"}
    recorder, names = Recorder(), {}
    for case_name, case in sorted(runner.test_cases.items()):
        kind = kinds.get(case_name[len("OnnxBackend"):-len("ModelTest")])
        if kind is None:
            continue
        tests = [test for test in unittest.defaultTestLoader.loadTestsFromTestCase(case)
                 if test.id().endswith("_cpu")]
        for test in tests[::arguments.share]:
            name = test.id().rsplit(".", 1)[1]
            names[name] = f"{kind}/{name[:-len('_cpu')]}"
            Runner.expect(name)
            test.run(recorder)
    outcomes = {names[name]: outcome for name, outcome in recorder.outcomes.items()}
    passed = {name for name, outcome in outcomes.items() if outcome == "passed"}
    run = expected & set(outcomes)
    if arguments.share == 1 and run != expected:
        print("conformance-debian has tests that this runner does not have:",
              *sorted(expected - run))
        return 1
    wrong = sorted(run - passed)
    for name in wrong:
        print("FAILED", name, outcomes[name])
    if arguments.verbose:
        for name in sorted(set(outcomes) - run):
            print("not of conformance-debian:", name, outcomes[name])
    print(f"{len(run & passed)} of the {len(run)} tests that conformance-debian passes "
          f"pass; {len(passed - run)} others pass; "
          f"{time.time() - start:.0f} s")
    return 1 if wrong or not run else 0


if __name__ == "__main__":
    sys.exit(main())
