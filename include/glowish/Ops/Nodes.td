//===- Nodes.td - Nodes of the graph ---------------------------*- td -*-===//

include "OpBase.td"
include "ScalarOps.td"

//===- Storage --------------------------------------------------------------===//

def Save : Node<"Writes a value to a placeholder: an output of the function"> {
  let Operands = [Operand<"input">,
                  Operand<"output", "a placeholder of the same type">];
  let Results = [];
  let ZeroGradient = "it has no result";
}
def Splat : Node<"A tensor with one value in every element"> {
  let Attributes = [Attr<Kind, "elemKind", "element kind">,
                    Attr<Ints, "shape", "extents">,
                    Attr<Float, "value", "the value">];
  let Source = "ONNX ConstantOfShape-9";
  let ZeroGradient = "it has no operand";
}

//===- Control flow ---------------------------------------------------------===//

def If : Node<"One of two bodies, by a condition"> {
  let Description = [{
    condition is a bool scalar. Both bodies take the captures as parameters and
    have the same results, which are the node's.
  }];
  let Operands = [Operand<"condition">,
                  VariadicOperand<"captures", "parameters of both bodies">];
  let Attributes = [Attr<Body, "thenBody", "where the condition is true">,
                    Attr<Body, "elseBody", "where it is false">];
  let Results = [];
  let Source = "ONNX If-19";
}
def Loop : Node<"A body that runs again and again"> {
  let Description = [{
    The body runs while its number is less than tripCount (an int64 scalar;
    absent: maxTripCount) and than maxTripCount, and while the condition (a bool
    scalar; absent: true) holds. `values` are the first states, then captures.
    The body's parameters: its number from 0 (int64), the condition, states,
    captures; its results: the next condition, the next states, elements of
    scans. Results: the last states; for each scan its elements in a new first
    dimension of extent maxTripCount, zeros where the body did not run; how many
    times it ran (int64).
  }];
  let Operands = [OptionalOperand<"tripCount">, OptionalOperand<"condition">,
                  VariadicOperand<"values", "first states, then captures">];
  let Attributes = [Attr<Body, "body", "what is repeated">,
                    Attr<Int, "numStates", "how many of the values are states">,
                    Attr<Int, "maxTripCount", "the most repetitions">];
  let Results = [];
  let Source = "ONNX Loop-19, Scan-19";
}

//===- Convolution and matrix multiplication --------------------------------===//

