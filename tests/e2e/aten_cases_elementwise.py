"""Cases of operators on single elements."""

import numpy as np
import torch

from aten_cases import Case, cases
from aten_values import (FLOATS, INF, INTEGERS, KINDS, NAN, numbers, combine, limits,
                         specials)

SHAPES = [(), (0,), (1,), (2, 0, 3)]

# Functions that are periodic are not asked for numbers that are farther from 0 than
# their period is exact (see NOT_COMPARED in aten_arguments.py).
PERIODIC = ["sin", "cos", "tan"]
FLOAT_UNARY = """exp log sqrt reciprocal tanh sigmoid erf asin acos atan sinh cosh asinh
acosh atanh rsqrt exp2 log2 log10 log1p expm1 erfc""".split()
ANY_UNARY = """neg relu abs sign sgn floor ceil round trunc fix frac square isnan isinf
isfinite logical_not bitwise_not positive""".split()
ACTIVATIONS = """silu hardswish mish log_sigmoid hardsigmoid relu6 selu""".split()


def log1p(self):
    result = torch.log1p(self)
    return torch.where(result.isinf() & (self > 0) & self.isfinite(), self.log(), result)


def hardswish(self):
    result = torch.nn.functional.hardswish(self)
    return torch.where(result.isinf() & self.isfinite(), self, result)


# Where this PyTorch makes infinities of large numbers.
REFERENCES = {"log1p": log1p, "hardswish": hardswish}


@cases(*FLOAT_UNARY, *ANY_UNARY, *ACTIVATIONS)
def unary(op):
    for kind in KINDS:
        yield Case(op, {"self": specials(kind, with_limits=True)},
                   reference=REFERENCES.get(op))
        for shape in SHAPES:
            yield {"self": numbers(kind, *shape)}
    yield {"self": numbers(torch.float32, 3, 40, low=-10, high=10)}
    yield {"self": numbers(torch.float32, 3, 40, low=-1, high=1)}


@cases(*PERIODIC)
def periodic():
    for kind in KINDS:
        yield {"self": specials(kind)}
        for shape in SHAPES:
            yield {"self": numbers(kind, *shape)}
    yield {"self": numbers(torch.float32, 3, 40, low=-1000, high=1000)}


# Two operands ------------------------------------------------------------

SCALARS = [0, 1, -1, 2, 3, -7, 0.0, -0.0, 0.5, -1.5, 2.0, 1e-3, INF, -INF, NAN]
ARITHMETIC = "add sub rsub mul multiply div true_divide divide".split()
DIVISIONS = "floor_divide remainder fmod".split()
COMPARISONS = """eq ne not_equal lt less gt greater le less_equal ge
greater_equal""".split()
BITS = "bitwise_and bitwise_or bitwise_xor __and__ __or__ __xor__".split()
PLAIN = """maximum minimum max.other min.other atan2 arctan2 hypot logical_and logical_or
logical_xor""".split()


def overloads(names, overload):
    return [f"{name}.{overload}" for name in names]


TENSORS = PLAIN + overloads(ARITHMETIC + COMPARISONS + BITS, "Tensor")
NUMBERS = overloads([n for n in ARITHMETIC + COMPARISONS + BITS if n != "multiply"],
                    "Scalar")


def divisors(kind, values):
    """Integers are not divided by 0, nor is the lowest one by -1."""
    if kind.is_floating_point:
        return values
    if kind == torch.bool:
        return torch.ones_like(values)
    return torch.where(values == 0, torch.full_like(values, 3), values)


def dividends(kind, values):
    """PyTorch's quotients of floats are wrong where they have very many bits."""
    if kind.is_floating_point:
        return values[(values.abs() < 1e9) | ~values.isfinite()]
    if kind == torch.bool:
        return values
    low = torch.iinfo(kind).min
    return torch.where(values == low, torch.full_like(values, 7), values)


def pairs(convert_x=lambda kind, x: x, convert_y=lambda kind, y: y):
    """All values by all values, kinds by kinds, and shapes."""
    for kind in KINDS:
        yield (convert_x(kind, specials(kind, with_limits=True))[:, None],
               convert_y(kind, specials(kind, with_limits=True)))
    for x, y in combine(KINDS, KINDS):
        yield numbers(x, 2, 1, 5), convert_y(y, numbers(y, 4, 5))
        yield numbers(x, 3), convert_y(y, numbers(y))
        yield numbers(x), convert_y(y, numbers(y, 3))
        yield numbers(x), convert_y(y, numbers(y))
    for a, b in [((0,), (1,)), ((2, 0), (0,)), ((3, 1), (1, 0)), ((1,), (1, 1)),
                 ((1, 1), ())]:
        yield numbers(torch.float32, *a), numbers(torch.float32, *b)


