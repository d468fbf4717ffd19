//===- GroupStatistics.cpp - Group normalizations in two steps ------------===//

#include "Selection/GroupStatistics.h"
#include "Instrs.h"
#include "Kernels/Normalization/GroupNormalization.h"
#include "glowish/IR/Passes.h"

using namespace glowish;

/// With fewer elements, the second step costs more than threads gain.
static constexpr int64_t minElements = 40000;
/// With this many tasks, the pixels are not divided.
static constexpr int64_t enoughTasks = 8;
/// The number of tasks if the pixels are divided.
static constexpr int64_t wantedTasks = 16;

/// The number of parts into which the pixels of an image are divided; 1 where
/// images and channels make enough tasks. It does not depend on the number of
/// threads, so that the sums have the same bits with any.
static int64_t chooseParts(const GroupNormalizationInstr &instr,
                           const TargetDescription &target) {
  const Type &type = instr.getInput()->getType();
  int64_t channels = type.getShape().back();
  if (type.getNumElements() < minElements ||
      !fitsGroupNormalization(channels, type.getKind(), target))
    return 1;
  // At least those of a group, and of a vector.
  int64_t least =
      std::max<int64_t>(channels / instr.getGroups(),
                        target.getSumTarget().getComputeLanes(type.getKind()));
  least = std::min(least, channels);
  int64_t images = type.getDim(0);
  if (images * (channels / least) >= enoughTasks)
    return 1;
  int64_t rows = type.getDim(getPartDimension(type.getShape()));
  int64_t wanted = llvm::divideCeil(wantedTasks, images);
  return llvm::divideCeil(rows, llvm::divideCeil(rows, wanted));
}

bool glowish::prepareGroupNormalizations(IRFunction &function,
                                         const TargetDescription &target) {
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end();) {
    auto *instr = llvm::dyn_cast<GroupNormalizationInstr>(&*it++);
    int64_t parts = instr ? chooseParts(*instr, target) : 1;
    if (parts == 1)
      continue;
    Buffer *input = instr->getInput();
    const Type &type = input->getType();
    ElemKind kind =
        type.getKind() == ElemKind::Double ? ElemKind::Double : ElemKind::Float;
    Buffer *statistics = function.createActivation(
        instr->getName(),
        Type(kind, {type.getDim(0), parts, 2, type.getShape().back()}));
    InstrDraft draft = CPUGroupStatisticsInstr::draft(statistics, input);
    for (const LoopBound &bound : instr->getLoopBounds())
      if (bound.operand == instr->resultIdx && bound.dim == 0)
        draft.bounds.push_back(bound);
    function.create(instr->getName(), std::move(draft), instr);
    function.replace(instr, CPUGroupNormalizationInstr::draft(
                                instr->getResult(), input, statistics,
                                instr->getScale(), instr->getBias(),
                                instr->getGroups(), instr->getEpsilon(),
                                instr->getFused(), instr->getEpilogue()));
    changed = true;
  }
  if (changed)
    llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}
