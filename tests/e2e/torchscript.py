#!/usr/bin/python3
"""torchscript.py [--all] [--keep FOLDER] [NAME...]: traced and scripted modules.

Modules (torchscript_cases.py, torchscript_aliases.py and the like) are traced or scripted,
saved, and run on both back ends; the outputs must be PyTorch's to 1e-5 of the
largest magnitude. Those with states are called several times. With --all, or by
their names, also the networks of ../shared/tools/export_models.py, whose outputs
may be as far from those in double precision as twice PyTorch's own, and which may
have 2 % more instructions than their ONNX form, and torchvision's detection
without its post-processing; without it only a few modules. The archives of the
test data ($GLOWISH_TEST_DATA, default ../shared/data) are run or refused as
torchscript_data.py has it. Prints what is wrong; exits 1 then, and 77 where
PyTorch or the library that reads archives are missing.

--keep: a new folder where the archives are left, with what -model-input states of
their inputs in NAME.pt.inputs: glowish-Robustness-test mutates those of
$GLOWISH_ROBUSTNESS_TORCHSCRIPT. $GLOWISH_BIN: the programs
(default build/release/bin)."""

import argparse
import copy
import os
import sys
import tempfile
import warnings
import zipfile

from pytorch_or_skip import torch
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, BIN, run_local, run_model, run_tool  # noqa: E402
import torchscript_aliases  # noqa: E402,F401
import torchscript_complex  # noqa: E402,F401
import torchscript_layouts  # noqa: E402,F401
import torchscript_mobile  # noqa: E402,F401
import torchscript_quantized  # noqa: E402,F401
from torchscript_cases import CASES  # noqa: E402
import torchscript_data  # noqa: E402
import torchscript_networks  # noqa: E402


def flatten(value, name):
    """The tensors and numbers of a value, by their names."""
    if value is None:
        return {}
    if isinstance(value, torch.Tensor) and value.is_complex():
        value = value.resolve_conj()
        return {**flatten(value.real, name + ".real"), **flatten(value.imag, name + ".imag")}
    if isinstance(value, torch.Tensor) and value.is_quantized:
        return {name + ".values": value.int_repr().numpy(),
                name + ".scale": np.array(value.q_scale(), np.float32),
                name + ".zero_point": np.array(value.q_zero_point(), np.int32)}
    if isinstance(value, torch.Tensor):
        return {name: value.detach().contiguous().numpy()}
    if isinstance(value, (bool, int, float)):
        kind = {bool: np.bool_, int: np.int64, float: np.float64}[type(value)]
        return {name: np.array(value, kind)}
    if isinstance(value, dict):
        items = value.items()
    elif hasattr(value, "_fields"):
        items = zip(value._fields, value)
    else:
        items = enumerate(value)
    result = {}
    for key, element in items:
        result.update(flatten(element, f"{name}.{key}"))
    return result


def save(case, folder):
    """Traces or scripts a module: the path of its archive."""
    path = os.path.join(folder, case.name + ".pt")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on what tracing keeps
        if case.is_traced:
            program = torch.jit.trace(case.module, copy.deepcopy(case.inputs),
                                      check_trace=False)
        else:
            program = torch.jit.script(case.module)
    case.transform(program).save(path)
    return path


def write_inputs(case, path):
    """Writes the types of the inputs, a line each, for -model-input."""
    inputs = get_inputs(case, torch.jit.load(path))
    with open(path + ".inputs", "w", encoding="utf-8") as file:
        file.writelines(t + "\n" for t in torchscript_data.state_types(inputs))


def get_inputs(case, program):
    """The inputs of the first call, by their names."""
    inputs = {}
    for name, value in zip(get_names(program), case.inputs):
        inputs.update(flatten(value, name))
    return inputs


def get_names(program):
    """The names of the inputs of forward()."""
    return [argument.name for argument in program.forward.schema.arguments[1:]]


def vary(value, call):
    """Another value for a further call."""
    if isinstance(value, torch.Tensor):
        return value * (1 + 0.5 * call) - 0.1 * call if call else value.clone()
    if isinstance(value, dict):
        return {key: vary(own, call) for key, own in value.items()}
    return type(value)(vary(own, call) for own in value)


def check_calls(case, path, model, backend, work):
    """Runs a module as often as it is called: what is wrong. `model` is the
    archive or its text form."""
    program = torch.jit.load(path)
    names = get_names(program)
    states = {}
    for call in range(case.calls):
        values = [vary(value, call) for value in case.inputs]
        inputs = {}
        for name, value in zip(names, values):
            inputs.update(flatten(value, name))
        inputs = {name: value.copy() for name, value in inputs.items()}
        with torch.set_grad_enabled(case.has_gradients):
            result = (case.reference or program)(*values)
        expected = flatten(result, "output")
        for name, value in zip(names, values):  # some are changed in place
            for key, own in flatten(value, name).items():
                if not np.array_equal(own, inputs[key]):
                    expected[key] = own
        outputs, text = run_model([model], {**inputs, **states}, backend,
                                  work)
        if outputs is None:
            return text.strip()
        states = {name: value for name, value in outputs.items()
                  if name not in expected}
        wrong = check_outputs(outputs, expected, Tolerance(of_largest=case.tolerance))
        if wrong:
            return f"call {call}: {wrong}"
        if states and case.calls == 1:
            return f"further outputs: {sorted(states)}"
    return ""


