"""Cases of operators on numbers of Python, which TorchScript alone has, of checks, and
of quantized tensors."""

import torch

from aten_cases import Case, cases
from aten_values import INF, NAN, numbers, combine

INTS = [0, 1, 2, 3, -1, -2, 7, -7, 10, 1 << 40, -(1 << 40), (1 << 63) - 1, -(1 << 63)]
REALS = [0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.7, -3.7, 15000000000.5, 1e300, INF,
         -INF, NAN]
VALUES = {"int": INTS, "float": REALS, "bool": [True, False]}
FOUR = ["int", "float", "int_float", "float_int"]
FIVE = [*FOUR, ""]
# {operator on two numbers: its overloads}
PAIRS = {"add": FIVE, "sub": FIVE, "mul": FIVE, "div": ["int", "float", ""],
         "floordiv": FIVE, "remainder": FIVE, "fmod": FIVE,
         "pow": [*FOUR, "Scalar_Scalar", "int_to_int"], "prim::min": FIVE,
         "prim::max": FIVE, "atan2": [*FOUR, "Scalar_Scalar"], "copysign": FIVE,
         "log": ["int_int", "float_float", "int_float", "float_int", "Scalar_Scalar"],
         "eq": [*FIVE, "bool"], "ne": [*FIVE, "bool"], "lt": FIVE, "le": FIVE,
         "gt": FIVE, "ge": FIVE, "gcd": ["int"], "__round_to_zero_floordiv": ["int"],
         "__and__": ["bool", "int"], "__or__": ["bool", "int"],
         "__xor__": ["bool", "int"], "__lshift__": ["int"], "__rshift__": ["int"]}
# Operators on one number, of ints, floats and either.
ONES = """neg prim::abs fabs floor ceil round sqrt exp log log10 log1p sin cos tan
tanh atan degrees radians""".split()
# The kinds of operands of an overload.
KINDS = {"int": ("int", "int"), "float": ("float", "float"), "": ("number", "number"),
         "int_float": ("int", "float"), "float_int": ("float", "int"),
         "bool": ("bool", "bool"), "Scalar_Scalar": ("number", "number"),
         "int_int": ("int", "int"), "float_float": ("float", "float"),
         "int_to_int": ("int", "int")}


# Functions of numbers that are known when the model is compiled.
KNOWN_ONLY = """atan cos degrees log10 log1p radians round sin tan tanh atan2 copysign
fmod log""".split()


def constants_of(name, position, arguments):
    """Numbers that are constants: of functions that need them, all but once."""
    if position == 0 or name not in KNOWN_ONLY or name == "log" and len(arguments) == 1:
        return ()
    return tuple(arguments)


def values_of(kind):
    return [3, -2, 2.5, -0.5] if kind == "number" else VALUES[kind]


def defined(name, a, b):
    """What neither PyTorch's code nor C++ leaves open."""
    whole = isinstance(a, int) and isinstance(b, int)
    if name in ("floordiv", "remainder", "fmod", "div", "__round_to_zero_floordiv"):
        return b != 0 and not (whole and a == -(1 << 63))
    if name in ("__lshift__", "__rshift__"):
        return 0 <= b < 63
    if name == "pow":
        return not whole or (0 <= b < 64 and abs(a) < 9)
    if name == "gcd":
        return abs(a) < 1 << 62 and abs(b) < 1 << 62
    if whole and name in ("add", "sub", "mul"):
        return abs(a) < 1 << 31 and abs(b) < 1 << 31
    return True


def overload_names(pairs):
    return [name + ("." + overload if overload else "")
            for name, overloads in pairs for overload in overloads]


@cases(*overload_names(PAIRS.items()))
def pairs(op):
    name, _, overload = op.partition(".")
    for position, (a, b) in enumerate(combine(*map(values_of, KINDS[overload]))):
        if defined(name, a, b):
            yield Case(op, {"a": a, "b": b}, constants_of(name, position, "ab"),
                       is_computed="number" in KINDS[overload], without=("pt2",))


@cases(*overload_names((name, ["int", "float", "Scalar"]) for name in ONES),
       "isnan.float", "isinf.float", "isfinite.float")
def ones(op):
    name, _, overload = op.partition(".")
    for position, a in enumerate(values_of("number" if overload == "Scalar" else
                                           overload)):
        if isinstance(a, int) and a == -(1 << 63):
            continue
        if overload == "Scalar":
            yield Case(op, {"a": a}, constants_of(name, position, "a"),
                       is_computed=True, without=("pt2",))
            continue
        # Integers of what doesn't fit are not defined.
        if name in ("floor", "ceil", "round") and isinstance(a, float) and \
                not abs(a) < 1e18:
            continue
        yield Case(op, {"a": a}, without=("pt2",))


