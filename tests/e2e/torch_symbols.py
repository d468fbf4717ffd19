#!/usr/bin/python3
"""torch_symbols.py [NAME...]: exported programs (.pt2) with extents that runs decide.

pt2_symbols.py writes them. Each is compiled once, with the ranges of the file or with
those that an option states, and run at several values of its symbols on both back ends:
its outputs and their extents are PyTorch's, and as a bundle one program's, too. What
has no largest value, or an operator that needs a number, gets one line.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong,
77 without PyTorch."""

import os
import re
import sys
import tempfile

from pytorch_or_skip import torch

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Report, Tolerance, check_outputs  # noqa: E402
from model_runs import BACKENDS, LoadedModel, glowish, run_tool  # noqa: E402
from pt2_symbols import Recorder  # noqa: E402

TOLERANCE = Tolerance(of_largest=1e-5, smallest=1e-3)
BATCH = {"s0": (1, 16)}
LENGTH = {"s1": (1, 64)}
BOTH = {**BATCH, **LENGTH}
PROGRAMS = {}


def program(ranges, option=None):
    """Registers a function that records a program and returns its results. `option`:
    {symbol: (low, high)} of an option, for those that the file states no largest of."""
    def register(function):
        PROGRAMS[function.__name__] = function, ranges, option or {}
        return function
    return register


@program(BATCH)
def mlp(p):
    x = p.input("x", ["s0", 20])
    x = p("relu", p("linear", x, p.parameter(32, 20), p.parameter(32)))
    return [p("linear", x, p.parameter(10, 32), p.parameter(10))]


@program({"s0": (1, 16), "s1": (8, 40)})
def cnn(p):
    """Pools, and a global pool of images whose height runs decide, too."""
    x = p.input("x", ["s0", 3, "s1", 24])
    x = p("conv2d", x, p.parameter(8, 3, 3, 3), p.parameter(8), [1, 1], [1, 1])
    x = p("max_pool2d", p("relu", x), [2, 2], [2, 2])
    x = p("conv2d", x, p.parameter(12, 8, 3, 3), p.parameter(12), [1, 1], [1, 1])
    x = p("adaptive_avg_pool2d", p("relu", x), [1, 1])
    return [p("linear", p("flatten.using_ints", x, 1), p.parameter(5, 12))]


@program({"s0": (1, 3), "s1": (8, 21), "s2": (9, 24)})
def pools(p):
    """Windows that reach behind the ends of images, whose sides runs decide."""
    x = p.input("x", ["s0", 3, "s1", "s2"])
    window = [3, 3], [2, 2], [1, 1]
    largest, _ = p("max_pool2d_with_indices", x, *window, [1, 1], True)
    return [largest, p("avg_pool2d", x, *window, True, False),
            p("avg_pool2d", x, *window, True, True)]


@program(BOTH)
def encoder_layer(p):
    """Attention of two heads, normalized, and two linear layers."""
    x = p.input("x", ["s0", "s1", 16])
    batch, length = p.size(x, 0), p.size(x, 1)

    def heads(value):
        value = p("view", value, [batch, length, 2, 8])
        return p("transpose.int", value, 1, 2)
    query, key, value = (heads(p("linear", x, p.parameter(16, 16), p.parameter(16)))
                         for _ in range(3))
    scores = p("matmul", query, p("transpose.int", key, -2, -1))
    weights = p("softmax.int", p("mul.Scalar", scores, 8 ** -0.5), -1)
    mixed = p("transpose.int", p("matmul", weights, value), 1, 2)
    mixed = p("reshape", mixed, [batch, length, 16])
    x = p("add.Tensor", x, p("linear", mixed, p.parameter(16, 16), p.parameter(16)))
    x = p("layer_norm", x, [16], p.parameter(16), p.parameter(16))
    inner = p("gelu", p("linear", x, p.parameter(32, 16), p.parameter(32)))
    inner = p("linear", inner, p.parameter(16, 32), p.parameter(16))
    return [p("layer_norm", p("add.Tensor", x, inner), [16], p.parameter(16),
              p.parameter(16))]


