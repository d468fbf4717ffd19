#!/usr/bin/python3
"""torchscript_symbols.py [NAME...]: modules of TorchScript with extents that runs decide.

Modules are scripted, and traced where that can be, and each is compiled once with ranges
of the symbols that -model-input states of its inputs' dimensions. They run at four
values each on both back ends: outputs and extents are PyTorch's. What a run must not
decide gets one line.

$GLOWISH_BIN: the programs (default build/release/bin). Exits 1 if something is wrong,
77 without PyTorch."""

import os
import re
import sys
import tempfile
from typing import List

from pytorch_or_skip import torch
from torch import nn
from torch.nn import functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(os.path.dirname(os.path.dirname(HERE)))
sys.path.insert(0, HERE)

from comparison import Report, check_outputs  # noqa: E402
from model_runs import BACKENDS, LoadedModel, glowish, run_tool  # noqa: E402
from torch_symbols import TOLERANCE, choose_points  # noqa: E402
from torchscript import flatten  # noqa: E402

BATCH = {"N": (1, 16)}
BOTH = {"N": (1, 8), "L": (1, 24)}
CASES = {}


class Case:
    """`inputs`: {name: dims, which are ints and names of symbols}. `kinds`: those of
    inputs that are not float. `traces`: whether tracing keeps what is computed."""

    def __init__(self, module, inputs, ranges, kinds=None, traces=True):
        self.module, self.inputs, self.ranges = module, inputs, ranges
        self.kinds, self.traces = kinds or {}, traces

    def make(self, point):
        """The inputs at these values of the symbols."""
        generator = torch.Generator().manual_seed(sum(point.values()))
        tensors = {}
        for name, dims in self.inputs.items():
            shape = [eval(d, {}, dict(point)) if isinstance(d, str) else d for d in dims]
            if self.kinds.get(name) == "int64":
                tensors[name] = torch.randint(0, 20, shape, generator=generator)
            else:
                tensors[name] = torch.randn(shape, generator=generator)
        return tensors

    def state_types(self):
        return [f"{name},{self.kinds.get(name, 'float')},"
                f"[{','.join(str(d) for d in dims)}]"
                for name, dims in self.inputs.items()]

    def state_symbols(self):
        return [f"{symbol},{low}..{high}" for symbol, (low, high) in self.ranges.items()]


def case(inputs, ranges, **more):
    def register(module):
        torch.manual_seed(1)
        CASES[module.__name__] = Case(module().eval(), inputs, ranges, **more)
        return module
    return register


@case({"x": ["N", 3, 16, 16]}, BATCH)
class Classifier(nn.Module):
    """A convolutional network, whose features are joined by the batch."""
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.linear = nn.Linear(8 * 4 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 4)
        return F.softmax(self.linear(x.view(x.size(0), -1)), dim=-1)


@case({"x": ["N", "L", 16]}, BOTH)
class Attention(nn.Module):
    """Heads that are split and joined by sizes."""
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(16, 16) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], 2, 8).transpose(1, 2)

    def forward(self, x):
        query, key, value = (self.split(self.query(x)), self.split(self.key(x)),
                             self.split(self.value(x)))
        scores = torch.matmul(query, key.transpose(-2, -1)) / 8 ** 0.5
        mixed = torch.matmul(torch.softmax(scores, -1), value)
        mixed = mixed.transpose(1, 2).contiguous()
        return self.out(mixed.view(mixed.size(0), mixed.size(1), -1))


@case({"words": ["N", "L"]}, BOTH, kinds={"words": "int64"})
class Words(nn.Module):
    """Embeddings, of positions too, and a mean by the length."""
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 12), nn.Embedding(24, 12)

    def forward(self, words):
        length = words.size(1)
        places = torch.arange(length, device=words.device)
        places = places.unsqueeze(0).expand(words.size(0), length)
        x = self.words(words) + self.places(places)
        return x.sum(1) / length, x.mean(1), x * length


