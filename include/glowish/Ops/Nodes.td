//===- Nodes.td - Nodes of the graph -----------------------------*- td -*-===//

include "OpBase.td"
include "ScalarOps.td"

//===- Storage ------------------------------------------------------------===//

def Save : Node<"Stores a value to an output placeholder"> {
  let Operands = [Operand<"input">,
                  Operand<"output", "a placeholder of the input's type">];
  let Results = [];
  let ExtentRule = "extendSave";
  let HasExtentLowering = 1;
  let ZeroGradient = "it has no result";
  let Traits = [HasSideEffects, ReadsAnyStrides];
  let IRGeneration = "true";
}
def Splat : Node<"A tensor whose elements all have the same value"> {
  let Attributes = [Attr<Kind, "elemKind", "element kind">,
                    Attr<Ints, "shape", "extents">,
                    Attr<Float, "value", "value of all elements">];
  let Traits = [CheapToRecompute];
  let IsExact = "true";
  let IRGeneration = "true";
  let Source = "ONNX ConstantOfShape-9";
  let ZeroGradient = "it has no operand";
}

def DeclareExtents : Node<"The operand with other extents"> {
  let Description = [{
    The result has the elements of the input and the type `resultType`, which
    differs from the input's in extents alone. `counts` are int64 scalars: each
    is the value of the symbol that is the extent of the dimension at the same
    place in `dims`, and at most its bound.
  }];
  let Operands = [Operand<"input">,
                  VariadicOperand<"counts", "the values of symbols">];
  let Attributes = [Attr<Types, "resultType", "a single type">,
                    Attr<Ints, "dims", "one for each count", "{}">];
  let Traits = [View, CheapToRecompute, StatesExtents];
  let IsExact = "true";
  let ExtentRule = "extendDeclareExtents";
  let HasExtentLowering = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
}

include "ControlNodes.td"

//===- Convolution and matrix multiplication ------------------------------===//