def Convolution : Node<"2-D convolution of NHWC images"> {
  let Description = [{
    input [N, H, W, C], filter [OC, KH, KW, C / group], bias [OC], result
    [N, OH, OW, OC] with OH = (H + top + bottom - dilation * (KH - 1) - 1) /
    stride + 1. All kinds but bool and quantized ones; integers wrap.
  }];
  let Operands = [Operand<"input">, Operand<"filter">,
                  OptionalOperand<"bias">] # FusedOperands;
  let Attributes = [Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">,
                    EpilogueAttr];
  let Source = "ONNX Conv-11";
  let MultiplyAdds = "countElements(op.getFilter().getShape().drop_front())";
}
def ConvolutionFilterGradient : Node<"Gradient of the filter of a Convolution"> {
  let Description = [{
    input [N, H, W, C], of the Convolution; gradient [N, OH, OW, OC], of its
    result; result [OC, KH, KW, C / group]: for each tap the sum over all images
    and pixels of gradient * input. OH and OW are as the Convolution has them.
    float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, Operand<"gradient">];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">];
  let MultiplyAdds = "countElements(op.getGradient().getShape().drop_back())";
}
def ConvTranspose : Node<"Transposed 2-D convolution of NHWC images"> {
  let Description = [{
    Each element of input [N, H, W, C] adds its product with filter
    [C, KH, KW, OC / group] to a window of result [N, OH, OW, OC]; the windows
    are `strides` apart. bias [OC]. OH = (H - 1) * stride +
    dilation * (KH - 1) + 1 - top - bottom + outputPad. float16, bfloat16, float
    and double.
  }];
  let Operands = [Operand<"input">, Operand<"filter">, OptionalOperand<"bias">];
  let Attributes = [Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right], cut off">,
                    Attr<Ints, "outputPads", "[bottom, right], added">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">];
  let Source = "ONNX ConvTranspose-11";
}
def MatMul : Node<"Matrix product, batched by leading dimensions"> {
  let Description = [{
    lhs [..., M, K], rhs [..., K, N], result [..., M, N]. The leading
    dimensions broadcast. Both operands have at least rank 2.
  }];
  let Operands = [Operand<"lhs">, Operand<"rhs">] # FusedOperands;
  let Attributes = [EpilogueAttr];
  let Source = "ONNX MatMul-13";
  let MultiplyAdds = "op.getLhs().getShape().back()";
}
def Gemm : Node<"alpha * A * B + beta * C"> {
  let Description = [{
    A [M, K], or [K, M] when transposed; B [K, N], or [N, K]; C broadcasts to
    the result [M, N]. Lowered to MatMul.
  }];
  let Operands = [Operand<"a">, Operand<"b">, OptionalOperand<"c">];
  let Attributes = [Attr<Float, "alpha", "factor of the product">,
                    Attr<Float, "beta", "factor of c">,
                    Attr<Bool, "transposeA", "a is [K, M]">,
                    Attr<Bool, "transposeB", "b is [N, K]">];
  let Source = "ONNX Gemm-13";
}
def FullyConnected : Node<"input * weights + bias"> {
  let Description = [{
    input [M, K], weights [K, N], bias [N], result [M, N]. Lowered to MatMul.
  }];
  let Operands = [Operand<"input">, Operand<"weights">, Operand<"bias">];
}

def Attention : Node<"softmax(query * key^T * scale + mask) * value"> {
  let Description = [{
    query [..., M, D], key [..., N, D], value [..., N, E], result [..., M, E],
    all with the same leading dimensions. The softmax is along the keys. mask
    broadcasts to [..., M, N]. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"query">, Operand<"key">, Operand<"value">,
                  OptionalOperand<"mask", "added to the scaled scores">];
  let Attributes = [Attr<Float, "scale", "factor of the scores">,
                    Attr<Bool, "causal",
                         "query m sees keys 0 ... m + N - M only">];
  let Source = "Vaswani et al., Attention Is All You Need, 2017";
  let MultiplyAdds = [{op.getKey().getShape().drop_back().back() *
                       (op.getQuery().getShape().back() +
                        op.getValue().getShape().back()) /
                       op.getValue().getShape().back()}];
}

//===- Pooling --------------------------------------------------------------===//

class Pool<string summary> : Node<summary> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">];
  let Description = "input [N, H, W, C], result [N, OH, OW, C].";
}
def MaxPool : Pool<"Largest element of each window; padding never wins"> {
  let Source = "ONNX MaxPool-12";
}
def AvgPool : Pool<"Mean of each window"> {
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Bool, "countIncludePads",
                         "padding counts in the divisor">];
  let Source = "ONNX AveragePool-19";
}
def MaxPoolGradient : Pool<"Gradient of the input of a MaxPool"> {
  let Description = [{
    input [N, H, W, C], of the MaxPool; gradient [N, OH, OW, C], of its result;
    result [N, H, W, C]: each element of gradient is added to the place of the
    largest element of its window, the first of equals in the order of rows. A
    NaN is larger than all else. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, Operand<"gradient">];
  let NoGradient = "it is a gradient of the first order";
}
def AvgPoolGradient : Pool<"Gradient of the input of an AvgPool"> {
  let Description = [{
    gradient [N, OH, OW, C], of the AvgPool's result; result [N, H, W, C]: each
    element of gradient, divided by what the mean divided by, is added to all of
    its window. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"gradient">];
  let Attributes = [Attr<Ints, "sizes", "[H, W]">,
                    Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Bool, "countIncludePads",
                         "padding counts in the divisor">];
}
class GlobalPool<string summary> : Node<summary> {
  let Operands = [Operand<"input">];
  let Description = "input [N, H, W, C], result [N, 1, 1, C]. Lowered to Reduce.";
  let TypeRule = "inferGlobalPool";
}
def GlobalAvgPool : GlobalPool<"Mean of each channel"> {
  let Source = "ONNX GlobalAveragePool-1";
}
def GlobalMaxPool : GlobalPool<"Largest element of each channel"> {
  let Source = "ONNX GlobalMaxPool-1";
}

//===- Normalization and reduction ------------------------------------------===//

def BatchNormalization : Node<"Normalization with fixed statistics"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias; the last four
    operands are [C], C being the input's extent along `axis`. Lowered to Mul
    and Add.
  }];
  let Operands = [Operand<"input">, Operand<"scale">, Operand<"bias">,
                  Operand<"mean">, Operand<"variance">];
  let Attributes = [Attr<Int, "axis", "the dimension of the channels">,
                    Attr<Float, "epsilon", "added to the variance">];
  let Source = "ONNX BatchNormalization-15";
}
def LocalResponseNormalization : Node<"Normalization over near channels"> {
  let Description = [{
    x / (bias + alpha / size * sum of squares)^beta, the sum over channels
    c - floor((size - 1) / 2) ... c + ceil((size - 1) / 2) of the last
    dimension.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "size", "channels of the window">,
                    Attr<Float, "alpha", "">, Attr<Float, "beta", "">,
                    Attr<Float, "bias", "">];
  let Source = "ONNX LRN-13";
}
def LayerNormalization : Node<"Normalization over the trailing dimensions"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias, or, where the mean
    is not subtracted, input / sqrt(mean of squares + epsilon) * scale + bias.
    Means and variance are those of the dimensions from `axis` on, which scale
    and bias have. The lowered graph has `axis` at the last dimension only.
    float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, OptionalOperand<"scale">,
                  OptionalOperand<"bias">] # FusedOperands;
  let Attributes = [Attr<Int, "axis", "the first dimension normalized over">,
                    Attr<Float, "epsilon", "added to the variance">,
                    Attr<Bool, "subtractMean", "false: RMS normalization">,
                    EpilogueAttr];
  let Source = "ONNX LayerNormalization-17, RMSNormalization-23";
}
def GroupNormalization : Node<"Normalization over groups of channels"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias. For each element of
    dimension 0 and each of `groups` groups of neighbouring channels, mean and
    variance are those of the group's channels and of all dimensions other than 0
    and `axis`. As many groups as channels are instance normalization. Scale and
    bias have one element a channel. The CPU back end takes `axis` at the last
    dimension only. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, OptionalOperand<"scale">,
                  OptionalOperand<"bias">] # FusedOperands;
  let Attributes = [Attr<Int, "axis", "the dimension of the channels, not 0">,
                    Attr<Int, "groups", "divides the number of channels">,
                    Attr<Float, "epsilon", "added to the variance">,
                    EpilogueAttr];
  let Source = "ONNX InstanceNormalization-6, GroupNormalization-21";
  let NoGradient = "the optimizer makes it, of nodes that have their gradients";
}
def Dropout : Node<"The input, of which training drops elements"> {
  let Description = [{
    The identity, and lowered to nothing. Where a function is made for training,
    each element is 0 with probability `ratio`, drawn anew in each step, and else
    divided by 1 - ratio. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Float, "ratio", "at least 0, less than 1">];
  let Source = "ONNX Dropout-13";
}
def Softmax : Node<"e^x / sum(e^x) along one dimension"> {
  let Description = "The lowered graph has it along the last dimension only.";
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Source = "ONNX Softmax-13";
}
def LogSoftmax : Node<"x - log(sum(e^x)) along one dimension"> {
  let Description = "Lowered to Reduce and element-wise nodes.";
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Source = "ONNX LogSoftmax-13";
  let TypeRule = "inferSoftmax";
}
def Reduce : Node<"Reduction along some dimensions"> {
  let Description = [{
    A mean or a largest element of nothing (a zero extent) is refused; a sum
    of nothing is 0, a product 1. A mean of integers is rounded towards 0, and
    taken of 64-bit ones only: narrower sums would wrap.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<String, "mode", "what is computed", "",
                         ["sum", "mean", "max", "min", "prod"]>,
                    Attr<Ints, "axes", "ascending, counted from 0">,
                    Attr<Bool, "keepDims", "reduced dimensions stay as 1">];
  let Source = "ONNX ReduceSum-13, ReduceMean-13, ReduceMax-13, ...";
}
def ArgMax : Node<"Index of the largest element along one dimension"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">,
                    Attr<Bool, "keepDims", "the dimension stays as 1">,
                    Attr<Bool, "selectLast", "the last of equals wins">];
  let Description = "The result is int64.";
  let Source = "ONNX ArgMax-13";
  let ZeroGradient = "the result is an integer";
}

