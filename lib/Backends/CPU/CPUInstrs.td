//===- CPUInstrs.td - Instructions of the CPU back end -----------*- td -*-===//
//
// Kernel selection turns instructions with weights into these, whose weights are
// packed in the order in which the kernel reads them.
//
//===----------------------------------------------------------------------===//

include "Instrs.td"

//===- Restrictions -------------------------------------------------------===//

def : SupportsFor<AttentionInstr>;
def : SupportsFor<AttentionIntegerInstr>;
def : SupportsFor<GroupNormalizationInstr>;
def : SupportsFor<MatMulNBitsInstr>;

//===- Replaced by kernel selection ---------------------------------------===//

def : Replaces<ConvolutionInstr>;
def : Replaces<ConvolutionIntegerInstr>;
def : Replaces<MatMulIntegerInstr>;
def : Replaces<MatMulNBitsInstr>;

//===- Instructions -------------------------------------------------------===//

let Dialect = "CPU" in {

let Strided = ["result", "input", "fused"], InPlace = ["fused"] in
def CPUConvolution : Instr<"Convolution with packed weights"> {
  let Description = [{
    The Convolution of the same attributes, or a MatMul as one over a 1 x rows
    image. The filter is packed for the algorithm, which has the form of
    tuning files, `winograd 4x4 32`. int8-slices has scales, which the sums of the
    output channels are multiplied with. `dot`, `amx` and `depthwise-bytes` multiply
    8-bit integers, perhaps widened to 16 bits, and have sums and a bias of int32;
    `dot-bfloat16` and `amx-bfloat16` multiply bfloat16, with sums of float. A bias
    of rank 3 differs by the taps that lie in the image: [ranges of rows, ranges of
    columns, OC]. `dual` and `dual-depthwise` take a zero point, which they subtract
    from 8-bit integers when they widen them, and `reduction` one that is what
    lies outside of the image.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">, Operand<"filter">,
                  OptionalOperand<"scales", "float [OC]">,
                  OptionalOperand<"bias">,
                  OptionalOperand<"zeroPoint", "one of the input's kind">]
                 # [Fused];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">,
                    Attr<CustomKind<"ConvolutionCandidate">, "algorithm",
                         "with its parameters">,
                    EpilogueAttr];
  let MultiplyAdds = [{countElements(op.getKernels()) *
                       op.getInput().getShape().back() / op.getGroup()}];
}

let Strided = ["result", "lhs", "fused"], InPlace = ["fused"] in
def CPUMatMulNBits : Instr<"MatMulNBits with packed weights"> {
  let Description = [{
    The MatMulNBits of the same operands and attributes. Weights, scales and zero
    points are constants in the order in which the kernel reads them, which differs
    where lhs is int8; weights of 4 bits lie side by side.
  }];
  let Operands = [OutOperand<"result">, Operand<"lhs">,
                  Operand<"weights", "int8, 1-D">,
                  Operand<"scales", "float, 1-D">,
                  OptionalOperand<"zeroPoints", "int8, 1-D">,
                  OptionalOperand<"lhsScales">] # [Fused];
  let Attributes = [Attr<Kind, "weightKind", "int8, uint8, int4 or uint4">,
                    Attr<Int, "block", "number of rows of weights per scale">,
                    EpilogueAttr];
  let MultiplyAdds = "op.getLhs().getShape().back()";
}

let Strided = ["weights"] in
def CPUSliceWeights : Instr<"Weights as int8 slices, while the program runs"> {
  let Description = [{
    What a CPUConvolution with int8-slices reads as filter and scales, of weights
    [KH, KW, C, OC] that are known only when the program runs. float.
  }];
  let Operands = [OutOperand<"slices", "int8, 1-D in the kernel's order">,
                  OutOperand<"scales", "float [OC]">,
                  Operand<"weights", "[KH, KW, C, OC]">];
}

let Strided = ["input"] in
def CPUGroupStatistics : Instr<"Mean and variance of parts of images"> {
  let Description = [{
    For each image, each part of its pixels and each channel the mean, and the sum
    of the squared distances from it. All parts have as many pixels, but the last,
    which may have fewer. In float; those of double in double.
  }];
  let Operands = [OutOperand<"result", "[N, parts, 2, C]">,
                  Operand<"input", "[N, ..., C]">];
}

let Strided = ["result", "input", "fused"], InPlace = ["input", "fused"] in
def CPUGroupNormalization : Instr<"Group normalization of known statistics"> {
  let Description = [{
    The GroupNormalization of the same attributes, whose statistics are those of
    a CPUGroupStatistics: threads share the pixels of an image, and not only its
    channels.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">, Operand<"statistics">,
                  OptionalOperand<"scale">, OptionalOperand<"bias">]
                 # [Fused];
  let Attributes = [Attr<Int, "groups", "divides the number of channels">,
                    Attr<Float, "epsilon", "added to the variance">,
                    EpilogueAttr];
}

} // Dialect = "CPU"

//===- Arithmetic ---------------------------------------------------------===//

def : CountsOperationsOf<AttentionInstr>;
def : CountsOperationsOf<AttentionIntegerInstr>;
def : CountsOperationsOf<MaxPoolInstr>;
def : CountsOperationsOf<AvgPoolInstr>;
def : CountsOperationsOf<ReduceInstr>;
def : CountsOperationsOf<ReduceIntegerInstr>;
def : CountsOperationsOf<SoftmaxInstr>;
def : CountsOperationsOf<LayerNormalizationInstr>;
def : CountsOperationsOf<GroupNormalizationInstr>;
def : CountsOperationsOf<ElementWiseLoop>;
def : CountsOperationsOf<CPUConvolution>;
def : CountsOperationsOf<CPUGroupStatistics>;
def : CountsOperationsOf<CPUGroupNormalization>;
