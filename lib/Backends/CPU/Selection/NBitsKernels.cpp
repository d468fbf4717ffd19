//===- NBitsKernels.cpp - Packs weights of 8 and 4 bits -------------------===//

#include "Selection/NBitsKernels.h"
#include "Instrs.h"
#include "Kernels/NBits/NBitsLayout.h"
#include "Selection/FilterPacker.h"
#include "glowish/IR/Passes.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Task.h"
#include <map>

using namespace glowish;

/// The integers of \p weights, one a byte, in the order of \p layout.
static Tensor packWeights(const Tensor &weights, const NBitsLayout &layout) {
  Tensor packed(Type(ElemKind::Int8, {layout.getWeightBytes()}));
  auto *to = reinterpret_cast<uint8_t *>(packed.data<int8_t>().data());
  const auto *from = static_cast<const uint8_t *>(weights.getBytes());
  int64_t all = layout.getColumnBytes();
  for (int64_t k = 0; k < layout.depth; ++k) {
    int64_t row = k % layout.block, first = k / layout.block;
    int64_t before = first * layout.getBlockBytes(layout.block);
    if (!layout.hasWords()) {
      for (int64_t n = 0; n < layout.columns; ++n)
        to[layout.getElement(n, before + row, all)] =
            from[k * layout.columns + n];
      continue;
    }
    int64_t word = before / 4 + row / layout.getWordRows();
    unsigned shift = layout.getShift(unsigned(row % layout.getWordRows()));
    int mask = layout.hasHalfBytes() ? 15 : 255;
    for (int64_t n = 0; n < layout.columns; ++n)
      to[layout.getElement(n, word, all / 4) * 4 + shift / 8] |=
          uint8_t(((from[k * layout.columns + n] + layout.getBias()) & mask)
                  << shift % 8);
  }
  return packed;
}

/// Scales, or zero points of one byte, whose packed kind is \p kind.
template <typename T>
static Tensor packParameters(const Tensor &parameters, ElemKind kind,
                             const NBitsLayout &layout) {
  int64_t all = layout.getNumBlocks();
  Tensor packed(Type(kind, {layout.getNumParameters()}));
  llvm::MutableArrayRef<T> to = packed.data<T>();
  const auto *from = reinterpret_cast<const T *>(parameters.getBytes());
  for (int64_t block = 0; block < all; ++block)
    for (int64_t n = 0; n < layout.columns; ++n)
      to[size_t(layout.getElement(n, block, all))] =
          from[block * layout.columns + n];
  return packed;
}

namespace {

class NBitsPacker {
public:
  explicit NBitsPacker(IRFunction &function) : function(function) {}
  void replace(MatMulNBitsInstr &instr);

private:
  /// What \p pack makes of operand \p index, a constant, once for all that have
  /// the same one, left sides of the same kind and blocks of the same length.
  /// Null if it is absent.
  Buffer *getPacked(const MatMulNBitsInstr &instr, unsigned index,
                    llvm::function_ref<Tensor(const Tensor &)> pack);

  IRFunction &function;
  /// Keyed by the constant, the operand's number, the length of blocks and
  /// whether the left side is integers.
  std::map<std::tuple<Buffer *, unsigned, int64_t, bool>, Buffer *> packings;
};

} // namespace

Buffer *
NBitsPacker::getPacked(const MatMulNBitsInstr &instr, unsigned index,
                       llvm::function_ref<Tensor(const Tensor &)> pack) {
  Buffer *buffer = instr.getOperand(index);
  if (!buffer)
    return nullptr;
  assert(isConstant(*buffer) && "lowered where it is not");
  Buffer *&packed = packings[{buffer, index, instr.getBlock(),
                              instr.getLhsScales() != nullptr}];
  if (!packed)
    packed = function.createConstant(
        buffer->getName(),
        std::make_shared<const Tensor>(pack(buffer->getTensor())));
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
  Buffer *weights = getPacked(instr, Instr::rhsIdx, [&](const Tensor &tensor) {
    return packWeights(tensor, layout);
  });
  Buffer *scales =
      getPacked(instr, Instr::scalesIdx, [&](const Tensor &tensor) {
        return packParameters<float>(tensor, ElemKind::Float, layout);
      });
  Buffer *zeroPoints =
      getPacked(instr, Instr::zeroPointsIdx, [&](const Tensor &tensor) {
        return packParameters<int8_t>(tensor, ElemKind::Int8, layout);
      });
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
