"""Cases of matrices, convolutions, poolings, resizing, recurrent layers and attention."""

import math

import torch

from aten_cases import Case, cases
from aten_values import FLOATS, INF, KINDS, NAN, indices, numbers, combine, with_nan


def x(*shape, kind=torch.float32, seed=0):
    return numbers(kind, *shape, seed=seed, low=-1, high=1) if kind.is_floating_point \
        else numbers(kind, *shape, seed=seed)


NUMBER_KINDS = FLOATS + [torch.int64, torch.int32]

# Matrices ----------------------------------------------------------------


@cases("matmul", "linalg_matmul", slack=5)
def matmul():
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)),
                 ((5, 2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 4)),
                 ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((1, 2, 3), (5, 3, 2)),
                 ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((1, 1), (1, 1)), ((0,), (0,))]:
        yield {"self": x(*a), "other": x(*b, seed=1)}
    for kind in KINDS:
        yield {"self": x(2, 3, kind=kind), "other": x(3, 4, kind=kind, seed=1)}


@cases("mm", "mv", "dot", "bmm", "outer", "ger", slack=5)
def matmuls(op):
    names = {"mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor", "outer": "vec2",
             "ger": "vec2"}
    shapes = {"mm": [((2, 3), (3, 4)), ((2, 0), (0, 3)), ((0, 3), (3, 2))],
              "bmm": [((2, 2, 3), (2, 3, 4)), ((0, 2, 3), (0, 3, 4)),
                      ((2, 2, 0), (2, 0, 3))],
              "mv": [((2, 3), (3,)), ((2, 0), (0,))], "dot": [((3,), (3,)), ((0,), (0,))],
              "outer": [((2,), (3,)), ((0,), (3,))], "ger": [((2,), (3,))]}
    for a, b in shapes[op]:
        for kind in KINDS:
            yield {"self": x(*a, kind=kind), names[op]: x(*b, kind=kind, seed=1)}
    if op == "outer":
        yield {"self": x(2), "vec2": x(3, kind=torch.int64)}


@cases("addmm", "addmv", "baddbmm", slack=20)
def added_matmuls(op):
    names, shapes = {
        "addmm": (("mat1", "mat2"), ((2, 3), (3, 4), [(2, 4), (4,), (2, 1), ()])),
        "addmv": (("mat", "vec"), ((2, 3), (3,), [(2,), (1,), ()])),
        "baddbmm": (("batch1", "batch2"), ((2, 2, 3), (2, 3, 4),
                                           [(2, 2, 4), (4,), (1, 2, 4), ()])),
    }[op]
    # Of baddbmm this PyTorch reads memory that nothing was written to where beta is 0.
    betas = [1, 2, 0.5] if op == "baddbmm" else [1, 0, 2, 0.5]
    for own, kind, beta, alpha in combine(shapes[2], NUMBER_KINDS, betas,
                                          [1, 0, -1, 0.5]):
        yield {"self": x(*own, kind=kind), names[0]: x(*shapes[0], kind=kind, seed=1),
               names[1]: x(*shapes[1], kind=kind, seed=2), "beta": beta, "alpha": alpha}

    def reference(**arguments):
        return torch.matmul(arguments[names[0]], arguments[names[1]])
    yield Case(op, {"self": torch.full(shapes[2][0], NAN), names[0]: x(*shapes[0]),
                    names[1]: x(*shapes[1]), "beta": 0}, reference=reference)


@cases("linear", slack=5)
def linear():
    for a, b, bias in [((2, 3), (4, 3), (4,)), ((3,), (4, 3), (4,)), ((2, 5, 3), (4, 3), (4,)),
                       ((2, 3), (3,), ()), ((0, 3), (4, 3), (4,)), ((2, 3), (4, 3), None)]:
        yield {"input": x(*a), "weight": x(*b, seed=1),
               "bias": None if bias is None else x(*bias, seed=2)}
    for kind in NUMBER_KINDS:
        yield {"input": x(2, 3, kind=kind), "weight": x(4, 3, kind=kind),
               "bias": x(4, kind=kind)}


