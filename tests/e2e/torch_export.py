#!/usr/bin/python3
"""torch_export.py [--all] [NAME...]: exported programs of PyTorch (.pt2).

pt2_writer.py writes them by the published schema, as no PyTorch that can be installed
here does: small modules (torch_modules.py), the 20 networks of
$GLOWISH_EXPORTER (default ../shared/tools/export_models.py) and programs of its own.
Outputs on both back ends are PyTorch's within 1e-5 of the largest magnitude, or as
near to those in double precision as twice PyTorch's own. The networks have as many
instructions as their ONNX exports ($GLOWISH_MODELS, default build/models), 2 % more at
most. Malformed archives get one line each.

--all: all networks, not only the small ones, and 40 archives with random changes, not
10, which takes minutes. --mutate N: nothing but N archives with random changes, each of
which must be compiled or get one line.
$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong,
77 without PyTorch."""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from random import Random

from pytorch_or_skip import torch

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

import pt2_writer  # noqa: E402
import torch_modules  # noqa: E402
import torchscript_cases  # noqa: E402
import torchscript_complex  # noqa: E402,F401
from comparison import EXACT, Report, Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, run_local, run_model, run_tool  # noqa: E402
from torch_networks import (EXACT_OPTIONS, TOLERANCE, Reference,  # noqa: E402
                            check_instructions, load_exporter)

SMALL = ["lenet", "mlp", "bert_tiny", "lstm_text"]


def run_case(report, name, module, inputs, work, backends=BACKENDS):
    """A module as an archive, on the back ends. The archive's path."""
    path = os.path.join(work, name + ".pt2")
    for parameter in module.parameters():
        parameter.requires_grad_(True)
    reference = Reference(module, inputs)
    try:
        names, outputs = pt2_writer.write(path, Flat(module), inputs)
    except (RuntimeError, TypeError, AttributeError, KeyError) as error:
        report.add(name, f"it cannot be traced: {error}"[:300])
        return path
    feeds = {n: x.numpy() for n, x in zip(names, inputs)}
    for backend in backends:
        results, text = run_local([path], feeds, backend,
                                  os.path.join(work, "run"), EXACT_OPTIONS)
        report.add(f"{name} ({backend})",
                   text if results is None else
                   reference.check(results, outputs))
    return path


class Flat(torch.nn.Module):
    """A module whose nested results are a list."""

    def __init__(self, module):
        super().__init__()
        for name, child in module.named_children():
            self.add_module(name, child)
        for name, parameter in module.named_parameters(recurse=False):
            self.register_parameter(name, parameter)
        for name, value in module.named_buffers(recurse=False):
            self.register_buffer(name, value)
        self.call = [module]

    def forward(self, *inputs):
        return torch_modules.flatten(self.call[0](*inputs))


# --------------------------------------------------------------------------
# Complex tensors
# --------------------------------------------------------------------------

# Those of torchscript_complex.py that can be traced.
COMPLEX = {"FourierTransforms", "FourierNorms", "FourierDimensions", "FourierOfIntegers",
           "ComplexFunctions", "ComplexExtremes", "ComplexShapes", "ComplexMatrices",
           "Rotary"}