def check(case, folder):
    """What is wrong with a case; empty if nothing is."""
    try:
        path = save(case, folder)
    except RuntimeError as error:
        return f"PyTorch cannot script it: {error}"
    work = os.path.join(folder, "run")
    if not case.refused:
        write_inputs(case, path)
        graph = os.path.join(folder, case.name + ".graph")
        wrong = torchscript_data.import_archive(
            path, get_inputs(case, torch.jit.load(path)), graph, case.options)
        if wrong:
            return wrong
        for backend in BACKENDS:
            wrong = check_calls(case, path, graph, backend, work)
            if wrong:
                return f"{backend}: {wrong}"
        return ""
    outputs, text = run_local([path], get_inputs(case, torch.jit.load(path)),
                              "CPU", work, case.options)
    if outputs is not None:
        return "is not refused"
    if case.refused not in text or len(text.strip().split("\n")) != 1:
        return f"is refused with {text.strip()!r}, not {case.refused!r}"
    return ""


def check_malformed(folder, count):
    """Archives that are cut, or with other bytes: each is right, or refused in
    one line."""
    path = save(next(c for c in CASES if c.name == "SmallNetwork"), folder)
    with open(path, "rb") as file:
        archive = file.read()
    for i in range(count):
        random = np.random.default_rng(i)
        other = bytearray(archive)
        if i % 3 == 0:
            del other[random.integers(len(other)):]
        for _ in range(random.integers(1, 9) if i % 3 else 0):
            other[random.integers(len(other))] = random.integers(256)
        name = os.path.join(folder, "malformed.pt")
        with open(name, "wb") as file:
            file.write(other)
        code, text = run_tool("glowish-opt", name,
                              "-model-input=x,float,[1,3,17,17]")
        lines = text.strip().split("\n")
        if code not in (0, 1) or (code == 1 and (
                len(lines) != 1 or not lines[0].startswith("error: "))):
            return f"number {i}: exit code {code}, {text.strip()[:300]!r}"
    return ""


def check_short_records(folder):
    """An archive whose tensors state more elements than are stored."""
    path = save(next(c for c in CASES if c.name == "SmallNetwork"), folder)
    short = os.path.join(folder, "short.pt")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(short, "w") as file:
        for name in source.namelist():
            size = 1 if "/data/" in name else None
            file.writestr(name, source.read(name)[:size])
    code, text = run_tool("glowish-opt", short,
                          "-model-input=x,float,[1,3,17,17]")
    if code != 1 or not text.endswith("beyond the record of its storage\n"):
        return f"exit code {code}, {text.strip()[:300]!r}"
    return ""


def check_docs(folder):
    """The first program of docs/pytorch.md writes an archive that is right, and
    model-runner reads it."""
    with open("docs/pytorch.md", encoding="utf-8") as file:
        program = file.read().split("```python\n")[1].split("```")[0]
    case = next(c for c in CASES if c.name == "SmallNetwork")
    before = os.getcwd()
    work = os.path.join(folder, "docs")
    os.makedirs(work, exist_ok=True)
    os.chdir(work)
    try:
        exec(program, {"net": case.module, "example": case.inputs,
                       "torch": torch})
    finally:
        os.chdir(before)
    path = os.path.join(work, "net.pt")
    return check_calls(case, path, path, "CPU", os.path.join(folder, "run"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if not os.path.exists(os.path.join(BIN, "../lib/glowish/libglowish-torch.so")):
        print("skipped: this build does not read TorchScript (Debian: "
              "libtorch-dev)")
        return 77
    torch.set_num_threads(1)
    wrong = []

    def report(name, problem):
        if problem:
            wrong.append(name)
        lines = (problem or "right").split("\n")
        print(f"{name}: {' '.join(lines[:3])}", flush=True)

    def is_wanted(name, is_quick):
        if arguments.names:
            return name in arguments.names
        return arguments.all or is_quick

    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for case in CASES:
            if is_wanted(case.name, case.is_quick):
                report(case.name, check(case, folder))
        if is_wanted("docs", True):
            report("docs", check_docs(folder))
        if is_wanted("short", True):
            report("short", check_short_records(folder))
        if is_wanted("malformed", True):
            report("malformed",
                   check_malformed(folder, 40 if arguments.all else 4))
        for name in torchscript_networks.list_names():
            if is_wanted(name, False):
                report(name, torchscript_networks.check(name, folder))
        for entry in torchscript_data.find():
            if is_wanted(entry.name, entry.is_quick):
                report(entry.name, entry.check(os.path.join(folder, "run")))
    if wrong:
        print(f"{len(wrong)} wrong: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