@cases(*TENSORS)
def binary():
    for x, y in pairs():
        yield {"self": x, "other": y}


@cases("floor_divide", "remainder.Tensor", "fmod.Tensor")
def division():
    for x, y in pairs(dividends, divisors):
        yield {"self": x, "other": y}


def of_any_bits(kind, count, seed):
    """Floats of all magnitudes, of which few are NaN or infinite."""
    bits = {torch.float64: torch.int64, torch.float32: torch.int32}[kind]
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(*limits(bits), (count,), generator=generator,
                         dtype=bits).view(kind)


@cases("fmod.Tensor", "remainder.Tensor", slack=0)
def rests(op):
    """Of all numbers by all numbers, exactly. PyTorch's vectors have NaN for very large
    quotients: NumPy's are those of C."""
    def reference(self, other):
        function = np.fmod if op == "fmod.Tensor" else np.remainder
        with np.errstate(all="ignore"):
            return torch.from_numpy(function(self.numpy(), other.numpy()))
    for kind in [torch.float64, torch.float32]:
        info = torch.finfo(kind)
        least = info.tiny * info.eps
        limited = [info.max, -info.max, info.tiny, -info.tiny, least, least * 7, 3, -7,
                   info.max / 3, 1e-5, info.tiny * 1.3, 0, INF, -INF, NAN]
        values = torch.tensor(limited, dtype=torch.float64).to(kind)
        for x, y in [(values[:, None], values),
                     (of_any_bits(kind, 2000, 1), of_any_bits(kind, 2000, 2)),
                     (of_any_bits(kind, 100, 3)[:, None], values),
                     (values, of_any_bits(kind, 100, 4)[:, None])]:
            yield Case(op, {"self": x, "other": y}, reference=reference)


@cases("div.Tensor_mode")
def division_mode():
    for mode in [None, "floor", "trunc"]:
        for x, y in pairs(dividends, divisors):
            yield {"self": x, "other": y, "rounding_mode": mode}


def with_numbers(scalars):
    for kind in KINDS:
        for scalar in scalars:
            yield specials(kind, with_limits=kind.is_floating_point), scalar
            if scalar in (2, 0.5):
                yield numbers(kind), scalar
                yield numbers(kind, 0, 2), scalar


@cases(*NUMBERS)
def with_number(op):
    for x, number in with_numbers(SCALARS):
        if op.split(".")[0] in BITS and isinstance(number, float):
            continue
        yield {"self": x, "other": number}


@cases("floor_divide.Scalar", "remainder.Scalar", "fmod.Scalar")
def division_by_number():
    for x, number in with_numbers(SCALARS):
        if x.dtype.is_floating_point or number != 0:
            yield {"self": dividends(x.dtype, x), "other": number}


@cases("div.Scalar_mode")
def division_mode_by_number():
    for mode in [None, "floor", "trunc"]:
        for case in division_by_number():
            yield {**case, "rounding_mode": mode}


@cases(*overloads([n for n in ARITHMETIC + COMPARISONS + BITS if n != "multiply"],
                  "Scalar"))
def with_bool(op):
    """Python's bools, which torch.ops would take as ints."""
    def reference(self, other, **rest):
        name = op.split(".")[0]
        if name == "rsub":
            return torch.sub(other, self)
        if name.startswith("__"):
            return getattr(self, name)(other)
        return getattr(torch, name)(self, other)
    for kind, flag in combine(KINDS, [True, False]):
        if "sub" not in op and not (flag is False and "div" in op):
            yield Case(op, {"self": specials(kind), "other": flag},
                       reference=reference, without=("script",))


@cases(*overloads(["add", "sub", "rsub"], "Tensor"))
def with_alpha():
    kinds = [torch.float32, torch.float16, torch.int64, torch.int8, torch.uint8]
    for one, other, alpha in combine(kinds, kinds,
                                     [0, 1, 2, -3, 0.5, 2.0, INF, NAN]):
        yield {"self": numbers(one, 5), "other": numbers(other, 5, seed=1),
               "alpha": alpha}


@cases(*overloads(["add", "sub", "rsub"], "Scalar"))
def with_number_and_alpha():
    for kind, other, alpha in combine([torch.float32, torch.int64, torch.int8],
                                      [3, 1.5], [1, 2, -3, 0.5]):
        yield {"self": numbers(kind, 5), "other": other, "alpha": alpha}


