//===- MatrixNodes.td - Convolutions and matmuls -----------------*- td -*-===//
//
// Nodes that multiply matrices, convolutions and attention among them, a part of
// Nodes.td.
//
//===----------------------------------------------------------------------===//

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
  let Filler = "fillConvolution";
  let HasExtentLowering = 1;
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
  let AxisRule = "followOutermost";
  let ExtentRule = "extendConvTranspose";
  let Filler = "fillImagesWithZero";
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
  let Filler = "boundDepth";
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
  let ExtentRule = "extendMatMulNBits";
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
  let Filler = "boundKeys";
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
  let HasExtentLowering = 1;
  let HasLowering = 1;
  let Source = "Vaswani et al., Attention Is All You Need, 2017";
  let ZeroGradient = "the result is an integer";
  let MultiplyAdds = Attention.MultiplyAdds;
}