def Convolution : Node<"2-D convolution of NHWC images"> {
  let Description = [{
    input [N, H, W, C], filter [OC, KH, KW, C / group], bias [OC], result
    [N, OH, OW, OC] with OH = (H + top + bottom - dilation * (KH - 1) - 1) /
    stride + 1. All kinds but bool and quantized ones; integers wrap.
  }];
  let Operands = [Operand<"input">, Operand<"filter">,
                  OptionalOperand<"bias">];
  let Attributes = [Attr<Ints, "strides", "[vertical, horizontal]">,
                    AxesAttr<ImagePads, Ints, "pads",
                             "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">];
  let Traits = [SuperLinear];
  let AxisRule = "followConvolution";
  let ExtentRule = "extendConvolution";
  let Filler = "fillWindowsWithZero";
  let HasVariableRoles = 1;
  let HasQuantizedWeights = 1;
  let Source = "ONNX Conv-11";
  let MultiplyAdds = "countElements(op.getFilter().getShape().drop_front())";
}
def ConvolutionInteger : Node<"2-D convolution of NHWC images of 8-bit integers"> {
  let Description = [{
    input [N, H, W, C], filter [OC, KH, KW, C / group], each int8 or uint8;
    zeroPoint: a scalar of the input's kind; filterZeroPoint: of the filter's, a
    scalar or [OC]; both absent for 0; bias [OC] of int32. The result is int32
    [N, OH, OW, OC], the Convolution of input - zeroPoint with filter -
    filterZeroPoint: what lies outside of the image adds nothing. Sums wrap.
  }];
  let Operands = [Operand<"input">, Operand<"filter">,
                  OptionalOperand<"zeroPoint">,
                  OptionalOperand<"filterZeroPoint">, OptionalOperand<"bias">];
  let Attributes = Convolution.Attributes;
  let Traits = [SuperLinear];
  let AxisRule = "followConvolutionInteger";
  let ExtentRule = "extendConvolution";
  let HasExtentLowering = 1;
  let IsExact = "true";
  let Source = "ONNX ConvInteger-10";
  let ZeroGradient = "the result is an integer";
  let MultiplyAdds = Convolution.MultiplyAdds;
}
def ConvolutionFilterGradient
    : Node<"Gradient of a Convolution with respect to its filter"> {
  let Description = [{
    input [N, H, W, C] is that of the Convolution; gradient [N, OH, OW, OC] is
    the adjoint of its result. result [OC, KH, KW, C / group]: for each filter
    tap the sum over all images and pixels of gradient * input. OH and OW are
    those of the Convolution. float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, Operand<"gradient">];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">];
  let MultiplyAdds = "countElements(op.getGradient().getShape().drop_back())";
  let Traits = [SuperLinear];
}
def ConvTranspose : Node<"Transposed 2-D convolution of NHWC images"> {
  let Description = [{
    Each element of input [N, H, W, C] is multiplied by filter
    [C, KH, KW, OC / group] and added to a window of result [N, OH, OW, OC]; the
    windows are `strides` apart. bias [OC]. OH = (H - 1) * stride +
    dilation * (KH - 1) + 1 - top - bottom + outputPad. float16, bfloat16, float
    and double.
  }];
  let Operands = [Operand<"input">, Operand<"filter">, OptionalOperand<"bias">];
  let Attributes = [Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right], cropped">,
                    Attr<Ints, "outputPads", "[bottom, right], appended">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">];
  let Traits = [SuperLinear];
  let ExtentRule = "extendConvTranspose";
  let Filler = "fillWindowsWithZero";
  let HasLowering = 1;
  let Source = "ONNX ConvTranspose-11";
}
def MatMul : Node<"Matrix multiplication, batched over leading dimensions"> {
  let Description = [{
    lhs [..., M, K], rhs [..., K, N], result [..., M, N]. The leading dimensions
    broadcast. Both operands have at least rank 2.
  }];
  let Operands = [Operand<"lhs">, Operand<"rhs">];
  let Traits = [SuperLinear];
  let AxisRule = "followMatMul";
  let ExtentRule = "extendMatMul";
  let Filler = "fillDepthWithZero";
  let HasVariableRoles = 1;
  let HasQuantizedWeights = 1;
  let Source = "ONNX MatMul-13";
  let MultiplyAdds = "op.getLhs().getShape().back()";
}
def MatMulInteger : Node<"MatMul of 8-bit integers with 32-bit sums"> {
  let Description = [{
    lhs [..., M, K], rhs [..., K, N], each int8 or uint8; rhsZeroPoint: of rhs'
    kind, a scalar or [N], absent for 0. The result is int32 [..., M, N], the
    MatMul of lhs and rhs - rhsZeroPoint. The leading dimensions broadcast. Both
    matrices have at least rank 2. Sums wrap.
  }];
  let Operands = [Operand<"lhs">, Operand<"rhs">,
                  OptionalOperand<"rhsZeroPoint">];
  let Traits = [SuperLinear];
  let AxisRule = "followMatMulInteger";
  let ExtentRule = "extendMatMul";
  let Filler = "fillDepthWithZero";
  let IsExact = "true";
  let Source = "ONNX MatMulInteger-10";
  let ZeroGradient = "the result is an integer";
  let MultiplyAdds = MatMul.MultiplyAdds;
}
def MatMulNBits : Node<"MatMul with weights of 8 or 4 bits, which have scales"> {
  let Description = [{
    lhs [..., M, K] of float, float16 or bfloat16; rhs [K, N] of int8, uint8,
    int4 or uint4; scales: float [K / block, N], rounded up; zeroPoints: of rhs'
    kind and of the scales' shape, absent for 0. The result [..., M, N], of lhs'
    kind, is the MatMul of lhs and (rhs - zeroPoints) * scales, where row k of
    rhs has row k / block of scales and zeroPoints. Sums are float.

    Or lhs is int8 and stands for lhs * lhsScales, where element k of a row has
    element k / block of the row's scales; lhsScales: float
    [..., M, K / block], rounded up. The sums of a block are integers then, and
    the result is float.
  }];
  let Operands = [Operand<"lhs">, Operand<"rhs">, Operand<"scales">,
                  OptionalOperand<"zeroPoints">, OptionalOperand<"lhsScales">];
  let Attributes = [Attr<Int, "block", "number of rows of rhs per scale">];
  let Traits = [SuperLinear];
  let AxisRule = "followMatMulNBits";
  let ExtentRule = "extendMatMul";
  let Filler = "fillDepthWithZero";
  let HasLowering = 1;
  let Source = "MatMulNBits of com.microsoft";
  let NoGradient = "it is created by the optimizer, after differentiation";
  let MultiplyAdds = MatMul.MultiplyAdds;
}
def FullyConnected : Node<"input * weights + bias"> {
  let Description = [{
    input [M, K], weights [K, N], bias [N], result [M, N]. Lowered to MatMul and
    Add.
  }];
  let Operands = [Operand<"input">, Operand<"weights">, Operand<"bias">];
  let Traits = [SuperLinear];
  let AxisRule = "followFullyConnected";
  let ExtentRule = "extendMatMul";
  let Filler = "fillDepthWithZero";
  let HasLowering = 1;
  let HasVariableRoles = 1;
  let HasQuantizedWeights = 1;
}

def Attention : Node<"softmax(query * key^T * scale + mask) * value"> {
  let Description = [{
    query [..., M, D], key [..., N, D], value [..., N, E], result [..., M, E],
    all with the same leading dimensions. The softmax is over the keys. mask
    broadcasts to [..., M, N]. A query whose scores are all -infinity, which the
    mask or `causal` leaves no key, has the result 0. float16, bfloat16, float
    and double.
  }];
  let Operands = [Operand<"query">, Operand<"key">, Operand<"value">,
                  OptionalOperand<"mask", "added to the scaled scores">];
  let Attributes = [Attr<Float, "scale", "factor of the scores">,
                    Attr<Bool, "causal",
                         "query m attends only to keys 0 ... m + N - M">,
                    Attr<Bool, "nanIfMasked",
                         "the result of a query without a key is NaN, as "
                         "Softmax has it, not 0", "false">];
  let Traits = [SuperLinear];
  let AxisRule = "followAttention";
  let ExtentRule = "extendAttention";
  let HasExtentLowering = 1;
  let HasLowering = 1;
  let Source = "Vaswani et al., Attention Is All You Need, 2017";
  let MultiplyAdds = [{op.getKey().getShape().drop_back().back() *
                       (op.getQuery().getShape().back() +
                        op.getValue().getShape().back()) /
                       op.getValue().getShape().back()}];
}

def AttentionInteger : Node<"Attention of 8-bit integers with 32-bit sums"> {
  let Description = [{
    query [..., M, D], key [..., N, D], value [..., N, E], each int8 or uint8, all
    with the same leading dimensions. The scores are scale * (sum over D of (query -
    queryZeroPoint) * key) + mask, in float; a zero point of key would add the
    same to all scores of a query. A weight of their softmax over the keys becomes
    the integer w = min(round(weight / weightScale), maxWeight), to even at a half;
    NaN becomes 0. The result is int32 [..., M, E], the sums of w * (value -
    valueZeroPoint), which wrap. mask broadcasts to [..., M, N].
  }];
  let Operands = [Operand<"query">, Operand<"key">, Operand<"value">,
                  OptionalOperand<"mask", "float, added to the scaled scores">];
  let Attributes = [Attr<Float, "scale", "factor of the scores">,
                    Attr<Bool, "causal",
                         "query m attends only to keys 0 ... m + N - M">,
                    Attr<Int, "queryZeroPoint", "of query's kind">,
                    Attr<Int, "valueZeroPoint", "of value's kind">,
                    Attr<Float, "weightScale", "what a weight of 1 stands for">,
                    Attr<Int, "maxWeight", "the largest integer weight, to 255">];
  let Traits = [SuperLinear];
  let AxisRule = "followAttention";
  let ExtentRule = "extendAttention";
  let HasLowering = 1;
  let Source = "Vaswani et al., Attention Is All You Need, 2017";
  let ZeroGradient = "the result is an integer";
  let MultiplyAdds = Attention.MultiplyAdds;
}

//===- Pooling ------------------------------------------------------------===//

class Pool<string summary> : Node<summary> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    AxesAttr<ImagePads, Ints, "pads",
                             "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">];
  let Description = "input [N, H, W, C], result [N, OH, OW, C].";
}
def MaxPool : Pool<"Maximum of each window, without the padding"> {
  let Description = [{
    input [N, H, W, C], result [N, OH, OW, C]. NaN where the window has one.
  }];
  let Traits = [SuperLinear];
  let IsExact = "true";
  let AxisRule = "followWindows";
  let ExtentRule = "extendWindows";
  let Filler = "fillWindowsWithLowest";
  let MovesQuantized = 1;
  let Source = "ONNX MaxPool-12";
}
def AvgPool : Pool<"Mean of each window"> {
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    AxesAttr<ImagePads, Ints, "pads",
                             "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Bool, "countIncludePads",
                         "padding counts in the divisor">];
  let Traits = [SuperLinear];
  let AxisRule = "followWindows";
  let ExtentRule = "extendWindows";
  let HasExtentLowering = 1;
  let ReadsQuantized = 1;
  let Source = "ONNX AveragePool-19";
}
def MaxPoolGradient : Pool<"Gradient of a MaxPool with respect to its input"> {
  let Description = [{
    input [N, H, W, C] is that of the MaxPool; gradient [N, OH, OW, C] is the
    adjoint of its result. result [N, H, W, C]: each element of gradient is
    added at the maximum of its window, the first in row-major order if there
    are several. NaN compares greater than all numbers. float16, bfloat16, float
    and double.
  }];
  let Operands = [Operand<"input">, Operand<"gradient">];
  let NoGradient = "second-order gradients of MaxPool are not supported";
}
def AvgPoolGradient : Pool<"Gradient of an AvgPool with respect to its input"> {
  let Description = [{
    gradient [N, OH, OW, C] is the adjoint of the AvgPool's result. result
    [N, H, W, C]: each element of gradient, divided by the divisor of its mean,
    is added to all elements of its window. float16, bfloat16, float and double.
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
  let Description = [{
    input [N, H, W, C], result [N, 1, 1, C]. Lowered to Reduce.
  }];
  let TypeRule = "inferGlobalPool";
  let ExtentRule = "extendGlobalPool";
}
def GlobalAvgPool : GlobalPool<"Mean of each channel"> {
  let HasExtentLowering = 1;
  let HasLowering = 1;
  let ReadsQuantized = 1;
  let Source = "ONNX GlobalAveragePool-1";
}
def GlobalMaxPool : GlobalPool<"Maximum of each channel"> {
  let Filler = "fillWindowsWithLowest";
  let IsExact = "true";
  let HasLowering = 1;
  let Source = "ONNX GlobalMaxPool-1";
}

//===- Normalization and reduction ----------------------------------------===//

def BatchNormalization : Node<"Normalization per channel by given statistics"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias. The last four
    operands are [C], where C is the input's extent along `axis`. Lowered to Mul
    and Add.
  }];
  let Operands = [AxesOperand<"input">, Operand<"scale">, Operand<"bias">,
                  Operand<"mean">, Operand<"variance">];
  let Attributes = [AxesAttr<Axis, Int, "axis",
                             "the dimension of the channels">,
                    Attr<Float, "epsilon", "added to the variance">];
  let Traits = [CheapToRecompute, HasPole, PermutesAxes];
  let ExtentRule = "extendFirst";
  let Filler = "fillNothing";
  let HasLowering = 1;
  let Source = "ONNX BatchNormalization-15";
}
def LocalResponseNormalization
    : Node<"Normalization over neighbouring channels"> {
  let Description = [{
    x / (bias + alpha / size * sum of squares)^beta, where the sum is over the
    channels c - floor((size - 1) / 2) ... c + ceil((size - 1) / 2) of the last
    dimension.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "size", "number of channels of the window">,
                    Attr<Float, "alpha", "">, Attr<Float, "beta", "">,
                    Attr<Float, "bias", "">];
  let Traits = [HasPole, SuperLinear];
  let AxisRule = "followAllButLast";
  let ExtentRule = "extendFirst";
  let Filler = "fillLastWithZero";
  let Source = "ONNX LRN-13";
}
def LayerNormalization : Node<"Normalization over the trailing dimensions"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias; if subtractMean is
    false, input / sqrt(mean of squares + epsilon) * scale + bias. Mean and
    variance are taken over the dimensions from `axis` on, which are the shape
    of scale and bias. In the lowered graph `axis` is the last dimension.
    float16, bfloat16, float and double.
  }];
  let Operands = [Operand<"input">, OptionalOperand<"scale">,
                  OptionalOperand<"bias">];
  let Attributes = [Attr<Int, "axis", "the first dimension normalized over">,
                    Attr<Float, "epsilon", "added to the variance">,
                    Attr<Bool, "subtractMean", "false: RMS normalization">];
  let Traits = [CheapToRecompute, HasPole];
  let AxisRule = "followBeforeAxis";
  let ExtentRule = "extendFirst";
  let HasExtentLowering = 1;
  let HasLowering = 1;
  let Source = "ONNX LayerNormalization-17, RMSNormalization-23";
}
def GroupNormalization : Node<"Normalization over groups of channels"> {
  let Description = [{
    (input - mean) / sqrt(variance + epsilon) * scale + bias. Mean and variance
    are taken, for each index of dimension 0 and each of `groups` groups of
    consecutive channels, over the channels of the group and all dimensions
    other than 0 and `axis`. With as many groups as channels it is instance
    normalization. Scale and bias have one element per channel. The CPU back end
    supports `axis` at the last dimension only. float16, bfloat16, float and
    double.
  }];
  let Operands = [AxesOperand<"input">, OptionalOperand<"scale">,
                  OptionalOperand<"bias">];
  let Attributes = [AxesAttr<Axis, Int, "axis",
                             "the dimension of the channels, not 0">,
                    Attr<Int, "groups", "divisor of the number of channels">,
                    Attr<Float, "epsilon", "added to the variance">];
  let Traits = [HasPole, PermutesAxes];
  let FixedDims = [0];
  let ExtentRule = "extendGroupNormalization";
  let HasExtentLowering = 1;
  let HasLowering = 1;
  let Source = "ONNX InstanceNormalization-6, GroupNormalization-21";
  let NoGradient = "it is created by the optimizer, after differentiation";
}
def Dropout : Node<"Drops random elements in training; else the identity"> {
  let Description = [{
    The identity, which lowering removes. In a training step each element is 0
    with probability `ratio`, drawn anew in each step, and divided by 1 - ratio
    otherwise. float16, bfloat16, float and double.
  }];
  let Operands = [AxesOperand<"input">];
  let Attributes = [Attr<Float, "ratio", "at least 0, less than 1">];
  let Traits = [PermutesAxes];
  let ExtentRule = "extendFirst";
  let Filler = "fillNothing";
  let HasLowering = 1;
  let Source = "ONNX Dropout-13";
}
def Loss : Node<"Compares with expected values in training; else the identity"> {
  let Description = [{
    The identity of `input`, which lowering removes. The loss of a training step
    is the sum of those of all its Loss nodes, each a mean over the elements
    (softmax-cross-entropy: the samples) of x = `input` and y = `expected`:

    | loss | |
    |---|---|
    | softmax-cross-entropy | -log softmax(x)[y] of class indices y, int32 or int64 with the shape of x without the last dimension, the classes (or, of rank 3 or more, without dimension 1); or -sum(y * log softmax(x)) |
    | binary-cross-entropy | -(y log s(x) + (1 - y) log(1 - s(x))), s the sigmoid |
    | mean-squared-error | (x - y)^2, whose gradient is 2 (x - y) |
    | l1 | abs(x - y) |
    | huber | d^2 / 2 where d = abs(x - y) is at most `delta`, else delta * (d - delta / 2) |

    But for indices, `expected` has the type of `input`: float16, bfloat16, float
    or double.
  }];
  let Operands = [Operand<"input">, Operand<"expected">];
  let Attributes = [Attr<String, "loss", "what is computed in training", "",
                         ["softmax-cross-entropy", "binary-cross-entropy",
                          "mean-squared-error", "l1", "huber"]>,
                    Attr<Float, "delta", "of huber, greater than 0", "1.0">];
  let HasLowering = 1;
  let Source = "Glow Regression, CrossEntropyLoss, SigmoidCrossEntropyWithLogits";
}
def Softmax : Node<"e^x / sum(e^x) along one dimension"> {
  let Description = "In the lowered graph `axis` is the last dimension.";
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">];
  let Traits = [CheapToRecompute, PermutesAxes];
  let AxisRule = "followBeforeAxis";
  let ExtentRule = "extendFirst";
  let Filler = "fillSoftmax";
  let HasLowering = 1;
  let Source = "ONNX Softmax-13";
}
def LogSoftmax : Node<"x - log(sum(e^x)) along one dimension"> {
  let Description = "Lowered to Reduce and element-wise nodes.";
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">];
  let Traits = [CheapToRecompute, PermutesAxes];
  let ExtentRule = "extendFirst";
  let Filler = "fillSoftmax";
  let HasLowering = 1;
  let Source = "ONNX LogSoftmax-13";
  let TypeRule = "inferSoftmax";
}
def Reduce : Node<"Reduction along some dimensions"> {
  let Description = [{
    Along dimensions without elements (a zero extent) sum is 0, prod is 1, max
    is the lowest value of the kind (-infinity of floats), min the highest, and
    mean NaN; a mean of no integers is refused. Any NaN makes the result NaN, of
    max and min, too. A mean of integers is rounded towards 0 and supported for
    64-bit integers only, as narrower sums would wrap.
  }];
  let Operands = [AxesOperand<"input">];
  let Attributes = [Attr<String, "mode", "reduction operator", "",
                         ["sum", "mean", "max", "min", "prod"]>,
                    AxesAttr<AxisList, Ints, "axes",
                             "ascending, counted from 0">,
                    Attr<Bool, "keepDims", "reduced dimensions are kept as 1">];
  let Traits = [PermutesAxes];
  let IsExact = "isExactReduction(op)";
  let AxisRule = "followReduce";
  let ExtentRule = "extendReduce";
  let HasExtentLowering = 1;
  let Source = "ONNX ReduceSum-13, ReduceMean-13, ReduceMax-13, ...";
}
def ReduceInteger : Node<"Sums of 8-bit integers along some dimensions"> {
  let Description = [{
    input: int8 or uint8. The result is int32, the sum along `axes`, which wraps;
    0 along dimensions without elements.
  }];
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<AxisList, Ints, "axes",
                             "ascending, counted from 0">,
                    Attr<Bool, "keepDims", "reduced dimensions are kept as 1">];
  let Traits = [PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followReduceInteger";
  let ExtentRule = "extendReduceInteger";
  let Filler = "fillReduceInteger";
  let ZeroGradient = "the result is an integer";
}
def CumSum : Node<"Cumulative sums along one dimension"> {
  let Description = [{
    Element i along `axis` of the result is the sum of the input's elements
    0 ... i, with `reverse` of those from i to the last; with `exclusive`
    without element i itself. Floats and integers, which wrap. Half precisions
    are rounded once, at the end.
  }];
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">,
                    Attr<Bool, "exclusive", "sums are of what is before">,
                    Attr<Bool, "reverse", "sums begin at the last element">];
  let Traits = [CheapToRecompute, PermutesAxes];
  let IsExact = "!isFloatKind(op.getInput().getKind())";
  let AxisRule = "followBeforeAxis";
  let ExtentRule = "extendFirst";
  let Filler = "fillCumSum";
  let Source = "ONNX CumSum-14";
}
def ArgMax : Node<"Index of the maximum along one dimension"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">,
                    Attr<Bool, "keepDims", "the dimension is kept as 1">,
                    Attr<Bool, "selectLast", "of equal maxima the last one">];
  let Description = [{
    The result is int64. NaN compares greater than all numbers, and equal to NaN.
  }];
  let IsExact = "true";
  let ExtentRule = "extendArgMax";
  let HasExtentLowering = 1;
  let Source = "ONNX ArgMax-13";
  let ZeroGradient = "the result is an integer";
}

