"""Cases of operators that move elements: views, parts, joins, new tensors."""

import torch

from aten_cases import Case, cases
from aten_values import KINDS, FLOATS, INF, NAN, indices, numbers, combine, specials

FORMATS = [torch.contiguous_format, torch.preserve_format, torch.channels_last]


def x(*shape, kind=torch.float32):
    return numbers(kind, *shape)


# Shapes ------------------------------------------------------------------

TARGETS = [((2, 3, 4), [6, 4]), ((2, 3, 4), [-1]), ((2, 3, 4), [2, -1, 2]),
           ((2, 3, 4), [24]), ((1,), []), ((), [1]), ((), [-1]), ((), [1, 1]),
           ((0, 3), [3, 0]), ((0, 3), [0]), ((0, 3), [-1, 3]), ((2, 3), [2, 3]),
           ((2, 3), [3, 2, 1]), ((2, 0), [2, 0, 5])]


@cases("view", "_unsafe_view", "reshape")
def reshape(op):
    for shape, target in TARGETS:
        yield {"self": x(*shape), "shape" if op == "reshape" else "size": target}
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind),
               "shape" if op == "reshape" else "size": [3, 2]}


@cases("_reshape_alias")
def reshape_alias():
    for size in [[6, 4], [24], [2, 3, 4], [2, 1, 12]]:
        stride = torch.empty(size).stride()
        yield {"self": x(2, 3, 4), "size": size, "stride": list(stride)}
        yield {"self": x(24), "size": size[::-1], "stride": list(stride)[::-1]}


@cases("view_as", "reshape_as", "expand_as")
def like_another(op):
    for own, other in ([((2, 3), (3, 2)), ((4,), (2, 2)), ((1,), ()), ((0, 2), (4, 0))]
                       if op != "expand_as" else
                       [((1, 3), (2, 3)), ((3,), (2, 3)), ((), (2,)), ((2, 1), (2, 0)),
                        ((3,), (3,))]):
        yield {"self": x(*own), "other": x(*other, kind=torch.int64)}


@cases("flatten.using_ints")
def flatten():
    for shape in [(), (3,), (2, 3), (2, 3, 4), (2, 0, 4), (2, 1, 3, 1)]:
        rank = max(len(shape), 1)
        for start, end in combine(range(-rank, rank), range(-rank, rank)):
            if start % rank <= end % rank:
                yield {"self": x(*shape), "start_dim": start, "end_dim": end}
    yield {"self": x(2, 3, 4)}


@cases("unflatten.int")
def unflatten():
    for shape, dim, sizes in [((6,), 0, [2, 3]), ((2, 6), 1, [3, -1]),
                              ((2, 6), -1, [2, 1, 3]), ((6, 2), -2, [6]),
                              ((0, 2), 0, [0, 4])]:
        yield {"self": x(*shape), "dim": dim, "sizes": sizes}


@cases("squeeze")
def squeeze():
    for shape in [(1, 3, 1), (2, 3), (), (1,), (1, 0, 1)]:
        yield {"self": x(*shape)}


@cases("squeeze.dim")
def squeeze_dim():
    for shape in [(1, 3, 1), (2, 3), (), (1,), (1, 0, 1)]:
        rank = max(len(shape), 1)
        for dim in range(-rank, rank):
            yield {"self": x(*shape), "dim": dim}


@cases("squeeze.dims")
def squeeze_dims():
    def reference(self, dim):
        dims = {d % max(self.dim(), 1) for d in dim}
        return self.reshape([n for d, n in enumerate(self.shape)
                             if n != 1 or d not in dims])
    for shape, dims in [((1, 3, 1), [0, 2]), ((1, 3, 1), [0, 1]), ((1, 3, 1), [-1]),
                        ((2, 3), [0, 1]), ((1, 3, 1), []), ((), [0]), ((), [])]:
        yield Case("", {"self": x(*shape), "dim": dims}, reference=reference)


@cases("unsqueeze")
def unsqueeze():
    for shape in [(), (3,), (2, 3), (2, 0)]:
        for dim in range(-len(shape) - 1, len(shape) + 1):
            yield {"self": x(*shape), "dim": dim}


@cases("permute")
def permute():
    for shape, dims in [((2, 3, 4), [2, 0, 1]), ((2, 3, 4), [-1, -2, -3]),
                        ((2, 3), [1, 0]), ((3,), [0]), ((3,), [-1]), ((), []),
                        ((2, 0, 3), [1, 2, 0]), ((2, 3, 4, 5), [0, 2, 3, 1])]:
        for kind in KINDS:
            yield {"self": x(*shape, kind=kind), "dims": dims}


