"""Modules that change tensors which share memory, for torchscript.py."""

from typing import List

import torch
import torch.nn.functional as F
from torch import nn

from torchscript_cases import case, normal


@case(normal(5, 7), is_quick=True)
class WriteSlices(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1] = 0
        y[2] += 1
        y[1:4, 2:5] *= 2
        y[::2, ::3] = 7
        y[-1, -1] = 9
        return y, x


@case(normal(5, 7))
class ReadOtherViews(nn.Module):
    """Views that were made before see what is written."""
    def forward(self, x):
        y = x * 1
        row, column, flat = y[1], y.t()[2], y.view(-1)
        y.add_(1)
        row.mul_(2)
        flat[3:9] = 0
        return y, row, column, flat


@case(normal(4, 6), is_quick=True)
class WriteThroughChains(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.view(2, 2, 6).transpose(0, 2)[1:3, :, 1].fill_(5)
        y.unsqueeze(0).squeeze(0)[0].view(3, 2)[:, 0] += 10
        return y


@case(normal(3, 4))
class WriteCasts(nn.Module):
    """A cast to the tensor's own type is the tensor itself."""
    def forward(self, x):
        y = x * 2
        same, other = torch._cast_Float(y), torch._cast_Double(y)
        y.add_(1)
        return y, same, other, torch._cast_Long(y)


@case(normal(4, 6))
class WriteParts(nn.Module):
    def forward(self, x):
        y = x.clone()
        a, b = y.chunk(2, dim=1)
        a += b
        for row in y.unbind(0):
            row.sub_(row.mean())
        parts = y.split([1, 5], 1)
        parts[0].zero_()
        return y, a, b


@case(normal(4, 6))
class CopyIsNoView(nn.Module):
    def forward(self, x):
        y = x.clone()
        z = y.clone()
        w = y + 0
        y.zero_()
        return y, z, w


@case(normal(4, 6))
class ReshapeIsView(nn.Module):
    """Of a tensor in order, reshape() makes a view."""
    def forward(self, x):
        y = x.clone()
        z = y.reshape(-1)
        z[0] = 3
        y[1, 1] = 4
        return y, z


@case(normal(4, 6))
class ReshapeIsCopy(nn.Module):
    """Of a transposed one it makes a copy."""
    def forward(self, x):
        y = x.clone()
        z = y.t().reshape(-1)
        z[0] = 3
        y[1, 1] = 4
        return y, z


@case(normal(2, 3, 4))
class ContiguousMayCopy(nn.Module):
    def forward(self, x):
        y = x.clone()
        same = y.contiguous()
        other = y.transpose(0, 1).contiguous()
        same += 1
        other *= 2
        return y, same, other


@case(normal(2, 3, 4))
class FlattenOfSlice(nn.Module):
    def forward(self, x):
        y = x.clone()
        a = y[:, 1].flatten()
        b = y[1].flatten()
        a += 1
        b += 2
        return y, a, b


@case(normal(3, 4))
class MaskedWrites(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[y > 0] = 0.5
        y.masked_fill_(y < -1, -1)
        y.clamp_(-0.5, 2)
        return y


@case(normal(5, 3), torch.tensor([3, 0]), normal(2, 3))
class IndexedWrites(nn.Module):
    def forward(self, x, i, v):
        y = x.clone()
        y[i] = v
        y[i, 1] += 2
        y.index_fill_(0, i, 0.25)
        return y


@case(normal(3, 4), normal(3, 4))
class CopyAndCast(nn.Module):
    def forward(self, x, y):
        z = torch.zeros(3, 4, dtype=torch.int32)
        z.copy_(x * 10)
        z[0] = y[0] * 3
        z += 1
        return z


@case(normal(3, 4))
class InPlaceActivations(nn.Module):
    def forward(self, x):
        y = x + 0
        z = F.relu(y, inplace=True)
        z = F.leaky_relu(z.sub_(0.5), 0.1, inplace=True)
        return y, z


@case(normal(3, 4), is_traced=True)
class TracedWrites(nn.Module):
    def forward(self, x):
        y = torch.zeros(5, 4)
        y[1:4] = x
        y[:, 0] = x[0, 0]
        y += 1
        return y


@case(normal(6, 4), is_quick=True)
class WritesInLoop(nn.Module):
    def forward(self, x):
        y = torch.zeros(6, 4)
        for i in range(x.size(0)):
            y[i] = x[i] * i
            if i > 0:
                y[i] += y[i - 1]
        return y


@case(normal(90, 4))
class WritesInLongLoop(nn.Module):
    """So many iterations that a Loop node is made."""
    def forward(self, x):
        y = torch.zeros(90, 4)
        total = torch.zeros(4)
        for i in range(90):
            total += x[i].exp() * 0.1
            total = total - x[i].tanh().mean() * 0.01 + x[i].sin() * 0.5
            y[i] = total
        return y, total


@case(normal(90, 4, 3), is_quick=True)
class ListsInLongLoop(nn.Module):
    """A loop takes elements of lists, and appends to two ones."""
    def forward(self, x):
        y = x.clone()
        rows = y.unbind(0)
        columns = y.split(1, 1)
        made: List[torch.Tensor] = []
        pairs: List[torch.Tensor] = [x[0]]
        state = torch.zeros(4, 3)
        for i in range(len(rows)):
            row = rows[i]
            state = torch.tanh(state * 0.5 + row) * 0.9 + row.mean() * 0.1
            made.append(state)
            pairs.append(row * 2)
            pairs += [columns[i % 4][i].sum(0) + row[0:4]]
            rows[-1 - i].add_(0.125)
        return (torch.stack(made), torch.stack(made, 1), torch.cat(made, 1),
                made[7], torch.stack(pairs), y, state)


@case(normal(90, 4), refused="only when the model runs")
class ChangedAfterCollecting(nn.Module):
    """All that was appended is one tensor, which is changed again."""
    def forward(self, x):
        made: List[torch.Tensor] = []
        state = torch.zeros(4)
        for i in range(90):
            state.mul_(0.5).add_(x[i].tanh() * 0.1).sub_(x[i].sin() * 0.5)
            made.append(state)
        return torch.stack(made)


@case(torch.tensor(1), normal(3, 4), normal(3, 4), is_quick=True)
class ElementOfList(nn.Module):
    """An index that the graph computes, of tensors that are parts of nothing."""
    def forward(self, i, x, y):
        tensors = [x * 2, y, x - y]
        return tensors[int(i)] * 1, tensors[int(i) - 2], tensors[-1]


@case(normal(3, 4), is_quick=True)
class WritesInBranch(nn.Module):
    def forward(self, x):
        y = x.clone()
        row = y[0]
        if bool(x.sum() > 100):
            y.zero_()
        else:
            row += 5
        return y, row


@case(normal(3, 4))
class OneOfTwo(nn.Module):
    """What a branch returns may be another tensor; only it is read later."""
    def forward(self, x):
        a, b = x + 1, x - 1
        c = a if bool(x.sum() > 0) else b
        c += 1
        return c


@case(normal(3, 4), calls=2, is_quick=True)
class ReadOneOfTwo(nn.Module):
    """The tensor that a condition chose is written, and both are read."""
    def forward(self, x):
        a, b = x + 1, x - 1
        c = a if bool(x.sum() > 0) else b
        c += 1
        d = a if bool(x.max() > 1) else b
        d *= 3
        return c, a, b, d


@case(normal(3, 4), calls=3, is_quick=True)
class ViewsLeaveBranches(nn.Module):
    """Views of one tensor, of two, and of one that a branch made."""
    def forward(self, x):
        y, z = x.clone(), x * 2
        if bool(x.sum() > 0):
            row = y[1]
            part = y.t()[1:3]
            other = z.view(-1)[2:6]
        else:
            row = y[-1] if bool(x[0, 0] > 0) else z[0]
            part = z.t()[0:2]
            other = (x - 1)[0]
        row.add_(5)
        part.mul_(0.5)
        y.sub_(1)
        other.zero_()
        return y, z, row, part, other


@case(normal(3, 4), calls=3)
class MemoryOfBranches(nn.Module):
    """What a branch made has two names behind it."""
    def forward(self, x):
        if bool(x.sum() > 0):
            a = x * 2
            b = a[0]
        else:
            a = x - 1
            b = a[1]
        tensors = [a, b, a]
        a.add_(1)
        b.mul_(2)
        return a, b, tensors[2]


@case(normal(3, 4), calls=3)
class CopiesInBranches(nn.Module):
    """Whether reshape() copied shows only in a branch."""
    def forward(self, x):
        y = x.clone()
        copy = y.t().reshape(-1)
        view = y.reshape(-1)
        if bool(x.sum() > 0):
            copy[0] = 7
            view[1] = 8
        return y, copy, view


@case(normal(3, 4), calls=3, options=("-max-trip-count=9",), is_quick=True)
class ViewsLeaveLoops(nn.Module):
    def forward(self, x):
        y = x.clone()
        row, last = y[0], y[0]
        made = y[2]
        total = x.sum()
        while bool(total < 20):
            last = row
            row = y[1]
            row.add_(1)
            made = made * 2
            made[0] = 1
            total = total + 5
        row.mul_(2)
        last.sub_(3)
        made.neg_()
        return y, row, last, made


@case(normal(3, 4), calls=3, is_quick=True)
class RingOfTwo(nn.Module):
    """The slot of a buffer that data decides for is written."""
    def __init__(self):
        super().__init__()
        self.register_buffer("ring", torch.zeros(2, 3, 4))

    def forward(self, x):
        if bool(x.sum() > 0):
            slot = self.ring[1]
        else:
            slot = self.ring[0]
        slot.copy_(x)
        return self.ring.sum(0)


@case(normal(3, 4), calls=3)
class StateOfAState(nn.Module):
    """An attribute that was a view of another one at the end of a call."""
    def __init__(self):
        super().__init__()
        self.register_buffer("all", torch.zeros(3, 4))
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x):
        result = self.last * 1
        self.all.copy_(x)
        self.last = self.all[1]
        return result, self.all


@case(normal(3, 4), calls=3, refused="whether they share memory")
class StateOfAStateWritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("all", torch.zeros(3, 4))
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x):
        self.last.add_(1)
        self.all = self.all + x
        self.last = self.all[1]
        self.all[0] += self.last
        self.last.mul_(2)
        return self.all * 1


