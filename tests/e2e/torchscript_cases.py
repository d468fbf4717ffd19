"""Modules of PyTorch for torchscript.py, and what is expected of them."""

import dataclasses
import math
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclasses.dataclass
class Case:
    """A module that is traced or scripted, with its inputs."""
    name: str
    module: nn.Module
    inputs: tuple
    is_traced: bool = False
    # Whether the small share of tests has it.
    is_quick: bool = False
    # How often it is called, with other inputs each time.
    calls: int = 1
    options: tuple = ()
    # What the line says that refuses it; none if it must be right.
    refused: str = ""
    tolerance: float = 1e-5
    has_gradients: bool = False  # it computes gradients
    # What the program is changed by before it is saved.
    transform: Callable = lambda program: program
    # What the results are, where this PyTorch does not compute them.
    reference: Optional[Callable] = None


CASES = []


def case(*inputs, **options):
    """Adds a class of modules, under its name."""
    def add(cls):
        torch.manual_seed(len(CASES))
        CASES.append(Case(cls.__name__, cls().eval(), inputs, **options))
        return cls
    return add


def normal(*shape):
    """Floats of a seed that follows from their shape."""
    torch.manual_seed(sum(shape) + 17 * len(shape))
    return torch.randn(*shape)


# Structures --------------------------------------------------------------


class Point(NamedTuple):
    """A tuple with names."""
    x: Tensor
    y: Tensor


@case(normal(3, 7), is_quick=True)
class Tuples(nn.Module):
    def forward(self, x):
        p = Point(x + 1, x * 2)
        a, b = (p.x.sum(dim=1), p.y.mean())
        return p, (a, [b, a[0]])


@case(normal(3, 7), normal(7, 3))
class Dictionaries(nn.Module):
    def forward(self, x, y) -> Dict[str, Tensor]:
        d = {"a": x, "b": y.t()}
        d["c"] = d["a"] + d["b"]
        if "e" in d:
            d["c"] = d["e"]
        total = torch.zeros(1)
        for key, value in d.items():
            if key != "a":
                total = total + value.sum()
        d["total"] = total
        return d


@case([normal(3, 5), normal(1, 5)], {"k": normal(5), "l": normal(3, 1)})
class ListOfInputs(nn.Module):
    def forward(self, xs: List[Tensor], d: Dict[str, Tensor]):
        return [x * d["k"] + d["l"] for x in xs]


@case(normal(1, 3, 17, 17), (normal(1, 3, 1, 1), normal(3, 1, 1)),
      is_traced=True)
class TupleOfInputs(nn.Module):
    def forward(self, x, scale: Tuple[Tensor, Tensor]):
        return x * scale[0] + scale[1]


@case(normal(4, 3))
class OptionalInput(nn.Module):
    def forward(self, x, mask: Optional[Tensor] = None, scale: float = 0.5,
                name: str = "mean"):
        if mask is not None:
            x = x * mask
        if name == "mean":
            return x.mean(dim=0) * scale
        return x


@case(normal(2, 3, 4))
class ListMethods(nn.Module):
    def forward(self, x):
        sizes: List[int] = []
        for i in range(x.dim()):
            sizes.append(x.size(i))
        sizes.reverse()
        last = sizes.pop()
        sizes.insert(0, last)
        sizes.extend([1, 1])
        parts = [x] * 2 + [x * 2]
        parts[1] = parts[1] + 1
        return torch.cat(parts[::-1], 0).reshape(sizes[0] * 3, -1), \
            x.sum() * len(sizes) + sizes.index(1) + max(sizes) + sum(sizes)