@cases("transpose.int", "swapaxes", "swapdims")
def transpose(op):
    names = ["axis0", "axis1"] if op == "swapaxes" else ["dim0", "dim1"]
    for shape in [(), (3,), (2, 3), (2, 3, 4)]:
        rank = max(len(shape), 1)
        for dims in combine(range(-rank, rank), range(-rank, rank)):
            yield {"self": x(*shape), **dict(zip(names, dims))}


@cases("t", "numpy_T", "mT")
def transposed(op):
    for shape in [(), (3,), (2, 3), (0, 2)] + ([(2, 3, 4)] if op != "t" else []):
        yield {"self": x(*shape)}


@cases("movedim.int")
def movedim():
    for source, target in combine(range(-3, 3), range(-3, 3)):
        yield {"self": x(2, 3, 4), "source": source, "destination": target}


@cases("movedim.intlist")
def movedims():
    for source, target in [([0, 1], [1, 2]), ([0, -1], [-1, 0]), ([1], [0]), ([], []),
                           ([2, 0, 1], [0, 1, 2]), ([0, 1], [2, 0])]:
        yield {"self": x(2, 3, 4), "source": source, "destination": target}


# Repetition --------------------------------------------------------------


@cases("expand", "broadcast_to")
def expand():
    for shape, size in [((1, 3), [2, 3]), ((3,), [2, 3]), ((3,), [2, -1]), ((), [2, 3]),
                        ((1, 3), [-1, -1]), ((2, 1), [2, 0]), ((1,), [0]), ((), []),
                        ((3, 1), [2, -1, 4]), ((2, 3), [2, 3])]:
        yield {"self": x(*shape), "size": size}


@cases("repeat", "tile")
def repeat(op):
    name = "repeats" if op == "repeat" else "dims"
    for shape, counts in [((2, 3), [2, 2]), ((2, 3), [1, 1]), ((3,), [2, 3]),
                          ((), [2]), ((), []), ((2, 3), [0, 2]), ((2, 3), [3, 1, 2]),
                          ((0, 2), [2, 2])]:
        yield {"self": x(*shape), name: counts}
    if op == "tile":
        yield {"self": x(2, 3), "dims": [2]}
        yield {"self": x(2, 3), "dims": []}
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind), name: [2, 2]}


@cases("repeat_interleave.self_int")
def repeat_interleave():
    for shape, count in combine([(3,), (2, 3), (), (0,), (2, 0)], [0, 1, 2, 3]):
        yield {"self": x(*shape), "repeats": count}
        for dim in range(-len(shape), len(shape)):
            yield {"self": x(*shape), "repeats": count, "dim": dim}
    yield {"self": x(2, 3), "repeats": 2, "dim": 1, "output_size": 6}


@cases("repeat_interleave.Tensor")
def repeated_indices():
    for counts in [[1, 2, 0, 3], [0], [5], [2, 2]]:
        for kind in [torch.int64, torch.int32]:
            yield Case("", {"repeats": torch.tensor(counts, dtype=kind)},
                       constants=("repeats",))
    yield {"repeats": torch.tensor([1, 2])}


@cases("broadcast_tensors")
def broadcast_tensors():
    for shapes in [[(1, 3), (2, 1)], [(), (2, 3)], [(3,), (2, 3), (1,)], [(2, 1), (0,)],
                   [(2,)], [(1,), (0, 1)]]:
        yield {"tensors": [x(*shape) for shape in shapes]}


@cases("pixel_shuffle", "pixel_unshuffle")
def pixel_shuffle(op):
    for shape, factor in ([((1, 8, 2, 3), 2), ((8, 2, 3), 2), ((2, 1, 9, 1, 2), 3),
                           ((1, 3, 2, 2), 1), ((0, 4, 2, 2), 2)]
                          if op == "pixel_shuffle" else
                          [((1, 2, 4, 6), 2), ((2, 4, 6), 2), ((2, 1, 1, 3, 6), 3),
                           ((1, 3, 2, 2), 1)]):
        yield {"self": x(*shape), ("upscale" if op == "pixel_shuffle" else "downscale") +
               "_factor": factor}


