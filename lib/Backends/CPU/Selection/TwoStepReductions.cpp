//===- TwoStepReductions.cpp - Reductions in two steps --------------------===//

#include "Selection/TwoStepReductions.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

/// With fewer, the second step costs more than the first gains.
static constexpr int64_t minElements = 20000, minRows = 4;

static bool hasTwoSteps(const ReduceInstr &instr) {
  const Type &type = instr.getInput()->getType();
  llvm::ArrayRef<int64_t> axes = instr.getAxes();
  // The mean of rounded integer means differs from the mean; half precision
  // would be rounded twice.
  return (type.getKind() == ElemKind::Float ||
          type.getKind() == ElemKind::Double) &&
         axes.size() >= 2 && axes.back() + 1 < int64_t(type.getRank()) &&
         type.getNumElements() >= minElements &&
         type.getShape()[axes.front()] >= minRows;
}

/// Returns the bounds of \p instr, with its dimensions counted in its input.
static std::vector<LoopBound> getKeptBounds(const ReduceInstr &instr) {
  std::vector<LoopBound> bounds = instr.getLoopBounds().vec();
  if (!instr.getKeepDims())
    for (LoopBound &bound : bounds)
      for (int64_t axis : instr.getAxes())
        bound.dim += axis <= int64_t(bound.dim);
  return bounds;
}

bool glowish::prepareReductions(IRFunction &function) {
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    auto *instr = llvm::dyn_cast<ReduceInstr>(&*it++);
    if (!instr || !hasTwoSteps(*instr))
      continue;
    Buffer *input = instr->getInput();
    std::vector<int64_t> axes = instr->getAxes().vec();
    Dims shape(input->getShape());
    for (int64_t axis : llvm::drop_begin(axes))
      shape[axis] = 1;
    Buffer *rows = function.createActivation(instr->getName(),
                                             input->getType().withShape(shape));
    InstrDraft draft = ReduceInstr::draft(rows, input, instr->getMode(),
                                          llvm::ArrayRef(axes).drop_front(),
                                          /*keepDims=*/true);
    draft.bounds = getKeptBounds(*instr);
    function.create(instr->getName(), std::move(draft), instr);
    function.replace(instr, ReduceInstr::draft(instr->getResult(), rows,
                                               instr->getMode(), axes,
                                               instr->getKeepDims()));
    changed = true;
  }
  if (changed)
    llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}
