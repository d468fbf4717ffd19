"""Modules with Fourier transforms and complex tensors, for torchscript.py."""

import torch
from torch import Tensor, nn

from torchscript_cases import case, normal


def pairs(z: Tensor):
    """The parts of complex elements, which PyTorch may have as conjugates of others."""
    return torch.view_as_real(torch.resolve_conj(z))


@case(normal(2, 3, 12), is_quick=True)
class FourierTransforms(nn.Module):
    def forward(self, x):
        full = torch.fft.fft(x)
        half = torch.fft.rfft(x)
        return pairs(full), full.abs(), half.real, half.imag, \
            pairs(torch.fft.ifft(full)), torch.fft.irfft(half), \
            pairs(torch.fft.ifft(x)), torch.fft.irfft(x), \
            torch.fft.irfft(half, n=11), pairs(torch.fft.fft(full, n=7)), \
            pairs(torch.fft.rfft(x, n=17)), torch.fft.rfft(x, dim=0).abs(), \
            pairs(torch.fft.fft(x, dim=-2)), \
            torch.fft.irfft(torch.fft.rfft(x, dim=1), n=3, dim=1), \
            pairs(torch.fft.fft(x, n=1)), torch.fft.irfft(half, n=1)


@case(normal(3, 9), normal(3, 8).double(), is_quick=True)
class FourierNorms(nn.Module):
    def forward(self, x, y):
        outputs = []
        for norm in ["backward", "ortho", "forward"]:
            half = torch.fft.rfft(x, norm=norm)
            outputs.append(pairs(half))
            outputs.append(torch.fft.irfft(half, n=9, norm=norm))
            outputs.append(pairs(torch.fft.fft(y, norm=norm)))
            outputs.append(pairs(torch.fft.ifft(y, n=5, norm=norm)))
        return outputs


@case(normal(2, 3, 6, 8), is_quick=True)
class FourierDimensions(nn.Module):
    def forward(self, x):
        half = torch.fft.rfft2(x)
        return pairs(half), torch.fft.irfft2(half, s=[6, 8]), \
            pairs(torch.fft.fft2(x, norm="ortho")), \
            pairs(torch.fft.ifft2(half)), \
            pairs(torch.fft.fftn(x)), \
            pairs(torch.fft.fftn(x, s=[4, 9])), \
            pairs(torch.fft.rfftn(x, dim=[1, 3, 2])), \
            torch.fft.irfftn(torch.fft.rfftn(x, s=[5, 7]), s=[5, 7], norm="forward"), \
            pairs(torch.fft.ifftn(half, dim=[0, 2]))


@case(torch.arange(10).reshape(2, 5), is_quick=True)
class FourierOfIntegers(nn.Module):
    def forward(self, n):
        return pairs(torch.fft.fft(n)), torch.fft.rfft(n).abs(), \
            torch.fft.irfft(n)


@case(normal(2, 5), normal(2, 5) * 3, is_quick=True)
class ComplexFunctions(nn.Module):
    def forward(self, x, y):
        z = torch.complex(x, y)
        w = torch.polar(x.abs(), y)
        v = torch.view_as_complex(torch.stack([y, x], -1))
        values = [z * w, z / w, z * x, z / x, x / z, z + w, z - x, x - z, z * 2.0, z / 4.0,
                  z + 1.5, z.conj(), -z, z * z.conj(), torch.square(z), z.pow(2), z ** 2,
                  torch.exp(z * 0.1), v * z, z.sum(1), z.mean(), z.cumsum(0),
                  torch.where(x > 0, z, w), torch.where(x > 0, 2.0, w),
                  torch.where(x > 0, z, 3.0), z.masked_fill(x > 0, 2.0), z * torch.ones(5).double()]
        outputs = [pairs(own) for own in values]
        return outputs, z.abs(), z.angle(), x.angle(), z.real, w.imag, (x + 0).real, \
            z.is_complex(), x.is_complex(), z.is_floating_point(), z.size(0), z.dim()


@case(torch.tensor([0.0, -0.0, 1e25, 3e-25, -2.0]), torch.tensor([0.0, 0.0, 1e25, 4e-25, -0.0]),
      is_quick=True)
class ComplexExtremes(nn.Module):
    def forward(self, x, y):
        z = torch.complex(x, y)
        return z.abs(), z.angle(), x.angle()


@case(normal(2, 3, 4), is_quick=True)
class ComplexShapes(nn.Module):
    def forward(self, x):
        z = torch.fft.fft(x)
        a, b = z.split([1, 2], 1)
        u, v, w = z.unbind(1)
        values = [z[0], z[:, 1:], z[..., ::2], z.transpose(0, 1), z.permute(2, 0, 1),
                  z.reshape(6, 4), z.flatten(1), z.unsqueeze(0), z[:, :1].squeeze(1),
                  z[:, :1].expand(2, 3, 4), torch.cat([z, z[:1]], 0), torch.stack([z, z]),
                  torch.cat([z, torch.fft.fft(x * 2)], 1), a * 2, b, u + v, w,
                  z[:, torch.tensor([2, 0])], z.index_select(1, torch.tensor([1, 1])),
                  z.flip([1]), z.roll(1, 2), z.chunk(2, 2)[1], z.clone(), z.contiguous(),
                  nn.functional.pad(z, [1, 2]), z.movedim(0, 2), z.repeat(2, 1, 1)]
        return [pairs(own) for own in values]


