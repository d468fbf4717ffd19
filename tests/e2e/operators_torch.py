"""Operators of plug-ins in PyTorch's exported programs and in TorchScript."""

import os
import sys

import numpy as np

from comparison import check_outputs
from model_runs import run_tool
from operators_checks import MOST, check_refusal, expect_description, refuse, run_both


def test_torch(library, work):
    try:
        import torch
        import pt2_writer
        import torch_export
    except ImportError:
        print("PyTorch's files are not tried: it is not installed")
        return
    if "--no-torch" in sys.argv:
        return
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    # A program states what differs from the defaults; the schema has the others.
    own = torch_export.program({"x": x}, ["y"], [torch_export.node(
        "torch.ops.test.Describe.default",
        [("a", torch_export.tensor("x")), ("n", {"as_int": 7}), ("f", {"as_floats": [0.5]})],
        ["y"], "describe")])
    path = os.path.join(work, "describe.pt2")
    pt2_writer.save(path, own, {}, {})
    expected, _ = expect_description([x.numpy(), ], {"n": 7, "f": [0.5], "s": "x", "flag": 1},
                                     1)
    option = ["-operators=" + library]
    run_both("pt2", path, {"x": x.numpy()}, option, work,
             lambda _, out: check_outputs(out, {"y": expected}))
    refuse("pt2 without it", "torch.ops.test.Describe.default", "model-runner",
           "-model=" + path, "-random-inputs=1")

    space = torch.library.Library("test", "DEF")
    space.define("Describe(Tensor a, Tensor? b=None, int n=4, float[] f=[], str s='x', "
                 "bool flag=True) -> Tensor")
    space.impl("Describe", lambda a, *_: a.sum().double().repeat(MOST), "CPU")

    class Module(torch.nn.Module):
        def forward(self, x):
            return torch.ops.test.Describe(x + 1, x, 9, [1.5, 2.0]) * 2

    path = os.path.join(work, "describe.pt")
    torch.jit.save(torch.jit.script(Module()), path)
    code, text = run_tool("model-runner", "-model=" + path, "-model-input=x,float,[2,3]",
                          "-random-inputs=1")
    if "libglowish-torch.so" in text:
        print("TorchScript is not tried: there is no reader")
        return
    check_refusal("TorchScript without it", "test::Describe", code, text)
    expected, _ = expect_description([(x + 1).numpy(), x.numpy()],
                                     {"n": 9, "f": [1.5, 2.0], "s": "x", "flag": 1}, 1)
    run_both("TorchScript", path, {"x": x.numpy()}, option, work,
             lambda _, out: check_outputs(out, {next(iter(out)): 2 * expected}))