@cases("channel_shuffle")
def channel_shuffle():
    for shape, groups in [((1, 6, 2, 3), 2), ((1, 6, 2, 3), 3), ((2, 6, 4), 2),
                          ((2, 6, 2, 2, 2), 6), ((1, 4, 2, 2), 1)]:
        yield {"self": x(*shape), "groups": groups}


# Parts -------------------------------------------------------------------

BOUNDS = [None, 0, 1, 3, 5, 9, -1, -3, -9]


@cases("slice.Tensor")
def slices():
    for start, end, step in combine(BOUNDS, BOUNDS, [1, 2, 3, 7]):
        yield {"self": x(5), "start": start, "end": end, "step": step}
    for shape, dim in [((2, 5), 1), ((2, 5), -1), ((5, 2), 0), ((2, 5, 3), -2)]:
        yield {"self": x(*shape), "dim": dim, "start": 1, "end": -1}
        yield {"self": x(*shape), "dim": dim, "start": 1, "end": (1 << 63) - 1,
               "step": 2}
    yield {"self": x(0, 2), "dim": 0, "start": 0, "end": 3}


@cases("slice_scatter")
def slice_scatter():
    for start, end, step in combine(BOUNDS, BOUNDS, [1, 2, 3]):
        count = len(range(5)[start:end:step])
        yield {"self": x(5), "src": numbers(torch.float32, count, seed=1),
               "start": start, "end": end, "step": step}
    yield {"self": x(2, 5), "src": numbers(torch.float32, 2, 2, seed=1), "dim": -1,
           "start": 1, "end": 5, "step": 2}
    yield {"self": x(4, 2), "src": numbers(torch.float32, 2, 2, seed=1), "dim": 0,
           "start": 1, "end": 3}


@cases("select.int")
def select():
    for dim, index in combine(range(-2, 2), [0, 1, -1, -2]):
        yield {"self": x(2, 3), "dim": dim, "index": index}
    yield {"self": x(3), "dim": 0, "index": 2}


@cases("select_scatter")
def select_scatter():
    for dim, index in combine(range(-2, 2), [0, 1, -1, -2]):
        yield {"self": x(2, 3), "src": x(3 if dim % 2 == 0 else 2), "dim": dim,
               "index": index}


@cases("narrow")
def narrow():
    for dim, start, length in combine([0, 1, -1], [0, 1, -1], [0, 1]):
        yield {"self": x(2, 3), "dim": dim, "start": start, "length": length}
    yield {"self": x(5), "dim": 0, "start": 1, "length": 4}
    yield {"self": x(5), "dim": 0, "start": 5, "length": 0}


@cases("split.Tensor", "unsafe_split.Tensor")
def split():
    for size, dim in combine([1, 2, 3, 5, 9], [0, 1, -1]):
        yield {"self": x(5, 4), "split_size": size, "dim": dim}
    yield {"self": x(0, 4), "split_size": 2, "dim": 0}
    yield {"self": x(0, 4), "split_size": 0, "dim": 0}


@cases("split_with_sizes", "split.sizes", "unsafe_split_with_sizes")
def split_sizes(op):
    name = "split_size" if op == "split.sizes" else "split_sizes"
    for sizes, dim in [([2, 3], 0), ([1, 0, 4], 0), ([4], 1), ([1, 3], -1), ([5], 0)]:
        yield {"self": x(5, 4), name: sizes, "dim": dim}


@cases("chunk", "unsafe_chunk")
def chunk():
    for chunks, dim in combine([1, 2, 3, 4, 7], [0, 1, -1]):
        yield {"self": x(5, 6), "chunks": chunks, "dim": dim}
    yield {"self": x(0, 6), "chunks": 3, "dim": 0}