class RealResults(torch.nn.Module):
    """A module whose results are real tensors alone."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        def convert(value):
            if isinstance(value, torch.Tensor):
                return [torch.view_as_real(value) if value.is_complex() else value]
            if isinstance(value, (list, tuple)):
                return [tensor for part in value for tensor in convert(part)]
            return []
        return convert(self.module(*inputs))


# --------------------------------------------------------------------------
# Networks
# --------------------------------------------------------------------------


def run_networks(report, names, work):
    exporter = load_exporter()
    if not exporter:
        return
    for name in names or exporter.MODELS:
        net, inputs = exporter.build(name)
        large = sum(p.numel() for p in net.parameters()) > 2e7
        path = run_case(report, name, net, inputs, work,
                        ["CPU"] if large else BACKENDS)
        report.add(name + " (instructions)", check_instructions(name, path))
        os.remove(path)


# --------------------------------------------------------------------------
# Programs of our own: states, symbols, branches and loops
# --------------------------------------------------------------------------


def run_states(report, work):
    """A buffer that the program changes is a state with a first value."""
    path = os.path.join(work, "counter.pt2")
    module, x = torch_modules.Counter(), torch.tensor([1.0, 2.0, 3.0])
    names, outputs = pt2_writer.write(path, module, (x,), mutated={"total": 1})
    results, text = run_model([path], {names[0]: x.numpy()}, "CPU",
                              os.path.join(work, "run"))
    if results is None:
        report.add("state", text)
        return
    expected = {outputs[0]: ((module.total + x) * 2).numpy(),
                "total": (module.total + x).numpy()}
    report.add("state", check_outputs(results, expected, EXACT))


def run_symbols(report, work):
    """An extent that is a symbol, in both notations of SymPy."""
    module = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(),
                                 torch.nn.AdaptiveAvgPool2d(1))
    small, x = torch.randn(2, 2, 8, 8), torch.randn(3, 2, 8, 8)
    for notation in ["s0", "Symbol('s0', positive=True, integer=True)"]:
        path = os.path.join(work, "symbol.pt2")
        names, outputs = pt2_writer.write(path, module, (small,),
                                          symbols={0: {0: notation}})
        expected = module(x).detach().numpy()
        for options in [["-define-symbol=s0,3"],
                        [f"-model-input={names[0]},float,[3,2,8,8]"], []]:
            results, text = run_local([path], {names[0]: x.numpy()}, "CPU",
                                      os.path.join(work, "run"), options)
            report.add(f"symbol {options}", text if results is None else
                       check_outputs(results, {outputs[0]: expected}, TOLERANCE))
        code, text = run_tool("model-compiler", "-model=" + path,
                              "-define-symbol=s0,100",
                              "-emit-bundle=" + os.path.join(work, "b"))
        report.add("symbol out of range", "" if code == 1 and
                   "accepted: 1 to 64" in text else f"exit code {code}: {text}")


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(target, inputs, outputs, name):
    """A node of ATen's operators; `inputs`: (name, Argument)."""
    return {"target": target, "metadata": {}, "name": name,
            "inputs": [{"name": n, "arg": a} for n, a in inputs],
            "outputs": [tensor(o) for o in outputs]}


def aten(name, inputs, output):
    return node("torch.ops.aten." + name, inputs, [output], output)


def graph(inputs, outputs, nodes):
    return {"inputs": [tensor(n) for n in inputs],
            "outputs": [tensor(n) for n in outputs], "nodes": nodes,
            "tensor_values": {}, "sym_int_values": {}, "sym_bool_values": {},
            "is_single_tensor_return": False, "custom_obj_values": {}}


def program(inputs, outputs, nodes):
    """A program without weights; `inputs`: {name: tensor}."""
    main = graph(list(inputs), outputs, nodes)
    main["tensor_values"] = {n: pt2_writer.meta(x) for n, x in inputs.items()}
    return {"graph_module": {
        "graph": main, "module_call_graph": [],
        "signature": {
            "input_specs": [{"user_input": {"arg": tensor(n)}}
                            for n in inputs],
            "output_specs": [{"user_output": {"arg": tensor(n)}}
                             for n in outputs]}},
        "opset_version": {"aten": 10}, "range_constraints": {},
        "schema_version": pt2_writer.VERSION}


def branch_program(x):
    """y = x * 2 if x.sum() > 0 else x - 1."""
    double = graph(["a"], ["d"], [aten("mul.Tensor", [
        ("self", tensor("a")), ("other", {"as_float": 2.0})], "d")])
    less = graph(["a"], ["d"], [aten("sub.Tensor", [
        ("self", tensor("a")), ("other", {"as_float": 1.0})], "d")])
    return program({"x": x}, ["y"], [
        aten("sum.default", [("self", tensor("x"))], "s"),
        aten("gt.Scalar", [("self", tensor("s")), ("other", {"as_int": 0})],
             "c"),
        node("torch.ops.higher_order.cond", [
            ("", tensor("c")),
            ("", {"as_graph": {"name": "true_graph_0", "graph": double}}),
            ("", {"as_graph": {"name": "false_graph_0", "graph": less}}),
            ("", {"as_tensors": [{"name": "x"}]})], ["y"], "cond")])