@case(normal(3, 4), calls=3)
class StateWithTwoNames(nn.Module):
    """The archive has one tensor for two attributes."""
    def __init__(self):
        super().__init__()
        self.register_buffer("one", torch.zeros(3, 4))
        self.register_buffer("two", self.one)

    def forward(self, x):
        before = self.two + 0
        self.one.add_(x)
        return self.two * 1, before


@case(normal(3, 4), calls=2)
class ChangedInBranches(nn.Module):
    """A list, a dictionary and a shape that branches change."""
    def forward(self, x):
        y = x.clone()
        tensors = [y, x * 2]
        named = {"a": y, "b": x - 1}
        other = y[0]
        if bool(x.sum() > 0):
            tensors[1] = y
            named["b"] = y[0:3]
            tensors.append(x * 1)
            other.unsqueeze_(0)
        else:
            tensors.append(y)
            other.unsqueeze_(0).mul_(2)
        tensors[1].add_(1)
        tensors[2].sub_(x)
        named["b"].mul_(3)
        return y, tensors, named["b"], other


@case(normal(3, 4), refused="whether it is another one")
class ChangedListOfBranches(nn.Module):
    def forward(self, x):
        a, b = [x + 1], [x + 2]
        c = a if bool(x.sum() > 0) else b
        c[0] = x
        return a[0], b[0]


