"""Modules that show the order of elements in memory, for torchscript.py."""

import torch
from torch import nn

from torchscript_cases import case, normal

IMAGES = normal(2, 3, 4, 5)


@case(IMAGES, is_quick=True)
class StridesOfViews(nn.Module):
    def forward(self, x):
        y = x.permute(0, 2, 3, 1)
        z = x[:, 1:, ::2]
        return x.stride(), y.stride(), z.stride(), y[1].stride(), \
            x.transpose(1, 2).stride(2), x.select(1, 2).stride(), \
            x.expand(2, 3, 4, 5).stride(), x.unfold(3, 2, 3).stride(), \
            x.view(6, 20).t().stride(), x[0, 0].t().t().stride(), \
            x.diagonal(0, 2, 3).stride(), x.unsqueeze(1).stride()


@case(IMAGES, is_quick=True)
class MemoryFormats(nn.Module):
    def forward(self, x):
        last = x.contiguous(memory_format=torch.channels_last)
        again = last.contiguous(memory_format=torch.channels_last)
        back = last.contiguous()
        return last.stride(), again.stride(), back.stride(), last.is_contiguous(), \
            last.is_contiguous(memory_format=torch.channels_last), \
            x.is_contiguous(memory_format=torch.channels_last), \
            x.to(memory_format=torch.channels_last).stride(), \
            last.to(torch.float64).stride(), last.clone().stride(), \
            last.clone(memory_format=torch.contiguous_format).stride(), \
            torch.empty_like(last).stride(), torch.zeros_like(last).stride(), \
            torch.ones_like(x, memory_format=torch.channels_last).stride(), \
            torch.full_like(last, 2.0, memory_format=torch.contiguous_format).stride()


@case(IMAGES, is_quick=True)
class FormatsThatCopy(nn.Module):
    """What changes a tensor leaves those alone that are copies of it."""
    def forward(self, x):
        y = x.clone()
        copy = y.contiguous(memory_format=torch.channels_last)
        same = copy.contiguous(memory_format=torch.channels_last)
        same += 1
        other = y.to(memory_format=torch.channels_last)
        other.mul_(2)
        own = y.to(memory_format=torch.contiguous_format)
        own[0] = 7
        flat = copy.flatten()
        flat.zero_()
        return x, y, copy, same, other, own, flat


@case(IMAGES)
class StridesOfResults(nn.Module):
    def forward(self, x):
        last = x.contiguous(memory_format=torch.channels_last)
        turned = x.permute(3, 1, 0, 2)
        return (last + 1).stride(), (last * last.relu()).stride(), \
            (last + x).stride(), (x + last).stride(), (last + x[0, 0, 0]).stride(), \
            (turned * 2).stride(), (turned + turned.exp()).stride(), \
            (turned > 0).stride(), torch.where(turned > 0, turned, turned * 2).stride(), \
            turned.clone().stride(), torch.zeros_like(turned).stride(), \
            turned.to(torch.int64).stride(), (x[:, :2] + 1).stride()


@case(IMAGES)
class StridesOfLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 2)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x):
        last = x.contiguous(memory_format=torch.channels_last)
        y = self.norm(self.conv(last)).relu()
        z = nn.functional.max_pool2d(y, 2)
        return self.conv(x).stride(), y.stride(), z.stride(), \
            torch.cat([last, last], 1).stride(), torch.cat([x, x], 1).stride(), \
            nn.functional.interpolate(last, scale_factor=2.0).stride(), \
            nn.functional.adaptive_avg_pool2d(last, [2, 2]).stride()


@case(normal(4, 6), is_quick=True)
class ByStrides(nn.Module):
    def forward(self, x):
        t = x.t()
        part = x[1:, 2:]
        return torch.as_strided(x, [2, 3], [1, 4]), torch.as_strided(t, [3, 4], [1, 6]), \
            torch.as_strided(t, [2, 2], [2, 1], 5), torch.as_strided(part, [2, 2], [6, 1]), \
            torch.as_strided(part, [3, 3], [1, 2], 1), torch.as_strided(part.t(), [4], [5]), \
            torch.as_strided(x.expand(3, 4, 6), [2, 6], [6, 1]), \
            torch.as_strided(x, [0, 3], [1, 1]), torch.as_strided(x, [], [], 7), \
            torch.as_strided(torch.as_strided(x, [3], [2], 4), [2], [3])


@case(IMAGES, is_quick=True)
class ByStridesOfFormats(nn.Module):
    def forward(self, x):
        last = x.contiguous(memory_format=torch.channels_last)
        turned = x.permute(2, 0, 3, 1)
        return torch.as_strided(last, [2, 3], [1, 4]), \
            torch.as_strided(last[1], [2, 3, 4], [1, 5, 2]), \
            torch.as_strided(last + 1, [5, 3], [3, 1]), \
            torch.as_strided(turned * 2, [4, 4], [2, 7], 3), \
            torch.as_strided(turned.clone(), [30], [4]), \
            torch.as_strided(turned.contiguous(), [30], [4]), \
            torch.as_strided(turned.reshape(-1), [30], [4])


@case(normal(4, 6), is_quick=True)
class WriteByStrides(nn.Module):
    def forward(self, x):
        y = x.clone()
        t = y.t()
        torch.as_strided(t, [3, 2], [7, 1], 1).fill_(5)
        windows = torch.as_strided(y, [4, 2], [6, 1], 3)
        windows += 10
        last = x.view(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
        torch.as_strided(last, [4], [2]).mul_(-1)
        return y, t, windows, last


@case(IMAGES)
class ReshapeOfFormats(nn.Module):
    """Whether reshape() copies."""
    def forward(self, x):
        last = x.contiguous(memory_format=torch.channels_last)
        rows = last.permute(0, 2, 3, 1).reshape(-1, 3)
        rows[0] = 9
        copy = last.reshape(2, -1)
        copy[1] = 8
        return last, rows, copy


@case(normal(1, 3, 1, 4))
class UnknownStride(nn.Module):
    """Extents of 1 have strides, too."""
    def forward(self, x):
        return x.stride(), x.clone().stride(), (x + 1).stride(), \
            x.transpose(0, 1).is_contiguous(), x.permute(0, 2, 3, 1).is_contiguous()


@case(normal(1, 4), refused="the stride of a dimension with one index is not known")
class StrideOfOneIndex(nn.Module):
    def forward(self, x):
        return x.t().stride()


@case(normal(3, 4), refused="the strides of this tensor are not known")
class StridesOfSorted(nn.Module):
    def forward(self, x):
        return x.t().softmax(1).t().cumsum(0).stride()


@case(normal(3, 4), refused="is a list of 2; accepted: elements of 'self'")
class BeyondTheMemory(nn.Module):
    def forward(self, x):
        return torch.as_strided(x, [3, 5], [4, 1])


@case(normal(3, 4), refused="is not known, or there are gaps between them")
class ByStridesOfUnknown(nn.Module):
    def forward(self, x):
        return torch.as_strided(x.t().cumsum(0), [2], [1])
