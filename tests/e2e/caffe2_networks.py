#!/usr/bin/python3
"""Writes exported networks as Caffe2's nets and compares the two.

    caffe2_networks.py [--all | NAME...]

Each network of $GLOWISH_MODELS (default build/models; without --all or its
name, not resnet18 and resnet50, whose layers the others have) is written by
caffe2_from_onnx.py, with images NCHW and with images NHWC. What the nets make
of the network's own input must be what the ONNX file makes of it, to 1e-5 of
the largest magnitude: on both back ends and as a bundle that is linked with a C
program; and to 1e-4 what PyTorch made of it.

Prints what is wrong and a count; exits 1 if anything is, 77 if there are no
networks, NumPy, Python's onnx or protoc.
"""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.chdir(ROOT)
MODELS = os.environ.get("GLOWISH_MODELS", "build/models")
WORK = "build/e2e/caffe2-networks"

try:
    import numpy as np
    import onnx  # noqa: F401
except ImportError as missing:
    print(missing)
    sys.exit(77)

import caffe2_from_onnx  # noqa: E402
from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, run_model  # noqa: E402

NETWORKS = ["lenet", "squeezenet1_1", "mobilenet_v2"]
LARGE = ["resnet18", "resnet50"]
ORDERS = ["NCHW", "NHWC"]


def run_bundle(nets, image, expected, work):
    """What is wrong with the linked bundle's output; empty if nothing is."""
    shutil.rmtree(work, ignore_errors=True)
    made = subprocess.run(
        ["tests/e2e/make_bundle.sh", work, "-model=" + nets,
         f"-model-input=input_0,float,[{','.join(map(str, image.shape))}]"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if made.returncode:
        return made.stdout.strip()
    np.save(os.path.join(work, "input.npy"), image)
    np.save(os.path.join(work, "expected.npy"), expected)
    ran = subprocess.run(
        [os.path.join(work, "run"), os.path.join(work, "network.weights.bin"),
         f"-input=input_0={work}/input.npy",
         f"-expect=output_0={work}/expected.npy"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    share = re.search(r"\((\S+) of the largest magnitude\)", ran.stdout)
    shutil.rmtree(work)
    # NaN is not within the bound either.
    if share and float(share.group(1)) <= 1e-5:
        return ""
    return "the bundle: " + ran.stdout.strip()


def run_onnx(name, image):
    """The output of the ONNX file by back end, and what went wrong."""
    outputs = {}
    for backend in BACKENDS:
        found, text = run_model([os.path.join(MODELS, name, "model.onnx")],
                                {"input_0": image}, backend,
                                os.path.join(WORK, "onnx"))
        if found is None:
            return {}, f"{backend}: {text.strip()}"
        outputs[backend] = found["output_0"]
    return outputs, ""


def check_order(name, order, messages, image, expected):
    """What is wrong with a network's nets: a list. `expected`: the output of
    the ONNX file by back end."""
    folder = os.path.join(MODELS, name)
    work = os.path.join(WORK, name + "-" + order)
    nets = os.path.join(work, "caffe2")
    caffe2_from_onnx.write_nets(os.path.join(folder, "model.onnx"), order,
                                messages, nets)
    torch = np.load(os.path.join(folder, "output_0.npy"))
    if order == "NHWC":
        image = np.ascontiguousarray(np.transpose(image, (0, 2, 3, 1)))
    wrong = []
    for backend in BACKENDS:
        outputs, text = run_model([nets], {"input_0": image}, backend,
                                  os.path.join(work, "nets"))
        if outputs is None:
            return [f"{backend}: {text.strip()}"]
        for what, value, bound in [("ONNX", expected[backend], 1e-5),
                                   ("PyTorch", torch, 1e-4)]:
            problem = check_outputs(outputs, {"output_0": value}, Tolerance(of_largest=bound))
            wrong.append(problem and f"{backend} against {what}: {problem}")
    wrong.append(run_bundle(nets, image, expected["CPU"],
                            os.path.join(work, "bundle")))
    shutil.rmtree(work)
    return [error for error in wrong if error]


def main():
    """Checks the networks that the command line names."""
    wanted = sys.argv[1:] or NETWORKS
    if wanted == ["--all"]:
        wanted = NETWORKS + LARGE
    if not shutil.which("protoc"):
        print("protoc is not there")
        return 77
    messages = caffe2_from_onnx.load_messages(os.path.join(WORK, "messages"))
    passed = failed = 0
    for name in wanted:
        if not os.path.exists(os.path.join(MODELS, name, "model.onnx")):
            print(f"skipped, as it is not in {MODELS}: {name}")
            continue
        image = np.load(os.path.join(MODELS, name, "input_0.npy"))
        expected, problem = run_onnx(name, image)
        for order in ORDERS:
            wrong = [problem] if problem else \
                check_order(name, order, messages, image, expected)
            for error in wrong:
                print(f"{name} ({order}): {error}")
            failed += bool(wrong)
            passed += not wrong
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0 if passed else 77


sys.exit(main())