def loop_program(x):
    """while x.sum() < 100: x = x * 2 + 1."""
    condition = graph(["a"], ["c"], [
        aten("sum.default", [("self", tensor("a"))], "s"),
        aten("lt.Scalar", [("self", tensor("s")), ("other", {"as_int": 100})],
             "c")])
    body = graph(["a"], ["e"], [
        aten("mul.Tensor", [("self", tensor("a")), ("other",
                                                     {"as_float": 2.0})], "d"),
        aten("add.Tensor", [("self", tensor("d")), ("other", {"as_int": 1})],
             "e")])
    return program({"x": x}, ["y"], [
        node("torch.ops.higher_order.while_loop", [
            ("", {"as_graph": {"name": "cond_graph_0", "graph": condition}}),
            ("", {"as_graph": {"name": "body_graph_0", "graph": body}}),
            ("", {"as_tensors": [{"name": "x"}]}),
            ("", {"as_tensors": []})], ["y"], "loop")])


def run_control(report, work):
    def branch(x):
        return x * 2 if x.sum() > 0 else x - 1

    def loop(x):
        while x.sum() < 100:
            x = x * 2 + 1
        return x
    for name, build, function in [("cond", branch_program, branch),
                                  ("while_loop", loop_program, loop)]:
        for sign in [1, -1]:
            x = sign * torch.tensor([1.0, 2.0, 3.5])
            if name == "while_loop":
                x = x.abs() * (2 - sign)
            path = os.path.join(work, name + ".pt2")
            pt2_writer.save(path, build(x), {}, {})
            for backend in BACKENDS:
                results, text = run_local(
                    [path], {"x": x.numpy()}, backend,
                    os.path.join(work, "run"), ["-max-trip-count=20"])
                report.add(f"{name} {sign} ({backend})",
                           text if results is None else
                           check_outputs(results, {"y": function(x).numpy()}, EXACT))


def run_quantized(report, work):
    """Quantized weights and activations of PT2E."""
    x = torch.randn(3, 6)
    weights = torch.randint(-127, 128, (4, 6), dtype=torch.int8)
    scales, zeros = torch.rand(4) / 50 + 0.01, torch.zeros(4, dtype=torch.int64)
    ranges = [("quant_min", {"as_int": -128}), ("quant_max", {"as_int": 127}),
              ("dtype", {"as_scalar_type": 2})]
    tensors = {"w": weights, "s": scales, "z": zeros}
    step = [("scale", {"as_float": 0.02}), ("zero_point", {"as_int": 3})]
    own = program({"x": x}, ["y"], [
        node("torch.ops.quantized_decomposed.quantize_per_tensor.default",
             [("input", tensor("x")), *step, *ranges], ["q"], "q"),
        node("torch.ops.quantized_decomposed.dequantize_per_tensor.default",
             [("input", tensor("q")), *step, *ranges], ["d"], "d"),
        node("torch.ops.quantized_decomposed.dequantize_per_channel.default",
             [("input", tensor("w")), ("scales", tensor("s")),
              ("zero_points", tensor("z")), ("axis", {"as_int": 0}), *ranges],
             ["v"], "v"),
        aten("linear.default", [("input", tensor("d")), ("weight",
                                                         tensor("v"))], "y")])
    inner = own["graph_module"]["graph"]
    for name, value in tensors.items():
        inner["tensor_values"][name] = pt2_writer.meta(value)
        inner["inputs"].append(tensor(name))
    own["graph_module"]["signature"]["input_specs"] += [
        {"parameter": {"arg": {"name": n}, "parameter_name": "net." + n}}
        for n in tensors]
    path = os.path.join(work, "quantized.pt2")
    pt2_writer.save(path, own, {"net." + n: v for n, v in tensors.items()}, {})
    steps = torch.clamp(torch.round(x / 0.02) + 3, -128, 127)
    expected = ((steps - 3) * 0.02) @ (weights.float() * scales[:, None]).t()
    for backend in BACKENDS:
        results, text = run_local([path], {"x": x.numpy()}, backend,
                                  os.path.join(work, "run"))
        report.add(f"quantized ({backend})", text if results is None else
                   check_outputs(results, {"y": expected.numpy()}, TOLERANCE))


