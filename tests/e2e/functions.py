#!/usr/bin/python3
"""functions.py: bundles with several functions, called from C.

Two ONNX models with one trunk, a scripted encoder and decoder on the same weights and
state, programs of torch.export with one buffer, and a text form with three functions are
compiled to one bundle each. Every entry is called; what it computes must be PyTorch's to
1e-5 of the largest magnitude, and that of the bundle of the function alone. Weights must
take at most 1.02 of those of one model and of what the others have beside the trunk, and
kernels that are equal must be there once. Skipped where there is no PyTorch, no C compiler
or no library that reads archives. $GLOWISH_BIN: the programs (default
build/release/bin)."""

import os
import re
import shutil
import subprocess
import sys

from pytorch_or_skip import torch
import numpy as np

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
sys.path.insert(0, "tests/e2e")

from comparison import Tolerance, describe_difference  # noqa: E402
from model_runs import BACKENDS, BIN, run_model  # noqa: E402
import pt2_writer  # noqa: E402

WORK = os.path.abspath("build/e2e/functions")
CC = os.environ.get("CC", "cc")
TOLERANCE = Tolerance(of_largest=1e-5)

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "net.h"
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t weights[NET_CONSTANT_MEM_SIZE + 1];
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t state[NET_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t scratch[NET_ACTIVATIONS_MEM_SIZE + 1];
static void load(const char *path, uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "rb");
  if (!file || fread(bytes, 1, size, file) != size)
    exit(2);
  fclose(file);
}
static void store(const char *path, const uint8_t *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
    exit(3);
}
int main(void) {
  load("net.weights.bin", weights, NET_CONSTANT_MEM_SIZE);
  if (net_check_weights(weights, NET_CONSTANT_MEM_SIZE))
    return 4;
%s  return 0;
}
"""

wrong = 0


def check(is_right, *shown):
    global wrong
    if not is_right:
        wrong += 1
        print("WRONG", *shown)


def compare(name, actual, expected):
    problem = describe_difference(actual, expected, TOLERANCE)
    check(not problem, name, problem)


class Bundle:
    """A bundle in a folder; `function` names the entry's function where it has one."""

    def __init__(self, name, options, function=None):
        self.folder, self.function = os.path.join(WORK, name), function
        shutil.rmtree(self.folder, ignore_errors=True)
        done = subprocess.run(
            [BIN + "/model-compiler", "-emit-bundle=" + self.folder, "-network-name=net",
             "-verify-plan", *options], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        with open(self.folder + "/net.h", encoding="utf-8") as file:
            self.header = file.read()

    def weights(self):
        return os.path.getsize(self.folder + "/net.weights.bin")

    def kernels(self):
        """The kinds of its kernels."""
        symbols = subprocess.run(["nm", self.folder + "/net.o"], capture_output=True,
                                 text=True, check=True).stdout
        return sorted(re.findall(r" t k\d+_(\w+)", symbols))

    def prefix(self, function):
        return "NET_" if self.function else f"NET_{function.upper()}_"

    def call(self, calls):
        """Results of calls (function, inputs, outputs) from C; outputs: names, as
        arrays in place of them."""
        steps = ""
        for i, (function, inputs, outputs) in enumerate(calls):
            prefix = self.prefix(function)
            for name, value in inputs.items():
                value.tofile(f"{self.folder}/{i}.{name}.in")
                steps += f'  load("{i}.{name}.in", state + {prefix}{name}, ' \
                         f'{prefix}{name}_BYTES);\n'
            entry = "net" if self.function else "net_" + function
            steps += f"  if ({entry}(weights, state, scratch))\n    return 5;\n"
            for name in outputs:
                steps += f'  store("{i}.{name}.out", state + {prefix}{name}, ' \
                         f'{prefix}{name}_BYTES);\n'
        with open(self.folder + "/main.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM % steps)
        for command in ([CC, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1",
                         "-I.", "main.c", "net.o", "-o", "main"], ["./main"]):
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                  check=False)
            if done.returncode:
                sys.exit(f"{self.folder}: {command}: {done.returncode} {done.stderr}")
        results = []
        for i, (function, _, outputs) in enumerate(calls):
            results.append([])
            for name in outputs:
                macro = self.prefix(function) + name + "_DIMS"
                dims = re.search(rf"#define {macro} {{ ([\d, ]*) }}", self.header)[1]
                results[-1].append(
                    np.fromfile(f"{self.folder}/{i}.{name}.out", np.float32)
                    .reshape([int(dim) for dim in dims.split(",") if dim != "0"]))
        return results


def random(*shape):
    return torch.rand(*shape) * 2 - 1


# ONNX models with one trunk.

class Headed(torch.nn.Module):
    def __init__(self, trunk, classes):
        super().__init__()
        self.trunk = trunk
        self.head = torch.nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.trunk(x).mean((2, 3)))


