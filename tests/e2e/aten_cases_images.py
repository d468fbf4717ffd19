"""Cases of resized and sampled images."""

import torch

from aten_cases import Case, cases
from aten_values import FLOATS, INF, NAN, numbers, combine


def x(*shape, kind=torch.float32, seed=0):
    return numbers(kind, *shape, seed=seed)


# Resizing ----------------------------------------------------------------

SIZES = {1: [(8,), (5,), (1,)], 2: [(8, 8), (5, 7), (1, 4)], 3: [(4, 3, 5), (1, 2, 3)]}
TARGETS = {1: [[4], [5], [13], [1], [16]],
           2: [[4, 5], [8, 8], [16, 11], [1, 1], [3, 20], [7, 1]],
           3: [[2, 2, 3], [7, 5, 9], [1, 1, 1], [4, 6, 5]]}
# Factors of which most give no whole extents.
FACTORS = [2.0, 0.5, 1.5, 1.7, 0.3, 2.6, 1.0, 0.7]

NEAREST = {f"{name}{count}d": count
           for name in ["upsample_nearest", "_upsample_nearest_exact"]
           for count in [1, 2, 3]}
SMOOTH = {"upsample_linear1d": 1, "upsample_bilinear2d": 2, "upsample_trilinear3d": 3,
          "upsample_bicubic2d": 2, "_upsample_bilinear2d_aa": 2,
          "_upsample_bicubic2d_aa": 2}
SCALES = {1: ["scales"], 2: ["scales_h", "scales_w"],
          3: ["scales_d", "scales_h", "scales_w"]}


def corners(op):
    return [{}] if op in NEAREST else [{"align_corners": False}, {"align_corners": True}]


def count_of(op):
    return {**NEAREST, **SMOOTH}[op.split(".")[0]]


# Where PyTorch's pixels of a cubic cancel, the errors of its coordinates show: up to 5e-6 of
# pixels up to 3 (compared with those that it computes in double): 13 times the error of
# one function.
CUBIC = ["upsample_bicubic2d", "_upsample_bicubic2d_aa"]
OTHERS = [*NEAREST, *(op for op in SMOOTH if op not in CUBIC)]


@cases(*OTHERS, slack=10)
@cases(*CUBIC, slack=20)
def resized(op):
    """To extents, and to those that factors make, of which some or all are stated."""
    count = count_of(op)
    for spatial, rest in combine(SIZES[count], corners(op)):
        for target in TARGETS[count]:
            yield {"self": x(2, 3, *spatial), "output_size": target, **rest}
        for factor in FACTORS:
            target = [int(n * factor) for n in spatial]
            if min(target) < 1:
                continue
            case = {"self": x(2, 3, *spatial), "output_size": target, **rest}
            yield {**case, **{name: factor for name in SCALES[count]}}
            if count > 1:
                yield {**case, SCALES[count][-1]: factor}
                yield {**case, SCALES[count][0]: factor}
    for kind, rest in combine(FLOATS[:2], corners(op)):
        yield {"self": x(1, 2, *SIZES[count][0], kind=kind),
               "output_size": TARGETS[count][1], **rest}
    if op in NEAREST:
        special = x(1, 1, *SIZES[count][0])
        special.view(-1)[3:5] = torch.tensor([NAN, INF])
        yield {"self": special, "output_size": TARGETS[count][2]}


@cases(*(op + ".vec" for op in OTHERS), slack=10)
@cases(*(op + ".vec" for op in CUBIC), slack=20)
def resized_by_factors(op):
    count = count_of(op)
    for spatial in SIZES[count]:
        for rest in corners(op.split(".")[0]):
            for target in TARGETS[count]:
                yield {"input": x(2, 3, *spatial), "output_size": target, **rest,
                       "scale_factors": None}
            for first, last in combine(FACTORS, FACTORS[:3]):
                factors = [first, 1.3, last][:count] if count == 3 else \
                    [first, last][:count]
                if all(int(n * f) >= 1 for n, f in zip(spatial, factors)):
                    yield {"input": x(2, 3, *spatial), "output_size": None, **rest,
                           "scale_factors": factors}


@cases("upsample_nearest1d", "_upsample_nearest_exact1d")
def all_ratios(op):
    """Which pixel is the nearest depends on the rounding of PyTorch's factor."""
    for extent in range(1, 34):
        values = torch.arange(extent).float().view(1, 1, -1)
        for target in range(1, 34):
            if (extent + target) % 3 == 0 or extent > 28 or target > 28:
                yield {"self": values, "output_size": [target]}
        for factor in [0.3, 0.7, 1.1, 1.3, 1.7, 2.9, 3.3]:
            target = int(extent * factor)
            if target > 0:
                yield {"self": values, "output_size": [target], "scales": factor}


# Sampling ----------------------------------------------------------------


def points(spatial, count):
    """Points in the image, on its borders, between pixels, a little outside and far
    away."""
    values = [-1, 1, -1.05, 1.05, -1.3, 1.7, 0, 0.1, -0.4, 3.1, -3.3, 7.7, -9.9, 60.3]
    for extent in spatial:
        for k in range(-2, extent + 2):
            for part in [0, 0.5]:
                values.append(((k + part) * 2 + 1) / extent - 1)
                values.append((k + part) * 2 / max(extent - 1, 1) - 1)
    generator = torch.Generator().manual_seed(count)
    picked = torch.randint(len(values), (count, len(spatial)), generator=generator)
    return torch.tensor(values)[picked]


# Errors of coordinates are multiplied by the differences of pixels.
@cases("grid_sampler", "grid_sampler_2d", slack=30)
def sampled(op):
    for mode, padding, corners_ in combine([0, 1, 2], [0, 1, 2], [False, True]):
        rest = {"interpolation_mode": mode, "padding_mode": padding,
                "align_corners": corners_}
        for spatial in [(4, 5), (1, 3), (1, 1)]:
            grid = points(spatial, 40).view(1, 8, 5, 2)
            yield {"input": x(1, 2, *spatial), "grid": grid, **rest}
        yield {"input": x(2, 2, 3, 3, kind=torch.float64), "grid":
               points((3, 3), 8).view(2, 2, 2, 2).double(), **rest}
        # Numbers that are none are in the first pixel, where something is there.
        if mode != 2:
            special = torch.tensor([[NAN, 0.5], [0.5, NAN], [INF, 0], [0.3, -INF],
                                    [NAN, NAN], [-INF, INF]])
            yield {"input": x(1, 2, 4, 5), "grid": special.view(1, 2, 3, 2), **rest}


@cases("grid_sampler", "grid_sampler_3d", slack=30)
def sampled_volume(op):
    """Halves are left out: PyTorch rounds them to even since 2.1 only."""
    for mode, padding, corners_ in combine([0, 1], [0, 1, 2], [False, True]):
        rest = {"interpolation_mode": mode, "padding_mode": padding,
                "align_corners": corners_}
        for spatial in [(2, 3, 4), (1, 1, 2)]:
            grid = points(spatial, 48) + (0.013 if mode == 1 else 0)
            yield {"input": x(1, 2, *spatial), "grid": grid.view(1, 4, 4, 3, 3), **rest}
        # Where nothing is there, it depends on the processor what these are.
        if padding != 0:
            special = torch.tensor([[NAN, 0.55, 0.3], [0.55, NAN, 0.1], [INF, 0.1, 0.2],
                                    [0.3, -INF, 0.1], [0.1, 0.2, NAN], [0.1, 0.2, INF]])
            yield {"input": x(1, 2, 2, 3, 4), "grid": special.view(1, 1, 2, 3, 3),
                   **rest}
