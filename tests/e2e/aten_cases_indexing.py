"""Cases of operators with indices, and of windows as columns."""

import torch

from aten_cases import Case, cases
from aten_values import FLOATS, INF, KINDS, NAN, indices, numbers, combine

INDEX_KINDS = [torch.int64, torch.int32]


def x(*shape, kind=torch.float32, seed=0):
    return numbers(kind, *shape, seed=seed)


# Rows --------------------------------------------------------------------


@cases("embedding")
def embedding():
    for kind, index in combine(FLOATS, INDEX_KINDS):
        for shape in [(), (3,), (2, 3), (0,)]:
            yield {"weight": x(5, 3, kind=kind), "indices": indices(5, *shape).to(index)}
    yield {"weight": x(5, 3), "indices": torch.tensor([1, 2]), "padding_idx": 2}


@cases("index_select")
def index_select():
    for kind in KINDS:
        yield {"self": x(4, 3, kind=kind), "dim": 0, "index": indices(4, 6)}
    for dim, index in combine(range(-2, 2), INDEX_KINDS):
        yield {"self": x(4, 3), "dim": dim, "index": indices(3, 2).to(index)}
    yield {"self": x(4, 3), "dim": 1, "index": torch.tensor(2)}
    yield {"self": x(4, 3), "dim": 1, "index": indices(3, 0)}
    yield {"self": x(), "dim": 0, "index": torch.tensor([0])}


EMBEDDING_BAGS = """embedding_bag _embedding_bag _embedding_bag_forward_only
embedding_bag.padding_idx""".split()


@cases(*EMBEDDING_BAGS, results=(0,))
def embedding_bag(op):
    for mode, last, kind in combine([0, 1, 2], [False, True], INDEX_KINDS):
        for offsets in [[0, 2, 3], [0], [0, 3, 3, 5], [0, 0, 4]]:
            given = offsets + [6] if last else offsets
            case = {"weight": x(7, 3), "indices": indices(7, 6).to(kind),
                    "offsets": torch.tensor(given, dtype=kind),
                    "scale_grad_by_freq": False, "mode": mode, "sparse": False,
                    "per_sample_weights": None, "include_last_offset": last}
            if op.endswith("padding_idx"):
                case["padding_idx"] = None
            yield Case(op, case, constants=("offsets",), results=(0,))
            if mode == 0:
                yield Case(op, {**case, "per_sample_weights": x(6)},
                           constants=("offsets",), results=(0,))
            if op == "embedding_bag":
                continue
            for padding in [3, -4] if op.endswith("padding_idx") else [3]:
                case["indices"] = torch.tensor([3, 0, 5, 3, 3, 6], dtype=kind)
                yield Case(op, {**case, "padding_idx": padding}, constants=("offsets",),
                           results=(0,))


# Elements along a dimension ----------------------------------------------


@cases("gather")
def gather():
    for kind in KINDS:
        yield {"self": x(3, 4, kind=kind), "dim": 0, "index": indices(3, 2, 4)}
    for dim in range(-2, 2):
        yield {"self": x(3, 4), "dim": dim, "index": indices(3, 2, 3)}
        yield {"self": x(3, 4), "dim": dim, "index": indices(3, 3, 2)}
    yield {"self": x(3, 4), "dim": 1, "index": indices(4, 3, 9)}
    yield {"self": x(5), "dim": 0, "index": indices(5, 3)}
    yield {"self": x(5), "dim": 0, "index": torch.tensor(2)}
    yield {"self": x(), "dim": 0, "index": torch.tensor([0, 0])}
    yield {"self": x(), "dim": 0, "index": torch.tensor(0)}
    yield {"self": x(3, 4), "dim": 1, "index": indices(4, 0, 4)}
    yield {"self": x(2, 3, 4), "dim": -1, "index": indices(4, 2, 2, 5)}


@cases("take_along_dim")
def take_along_dim():
    for dim in range(-2, 2):
        yield {"self": x(3, 4), "indices": indices(3, 3, 4), "dim": dim}
    yield {"self": x(3, 1), "indices": indices(3, 2, 4), "dim": 0}
    yield {"self": x(1, 4), "indices": indices(4, 3, 2), "dim": 1}
    yield {"self": x(3, 4), "indices": indices(3, 2, 1), "dim": 0}
    yield {"self": x(3, 4), "indices": indices(12, 5)}
    yield {"self": x(3, 4), "indices": indices(12, 2, 2)}
    yield {"self": x(5), "indices": indices(5, 3), "dim": 0}