def attend(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) * key.shape[-1] ** -0.5, -1)
    return weights @ value


@program({"s0": (1, 16), "s1": (1, None)}, option={"s1": (1, 48)})
def fused_attention(p):
    """The operator that PyTorch's layers call; the file has no largest length."""
    query = p.input("q", ["s0", 2, "s1", 8])
    key, value = p.input("k", ["s0", 2, "s1", 8]), p.input("v", ["s0", 2, "s1", 8])
    return [p("scaled_dot_product_attention", compute=attend, query=query, key=key,
              value=value)]


@program(BOTH)
def mean_of_words(p):
    """Embeddings of words, and of their positions, and the mean over the length, as
    the operator and by a division by the extent."""
    words = p.input("words", ["s0", "s1"], lambda *n: torch.randint(0, 50, n))
    length = p.size(words, 1)
    x = p("embedding", p.parameter(50, 12), words)
    places = p("arange", length, device=torch.device("cpu"), pin_memory=False)
    x = p("add.Tensor", x, p("embedding", p.parameter(64, 12), places))
    sums = p("sum.dim_IntList", x, [1])
    return [p("mean.dim", x, [1]), p("div.Tensor", sums, length)]


@program(LENGTH)
def normalized_length(p):
    """What is normalized along the length, and its variance."""
    x = p.input("x", [2, 6, "s1"])
    spread = p("var.correction", x, [2], correction=0)
    return [p("softmax.int", x, 2), spread, p("cumsum", x, 2)]


@program({"s0": (1, 16), "s1": (1, 20), "s2": (0, 30)})
def concatenation(p):
    """Lengths whose sum is that of the result."""
    x, y = p.input("x", ["s0", "s1", 4]), p.input("y", ["s0", "s2", 4])
    both = p("cat", [x, y], 1)
    return [both, p("sum.dim_IntList", both, [1])]


@program({"s0": (1, 16)})
def shapes(p):
    """reshape with -1, flatten, expand, and new tensors."""
    x = p.input("x", ["s0", 4, 6])
    batch = p.size(x, 0)
    rows = p("reshape", x, [-1, 6])
    token = p("expand", p.parameter(1, 1, 6), [batch, 1, 6])
    longer = p("cat", [token, x], 1)
    ones = p("ones", [batch, 2], device=torch.device("cpu"), pin_memory=False)
    flat = p("flatten.using_ints", longer, 1)
    return [rows, p("cat", [flat, ones], 1), p("view", rows, [batch * 2, 12])]


@program({"s0": (1, 8), "s1": (1, 12)})
def joined(p):
    """Dimensions that are joined behind one that no run decides, and split again."""
    x = p.input("x", [3, "s0", "s1"])
    rows, columns = p.size(x, 1), p.size(x, 2)
    flat = p("view", x, [3, rows * columns])
    back = p("reshape", p("mul.Scalar", flat, 2), [3, rows, columns])
    turned = p("flatten.using_ints", p("permute", x, [2, 0, 1]), 1)
    return [p("neg", flat), back, p("neg", turned), p("expand_as", x, back)]


@program({"s0": (2, 16), "s1": (3, 40)})
def slices(p):
    """From both ends, every other one, and the last one."""
    x = p.input("x", ["s0", "s1", 5])
    length = p.size(x, 1)
    return [p("slice.Tensor", x, 1, 1, 9223372036854775807),
            p("slice.Tensor", x, 1, 0, -1), p("slice.Tensor", x, 1, 0, length - 2),
            p("slice.Tensor", x, 1, 0, 9223372036854775807, 2),
            p("select.int", x, 1, -1), p("select.int", x, 0, 0)]


@program({"s0": (1, 8), "s1": (1, 40)})
def matmul_over_length(p):
    """A matmul whose summed dimension has the length."""
    x, y = p.input("x", ["s0", 3, "s1"]), p.input("y", ["s0", "s1", 7])
    return [p("matmul", x, y), p("bmm", x, y)]