@case(normal(3, 4), is_traced=True)
class TracedExtents(nn.Module):
    def forward(self, x):
        b, n = x.shape
        y = x.reshape(b * 2, n // 2)
        return y.view(-1, b).expand(2, -1, -1) * x.shape[0], x.new_zeros(b, 2)


# Numbers and conditions ---------------------------------------------------


@case(normal(5, 3))
class Arithmetic(nn.Module):
    def forward(self, x):
        a, b = x.size(0), x.size(1)
        c = a // b + a % b - (-a) // b + (-a) % b + a * a
        d = a / b + math.sqrt(a) + float(b) ** 0.5 + math.floor(2.7)
        d = d + a ** 2
        e = min(a, b) + max(c, 2) + abs(-b) + int(2.9) + round(1.6)
        if (a > b and not b == 3) or c != 4:
            d = d + 1
        return x * c + d * e, torch.tensor([[a, b], [c, 1]])


@case(normal(5, 3), is_quick=True)
class BranchOnData(nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            y, k = x * 2, 3
        else:
            y, k = x - 1, 4
        return y * k


@case(-normal(5, 3).abs())
class BranchInBranch(nn.Module):
    def forward(self, x):
        y = x
        if x.max() > 0:
            y = x.relu()
        elif float(x.min()) < -1.0:
            y = x.abs()
            if x[0, 0] > x[0, 1]:
                y = y + 1
        return y, x


@case(normal(4, 4))
class CheckedInput(nn.Module):
    def forward(self, x):
        if x.size(0) != 4:
            raise ValueError("four rows, not {}".format(x.size(0)))
        assert x.dim() == 2, "a matrix"
        return F.dropout(x.softmax(-1), 0.5, self.training)


@case(normal(3, 4), refused="the program raises 'four rows, not 3'")
class RaisingInput(CheckedInput):
    pass


@case(torch.tensor([5, 2, 9, 1]), normal(4, 3), options=("-max-trip-count=9",))
class LoopOnData(nn.Module):
    def forward(self, n, x):
        total = torch.zeros(3)
        i = 0
        while i < int(n[1]) + 1:
            total = total + x[i]
            i += 1
        return total, i


@case(normal(4, 3), options=("-max-trip-count=100",), is_quick=True)
class Newton(nn.Module):
    """Iterates until it is close."""
    def forward(self, x):
        a = x.abs() + 0.5
        y = torch.ones_like(a)
        count = 0
        while bool((y * y - a).abs().max() > 1e-3):
            y = 0.5 * (y + a / y)
            count += 1
        return y, torch.tensor(count)


@case(normal(4, 3), refused="the loop has no bound")
class NewtonWithoutBound(Newton):
    pass


@case(normal(40, 8))
class LongLoop(nn.Module):
    """Becomes a Loop node, with a state that is a tuple."""
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(8, 5)

    def forward(self, x):
        h = torch.zeros(1, 5)
        c = torch.zeros(1, 5)
        for i in range(x.size(0)):
            h, c = self.cell(x[i].unsqueeze(0), (h, c))
        return h, c


@case(normal(6, 4), is_quick=True)
class ListOfLoop(nn.Module):
    """An LSTM whose outputs are collected in a list."""
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 5)

    def forward(self, x):
        h, c = torch.zeros(1, 5), torch.zeros(1, 5)
        outputs: List[Tensor] = []
        for step in x.split(1, 0):
            h, c = self.cell(step, (h, c))
            outputs.append(h)
        return torch.stack(outputs, 1)


@case(normal(7, 3))
class BreakAndContinue(nn.Module):
    def forward(self, x):
        total = torch.zeros(3)
        for i in range(x.size(0)):
            if i == 1:
                continue
            if i > 4:
                break
            total = total + x[i] * i
        return total


@case(normal(7, 3), options=("-max-trip-count=7",))
class BreakOnData(nn.Module):
    def forward(self, x):
        total = torch.zeros(3)
        for i in range(x.size(0)):
            total = total + x[i]
            if bool(total.sum() > 1.5):
                break
        return total


@case(normal(11), normal(11, 11), options=("-max-trip-count=6",))
class BeamSearch(nn.Module):
    """Keeps the best sequences, until they end or are too long."""
    def forward(self, start, step):
        scores, tokens = start.log_softmax(0).topk(3)
        table = step.log_softmax(1)
        sequences = torch.zeros(3, 6, dtype=torch.int64)
        sequences[:, 0] = tokens
        length = 1
        while length < 6 and bool((tokens != 0).any()):
            total = scores.unsqueeze(1) + table[tokens]
            scores, best = total.flatten().topk(3)
            origin = torch.div(best, 11, rounding_mode="floor")
            tokens = best % 11
            sequences = sequences[origin]
            sequences[:, length] = tokens
            length += 1
        return sequences, scores


# States -------------------------------------------------------------------


@case(normal(1, 4), calls=4, is_quick=True)
class MovingMean(nn.Module):
    """Buffers that are changed in place and set."""
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(1, 4))
        self.register_buffer("last", torch.full((1, 4), 2.0))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x, alpha=0.1)
        change = x - self.last
        self.last = x
        return self.mean / (1 - 0.9 ** self.count.float()), change