def places(shape, picked, dim):
    """Indices that name no place twice along `dim`."""
    extent, count = shape[dim], picked[dim]
    order = torch.stack([torch.randperm(extent, generator=torch.Generator()
                                        .manual_seed(i))[:count]
                         for i in range(torch.Size(picked).numel() // max(count, 1))])
    moved = list(picked)
    moved.append(moved.pop(dim))
    return order.reshape(moved).movedim(-1, dim)


SCATTERS = [((3, 4), (3, 4), 0), ((3, 4), (2, 3), 0), ((3, 4), (2, 3), 1),
            ((3, 4), (3, 2), -1), ((5,), (3,), 0), ((2, 3, 4), (2, 2, 3), 1)]


@cases("scatter.src")
def scatter():
    for shape, picked, dim in SCATTERS:
        for kind in KINDS:
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": places(shape, picked, dim),
                   "src": x(*picked, kind=kind, seed=1)}
    yield {"self": x(3, 4), "dim": 0, "index": places((3, 4), (2, 3), 0),
           "src": x(3, 4, seed=1)}
    yield {"self": x(), "dim": 0, "index": torch.tensor(0), "src": x(seed=1)}
    yield {"self": x(3), "dim": 0, "index": indices(3, 0), "src": x(0)}


@cases("scatter.value")
def scatter_value():
    for shape, picked, dim in SCATTERS:
        for kind, value in combine(KINDS, [0, 1.5, 2]):
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": places(shape, picked, dim), "value": value}


@cases("scatter_add")
def scatter_add():
    for shape, picked, dim in SCATTERS:
        for kind in KINDS:
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": indices(2, *picked), "src": x(*picked, kind=kind, seed=1)}


@cases("scatter.reduce", "scatter.value_reduce")
def scatter_reduce_text(op):
    for shape, picked, dim in SCATTERS:
        for kind, mode in combine(KINDS, ["add", "multiply"]):
            given = {"src": x(*picked, kind=kind, seed=1)} if op == "scatter.reduce" \
                else {"value": 2}
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": indices(2, *picked), **given, "reduce": mode}


@cases("scatter_reduce.two")
def scatter_reduce():
    for shape, picked, dim in SCATTERS:
        for kind, mode, own in combine(KINDS, ["sum", "prod", "mean", "amax", "amin"],
                                       [True, False]):
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": indices(2, *picked), "src": x(*picked, kind=kind, seed=1),
                   "reduce": mode, "include_self": own}
    for mode in ["sum", "prod", "amax", "amin"]:
        yield {"self": torch.tensor([1.0, NAN, 3.0, -INF]), "dim": 0,
               "index": torch.tensor([0, 1, 2, 3, 0]),
               "src": torch.tensor([NAN, 2.0, INF, 1.0, 5.0]), "reduce": mode}


# Rows by index -----------------------------------------------------------


@cases("index_add")
def index_add():
    for kind, alpha in combine(KINDS, [1, 2, -1, 0.5]):
        for shape, dim in [((4, 3), 0), ((3, 4), 1), ((2, 4, 3), -2), ((4,), 0)]:
            part = list(shape)
            part[dim] = 3
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": torch.tensor([2, 0, 2]), "source": x(*part, kind=kind, seed=1),
                   "alpha": alpha}
    yield {"self": x(4), "dim": 0, "index": torch.tensor(1), "source": x()}
    yield {"self": x(), "dim": 0, "index": torch.tensor([0]), "source": x(1)}


@cases("index_copy")
def index_copy():
    for kind in KINDS:
        for shape, dim in [((4, 3), 0), ((3, 4), 1), ((2, 4, 3), -2), ((4,), 0)]:
            part = list(shape)
            part[dim] = 2
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": torch.tensor([2, 0]), "source": x(*part, kind=kind, seed=1)}
    yield {"self": x(4), "dim": 0, "index": torch.tensor(1), "source": x()}