@cases("unbind.int")
def unbind():
    for shape, dim in [((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((3,), 0)]:
        yield {"self": x(*shape), "dim": dim}


@cases("flip")
def flip():
    for shape, dims in [((2, 3), [0]), ((2, 3), [1]), ((2, 3), [-1, 0]), ((2, 3), []),
                        ((), []), ((0, 3), [0]), ((2, 3, 4), [0, 2])]:
        yield {"self": x(*shape), "dims": dims}


@cases("roll")
def roll():
    for shape, shifts, dims in [
            ((5,), [2], [0]), ((5,), [-2], [0]), ((5,), [7], [0]), ((2, 3), [1], []),
            ((2, 3), [-4], []), ((2, 3), [1, 1], [0, 1]), ((2, 3), [1, 1], [0, 0]),
            ((2, 3), [2], [-1]), ((0, 3), [1], [0]), ((), [1], []), ((2, 3), [0], [1])]:
        yield {"self": x(*shape), "shifts": shifts, "dims": dims}


# Joins -------------------------------------------------------------------


def lists(rank_added):
    for shapes, dims in [([(2, 3), (2, 3)], [0, 1, -1]), ([(3,), (3,), (3,)], [0, -1]),
                         ([(2, 3)], [0])]:
        for dim in dims:
            yield [numbers(torch.float32, *s, seed=i) for i, s in enumerate(shapes)], dim
    for one, other in combine(KINDS, KINDS):
        yield [numbers(one, 2, 3), numbers(other, 2, 3)], 1


@cases("cat", "concat", "concatenate")
def cat():
    for values, dim in lists(0):
        yield {"tensors": values, "dim": dim}
    yield {"tensors": [x(2, 3), x(2, 1)], "dim": 1}
    yield {"tensors": [x(2, 3), x(0), x(1, 3)], "dim": 0}
    yield {"tensors": [x(0), x(0)], "dim": 0}
    yield {"tensors": [x(0, 3), x(2, 3)], "dim": 0}
    yield {"tensors": [x(2, 3), x(0, kind=torch.float64)], "dim": 0}


@cases("stack")
def stack():
    for values, dim in lists(1):
        yield {"tensors": values, "dim": dim}
    yield {"tensors": [x(), x(), x()], "dim": 0}
    yield {"tensors": [x(), x()], "dim": -1}
    yield {"tensors": [x(2, 3), x(2, 3)], "dim": 2}
    yield {"tensors": [x(0), x(0)], "dim": 0}


@cases("hstack", "vstack")
def stacks():
    for shapes in [[(3,), (3,)], [(2, 3), (2, 3)], [(), ()], [(2, 3, 1), (2, 3, 1)],
                   [(), (1,)]]:
        yield {"tensors": [x(*s) for s in shapes]}


# New tensors -------------------------------------------------------------


@cases("zeros", "ones", "empty.memory_format", "full")
def new(op):
    fill = {"fill_value": 1.5} if op == "full" else {}
    for size in [[], [0], [2, 3]]:
        for kind in [None, *KINDS]:
            yield made(op, {"size": size, "dtype": kind, **fill})
    if op == "full":
        for value, kind in combine([0, 7, -1, 2.5, True, INF, NAN], [None, *KINDS]):
            if value in (INF,) or value != value:
                if kind is not None and not kind.is_floating_point:
                    continue
            if not isinstance(value, bool):
                yield {"size": [2], "fill_value": value, "dtype": kind}


def made(op, arguments):
    """What is not initialized is only compared by its type: zeros here."""
    if "empty" not in op:
        return Case(op, arguments)
    zeros = {"empty.memory_format": "zeros", "empty_like": "zeros_like",
             "new_empty": "new_zeros"}[op]
    function = getattr(torch.ops.aten, zeros).default._op
    arguments.pop("memory_format", None)
    return Case(op, arguments, reference=function)


@cases("new_zeros", "new_ones", "new_empty", "new_full")
def new_of_kind(op):
    fill = {"fill_value": 2} if op == "new_full" else {}
    for own, kind in combine(KINDS, [None, torch.float64, torch.int8, torch.bool]):
        yield made(op, {"self": x(2, kind=own), "size": [2, 3], "dtype": kind, **fill})


@cases("zeros_like", "ones_like", "empty_like", "full_like")
def like(op):
    fill = {"fill_value": 2.5} if op == "full_like" else {}
    for own, kind in combine(KINDS, [None, torch.float64, torch.int8, torch.bool]):
        yield made(op, {"self": x(2, 3, kind=own), "dtype": kind, **fill})
    for shape in [(), (0, 3)]:
        yield made(op, {"self": x(*shape), **fill})


@cases("fill.Scalar", "fill.Tensor")
def fill(op):
    for kind, value in combine(KINDS, [0, 3, -1, 2.5]):
        yield {"self": x(2, 3, kind=kind), "value": value if op == "fill.Scalar" else
               torch.tensor(value)}


@cases("arange")
def arange():
    for end, kind in combine([0, 1, 5, 2.5, 5.0, 4.000001], [None, *KINDS[:-1]]):
        yield {"end": end, "dtype": kind}


@cases("arange.start", "arange.start_step")
def aranges(op):
    for start, end in [(0, 5), (2, 5), (5, 5), (-3, 2), (0.5, 3), (1, 2.75), (0.0, 1.0),
                       ((1 << 60) + 1, (1 << 60) + 4)]:
        for kind in [None, torch.float32, torch.float64, torch.int32, torch.int64]:
            if op == "arange.start":
                yield {"start": start, "end": end, "dtype": kind}
            for step in [1, 2, 0.25, 0.1] if op != "arange.start" else []:
                if isinstance(step, float) and abs(start) > 1e9:
                    continue
                yield {"start": start, "end": end, "step": step, "dtype": kind}
    if op != "arange.start":
        yield {"start": 5, "end": 0, "step": -1}
        yield {"start": 5, "end": 0, "step": -2}
        yield {"start": 1.0, "end": -1.0, "step": -0.25}


@cases("linspace")
def linspace():
    for start, end, steps in combine([0, -1, 0.5, 3.0], [1, 10, -2.5], [0, 1, 2, 3, 7]):
        for kind in [None, *FLOATS, torch.int64]:
            yield {"start": start, "end": end, "steps": steps, "dtype": kind}


@cases("eye", "eye.m")
def eye(op):
    for n, kind in combine([0, 1, 3], [None, *KINDS]):
        for m in [0, 2, 5] if op == "eye.m" else [None]:
            yield {"n": n, **({} if m is None else {"m": m}), "dtype": kind}


@cases("scalar_tensor")
def scalar_tensor():
    for value, kind in combine([0, 3, -1, 2.5, NAN], [None, *KINDS]):
        if value != value and kind is not None and not kind.is_floating_point:
            continue
        yield {"s": value, "dtype": kind}


@cases("tril", "triu")
def triangle():
    for shape, diagonal in combine([(3, 3), (2, 4), (4, 2), (2, 3, 3), (0, 3), (1, 1)],
                                   [0, 1, -1, 2, -3, 9]):
        yield {"self": x(*shape), "diagonal": diagonal}
    for kind in KINDS:
        yield {"self": x(3, 3, kind=kind)}
    yield {"self": torch.full((3, 3), NAN)}
    yield {"self": torch.full((3, 3), INF)}


# Copies and kinds --------------------------------------------------------


@cases("contiguous", "clone", "detach", "alias", "detach_copy", "lift_fresh",
       "lift_fresh_copy", "lift", "resolve_conj", "resolve_neg")
def copies(op):
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind)}
    yield {"self": x()}
    if op in ("contiguous", "clone"):
        for form in FORMATS:
            yield {"self": x(2, 3, 2, 2), "memory_format": form}