@case(normal(2, 3), calls=3)
class Counter(nn.Module):
    """A number that each run changes."""
    def __init__(self):
        super().__init__()
        self.step = 3

    def forward(self, x):
        self.step += 2
        return x * self.step


@case(normal(1, 6), calls=4)
class LazyState(nn.Module):
    """A state that the first run makes."""
    state: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.state = None
        self.ready = False

    def forward(self, x):
        state = self.state
        if state is None:
            state = torch.ones_like(x)
        new = 0.5 * state + x
        self.state = new
        self.ready = True
        return new


@case(normal(1, 6), calls=3)
class GrowingEmptyState(nn.Module):
    """A state without elements before the first run."""
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(0)

    def forward(self, x):
        if len(self.state) == 0:
            self.state = torch.zeros(2, 6)
        self.state = torch.cat([self.state[1:], x], 0)
        return self.state.sum(0)


@case(normal(1, 6), refused="after one run and")
class GrowingState(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = torch.zeros(0, 6)

    def forward(self, x):
        self.state = torch.cat([self.state, x], 0)
        return self.state.sum(0)


# Calls --------------------------------------------------------------------


@torch.jit.script
def amplify_positive(x):
    if bool(x.sum() > 0):
        return x * 3
    return x - 1


@case(normal(2, 3) * 0.01 + 0.05, is_traced=True, is_quick=True, calls=2)
class TracedCall(nn.Module):
    """A trace keeps the branches of a function that was scripted: the second call takes
    another one than the trace did."""
    def forward(self, x):
        return amplify_positive(x + 0.001) * 2


@case(normal(2, 3))
class Printing(nn.Module):
    """Prints nothing when it runs."""
    def forward(self, x):
        print("the largest of", x.size(0), "rows:", x.max())
        return x.relu()


# Networks -----------------------------------------------------------------


@case(normal(1, 3, 17, 17), is_traced=True, is_quick=True)
class SmallNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.depth = nn.Conv2d(8, 8, 3, stride=2, groups=8)
        self.fc = nn.Linear(8, 5)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = F.relu(self.norm(self.conv(x)), inplace=True)
        x = F.max_pool2d(F.hardswish(self.depth(x)), 2)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


@case(normal(1, 3, 17, 17))
class ScriptedNetwork(SmallNetwork):
    pass


@case(normal(2, 9, 16))
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, 4, 4).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = (q @ k.transpose(-2, -1)) * (4 ** -0.5)
        mask = torch.ones(n, n).tril() > 0
        scores = scores.masked_fill(~mask, -float("inf"))
        x = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c)
        return self.out(x)


@case(normal(5, 2, 16), is_traced=True)
class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32)
        self.layers = nn.TransformerEncoder(layer, 2)

    def forward(self, x):
        return self.layers(x)


@case(normal(5, 3, 16), is_traced=True)
class FastTransformer(nn.Module):
    """Without gradients a layer is one operator of PyTorch."""
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        first = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True,
                                           norm_first=True, activation="gelu")
        self.layers = nn.ModuleList([layer, first])
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.requires_grad_(False)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.attention(x, x, x)


@case(normal(2, 7, 6), is_traced=True)
class TracedLstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 5, num_layers=2, batch_first=True,
                            bidirectional=True)
        self.gru = nn.GRU(10, 4, batch_first=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        z, last = self.gru(y)
        return z, h, c, last


@case(normal(2, 7, 6))
class ScriptedLstm(TracedLstm):
    pass


@case(torch.tensor([[1, 5, 2, 0], [3, 3, 9, 4]]))
class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6, padding_idx=0)
        self.norm = nn.LayerNorm(6)

    def forward(self, ids):
        lengths = (ids != 0).sum(1, keepdim=True)
        return self.norm(self.table(ids)).sum(1) / lengths


