"""Cases of reductions, of order along a dimension, and of normalizations."""

import torch

from aten_cases import Case, cases
from aten_values import (FLOATS, INF, KINDS, NAN, numbers, combine, specials, tied,
                         with_nan)

# Extents of 1 and 0, and none.
SHAPES = [(2, 3, 4), (5,), (1, 3), (3, 1), ()]


def dims_of(shape):
    rank = max(len(shape), 1)
    return range(-rank, rank)


def lists_of_dims(shape):
    rank = len(shape)
    yield from ([], [0], [-1])
    if rank > 1:
        yield from ([0, 1], [-1, 0], list(range(rank)))


def operands(shape):
    for kind in KINDS:
        yield numbers(kind, *shape)
    if shape and 0 not in shape:
        yield with_nan(numbers(torch.float32, *shape))
        yield with_nan(numbers(torch.float16, *shape), 3)


@cases("sum", "prod", "mean", "max", "min", "any", "all", "count_nonzero")
def of_all(op):
    for shape in SHAPES + [(0,), (2, 0)]:
        for x in operands(shape):
            yield {"self": x}
    for kind in FLOATS:
        for value in [INF, -INF, NAN]:
            yield {"self": torch.tensor([1.0, value, 2.0]).to(kind)}
    yield {"self": torch.tensor([INF, -INF])}
    if op in ("sum", "prod", "mean"):
        for kind, to in combine(KINDS, KINDS):
            yield {"self": numbers(kind, 2, 3), "dtype": to}


@cases("sum.dim_IntList", "mean.dim")
def along_dims(op):
    for shape in SHAPES + [(0, 3), (2, 0)]:
        for dims, keep in combine(lists_of_dims(shape), [False, True]):
            for x in operands(shape):
                yield {"self": x, "dim": dims, "keepdim": keep}
    yield {"self": numbers(torch.float32, 2, 3), "dim": None}
    for kind, to in combine(KINDS, KINDS):
        yield {"self": numbers(kind, 2, 3), "dim": [1], "dtype": to}


@cases("amax", "amin")
def extremes():
    for shape in SHAPES + [(0, 3)]:
        for dims, keep in combine(lists_of_dims(shape), [False, True]):
            for x in operands(shape):
                yield {"self": x, "dim": dims, "keepdim": keep}


@cases("prod.dim_int", "any.dim", "all.dim")
def along_dim(op):
    for shape in SHAPES + [(0, 3), (2, 0)]:
        for dim, keep in combine(dims_of(shape), [False, True]):
            for x in operands(shape):
                yield {"self": x, "dim": dim, "keepdim": keep}
    if op == "prod.dim_int":
        for kind, to in combine(KINDS, KINDS):
            yield {"self": numbers(kind, 2, 3), "dim": 1, "dtype": to}


@cases("any.dims", "all.dims")
def logic_along_dims(op):
    def reference(self, dim=None, keepdim=False):
        x = self != 0
        rank = self.dim()
        dims = range(rank) if dim is None else {d % max(rank, 1) for d in dim}
        for d in sorted(dims, reverse=True):
            if rank:
                x = x.any(d, True) if op == "any.dims" else x.all(d, True)
        if not keepdim and rank:
            x = x.reshape([n for d, n in enumerate(x.shape) if d not in dims])
        return x.to(torch.uint8) if self.dtype == torch.uint8 else x
    for shape in SHAPES + [(0, 3)]:
        for dims, keep in combine([None, *lists_of_dims(shape)], [False, True]):
            for x in operands(shape):
                yield Case(op, {"self": x, "dim": dims, "keepdim": keep},
                           reference=reference)


@cases("count_nonzero.dim_IntList")
def count_nonzero():
    for shape in SHAPES[:4]:
        for dims in lists_of_dims(shape):
            for x in operands(shape):
                yield {"self": x, "dim": dims}
    yield {"self": numbers(torch.float32, 2, 3), "dim": []}


# Order -------------------------------------------------------------------


def ordered(shape, kinds=KINDS):
    """Numbers with equal ones among them, and NaN in different numbers."""
    for kind in kinds:
        yield tied(kind, *shape)
        yield numbers(kind, *shape)
    if shape and 0 not in shape:
        yield with_nan(tied(torch.float32, *shape))
        yield torch.full(shape, NAN)
        yield with_nan(tied(torch.float64, *shape), 2)
        yield with_nan(tied(torch.bfloat16, *shape), 3)
        yield torch.full(shape, -INF)
        yield torch.full(shape, INF)


def wide():
    """A row of all special values, which are in no order."""
    for kind in KINDS:
        yield specials(kind, with_limits=True).flip(0)