@program({"s1": (3, 40)})
def from_the_end(p):
    """Negative indices, and variances, which divide by the extent less one."""
    x = p.input("x", ["s1", 6])
    rows = p.input("rows", [4], lambda n: torch.tensor([-1, 0, -3, 2]))
    return [p("index.Tensor", x, [rows]), p("var.correction", x, [0], correction=1),
            p("std.dim", x, [0], True)]


@program({"s1": (3, 40)})
def replaced_rows(p):
    """By indices from the end."""
    x = p.input("x", ["s1", 6])
    rows = p.input("rows", [3], lambda n: torch.tensor([-1, 0, -3]))
    return [p("index_fill.int_Scalar", x, 0, rows, 7)]


@program({"s1": (3, 40)})
def every_other_replaced(p):
    x = p.input("x", [2, "s1"])
    odd = p("slice.Tensor", x, 1, 1, 9223372036854775807, 2)
    return [p("slice_scatter", x, p("neg", odd), 1, 1, 9223372036854775807, 2)]


@program({"s1": (3, 40)})
def rolled(p):
    """Elements from the front come behind the last one."""
    x = p.input("x", [2, "s1"])
    return [p("roll", x, [-2], [1]), p("roll", x, [0, 1], [1, 0])]


@program({"s0": (1, 8), "s1": (1, 40)})
def ordered(p):
    """All elements in order, and what is chosen and written by their places."""
    x = p.input("x", [2, "s0", "s1"])
    values, places = p("sort", x, 2, True)
    back = p("scatter.src", p("neg", x), 2, places, values)
    return [values, back, p("gather", back, 2, places),
            p("scatter_add", x, 2, places, values)]


@program({"s0": (2, 8), "s1": (1, 40)})
def rows_by_index(p):
    """Rows in the middle, from the end, too."""
    x = p.input("x", ["s0", 3, "s1"])
    rows = p.input("rows", [2, 1], lambda n, m: torch.tensor([[-1], [0]]))
    columns = p.input("columns", [4], lambda n: torch.tensor([2, -3, 1, 1]))
    return [p("index.Tensor", x, [rows, columns]), p("index.Tensor", x, [None, columns])]


@program({"s0": (1, 8)})
def recurrent(p):
    """An LSTM whose batch runs decide."""
    x = p.input("x", ["s0", 6, 5])
    batch = p.size(x, 0)
    zeros = p("zeros", [1, batch, 4], device=torch.device("cpu"), pin_memory=False)
    weights = [p.parameter(16, 5), p.parameter(16, 4), p.parameter(16),
               p.parameter(16)]
    return p("lstm.input", x, [zeros, zeros], weights, True, 1, 0.0, False, False, True)