def test_onnx():
    trunk = torch.nn.Sequential(*(
        layer for i in range(4) for layer in (
            torch.nn.Conv2d(32 if i else 3, 32, 3, padding=1), torch.nn.ReLU())))
    models = {"kind": Headed(trunk, 10).eval(), "age": Headed(trunk, 5).eval()}
    paths = []
    for name, model in models.items():
        paths.append(f"{WORK}/{name}.onnx")
        torch.onnx.export(model, random(1, 3, 16, 16), paths[-1], input_names=["x"],
                          output_names=["y"])
    together = Bundle("onnx", ["-model=" + path for path in paths])
    alone = {name: Bundle("onnx_" + name, ["-model=" + path], name)
             for name, path in zip(models, paths)}
    head = 5 * 33 * 4
    check(together.weights() <= 1.02 * (alone["kind"].weights() + head), "onnx: weights",
          together.weights(), alone["kind"].weights())
    # All but those of the heads.
    own, *others = (bundle.kernels() for bundle in (together, *alone.values()))
    check(len(own) <= len(others[0]) + 2, "onnx: kernels", own, *others)
    calls = [(name, {"x": random(1, 3, 16, 16).numpy()}, ["y"])
             for name in ("kind", "age", "kind")]
    results = together.call(calls)
    for call, [actual] in zip(calls, results):
        expected = models[call[0]](torch.from_numpy(call[1]["x"])).detach().numpy()
        compare("onnx " + call[0], actual, expected)
        compare("onnx alone " + call[0], alone[call[0]].call([call])[0][0], actual)


# Methods of one module.

class Coder(torch.nn.Module):
    steps: int

    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(192, 96)
        self.decoder = torch.nn.Linear(96, 192)
        self.register_buffer("mean", random(96))
        self.register_buffer("calls", torch.zeros(1))
        self.steps = 0

    @torch.jit.export
    def encode(self, x):
        code = torch.tanh(self.encoder(x))
        self.mean.mul_(0.75).add_(0.25 * code.mean(0))
        self.calls += 1
        self.steps += 1
        return code - self.mean

    @torch.jit.export
    def decode(self, x):
        return self.decoder(x + self.mean) * (1 + self.steps), self.calls

    @torch.jit.export
    def reset(self, start):
        self.mean.copy_(start)
        return self.encoder.weight.sum() + start.sum()


def test_methods():
    coder = Coder()
    path = f"{WORK}/coder.pt"
    torch.jit.script(coder).save(path)
    types = {"encode": ["encode:x,float,[4,192]"], "decode": ["decode:x,float,[4,96]"],
             "reset": ["reset:start,float,[96]"]}
    options = ["-model=" + path, "-method=encode,decode,reset"]
    together = Bundle("methods", options + ["-model-input=" + text for own in types.values()
                                            for text in own])
    weights = 4 * sum(value.numel() for value in coder.state_dict().values())
    check(together.weights() <= 1.02 * weights, "methods: weights",
          together.weights(), weights)
    calls = []
    expected = []
    # A method that only reads a state may come first.
    for method in ("decode", "encode", "encode", "decode", "reset", "decode", "encode"):
        value = random(96) if method == "reset" else random(4, 192 if method == "encode" else 96)
        result = getattr(coder, method)(value)
        results = result if isinstance(result, tuple) else (result,)
        expected.append([each.detach().clone().numpy() for each in results])
        outputs = ["output_0", "output_1"] if len(results) > 1 else ["output"]
        calls.append((method, {"start" if method == "reset" else "x": value.numpy()}, outputs))
    for call, own, actual in zip(calls, expected, together.call(calls)):
        for left, right in zip(actual, own):
            compare("methods " + call[0], left, right.reshape(left.shape))
    # One alone, on both back ends and as a bundle.
    fresh = torch.jit.load(path)
    call = ("encode", {"x": random(4, 192).numpy()}, ["output"])
    value = fresh.encode(torch.from_numpy(call[1]["x"])).detach().numpy()
    alone = Bundle("method", ["-model=" + path, "-method=encode",
                              "-model-input=x,float,[4,192]"], "encode")
    compare("method alone", alone.call([call])[0][0], value)
    for backend in BACKENDS:
        outputs, text = run_model([path], call[1], backend, WORK + "/run", ["-method=encode"])
        check(outputs is not None, "method", backend, text)
        compare("method " + backend, outputs["output"], value)


# Exported programs with one buffer.

class Total(torch.nn.Module):
    """Adds to the buffer, or only reads it."""

    def __init__(self, adds):
        super().__init__()
        self.adds = adds
        self.layer = torch.nn.Linear(32, 32)
        self.register_buffer("total", random(32))

    def forward(self, x):
        if not self.adds:
            return self.layer(x) - self.total
        total = self.total + x
        return self.layer(x) * 2, total


