//===- Instrs.td - Instructions of the IR ------------------------*- td -*-===//
//
// The instructions that all back ends know. Those of one back end are in records
// of its own.
//
//===----------------------------------------------------------------------===//

include "Nodes.td"

//===- Lifetimes ----------------------------------------------------------===//

let Operands = [OutOperand<"buffer", "an activation">],
    Traits = [LifetimeMarker], TypeRule = "inferLifetime" in {
  def Alloc : Instr<"Begins the lifetime of an activation">;
  def Dealloc : Instr<"Ends the lifetime of an activation">;
}

//===- Copies and loops ---------------------------------------------------===//

let Traits = [ElementByElement] in {
  def Copy : Instr<"Copies elements between views"> {
    let Description = [{
      Slices, concatenations, transposes and broadcasts are copies between views
      with suitable strides.
    }];
    let Operands = [OutOperand<"result">, Operand<"input">];
    let Strided = ["result", "input"];
    let InPlace = ["input"];
  }
  def Fill : Instr<"Stores one value to all elements"> {
    let Operands = [OutOperand<"result">];
    let Attributes = [Attr<Float, "value", "the value">];
    let Strided = ["result"];
  }
  def ElementWiseLoop : Instr<"Executes a scalar program at every index"> {
    let Description = [{
      Element-wise nodes become this instruction. The inputs have the result's
      shape (views with stride 0 broadcast); value i of the program is the
      element of input i.
    }];
    let Operands = [OutOperand<"result">, VariadicOperand<"inputs">];
    let Attributes = [Attr<Program, "program", "computes one element">];
    let Strided = ["result", "inputs"];
    let InPlace = ["inputs"];
  }
}

def InsertSlice : Instr<"Overwrites a slice that begins at an index"> {
  let Description = [{
    Writes `update` to the elements of the buffer from index `start` on along
    dimension `axis`: what DynamicUpdateSlice does to a copy of its input.
  }];
  let Operands = [InOutOperand<"buffer">, Operand<"update">, Operand<"start">];
  let Attributes = DynamicUpdateSlice.Attributes;
  let Strided = ["buffer", "update"];
}

//===- Instructions that compute a node -----------------------------------===//

def ConvolutionInstr : AnchorFor<Convolution> {
  let Strided = ["result", "filter", "fused"];
  let InPlace = ["fused"];
  let Packed = ["filter"];
}
def MatMulInstr : AnchorFor<MatMul> {
  let Strided = ["result", "lhs", "rhs", "fused"];
  let InPlace = ["fused"];
  let Packed = ["lhs", "rhs"];
}
def ConvolutionIntegerInstr : AnchorFor<ConvolutionInteger> {
  let Strided = ["result", "filter", "fused"];
  let Packed = ["filter"];
}
def MatMulIntegerInstr : AnchorFor<MatMulInteger> {
  let Strided = ["result", "lhs", "rhs", "fused"];
  let Packed = ["lhs", "rhs"];
}
def MatMulNBitsInstr : AnchorFor<MatMulNBits> {
  let Strided = ["result", "lhs", "fused"];
  let InPlace = ["fused"];
}
def AttentionInstr : InstrFor<Attention> {
  let Strided = ["result", "query", "key", "value", "mask"];
}
def AttentionIntegerInstr : AnchorFor<AttentionInteger> {
  let Strided = ["result", "query", "key", "value", "mask", "fused"];
}
let Strided = ["result"] in {
  def MaxPoolInstr : InstrFor<MaxPool>;
  def AvgPoolInstr : InstrFor<AvgPool>;
  def ResizeInstr : InstrFor<Resize>;
  def ReduceInstr : InstrFor<Reduce>;
  def ReduceIntegerInstr : InstrFor<ReduceInteger>;
}
def ConvolutionFilterGradientInstr : InstrFor<ConvolutionFilterGradient>;
def MaxPoolGradientInstr : InstrFor<MaxPoolGradient>;
def AvgPoolGradientInstr : InstrFor<AvgPoolGradient>;
def LocalResponseNormalizationInstr : InstrFor<LocalResponseNormalization>;
let Strided = ["result", "input", "fused"], InPlace = ["input", "fused"] in {
  def LayerNormalizationInstr : AnchorFor<LayerNormalization> {
    let Requires = "op.getAxis() + 1 == int64_t(op.getInput().getRank())";
  }
  def GroupNormalizationInstr : AnchorFor<GroupNormalization>;
}
def SoftmaxInstr : InstrFor<Softmax> {
  let InPlace = ["input"];
  let Requires = "op.getAxis() + 1 == int64_t(op.getInput().getRank())";
}
def CumSumInstr : InstrFor<CumSum> { let InPlace = ["input"]; }
def ArgMaxInstr : InstrFor<ArgMax>;
def GatherInstr : InstrFor<Gather> { let Strided = ["indices"]; }
def ScatterInstr : InstrFor<Scatter>;
def TopKInstr : InstrFor<TopK>;
def NonMaxSuppressionInstr : InstrFor<NonMaxSuppression>;
def BitCastInstr : InstrFor<BitCast>;

//===- Control flow -------------------------------------------------------===//

def IfInstr : InstrFor<If> {
  let Operands = [VariadicOutOperand<"results">, Operand<"condition">,
                  VariadicOperand<"captures", "parameters of both bodies">];
  let Attributes = If.Attributes # [SegmentsAttr];
}
def ExternalCallInstr : InstrFor<ExternalCall> {
  let Operands = [VariadicOutOperand<"results">, VariadicOperand<"inputs">];
  let Attributes = ExternalCall.Attributes # [SegmentsAttr];
  let Traits = ExternalCall.Traits;
}
def LoopInstr : InstrFor<Loop> {
  let Operands = [VariadicOutOperand<"results">,
                  OptionalOperand<"tripCount">, OptionalOperand<"condition">,
                  VariadicOperand<"values", "initial states, then captures">];
  let Attributes = Loop.Attributes # [SegmentsAttr];
}

//===- Processes ----------------------------------------------------------===//
//
// AllReduce is two instructions, between which the program goes on computing.

let Operands = [InOutOperand<"buffer">], Traits = [CallsFunction, Collective],
    TypeRule = "inferAllReduceBuffer" in {
  def StartAllReduce : Instr<"Begins to average a buffer over the processes"> {
    let Description = [{
      Until FinishAllReduce of the same buffer nothing else may read or write it.
    }];
  }
  def FinishAllReduce : Instr<"Waits until a buffer is averaged">;
}

//===- Decision trees -----------------------------------------------------===//

def TreeEnsembleInstr : InstrFor<TreeEnsemble>;