# --------------------------------------------------------------------------
# Malformed archives
# --------------------------------------------------------------------------


def refuse(report, name, path, expected, work):
    """One line that says what is accepted, but for a list of nodes, and exit code
    1."""
    code, text = run_tool("model-compiler", "-model=" + path,
                          "-emit-bundle=" + os.path.join(work, "bundle"))
    lines = [line for line in text.splitlines()
             if line and not line.startswith("  node")]
    right = code == 1 and len(lines) == 1 and re.search(expected, text)
    report.add(name, "" if right else f"exit code {code}: {text}")


def rewrite(source, target, change):
    """Copies an archive; `change` gets and returns {name: bytes}."""
    with zipfile.ZipFile(source) as archive:
        entries = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in change(entries).items():
            archive.writestr(name, data)


def change_weight(data):
    """Another byte in the first weight, whose checksum does not fit then."""
    name = b"data/weights/weight_0"
    at = -(-(data.index(name) + len(name)) // 64) * 64 + 1
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def run_compressed(report, work):
    """An archive whose entries are compressed, as other programs may write it."""
    stored, packed = (os.path.join(work, name) for name in ("stored.pt2", "packed.pt2"))
    x = torch.randn(2, 3)
    module = torch.nn.Linear(3, 200)
    names, outputs = pt2_writer.write(stored, module, (x,))
    rewrite(stored, packed, lambda entries: entries)
    for path in stored, packed:
        results, text = run_local([path], {names[0]: x.numpy()}, "CPU",
                                  os.path.join(work, "run"))
        report.add(path, text if results is None else
                   check_outputs(results, {outputs[0]: module(x).detach().numpy()},
                                 Tolerance(of_largest=1e-6)))


def run_malformed(report, work):
    good = os.path.join(work, "good.pt2")
    pt2_writer.write(good, torch.nn.Linear(3, 2), (torch.randn(2, 3),))
    bad = os.path.join(work, "bad.pt2")
    model = "archive/models/model.json"

    def edit(change):
        def apply(entries):
            own = json.loads(entries[model])
            change(own)
            return {**entries, model: json.dumps(own)}
        return apply

    def drop(part):
        return lambda entries: {n: d for n, d in entries.items()
                                if part not in n}

    def set_version(own):
        own["schema_version"]["major"] = 9

    def set_target(own):
        own["graph_module"]["graph"]["nodes"][0]["target"] = \
            "torch.ops.mylib.foo.default"
    cases = [
        ("another version", edit(set_version), "schema version 9.*accepted: 8"),
        ("an unknown operator", edit(set_target), "torch.ops.mylib.foo"),
        ("a missing tensor", drop("weight_0"), "no entry 'data/weights"),
        ("no list of weights", drop("weights_config"), "no tensor"),
        ("no model", drop("models/"), "0 models"),
        ("no JSON", lambda e: {**e, model: b"{"}, "models/model.json"),
        ("deep JSON", lambda e: {**e, model: b"[" * 100000}, "nests deeper"),
        ("another byte order",
         lambda e: {**e, "archive/byteorder": b"big"}, "byte order"),
        ("the older layout", lambda e: {
            "serialized_exported_program.json": b"{}", "version": b"2"},
         "layout of PyTorch 2.7"),
        ("compiled code", lambda e: {
            "a/archive_format": b"pt2", "a/data/aotinductor/model/x.so": b"0"},
         "AOTInductor"),
        ("a ZIP bomb", lambda e: {**e, model: b" " * ((1 << 28) + 1)},
         "unpacks to"),
    ]
    for name, change, expected in cases:
        rewrite(good, bad, change)
        refuse(report, name, bad, expected, work)
    with open(good, "rb") as file:
        data = file.read()
    for name, bytes_, expected in [
            ("cut off", data[:len(data) // 2], "ZIP"),
            ("no ZIP", b"hello", "ZIP"), ("empty", b"", "ZIP"),
            ("a changed weight", change_weight(data), "weight_0.*corrupt")]:
        with open(bad, "wb") as file:
            file.write(bytes_)
        refuse(report, name, bad, expected, work)


def change_value(own, random):
    """Changes something in a random place of a JSON value."""
    places = []

    def walk(value):
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], (dict, list)):
                walk(value[key])
    walk(own)
    if not places:
        return
    value, key = random.choice(places)
    choice = random.randrange(5)
    if choice == 0:
        del value[key]
    elif choice == 1:
        value[key] = random.choice([None, True, -1, 0, 1 << 62, 1e300, "", "x",
                                    [], {}, [[]], {"as_int": -7}])
    elif choice == 2:
        other, own_key = random.choice(places)
        value[key] = copy.deepcopy(other.get(own_key) if isinstance(other, dict)
                                   else other[own_key:own_key + 1])
    elif choice == 3 and isinstance(value[key], int):
        value[key] = random.choice([value[key] + 1, -value[key], 1 << 40])
    elif isinstance(value[key], str):
        value[key] = value[key][:random.randrange(len(value[key]) + 1)]


def mutate(source, target, random):
    """Changes the graph, the lists of weights, or bytes anywhere."""
    if random.random() < 0.25:
        with open(source, "rb") as file:
            data = bytearray(file.read())
        for _ in range(random.randrange(1, 9)):
            data[random.randrange(len(data))] = random.randrange(256)
        with open(target, "wb") as file:
            file.write(data[:random.choice([len(data),
                                            random.randrange(len(data))])])
        return

    def change(entries):
        name = random.choice([n for n in entries if n.endswith(".json")] +
                             ["archive/models/model.json"] * 4)
        own = json.loads(entries[name])
        for _ in range(random.choice([1, 1, 2, 4])):
            change_value(own, random)
        return {**entries, name: json.dumps(own)}
    rewrite(source, target, change)


def run_mutated(report, count, work):
    """Archives with random changes: a bundle, or one line and exit code 1."""
    seeds = []
    wanted = ["attention", "conv2d", "pooling", "indexing", "lstm", "norms"]
    for name, module, inputs in torch_modules.cases():
        if name in wanted:
            path = os.path.join(work, name + ".pt2")
            pt2_writer.write(path, Flat(module.eval()), inputs)
            seeds.append(path)
    x = torch.tensor([1.0, 2.0, 3.5])
    for name, build in [("cond", branch_program), ("loop", loop_program)]:
        seeds.append(os.path.join(work, name + ".pt2"))
        pt2_writer.save(seeds[-1], build(x), {}, {})
    bad = os.path.join(work, "bad.pt2")
    for number in range(count):
        random = Random(number)
        mutate(random.choice(seeds), bad, random)
        code, text = run_tool("model-compiler", "-model=" + bad,
                              "-max-trip-count=9",
                              "-emit-bundle=" + os.path.join(work, "bundle"))
        lines = [line for line in text.splitlines() if line and
                 not line.startswith(("  node", "warning: "))]
        report.add(f"mutated {number}", "" if code == 0 or
                   (code == 1 and len(lines) == 1) else f"{code}: {text}")


class Learner(torch.nn.Module):
    """Parameters are trained, and a buffer stays as it is."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 2)
        self.register_buffer("scale", torch.tensor([0.5, 2.0]))

    def forward(self, x):
        return self.second(torch.tanh(self.first(x))) * self.scale


LEARN = """#include "net.h"
#include <stdio.h>
#include <string.h>

GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t region[NET_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t scratch[NET_ACTIVATIONS_MEM_SIZE];

int main(void) {
  static const float x[] = {X}, label[] = {LABEL};
  const float rate = 0.1f;
  if (net_restore_state(region, net_state, NET_STATE_SIZE) != GLOWISH_SUCCESS)
    return 1;
  memcpy(region + NET_TRAIN_STEP_learning_rate, &rate, sizeof rate);
  for (int step = 0; step < 3; ++step) {
    memcpy(region + NET_TRAIN_STEP_INPUT, x, sizeof x);
    memcpy(region + NET_TRAIN_STEP_label, label, sizeof label);
    if (net_train_step(net_weights, region, scratch) != GLOWISH_SUCCESS)
      return 2;
  }
  for (unsigned i = 0; i < NET_INFER_first_weight_SIZE; ++i) {
    float weight;
    memcpy(&weight, region + NET_INFER_first_weight + 4 * i, sizeof weight);
    printf("%.9g\\n", weight);
  }
  return 0;
}
"""


def run_training(report, work):
    """A bundle that learns: three steps by SGD move weights as PyTorch's do."""
    module, x, label = Learner(), torch.randn(3, 4), torch.randn(3, 2)
    path, folder = os.path.join(work, "learner.pt2"), os.path.join(work, "learner")
    pt2_writer.write(path, module, (x,))
    code, text = run_tool("model-compiler", "-model=" + path, "-train",
                          "-loss=mean-squared-error", "-emit-bundle=" + folder,
                          "-network-name=net", "-weights=embed")
    if code:
        report.add("training", text)
        return
    with open(os.path.join(folder, "net.h"), encoding="utf-8") as file:
        name = re.search(r"NET_TRAIN_STEP_(arg\w*|x)_DIMS", file.read()).group(1)
    source = LEARN.replace("NET_TRAIN_STEP_INPUT", "NET_TRAIN_STEP_" + name)
    for key, tensor in {"X": x, "LABEL": label}.items():
        source = source.replace("{" + key + "}", "{" + ", ".join(
            f"{value:.9g}f" if "." in f"{value:.9g}" else f"{value:.9g}.0f"
            for value in tensor.flatten().tolist()) + "}")
    main_c = os.path.join(folder, "main.c")
    with open(main_c, "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run(["cc", "-std=c99", "-I" + folder, main_c,
                    os.path.join(folder, "net.o"), "-lm", "-o",
                    os.path.join(folder, "learn")], check=True)
    output = subprocess.run([os.path.join(folder, "learn")], check=True,
                            capture_output=True, text=True).stdout
    solver = torch.optim.SGD(module.parameters(), lr=0.1)
    for _ in range(3):
        solver.zero_grad()
        torch.nn.functional.mse_loss(module(x), label).backward()
        solver.step()
    actual = torch.tensor([float(line) for line in output.split()])
    error = (actual - module.first.weight.detach().flatten()).abs().max().item()
    report.add("training", "" if error < 1e-5 else f"weights are off by {error}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--mutate", type=int, metavar="N")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    report = Report()
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as work:
        if arguments.mutate is not None:
            run_mutated(report, arguments.mutate, work)
            return report.finish()
        for name, module, inputs in torch_modules.cases():
            if not arguments.names or name in arguments.names:
                module, inputs = torch_modules.built(name, module, inputs)
                run_case(report, name, module, inputs, work)
        for case in torchscript_cases.CASES:
            if case.name in COMPLEX and (not arguments.names or
                                         case.name in arguments.names):
                run_case(report, case.name, RealResults(case.module), case.inputs, work)
        if not arguments.names:
            run_states(report, work)
            run_symbols(report, work)
            run_control(report, work)
            run_quantized(report, work)
            run_compressed(report, work)
            run_training(report, work)
            run_malformed(report, work)
            # parsers-pt2 and parsers-archive read what fuzzing has found.
            run_mutated(report, 40 if arguments.all else 10, work)
            run_networks(report, [] if arguments.all else SMALL, work)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
