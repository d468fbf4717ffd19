"""Modules with quantized tensors and weights, for torchscript.py.

PyTorch executes them with the engine that it has for x86: FBGEMM, or oneDNN, which
computes the same. It quantizes a bias, or adds floats in another order, so that a
quantized result may differ by one step: STEP."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.ao import quantization
from torch.utils.mobile_optimizer import optimize_for_mobile

from torchscript_cases import case, normal

# Of the largest magnitude: a step of 255, and what is computed of them.
STEP = 1.5 / 127


@case(normal(2, 3, 5), is_quick=True)
class QuantizedTensors(nn.Module):
    """Quantizes, with ties, and moves integers."""
    def forward(self, x):
        q = torch.quantize_per_tensor(x, 0.05, 100, torch.quint8)
        s = torch.quantize_per_tensor(x * 40, 0.5, -3, torch.qint8)
        i = torch.quantize_per_tensor(x * 1000, 0.25, 12345, torch.qint32)
        t = torch.quantize_per_tensor(torch.arange(-4.0, 4.0) / 2, 1.0, 7, torch.quint8)
        moved = q.transpose(1, 2).reshape(2, -1)[:, 3:9]
        parts = q.chunk(3, 1)
        return q.dequantize(), q.int_repr(), s.dequantize(), i.int_repr(), i.dequantize(), \
            t.int_repr(), moved.dequantize(), parts[1].int_repr(), q.q_scale(), \
            q.q_zero_point(), q.size(1), q.dim(), q.dtype == torch.quint8, q.is_quantized, \
            F.relu(q).dequantize(), F.hardtanh(q, -0.3, 0.72).dequantize(), \
            F.relu6(s).int_repr()


@case(normal(2, 3, 5), torch.tensor([0.1, 0.02, 0.5]), torch.tensor([0, 3, -7]), is_quick=True)
class QuantizedChannels(nn.Module):
    def forward(self, x, scales, zeros):
        q = torch.quantize_per_channel(x, scales, zeros, 1, torch.qint8)
        w = torch.quantize_per_channel(x.flatten(0, 1).t(), scales.repeat(2), zeros.repeat(2) + 9,
                                       1, torch.quint8)
        return q.dequantize(), q.int_repr(), w.dequantize(), q.q_per_channel_scales(), \
            q.q_per_channel_zero_points(), q.q_per_channel_axis()


@case(normal(3, 7), is_quick=True, calls=3)
class QuantizedByRange(nn.Module):
    def forward(self, x):
        q = torch.quantize_per_tensor_dynamic(x, torch.quint8, False)
        s = torch.quantize_per_tensor_dynamic(x * 3 + 2, torch.qint8, True)
        small = torch.quantize_per_tensor_dynamic(x * 1e-4, torch.quint8, True)
        zero = torch.quantize_per_tensor_dynamic(x * 0, torch.quint8, False)
        return q.int_repr(), q.dequantize(), s.int_repr(), s.dequantize(), small.int_repr(), \
            small.dequantize(), zero.int_repr(), zero.dequantize(), q.q_zero_point(), \
            torch.relu_(q).int_repr()


def dynamic(module):
    """The module with linear layers whose input is quantized by its range."""
    return quantization.quantize_dynamic(module.eval(), {nn.Linear}, torch.qint8)


@case(normal(4, 5, 6), is_quick=True, calls=3)
class DynamicLinears(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = dynamic(nn.Sequential(nn.Linear(6, 17), nn.ReLU(),
                                            nn.Linear(17, 4, bias=False)))

    def forward(self, x):
        return self.layers(x), x


@case(normal(3, 6), normal(5, 6), normal(5), is_quick=True)
class PackedLinears(nn.Module):
    """Packed by the program, of weights with one scale, and with one for each row."""
    def forward(self, x, w, b):
        one = torch.quantize_per_tensor(w, 0.02, 0, torch.qint8)
        rows = torch.quantize_per_channel(w, w.abs().amax(1) / 127, torch.zeros(5).long(), 0,
                                          torch.qint8)
        ops = torch.ops.quantized
        packed, others = ops.linear_prepack(one, b), ops.linear_prepack(rows, b)
        # Packed weights remember whether the first result had a Relu.
        again = ops.linear_prepack(rows, b * 2)
        q = torch.quantize_per_tensor(x, 0.03, 127, torch.quint8)
        weights, bias = ops.linear_unpack(others)
        assert bias is not None
        return ops.linear_dynamic(x, packed, False), ops.linear_dynamic(x, others, True), \
            ops.linear_relu_dynamic(x, again, True), \
            ops.linear(q, packed, 0.125, 100).dequantize(), \
            ops.linear_relu(q, ops.linear_prepack(rows, b * 3), 0.25, 3).dequantize(), weights.dequantize(), bias


def multiply_halves(x, w, b):
    half = w.clamp(-65504, 65504).half().float()
    return F.linear(x, half, b), F.relu(F.linear(x, half)), half, b


@case(normal(3, 6), normal(5, 6) * 30000, normal(5), is_quick=True, reference=multiply_halves)
class HalfLinears(nn.Module):
    """Weights of float16, which PyTorch multiplies with FBGEMM alone."""
    def forward(self, x, w, b):
        ops = torch.ops.quantized
        packed, other = ops.linear_prepack_fp16(w, b), ops.linear_prepack_fp16(w, None)
        weights, bias = ops.linear_unpack_fp16(packed)
        assert bias is not None
        return ops.linear_dynamic_fp16(x, packed), ops.linear_relu_dynamic_fp16(x, other), \
            weights, bias


class StaticNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantize, self.dequantize = quantization.QuantStub(), quantization.DeQuantStub()
        self.first, self.relu = nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU()
        self.second = nn.Conv2d(8, 8, 3, 1, 1, groups=4)
        self.sum, self.join = nn.quantized.FloatFunctional(), nn.quantized.FloatFunctional()
        self.gate, self.pool = nn.quantized.FloatFunctional(), nn.MaxPool2d(2)
        self.swish, self.mean = nn.Hardswish(), nn.AdaptiveAvgPool2d(1)
        self.linear = nn.Linear(16, 5)

    def forward(self, x):
        y = self.relu(self.first(self.quantize(x)))
        z = self.pool(self.sum.add_relu(self.second(y), y))
        z = self.join.cat([z, self.gate.mul(z, self.swish(z))], 1)
        return self.dequantize(self.linear(self.mean(z).flatten(1))), self.dequantize(z)


def quantized(engine):
    """The network above, quantized for an engine."""
    torch.manual_seed(3)
    module = StaticNetwork().eval()
    module.qconfig = quantization.get_default_qconfig(engine)
    module = quantization.prepare(quantization.fuse_modules(module, [["first", "relu"]]))
    for seed in range(4):
        module(torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(seed)))
    return quantization.convert(module)


@case(normal(2, 3, 16, 16), is_quick=True, tolerance=STEP)
class QuantizedNetwork(nn.Module):
    """With a scale for each channel of the weights."""
    def __init__(self):
        super().__init__()
        self.network = quantized("fbgemm")

    def forward(self, x):
        return self.network(x)


@case(normal(2, 3, 16, 16), is_quick=True, tolerance=STEP, transform=optimize_for_mobile)
class QuantizedMobileNetwork(nn.Module):
    """Quantized for QNNPACK, then optimized."""
    def __init__(self):
        super().__init__()
        self.network = quantized("qnnpack")

    def forward(self, x):
        return self.network(x)


@case(normal(2, 4, 9), normal(6, 4, 3), is_quick=True, tolerance=STEP)
class PackedConvolutions(nn.Module):
    def forward(self, x, w):
        q = torch.quantize_per_tensor(x.unsqueeze(2), 0.03, 127, torch.quint8)
        one = torch.quantize_per_tensor(w.unsqueeze(2), 0.02, 0, torch.qint8)
        ops = torch.ops.quantized
        packed = ops.conv2d_prepack(one, None, [1, 2], [0, 1], [1, 1], 1)
        weights, bias = ops.conv2d_unpack(packed)
        assert bias is None
        return ops.conv2d(q, packed, 0.125, 100).dequantize(), \
            ops.conv2d_relu(q, packed, 0.25, 3).dequantize(), weights.dequantize()


@case(normal(2, 6), is_quick=True)
class QuantizedOutput(nn.Module):
    def forward(self, x):
        return torch.quantize_per_tensor(x, 0.05, 100, torch.quint8)


@case(normal(2, 6), refused="a scale is 0.00; accepted: above 0")
class ScaleOfZero(nn.Module):
    def forward(self, x):
        return torch.quantize_per_tensor(x, 0.0, 100, torch.quint8).dequantize()


@case(normal(2, 6), refused="a zero point is 256; accepted: 0 to 255")
class ZeroPointBeyond(nn.Module):
    def forward(self, x):
        return torch.quantize_per_tensor(x, 0.5, 256, torch.quint8).dequantize()


@case(normal(2, 6), refused="argument 'W_prepack' is a list of 2; accepted: packed weights that "
      "are quantized")
class HalfWeightsInBytes(nn.Module):
    def forward(self, x):
        packed = torch.ops.quantized.linear_prepack_fp16(x, None)
        return torch.ops.quantized.linear_dynamic(x, packed, False)


@case(normal(2, 6), refused="argument 'self' is quantized, uint8<2x6>; accepted: real tensors, "
      "such as dequantize() returns, and their types")
class SqrtOfQuantized(nn.Module):
    def forward(self, x):
        return torch.sqrt(torch.quantize_per_tensor(x, 0.05, 100, torch.quint8))