@cases("cpu", "data", "to_dense", "requires_grad_")
def no_changes(op):
    for kind in FLOATS:
        yield Case(op, {"self": x(2, 3, kind=kind)}, reference=lambda self: self,
                   without=() if op == "data" else ("pt2",) if op == "cpu" else
                   ("script",))


@cases("to.prim_dtype", "to.prim_Device", without=("pt2",))
def script_conversions(op):
    def reference(self, dtype, device=None):
        return self.to(dtype)
    for own, kind in combine(KINDS, [torch.float32, torch.int64, torch.bool]):
        case = {"self": x(2, 3, kind=own), "dtype": kind}
        if op == "to.prim_Device":
            case["device"] = torch.device("cpu")
        yield Case(op, case, reference=reference)


@cases("to.prim_other", without=("pt2",))
def script_copies():
    def reference(self, copy=False):
        return self.clone() if copy else self
    for kind, copy in combine(KINDS, [False, True]):
        yield Case("", {"self": x(2, 3, kind=kind), "copy": copy}, reference=reference)


CONVERSIONS = """to.dtype to.dtype_layout _to_copy""".split()


@cases(*CONVERSIONS)
def conversions(op):
    for own, kind in combine(KINDS, KINDS):
        values = specials(own)
        if own.is_floating_point and not kind.is_floating_point and kind != torch.bool:
            # PyTorch does not define conversions of what does not fit.
            low = 0 if kind == torch.uint8 else -120
            values = values[(values >= low) & (values <= 120)]
        yield {"self": values, "dtype": kind}
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind), **({"dtype": kind} if op == "to.dtype" else {})}
        yield {"self": x(2, 3, 2, 2, kind=kind), "dtype": torch.float64,
               "memory_format": torch.channels_last}