@cases("max.dim", "min.dim")
def extreme_and_index():
    for shape in SHAPES + [(1, 40), (2, 0, 3)]:
        for dim, keep in combine(dims_of(shape), [False, True]):
            if 0 in shape and shape[dim] == 0:
                continue
            for x in ordered(shape):
                yield {"self": x, "dim": dim, "keepdim": keep}
    for x in wide():
        yield {"self": x, "dim": 0}


@cases("argmax", "argmin")
def index_of_extreme():
    for shape in SHAPES + [(1, 40)]:
        for dim, keep in combine([None, *dims_of(shape)], [False, True]):
            for x in ordered(shape):
                yield {"self": x, "dim": dim, "keepdim": keep}
    for x in wide():
        yield {"self": x, "dim": 0}


@cases("topk")
def topk():
    """Which of equal elements topk takes, PyTorch doesn't say: the values count, and
    indices where no elements are equal."""
    for shape in [(5,), (2, 6), (3, 1), ()]:
        for dim, largest in combine(dims_of(shape), [False, True]):
            extent = shape[dim] if shape else 1
            for k in {0, 1, extent // 2, extent}:
                for x in ordered(shape):
                    yield Case("", {"self": x, "k": k, "dim": dim, "largest": largest},
                               results=(0,))
                x = torch.randperm(max(torch.Size(shape).numel(), 1)).float().view(shape)
                # Not sorted they may be in any order.
                for sort in [False, True] if k == 1 else [True]:
                    yield {"self": x, "k": k, "dim": dim, "largest": largest,
                           "sorted": sort}
    for x in wide():
        for largest in [False, True]:
            yield Case("", {"self": x, "k": len(x), "largest": largest}, results=(0,))


@cases("sort", "argsort")
def sort(op):
    """An order of equal elements that PyTorch doesn't promise, but has on CPUs."""
    for shape in SHAPES + [(1, 40), (0, 3)]:
        for dim, descending in combine(dims_of(shape), [False, True]):
            for x in ordered(shape):
                case = {"self": x, "dim": dim, "descending": descending}
                # PyTorch keeps the order of few equal elements only.
                if shape != (1, 40):
                    yield case
                elif op == "sort":
                    yield Case(op, case, results=(0,))
    for x in wide():
        for descending in [False, True] if op == "sort" else []:
            yield Case(op, {"self": x, "descending": descending}, results=(0,))


@cases("sort.stable", "argsort.stable")
def stable_sort():
    for shape in SHAPES + [(1, 40), (0, 3)]:
        for dim, descending in combine(dims_of(shape), [False, True]):
            for x in ordered(shape):
                yield {"self": x, "dim": dim, "descending": descending, "stable": True}
    yield {"self": numbers(torch.float32, 3, 5), "stable": False}


@cases("cumsum", "cumprod")
def cumulative():
    for shape in SHAPES + [(0, 3), (2, 0)]:
        for dim in dims_of(shape):
            for x in operands(shape):
                yield {"self": x, "dim": dim}
    for kind, to in combine(KINDS, KINDS):
        yield {"self": numbers(kind, 2, 3), "dim": 1, "dtype": to}
    for x in [torch.tensor([1.0, INF, 2.0, -INF, 1.0]), torch.tensor([0.0, INF, 1.0])]:
        yield {"self": x, "dim": 0}


# Variance and norms ------------------------------------------------------


@cases("var", "std", "var_mean", "std_mean")
def variance():
    for shape in SHAPES + [(1,), (0,)]:
        for kind, unbiased in combine(FLOATS, [False, True]):
            yield {"self": numbers(kind, *shape), "unbiased": unbiased}
    yield {"self": torch.tensor([1.0, NAN, 2.0])}
    yield {"self": torch.arange(4) + torch.tensor(1e4)}
    yield {"self": numbers(torch.int64, 3)}


@cases("var.dim", "std.dim", "var_mean.dim", "std_mean.dim")
def variance_along_dims():
    for shape in SHAPES + [(2, 0)]:
        for kind, dims, unbiased, keep in combine(
                FLOATS, lists_of_dims(shape), [False, True], [False, True]):
            yield {"self": numbers(kind, *shape), "dim": dims, "unbiased": unbiased,
                   "keepdim": keep}
    yield {"self": numbers(torch.float32, 2, 3), "dim": None}


@cases("var.correction", "std.correction", "var_mean.correction",
       "std_mean.correction")
def variance_with_correction():
    for shape in SHAPES:
        for kind, dims, correction, keep in combine(
                [torch.float32, torch.float64], [None, *lists_of_dims(shape)],
                [None, 0, 1, 2, 7], [False, True]):
            yield {"self": numbers(kind, *shape), "dim": dims,
                   "correction": correction, "keepdim": keep}


POWERS = [2, 1, 0, 3, 0.5, -1, -2.0, INF, -INF]


@cases("norm.Scalar")
def norm():
    for kind, p in combine(FLOATS, POWERS):
        for shape in SHAPES + [(0,)]:
            yield {"self": numbers(kind, *shape), "p": p}
    for x in [torch.tensor([1.0, NAN]), torch.tensor([3e30, 4e30]),
              torch.tensor([0.0, 0.0]), torch.tensor([-INF, 1.0])]:
        for p in POWERS:
            yield {"self": x, "p": p}


@cases("norm.ScalarOpt_dim", "linalg_vector_norm")
def norm_along_dims(op):
    name = "ord" if op == "linalg_vector_norm" else "p"
    for shape in SHAPES:
        for kind, p, dims, keep in combine(
                [torch.float32, torch.float64, torch.float16], POWERS,
                lists_of_dims(shape), [False, True]):
            yield {"self": numbers(kind, *shape), name: p, "dim": dims, "keepdim": keep}
    if op == "linalg_vector_norm":
        for p, kind in combine(POWERS, [torch.float64, torch.float32]):
            yield {"self": numbers(torch.float32, 2, 3), "ord": p, "dtype": kind}
            yield {"self": numbers(torch.float32, 2, 3), "ord": p, "dim": None}
    else:
        yield {"self": numbers(torch.float32, 2, 3), "p": None, "dim": [1]}


@cases("norm.ScalarOpt_dim_dtype")
def norm_of_kind():
    for p, dims, keep, kind in combine([None, *POWERS], [[0], [-1], [0, 1]],
                                       [False, True], [torch.float64, torch.float32]):
        yield {"self": numbers(torch.float32, 2, 3), "p": p, "dim": dims,
               "keepdim": keep, "dtype": kind}


@cases("frobenius_norm.dim")
def frobenius():
    for kind, dims, keep in combine(FLOATS, [[], [0], [-1], [0, 1]], [False, True]):
        yield {"self": numbers(kind, 2, 3), "dim": dims, "keepdim": keep}


@cases("logsumexp")
def logsumexp():
    for shape in SHAPES:
        for kind, dims, keep in combine(FLOATS, lists_of_dims(shape), [False, True]):
            if dims or not shape:
                yield {"self": numbers(kind, *shape), "dim": dims, "keepdim": keep}
    for x in [torch.tensor([[-INF, -INF], [1.0, -INF], [INF, 1.0], [INF, -INF],
                            [NAN, 1.0], [1000.0, 1000.0], [-1000.0, -1001.0]])]:
        yield {"self": x, "dim": [1]}
        yield {"self": x, "dim": [0]}


# Softmax and normalizations ----------------------------------------------


@cases("softmax.int", "log_softmax.int", "_softmax", "_log_softmax")
def softmax(op):
    rest = {"half_to_float": False} if op.startswith("_") else {}
    for shape in SHAPES + [(0, 3), (2, 0)]:
        for kind, dim in combine(FLOATS, dims_of(shape)):
            yield {"self": numbers(kind, *shape), "dim": dim, **rest}
    x = torch.tensor([[1.0, 2, 3], [-INF, 1, -INF], [-INF, -INF, -INF], [INF, 1, 2],
                      [NAN, 1, 2], [1e4, -1e4, 0], [3e38, -3e38, 3e38]])
    for dim in [0, 1]:
        yield {"self": x, "dim": dim, **rest}
    if not rest:
        for kind, to in combine(KINDS, [None, *FLOATS]):
            yield {"self": numbers(kind, 2, 3), "dim": 1, "dtype": to}


@cases("_safe_softmax")
def safe_softmax():
    """Rows that are masked whole are 0."""
    def reference(self, dim, dtype=None):
        result = torch.softmax(self, dim, dtype)
        return torch.where((self == -INF).all(dim, True), torch.zeros_like(result),
                           result)
    x = torch.tensor([[1.0, 2, 3], [-INF, 1, -INF], [-INF, -INF, -INF], [NAN, 1, 2]])
    for kind, dim in combine(FLOATS[:2], [0, 1, -1]):
        yield Case("", {"self": x.to(kind), "dim": dim}, reference=reference)
    yield Case("", {"self": x, "dim": 1, "dtype": torch.float64}, reference=reference)


@cases("layer_norm", "native_layer_norm")
def layer_norm(op):
    for shape, count in [((2, 3, 4), 1), ((2, 3, 4), 2), ((2, 3, 4), 3), ((4,), 1),
                         ((2, 1), 1), ((0, 3), 1)]:
        inner = list(shape[len(shape) - count:])
        for kind, has_weight, has_bias, eps in combine(
                [torch.float32, torch.float64, torch.bfloat16], [True, False],
                [True, False], [1e-5, 0.1]):
            if has_bias and not has_weight and op == "layer_norm":
                continue
            x = numbers(kind, *shape)
            # What is left of one element is nothing but rounding errors: of small
            # whole numbers there are none.
            if inner == [1]:
                x = x.round().clamp(-2, 2)
            arguments = {"input": x, "normalized_shape": inner,
                         "weight": numbers(kind, *inner) if has_weight else None,
                         "bias": numbers(kind, *inner, seed=1) if has_bias else None,
                         "eps": eps}
            yield Case(op, arguments, slack=20)
    yield {"input": torch.ones(2, 3), "normalized_shape": [3], "weight": None,
           "bias": None, "eps": 1e-5}


@cases("rms_norm", slack=20)
def rms_norm():
    def reference(input, normalized_shape, weight=None, eps=None):
        kind = torch.float64 if input.dtype == torch.float64 else torch.float32
        x = input.to(kind)
        eps = torch.finfo(kind).eps if eps is None else eps
        dims = list(range(-len(normalized_shape), 0))
        x = x * torch.rsqrt((x * x).mean(dims, keepdim=True) + eps)
        return (x if weight is None else x * weight.to(kind)).to(input.dtype)
    for shape, count in [((2, 3, 4), 1), ((2, 3, 4), 2), ((4,), 1), ((2, 1), 1)]:
        inner = list(shape[len(shape) - count:])
        for kind, has_weight, eps in combine(FLOATS, [True, False],
                                             [None, 1e-5, 0.1]):
            yield Case("", {"input": numbers(kind, *shape), "normalized_shape": inner,
                            "weight": numbers(kind, *inner) if has_weight else None,
                            "eps": eps}, reference=reference)
    yield Case("", {"input": torch.zeros(2, 3), "normalized_shape": [3]},
               reference=reference)


def affine(kind, count, has_weight, has_bias):
    return {"weight": numbers(kind, count) if has_weight else None,
            "bias": numbers(kind, count, seed=1) if has_bias else None}


@cases("group_norm", "native_group_norm", slack=20)
def group_norm(op):
    for shape in [(2, 6), (2, 6, 4), (1, 6, 2, 3), (2, 6, 1, 1), (2, 6, 2, 1, 2)]:
        for groups, has_weight, has_bias, eps in combine(
                [1, 2, 3], [True, False], [True, False], [1e-5, 0.1]):
            x = numbers(torch.float32, *shape)
            own = affine(torch.float32, 6, has_weight, has_bias)
            if op == "group_norm":
                yield {"input": x, "num_groups": groups, **own, "eps": eps}
            else:
                yield {"input": x, **own, "N": shape[0], "C": 6,
                       "HxW": torch.Size(shape[2:]).numel(), "group": groups,
                       "eps": eps}


@cases("instance_norm", slack=20)
def instance_norm():
    for shape, statistics in combine([(2, 3, 4), (2, 3, 2, 3), (1, 3, 2, 2, 2)],
                                     [True, False]):
        for has_weight, has_bias in combine([True, False], [True, False]):
            mean = numbers(torch.float32, 3, seed=3)
            given = not statistics
            yield {"input": numbers(torch.float32, *shape),
                   **affine(torch.float32, 3, has_weight, has_bias),
                   "running_mean": mean if given else None,
                   "running_var": mean.abs() + 0.5 if given else None,
                   "use_input_stats": statistics, "momentum": 0.1, "eps": 1e-5,
                   "cudnn_enabled": True}


BATCH_NORMS = """batch_norm native_batch_norm _native_batch_norm_legit
_native_batch_norm_legit_functional _native_batch_norm_legit_no_training
_native_batch_norm_legit.no_stats""".split()


@cases(*BATCH_NORMS, slack=20)
def batch_norm(op):
    def reference(input, weight, bias, running_mean=None, running_var=None,
                  training=False, momentum=0.1, eps=1e-5):
        others = 4 if "functional" in op else 2
        return (torch.batch_norm(input, weight, bias, running_mean, running_var,
                                 training, momentum, eps, False),) + (None,) * others
    for shape, training in combine([(2, 3), (4, 3, 5), (2, 3, 2, 3), (1, 3, 2, 2, 2)],
                                   [False, True]):
        for has_weight, has_bias, eps in combine([True, False], [True, False],
                                                 [1e-5, 0.1]):
            mean = numbers(torch.float32, 3, seed=3)
            case = {"input": numbers(torch.float32, *shape),
                    **affine(torch.float32, 3, has_weight, has_bias)}
            if "no_stats" not in op:
                case.update(running_mean=mean, running_var=mean.abs() + 0.5)
            if "no_training" not in op:
                case["training"] = training
            elif training:
                continue
            if "no_stats" in op and not training:
                continue
            case.update(momentum=0.1, eps=eps)
            if op == "batch_norm":
                yield {**case, "cudnn_enabled": True}
                if training:
                    yield {**case, "running_mean": None, "running_var": None,
                           "cudnn_enabled": True}
            else:
                yield Case(op, case, results=(0,), reference=None if
                           op == "native_batch_norm" else reference)