def test_programs():
    adder, reader = Total(True), Total(False)
    reader.load_state_dict(adder.state_dict())
    paths = [f"{WORK}/{name}.pt2" for name in ("reader", "adder")]
    x = random(32)
    inputs, outputs = zip(pt2_writer.write(paths[0], reader, (x,)),
                          pt2_writer.write(paths[1], adder, (x,), mutated={"total": 1}))
    together = Bundle("programs", ["-model=" + path for path in paths])
    weights = 4 * sum(value.numel() for value in adder.state_dict().values())
    check(together.weights() <= 1.02 * weights + 64, "programs: weights",
          together.weights(), weights)
    calls, expected = [], []
    for index in (0, 1, 1, 0, 1):
        x = random(32)
        calls.append((("reader", "adder")[index], {inputs[index][0]: x.numpy()},
                      [outputs[index][0]]))
        result = (reader, adder)[index](x)
        if index:
            result, total = result
            adder.total.copy_(total)
            reader.total.copy_(total)
        expected.append(result.detach().clone().numpy())
    for call, own, [actual] in zip(calls, expected, together.call(calls)):
        compare("programs " + call[0], actual, own)
    # A buffer of one name is one.
    with torch.no_grad():
        reader.total += 1
    pt2_writer.write(paths[0], reader, (x,))
    done = subprocess.run([BIN + "/model-compiler", "-stop-after=plan",
                           *("-model=" + path for path in paths)],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 1 and done.stderr ==
          f"error: '{paths[0]}': the buffer 'total' has other elements than in a program that "
          "it is shared with; accepted: the same\n", "programs: other buffers", done.stderr)


# Functions of a text form.

def constant(name, values):
    dims = "x".join(map(str, values.shape))
    return f"constant %{name} : float<{dims}> = " \
           f"[{', '.join(repr(float(value)) for value in values.ravel())}]\n"


def test_text():
    trunk, first, second = (random(*shape).numpy() for shape in ((64, 64), (64, 8), (64, 3)))
    text = 'module "text"\n' \
        'placeholder %x : float<1x64> input "x"\n' \
        'placeholder %h : float<1x64> input output "h"\n' \
        'placeholder %a : float<1x8> output "a"\n' \
        'placeholder %b : float<1x3> output "b"\n' \
        + constant("trunk", trunk) + constant("first", first) + constant("second", second) + \
        'function "features" {\n  %m = MatMul(%x, %trunk) : float<1x64>\n' \
        '  %t = Tanh(%m) : float<1x64>\n  Save(%t, %h)\n}\n' \
        'function "again" {\n  %m_1 = MatMul(%h, %trunk) : float<1x64>\n' \
        '  %t_1 = Tanh(%m_1) : float<1x64>\n' \
        '  %u = MatMul(%t_1, %first) : float<1x8>\n  Save(%t_1, %h)\n  Save(%u, %a)\n}\n' \
        'function "head" {\n  %v = MatMul(%h, %second) : float<1x3>\n  Save(%v, %b)\n}\n'
    path = WORK + "/text.graph"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([BIN + "/glowish-opt", "-verify-contract", path, "-o",
                           WORK + "/copy.graph"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, "text: contract", done.stderr)
    names = ["features", "again", "head"]
    together = Bundle("text", ["-model=" + path, "-function=" + ",".join(names)])
    alone = {name: Bundle("text_" + name, ["-model=" + path, "-function=" + name], name)
             for name in names}
    check(together.weights() <= 1.02 * (alone["again"].weights() + alone["head"].weights()),
          "text: weights", together.weights())
    x = random(1, 64).numpy()
    h = np.tanh(x @ trunk)
    next_h = np.tanh(h @ trunk)
    calls = [("features", {"x": x}, ["h"]), ("head", {}, ["b"]), ("again", {}, ["h", "a"]),
             ("head", {}, ["b"])]
    expected = [[h], [h @ second], [next_h, next_h @ first], [next_h @ second]]
    results = together.call(calls)
    for call, own, actual in zip(calls, expected, results):
        for left, right in zip(actual, own):
            compare("text " + call[0], left, right)
    # Each alone computes the same of what it reads.
    read = [{"x": x}, {"h": h}, {"h": h}, {"h": next_h}]
    for (name, _, outputs), given, own in zip(calls, read, results):
        for left, right in zip(alone[name].call([(name, given, outputs)])[0], own):
            compare("text alone " + name, left, right)


def main():
    if not shutil.which(CC) or not shutil.which("nm"):
        print("skipped: there is no C compiler")
        return 77
    os.makedirs(WORK, exist_ok=True)
    torch.manual_seed(60)
    test_onnx()
    test_text()
    test_programs()
    if os.path.exists(os.path.join(BIN, "../lib/glowish/libglowish-torch.so")):
        test_methods()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