@case({"x": ["N", "L", 6]}, BOTH)
class Arithmetic(nn.Module):
    """Sums, multiples and quotients of sizes, as shapes, edges and numbers."""
    def forward(self, x):
        n, length = x.shape[0], x.shape[1]
        rows = x.reshape(n * length, 6)
        half = x[:, :length // 2]
        longer = torch.cat([x, torch.zeros([n, 1, 6])], 1)
        return (rows, half, longer, longer.view(n, 6 * (length + 1)),
                torch.ones([n, 2 * length]) * (length + 1), x[:, -1],
                x.reshape(-1, length * 3))


@case({"x": ["N", "L", 6]}, BOTH)
class Joined(nn.Module):
    """Dimensions that are joined behind one that no run decides, and split again."""
    def forward(self, x):
        y = x.permute(2, 0, 1).reshape(6, -1)
        z = y.view(6, x.size(0), x.size(1))
        return y * 2, z.flatten(1) + 1, x.permute(2, 1, 0).flatten(0, 1)


@case({"x": ["N", "L", 6], "y": ["N", "L", 6]}, BOTH, traces=False)
class Decided(nn.Module):
    """Comparisons that are the same in all runs, checks, facts and lists of sizes."""
    def forward(self, x, y):
        if x.size(0) < 1 or x.dim() != 3:
            raise ValueError("no batch of " + str(x.size(0)))
        assert x.shape == y.shape, f"{x.shape} and {y.shape}"
        sizes = list(x.shape)
        sizes[2] = 3
        sizes.append(2)
        total = 0
        for i in range(3):
            total += x.size(1) * i
        if x.size(1) > 100:
            x = x * 2
        if x.is_contiguous():
            x = x + 1
        return x.view(sizes) * len(x), torch.tensor([x.numel(), total]), total


@case({"x": ["N", "L", 6]}, BOTH)
class Written(nn.Module):
    """What is written in place, whole and to parts that no run decides."""
    def forward(self, x):
        y = torch.zeros_like(x)
        y[:, :, 1:4] = x[:, :, 1:4] * 2
        y[:, :, 5] = 7.0
        y += x
        z = x.clone()
        z.mul_(3).add_(y)
        z.view(x.size(0), -1)
        full = torch.full_like(x, 2.5)
        full.fill_(1.5)
        return y, z, full, x.new_ones([x.size(1), 2])


@case({"x": ["N", "L", 5]}, BOTH)
class Recurrent(nn.Module):
    """An LSTM that begins with zeros for each text of the batch."""
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(5, 4, batch_first=True)
        self.linear = nn.Linear(4, 3)

    def forward(self, x):
        return self.linear(self.lstm(x[:, :1])[0])


@case({"x": ["N", 4, 6]}, BATCH)
class Repeated(nn.Module):
    """Tokens for each text, repeated, expanded and stacked."""
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 6))

    def forward(self, x):
        token = self.token.repeat(x.size(0), 1, 1)
        wide = self.token.expand(x.size(0), -1, -1)
        x = torch.cat([token, x, wide.expand_as(token)], 1)
        first, second = torch.broadcast_tensors(x[:, :1], x)
        return torch.stack([x, x * 2], 1), first + second, x.unflatten(1, [2, -1])


def make_program(own, is_traced):
    if not is_traced:
        return torch.jit.script(own.module)
    point = {symbol: max(low, 3) for symbol, (low, _) in own.ranges.items()}
    return torch.jit.trace(own.module, tuple(own.make(point).values()), check_trace=False)


def check(name, work, report):
    own = CASES[name]
    for is_traced in [False, True] if own.traces else [False]:
        path = os.path.join(work, name + ".pt")
        make_program(own, is_traced).save(path)
        how = name + (", traced" if is_traced else ", scripted")
        options = ["-model-input=" + text for text in own.state_types()]
        options += ["-define-symbol=" + text for text in own.state_symbols()]
        for backend in BACKENDS:
            try:
                model = LoadedModel([path], backend, options)
                for point in choose_points(own.ranges):
                    inputs = own.make(point)
                    expected = flatten(own.module(*[t.clone() for t in inputs.values()]),
                                       "output")
                    outputs = model.run({n: t.numpy() for n, t in inputs.items()})
                    report.add(f"{how} ({backend}) at {point}",
                               check_outputs(outputs, expected, TOLERANCE))
            except glowish.Error as error:
                report.add(f"{how} ({backend})", str(error))


