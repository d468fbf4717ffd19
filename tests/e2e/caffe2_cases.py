"""Glow's Caffe2 models, inputs for them, and what they must make of these.

What is expected is computed here, with NumPy and from the operators'
definitions; nothing here calls glowish.
"""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

RANDOM = np.random.default_rng(1)


@dataclass
class Case:
    """A model: its nets, inputs and outputs by the names of the blobs."""
    nets: list
    inputs: dict = field(default_factory=dict)
    expected: dict = field(default_factory=dict)
    tolerance: float = 1e-5
    error: str = ""
    check: Callable = None
    variant: str = ""

    @property
    def name(self):
        return self.nets[0] + self.variant


def floats(*shape):
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


def counting(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def f32(values):
    return np.asarray(values, dtype=np.float32)


def i32(values):
    return np.asarray(values, dtype=np.int32)


def i64(values):
    return np.asarray(values, dtype=np.int64)


#===- Windows -------------------------------------------------------------===#


def windows(x, kernel, stride, pads, filler, dilation=1):
    """The windows [N, C, OH, OW, KH, KW] of x [N, C, H, W]."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)),
               constant_values=filler)
    reach = (kernel - 1) * dilation + 1
    height = (x.shape[2] - reach) // stride + 1
    width = (x.shape[3] - reach) // stride + 1
    result = np.empty(x.shape[:2] + (height, width, kernel, kernel), x.dtype)
    for i in range(kernel):
        for j in range(kernel):
            result[..., i, j] = x[
                :, :, i * dilation:i * dilation + stride * height:stride,
                j * dilation:j * dilation + stride * width:stride]
    return result


def convolve(x, w, b, stride=1, pad=0, dilation=1):
    """x [N, C, H, W], w [OC, C, KH, KW]; of x's type."""
    return np.einsum("nchwij,ocij->nohw",
                     windows(x, w.shape[2], stride, [pad] * 4, 0, dilation),
                     w) + np.reshape(np.asarray(b, x.dtype), (1, -1, 1, 1))


def convolve_transposed(x, w, b, pad=0):
    """x [N, C, H, W], w [C, OC, K, K], stride 1."""
    kernel = w.shape[2]
    n, _, height, width = x.shape
    y = np.zeros((n, w.shape[1], height + kernel - 1, width + kernel - 1),
                 x.dtype)
    for i in range(kernel):
        for j in range(kernel):
            y[:, :, i:i + height, j:j + width] += np.einsum(
                "nchw,co->nohw", x, w[:, :, i, j])
    y = y[:, :, pad:y.shape[2] - pad, pad:y.shape[3] - pad]
    return y + np.reshape(np.asarray(b, x.dtype), (1, -1, 1, 1))


def nchw(x):
    return np.transpose(x, (0, 3, 1, 2))


def nhwc(x):
    return np.transpose(x, (0, 2, 3, 1))


def average(x, kernel, pad):
    """Padding does not count."""
    sums = windows(x, kernel, 1, [pad] * 4, 0).sum((4, 5))
    counts = windows(np.ones_like(x), kernel, 1, [pad] * 4, 0).sum((4, 5))
    return sums / counts


IMAGE = counting(1, 1, 3, 3)
ONES = np.ones((1, 1, 2, 2), np.float32)
TRANSPOSED = f32(range(2, 11)).reshape(1, 1, 3, 3)
ANY_IMAGE = floats(1, 3, 5, 4)

CASES = [
    Case(["predict_net", "init_net"], {"gpu_0/data_0": IMAGE},
         {"conv_out": convolve(IMAGE, ONES, 2, 1, 1, 2)}),
    Case(["conv_nhwc_predict_net", "conv_nhwc_init_net"],
         {"inputs": nhwc(IMAGE)},
         {"conv_out": nhwc(convolve(IMAGE, ONES, 2, 1, 1))}),
    Case(["convrelu_pred_net", "convrelu_init_net"], {"gpu_0/data_0": IMAGE - 4},
         {"conv_out": np.maximum(convolve(IMAGE - 4, ONES, 2, 1, 1), 0)}),
    Case(["convtranspose", "convtranspose_init"], {"gpu_0/data_0": ANY_IMAGE[:, :1]},
         {"convTranspose_out":
          convolve_transposed(ANY_IMAGE[:, :1], TRANSPOSED, 1)}),
    Case(["convtranspose_nhwc", "convtranspose_nhwc_init"],
         {"inputs": nhwc(ANY_IMAGE[:, :1])},
         {"convTranspose_out":
          nhwc(convolve_transposed(ANY_IMAGE[:, :1], TRANSPOSED, 1, 1))}),
    Case(["convtranspose_pads", "convtranspose_init"],
         {"gpu_0/data_0": ANY_IMAGE[:, :1]},
         {"convTranspose_out":
          convolve_transposed(ANY_IMAGE[:, :1], TRANSPOSED, 1, 1)}),
    # The net states a kernel of 2, the filter has 3.
    Case(["convtranspose_net", "convtranspose_init"],
         {"gpu_0/data_0": ANY_IMAGE[:, :1]},
         error="argument 'kernel' is 2x2; the filter has 3x3"),
    Case(["maxpool_predict_net", "empty_init_net"], {"inputs": ANY_IMAGE},
         {"output": windows(ANY_IMAGE, 2, 1, [1] * 4, -np.inf).max((4, 5))}),
    Case(["maxpool_nhwc_predict_net", "empty_init_net"],
         {"inputs": nhwc(ANY_IMAGE)},
         {"output": nhwc(
             windows(ANY_IMAGE, 2, 1, [1] * 4, -np.inf).max((4, 5)))}),
    # Caffe's rounding changes nothing with a stride of 1. Glow refuses it.
    Case(["maxpool_legacy_padding_predict_net", "empty_init_net"],
         {"inputs": ANY_IMAGE},
         {"output": windows(ANY_IMAGE, 2, 1, [1] * 4, -np.inf).max((4, 5))}),
    Case(["avgpool_predict_net", "empty_init_net"], {"inputs": ANY_IMAGE},
         {"output": average(ANY_IMAGE, 2, 1)}),
    Case(["avgpool_nhwc_predict_net", "empty_init_net"],
         {"inputs": nhwc(ANY_IMAGE)},
         {"output": nhwc(average(ANY_IMAGE, 2, 1))}),
    Case(["NCHW2NHWC_predict_net", "empty_init_net"], {"inputs": ANY_IMAGE},
         {"output": nhwc(ANY_IMAGE)}),
    Case(["dce_test_predict_net", "dce_test_init_net"],
         {"conv_inputs": nhwc(IMAGE)},
         {"conv_result": nhwc(convolve(IMAGE, ONES, 2, 1, 1))}),
    # Width 3 becomes 4 (1.5 * 3 rounded down), row i is row i / 2.
    Case(["resize_nearest_op_net", "empty_init_net"],
         {"input_0": nhwc(ANY_IMAGE)},
         {"resize_nearest_test_output":
          nhwc(ANY_IMAGE)[:, np.arange(10) // 2][
              :, :, (np.arange(6) / 1.5).astype(int)]}),
]

#===- Element-wise --------------------------------------------------------===#


def gelu(x):
    from math import erf
    return f32(np.vectorize(lambda v: v * 0.5 * (1 + erf(v / 2 ** 0.5)))(x))


X23 = floats(2, 3)
Y23 = floats(2, 3)
X35 = floats(3, 5)
WIDE = f32([-30, -1, -1e-6, 0, 1e-6, 0.5, 30, 88])


def unary(net, blob_in, blob_out, x, y, **more):
    return Case([net], {blob_in: x}, {blob_out: y}, **more)


def box_cox(x, l1, l2):
    base = np.maximum(x.astype(np.float64) + l2, 1e-6)
    safe = np.where(np.abs(l1) <= 1e-6, 1, l1).astype(np.float64)
    return f32(np.where(np.abs(l1) <= 1e-6, np.log(base),
                        (base ** safe - 1) / safe))


BOX = np.abs(floats(4, 5))
LAMBDA1 = f32([0, 0.5, 1, -1.5, 2])
LAMBDA2 = f32([0, 1, 0.5, 2, 0.1])
HALF = floats(3, 4).astype(np.float16)
INTS = i64(RANDOM.integers(-9, 10, (2, 7)))
LINEAR = floats(10, 5)
W10, B10 = floats(10), floats(10)
W5, B5 = floats(5), floats(5)
IMAGES = floats(2, 3, 4, 5)
SLOPE = np.abs(floats(3))

CASES += [
    unary("alias_op_net", "X", "Y", X23, X23),
    unary("dropout", "input", "output", X23, X23),
    unary("exp_op_net", "data", "result", X23, np.exp(X23)),
    unary("gelu", "input", "output", X35, gelu(X35)),
    unary("log1p", "input", "output", np.abs(WIDE),
          f32(np.log1p(np.abs(WIDE).astype(np.float64)))),
    unary("log1p", "input", "output", f32([1e-10]), f32([1e-10]),
          variant=":tiny"),
    unary("log1p", "input", "output", f32([1e38]), f32([np.log1p(1e38)]),
          variant=":large"),
    unary("negative", "input", "output", X23, -X23),
    unary("sigmoid", "sigmoid_test_input", "sigmoid_test_output", X23,
          f32(1 / (1 + np.exp(-X23.astype(np.float64))))),
    unary("sign", "input", "output", WIDE, np.sign(WIDE)),
    unary("softplus", "input", "output", WIDE,
          f32(np.logaddexp(WIDE.astype(np.float64), 0))),
    unary("sqr_predict_net", "input", "result", X23, X23 * X23),
    unary("swish_op_net", "input", "swish_result", X23,
          f32(X23 / (1 + np.exp(-X23.astype(np.float64))))),
    unary("scale", "input", "output", X23, 2 * X23),
    unary("clip_op_net", "inputs_0", "clip_result", counting(5, 20),
          np.clip(counting(5, 20), 20, 60)),
    unary("clip_op_default_net", "inputs_0", "clip_result", X23, X23),
    unary("halftofloat_op_net", "X", "Y", HALF, f32(HALF)),
    unary("cast_int64_to_int64", "input", "output", INTS, INTS),
    unary("modulo_op_net", "data", "output", INTS, np.fmod(INTS, 2)),
    unary("logit_op_net", "inputs_0", "logit_result", f32([0, 0.1, 0.5, 0.75]),
          f32(np.log([1e-6 / (1 - 1e-6), 1 / 9, 1, 3])), tolerance=1e-4),
    unary("replace_nan_predict_net", "input", "replace_nan_result",
          f32([1.5, np.nan, -2, np.nan]), f32([1.5, 1, -2, 1])),
    unary("bucketize_op_net", "input_0", "bucketize_test_output",
          f32([[-1, 0.05, 0.1], [0.2, 2.5, 3]]), i32([[0, 0, 0], [1, 1, 2]])),
    Case(["eq_op_net"], {"X": i64([[1, 2], [3, 4]]), "Y": i64([[1, 0], [3, 5]])},
         {"eq": np.array([[True, False], [True, False]])}),
    Case(["multiple_inputs_graph"], {"input1": X23, "input2": Y23},
         {"output": X23 + Y23}),
    Case(["mean_3inputs"], {"input1": X23, "input2": Y23, "input3": X23 * Y23},
         {"output": (X23 + Y23 + X23 * Y23) / 3}),
    Case(["prelu"], {"prelu_test_input": IMAGES, "slope": SLOPE},
         {"prelu_test_output": np.where(
             IMAGES < 0, IMAGES * SLOPE[:, None, None], IMAGES)}),
    Case(["batch_box_cox_predict_net"],
         {"data": BOX, "lambda1": LAMBDA1, "lambda2": LAMBDA2},
         {"batch_box_cox": box_cox(BOX, LAMBDA1, LAMBDA2)}, tolerance=1e-4),
    Case(["elementwise_linear_net"], {"X": LINEAR, "w": W10, "b": B10},
         {"el_result": LINEAR * W10[:, None] + B10[:, None]}),
    Case(["elementwise_linear_default_net"], {"X": LINEAR, "w": W5, "b": B5},
         {"el_result": LINEAR * W5 + B5}),
    Case(["elementwise_linear_broadcast_net"], {"X": LINEAR, "w": W5, "b": B5},
         {"el_result": LINEAR * W5 + B5}),
]

#===- Matmuls -------------------------------------------------------------===#

FC_W = counting(4, 3) + 1
FC_B = f32([0.1, 0.2, 0.3, 0.4])
X3D, X4D = floats(2, 3, 4), floats(2, 5, 1, 1)
W54, B54 = counting(5, 4), counting(5)
W35, B35 = counting(3, 5), counting(3)
LEFT, RIGHT = floats(3, 4, 5), floats(3, 5, 2)
ROWS = floats(2, 1, 1, 2048)

CASES += [
    Case(["fc_predict_net", "fc_init_net"], {"inputs": X23},
         {"fc_result": X23 @ FC_W.T + FC_B}),
    Case(["fcTransposed_predict_net", "fcTransposed_init_net"], {"inputs": X23},
         {"fc_result": X23 @ FC_W.T + FC_B}),
    Case(["fc_3d_second_axis_predict", "fc_3d_second_axis_init"],
         {"input": X3D}, {"output": X3D @ W54.T + B54}),
    Case(["fbfcpacked_3d_second_axis_predict", "fbfcpacked_3d_second_axis_init"],
         {"input": X3D}, {"output": X3D @ W54.T + B54}),
    Case(["fbfcpacked_4d_first_axis_predict_net",
          "fbfcpacked_4d_first_axis_init_net"], {"input": X4D},
         {"output": X4D.reshape(2, 5) @ W35.T + B35}),
    Case(["fc_4d_first_axis_predict_net", "fc_4d_first_axis_init_net"],
         {"inputs": X4D}, {"fc_result": np.zeros((2, 3), np.float32)}),
    Case(["fc_4d_predict_net", "fc_4d_init_net"], {"inputs": ROWS},
         {"fc_result": np.zeros((2, 1, 1, 9190), np.float32)}),
    Case(["fcTransposed_4d_predict_net", "fcTransposed_4d_init_net"],
         {"inputs": ROWS},
         {"fc_result": np.zeros((2, 1, 1, 9190), np.float32)}),
    Case(["batched_matmul"], {"lhs": LEFT, "rhs": RIGHT},
         {"result": LEFT @ RIGHT}),
    Case(["parallel_matmul_predict_net"], {"inputs_0": LEFT, "inputs_1": RIGHT},
         {"output": LEFT @ RIGHT}),
    Case(["matmul_trans_RHS_predict_net"],
         {"inputs_0": LEFT, "inputs_1": RIGHT.transpose(0, 2, 1).copy()},
         {"output": LEFT @ RIGHT}),
    Case(["dot_product_predict_net"], {"X": X35, "Y": X35[::-1].copy()},
         {"dot_product": (X35 * X35[::-1]).sum(1)}),
    Case(["pre_partitioned_multi_op_predict_net"],
         {"mm0_in": X35[:3, :3].copy(), "mm1_in": X35[:3, 2:].copy(),
          "add_in": X35[:3, 1:4].copy()},
         {"res": X35[:, :3] * (X35[:, :3] @ X35[:, 2:]) -
          (X35[:, :3] @ X35[:, 2:] + X35[:, 1:4])}),
]

#===- Shapes, reductions, normalizations ----------------------------------===#

NORM = floats(2, 3, 4, 5)
WEIGHT = counting(4, 3) + 1
AFFINE = floats(2, 4, 3)
PARTS = [floats(10, 4, 5, 3) for _ in range(3)]
FOLD = floats(1, 2, 4, 3)


def normalize(x, axes, epsilon):
    x = x.astype(np.float64)
    rest = x - x.mean(axes, keepdims=True)
    return f32(rest / np.sqrt((rest ** 2).mean(axes, keepdims=True) + epsilon))


RMS = floats(3, 4)
GAMMA, BETA = floats(4), floats(4)
RRMS = f32(1 / np.sqrt((RMS.astype(np.float64) ** 2).mean(1) + 1))
TOP = f32([[3, 1, 4, 1.5, 5], [9, 2, 6, 5.5, 3.5]])


def concat_case(net, result):
    inputs = {f"inputs_{i}": part for i, part in enumerate(PARTS)}
    return Case([net], inputs, {"concat_result": result})


CASES += [
    concat_case("concat_predict_net", np.concatenate(PARTS, 1)),
    concat_case("concat_add_axis_predict_net", np.stack(PARTS, 1)),
    concat_case("concat_add_axis_at_edge", np.stack(PARTS, 4)),
    # Of the shape the extents 0, 2, 3 and 1 are taken.
    Case(["gather_const_fold", "gather_const_fold_init"], {"data": FOLD},
         {"result": FOLD.reshape(1, 4, 3, 2)}),
    Case(["argmin"], {"input": X35}, {"output": X35.argmin(1)}),
    Case(["reduce_back_sum"], {"inputs_0": NORM}, {"result": NORM.sum(3)}),
    Case(["reducebackmean"], {"input": NORM}, {"output": NORM.mean(3)}),
    Case(["lpnorm_p1"], {"input": X35},
         {"output": np.abs(X35).sum().reshape(1)}),
    Case(["lpnorm_p2"], {"input": X35}, {"output": (X35 ** 2).sum().reshape(1)}),
    Case(["topk_k2"], {"input": TOP},
         {"values": f32([[5, 4], [9, 6]]), "indices": i64([[4, 2], [0, 2]])}),
    Case(["layernorm_pred_net"], {"input": NORM},
         {"result": normalize(NORM, (2, 3), 0.05)}),
    Case(["layernorm_neg_axis_pred_net"], {"input": NORM},
         {"result": normalize(NORM, (2, 3), 0.05)}),
    Case(["layernorm_weight_bias_pred_net", "layernorm_weight_bias_init_net"],
         {"input": AFFINE},
         {"result": normalize(AFFINE, (1, 2), 1e-5) * WEIGHT - WEIGHT}),
    Case(["rmsnorm"], {"x": RMS, "gamma": GAMMA, "beta": BETA},
         {"y": RMS * RRMS[:, None] * GAMMA + BETA, "rrms": RRMS}),
]

#===- Fills ---------------------------------------------------------------===#

IS_EQUAL = np.ones((2, 2), bool)


def distribution(name, shape, mean, deviation, low=-np.inf, high=np.inf):
    """Whether output `name` looks like that; within 5 standard errors."""
    def check(outputs):
        values = outputs[name]
        if values.shape != shape or values.dtype != np.float32:
            return f"{name}: {values.dtype} {values.shape}"
        error = 5 * deviation / values.size ** 0.5
        if abs(values.mean() - mean) > error or \
           abs(values.std() - deviation) > error:
            return f"{name}: mean {values.mean()}, deviation {values.std()}"
        if values.min() < low or values.max() > high:
            return f"{name}: {values.min()} to {values.max()}"
        return ""
    return check


def uniform(name, shape):
    return distribution(name, shape, 5, 10 / 12 ** 0.5, 0, 10)


def three(*shape):
    return np.full(shape, 3, np.float32)


LIKE = floats(4, 5, 6, 7)
SHAPE = i64([4, 5, 6, 7])

CASES += [
    Case(["fill_test_predict_net", "fill_test_init_net"], {},
         {f"tensor_{kind}_eq": IS_EQUAL for kind in
          ["fill_float", "int_fill", "int64_fill", "string_to_uint8_fill"]}),
    Case(["pre_partitioned_fill_test_predict_net", "fill_test_init_net"], {},
         {"tensor_fill_float_copy": counting(2, 2),
          "tensor_int_fill_copy": i32([[0, 1], [2, 3]]),
          "tensor_int64_fill_copy": i64([[0, 1], [2, 3]]),
          "tensor_string_to_uint8_fill_copy":
          np.array([[128, 129], [130, 131]], np.uint8)}),
    Case(["empty_predict_net", "empty_init_net"],
         error="nothing computes the output 'unused_output'"),
    Case(["constant_fill_input_as_shape", "constant_fill_input_as_shape_init"],
         {}, {"result": three(17, 23, 29, 31)}),
    Case(["constant_fill_use_input_shape"], {"inputs_0": floats(7, 11, 13, 17)},
         {"result": three(7, 11, 13, 17)}),
    Case(["constant_fill_use_provided_shape"], {},
         {"result": three(7, 11, 13, 17)}),
    Case(["gaussian_fill_input_as_shape", "gaussian_fill_input_as_shape_init"],
         check=distribution("result", (4, 5, 6, 7), 0, 1)),
    Case(["gaussian_fill_use_input_shape"], {"inputs_0": LIKE},
         check=distribution("result", (4, 5, 6, 7), 0, 1)),
    Case(["gaussian_fill_use_input_shape_with_extra_shape"],
         {"inputs_0": LIKE},
         check=distribution("result", (4, 5, 6, 7, 2, 3), 0, 1)),
    Case(["gaussian_fill_use_provided_shape"],
         check=distribution("result", (4, 5, 6, 7), 0, 1)),
    Case(["uniform_fill_input_as_shape", "gaussian_fill_input_as_shape_init"],
         check=uniform("result", (4, 5, 6, 7))),
    Case(["uniform_fill_use_input_shape"], {"inputs_0": LIKE},
         check=uniform("result", (4, 5, 6, 7))),
]

#===- Lists and tables ----------------------------------------------------===#

DATA7 = floats(10, 2, 3)
LENGTHS = i32([2, 0, 3, 5])


def sum_lists(rows, lengths):
    ends = np.cumsum(lengths)
    return f32([rows[end - n:end].sum(0) for end, n in zip(ends, lengths)])


SPARSE = floats(4, 3)
MASK = [42, 100, 300, 1, 0, 312]
MASKED = floats(4, 2)
DEFAULT = floats(2)
LABEL_VALUES = floats(8)


def masked(indices, values, default):
    result = np.tile(default, (len(MASK), 1))
    for index, value in zip(indices, values):
        if index in MASK:
            result[MASK.index(index)] = value
    return result


def label_split():
    """Lists of 3, 1 and 4 values; labels as in `labels`."""
    labels, lengths = [3, 0, 2, 1, 0, 2, 3, 1], [3, 1, 4]
    lists = np.repeat([0, 1, 2], lengths)
    expected, seen = {}, [0] * 4
    places = []
    for label in labels:
        places.append(seen[label])
        seen[label] += 1
    for i in range(4):
        mine = [k for k, label in enumerate(labels) if label == i]
        expected[f"label_values_{i}"] = LABEL_VALUES[mine]
        expected[f"example_ids_{i}"] = i32(lists[mine])
    expected["gradient_offset_map"] = i32(places)
    return Case(["sparselabelsplit"],
                {"lengths": i32(lengths), "indices": i64(labels),
                 "values": LABEL_VALUES}, expected)


EXAMPLES = floats(3, 2)
FILLED = np.zeros((5, 2), np.float32)
FILLED[[0, 2, 3]] = EXAMPLES
RANGES = i32([[[0, 1], [2, 2]], [[4, 1], [5, 1]]])
SPARSE_DENSE = np.zeros((20, 3), np.float32)
for _index, _row in zip([2, 14, 2, 7], SPARSE):
    SPARSE_DENSE[_index] += _row

CASES += [
    Case(["lengths_sum"], {"data": DATA7, "lengths": LENGTHS},
         {"result": sum_lists(DATA7, LENGTHS)}),
    Case(["lengths_to_ranges", "lengths_to_ranges_init_net"], {},
         {"output": i32([[0, 1], [1, 3], [4, 0], [4, 2]])}),
    Case(["lengths_range_fill_predict_net"], {"lengths": i32([3, 0, 4])},
         {"result": i32([0, 1, 2, 0, 1, 2, 3, 0])}),
    Case(["gather_ranges"], {"data": i64([1, 2, 3, 4, 5, 6]), "ranges": RANGES},
         {"output": i64([1, 3, 4, 5, 6]), "lengths": i32([3, 2])}),
    Case(["sparse_to_dense"],
         {"indices": i64([2, 14, 2, 7]), "values": SPARSE,
          "dataToInferDim": floats(20, 1)}, {"dense_result": SPARSE_DENSE}),
    Case(["sparse_to_dense_mask_op_net"],
         {"indices": i64([42, 7, 0, 100]), "values": MASKED,
          "defaultValue": DEFAULT},
         {"output": masked([42, 7, 0, 100], MASKED, DEFAULT)}),
    # One column: the indices are 0.
    Case(["batch_sparse_to_dense_last_dim_1"],
         {"lengths": i32([1, 0, 1]), "indices": i64([0, 0]),
          "values": f32([5, 7])}, {"output": f32([[5], [0], [7]])}),
    Case(["fill_examples_with_indicator"],
         {"data": EXAMPLES, "indicator": i32([1, 0, 1, 1, 0])},
         {"output": FILLED}),
    label_split(),
]

# Rows of the tables in the files: scale * q + bias.
TABLE8 = f32([[1, 1 + 0.00078431389 * 255], [2.3, 2.3 + 0.0043137260 * 255],
              [4.5, 4.5 + 0.0047058817 * 255]])
FUSED8 = f32([[1, 1 + 0.0011782 * 255], [0, 0], [0, 0]])
FUSED_BYTES = (b"\0\xff\x6a\x9a\x4d\x3a\0\0\x80\x3f"
               b"\0\xff\x28\x5a\x8d\x3b\x33\x33\x13\x40"
               b"\0\xff\xcc\x33\x9a\x3b\0\0\x90\x40")


def fused8(data, columns):
    """Rows of bytes, then a float scale and bias."""
    rows = np.frombuffer(data, np.uint8).reshape(-1, columns + 8)
    params = np.ascontiguousarray(rows[:, columns:]).view("<f4")
    return rows[:, :columns] * params[:, :1] + params[:, 1:]


INDICES = i64([2, 0, 1, 2, 0, 0, 0, 0])
LISTS = i32([2, 0, 2, 4])
# Every byte of these tables is 0: a row is its bias.
BIASES = f32([[2], [-0.5], [13]])
WEIGHTS = f32([3, 1, 0, 0, 0, 0, 2, -0.5])
WEIGHTED_INDICES = i64([1, 0, 2, 0, 1, 2, 2, 0])
WEIGHTED_LISTS = i32([3, 0, 3, 2])
WEIGHTED = {
    "indices": WEIGHTED_INDICES, "lengths": WEIGHTED_LISTS}
WEIGHTED_SUM = sum_lists(BIASES[WEIGHTED_INDICES] * WEIGHTS[:, None],
                         WEIGHTED_LISTS)
FOUR_BIT = np.frombuffer(
    b"\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\xbf\0\0\0\0\0\0\0\x50\x41",
    np.uint8).reshape(3, 9)


def fused4(rows):
    """Two numbers a byte, then a float16 scale and bias."""
    q = np.stack([rows[:, :-4] & 15, rows[:, :-4] >> 4], 2)
    params = np.ascontiguousarray(rows[:, -4:]).view("<f2").astype(np.float32)
    return f32(q.reshape(len(rows), -1) * params[:, :1] + params[:, 1:])


SUM_NAME = "rowwise_quantized_sparse_lengths_"
LOOKUPS = {"indices": INDICES, "lengths": LISTS}
SINGLES = {"indices": i64([2, 0, 1]), "lengths": i32([1, 1, 1])}

CASES += [
    Case([SUM_NAME + "sum_predict_net", SUM_NAME + "sum_init_net"], LOOKUPS,
         {"result": sum_lists(TABLE8[INDICES], LISTS)}),
    Case(["fused_" + SUM_NAME + "sum_predict_net",
          "fused_" + SUM_NAME + "sum_init_net"], LOOKUPS,
         {"result": sum_lists(fused8(FUSED_BYTES, 2)[INDICES], LISTS)}),
    Case(["fused_" + SUM_NAME + "sum_predict_net_length1",
          "fused_" + SUM_NAME + "sum_init_net"], SINGLES,
         {"result": fused8(FUSED_BYTES, 2)[[2, 0, 1]]}),
    Case([SUM_NAME + "weighted_sum_predict_net",
          SUM_NAME + "weighted_sum_init_net"], WEIGHTED,
         {"result": WEIGHTED_SUM}),
    Case(["fused_" + SUM_NAME + "weighted_sum_predict_net",
          "fused_" + SUM_NAME + "weighted_sum_init_net"], WEIGHTED,
         {"result": WEIGHTED_SUM}),
    Case(["fused_" + SUM_NAME + "weighted_sum_avg_length_predict_net",
          "fused_" + SUM_NAME + "weighted_sum_init_net"], WEIGHTED,
         {"result": WEIGHTED_SUM}),
    Case(["4bit_fused_" + SUM_NAME + "sum_predict_net",
          "4bit_fused_" + SUM_NAME + "sum_init_net"], LOOKUPS,
         {"result": sum_lists(fused4(FOUR_BIT)[INDICES], LISTS)}),
]

#===- Quantized -----------------------------------------------------------===#


def to_int8(real, scale, zero_point):
    """int8 with an offset that is 128 less than Caffe2's."""
    q = np.rint(np.asarray(real, np.float64) / scale) + zero_point - 128
    return np.clip(q, -128, 127).astype(np.int8)


def int8s(*shape):
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


IMAGE8 = int8s(1, 1, 3, 3)
CONV8 = convolve((IMAGE8.astype(np.float64) - 3) * 0.5,
                 np.full((1, 1, 2, 2), (1 - 10) * 2.0), (2 - 4) * 10, 1, 1)
CHANNELS = int8s(1, 1, 1, 4)
GROUP_X = np.pad((CHANNELS.astype(np.float64)) * 1.0,
                 ((0, 0), (1, 1), (1, 1), (0, 0)))
GROUP_W = (np.array([[0, 1]] * 4) - 5) * 6.0
GROUP_Y = np.stack([GROUP_X[..., i // 2 * 2:i // 2 * 2 + 2] @ GROUP_W[i]
                    for i in range(4)], 3) + 7
LEFT8 = int8s(4, 2)
LARGE = floats(4, 2) * 100
FC3, FC4 = floats(2, 4, 3), floats(2, 5, 1, 1)
FC3Q, FC4Q = int8s(2, 4, 3), int8s(2, 5, 1, 1)
W23 = np.arange(6.0).reshape(2, 3)
W35D = np.arange(15.0).reshape(3, 5)
DYNAMIC = floats(2, 3)


def dequantized(q, scale, offset):
    return (q.astype(np.float64) - offset) * scale


def fc8(net, q, weights, bias):
    """Int8FC and Int8Dequantize; the results are of scale 1, from 0 to 255."""
    real = dequantized(q, 0.125, -5).reshape(q.shape) if q.ndim == 3 else \
        dequantized(q, 0.125, -5).reshape(q.shape[0], -1)
    result = np.clip(np.rint(real @ weights.T + bias), 0, 255)
    return Case([net + "_predict" + ("" if q.ndim == 3 else "_net"),
                 net + "_init" + ("" if q.ndim == 3 else "_net")],
                {"input": (q, 0.125, -5)}, {"output": f32(result)})


CASES += [
    Case(["int8convrelu_pred_net", "int8convrelu_init_net"],
         {"gpu_0/data_0": (IMAGE8, 0.5, 3)},
         {"conv_out": to_int8(np.maximum(CONV8, 0), 1.5, 7)}),
    Case(["conv_group_quantized_pred_net", "conv_group_quantized_init_net"],
         {"input": (CHANNELS, 1, 0)}, {"conv_out": to_int8(GROUP_Y, 3.14, 5)}),
    Case(["int8sumrelu_pred_net", "int8sumrelu_init_net"],
         {"gpu_0/data_0": (LEFT8, 1, 0)},
         {"out": to_int8(np.maximum(LEFT8.astype(int) + 1, 0), 1, 0)}),
    Case(["int8sumrelu_large_range_pred_net", "int8sumrelu_large_range_init_net"],
         {"gpu_0/data_0": LARGE},
         {"out": to_int8(np.maximum(
             np.clip(np.rint(LARGE), 0, 255) + (1 - 127) * 600.0, 0),
             575, 120)}),
    Case(["int8sumrelu_tiny_scale_pred_net", "int8sumrelu_tiny_scale_init_net"],
         {"gpu_0/data_0": (LEFT8, 5e-10, 2)},
         {"out": to_int8(np.maximum(
             dequantized(LEFT8, 5e-10, 2) + (1 - 13) * 7e-10, 0), 1e-11, 5)}),
    fc8("int8fc_3d_second_axis", FC3Q, W23, np.arange(2.0)),
    fc8("int8fc_4d_first_axis", FC4Q, W35D, np.arange(3.0)),
    Case(["dynamic_quantized_fc_predict_net", "dynamic_quantized_fc_init"],
         {"input": DYNAMIC},
         {"output": DYNAMIC @ counting(4, 3).T + counting(4)}),
]
