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

class StatedExtents<string summary> : Node<summary> {
  let Operands = [Operand<"input">,
                  VariadicOperand<"counts", "the values of symbols">];
  let Attributes = [Attr<Types, "resultType", "a single type">,
                    Attr<Ints, "dims", "one for each count", "{}">];
  let IsExact = "true";
  let HasExtentLowering = 1;
}
def DeclareExtents : StatedExtents<"The operand with other extents"> {
  let Description = [{
    The result has the elements of the input and the type `resultType`, which
    differs from the input's in extents alone. `counts` are int64 scalars: each
    is the value of the symbol that is the extent of the dimension at the same
    place in `dims`, and at most its bound.
  }];
  let Traits = [View, CheapToRecompute, StatesExtents];
  let ExtentRule = "extendDeclareExtents";
  let IRGeneration = "true";
  let TracesElements = 1;
  let HasCanonicalization = 1;
}
def Repack : StatedExtents<"The elements in dimensions that runs decide"> {
  let Description = [{
    The result has the type `resultType` and the elements of the input, in
    row-major order of the extents, as a Reshape has them in that of the bounds.
    Both have as many elements in each run. `counts` are those of
    DeclareExtents. Becomes a Reshape where all elements keep their places for
    all extents, and a Gather where they don't. One that has larger bounds for
    the same extents stays.
  }];
  let Traits = [StatesExtents];
  let ExtentRule = "extendRepack";
  let IRGeneration = "true";
  let HasLowering = 1;
  let HasCanonicalization = 1;
}

include "ControlNodes.td"

include "MatrixNodes.td"

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
  let Filler = "fillMaxPool";
  let HasExtentLowering = 1;
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
  let Filler = "fillImagesWithLowest";
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
  let AxisRule = "followOutermost";
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
  let Filler = "boundSoftmax";
  let HasLowering = 1;
  let Source = "ONNX Softmax-13";
}
def LogSoftmax : Node<"x - log(sum(e^x)) along one dimension"> {
  let Description = "Lowered to Reduce and element-wise nodes.";
  let Operands = [AxesOperand<"input">];
  let Attributes = [AxesAttr<Axis, Int, "axis", "dimension, counted from 0">];
  let Traits = [CheapToRecompute, PermutesAxes];
  let ExtentRule = "extendFirst";
  let Filler = "fillLogSoftmax";
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
  let Filler = "fillReduce";
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
  let AxisRule = "followArgMax";
  let ExtentRule = "extendArgMax";
  let HasExtentLowering = 1;
  let Source = "ONNX ArgMax-13";
  let ZeroGradient = "the result is an integer";
}

include "DataMovementNodes.td"

//===- Decision trees -----------------------------------------------------===//

def TreeEnsemble : Node<"Leaves that rows reach in decision trees, combined"> {
  let Description = [{
    input [N, F], float or double. The nodes of all trees are in one table, each
    before its children. `features` has the column that an inner node compares,
    and -1 for a leaf. From inner node i a row goes on to node children[i] if
    its element is at most values[i], and to the node behind that one otherwise,
    as NaN always does. Without `weights`, values[i] is the weight of leaf i;
    else leaf i has row children[i] of weights [L, W], and its value is of no
    use. `roots` has the first node of each tree. The first groups[0] trees are
    combined in the first W columns of the result, 1 without weights, the next
    groups[1] trees in the next ones, and so on. result [N, groups * W]: the
    weights of the leaves that the row reaches, added one tree after the other
    from 0, or their maximum or minimum; NaN if a weight is. Without a tree, sum
    is 0, max -infinity and min infinity.
  }];
  let Operands = [Operand<"input">,
                  Operand<"values", "[nodes], of the input's kind">,
                  OptionalOperand<"weights", "of the input's kind">];
  let Attributes = [Attr<Ints, "features", "a column of each node, or -1">,
                    Attr<Ints, "children",
                         "the first of two nodes, or a row of the weights">,
                    Attr<Ints, "roots", "the first node of each tree">,
                    Attr<Ints, "groups", "number of trees of each group">,
                    Attr<String, "mode", "how leaves are combined", "",
                         ["sum", "max", "min"]>];
  let Traits = [SuperLinear];
  let IsExact = [{op.getMode() != "sum"}];
  let HasLowering = 1;
  let AxisRule = "followAllButLast";
  let ExtentRule = "extendTreeEnsemble";
  let Filler = "fillNothing";
  let Source = "ONNX TreeEnsemble-5 of ai.onnx.ml";
  let NoGradient = "the result is constant between the values that are compared";
}