//===- Data movement ------------------------------------------------------===//

def Concat : Node<"Concatenates tensors along one dimension"> {
  let Operands = [VariadicAxesOperand<"inputs", "at least one">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followConcat";
  let ExtentRule = "extendConcat";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let MovesQuantized = 1;
  let Source = "ONNX Concat-13";
}
def Slice : Node<"Extracts a strided slice"> {
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<PerAxis, Ints, "starts",
                             "first index of each dimension">,
                    AxesAttr<ResultExtents, Ints, "sizes",
                             "the result's extents">,
                    AxesAttr<PerAxis, Ints, "steps", "may be negative, not 0">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let AxisRule = "followSlice";
  let ExtentRule = "extendSlice";
  let Filler = "fillNothing";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Slice-13";
}
def Transpose : Node<"Permutes dimensions"> {
  let Description = [{
    Dimension i of the result is dimension permutation[i] of the input.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "permutation", "a permutation of 0 ... rank-1">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute];
  let IsExact = "true";
  let AxisRule = "followTranspose";
  let ExtentRule = "extendTranspose";
  let Filler = "fillNothing";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let Source = "ONNX Transpose-13";
}
def Reshape
    : Node<"Reinterprets the row-major elements as another shape"> {
  let Operands = [Operand<"input">];
  let Attributes = [AxesAttr<ResultExtents, Ints, "shape",
                             "extents of the result">];
  let Traits = [StaticDataMovement, View, CheapToRecompute];
  let AxisRule = "followReshape";
  let ExtentRule = "extendReshape";
  let Filler = "fillNothing";
  let IsExact = "true";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Reshape-14";
}
def Broadcast : Node<"Broadcasts to a shape by NumPy's rules"> {
  let Operands = [Operand<"input">];
  let Attributes = [AxesAttr<ResultExtents, Ints, "shape",
                             "shape of the result">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute];
  let AxisRule = "followBroadcast";
  let ExtentRule = "extendBroadcast";
  let Filler = "fillNothing";
  let IsExact = "true";
  let HasCanonicalization = 1;
  let IRGeneration = "true";
  let TracesElements = 1;
  let Source = "ONNX Expand-13";
}
def Tile : Node<"Repeats a tensor along its dimensions"> {
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Ints, "repeats", "one count per dimension">];
  let Traits = [StaticDataMovement, CheapToRecompute];
  let IsExact = "true";
  let ExtentRule = "extendTile";
  let Filler = "fillNothing";
  let HasLowering = 1;
  let IRGeneration = "true";
  let Source = "ONNX Tile-13";
}
def Pad : Node<"Pads or crops a tensor"> {
  let Description = "Negative pads crop; they need mode constant.";
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<PerAxisPads, Ints, "pads",
                             "before, then after each dimension">,
                    Attr<String, "mode", "", "",
                         ["constant", "reflect", "edge"]>,
                    Attr<Float, "value", "padding of mode constant">];
  let Traits = [StaticDataMovement, ReadsAnyStrides, CheapToRecompute,
                  PermutesAxes];
  let IsExact = "true";
  let ExtentRule = "extendPad";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let HasLowering = 1;
  let IRGeneration = [{op.getMode() == "constant"}];
  let Source = "ONNX Pad-13";
}
def Gather : Node<"Selects slices by index along one dimension"> {
  let Description = [{
    The result has the input's shape with the dimension `axis` replaced by the
    shape of indices (int32 or int64). Negative indices count from the end;
    indices out of range are clamped.
  }];
  let Operands = [Operand<"input">, Operand<"indices">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Traits = [DynamicDataMovement];
  let IsExact = "true";
  let ExtentRule = "extendGather";
  let HasExtentLowering = 1;
  let HasCanonicalization = 1;
  let TracesElements = 1;
  let Source = "ONNX Gather-13";
}
def Scatter : Node<"Updates rows of a matrix by index"> {
  let Description = [{
    input [N, E], indices [M] (int32 or int64; negative ones count from the
    end), updates [M, E], result [N, E]: the input, with row i of updates
    combined into row indices[i], in the order of i. Updates with an index out
    of range are ignored. All modes but `replace` are for floats and integers; of
    max and min, the result is NaN if an element is.
  }];
  let Operands = [Operand<"input">, Operand<"indices">, Operand<"updates">];
  let Attributes = [Attr<String, "mode", "how updates are combined", "",
                         ["replace", "add", "mul", "max", "min"]>];
  let Traits = [DynamicDataMovement];
  let IsExact = [{op.getMode() == "replace" ||
                   !isFloatKind(op.getInput().getKind())}];
  let ExtentRule = "extendScatter";
  let HasExtentLowering = 1;
  let Source = "ONNX ScatterND-18, ScatterElements-18";
}
def DynamicUpdateSlice : Node<"Replaces a slice that begins at an index"> {
  let Description = [{
    The input, with `update` in place of the elements from index `start` on
    along dimension `axis`. The update has the input's shape, but for that
    dimension, of which it has at most as much. start: int32 or int64, one
    element, clamped so that the update lies in the input.
  }];
  let Operands = [Operand<"input">, Operand<"update">, Operand<"start">];
  let Attributes = [Attr<Int, "axis", "dimension, counted from 0">];
  let Traits = [DynamicDataMovement];
  let IsExact = "true";
  let AxisRule = "followDynamicUpdateSlice";
  let ExtentRule = "extendDynamicUpdateSlice";
  let HasExtentLowering = 1;
  let IRGeneration = "true";
  let Source = "StableHLO dynamic_update_slice; ONNX TensorScatter-24";
}
def TopK : Node<"Indices of the largest elements along the last dimension"> {
  let Description = [{
    input [..., N], result [..., count], int64, in descending order of the
    elements (ascending if not `largest`). Of equal elements the one with the
    lower index comes first. NaN compares greater than all numbers.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Int, "count", "number of elements, at most N">,
                    Attr<Bool, "largest", "false: the smallest elements">];
  let IsExact = "true";
  let ExtentRule = "extendTopK";
  let Filler = "fillTopK";
  let Source = "ONNX TopK-11";
  let ZeroGradient = "the result is an integer";
}
def NonMaxSuppression : Node<"Greedy selection of boxes that overlap little"> {
  let Description = [{
    boxes [B, N, 4], float, [top, left, bottom, right] with top <= bottom and
    left <= right. candidates [B, C, K], int64: indices of boxes of the same
    batch in descending order of preference; values that are no index are
    skipped. threshold: a float. A candidate is selected unless its intersection
    over union with a box selected before is above the threshold. result
    [B, C, count], int64: the indices of the first `count` selected boxes,
    followed by -1.
  }];
  let Operands = [Operand<"boxes">, Operand<"candidates">,
                  Operand<"threshold">];
  let Attributes = [Attr<Int, "count", "maximum number of boxes per class">];
  let ExtentRule = "extendNonMaxSuppression";
  let HasExtentLowering = 1;
  let Source = "ONNX NonMaxSuppression-11";
  let ZeroGradient = "the result is an integer";
}
def BitCast : Node<"Reinterprets the bits as another element kind"> {
  let Description = [{
    Both kinds have the same size. A bool is read as 0 or 1 and cannot be the
    result.
  }];
  let Operands = [Operand<"input">];
  let Attributes = [Attr<Kind, "to", "the result's element kind">];
  let Traits = [CheapToRecompute];
  let IsExact = "true";
  let ExtentRule = "extendFirst";
  let Filler = "fillNothing";
  let Source = "ONNX BitCast-26";
  let NoGradient = "reinterpreting bits is not differentiable";
}
def Resize : Node<"Resizes NHWC images"> {
  let Description = "input [N, H, W, C], result [N, sizes[0], sizes[1], C].";
  let Operands = [Operand<"input">];
  let Attributes = [
    Attr<Ints, "sizes", "[height, width] of the result">,
    Attr<Float, "scaleH", "result height / input height, given by the model">,
    Attr<Float, "scaleW", "result width / input width">,
    Attr<String, "mode", "", "", ["nearest", "linear"]>,
    Attr<String, "coordinates", "mapping from result to input coordinates", "",
         ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]>,
    Attr<String, "nearestMode", "rounding of coordinates in mode nearest", "",
         ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]>];
  let IsExact = [{op.getMode() == "nearest"}];
  let ExtentRule = "extendResize";
  let Filler = "fillNothing";
  let HasCanonicalization = 1;
  let Source = "ONNX Resize-13";
}