@case(normal(1, 4, 9, 9), is_traced=True)
class ImageOperators(nn.Module):
    def forward(self, x):
        a = F.interpolate(x, scale_factor=2.0, mode="bilinear",
                          align_corners=False)
        b = F.pixel_shuffle(x, 2)
        c = F.pad(x, [1, 2, 0, 1], mode="constant", value=0.5)
        d = F.avg_pool2d(c, 3, stride=2, padding=1, count_include_pad=False)
        return a, b, d, F.group_norm(x, 2)


@case(normal(3, 5, 7))
class Reductions(nn.Module):
    def forward(self, x):
        values, indices = x.max(dim=1)
        ordered, order = x.sort(dim=-1, descending=True)
        return (values, indices, ordered, order, x.std(dim=(0, 2)),
                x.argmin(), x.norm(p=2, dim=[-1]), x.cumsum(1), x.logsumexp(0),
                (x > 0).any(dim=2), x.prod(dim=2), x.var(unbiased=False))


@case(normal(3, 5), torch.tensor([2, 0, 1]))
class Indexing(nn.Module):
    def forward(self, x, i):
        rows = torch.arange(3)
        return (x[i], x[:, i], x[i, 1], x[rows, i], x[..., None, -1],
                x.gather(1, i.unsqueeze(0)), x.index_select(0, i),
                x[::2, 1:-1], torch.where(x > 0, x, x * 0.1),
                x.flip(0), x.roll(1, 1), x.narrow(1, 1, 2))


@case(normal(3, 4))
class Kinds(nn.Module):
    def forward(self, x):
        i = (x * 10).to(torch.int32)
        h = x.half().float()
        return (i, i + 2.5, i.double() * x, (x > 0) + i, h, i // 3, i % 3,
                torch.div(i, 3), i.long().float(), x.type_as(i))


