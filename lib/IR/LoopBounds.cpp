//===- LoopBounds.cpp - How far the loops of a run go ---------------------===//

#include "glowish/IR/LoopBounds.h"
#include "glowish/Ops/AxisMap.h"

using namespace glowish;

SymbolRanges glowish::getSymbolRanges(const IRFunction &function) {
  SymbolRanges symbols;
  for (const Buffer *input : function.getInputs())
    if (const auto &range = input->getInputExtents().range)
      symbols.set(range->symbol, range->bounds);
  return symbols;
}

std::vector<LoopBound> glowish::getResultBounds(const Instruction &instr,
                                                DimsRef shape) {
  std::vector<LoopBound> bounds;
  for (const LoopBound &bound : instr.getLoopBounds()) {
    if (bound.operand != 0)
      continue;
    DimsRef own = instr.getOperand(0)->getShape();
    if (std::optional<unsigned> dim = findReshapedDim(own, shape, bound.dim))
      bounds.push_back({0, *dim, bound.extent});
  }
  return bounds;
}

std::vector<LoopBound> glowish::getSideBounds(const Instruction &matmul,
                                              unsigned index) {
  constexpr unsigned lhs = 1, rhs = 2;
  assert(index == lhs || index == rhs);
  DimsRef result = matmul.getOperand(0)->getShape();
  DimsRef shape = matmul.getOperand(index)->getShape();
  std::vector<LoopBound> bounds;
  for (const LoopBound &bound : matmul.getLoopBounds()) {
    if (bound.operand == lhs) { // the depth
      unsigned fromEnd = index == lhs ? 1 : 2;
      bounds.push_back({0, unsigned(shape.size()) - fromEnd, bound.extent});
      continue;
    }
    size_t fromEnd = result.size() - bound.dim;
    bool isOther = fromEnd == (index == lhs ? 1 : 2);
    if (isOther || fromEnd > shape.size())
      continue;
    unsigned dim = unsigned(shape.size() - fromEnd);
    // Not a dimension along which it is broadcast.
    if (shape[dim] == result[bound.dim])
      bounds.push_back({0, dim, bound.extent});
  }
  llvm::sort(bounds, [](const LoopBound &a, const LoopBound &b) {
    return a.dim < b.dim;
  });
  return bounds;
}