@cases("einsum", slack=5)
def einsum():
    for equation, shapes in [
            ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]),
            ("ij->ji", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
            ("ij->", [(2, 3)]), ("i,j->ij", [(2,), (3,)]), ("...ij,...jk->...ik",
                                                            [(5, 2, 3), (5, 3, 4)]),
            ("...ij,...jk", [(5, 2, 3), (3, 4)]), ("bhqd,bhkd->bhqk",
                                                   [(2, 3, 4, 5), (2, 3, 6, 5)]),
            ("ij,ij->i", [(2, 3), (2, 3)]), ("ba", [(2, 3)]), ("i,i->", [(3,), (3,)]),
            ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), (" i j , j -> i ", [(2, 3), (3,)]),
            ("...i->...", [(2, 3)]), ("i...->...", [(2, 3, 4)]), ("Aa,aB->BA", [(2, 3), (3, 4)]),
            # Extents of 1 are those of other operands.
            ("ij,jk->ik", [(2, 1), (3, 4)]), ("ij,jk->ik", [(2, 3), (1, 4)]),
            ("ij,jk->ijk", [(2, 1), (3, 4)]), ("bij,bjk->bik", [(1, 2, 1), (5, 3, 4)]),
            ("ij,jk,jl->il", [(2, 1), (1, 4), (3, 2)]), ("i,i->i", [(1,), (0,)]),
            ("i,i->", [(1,), (0,)]), ("i,i,i", [(3,), (1,), (3,)]),
            ("iij->j", [(3, 3, 2)])]:
        yield {"equation": equation,
               "tensors": [x(*s, seed=i) for i, s in enumerate(shapes)]}
    for kind in [torch.float64, torch.int64]:
        yield {"equation": "ij,jk->ik", "tensors": [x(2, 3, kind=kind), x(3, 4, kind=kind)]}


# Convolutions ------------------------------------------------------------

# Extents of kernels, strides, pads, dilations.
WINDOWS = [(1, 1, 0, 1), (3, 1, 1, 1), (3, 2, 0, 1), (2, 1, 1, 2), (3, 3, 2, 1), (2, 2, 0, 3)]


