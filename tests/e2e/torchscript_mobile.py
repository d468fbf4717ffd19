"""Modules with packed weights, as torch.utils.mobile_optimizer makes them, for
torchscript.py."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.mobile_optimizer import optimize_for_mobile

from torchscript_cases import case, normal


@case(normal(2, 3, 9, 8), transform=optimize_for_mobile, is_quick=True)
class MobileNetwork(nn.Module):
    """Convolutions with a stride, padding, dilation, groups and bounds of their results."""
    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8)
        self.norm.running_mean.uniform_(-1, 1)
        self.depthwise = nn.Conv2d(8, 8, 3, 1, (1, 2), (1, 2), groups=8, bias=False)
        self.point = nn.Conv2d(8, 8, 1)
        self.transposed = nn.ConvTranspose2d(8, 6, 3, 2, (1, 0), (1, 0), groups=2)
        self.linear, self.dropout = nn.Linear(6, 5), nn.Dropout()

    def forward(self, x):
        y = F.relu(self.norm(self.first(x)))
        y = torch.relu(self.point(F.relu6(self.depthwise(y))) + y)
        y = F.hardtanh(self.transposed(y), -0.1, 0.3)
        return F.relu(self.linear(self.dropout(y.mean((2, 3))))), y


@case(normal(2, 4, 6, 5), normal(3, 7, 4), normal(4, 2, 3, 3), normal(4, 3, 2, 2), normal(5, 4),
      is_traced=True, is_quick=True)
class PackedOperators(nn.Module):
    """Packed by the program itself."""
    def forward(self, image, rows, filters, transposed, weights):
        ops, bias = torch.ops.prepacked, weights[0]
        convolution = ops.conv2d_clamp_prepack(filters, bias, [2, 1], [1, 0], [1, 2], 2, -0.5,
                                               None)
        other = ops.conv2d_transpose_clamp_prepack(transposed, None, [2, 3], [1, 0], [1, 2],
                                                   [1, 2], 1, None, 0.5)
        linear = ops.linear_clamp_prepack(weights, weights[:, 0], -0.25, 1)
        return ops.conv2d_clamp_run(image, convolution), \
            ops.conv2d_transpose_clamp_run(image, other), ops.linear_clamp_run(rows, linear)