@case(normal(2, 3))
class NoGradients(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = x.detach() * 2
        return y


@case(normal(5, 3), refused="argument 'hx' is float<>")
class StateOfNoDirection(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRU(3, 4)

    def forward(self, x):
        cell = self.cell
        weights = [cell.weight_ih_l0, cell.weight_hh_l0, cell.bias_ih_l0, cell.bias_hh_l0]
        return torch.gru(x, torch.zeros([]), weights, True, 1, 0.0, False, False, False)[0]


@case(normal(2, 3), refused="not supported")
class Unsupported(nn.Module):
    def forward(self, x):
        return torch.digamma(x)


class Forked(nn.Module):
    """Two calls that may run at once."""
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        future = torch.jit.fork(self.fc, x)
        return self.fc(x + 1) + torch.jit.wait(future)


case(normal(2, 3))(Forked)


def scale(x, by: int):
    return x * by


@case(normal(2, 3))
class ForkedInLoop(nn.Module):
    """A list of futures that a loop fills."""
    def forward(self, x):
        futures = [torch.jit.fork(scale, x, i) for i in range(3)]
        y = torch.zeros(2, 3)
        for future in futures:
            y = y + torch.jit.wait(future) * 2
        return y


@case(normal(2, 3), is_quick=True)
class Strings(nn.Module):
    """What is known of strings decides what is computed."""
    def forward(self, x, mode: str = "Up, down,left"):
        parts = mode.split(",")
        name = "_".join([part.strip().lower() for part in parts])
        text = "%s of %d: %s%%" % (parts[1], len(parts), name)
        if x.device.type == "cpu" and text == " down of 3: up_down_left%":
            x = x + 1
        if name.startswith("up") and name.endswith("ft") and not name.endswith("x"):
            x = x * 2
        words = "  a bc  d ".split()
        return x + name.find("down") + mode.find("x"), len(words), \
            len(mode.replace("n", "nn")), len(mode.split(",", 1)[1])


@case(normal(2, 3), is_quick=True)
class NumbersOfTensors(nn.Module):
    def forward(self, x):
        row: List[float] = x[0].tolist()
        rows: List[List[int]] = (x * 10).to(torch.int64).tolist()
        return x * row[1], rows[1][0] + rows[0][2], row


@case(normal(2, 3), normal(2, 3), is_quick=True)
class OutArguments(nn.Module):
    def forward(self, x, y):
        a, b, d = torch.empty(2, 3), torch.empty(0), torch.empty(5)
        row = a[0]
        torch.add(x, y, out=a)
        torch.matmul(x, y.t(), out=b)
        c = torch.empty(3)
        torch.sum(x, [0], out=c)
        torch.sigmoid(x[1], out=row)
        torch.cat([x[:, 0], y[0]], 0, out=d)
        return a, b, c, d


@case(normal(2000), is_quick=True)
class RandomNumbers(nn.Module):
    """Distributions, as the numbers are not PyTorch's."""
    def forward(self, x):
        flat = torch.rand(2000)
        other = torch.rand(2000)
        bell = torch.randn_like(x)
        ints = torch.randint(-3, 5, [2000])
        coins = torch.bernoulli(torch.full([2000], 0.25))
        classes = torch.multinomial(torch.tensor([1.0, 0.0, 3.0]), 2000, True)
        spread = torch.empty(2000).uniform_(2.0, 4.0)
        like = torch.rand_like(x)
        few = torch.randint(4, [2000])
        float_ints = torch.randint_like(x, 3)
        some = torch.randint_like(x, 1, 3)
        even = torch.bernoulli(x, 0.5)
        return ((like.mean() - 0.5).abs() < 0.05, like.max() < 1, few.min(),
                few.max(), float_ints.min(), float_ints.max(), some.min(),
                some.max(), (even.mean() - 0.5).abs() < 0.05, even.max(),
                flat.min() >= 0, flat.max() < 1, (flat.mean() - 0.5).abs() < 0.05,
                (flat - other).abs().mean() > 0.25, bell.mean().abs() < 0.1,
                (bell.std() - 1).abs() < 0.1, ints.min(), ints.max(),
                (ints.double().mean() - 0.5).abs() < 0.25, ints.shape[0],
                (coins.mean() - 0.25).abs() < 0.05, coins.max(),
                (classes == 1).sum(), ((classes == 2).double().mean() - 0.75).abs()
                < 0.05, spread.min() >= 2, spread.max() < 4, spread.max() > 3.9)


class ForceField(nn.Module):
    """An energy of distances, and the forces, which are its gradient."""
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        self.register_buffer("centers", torch.linspace(0.5, 5, 8))

    def forward(self, positions):
        positions.requires_grad_(True)
        d = positions.unsqueeze(0) - positions.unsqueeze(1)
        r = torch.sqrt((d * d).sum(-1) + 1e-6)
        bells = torch.exp(-(r.unsqueeze(-1) - self.centers)**2)
        cutoff = 0.5 * torch.cos(r.clamp(max=5.0) * 0.628318) + 0.5
        cutoff = cutoff * (1 - torch.eye(positions.size(0)))
        energy = self.net((bells * cutoff.unsqueeze(-1)).sum(1)).sum()
        gradient = torch.autograd.grad([energy], [positions])[0]
        assert gradient is not None
        return energy, -gradient


case(normal(50, 3) * 2, has_gradients=True, is_quick=True)(ForceField)


@case(normal(4), normal(4), has_gradients=True)
class SecondDerivative(nn.Module):
    """Gradients of gradients, with weights, and of what isn't used."""
    def forward(self, x, y):
        x.requires_grad_(True)
        y.requires_grad_(True)
        z = (x * x * x).tanh()
        seeds: List[Optional[Tensor]] = [torch.ones(4) * 2]
        first = torch.autograd.grad([z], [x, y], seeds, None, True, True)
        own = first[0]
        assert own is not None
        second = torch.autograd.grad([own.sum()], [x])[0]
        assert second is not None
        return own, second, first[1] is None


@case(normal(4), refused="one of both")
class DetachedGradient(nn.Module):
    def forward(self, x):
        x.requires_grad_(True)
        y = (x.detach() * x).sum()
        gradient = torch.autograd.grad([y], [x])[0]
        assert gradient is not None
        return gradient
