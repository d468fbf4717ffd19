//===- CPUInstrs.td - Instructions of the CPU back end -----------*- td -*-===//
//
// Kernel selection turns instructions with weights into these, whose weights are
// packed in the order in which the kernel reads them.
//
//===----------------------------------------------------------------------===//

include "Instrs.td"

//===- Restrictions -------------------------------------------------------===//

def : SupportsFor<AttentionInstr>;
def : SupportsFor<GroupNormalizationInstr>;

//===- Instructions -------------------------------------------------------===//

let Dialect = "CPU" in {

let Strided = ["result", "input", "fused"], InPlace = ["fused"] in
def CPUConvolution : Instr<"Convolution with packed weights"> {
  let Description = [{
    The Convolution of the same attributes. The filter is 1-D when blocked, as
    packWeights makes it for the tile; otherwise it is
    [group, KH, KW, C / group, OC / group]. A depthwise convolution has
    [KH, KW, C]. A MatMul is one over a 1 x rows image.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">, Operand<"filter">,
                  OptionalOperand<"bias">] # [Fused];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    Attr<Int, "group", "number of groups of channels">,
                    Attr<Ints, "tile", "[pixels, vectors] kept in registers">,
                    Attr<Bool, "blocked", "the filter is packed in blocks">,
                    EpilogueAttr];
  let MultiplyAdds = [{countElements(op.getKernels()) *
                       op.getInput().getShape().back() / op.getGroup()}];
}

let Strided = ["result", "input", "fused"], InPlace = ["fused"] in
def CPUWinogradConvolution : Instr<"Convolution with fewer multiplications"> {
  let Description = [{
    The CPUConvolution of one group, without strides and dilations, with the
    same attributes. The output is computed in tiles, each of products at
    (height + KH - 1) * (width + KW - 1) points. The filter is 1-D: packWinograd
    transforms it to these.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">, Operand<"filter">,
                  OptionalOperand<"bias">] # [Fused];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "size", "[height, width] of a tile">,
                    Attr<Int, "block", "output channels packed together">,
                    EpilogueAttr];
  let MultiplyAdds = [{countElements(op.getKernels()) *
                       op.getInput().getShape().back()}];
}

let Strided = ["result", "input", "fused"], InPlace = ["fused"] in
def CPUSplitConvolution : Instr<"Convolution on int8 matrix units"> {
  let Description = [{
    The CPUConvolution of one group with the same attributes, computed with
    six products of digits for each product of floats. The filter is the digits
    of the weights, 1-D in the order of the kernel; the sums of output channel n
    are multiplied with element n of scales.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">, Operand<"filter">,
                  Operand<"scales">, OptionalOperand<"bias">] # [Fused];
  let Attributes = [Attr<Ints, "kernels", "[height, width]">,
                    Attr<Ints, "strides", "[vertical, horizontal]">,
                    Attr<Ints, "pads", "[top, left, bottom, right]">,
                    Attr<Ints, "dilations", "[vertical, horizontal]">,
                    EpilogueAttr];
  let MultiplyAdds = [{countElements(op.getKernels()) *
                       op.getInput().getShape().back()}];
}

let Strided = ["weights"] in
def CPUSplitWeights : Instr<"Weights as digits, while the program runs"> {
  let Description = [{
    What CPUSplitConvolution reads as filter and scales, of weights
    [KH, KW, C, OC] that are known only when the program runs. float.
  }];
  let Operands = [OutOperand<"digits", "int8, 1-D in the kernel's order">,
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