CASTS = {"_cast_Byte": torch.uint8, "_cast_Char": torch.int8, "_cast_Double": torch.float64,
         "_cast_Float": torch.float32, "_cast_Half": torch.float16, "_cast_Int": torch.int32,
         "_cast_Long": torch.int64, "_cast_Short": torch.int16}


@cases(*CASTS)
def casts(op):
    kind = CASTS[op]
    for own in KINDS:
        values = specials(own)
        if own.is_floating_point and not kind.is_floating_point:
            # PyTorch does not define conversions of what does not fit.
            low = 0 if kind == torch.uint8 else -120
            values = values[(values >= low) & (values <= 120)]
        yield {"self": values}
        yield {"self": x(2, 3, kind=own), "non_blocking": True}


@cases("to.device")
def to_device():
    for own, kind in combine(KINDS, [torch.float32, torch.int64]):
        yield {"self": x(2, 3, kind=own), "device": torch.device("cpu"), "dtype": kind}


@cases("type_as", "to.other", "copy")
def like_other(op):
    name = "src" if op == "copy" else "other"
    for own, kind in combine(KINDS, KINDS):
        yield {"self": x(2, 3, kind=own), name: x(2, 3, kind=kind)}
    if op == "copy":
        for shape in [(3,), (), (2, 1)]:
            yield {"self": x(2, 3), "src": x(*shape)}


@cases("dropout", "feature_dropout", "alpha_dropout")
def dropout():
    for p in [0.0, 0.3, 1.0]:
        yield {"input": x(2, 3, 4), "p": p, "train": False}


@cases("native_dropout")
def native_dropout():
    for p in [0.0, 0.3]:
        yield Case("", {"input": x(2, 3), "p": p, "train": False}, results=(0,))


# Padding -----------------------------------------------------------------


@cases("constant_pad_nd")
def constant_pad():
    for shape, pad in [((5,), [1, 2]), ((5,), [-1, 2]), ((5,), [-2, -1]),
                       ((2, 3), [1, 0, 2, 1]), ((2, 3), [0, 1]), ((2, 3), [-1, 1, 1, -1]),
                       ((2, 3), []), ((0, 3), [1, 1, 2, 2]), ((2, 3, 4), [1] * 6),
                       ((5,), [-2, -3]), ((2, 3), [0, 0, -1, -1])]:
        for value in [0, 1.5, -1, INF, NAN]:
            yield {"self": x(*shape), "pad": pad, "value": value}
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind), "pad": [1, 1], "value": 1}
        yield {"self": x(2, 3, kind=kind), "pad": [1, 1]}


PADS = {1: [((1, 2, 5), [1, 2]), ((2, 5), [4, 0]), ((2, 5), [-1, 2]), ((2, 5), [0, -2])],
        2: [((1, 2, 4, 5), [1, 2, 3, 0]), ((2, 4, 5), [0, 1, -1, 2]),
            ((2, 4, 5), [-1, -1, 1, 1])],
        3: [((1, 2, 3, 4, 5), [1, 2, 3, 0, 1, 1]), ((2, 3, 4, 5), [0, 1, -1, 2, 1, 0])]}


@cases(*(f"{mode}_pad{n}d" for mode in ["reflection", "replication"] for n in PADS))
def pads(op):
    for shape, padding in PADS[int(op[-2])]:
        yield {"self": x(*shape), "padding": padding}
    if op.startswith("replication"):
        yield {"self": x(1, 2, *[3] * int(op[-2])), "padding": [5, 7] + [0, 0] *
               (int(op[-2]) - 1)}


@cases("pad")
def pad():
    for mode in ["reflect", "replicate", "circular"]:
        for n, own in PADS.items():
            for shape, padding in own:
                yield {"self": x(*shape), "pad": padding, "mode": mode}
    for value in [None, 2.5]:
        yield {"self": x(2, 3), "pad": [1, -1, 2, 0], "mode": "constant", "value": value}


# Facts -------------------------------------------------------------------


@cases("sym_size.int", without=("script",))
def sym_size():
    def reference(self, dim):
        return self.size(dim)
    for dim in [0, 1, -1]:
        yield Case("", {"self": x(2, 3), "dim": dim}, reference=reference,
                   without=("script",))


@cases("sym_numel", without=("script",))
def sym_numel():
    for shape in [(), (2, 3), (0, 3)]:
        yield Case("", {"self": x(*shape)}, reference=lambda self: self.numel(),
                   without=("script",))