@case(normal(3, 4), refused="several times")
class WriteExpanded(nn.Module):
    def forward(self, x):
        y = x[:, :1].clone().expand(3, 4)
        y.select(0, 1).copy_(x[0])
        return y


@case(normal(3, 4), is_quick=True)
class ChangedInput(nn.Module):
    """The input is an output, too."""
    def forward(self, x):
        x[0] = 1
        return x * 2


@case(normal(3, 4))
class TensorsInLists(nn.Module):
    def forward(self, x):
        rows: List[torch.Tensor] = [x.clone() for _ in range(3)]
        other = rows
        for i, row in enumerate(rows):
            row += i
        other[1] = other[1] * 0
        rows[2][0] = 8
        return rows


@case(normal(3, 4))
class Diagonal(nn.Module):
    def forward(self, x):
        y = x.clone()
        y.diagonal().fill_(1)
        y.t()[2] = 4
        return y


@case(normal(3, 4), is_quick=True)
class ShapesInPlace(nn.Module):
    """A view that was made before stays one."""
    def forward(self, x):
        y = x.clone()
        z = y[1]
        same = y.view_as(y)
        row = same[0]
        z.unsqueeze_(0)
        same.t_()
        z += 3
        row.mul_(2)
        same[1] = 7
        return y, z, row, same


@case(normal(3, 1, 4))
class DetachAndTo(nn.Module):
    """Without another type these are the same tensor."""
    def forward(self, x):
        y = x.clone()
        a, b, c = y.detach(), y.to(torch.float32), y.to(torch.float64)
        d = F.dropout(y, 0.5, False)
        y += 1
        return a, b, c, d, y.squeeze(1)


@case(normal(2, 3, 4))
class Permuted(nn.Module):
    def forward(self, x):
        y = x.clone()
        p = y.permute(2, 0, 1)
        p[1:3, 1] -= 2
        y[0].swapaxes(0, 1)[0] = 6
        return y, p


@case(normal(4, 4))
class ExpandedValues(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:2] = x[3]
        y[:, 2:] = 1.5
        y[3] = x[0, 0]
        return y


@case(normal(4, 4))
class OverlappingCopy(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[1:] = y[:-1].clone()
        y[:, 0] = y[:, 3]
        return y


@case(normal(4, 4))
class WriteAfterOutput(nn.Module):
    """What is returned changes until the program ends."""
    def forward(self, x):
        y = x * 2
        result = (y, y[0])
        y += 1
        return result


@case(normal(2, 8, 6))
class HeadsInPlace(nn.Module):
    """The order of elements decides that the last reshape copies."""
    def forward(self, x):
        y = x.clone().view(2, 8, 2, 3).transpose(1, 2)
        z = y.reshape(2, 2, 24)
        z += 1
        y *= 2
        return y, z
