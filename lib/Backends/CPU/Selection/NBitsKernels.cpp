//===- NBitsKernels.cpp - Packs weights of 8 and 4 bits -------------------===//

#include "Selection/NBitsKernels.h"
#include "Instrs.h"
#include "Selection/FilterPacker.h"
#include "Selection/NBitsPacking.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Task.h"
#include <map>

using namespace glowish;

namespace {

class NBitsPacker {
public:
  explicit NBitsPacker(IRFunction &function) : function(function) {}
  void replace(MatMulNBitsInstr &instr);

private:
  using Pack = Tensor(std::shared_ptr<const Tensor>, const NBitsLayout &);

  /// Returns what \p pack makes of operand \p index, a constant, once for all
  /// that have the same one, left sides of the same kind and blocks of the same
  /// length. Null if it is absent.
  Buffer *getPacked(const MatMulNBitsInstr &instr, unsigned index, Pack *pack,
                    const NBitsLayout &layout);

  IRFunction &function;
  /// Keyed by the constant, the operand's number, the length of blocks and
  /// whether the left side is integers.
  std::map<std::tuple<Buffer *, unsigned, int64_t, bool>, Buffer *> packings;
};

} // namespace

Buffer *NBitsPacker::getPacked(const MatMulNBitsInstr &instr, unsigned index,
                               Pack *pack, const NBitsLayout &layout) {
  Buffer *buffer = instr.getOperand(index);
  if (!buffer)
    return nullptr;
  assert(isConstant(*buffer) && "lowered where it is not");
  Buffer *&packed = packings[{buffer, index, instr.getBlock(),
                              instr.getLhsScales() != nullptr}];
  if (!packed)
    packed = function.createConstant(
        buffer->getName(),
        std::make_shared<const Tensor>(pack(buffer->getPayload(), layout)));
  return packed;
}

void NBitsPacker::replace(MatMulNBitsInstr &instr) {
  using Instr = MatMulNBitsInstr;
  const Type &rhs = instr.getRhs()->getType();
  NBitsLayout layout = {.depth = rhs.getDim(0),
                        .columns = rhs.getDim(1),
                        .block = instr.getBlock(),
                        .kind = rhs.getKind(),
                        .isForIntegers = instr.getLhsScales() != nullptr};
  GLOWISH_VLOG(
      1, "kernel of {0} '{1}' ({2}): weights of {3} in blocks of {4}, {5}",
      instr.getKindName(), instr.getName(), instr.getResult()->getType().str(),
      getElemKindName(layout.kind), layout.block,
      layout.isForIntegers ? "multiplied with integers"
                           : "made floats as they are read");
  Buffer *weights = getPacked(instr, Instr::rhsIdx, packNBitsWeights, layout);
  Buffer *scales =
      getPacked(instr, Instr::scalesIdx, packNBitsParameters, layout);
  Buffer *zeroPoints =
      getPacked(instr, Instr::zeroPointsIdx, packNBitsParameters, layout);
  function.replace(&instr,
                   CPUMatMulNBitsInstr::draft(
                       instr.getResult(), instr.getLhs(), weights, scales,
                       zeroPoints, instr.getLhsScales(), layout.kind,
                       layout.block, instr.getFused(), instr.getEpilogue()));
}

bool glowish::prepareNBitsKernels(IRFunction &function) {
  NBitsPacker packer(function);
  bool changed = false;
  for (auto it = function.getInstrs().begin();
       it != function.getInstrs().end() && !isCancelled();)
    if (auto *matmul = llvm::dyn_cast<MatMulNBitsInstr>(&*it++)) {
      packer.replace(*matmul);
      changed = true;
    }
  if (changed)
    llvm::cantFail(insertLifetimes(function, IRPassContext()));
  return changed;
}
