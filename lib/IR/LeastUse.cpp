//===- LeastUse.cpp - The memory of a run with least extents --------------===//

#include "LeastUse.h"
#include "glowish/IR/LoopBounds.h"
#include "glowish/IR/StridedLayout.h"

using namespace glowish;

LeastUse::LeastUse(const IRFunction &function) {
  SymbolRanges symbols = getSymbolRanges(function);
  if (symbols.empty())
    return;
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      visit(instr, symbols);
}

void LeastUse::visit(const Instruction &instr, const SymbolRanges &symbols) {
  for (unsigned i = 0; i < instr.getNumOperands(); ++i) {
    const Buffer *operand = instr.getOperand(i);
    if (!operand || !instr.writes(i))
      continue;
    StridedLayout layout = StridedLayout::of(*operand);
    for (const LoopBound &bound : instr.getLoopBounds())
      if (bound.operand == i)
        if (auto range = symbols.getRange(bound.extent))
          layout.shape[bound.dim] =
              std::min(layout.shape[bound.dim], range->low);
    int64_t &end = ends[operand->getRoot()];
    if (auto bounds = layout.getBounds())
      end = std::max(end, bounds->second + 1);
  }
}

uint64_t LeastUse::getBytes(const Buffer *root) const {
  auto found = ends.find(root);
  if (found == ends.end())
    return root->getType().getSizeInBytes();
  return uint64_t(found->second) * getElemSize(root->getType().getKind());
}