@cases("_add_relu.Tensor", "_add_relu.Scalar")
def sum_above_zero(op):
    """Of NaN and infinities PyTorch makes one thing in vectors and another behind them."""
    for kind, alpha in combine([torch.float32, torch.float64, torch.int64, torch.int8],
                               [1, 2, -3, 0.5]):
        if kind.is_floating_point or alpha != 0.5:
            other = numbers(kind, 3, 1, seed=1) if op.endswith("Tensor") else 3
            yield {"self": numbers(kind, 3, 5), "other": other, "alpha": alpha}


SHIFTS = ["__lshift__", "__rshift__", "bitwise_left_shift", "bitwise_right_shift"]


@cases(*overloads(SHIFTS, "Tensor"))
def shifts():
    """PyTorch does not define shifts by negative numbers, nor by all bits."""
    for kind in INTEGERS:
        bits = torch.iinfo(kind).bits
        by = torch.arange(0, bits - 1).to(kind)
        yield {"self": specials(kind, with_limits=True)[:, None], "other": by}
    for one, other in combine(INTEGERS, INTEGERS):
        yield {"self": numbers(one, 3), "other": numbers(other, 3).abs()}
        yield {"self": numbers(one), "other": numbers(other, 3).abs()}
    yield {"self": numbers(torch.float32, 3), "other": numbers(torch.float32, 3)}


@cases("__lshift__.Scalar", "__rshift__.Scalar", "bitwise_left_shift.Tensor_Scalar",
       "bitwise_right_shift.Tensor_Scalar")
def shifts_by_number():
    for kind in INTEGERS:
        for by in [0, 1, 3, 6]:
            yield {"self": specials(kind, with_limits=True), "other": by}


# Powers ------------------------------------------------------------------

EXPONENTS = [0, 1, 2, 3, 4, 5, 7, -1, -2, 0.0, 0.5, -0.5, 1.0, 2.0, 3.0, -1.0, 1.5,
             0.25, -3.0, INF, -INF, NAN]


@cases("pow.Tensor_Scalar")
def powers():
    for kind, exponent in combine(KINDS, EXPONENTS):
        if isinstance(exponent, int) and exponent < 0 and \
                not kind.is_floating_point:
            continue
        values = specials(kind, with_limits=kind.is_floating_point)
        if kind in (torch.float16, torch.bfloat16):
            values = values[values.isfinite()]  # whose root may be one or NaN
        yield {"self": values, "exponent": exponent}
        yield {"self": numbers(kind), "exponent": exponent}


@cases("pow.Scalar")
def powers_of_number():
    for kind, base in combine(KINDS, [0, 1, 2, -1, -2, 3, 0.0, 0.5, 2.0,
                                                -1.5, INF, -INF, NAN]):
        exponents = specials(kind)
        if not kind.is_floating_point and isinstance(base, int):
            exponents = exponents[exponents >= 0]
        yield {"self": base, "exponent": exponents}


@cases("pow.Tensor_Tensor")
def powers_of_tensors():
    for kind in FLOATS:
        yield {"self": specials(kind, with_limits=True)[:, None],
               "exponent": specials(kind)}
    for kind in INTEGERS:
        exponents = specials(kind)
        yield {"self": specials(kind, with_limits=True)[:, None],
               "exponent": exponents[exponents >= 0]}
    for one, other in combine(KINDS, KINDS):
        exponent = numbers(other, 4)
        yield {"self": numbers(one, 4),
               "exponent": exponent if one.is_floating_point or
               other.is_floating_point else exponent.abs()
               if other != torch.bool else exponent}


# Three operands, bounds --------------------------------------------------


@cases("addcmul", "addcdiv")
def combined(op):
    for kind, value in combine(KINDS, [1, 2, -1, 0.5, 0.0, INF]):
        divisor = numbers(kind, 2, 1, seed=2)
        if op == "addcdiv":
            divisor = divisors(kind, divisor)
        yield {"self": numbers(kind, 3), "tensor1": numbers(kind, 2, 3, seed=1),
               "tensor2": divisor, "value": value}
    for a, b, c in combine(FLOATS[:3] + [torch.int64], FLOATS[:3] + [torch.int64],
                           [torch.float32, torch.float64]):
        yield {"self": numbers(a, 3), "tensor1": numbers(b, 3, seed=1),
               "tensor2": numbers(c, 3, seed=2)}
        yield {"self": numbers(a, 3), "tensor1": numbers(b), "tensor2": numbers(c)}


@cases("lerp.Scalar")
def lerp_by_number():
    for kind, weight in combine(FLOATS, [0, 1, 0.25, 0.5, 0.75, 2.0, NAN]):
        yield {"self": specials(kind)[:, None], "end": specials(kind), "weight": weight}
        yield {"self": numbers(kind, 5), "end": numbers(kind, 5, seed=1), "weight": -1}


