//===- Instrs.td - Instructions of the IR ----------------------*- td -*-===//

include "Nodes.td"

//===- Instructions of their own --------------------------------------------===//

def Copy : Instr<"Copies elements between views"> {
  let Description = [{
    Slices, concatenations, transposes and broadcasts are copies between views
    with suitable strides.
  }];
  let Operands = [OutOperand<"result">, Operand<"input">];
  let Strided = ["result", "input"];
}
def Fill : Instr<"Stores one value in every element"> {
  let Operands = [OutOperand<"result">];
  let Attributes = [Attr<Float, "value", "the value">];
  let Strided = ["result"];
}
def ElementWiseLoop : Instr<"A scalar program at every index"> {
  let Description = [{
    All element-wise nodes become this instruction. The inputs have the
    result's shape (views with stride 0 broadcast); value i of the program is
    the element of input i.
  }];
  let Operands = [OutOperand<"result">, VariadicOperand<"inputs">];
  let Attributes = [Attr<Program, "program", "what is computed">];
  let Strided = ["result", "inputs"];
  let InPlace = ["inputs"];
}

//===- Instructions that compute a node -------------------------------------===//

let Strided = ["result", "filter", "fused"], InPlace = ["fused"] in
def ConvolutionInstr : InstrFor<Convolution>;
let Strided = ["result", "lhs", "rhs", "fused"], InPlace = ["fused"] in
def MatMulInstr : InstrFor<MatMul>;
let Strided = ["result", "query", "key", "value", "mask"] in
def AttentionInstr : InstrFor<Attention>;
let Strided = ["result"] in {
  def MaxPoolInstr : InstrFor<MaxPool>;
  def AvgPoolInstr : InstrFor<AvgPool>;
  def ResizeInstr : InstrFor<Resize>;
}
def ConvolutionFilterGradientInstr : InstrFor<ConvolutionFilterGradient>;
def MaxPoolGradientInstr : InstrFor<MaxPoolGradient>;
def AvgPoolGradientInstr : InstrFor<AvgPoolGradient>;
def LocalResponseNormalizationInstr : InstrFor<LocalResponseNormalization>;
let Strided = ["result", "input", "fused"], InPlace = ["input", "fused"] in {
  def LayerNormalizationInstr : InstrFor<LayerNormalization>;
  def GroupNormalizationInstr : InstrFor<GroupNormalization>;
}
let InPlace = ["input"] in
def SoftmaxInstr : InstrFor<Softmax>;
def ReduceInstr : InstrFor<Reduce>;
def ArgMaxInstr : InstrFor<ArgMax>;
def GatherInstr : InstrFor<Gather>;
def ScatterInstr : InstrFor<Scatter>;
def TopKInstr : InstrFor<TopK>;
def NonMaxSuppressionInstr : InstrFor<NonMaxSuppression>;
def BitCastInstr : InstrFor<BitCast>;

//===- Control flow ---------------------------------------------------------===//

def IfInstr : InstrFor<If> {
  let Operands = [VariadicOutOperand<"results">, Operand<"condition">,
                  VariadicOperand<"captures", "parameters of both bodies">];
  let Attributes = If.Attributes # [SegmentsAttr];
}
def LoopInstr : InstrFor<Loop> {
  let Operands = [VariadicOutOperand<"results">,
                  OptionalOperand<"tripCount">, OptionalOperand<"condition">,
                  VariadicOperand<"values", "first states, then captures">];
  let Attributes = Loop.Attributes # [SegmentsAttr];
}

//===- Instructions of one back end -----------------------------------------===//

include "CPUInstrs.td"