@cases("index_fill.int_Scalar", "index_fill.int_Tensor")
def index_fill(op):
    for kind, value in combine(KINDS, [0, 2, -1, 1.5]):
        for shape, dim in [((4, 3), 0), ((3, 4), 1), ((2, 4, 3), -2), ((4,), 0)]:
            yield {"self": x(*shape, kind=kind), "dim": dim,
                   "index": torch.tensor([2, 0]), "value": value if "Scalar" in op else
                   torch.tensor(value)}
    yield {"self": x(4), "dim": 0, "index": torch.tensor([-1, 1]),
           "value": 7 if "Scalar" in op else torch.tensor(7)}
    yield {"self": x(4), "dim": 0, "index": torch.tensor(2),
           "value": 7 if "Scalar" in op else torch.tensor(7)}


# Advanced indexing -------------------------------------------------------

INDEXINGS = [
    ((4, 3), [indices(4, 5)]), ((4, 3), [None, indices(3, 5)]),
    ((4, 3), [indices(4, 2), indices(3, 2)]), ((4, 3), [indices(4, 2, 2)]),
    ((4, 3), [indices(4, 2, 1), indices(3, 3)]), ((4, 3), [torch.tensor(1)]),
    ((4, 3, 2), [indices(4, 2), None, indices(2, 2)]),
    ((4, 3, 2), [None, indices(3, 2), indices(2, 2)]),
    ((4, 3, 2), [None, None, indices(2, 5)]),
    ((4, 3, 2), [None, indices(3, 2, 5)]),
    ((2, 3, 4, 5), [indices(2, 3), None, None, indices(5, 3)]),
    ((2, 3, 4, 5), [None, indices(3, 3), None, indices(5, 2, 1)]),
    ((4, 3), [indices(4, 5, negative=True)]),
    ((4, 3), [indices(4, 0)]), ((5,), [torch.tensor([4, 0, -1])]),
]
MASKS = [((4,), [torch.tensor([True, False, True, True])]),
         ((4, 3), [torch.tensor([True, False, True, False])]),
         ((2, 3), [torch.tensor([[True, False, True], [False, False, True]])]),
         ((4, 3), [None, torch.tensor([True, False, True])]),
         ((2, 3, 2), [torch.tensor([[True, False, True], [False, False, True]])]),
         ((4, 3), [torch.tensor([False] * 4)]),
         ((4, 3), [torch.tensor([True, False, False, True]), torch.tensor([2, 0])])]


def has_mask(parts):
    return any(p is not None and p.dtype == torch.bool for p in parts)


@cases("index.Tensor", "_unsafe_index.Tensor")
def index(op):
    def reference(self, indices):
        return self[tuple(slice(None) if i is None else i for i in indices)]
    reference = reference if op.startswith("_") else None
    for shape, parts in INDEXINGS:
        for kind in [torch.float32, torch.int64, torch.bool]:
            yield Case(op, {"self": x(*shape, kind=kind), "indices": parts},
                       reference=reference)
        yield Case(op, {"self": x(*shape), "indices": parts}, reference=reference,
                   constants=("indices",))
    for shape, parts in MASKS:
        yield Case(op, {"self": x(*shape), "indices": parts}, reference=reference,
                   constants=("indices",))


@cases("index_put", "_unsafe_index_put")
def index_put(op):
    def reference(self, indices, values, accumulate=False):
        return torch.ops.aten.index_put(self, indices, values, accumulate)
    reference = reference if op.startswith("_") else None
    for shape, parts in INDEXINGS + MASKS:
        picked = x(*shape)[tuple(slice(None) if i is None else i for i in parts)]
        for kind, accumulate in combine([torch.float32, torch.int32], [False, True]):
            own = x(*shape, kind=kind)
            names = [list(picked.shape), []]
            if picked.dim() > 1:
                names.append(list(picked.shape[1:]))
            for target in names:
                if target and not accumulate and not has_mask(parts):
                    # The order of writes to one place is not defined.
                    flat = torch.arange(own.numel()).view(shape)
                    places = flat[tuple(slice(None) if i is None else i for i in parts)]
                    if len(places.unique()) != places.numel():
                        continue
                yield Case(op, {"self": own, "indices": parts,
                                "values": x(*target, kind=kind, seed=1),
                                "accumulate": accumulate}, reference=reference,
                           constants=("indices",) if has_mask(parts) else ())
        if has_mask(parts) and len(parts) == 1:
            for accumulate in [False, True]:
                yield Case(op, {"self": x(*shape), "indices": parts,
                                "values": x(seed=1), "accumulate": accumulate},
                           reference=reference)