@case(normal(3, 4, 2), normal(3, 4), is_quick=True)
class ComplexWrites(nn.Module):
    """Parts and views of a complex tensor are its memory."""
    def forward(self, x, y):
        x = x + 0.0
        z = torch.view_as_complex(x)
        z[0] = torch.fft.fft(y)[1]
        x[1] += 1
        z.real[2] *= 3
        z.imag.add_(y)
        row = z[1]
        row.mul_(torch.complex(y[0], y[1]))
        row[:2] = y[2, :2]
        z[:, 3].zero_()
        z[:, 1:2] += 2.5
        out = torch.zeros(3, 6, dtype=torch.cfloat)
        out[:, :4] = z * 2
        out[:, 5] = z[:, 0].conj()
        w = y.to(torch.complex64)
        w += z
        return x, pairs(z), pairs(out), z.abs(), \
            pairs(w), y, z.dtype == torch.complex64


@case(normal(2, 5), torch.tensor(2), is_quick=True, options=("-max-trip-count=4",))
class ComplexBranches(nn.Module):
    """Branches and loops that depend on data have complex tensors as results."""
    def forward(self, x, n):
        z = torch.fft.rfft(x)
        if bool(x.sum() > 0):
            z = z * 2
        else:
            z = z.conj()
        i = 0
        while i < int(n):
            z = z * z / (z.abs() + 1)
            i += 1
        return torch.fft.irfft(z, n=5), z


class Rotary(nn.Module):
    """Rotary embedding with a complex constant, as Llama has it."""
    def __init__(self):
        super().__init__()
        angles = torch.outer(torch.arange(6), 10000.0 ** (-torch.arange(4) / 4))
        self.register_buffer("freqs", torch.polar(torch.ones_like(angles), angles))

    def forward(self, q):
        own = torch.view_as_complex(q.float().reshape(q.size(0), q.size(1), -1, 2))
        freqs = self.freqs[:q.size(0)].view(q.size(0), 1, 4)
        return torch.view_as_real(own * freqs).flatten(2).type_as(q)


case(normal(5, 3, 8), is_quick=True)(Rotary)
case(normal(6, 2, 8), is_traced=True)(Rotary)


@case(normal(2, 3, 8, 10), is_quick=True)
class FourierOperator(nn.Module):
    """The spectral convolution of a Fourier neural operator."""
    def __init__(self):
        super().__init__()
        weight = torch.randn(3, 4, 3, 4, dtype=torch.cfloat) / 12
        self.low = nn.Parameter(weight)
        self.high = nn.Parameter(weight.flip(0) * 2)

    def forward(self, x):
        spectrum = torch.fft.rfft2(x)
        out = torch.zeros(x.size(0), 4, x.size(2), x.size(3) // 2 + 1, dtype=torch.cfloat)
        out[:, :, :3, :4] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, :3, :4], self.low)
        out[:, :, -3:, :4] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, -3:, :4], self.high)
        return torch.fft.irfft2(out, s=(x.size(2), x.size(3)))


@case(normal(2, 3, 4), is_quick=True)
class ComplexMatrices(nn.Module):
    def forward(self, x):
        z = torch.fft.fft(x)
        w = torch.fft.ifft(x, dim=1).transpose(1, 2)
        return pairs(z @ w), pairs(torch.bmm(z, w)), \
            pairs(torch.einsum("bij,bjk->ik", z, w)), pairs(z[0] @ w[1])