def convolutions(count):
    for kernel, stride, pad, dilation in WINDOWS:
        for groups, bias, batch in combine([1, 2], [True, False], [True, False]):
            spatial = [7, 6, 5][:count]
            yield {"input": x(*([2] if batch else []), 4, *spatial),
                   "weight": x(6, 4 // groups, *[kernel] * count, seed=1),
                   "bias": x(6, seed=2) if bias else None, "stride": [stride] * count,
                   "padding": [pad] * count, "dilation": [dilation] * count,
                   "groups": groups}


@cases("conv1d", "conv2d", "conv3d", slack=20)
def convolution(op):
    count = int(op[4])
    yield from convolutions(count)
    for kind in FLOATS:
        yield {"input": x(1, 2, *[5] * count, kind=kind),
               "weight": x(3, 2, *[3] * count, kind=kind), "stride": 2}
    yield {"input": x(1, 2, *[5] * count), "weight": x(3, 2, *[3] * count),
           "stride": list(range(1, count + 1)), "padding": list(range(count)),
           "dilation": [1] * count}
    yield {"input": x(0, 2, *[5] * count), "weight": x(3, 2, *[3] * count)}
    yield {"input": x(2, 4, *[5] * count), "weight": x(4, 1, *[3] * count), "groups": 4}
    yield {"input": x(2, 2, *[5] * count), "weight": x(6, 1, *[3] * count), "groups": 2}


@cases("conv1d.padding", "conv2d.padding", "conv3d.padding", slack=20)
def convolution_with_mode(op):
    count = int(op[4])
    for mode, kernel, dilation, groups in combine(["same", "valid"], [1, 2, 3, 4],
                                                  [1, 2], [1, 2]):
        yield {"input": x(2, 4, *[7] * count),
               "weight": x(6, 4 // groups, *[kernel] * count, seed=1),
               "bias": x(6, seed=2), "padding": mode, "dilation": [dilation] * count,
               "groups": groups}
        if mode == "valid":
            yield {"input": x(2, 4, *[7] * count), "weight": x(6, 4, *[kernel] * count),
                   "padding": mode, "stride": [2] * count}


def transposed(count):
    for kernel, stride, pad, dilation in WINDOWS:
        for groups, bias, out in combine([1, 2], [True, False],
                                         [0, 1] if max(stride, dilation) > 1 else [0]):
            yield {"input": x(2, 4, *[4, 3, 3][:count]),
                   "weight": x(4, 3, *[kernel] * count, seed=1),
                   "bias": x(3 * groups, seed=2) if bias else None,
                   "stride": [stride] * count, "padding": [min(pad, kernel - 1)] * count,
                   "output_padding": [out] * count, "groups": groups,
                   "dilation": [dilation] * count}


@cases("conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", slack=20)
def transposed_convolution(op):
    count = int(op[len("conv_transpose")])
    yield from transposed(count)
    yield {"input": x(4, *[3] * count), "weight": x(4, 2, *[2] * count)}
    for kind in FLOATS:
        yield {"input": x(1, 4, *[3] * count, kind=kind),
               "weight": x(4, 2, *[2] * count, kind=kind), "stride": 2}


@cases("convolution", "_convolution", "_convolution.deprecated", slack=20)
def any_convolution(op):
    rest = {} if op == "convolution" else {
        "benchmark": False, "deterministic": False, "cudnn_enabled": False}
    if op == "_convolution":
        rest["allow_tf32"] = False
    for count in [1, 2, 3]:
        for case in convolutions(count):
            if case["input"].dim() == count + 2:
                yield {**case, "transposed": False, "output_padding": [0] * count, **rest}
        for case in transposed(count):
            yield {**case, "transposed": True, **rest}


# Poolings ----------------------------------------------------------------


def pool_windows(count):
    for kernel, stride, pad, ceil in combine([1, 2, 3], [None, 1, 2], [0, 1],
                                             [False, True]):
        if pad * 2 <= kernel:
            yield {"kernel_size": [kernel] * count,
                   "stride": [] if stride is None else [stride] * count,
                   "padding": [pad] * count, "ceil_mode": ceil}


MAX_POOLS = """max_pool1d max_pool2d max_pool3d max_pool2d_with_indices
max_pool3d_with_indices""".split()


@cases(*MAX_POOLS)
def max_pool(op):
    count = int(op[len("max_pool")])
    for window, dilation in combine(pool_windows(count), [1, 2]):
        for shape in [(2, 3, 7, 6, 5), (3, 7, 6, 5)]:
            yield {"self": x(*shape[:len(shape) - 3 + count]), **window,
                   "dilation": [dilation] * count}
    values = x(1, 2, *[6] * count)
    for special in [with_nan(values, 7), torch.full_like(values, -INF),
                    torch.zeros_like(values)]:
        yield {"self": special, "kernel_size": [2] * count}
        yield {"self": special, "kernel_size": [3] * count, "padding": [1] * count,
               "stride": [1] * count}
    for kind in KINDS:
        yield {"self": x(1, 2, *[6] * count, kind=kind), "kernel_size": [2] * count}


@cases("avg_pool1d", "avg_pool2d", "avg_pool3d", slack=20)
def avg_pool(op):
    count = int(op[len("avg_pool")])
    for window, counts in combine(pool_windows(count), [True, False]):
        for shape in [(2, 3, 7, 6, 5), (3, 7, 6, 5)]:
            case = {"self": x(*shape[:len(shape) - 3 + count]), **window,
                    "count_include_pad": counts}
            yield case
            if count > 1:
                for divisor in [1, 3, -2]:
                    yield {**case, "divisor_override": divisor}
    for kind in FLOATS:
        yield {"self": x(1, 2, *[6] * count, kind=kind), "kernel_size": [2] * count}
    yield {"self": with_nan(x(1, 2, *[6] * count), 7), "kernel_size": [2] * count}


ADAPTIVE = """adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
_adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d""".split()


@cases(*ADAPTIVE, slack=20)
def adaptive_pool(op):
    count = int(op[-2])
    for shape in [(2, 3, 7, 6, 5), (3, 6, 4, 3)]:
        own = shape[:len(shape) - 3 + count]
        for sizes in [[1, 1, 1], [3, 2, 1], [5, 4, 3], [2, 2, 2], [9, 9, 9], [7, 6, 5]]:
            yield {"self": x(*own), "output_size": sizes[:count]}
    # A mean of windows of several extents multiplies all elements by weights.
    sizes = [2 if "max" in op else 1] * count
    yield {"self": with_nan(x(1, 2, *[5] * count), 7), "output_size": sizes}
    for kind in FLOATS:
        yield {"self": x(1, 2, *[5] * count, kind=kind), "output_size": [2] * count}


# Recurrent layers --------------------------------------------------------

GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}


@cases("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input", slack=20)
def recurrent(op):
    name = op.split(".")[0]
    for biases, layers, both, first, batch in combine(
            [True, False], [1, 2], [False, True], [False, True], [True, False]):
        directions = 2 if both else 1
        params = []
        for layer in range(layers):
            for _ in range(directions):
                size = 3 if layer == 0 else 4 * directions
                gates = GATES[name] * 4
                params += [x(gates, size, seed=len(params)),
                           x(gates, 4, seed=len(params) + 1)]
                if biases:
                    params += [x(gates, seed=len(params)), x(gates, seed=len(params) + 1)]
        shape = [2, 5, 3] if first else [5, 2, 3]
        if not batch:
            shape = [5, 3]
        state = [layers * directions, 2, 4] if batch else [layers * directions, 4]
        hx = x(*state)
        yield {"input": x(*shape), "hx": [hx, x(*state, seed=1)] if name == "lstm" else hx,
               "params": params, "has_biases": biases, "num_layers": layers,
               "dropout": 0.0, "train": False, "bidirectional": both,
               "batch_first": first if batch else False}


@cases("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell", slack=20)
def recurrent_cell(op):
    gates = GATES[op[:-len("_cell")]] * 4
    for biases, batch in combine([True, False], [[2], []]):
        if not batch and op == "lstm_cell":
            continue
        hx = x(*batch, 4)
        yield {"input": x(*batch, 3), "hx": [hx, x(*batch, 4, seed=1)]
               if op == "lstm_cell" else hx, "w_ih": x(gates, 3), "w_hh": x(gates, 4),
               "b_ih": x(gates) if biases else None,
               "b_hh": x(gates, seed=1) if biases else None}


# Attention ---------------------------------------------------------------


def attend(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
           enable_gqa=False, **ignored):
    """By its definition; rows that are masked whole are left out of the cases."""
    if enable_gqa:
        count = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(count, -3)
        value = value.repeat_interleave(count, -3)
    scores = query.double() @ key.double().transpose(-1, -2)
    scores = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(~torch.ones_like(scores).bool().tril(), -INF)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -INF) if attn_mask.dtype == torch.bool \
            else scores + attn_mask
    return (scores.softmax(-1) @ value.double()).to(query.dtype)