def test_writes(library, work):
    """Operators of a plug-in whose schema says that they write arguments."""
    if "--no-torch" in sys.argv:
        return
    try:
        import torch
        import pt2_writer
        import torch_export
    except ImportError:
        return
    space = torch.library.Library("writing", "DEF")
    for schema in ("scale_(Tensor(a!) x, float factor=2.0) -> Tensor(a!)",
                   "collect(Tensor x, Tensor(a!) total, Tensor(b!)[] all) -> Tensor",
                   "note_(Tensor(a!) x, float factor=2.0) -> ()",
                   "grow_(Tensor(a!) x) -> Tensor(a!)", "view(Tensor(a) x) -> Tensor(a)",
                   "part_(Tensor(a!) x) -> Tensor(a)"):
        space.define(schema)

    def collect(x, total, all):
        before = x.clone()
        for own in [total, *all]:
            own += before
        return before * 2

    def note(x, factor=2.0):
        x *= factor

    space.impl("scale_", lambda x, factor=2.0: x.mul_(factor), "CPU")
    space.impl("collect", collect, "CPU")
    space.impl("note_", note, "CPU")

    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    option = ["-operators=" + library, "-max-trip-count=4"]
    # An exported program has what the arguments become as results, behind None where the
    # operator returns nothing.
    functionalized = "torch.ops.higher_order.auto_functionalized"
    tensor = torch_export.tensor

    def functional(target, inputs, outputs, name):
        made = torch_export.node(functionalized, [("", {"as_operator": target}), *inputs], [],
                                 name)
        return {**made, "outputs": outputs}

    exported = torch_export.program({"x": x}, ["y", "t", "h"], [
        functional("torch.ops.writing.note_.default",
                   [("x", tensor("x")), ("factor", {"as_float": 3.0})],
                   [{"as_none": True}, tensor("n")], "note"),
        functional("torch.ops.writing.collect.default",
                   [("x", tensor("n")), ("total", tensor("x")),
                    ("all", {"as_tensors": [{"name": "x"}, {"name": "n"}]})],
                   [tensor("y"), tensor("t"),
                    {"as_tensors": [{"name": "g"}, {"name": "h"}]}], "collect")])
    path = os.path.join(work, "functionalized.pt2")
    pt2_writer.save(path, exported, {}, {})
    run_both("functionalized", path, {"x": x.numpy()}, option, work,
             lambda _, out: check_outputs(
                 out, {"y": 6 * x.numpy(), "t": 4 * x.numpy(), "h": 6 * x.numpy()}))
    exported = torch_export.program({"x": x}, ["x"], [torch_export.node(
        "torch.ops.writing.note_.default", [("x", tensor("x"))], [], "note")])
    path = os.path.join(work, "direct.pt2")
    pt2_writer.save(path, exported, {}, {})
    refuse("functionalized without it", "torch.ops.writing.note_.default", "model-runner",
           "-model=" + path, "-random-inputs=1")
    refuse("not functionalized", "it writes its arguments; accepted: " + functionalized,
           "model-runner", "-model=" + path, "-random-inputs=1", *option)

    class Views(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.ones(2, 3))

        def forward(self, x):
            y = x + 1
            row = y[1]
            scaled = torch.ops.writing.scale_(row, 3.0)
            scaled += 1
            torch.ops.writing.note_(y[:, 1:].t())
            z = y * 2
            twice = torch.ops.writing.collect(y, self.total, [z, y.view(2, 3)])
            if bool(x.sum() > 3):
                torch.ops.writing.note_(z[0], 0.5)
            for _ in range(int(x[0, 1])):
                torch.ops.writing.scale_(self.total)
            return y, row, z, twice, self.total + 0

    path = os.path.join(work, "writes.pt")
    module = torch.jit.script(Views())
    torch.jit.save(module, path)
    code, text = run_tool("model-runner", "-model=" + path, "-model-input=x,float,[2,3]",
                          "-random-inputs=1")
    if "libglowish-torch.so" in text:
        return
    check_refusal("written without it", "writing::scale_", code, text)
    results = [result.numpy().copy() for result in module(x.clone())]
    expected = {f"output.{i}": result for i, result in enumerate(results)}
    run_both("written", path, {"x": x.numpy()}, option, work,
             lambda _, out: check_outputs(out, expected))

    class Refused(torch.nn.Module):
        def forward(self, x):
            y = x + 1
            return y

        @torch.jit.export
        def view(self, x):
            return torch.ops.writing.view(x + 1)

        @torch.jit.export
        def part(self, x):
            return torch.ops.writing.part_(x + 1)

        @torch.jit.export
        def grow(self, x):
            return torch.ops.writing.grow_(x + 1)

    path = os.path.join(work, "refused.pt")
    torch.jit.save(torch.jit.script(Refused()), path)
    accepted = "accepted: new tensors, and arguments that it writes, Tensor(a!)"
    for method, message in (
            ("view", "its schema says that result 0 is a view of the argument 'x'; " + accepted),
            ("part", "its schema says that result 0 is a view of the argument 'x'; " + accepted),
            ("grow", "result 0 of its function, which it writes to an argument, is "
                     "float<99>; accepted: the type of the argument, float<2x3>")):
        refuse("refused " + method, message, "model-runner", "-model=" + path,
               "-method=" + method, "-model-input=x,float,[2,3]", "-random-inputs=1",
               "-operators=" + library)