# -- What is refused ---------------------------------------------------------


class Compares(nn.Module):
    def forward(self, x):
        if x.size(0) > 4:
            x = x * 2
        return x


class LoopsOver(nn.Module):
    def forward(self, x):
        for i in range(x.size(0)):
            x = x + i
        return x


class Unbinds(nn.Module):
    def forward(self, x):
        parts: List[torch.Tensor] = []
        for part in x.unbind(0):
            parts.append(part)
        return torch.stack(parts)


class Squeezes(nn.Module):
    def forward(self, x):
        return x.squeeze()


class WritesRow(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[-1] = 0.0
        return y


class WritesPart(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:x.size(0) // 2] = 0.0
        return y


class AsksStrides(nn.Module):
    def forward(self, x):
        return x.t().stride(0)


class BranchesOnData(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        return x


class Broadcasts(nn.Module):
    """Right for 16 rows and, in another way, for one."""
    def __init__(self):
        super().__init__()
        self.rows = nn.Parameter(torch.randn(16, 4))

    def forward(self, x):
        return x + self.rows


class Keeps(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(1, 4)

    def forward(self, x):
        self.last = x
        return x


class Converts(nn.Module):
    def forward(self, x):
        return x.view(int(float(x.size(0)) * 2), -1)


class Passes(nn.Module):
    def forward(self, x):
        return x + 1


TYPE, SYMBOL = "x,float,[N,4]", "N,1..16"
REFUSED = [
    (Compares, TYPE, SYMBOL, r"aten::gt.*the extent N, which a run decides and the int 4 "
     r"is not known.*accepted: sums.*comparisons with one result"),
    (LoopsOver, TYPE, SYMBOL, r"Loop.*the extent N, which a run decides; accepted: an int "
     r"that no run decides"),
    (Unbinds, TYPE, SYMBOL, r"unbind.*accepted"),
    (Squeezes, TYPE, SYMBOL, r"squeeze.*result 0 would be float<16\{N\}x4>, and is "
     r"float<4> where N is 1; accepted"),
    (WritesRow, TYPE, SYMBOL, r"(select|copy_|fill_).*accepted"),
    (WritesPart, TYPE, SYMBOL, r"(copy_|fill_).*it writes to a part.*accepted: parts with "
     r"all indices"),
    (AsksStrides, TYPE, SYMBOL, r"stride.*accepted: extents that no run decides"),
    (BranchesOnData, TYPE, SYMBOL, r"in a branch or loop that data decide; accepted there"),
    (Broadcasts, TYPE, SYMBOL, r"add.*result 0 would be float<16\{N\}x4>, and is "
     r"float<16x4> where N is 1; accepted"),
    (Keeps, TYPE, SYMBOL, r"it sets the attribute 'last' to a tensor, float<16\{N\}x4>; "
     r"accepted: extents that no run decides"),
    (Converts, TYPE, SYMBOL, r"view.*accepted"),
    (Passes, "x,float,[3,4]", SYMBOL, r"no dimension of an input is 'N', for which "
     r"-define-symbol .* gives 1\.\.16; accepted: symbols in the types that -model-input="),
    (Passes, TYPE, "M,1..16", r"'N' depends on the symbol 'N', which has neither"),
]


def check_refused(work, report):
    path = os.path.join(work, "refused.pt")
    for module, kind, symbol, line in REFUSED:
        torch.jit.script(module().eval()).save(path)
        code, text = run_tool("model-compiler", "-model=" + path, "-model-input=" + kind,
                              "-define-symbol=" + symbol,
                              "-emit-bundle=" + os.path.join(work, "none"))
        is_right = code == 1 and text.count("\n") == 1 and re.search(line, text)
        report.add(f"{module.__name__} ({symbol})",
                   "" if is_right else f"exit code {code}: {text.strip()}")


def main():
    if glowish is None:
        print("skipped: there is no Python module")
        return 77
    report = Report()
    with tempfile.TemporaryDirectory() as work:
        names = sys.argv[1:] or [*CASES, "refused"]
        for name in names:
            if name == "refused":
                check_refused(work, report)
            else:
                check(name, work, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