def choose_points(ranges):
    """Four values: the largest, the smallest, and two between them; symbols take them
    in another order each."""
    points = []
    for k in range(4):
        point = {}
        for i, (name, (low, high)) in enumerate(ranges.items()):
            values = [high, low, (low + high) // 2, low + (high - low) // 3]
            point[name] = values[(k + (i if k > 1 else 0)) % 4 if k > 1 else k]
        points.append(point)
    return points


def compare(outputs, names, results, point, keeps=True):
    """What is wrong with outputs; empty if nothing is."""
    expected = {name: result.tensors[point].numpy() for name, result in zip(names, results)}
    return check_outputs(outputs, expected, TOLERANCE, keeps)


def check(name, work, report):
    define, ranges, stated = PROGRAMS[name]
    path = os.path.join(work, name + ".pt2")
    recorder = Recorder(ranges)
    names = recorder.save(path, *define(recorder))
    points = choose_points({**ranges, **stated})
    truth = Recorder(ranges, points)
    results = define(truth)
    options = [f"-define-symbol={symbol},{low}..{high}"
               for symbol, (low, high) in stated.items()]
    for backend in BACKENDS:
        try:
            model = LoadedModel([path], backend, options)
            for i, point in enumerate(points):
                outputs = model.run({n: tensors[i].numpy()
                                     for n, tensors in truth.inputs.items()})
                report.add(f"{name} ({backend}) at {point}", compare(outputs, names, results, i))
        except glowish.Error as error:
            report.add(f"{name} ({backend})", str(error))


def check_bundle(name, work, report):
    """One bundle, which runs at all values."""
    define, ranges, _ = PROGRAMS[name]
    path, out = os.path.join(work, name + ".pt2"), os.path.join(work, "bundle")
    recorder = Recorder(ranges)
    names = recorder.save(path, *define(recorder))
    code, text = run_tool("model-compiler", "-model=" + path, "-network-name=net",
                          "-emit-bundle=" + out)
    if code != 0:
        report.add(f"{name} (bundle)", text)
        return
    bundle = glowish.bundle(os.path.join(out, "net.o"))
    points = choose_points(ranges)
    truth = Recorder(ranges, points)
    results = define(truth)
    for i, point in enumerate(points):
        outputs = bundle.run({n: tensors[i].numpy()
                              for n, tensors in truth.inputs.items()})
        report.add(f"{name} (bundle) at {point}",
                   compare(outputs, names, results, i, keeps=False))


def pools(p):
    """Windows that depend on the height."""
    x = p.input("x", [1, 3, "s0", 24])
    return [p("adaptive_avg_pool2d", x, [4, 4])]


def compares(p):
    """A slice whose end is before or behind that of the tensor."""
    x = p.input("x", ["s0", 4])
    return [p("slice.Tensor", x, 0, 0, 16)]


def doubled(p):
    """An input with twice the extent of another."""
    y = p.input("y", ["s0"])
    x = p.input("x", ["s0", 4])
    x.tensors = [torch.randn(2 * t.shape[0], 4) for t in y.tensors]
    p.tensor_values["x"] = p.meta(x.tensors)
    return [p("relu", x), p("relu", y)]


def replaces_from_end(p):
    x = p.input("x", ["s0", 4])
    return [p("slice_scatter", x, p.parameter(3, 4), 0, -4, -1)]


def replaces_every_other(p):
    x = p.input("x", ["s0", 4])
    return [p("slice_scatter", x, p.parameter(2, 4), 0, -4, 9223372036854775807, 2)]


def replaces_to_end(p):
    """Of a larger bound there is nothing from the last four to the third."""
    x = p.input("x", ["s0", 4])
    return [p("slice_scatter", x, p("slice.Tensor", x, 0, 0, 0), 0, -4, 2)]


def replaces_one(p):
    x = p.input("x", ["s0", 4])
    return [p("select_scatter", x, p.parameter(4), 0, -2)]


def narrows(p):
    return [p("narrow", p.input("x", ["s0", 4]), 0, -2, 1)]


def rolls(p):
    return [p("roll", p.input("x", ["s0", 4]), [15], [0])]


def squares(p):
    """As many elements as two extents, each of which fits, have in all."""
    size = p.size(p.input("x", ["s0"]), 0)
    return [p("zeros", [size * size], device=torch.device("cpu"), pin_memory=False)]


def counts(p):
    size = p.size(p.input("x", ["s0"]), 0)
    return [p("arange", size * size, device=torch.device("cpu"), pin_memory=False)]


def branches(p):
    """A branch that multiplies by an extent."""
    def tensor(name):
        return {"as_tensor": {"name": name}}

    def node(target, inputs, output, name):
        return {"target": "torch.ops.aten." + target, "metadata": {}, "name": name,
                "inputs": [{"name": n, "arg": a} for n, a in inputs],
                "outputs": [output]}
    x = p.input("x", ["s0", 4])
    total = p("sum", x)
    inner = {
        "inputs": [tensor("a")], "outputs": [tensor("d")],
        "tensor_values": {"a": p.meta(x.tensors), "t": p.meta(total.tensors),
                          "d": p.meta(total.tensors)},
        "sym_int_values": {}, "sym_bool_values": {}, "custom_obj_values": {},
        "is_single_tensor_return": False, "nodes": [
            node("sym_size.int", [("self", tensor("a")), ("dim", {"as_int": 0})],
                 {"as_sym_int": {"as_name": "n"}}, "n"),
            node("sum.default", [("self", tensor("a"))], tensor("t"), "t"),
            node("mul.Tensor", [("self", tensor("t")),
                                ("other", {"as_sym_int": {"as_name": "n"}})],
                 tensor("d"), "d")]}
    name = p.name("cond")
    p.add_node("torch.ops.higher_order.cond", [
        ("", p.argument(p("gt.Scalar", total, 0))),
        ("", {"as_graph": {"name": "true_graph_0", "graph": inner}}),
        ("", {"as_graph": {"name": "false_graph_0", "graph": inner}}),
        ("", {"as_tensors": [{"name": "x"}]})], [tensor(name)], name)
    return [p.add(name, total.tensors)]


# A program, its ranges, options and what the line says.
REFUSED = [
    (mlp, {"s0": (1, None)}, [], "largest value of the symbol 's0'.*-define-symbol="
     "s0,1..16"),
    (mlp, BATCH, ["-define-symbol=s0,1..100"], "'s0' is 1 to 100; accepted: 1 to 16"),
    (mlp, BATCH, ["-define-symbol=s0,17"], "'s0' is 17; accepted: 1 to 16"),
    (mlp, BATCH, ["-define-symbol=s3,2..4"], "no dimension of an input is 's3'"),
    (pools, {"s0": (8, 64)}, [], "adaptive_avg_pool2d.*an output_size of 1"),
    (compares, {"s0": (4, 64)}, [], "slice.*argument 'end' is the int 16; accepted"),
    (replaces_from_end, {"s0": (15, 16)}, [], "slice_scatter.*argument 'start' is the int "
     "-4; accepted: a number which isn't counted from an end that a run decides"),
    (replaces_every_other, {"s0": (4, 16)}, [], "slice_scatter.*argument 'start' is the "
     "int -4; accepted"),
    (replaces_to_end, {"s0": (4, 16)}, [], "slice_scatter.*argument 'start' is the int -4; "
     "accepted"),
    (replaces_one, {"s0": (15, 16)}, [], "select_scatter.*argument 'index' is the int -2; "
     "accepted"),
    (narrows, {"s0": (15, 16)}, [], "narrow.*argument 'start' is the int -2; accepted"),
    (rolls, {"s0": (1, 16)}, [], "roll.*argument 'shifts' is a list of 1; accepted: shifts "
     "towards the front"),
    (squares, {"s0": (1, 1 << 33)}, [], "zeros.*argument 'size' is s0\\*s0, of which the "
     "largest value does not fit 64 bits"),
    (counts, {"s0": (1, 1 << 33)}, [], "arange.*argument 'end' is s0\\*s0, of which the "
     "largest value does not fit 64 bits"),
    (branches, {"s0": (1, 16)}, [], "mul.*it computes with s0, which a run decides, in a "
     "branch or loop; accepted: known numbers"),
    (mlp, BATCH, ["-define-symbol=s0,1..8", "-model-input=x,float,[3,20]"],
     "input 'x' is float<8{s0}x20>; stated for it is float<3x20>"),
    (doubled, {"s0": (1, 16)}, ["-model-input=x,float,[6,4]"],
     "input 'x' is float<32{2\\*s0}x4>; stated for it is float<6x4>"),
]


def check_refused(work, report):
    path = os.path.join(work, "refused.pt2")
    for define, ranges, options, line in REFUSED:
        recorder = Recorder(ranges)
        recorder.save(path, *define(recorder))
        code, text = run_tool("model-compiler", "-model=" + path, *options,
                              "-emit-bundle=" + os.path.join(work, "none"))
        is_right = code == 1 and text.count("\n") == 1 and re.search(line, text)
        report.add(f"{define.__name__} {ranges} {options}", "" if is_right else text)


def main():
    if glowish is None:
        print("skipped: there is no Python module")
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as work:
        for name in sys.argv[1:] or PROGRAMS:
            check(name, work, report)
        if not sys.argv[1:]:
            check_bundle("mean_of_words", work, report)
            check_refused(work, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