@cases("lerp.Tensor")
def lerp_by_tensor():
    for kind in FLOATS:
        for shape in [(), (5,), (2, 1)]:
            yield {"self": specials(kind), "end": specials(kind).flip(0),
                   "weight": numbers(kind)} if not shape else {
                   "self": numbers(kind, 2, 5), "end": numbers(kind, 5, seed=1),
                   "weight": numbers(kind, *shape, low=-0.5, high=1.5)}


BOUNDS = [None, 0, -1, 2, 0.5, -1.5, INF, -INF, NAN]


@cases("clamp", "clip")
def clamp():
    for kind, low, high in combine(KINDS, BOUNDS, BOUNDS):
        if low is not None or high is not None:
            yield {"self": specials(kind), "min": low, "max": high}
    for kind in KINDS:
        yield {"self": numbers(kind), "min": -1, "max": 1}
        yield {"self": numbers(kind, 0), "min": -1, "max": 1}


@cases("clamp_min", "clamp_max")
def clamp_one(op):
    for kind, bound in combine(KINDS, BOUNDS[1:]):
        yield {"self": specials(kind), op[6:]: bound}


@cases("clamp.Tensor", "clamp_min.Tensor", "clamp_max.Tensor")
def clamp_tensors(op):
    names = {"clamp": ["min", "max"], "clamp_min": ["min"],
             "clamp_max": ["max"]}[op.split(".")[0]]
    for one, other in combine(KINDS, KINDS):
        bounds = {n: numbers(other, 2, 1, seed=i) for i, n in enumerate(names)}
        yield {"self": numbers(one, 5), **bounds}
        yield {"self": numbers(one, 5), names[-1]: numbers(other)}
    for kind in FLOATS:
        yield {"self": specials(kind)[:, None], names[0]: specials(kind)}


@cases("nan_to_num")
def nan_to_num():
    choices = [None, 0.0, 7.0, -1e5, INF, NAN]
    for kind, nan, high, low in combine(KINDS, choices, choices[:4],
                                        choices[:4]):
        yield {"self": specials(kind, with_limits=True), "nan": nan, "posinf": high,
               "neginf": low}


@cases("where.self")
def where():
    for one, other in combine(KINDS, KINDS):
        yield {"condition": numbers(torch.bool, 2, 1, 3), "self": numbers(one, 4, 1),
               "other": numbers(other, 3)}
        yield {"condition": numbers(torch.bool, 3), "self": numbers(one),
               "other": numbers(other, 3)}
        yield {"condition": numbers(torch.bool, 3), "self": numbers(one),
               "other": numbers(other)}
    yield {"condition": numbers(torch.uint8, 3), "self": specials(torch.float32)[:, None],
           "other": numbers(torch.float32, 3)}


