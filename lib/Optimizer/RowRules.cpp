//===- RowRules.cpp - Rows of results from rows of operands ---------------===//

#include "RowRules.h"

using namespace glowish;

//===- Windows ------------------------------------------------------------===//

namespace {

/// How the rows of a convolution or pool follow from those of its input.
struct Window {
  int64_t stride, reach, top; // reach: from a window's first row to its last
  int64_t extent;             // of the input

  int64_t getFirst(Rows rows) const { return rows.begin * stride - top; }
  int64_t getLast(Rows rows) const {
    return (rows.end - 1) * stride - top + reach;
  }
  Rows getInput(Rows rows) const {
    return {1, std::max<int64_t>(0, getFirst(rows)),
            std::min(extent, getLast(rows) + 1)};
  }
};

} // namespace

static std::optional<Window> getWindow(const Node &node) {
  auto make = [&](const auto &op, int64_t kernel) {
    return Window{op.getStrides()[0], op.getDilations()[0] * (kernel - 1),
                  op.getPads()[0], op.getInput().getShape()[1]};
  };
  if (auto *conv = llvm::dyn_cast<ConvolutionNode>(&node))
    return make(*conv, conv->getFilter().getShape()[1]);
  if (auto *pool = llvm::dyn_cast<MaxPoolNode>(&node))
    return make(*pool, pool->getKernels()[0]);
  if (auto *pool = llvm::dyn_cast<AvgPoolNode>(&node))
    return make(*pool, pool->getKernels()[0]);
  return std::nullopt;
}

//===- Operands -----------------------------------------------------------===//

/// Those of an operand that broadcasts to \p result, of which \p rows are
/// computed; null for all of it.
static std::optional<Rows> broadcastRows(NodeValue operand, const Type &result,
                                         Rows rows) {
  if (!operand)
    return std::nullopt;
  unsigned missing = result.getRank() - operand.getType().getRank();
  if (rows.dim < missing)
    return std::nullopt;
  unsigned dim = rows.dim - missing;
  if (operand.getShape()[dim] != result.getShape()[rows.dim])
    return std::nullopt;
  return Rows{dim, rows.begin, rows.end};
}

/// Whether the first operand has the same rows as the result, and the others
/// have none.
static bool keepsRows(const Node &node, Rows rows) {
  if (auto *softmax = llvm::dyn_cast<SoftmaxNode>(&node))
    return softmax->getAxis() > int64_t(rows.dim);
  if (auto *norm = llvm::dyn_cast<LayerNormalizationNode>(&node))
    return norm->getAxis() > int64_t(rows.dim);
  if (llvm::isa<LocalResponseNormalizationNode>(node))
    return rows.dim + 1 < node.getType().getRank(); // along the channels
  if (auto *slice = llvm::dyn_cast<SliceNode>(&node))
    return slice->getSizes()[rows.dim] ==
               slice->getInput().getShape()[rows.dim] &&
           slice->getSteps()[rows.dim] == 1;
  return false;
}

std::optional<OperandRows> glowish::getOperandRows(const Node &node,
                                                   Rows rows) {
  OperandRows result(node.getNumOperands());
  if (node.getNumResults() != 1 || node.hasPredicate() ||
      node.getType().getRank() != 4)
    return std::nullopt;
  auto broadcast = [&](unsigned first) {
    for (unsigned i = first; i < node.getNumOperands(); ++i)
      result[i] = broadcastRows(node.getOperand(i), node.getType(), rows);
  };
  if (std::optional<Window> window = getWindow(node)) {
    Rows input = window->getInput(rows);
    if (rows.dim != 1 || input.size() <= 0)
      return std::nullopt;
    result[0] = input;
    // The filter, the bias, and what the epilogue reads.
    if (llvm::isa<ConvolutionNode>(node))
      broadcast(3);
    return result;
  }
  if (isElementWise(node)) {
    broadcast(0);
    return result;
  }
  if (auto *transpose = llvm::dyn_cast<TransposeNode>(&node)) {
    unsigned dim = unsigned(transpose->getPermutation()[rows.dim]);
    result[0] = Rows{dim, rows.begin, rows.end};
    return result;
  }
  if (auto *concat = llvm::dyn_cast<ConcatNode>(&node)) {
    if (concat->getAxis() == int64_t(rows.dim))
      return std::nullopt;
    std::fill(result.begin(), result.end(), rows);
    return result;
  }
  if (!keepsRows(node, rows))
    return std::nullopt;
  result[0] = rows;
  return result;
}

//===- The node of some rows ----------------------------------------------===//

NodeDraft glowish::draftRows(const Node &node, Rows rows,
                             llvm::ArrayRef<NodeValue> operands) {
  NodeDraft draft = node.getDraft();
  draft.operands.assign(operands.begin(), operands.end());
  if (std::optional<Window> window = getWindow(node)) {
    auto &pads = std::get<std::vector<int64_t>>(
        draft.attrs[node.getInfo().findAttr("pads")]);
    pads[0] = std::max<int64_t>(0, -window->getFirst(rows));
    pads[2] = std::max<int64_t>(0, window->getLast(rows) + 1 - window->extent);
  }
  if (llvm::isa<SliceNode>(node))
    std::get<std::vector<int64_t>>(
        draft.attrs[node.getInfo().findAttr("sizes")])[rows.dim] = rows.size();
  return draft;
}
