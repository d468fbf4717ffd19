"""Tensors with the values at which operators differ, for aten_arguments.py."""

import torch

FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8]
KINDS = FLOATS + INTEGERS + [torch.bool]

INF, NAN = float("inf"), float("nan")
# Ordinary numbers, halves of both signs, small and large ones, and what is none.
SPECIAL_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.25, 0.7,
                  -0.3, 3.0, -3.7, 7.25, -20.5, 100.0, -100.0, 1e-3, -1e-5,
                  1e4, -3e4, INF, -INF, NAN]
SPECIAL_INTEGERS = [0, 1, -1, 2, -2, 3, 5, -7, 10, 100, -100, 127, -128]


def limits(kind):
    info = torch.iinfo(kind)
    return [info.min, info.max]


def specials(kind, with_limits=False, without=()):
    """All special values of a kind, as a list."""
    if kind == torch.bool:
        return torch.tensor([False, True])
    if kind.is_floating_point:
        values = [v for v in SPECIAL_FLOATS if v not in without]
        if with_limits:
            values += [torch.finfo(kind).max, torch.finfo(kind).min,
                       torch.finfo(kind).tiny]
        return torch.tensor(values, dtype=torch.float64).to(kind)
    low, high = limits(kind)
    values = [v for v in SPECIAL_INTEGERS if low <= v <= high and
              v not in without]
    if with_limits:
        values += [v for v in (low, high) if v not in without]
    return torch.tensor(values, dtype=torch.int64).to(kind)


def numbers(kind, *shape, seed=0, low=-3.0, high=3.0):
    """Ordinary numbers of a seed."""
    generator = torch.Generator().manual_seed(seed + sum(shape) + 31 * len(shape))
    values = torch.rand(shape, generator=generator) * (high - low) + low
    if kind == torch.bool:
        return values > (low + high) / 2
    if not kind.is_floating_point:
        values = values.round()
        if kind == torch.uint8:
            values = values.abs()
    return values.to(kind)


def indices(limit, *shape, seed=0, negative=False):
    """Numbers below a limit, also negative ones if these count from the end."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    low = -limit if negative else 0
    return torch.randint(low, limit, shape, generator=generator)


def tied(kind, *shape, seed=0):
    """Few different numbers, so that many are equal."""
    generator = torch.Generator().manual_seed(seed + sum(shape))
    values = torch.randint(-1, 2, shape, generator=generator)
    if kind == torch.bool:
        return values > 0
    if kind == torch.uint8:
        values = values + 1
    return values.to(kind)


def with_nan(values, every=5):
    """The same with NaN at some places."""
    values = values.clone()
    values.view(-1)[2::every] = NAN
    return values


def combine(*lists):
    """Tuples of an element of each list, in all combinations."""
    if not lists:
        return [()]
    rests = combine(*lists[1:])
    return [(first, *rest) for first in lists[0] for rest in rests]