@cases("where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where_numbers(op):
    for kind, number in combine(KINDS, [0, 2, -1, 0.5, INF, NAN]):
        given = {"self": number, "other": number}
        if op != "where.Scalar":
            given["self" if op == "where.ScalarOther" else "other"] = numbers(kind, 2, 3)
        else:
            given["other"] = 7 if kind == torch.int64 else 1.5
        yield {"condition": numbers(torch.bool, 3), **given}
        if op != "where.Scalar":
            given["self" if op == "where.ScalarOther" else "other"] = numbers(kind)
            yield {"condition": numbers(torch.bool, 3), **given}


@cases("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(op):
    for kind, number in combine(KINDS, [0, 2, -1, 0.5, INF, NAN]):
        for shape in [(2, 3), (3,), (2, 1), ()]:
            value = number if "Scalar" in op else torch.tensor(number)
            yield {"self": numbers(kind, 2, 3), "mask": numbers(torch.bool, *shape),
                   "value": value}


# Parameters --------------------------------------------------------------


@cases("round.decimals")
def round_decimals():
    for kind, decimals in combine(FLOATS + [torch.int64],
                                  [0, 1, 2, 3, -1, -2, 7]):
        yield {"self": specials(kind), "decimals": decimals}
        yield {"self": numbers(kind, 3, 9, low=-30, high=30), "decimals": decimals}


@cases("softplus")
def softplus():
    for kind, beta, threshold in combine(FLOATS, [1, 0.5, 2, -1.5, 10],
                                         [20, 1, 0, 50, -5]):
        yield {"self": specials(kind), "beta": beta, "threshold": threshold}


@cases("log_sigmoid_forward")
def log_sigmoid_forward():
    for kind in FLOATS:
        yield Case("", {"self": specials(kind)}, results=(0,))


# Left of 0 it is x times the difference of 1 and a function with errors of its own.
@cases("gelu", slack=3)
def gelu():
    for kind, mode in combine(KINDS, ["none", "tanh"]):
        yield {"self": specials(kind, with_limits=True), "approximate": mode}
    yield {"self": numbers(torch.float32, 3, 9)}


@cases("hardtanh")
def hardtanh():
    for kind, low, high in combine(KINDS, [-1, 0, -2.5, 0.5], [1, 6, 2.5]):
        yield {"self": specials(kind), "min_val": low, "max_val": high}


@cases("leaky_relu")
def leaky_relu():
    for kind, slope in combine(KINDS, [0.01, 0, 1, -0.5, 2.0]):
        yield {"self": specials(kind), "negative_slope": slope}


@cases("elu")
def elu():
    for kind, alpha, scale, inner in combine(
            FLOATS, [1, 0.5, -1, 0], [1, 2.0], [1, 0.5, 3.0]):
        yield {"self": specials(kind), "alpha": alpha, "scale": scale,
               "input_scale": inner}


@cases("celu")
def celu():
    for kind, alpha in combine(FLOATS, [1.0, 0.5, 2, -1.0]):
        yield {"self": specials(kind), "alpha": alpha}


@cases("hardshrink")
def hardshrink():
    for kind, bound in combine(FLOATS, [0.5, 0, 2, 0.25]):
        yield {"self": specials(kind), "lambd": bound}


@cases("softshrink")
def softshrink():
    def reference(self, lambd):
        # This PyTorch makes 0 of NaN, newer ones don't.
        result = torch.nn.functional.softshrink(self, lambd)
        return torch.where(self.isnan(), self, result)
    for kind, bound in combine([torch.float32, torch.float64, torch.bfloat16],
                               [0.5, 0, 2, 0.25]):
        yield Case("", {"self": specials(kind), "lambd": bound}, reference=reference)


@cases("threshold")
def threshold():
    for kind, bound, value in combine(KINDS, [0, 1, 0.5, -1.5, NAN],
                                      [0, 7, -0.5, NAN]):
        yield {"self": specials(kind), "threshold": bound, "value": value}


@cases("logit")
def logit():
    # Above a half it depends on the number of elements what PyTorch computes.
    for kind, eps in combine(KINDS, [None, 0.0, 1e-6, 0.1, 0.5]):
        yield {"self": numbers(kind, 3, 9, low=-0.2, high=1.2), "eps": eps}
        yield {"self": specials(kind), "eps": eps}


@cases("prelu", "_prelu_kernel")
def prelu(op):
    def reference(self, weight):
        return torch.where(self > 0, self, self * weight)
    for kind in FLOATS:
        for shape, count in [((5,), 1), ((), 1), ((2, 3), 3), ((2, 3), 1),
                             ((2, 3, 4), 3), ((2, 3, 2, 2), 3), ((1, 1, 4), 1),
                             ((0, 3, 2), 3)]:
            x = numbers(kind, *shape)
            if op == "prelu":
                yield {"self": x, "weight": numbers(kind, count)}
            else:
                rank = max(len(shape), 1)
                weight = numbers(kind, count).view(
                    [1, count] + [1] * (rank - 2) if rank > 1 else [1])
                yield Case(op, {"self": x, "weight": weight if shape else
                                weight.view(())}, reference=reference)
        yield {"self": specials(kind), "weight": numbers(kind, 1)} \
            if op == "prelu" else Case(op, {"self": specials(kind), "weight":
                                            numbers(kind, 1)}, reference=reference)


@cases("glu")
def glu():
    for kind in FLOATS:
        for shape, dim in [((4,), 0), ((2, 6), -1), ((2, 6), 0), ((2, 4, 3), 1)]:
            yield {"self": numbers(kind, *shape), "dim": dim}
        yield {"self": torch.stack([specials(kind), specials(kind).flip(0)]), "dim": 0}


@cases("mse_loss", "l1_loss")
def losses():
    for kind, reduction in combine(FLOATS, [0, 1, 2]):
        for shape in [(), (5,), (2, 3), (0,)]:
            yield {"self": numbers(kind, *shape), "target": numbers(kind, *shape, seed=1),
                   "reduction": reduction}
    yield {"self": numbers(torch.float32, 2, 3), "target": numbers(torch.float32, 3)}
    yield {"self": numbers(torch.float32, 3), "target": numbers(torch.float64, 3)}
    yield {"self": numbers(torch.int64, 3), "target": numbers(torch.float32, 3)}