@cases("__not__", without=("pt2",))
def negation():
    for flag in [True, False]:
        yield {"self": flag}


@cases("__range_length", without=("pt2",))
def range_length():
    for low, high, step in combine([0, 1, -3, 10], [0, 5, -4, 10], [1, 2, 3, -1, -2]):
        yield {"lo": low, "hi": high, "step": step}


@cases("__derive_index", without=("pt2",))
def derive_index():
    for index, start, step in combine([0, 1, 5], [0, -3, 7], [1, 2, -2]):
        yield {"index": index, "start": start, "step": step}


# Quantized tensors -------------------------------------------------------


def rounded(x, scale, zero, low, high, kind):
    return torch.clamp(torch.round(x / scale) + zero, low, high).to(kind)


RANGES = [(torch.int8, -128, 127), (torch.int8, -127, 127), (torch.uint8, 0, 255),
          (torch.int8, -8, 7), (torch.int16, -32768, 32767), (torch.int32, -1000, 1000)]
SPACE = "quantized_decomposed::"


@cases(SPACE + "quantize_per_tensor", SPACE + "quantize_per_tensor.tensor")
def quantize(op):
    def reference(input, scale, zero_point, quant_min, quant_max, dtype):
        return rounded(input, scale, zero_point, quant_min, quant_max, dtype)
    for (kind, low, high), scale, zero in combine(RANGES, [0.02, 0.5, 1.0], [0, 3]):
        case = {"input": numbers(torch.float32, 3, 9, low=-6, high=6), "scale": scale,
                "zero_point": zero, "quant_min": low, "quant_max": high, "dtype": kind}
        if op.endswith(".tensor"):
            case.update(scale=torch.tensor(scale), zero_point=torch.tensor(zero))
        yield Case(op, case, reference=reference, without=("script",))


@cases(SPACE + "quantize_per_channel")
def quantize_channels():
    def reference(input, scales, zero_points, axis, quant_min, quant_max, dtype):
        shape = [-1 if d == axis % input.dim() else 1 for d in range(input.dim())]
        return rounded(input, scales.view(shape), zero_points.view(shape), quant_min,
                       quant_max, dtype)
    for (kind, low, high), axis in combine(RANGES, [0, 1, -1]):
        count = [2, 3][axis]
        yield Case("", {"input": numbers(torch.float32, 2, 3, low=-6, high=6),
                        "scales": numbers(torch.float32, count, low=0.1, high=0.5),
                        "zero_points": torch.arange(count), "axis": axis,
                        "quant_min": low, "quant_max": high, "dtype": kind},
                   reference=reference, without=("script",))


@cases(SPACE + "dequantize_per_tensor", SPACE + "dequantize_per_tensor.tensor")
def dequantize(op):
    def reference(input, scale, zero_point, quant_min, quant_max, dtype, out_dtype=None):
        return ((input.float() - zero_point) * scale).to(out_dtype or torch.float32)
    for (kind, low, high), scale, out in combine(RANGES, [0.02, 0.5],
                                                 [None, torch.float32, torch.bfloat16]):
        case = {"input": numbers(torch.float32, 3, 9, low=max(low, -99),
                                 high=min(high, 99)).round().to(kind), "scale": scale,
                "zero_point": 3, "quant_min": low, "quant_max": high, "dtype": kind,
                "out_dtype": out}
        if op.endswith(".tensor"):
            case.update(scale=torch.tensor(scale), zero_point=torch.tensor(3))
        yield Case(op, case, reference=reference, without=("script",))


@cases(SPACE + "dequantize_per_channel")
def dequantize_channels():
    def reference(input, scales, zero_points, axis, quant_min, quant_max, dtype,
                  out_dtype=None):
        shape = [-1 if d == axis % input.dim() else 1 for d in range(input.dim())]
        x = input.float()
        if zero_points is not None:
            x = x - zero_points.view(shape)
        return (x * scales.view(shape)).to(out_dtype or torch.float32)
    for axis, zeros in combine([0, 1, -1], [True, False]):
        count = [2, 3][axis]
        yield Case("", {"input": numbers(torch.int8, 2, 3, low=-99, high=99),
                        "scales": numbers(torch.float32, count, low=0.1, high=0.5),
                        "zero_points": torch.arange(count) if zeros else None,
                        "axis": axis, "quant_min": -128, "quant_max": 127,
                        "dtype": torch.int8}, reference=reference, without=("script",))