//===- Data movement --------------------------------------------------------===//

def Concat : Node<"Joins tensors along one dimension"> {
  let Operands = [VariadicOperand<"inputs", "at least one">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Source = "ONNX Concat-13";
}
def Slice : Node<"A box of a tensor, with steps"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "starts", "first index of each dimension">,
                    Attr<Ints, "sizes", "the result's extents">,
                    Attr<Ints, "steps", "may be negative, not 0">];
  let Source = "ONNX Slice-13";
}
def Transpose : Node<"Permutes dimensions"> {
  let Description = "Dimension i of the result is dimension permutation[i] of the input.";
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "permutation", "a permutation of 0 ... rank-1">];
  let Source = "ONNX Transpose-13";
}
def Reshape : Node<"The same elements under another shape"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "shape", "as many elements as the input has">];
  let Source = "ONNX Reshape-14";
}
def Broadcast : Node<"Repeats along dimensions of extent 1"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "shape", "what the input broadcasts to">];
  let Source = "ONNX Expand-13";
}
def Tile : Node<"Repeats a tensor along its dimensions"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "repeats", "one count a dimension">];
  let Source = "ONNX Tile-13";
}
def Pad : Node<"Adds elements around a tensor, or takes some away"> {
  let Description = "Negative pads crop; they need mode constant.";
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "pads", "starts of all dimensions, then ends">,
                    Attr<String, "mode", "", "", ["constant", "reflect", "edge"]>,
                    Attr<Float, "value", "of mode constant">];
  let Source = "ONNX Pad-13";
}
def Gather : Node<"Slices picked by index along one dimension"> {
  let Description = [{
    The result's shape is the input's with the dimension `axis` replaced by
    the shape of indices (int32 or int64; negative ones count from the end;
    out of range ones are clamped).
  }];
  let Operands = [Operand<"input">, Operand<"indices">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Source = "ONNX Gather-13";
}
def Scatter : Node<"Rows of a matrix replaced by, or combined with, others"> {
  let Description = [{
    input [N, E], indices [M] (int32 or int64; negative ones count from the
    end), updates [M, E], result [N, E]: the input, with row i of updates
    combined into row indices[i], one after the other. Rows out of range are
    left out. Modes but `replace` take floats and integers.
  }];
  let Operands = [Operand<"input">, Operand<"indices">, Operand<"updates">];
  let Attributes = [Attr<String, "mode", "how rows are combined", "",
                         ["replace", "add", "mul", "max", "min"]>];
  let Source = "ONNX ScatterND-18, ScatterElements-18";
}
def TopK : Node<"Indices of the largest elements along the last dimension"> {
  let Description = [{
    input [..., N], result [..., count], int64, the largest element's first; of
    equals the one with the lower index. A NaN is larger than all else.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "count", "how many, at most N">,
                    Attr<Bool, "largest", "false: the smallest elements">];
  let Source = "ONNX TopK-11";
  let ZeroGradient = "the result is an integer";
}
def NonMaxSuppression : Node<"Boxes picked one by one that overlap little"> {
  let Description = [{
    boxes [B, N, 4], float, [top, left, bottom, right] with top <= bottom and
    left <= right; candidates [B, C, K], int64, boxes of the same batch, the
    preferred ones first, what is no index being nothing; threshold a float.
    A candidate is picked where the intersection with none of those picked
    before, divided by the union, is above the threshold. result [B, C, count],
    int64: the first `count` that are picked, and -1 behind them.
  }];
  let Operands = [Operand<"boxes">, Operand<"candidates">,
                  Operand<"threshold">];
  let Attributes = [Attr<Int, "count", "the most to pick of a row">];
  let Source = "ONNX NonMaxSuppression-11";
  let ZeroGradient = "the result is an integer";
}
def BitCast : Node<"The same bits as elements of another kind"> {
  let Description = "Both kinds have the same size; bool is 0 or 1, and only read.";
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Kind, "to", "the result's element kind">];
  let Source = "ONNX BitCast-26";
  let NoGradient = "the bits of a number have no derivative";
}
def Resize : Node<"Scales NHWC images"> {
  let Description = "input [N, H, W, C], result [N, sizes[0], sizes[1], C].";
  let Operands = [Operand<"input">];
  let Attributes = [
    Attr<Ints, "sizes", "[height, width] of the result">,
    Attr<Float, "scaleH", "result height / input height, as the model says it">,
    Attr<Float, "scaleW", "result width / input width">,
    Attr<String, "mode", "", "", ["nearest", "linear"]>,
    Attr<String, "coordinates", "where an output pixel lies in the input", "",
         ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]>,
    Attr<String, "nearestMode", "rounding of mode nearest", "",
         ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>];
  let Source = "ONNX Resize-13";
}