ATTENTIONS = """scaled_dot_product_attention _scaled_dot_product_attention
_scaled_dot_product_attention_math _scaled_dot_product_flash_attention_for_cpu""".split()


@cases(*ATTENTIONS)
def attention(op):
    def reference(**arguments):
        result = attend(**arguments)
        return result if op == ATTENTIONS[0] else (result, None)

    def case(arguments):
        return Case(op, arguments, reference=reference, slack=10,
                    results=None if op == ATTENTIONS[0] else (0,),
                    without=() if op == "_scaled_dot_product_attention" else ("script",))
    has_scale = op != "_scaled_dot_product_attention"
    is_flash = op == ATTENTIONS[3]
    for outer in [(2, 3)] if is_flash else [(), (2,), (2, 3), (2, 3, 2)]:
        for length, causal in combine([4, 6, 1], [False, True]):
            query = x(*outer, 4, 8)
            key, value = x(*outer, length, 8, seed=1), x(*outer, length, 8, seed=2)
            for scale in [None, 0.3] if has_scale else [None]:
                rest = {} if scale is None else {"scale": scale}
                yield case({"query": query, "key": key, "value": value,
                            "is_causal": causal, **rest})
            if causal:
                continue
            for shape in [(4, length), (1, length), outer + (4, length), (4, 1)]:
                keep = numbers(torch.bool, *shape, low=-1)
                keep[..., 0] = True
                for mask in [keep, x(*shape, seed=3)]:
                    yield case({"query": query, "key": key, "value": value,
                                "attn_mask": mask})
    if "enable_gqa" in str(op) or op in (ATTENTIONS[0], ATTENTIONS[2]):
        yield case({"query": x(2, 6, 4, 8), "key": x(2, 2, 5, 8), "value": x(2, 2, 5, 8),
                    "enable_gqa": True})
    yield case({"query": x(2, 2, 4, 8), "key": x(2, 2, 5, 8), "value": x(2, 2, 5, 3)})


@cases("_native_multi_head_attention", slack=20)
def native_attention():
    for weights, average in combine([True, False], [True, False]):
        for mask_type in [None, 0, 1]:
            query = x(2, 4, 8)
            case = {"query": query, "key": query, "value": query, "embed_dim": 8,
                    "num_head": 2, "qkv_weight": x(24, 8, seed=1),
                    "qkv_bias": x(24, seed=2), "proj_weight": x(8, 8, seed=3),
                    "proj_bias": x(8, seed=4), "need_weights": weights,
                    "average_attn_weights": average}
            if mask_type is not None:
                mask = numbers(torch.bool, *((4, 4) if mask_type == 0 else (2, 4)))
                mask[..., 0] = False
                case.update(mask=mask, mask_type=mask_type)
            yield Case("", case, results=(0, 1) if weights else (0,))


@cases("_transformer_encoder_layer_fwd", slack=20)
def encoder_layer():
    for gelu, first, mask_type in combine([True, False], [True, False], [None, 0, 1]):
        case = {"src": x(2, 4, 8), "embed_dim": 8, "num_heads": 2,
                "qkv_weight": x(24, 8, seed=1), "qkv_bias": x(24, seed=2),
                "proj_weight": x(8, 8, seed=3), "proj_bias": x(8, seed=4),
                "use_gelu": gelu, "norm_first": first, "eps": 1e-5,
                "norm_weight_1": x(8, seed=5), "norm_bias_1": x(8, seed=6),
                "norm_weight_2": x(8, seed=7), "norm_bias_2": x(8, seed=8),
                "ffn_weight_1": x(16, 8, seed=9), "ffn_bias_1": x(16, seed=10),
                "ffn_weight_2": x(8, 16, seed=11), "ffn_bias_2": x(8, seed=12)}
        if mask_type is not None:
            mask = numbers(torch.bool, *((4, 4) if mask_type == 0 else (2, 4)))
            mask[..., 0] = False
            case.update(mask=mask, mask_type=mask_type)
        yield case