@case(normal(2, 3), calls=3, is_quick=True)
class ComplexState(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("memory", torch.complex(normal(2, 3), normal(3, 2).t()))

    def forward(self, x):
        self.memory.mul_(torch.polar(torch.ones(2, 3), x))
        return self.memory.abs(), pairs(self.memory)


@case(normal(2, 50), torch.hann_window(16), is_quick=True)
class ShortTimeFourier(nn.Module):
    def forward(self, x, window):
        a = torch.stft(x, 16, 4, 16, window, return_complex=True)
        b = torch.stft(x, 16, window=window[:11], win_length=11, center=False, normalized=True,
                       return_complex=True)
        c = torch.stft(x[0], 10, 3, onesided=False, return_complex=True)
        d = torch.stft(x, 7, 7, center=False, return_complex=False)
        return pairs(a), pairs(b), pairs(c), d, a.abs(), torch.istft(a, 16, 4, 16, window), \
            torch.istft(a, 16, 4, 16, window, length=45), \
            torch.istft(a[0], 16, 4, 16, window, length=60), \
            torch.istft(torch.stft(x, 15, 4, normalized=True, return_complex=True), 15, 4,
                        normalized=True), \
            torch.istft(c, 10, 3, onesided=False)


@case(normal(2, 50), normal(16, 2), is_quick=True)
class ShortTimeFourierOfComplex(nn.Module):
    """A signal or a window is complex: so is the result unless the call states else."""
    def forward(self, x, w):
        window, complex_window = torch.hann_window(16), torch.view_as_complex(w)
        signal = torch.fft.fft(x)
        a = torch.ops.aten.stft(signal, 16, 4, 16, window)
        b = torch.ops.aten.stft(x, 16, 4, 16, complex_window)
        c = torch.ops.aten.stft(signal[0], 16, 4, 16, complex_window, True, False, True)
        d = torch.ops.aten.stft(signal, 16, 4, 16, window, return_complex=False)
        return pairs(a), pairs(b), pairs(c), d


@case(normal(2, 50), is_traced=True, is_quick=True)
class CenteredShortTimeFourier(nn.Module):
    """The overload that pads the signal by itself."""
    def forward(self, x):
        stft, window = torch.ops.aten.stft.center, torch.hann_window(12)
        a = stft(x, 16, 4, 12, window, True, "reflect", False, True, True)
        b = stft(x[1], 15, 3, None, None, True, "constant", True, True, True)
        c = stft(x, 16, 5, 12, window, True, "replicate", False, False, True)
        d = stft(x, 16, 5, 12, window, False, "reflect", False, True, False)
        e = stft(torch.fft.fft(x), 16, 4, 12, window, True, "reflect")
        return pairs(a), pairs(b), pairs(c), d, pairs(e)


@case(normal(2, 50), normal(16, 2), refused="argument 'window' is complex, of parts float<16>; "
      "accepted: real elements")
class InverseOfComplexWindow(nn.Module):
    def forward(self, x, w):
        spectrum = torch.stft(x, 16, 4, return_complex=True)
        return torch.ops.aten.istft(spectrum, 16, 4, 16, torch.view_as_complex(w))


@case(normal(3), is_quick=True)
class Windows(nn.Module):
    def forward(self, x):
        outputs = [x.double()]
        for n in [0, 1, 2, 9]:
            outputs.append(torch.hann_window(n))
            outputs.append(torch.hann_window(n, periodic=False))
            outputs.append(torch.hamming_window(n, dtype=torch.float64))
            outputs.append(torch.hamming_window(n, periodic=False))
            outputs.append(torch.blackman_window(n))
            outputs.append(torch.blackman_window(n, periodic=False))
        return torch.cat(outputs)


@case(normal(2, 7, 50).exp(), is_quick=True)
class GriffinLim(nn.Module):
    """Phases that fit magnitudes, by turns of both transforms."""
    def forward(self, magnitude):
        window = torch.hann_window(12)
        angles = torch.zeros_like(magnitude)
        for _ in range(2):
            wave = torch.istft(torch.polar(magnitude, angles), 12, 3, 12, window)
            angles = torch.stft(wave, 12, 3, 12, window, return_complex=True).angle()
        return torch.istft(torch.polar(magnitude, angles), 12, 3, 12, window)


@case(normal(2, 6), refused="(aten::relu, ")
class ReluOfComplex(nn.Module):
    def forward(self, x):
        return torch.relu(torch.fft.fft(x)).abs()


@case(normal(2, 6), refused="argument 'self' is complex, of parts float<2x6>; accepted: real "
      "tensors, such as view_as_real() and abs() return")
class SqrtOfComplex(nn.Module):
    def forward(self, x):
        return torch.sqrt(torch.fft.fft(x)).abs()


@case(normal(2, 6), refused="and a tensor complex; accepted: a complex type, and .real, which is "
      "real")
class RealOfComplex(nn.Module):
    def forward(self, x):
        return torch.fft.fft(x).to(torch.float32)


@case(normal(2, 6), refused="argument 'dtype' is the type of complex numbers of float; accepted: "
      "real types")
class OnesOfComplex(nn.Module):
    def forward(self, x):
        return (x * torch.ones(6, dtype=torch.cfloat)).abs()


@case(normal(2, 6), refused="argument 'self': it reads a tensor after another one was changed")
class WriteOfComplexPairs(nn.Module):
    def forward(self, x):
        z = torch.fft.fft(x)
        torch.view_as_real(z).mul_(2)
        return z.abs()


@case(normal(2, 6), refused="argument 'norm' is 'none'; accepted: 'backward', 'ortho' and "
      "'forward'")
class UnknownNorm(nn.Module):
    def forward(self, x, norm: str = "none"):
        return torch.fft.fft(x, norm=norm).abs()


@case(normal(2, 6), refused="it transforms 0 elements; accepted: 1 to ")
class NothingToTransform(nn.Module):
    def forward(self, x, n: int = 0):
        return torch.fft.fft(x, n=n).abs()
