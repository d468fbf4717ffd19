#!/usr/bin/python3
"""Runs Caffe2 models on both back ends and compares with NumPy.

    caffe2.py [NAME...]

The models are those of $GLOWISH_TEST_DATA (default ../shared/data):
glow-models/caffe2Models, for each of which this file computes the outputs on its
own (caffe2_cases.py), and those of caffe2: two with weights and reference
outputs, one of them for batches that runs decide, too, and nets without weights, which must say what they lack or, with that,
run with zeros.

$GLOWISH_BIN: the programs (default build/release/bin). Prints what is wrong and
a count; exits 1 if a model is, 77 if there are none or NumPy is not there.
"""

import os
import shutil
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
DATA = os.environ.get("GLOWISH_TEST_DATA", "../shared/data")
WORK = "build/e2e/caffe2"

try:
    import numpy as np
except ImportError:
    print("NumPy is not there")
    sys.exit(77)

import caffe2_cases  # noqa: E402
import caffe2_nets   # noqa: E402
from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, run_local, run_model, run_tool  # noqa: E402


def check_case(case, backend):
    """What is wrong with a model of glow-models; empty if nothing is."""
    folder = os.path.join(DATA, "glow-models", "caffe2Models")
    paths = [os.path.join(folder, net + ".pbtxt") for net in case.nets]
    outputs, text = run_local(paths, case.inputs, backend,
                              os.path.join(WORK, case.name, backend))
    if "the model has no input" in text:
        # A weight without a value, which model-runner alone can be given.
        outputs, text = run_model(paths, case.inputs, backend,
                                  os.path.join(WORK, case.name, backend))
    if case.error:
        if outputs is not None:
            return "it runs, and should be refused"
        return "" if case.error in text else "another error: " + text.strip()
    if outputs is None:
        return text.strip()
    wrong = [check_outputs(outputs, case.expected, Tolerance(of_largest=case.tolerance))]
    if case.check:
        wrong.append(case.check(outputs))
    return "; ".join(filter(None, wrong))


def read_references(folder):
    """The inputs and outputs of each data set of a model."""
    references = []
    for data in sorted(os.listdir(folder)):
        if not data.startswith("ref_data_set_"):
            continue
        given, wanted = {}, {}
        for file in os.listdir(os.path.join(folder, data)):
            kind, blob = file[:-len(".npy")].split("_", 1)
            array = np.load(os.path.join(folder, data, file))
            (given if kind == "input" else wanted)[blob] = array
        references.append((data, given, wanted))
    return references


def check_references(name, backend):
    """What is wrong with a model that has reference outputs."""
    folder = os.path.join(DATA, "caffe2", name)
    # One program runs with all data.
    cache = os.path.join(WORK, name, "cache")
    shutil.rmtree(cache, ignore_errors=True)
    options = ["-cache=" + cache] if backend == "CPU" else []
    count, wrong = 0, []
    for data, given, wanted in read_references(folder):
        outputs, text = run_model([folder], given, backend,
                                  os.path.join(WORK, name, backend), options)
        if outputs is None:
            return text.strip()
        count += len(wanted)
        problem = check_outputs(outputs, wanted, Tolerance(of_largest=1e-4))
        wrong.append(problem and f"{data}: {problem}")
    if not count:
        return "there is no reference"
    return "; ".join(filter(None, wrong))


def check_batches(name, backend):
    """What is wrong with a model whose runs decide the batch: the images of all data
    sets, and the first alone, in one program for 1 to 4."""
    folder = os.path.join(DATA, "caffe2", name)
    references = read_references(folder)
    wrong = []
    for count in {1, len(references)}:
        def stack(place, count=count):
            return {blob: np.concatenate([each[place][blob] for each in references[:count]])
                    for blob in references[0][place]}
        given, wanted = stack(1), stack(2)
        options = ["-define-symbol=batch,1..4"]
        for blob, array in given.items():
            dims = ",".join(map(str, array.shape[1:]))
            options.append(f"-model-input={blob},float,[batch,{dims}]")
        outputs, text = run_model([folder], given, backend,
                                  os.path.join(WORK, name + "-batches", backend), options)
        if outputs is None:
            return text.strip()
        problem = check_outputs(outputs, wanted, Tolerance(of_largest=1e-4))
        wrong.append(problem and f"{count} images: {problem}")
    return "; ".join(filter(None, wrong))


def check_weightless(net, backend):
    """What is wrong with a net without weights."""
    path = os.path.join(DATA, "caffe2", net.path)
    args = [f"-model-input={name},float,[{','.join(map(str, dims))}]"
            for name, dims in net.inputs.items()]
    if net.error:
        code, text = run_tool("model-runner", "-model=" + path, *args,
                              "-backend=" + backend, "-stop-after=import")
        missing = [part for part in net.error if part not in text]
        if code != 1 or missing:
            return f"exit code {code}, no {missing}: {text.strip()[:400]}"
        return ""
    name, dims = next(iter(net.inputs.items()))
    image = {name: caffe2_cases.floats(*dims)}
    outputs, text = run_model([path], image, backend,
                              os.path.join(WORK, net.name, backend), args)
    if outputs is None:
        return text.strip()[:400]
    if f"there is no init_net: {net.num_zeros} weights are zeros" not in text:
        return "another warning: " + text.strip()[:400]
    expected = {name: np.full_like(output, net.value) for name, output in outputs.items()}
    return check_outputs(outputs, expected, Tolerance(of_largest=1e-6)) if outputs else "no output"


def main():
    """Checks the models that the command line names, or all."""
    wanted = sys.argv[1:]
    if not os.path.isdir(os.path.join(DATA, "glow-models", "caffe2Models")):
        print("no models: " + DATA)
        return 77
    checks = [(case.name, lambda backend, case=case: check_case(case, backend))
              for case in caffe2_cases.CASES]
    covered = {net for case in caffe2_cases.CASES for net in case.nets}
    files = os.listdir(os.path.join(DATA, "glow-models", "caffe2Models"))
    for name in ["super-resolution", "squeezenet1.1-derived"]:
        checks.append((name, lambda backend, name=name:
                       check_references(name, backend)))
    checks.append(("squeezenet1.1-batches", lambda backend:
                   check_batches("squeezenet1.1-derived", backend)))
    for net in caffe2_nets.NETS:
        checks.append((net.name, lambda backend, net=net:
                       check_weightless(net, backend)))
    passed = failed = 0
    for name, check in checks:
        if wanted and name not in wanted:
            continue
        for backend in BACKENDS:
            wrong = check(backend)
            if wrong:
                print(f"{name} on {backend}: {wrong}")
                failed += 1
            else:
                passed += 1
    for file in sorted(files):
        if file[:-len(".pbtxt")] not in covered and not wanted:
            print("no case for " + file)
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


sys.exit(main())
