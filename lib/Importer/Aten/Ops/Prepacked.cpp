//===- Prepacked.cpp - Operators with packed weights of XNNPACK -----------===//
//
// torch.utils.mobile_optimizer writes them for convolutions and linear layers.
// During import, packed weights are the list of the arguments of the operator
// that packs them; the back end packs them in its own way.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"

using namespace glowish;
using namespace glowish::aten;

static llvm::Error importPacking(AtenOp &op) { return op.setPacked(); }

/// Imports an operator on packed weights, as \p operatorName of X and those of
/// them with the numbers \p order; the last two of all are bounds of the
/// result.
static llvm::Error importPacked(AtenOp &op, llvm::StringRef operatorName,
                                llvm::ArrayRef<unsigned> order) {
  const auto &state = op.get("W_prepack").get<AtenValue::List>();
  if (state.size() != order.size() + 2)
    return op.refuse("W_prepack", llvm::formatv("{0} values, as packed for {1}",
                                                order.size() + 2, operatorName)
                                      .str());
  AtenValue::List operands = {op.get("X")};
  for (unsigned index : order)
    operands.push_back(state[index]);
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           op.call(operatorName, std::move(operands)));
  const AtenValue &low = state[order.size()], &high = state[order.size() + 1];
  if (!low.isNone() || !high.isNone()) {
    GLOWISH_ASSIGN_OR_RETURN(results,
                             op.call("clamp", {results[0], low, high}));
  }
  return op.setResult(results[0]);
}

static llvm::Error importConvolution(AtenOp &op) {
  return importPacked(op, "conv2d", {0, 1, 2, 3, 4, 5});
}
/// Imports a transposed convolution: dilations are packed before groups.
static llvm::Error importTransposed(AtenOp &op) {
  return importPacked(op, "conv_transpose2d.input", {0, 1, 2, 3, 4, 6, 5});
}
static llvm::Error importLinear(AtenOp &op) {
  return importPacked(op, "linear", {0, 1});
}

static AtenOperators prepacked(
    {{importPacking,
      {"prepacked::conv2d_clamp_prepack(Tensor W, Tensor? B, int[2] stride, "
       "int[2] padding, int[2] dilation, int groups, Scalar? output_min=None, "
       "Scalar? output_max=None) -> "
       "__torch__.torch.classes.xnnpack.Conv2dOpContext",
       "prepacked::conv2d_transpose_clamp_prepack(Tensor W, Tensor? B, int[2] "
       "stride, int[2] padding, int[2] output_padding, int[2] dilation, int "
       "groups, Scalar? output_min=None, Scalar? output_max=None) -> "
       "__torch__.torch.classes.xnnpack.TransposeConv2dOpContext",
       "prepacked::linear_clamp_prepack(Tensor W, Tensor? B=None, Scalar? "
       "output_min=None, Scalar? output_max=None) -> "
       "__torch__.torch.classes.xnnpack.LinearOpContext"}},
     {importConvolution,
      {"prepacked::conv2d_clamp_run(Tensor X, "
       "__torch__.torch.classes.xnnpack.Conv2dOpContext W_prepack) -> Tensor"}},
     {importTransposed,
      {"prepacked::conv2d_transpose_clamp_run(Tensor X, "
       "__torch__.torch.classes.xnnpack.TransposeConv2dOpContext W_prepack) -> "
       "Tensor"}},
     {importLinear,
      {"prepacked::linear_clamp_run(Tensor X, "
       "__torch__.torch.classes.xnnpack.LinearOpContext W_prepack) -> "
       "Tensor"}}},
    AtenOrder::Images);
