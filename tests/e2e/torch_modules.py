"""Small PyTorch modules, each with inputs, that use the operators of networks.

To be imported; needs PyTorch.
"""

import torch
from torch import nn
from torch.nn import functional as F


def normal(*shape):
    return torch.randn(*shape)


def ints(high, *shape):
    return torch.randint(0, high, shape)


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def forward(self, *inputs):
        return self.call(*inputs)


class Attention(nn.Module):
    """Scaled dot products, as written by hand."""

    def __init__(self, width=24, heads=3):
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.project(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / (width // self.heads) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, float("-inf"))
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class InPlace(nn.Module):
    """Updates of views in place."""

    def forward(self, x):
        y = x.clone()
        y[:, 1] = 2 * y[:, 0]
        y[:, ::2].add_(1)
        y.view(-1)[3] = 7
        y.relu_()
        return y, y.sum(1)


class Counter(nn.Module):
    """A buffer that each run changes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.tensor([1.0, -2.0, 0.5]))

    def forward(self, x):
        total = self.total + x
        return total * 2, total


def by_strides(x):
    """Elements of the memory that tensors have in different orders."""
    last = x.contiguous(memory_format=torch.channels_last)
    turned, part = x.permute(2, 0, 3, 1), x[:, 1:, ::2]
    half = x.to(memory_format=torch.channels_last).double()
    return [torch.as_strided(tensor, *arguments) for tensor, arguments in [
        (x, ((2, 3), (1, 4))), (last, ((2, 3), (1, 4))), (last[1], ((2, 3), (5, 2))),
        (last, ((3, 3), (7, 2), 5)), (half, ((2, 5), (3, 4))),
        (turned, ((4, 3), (1, 16))), (turned * 2, ((6, 4), (4, 3), 2)),
        (turned.contiguous(), ((30,), (3,))), (turned.reshape(-1), ((30,), (3,))),
        (part, ((2, 2), (1, 8))), (part, ((3,), (2,), 5)),
        (part.transpose(0, 1), ((2, 3), (16, 4))), (x.unbind(1)[1], ((2, 3), (3, 2))),
        (x.split(1, 1)[2], ((2, 3), (1, 2))), (x.diagonal(0, 2, 3), ((4,), (5,))),
        (torch.as_strided(x, (8,), (2,), 4), ((2,), (3,))),
        (x.expand(5, 2, 3, 4, 4), ((2, 6), (6, 1))), (x.flatten(1).t(), ((9,), (4,)))]]


def cases():
    """(name, module, inputs) of each."""
    f = Function
    nan = float("nan")
    holes = torch.tensor([[8, nan, 3, nan, 5], [1, 2, nan, -4, 0],
                          [0, -1, 2, 3, 4], [nan, nan, nan, nan, nan]])
    yield "nan", f(lambda x: [
        x.argmax(1), x.argmin(1), x.argmax(), x.argmin(0), x.max(1), x.min(1),
        x.max(0), x.amax(1), x.amin(0), x.max(), x.sign(), x.sgn(), F.relu(x),
        F.hardtanh(x), x.clamp(0, 4), F.threshold(x, 2.5, -1), F.hardshrink(x),
        F.leaky_relu(x), F.elu(x), F.hardswish(x), F.hardsigmoid(x),
        F.max_pool2d(x[None, None], 2, 1, return_indices=True),
        F.max_pool1d(x, 3, 2, 1, return_indices=True),
        x.topk(3)[0], x[1:3].topk(3), x.sort(dim=1), x.sort(dim=0, descending=True),
        torch.maximum(x, x.flip(1)), torch.minimum(x, x.flip(1))]), (holes,)
    yield "small results", f(lambda x: [
        F.softplus(x).log(), F.logsigmoid(-x).neg().log(), F.mish(x) / x.exp(),
        x.exp().log1p().log(), x.exp().neg().expm1().neg().log(),
        torch.special.erfc(-x / 4).log(), (F.celu(x, 1.5) + 1.5).log1p(),
        torch.logit(0.5 + x.exp() / 4) / x.exp(), x.exp2()]), (
            torch.linspace(-25, -2, 47),)
    yield "integer powers", f(lambda x, y: [
        x ** y, x ** 5, x ** 40, 3 ** y, (-7) ** y, x.int() ** 3]), (
            torch.tensor([207, -7, 1, -1, 3, 0]),
            torch.tensor([8, 19, 40, 7, 39, 0]))
    yield "activations", f(lambda x: [
        F.relu(x), torch.sigmoid(x), torch.tanh(x), F.gelu(x), F.silu(x),
        F.gelu(x, approximate="tanh"), F.elu(x, 0.7), F.selu(x), F.celu(x, 1.5),
        F.leaky_relu(x, 0.2), F.hardtanh(x, -0.5, 0.7), F.hardswish(x),
        F.hardsigmoid(x), F.relu6(x), F.softplus(x, 2.0), F.mish(x),
        F.logsigmoid(x), F.softshrink(x, 0.3), F.hardshrink(x, 0.3),
        F.threshold(x, 0.1, -3.0), F.glu(x, 1), F.softsign(x),
        F.tanhshrink(x)]), (normal(3, 8),)
    yield "prelu", nn.PReLU(5), (normal(2, 5, 3, 3),)
    yield "unary", f(lambda x: [
        x.exp(), x.abs().log(), x.abs().sqrt(), x.neg(), x.sign(), x.erf(),
        x.floor(), x.ceil(), x.round(), x.trunc(), x.frac(), x.sin(), x.cos(),
        x.tan(), x.atan(), x.sinh(), x.cosh(), x.asinh(), x.exp2(), x.square(),
        x.abs().rsqrt(), x.reciprocal(), x.abs().log2(), x.abs().log10(),
        (x * 1e-3).log1p(), (x * 1e-3).expm1(), x.erfc(),
        (x / 4).asin(), (x / 4).acos(), (x / 4).atanh(), (x.abs() + 1).acosh(),
        x.abs().clamp(0.1, 0.9).logit()]), (normal(4, 7),)
    yield "tests", f(lambda x: [
        torch.isnan(x / (x > 0)), torch.isinf(x / (x > 0)),
        torch.isfinite(x / (x > 0)), torch.nan_to_num(x / (x > 0), 3.0)]), (
            normal(5, 3),)
    yield "arithmetic", f(lambda x, y: [
        x + y, x - y, x * y, x / y, torch.add(x, y, alpha=3),
        torch.sub(x, y, alpha=2), 3 - x, 1 / y, x // y, x % y,
        torch.fmod(x, y), x ** 2, x.abs() ** 1.7, 2.0 ** x,
        torch.maximum(x, y), torch.minimum(x, y), torch.atan2(x, y),
        torch.hypot(x, y), torch.addcmul(x, x, y, value=0.5),
        torch.addcdiv(x, x, y, value=0.5), torch.lerp(x, y, 0.3),
        torch.div(x, y, rounding_mode="trunc"), x.clamp(min=-0.2),
        x.clamp(-0.5, 0.5), torch.clamp_max(x, 0.1)]), (
            normal(3, 5), normal(3, 5) + 3)
    yield "integers", f(lambda a, b: [
        a + b, a - b, a * b, a // b, a % b, a / b, a ** 3,
        torch.div(a, b, rounding_mode="trunc"), a & b, a | b, a ^ b, ~a,
        a << 2, a.float() + b, a * 2.5, (a > 3) & (b > 2),
        torch.bitwise_and(a, 6), a.clamp(2, 5), a.sum(), a.max(),
        a.to(torch.int32) + b.to(torch.int32)]), (
            ints(17, 3, 4) - 8, ints(5, 3, 4) + 1)
    yield "kinds", f(lambda a, x: [
        a + x, a > 0, (a > 0) + 1, x.double() + 1, x.to(torch.int64), a.bool(),
        x * (a > 1), x.half().float(), a.to(torch.uint8), x.type_as(a),
        torch.where(a > 1, x, 0.0)]), (ints(4, 3, 3), normal(3, 3))
    yield "comparisons", f(lambda x, y: [
        x == y, x != y, x < y, x <= 0, x > 0.5, x >= y, torch.logical_and(
            x > 0, y > 0), torch.logical_xor(x > 0, y > 0), torch.logical_not(
                x), torch.where(x > y, x, y), x.masked_fill(y > 0, 3.0)]), (
                    normal(4, 4), normal(4, 4))
    yield "reductions", f(lambda x: [
        x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(), x.mean(-1),
        x.prod(1), x.amax(1), x.amin((0, 1)), x.max(), x.min(), x.max(1)[0],
        x.max(1)[1], x.min(2)[0], x.min(2)[1], x.argmax(1), x.argmin(),
        x.std(1), x.var(2, unbiased=False), torch.var_mean(x, 1)[0],
        x.norm(dim=1), x.norm(1, dim=2), x.logsumexp(2), (x > 0).any(1),
        (x > -2).all(), x.cumsum(1), x.cumprod(2), torch.linalg.vector_norm(
            x, 3.0, dim=1), (x > 0).sum(1)]), (normal(3, 4, 5),)
    yield "order", f(lambda x: [
        *x.topk(3, dim=1), *x.sort(dim=0), *x.topk(2, largest=False),
        x.argsort(descending=True), *torch.sort(x, stable=True, dim=1)]), (
            normal(5, 6),)
    yield "shapes", f(lambda x: [
        x.view(6, -1), x.reshape(-1), x.flatten(1), x.transpose(0, 2),
        x.permute(2, 0, 1), x[None].squeeze(0), x.unsqueeze(1), x[:, :1].expand(
            2, 3, 4), x.repeat(1, 2, 1), torch.tile(x, (2, 1)), x.movedim(0, 2),
        x.unflatten(2, (2, 2)), x[0].t(), x.flip(1), x.roll(2, 1), x.roll(1),
        torch.tril(x, 1), torch.triu(x), x.repeat_interleave(2, 1),
        x.diagonal(0, 1, 2), x.unfold(2, 2, 1), x.swapaxes(0, 1)]), (
            normal(2, 3, 4),)
    yield "slices", f(lambda x: [
        x[1], x[:, 2:], x[..., ::2], x[-1, -2], x.narrow(1, 1, 2), x.select(
            2, 3), *x.split(2, 1), *x.chunk(2, 2), *x.unbind(0), *torch.split(
                x, [1, 3], 1), x[:, None, 1:3]]), (normal(2, 4, 6),)
    yield "joining", f(lambda x, y: [
        torch.cat([x, y], 1), torch.stack([x, y]), torch.stack([x, y], 2),
        torch.hstack([x, y]), torch.vstack([x, y])]), (
            normal(2, 3), normal(2, 3))
    yield "indexing", f(lambda x, i, j: [
        x[i], x[:, i], x[i, j], x[i[:, None], j], x.index_select(1, i),
        x.gather(0, j[None].expand(2, -1)), x.scatter(
            0, j[None, :3], torch.ones(1, 3)), x.scatter_add(
                0, j[None, :3], torch.ones(1, 3)), F.embedding(i, x), torch.index_put(x, (i,), torch.zeros(5)),
        x.index_add(0, i, torch.ones(3, 5)), x.index_fill(1, i, 2.0),
        torch.take_along_dim(x, i[None, :], 1)[:1]]), (
            normal(5, 5), torch.tensor([0, 3, 1]), torch.tensor([2, 0, 4]))
    yield "creation", f(lambda x: [
        torch.zeros(2, 3) + x, torch.ones_like(x), torch.full((3,), 2.5) * x,
        torch.arange(3) + x, torch.arange(1, 7, 2) * x, torch.eye(3) @ x.t(),
        torch.linspace(0, 1, 3) * x, x.new_zeros(2, 3), x.new_full((2,), 3.0),
        torch.full_like(x, 4.0), torch.empty(2, 3).fill_(1.0) + x]), (
            normal(2, 3),)
    yield "matmul", f(lambda a, b, v: [
        a @ b, a[0] @ b[0], a @ v, v[:4] @ b[0][:4], torch.bmm(a, b),
        torch.baddbmm(torch.ones(2, 3, 5), a, b, beta=0.5, alpha=2),
        torch.addmm(torch.ones(3, 5), a[0], b[0]), torch.einsum(
            "bij,bjk->bik", a, b), torch.einsum("bij,bjk->ik", a, b),
        torch.outer(v, v), torch.dot(v, v), a[:, None] @ b]), (
            normal(2, 3, 4), normal(2, 4, 5), normal(4))
    yield "linear", nn.Sequential(nn.Linear(7, 5), nn.ReLU(), nn.Linear(5, 3)), (
        normal(2, 4, 7),)
    yield "attention", Attention(), (normal(2, 7, 24),)
    yield "conv1d", nn.Conv1d(4, 6, 3, stride=2, padding=1), (normal(2, 4, 9),)
    yield "conv2d", nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, groups=4, dilation=2),
        nn.Conv2d(8, 4, 1, bias=False)), (normal(1, 3, 9, 11),)
    yield "conv3d", nn.Conv3d(2, 3, 3, padding=1, stride=2), (
        normal(1, 2, 5, 6, 7),)
    yield "conv_same", nn.Conv2d(2, 3, (2, 3), padding="same"), (
        normal(1, 2, 5, 6),)
    yield "conv_transpose", nn.Sequential(
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1),
        nn.ConvTranspose2d(6, 2, 2, groups=2)), (normal(1, 4, 5, 5),)
    yield "conv_transpose1d", nn.ConvTranspose1d(3, 2, 4, stride=3), (
        normal(2, 3, 5),)
    yield "pooling", f(lambda x: [
        F.max_pool2d(x, 3, 2, 1), F.max_pool2d(x, 2, ceil_mode=True),
        F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(
            x, 3, 2, 1, count_include_pad=False), F.avg_pool2d(
                x, 3, 2, ceil_mode=True), F.adaptive_avg_pool2d(x, 1),
        F.adaptive_avg_pool2d(x, (3, 5)), F.adaptive_max_pool2d(x, 3),
        *F.max_pool2d(x, 3, 2, return_indices=True)]), (normal(2, 3, 9, 10),)
    yield "pooling1d", f(lambda x: [
        F.max_pool1d(x, 3, 2), F.avg_pool1d(x, 2), F.adaptive_avg_pool1d(x, 4),
        F.adaptive_max_pool1d(x, 5)]), (normal(2, 3, 11),)
    yield "pooling3d", f(lambda x: [
        F.max_pool3d(x, 2), F.avg_pool3d(x, 2, 1), F.adaptive_avg_pool3d(
            x, 1)]), (normal(1, 2, 5, 6, 4),)
    yield "norms", nn.Sequential(
        nn.BatchNorm2d(6), nn.GroupNorm(3, 6), nn.InstanceNorm2d(
            6, affine=True), nn.LayerNorm([4, 5])), (normal(2, 6, 4, 5),)
    yield "batch_norm1d", nn.BatchNorm1d(4, affine=False), (normal(3, 4),)
    yield "layer_norm", nn.LayerNorm(9), (normal(2, 5, 9),)
    yield "similarity", f(lambda x, y: [
        F.cosine_similarity(x, y), F.normalize(x, dim=1), F.mse_loss(x, y),
        F.l1_loss(x, y, reduction="sum"), F.softmax(x, 0), F.log_softmax(
            y, 1)]), (normal(3, 6), normal(3, 6))
    yield "resizing", f(lambda x: [
        F.interpolate(x, scale_factor=2), F.interpolate(
            x, (7, 9), mode="bilinear"), F.interpolate(
                x, (7, 9), mode="bilinear", align_corners=True),
        F.interpolate(x, scale_factor=1.5, mode="bicubic"), F.interpolate(
            x, (3, 4), mode="nearest"), F.interpolate(
                x, (3, 4), mode="nearest-exact")]), (normal(1, 2, 5, 6),)
    yield "padding", f(lambda x: [
        F.pad(x, (1, 2)), F.pad(x, (1, 0, 2, 1), value=3.0), F.pad(
            x, (1, 2, 1, 1), mode="reflect"), F.pad(
                x, (1, 1, 2, 0), mode="replicate"), F.pad(
                    x, (1, 2, 0, 1), mode="circular"), F.pad(x, (-1, 1))]), (
                        normal(1, 2, 4, 5),)
    yield "sampling", f(lambda x, g: [
        F.grid_sample(x, g, align_corners=False), F.grid_sample(
            x, g, "nearest", "border", True), F.unfold(
                x, (2, 3), padding=1, stride=2), F.fold(F.unfold(
                    x, 2, padding=1), (5, 6), 2, padding=1), torch.cdist(
                        x[0, 0], x[0, 1]), torch.as_strided(
                            x, (3, 4), (7, 2), 1)]), (
                                normal(1, 2, 5, 6), torch.rand(1, 3, 4, 2) - 0.5)
    yield "bags", nn.EmbeddingBag(9, 4, mode="mean"), (ints(9, 3, 5),)
    yield "pixels", f(lambda x: [
        F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2), F.channel_shuffle(
            x, 4)]), (normal(1, 8, 4, 6),)
    yield "lstm", nn.LSTM(5, 6, num_layers=2, bidirectional=True), (
        normal(4, 2, 5),)
    yield "lstm_batch_first", nn.LSTM(5, 6, batch_first=True), (
        normal(2, 4, 5),)
    yield "gru", nn.GRU(5, 6, num_layers=2), (normal(4, 2, 5),)
    yield "rnn", nn.RNN(5, 6, nonlinearity="relu"), (normal(4, 2, 5),)
    yield "cells", nn.LSTMCell(5, 6), (normal(3, 5),)
    yield "gru_cell", nn.GRUCell(5, 6), (normal(3, 5),)
    yield "embedding_mean", nn.Sequential(
        nn.Embedding(11, 6), f(lambda x: x.mean(1)), nn.Linear(6, 3)), (
            ints(11, 2, 5),)
    yield "transformer", nn.TransformerEncoderLayer(
        16, 4, 32, batch_first=True), (normal(2, 5, 16),)
    yield "in_place", InPlace(), (normal(3, 4),)
    yield "by_strides", f(by_strides), (normal(2, 3, 4, 4),)
    yield "by_strides_of_format", f(by_strides), (
        normal(2, 3, 4, 4).contiguous(memory_format=torch.channels_last),)


def flatten(results):
    """The tensors of nested tuples and lists."""
    if isinstance(results, torch.Tensor):
        return [results]
    return [tensor for part in results for tensor in flatten(part)]


def built(name, module, inputs):
    """The module for inference, with seeded weights."""
    torch.manual_seed(sum(map(ord, name)))
    module = module.eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_(0, 0.4)
        for buffer_name, buffer in module.named_buffers():
            if buffer_name.endswith("running_var"):
                buffer.uniform_(0.5, 1.5)
            elif buffer_name.endswith("running_mean"):
                buffer.normal_(0, 0.3)
    return module, inputs