# Others ------------------------------------------------------------------


@cases("one_hot")
def one_hot():
    for shape, classes in combine([(), (3,), (2, 3), (0,)], [4, 7]):
        yield {"self": indices(4, *shape), "num_classes": classes}


@cases("diagonal")
def diagonal():
    for shape in [(3, 4), (4, 3), (2, 3, 3), (1, 1), (0, 3)]:
        for offset in [0, 1, -1, 2, -3, 9]:
            yield {"self": x(*shape), "offset": offset}
    for one, other in [(0, 2), (2, 1), (-1, -2), (1, 0)]:
        yield {"self": x(2, 3, 4), "offset": 1, "dim1": one, "dim2": other}


@cases("unfold")
def unfold():
    for dim, size, step in combine([0, 1, -1, -2], [1, 2, 3], [1, 2, 5]):
        yield {"self": x(4, 5), "dimension": dim, "size": size, "step": step}
    yield {"self": x(5), "dimension": 0, "size": 5, "step": 1}
    yield {"self": x(5), "dimension": 0, "size": 0, "step": 1}
    yield {"self": x(), "dimension": 0, "size": 1, "step": 1}


@cases("as_strided")
def as_strided():
    for size, stride, offset in [
            ([2, 3], [1, 4], None), ([4, 6], [6, 1], 0), ([3, 3], [1, 1], 2),
            ([24], [1], 0), ([5], [0], 7), ([], [], 3), ([2, 2, 2], [12, 2, 5], 1),
            ([0, 3], [1, 1], 0), ([4, 6], [1, 4], None)]:
        yield {"self": x(4, 6), "size": size, "stride": stride, "storage_offset": offset}


def window_numbers(count):
    for kernel, stride, pad, dilation in [(2, 1, 0, 1), (3, 2, 1, 1), (2, 2, 1, 2),
                                          (1, 1, 0, 1), (3, 1, 2, 2)]:
        yield kernel, stride, pad, dilation


@cases("im2col")
def im2col():
    for kernel, stride, pad, dilation in window_numbers(2):
        for shape in [(1, 2, 6, 7), (2, 3, 5, 5), (2, 6, 7)]:
            yield {"self": x(*shape), "kernel_size": [kernel, 2], "stride": [stride, 1],
                   "padding": [pad, 1], "dilation": [dilation, 1]}


@cases("col2im")
def col2im():
    for kernel, stride, pad, dilation in window_numbers(2):
        image = torch.zeros(2, 3, 6, 7)
        rest = {"kernel_size": [kernel, 2], "stride": [stride, 1], "padding": [pad, 1],
                "dilation": [dilation, 1]}
        columns = torch.ops.aten.im2col(image, **rest)
        yield {"self": x(*columns.shape), "output_size": [6, 7], **rest}
        yield {"self": x(*columns.shape[1:]), "output_size": [6, 7], **rest}


@cases("cdist", "_cdist_forward")
def cdist(op):
    for p in [2.0, 1.0, INF, 0.5, 3.0, 0.0]:
        for a, b in [((4, 3), (5, 3)), ((2, 4, 3), (2, 5, 3)), ((2, 4, 3), (1, 5, 3)),
                     ((4, 1), (2, 1)), ((1, 3), (30, 3))]:
            for mode in [None, 1, 2]:
                yield {"x1": x(*a), "x2": x(*b, seed=1), "p": p, "compute_mode": mode}
        yield {"x1": x(4, 3), "x2": x(4, 3), "p": p, "compute_mode": 2}


# Small ones are what is left of a sum.
@cases("cosine_similarity", slack=3)
def cosine_similarity():
    for dim, eps in combine([0, 1, -1], [1e-8, 1.0]):
        for kind in FLOATS:
            yield {"x1": x(3, 4, kind=kind), "x2": x(3, 4, kind=kind, seed=1), "dim": dim,
                   "eps": eps}
    yield {"x1": x(3, 4), "x2": torch.zeros(3, 4)}
    yield {"x1": torch.full((3, 4), 1e-20), "x2": torch.full((3, 4), 1e-20)}
    yield {"x1": x(3, 1, 4), "x2": x(5, 4), "dim": 2}
    yield {"x1": x(4), "x2": x(4, seed=1), "dim": 0}
