//===- KernelOperands.h - Operands of a kernel ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELOPERANDS_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELOPERANDS_H

#include "Instrs.h"
#include "Kernels/RowPredicate.h"
#include "Kernels/StridedOperand.h"

namespace glowish {

/// The operands of an instruction, of which the present ones are the first
/// arguments of its kernel, and the bounds of its loops, which follow. Indices
/// are those of the record, `NAMEInstr::xIdx`.
class KernelOperands {
public:
  KernelOperands(const Instruction &instr, llvm::Function &kernel)
      : instr(instr) {
    for (Buffer *buffer : instr.getOperands())
      pointers.push_back(buffer ? kernel.getArg(numPresent++) : nullptr);
    for (size_t i = 0; i < instr.getLoopBounds().size(); ++i)
      bounds.push_back(kernel.getArg(unsigned(numPresent + i)));
  }

  /// How many arguments of the kernel are operands and bounds.
  unsigned getNumArgs() const { return numPresent + bounds.size(); }
  /// The address of element 0; null for an absent operand.
  llvm::Value *getPointer(unsigned index) const { return pointers[index]; }
  StridedOperand getStrided(unsigned index) const {
    return StridedOperand(pointers[index], *instr.getOperand(index));
  }
  /// How many indices of dimension \p dim of operand \p index a run needs
  /// (LoopBound), an index; null for all.
  llvm::Value *getBound(unsigned index, unsigned dim) const {
    for (auto [bound, value] : llvm::zip_equal(instr.getLoopBounds(), bounds))
      if (bound.operand == index && bound.dim == dim)
        return value;
    return nullptr;
  }
  /// The same of dimensions \p first ... \p end - 1, counted as one.
  llvm::Value *getBound(KernelBuilder &b, unsigned index, unsigned first,
                        unsigned end) const {
    DimsRef shape = instr.getOperand(index)->getShape();
    for (unsigned d = first; d < end; ++d) {
      if (llvm::Value *bound = getBound(index, d))
        return b.scaleIndex(bound,
                            countElements(shape.slice(d + 1, end - d - 1)));
      if (shape[d] != 1)
        break;
    }
    return nullptr;
  }
  /// Returns dimensions \p first ... \p end - 1 of operand \p index as loops.
  LoopExtents getExtents(unsigned index, unsigned first, unsigned end) const {
    DimsRef shape = instr.getOperand(index)->getShape();
    LoopExtents extents;
    for (unsigned d = first; d < end; ++d)
      extents.push_back(shape[d], getBound(index, d));
    return extents;
  }
  /// Returns all of them.
  LoopExtents getExtents(unsigned index) const {
    return getExtents(index, 0, instr.getOperand(index)->getType().getRank());
  }
  /// Emits \p body, as tasks, for the number of each row of operand \p index
  /// that a run needs: a row has an index for each dimension but the last.
  /// \p operations: of all rows.
  void forRows(KernelBuilder &b, unsigned index, int64_t operations,
               KernelBuilder::LoopBody body) const {
    unsigned rank = instr.getOperand(index)->getType().getRank();
    b.forTasks(getExtents(index, 0, rank - 1), operations, body);
  }
  /// The operands of the record from \p first on.
  std::vector<StridedOperand> getStridedFrom(unsigned first) const {
    std::vector<StridedOperand> operands;
    for (unsigned i = first; i < instr.getNumRecordOperands(); ++i)
      operands.push_back(getStrided(i));
    return operands;
  }
  /// The predicate, if it has more than one row: the kernel is not called where
  /// no row is needed.
  RowPredicate getRowPredicate() const {
    const Buffer *predicate = instr.getPredicate();
    if (!predicate || predicate->getType().getNumElements() <= 1)
      return {};
    return {StridedOperand(pointers.back(), *predicate),
            predicate->getType().getNumElements()};
  }
  /// The epilogue of an instruction that has one, and computes elements of
  /// \p kind.
  EpilogueCode getEpilogue(ElemKind kind) const {
    return {kind, &instr.getEpilogueProgram(),
            getStridedFrom(instr.getInfo().fusedOperand)};
  }

private:
  const Instruction &instr;
  Values pointers, bounds;
  unsigned numPresent = 0;
};

/// emitNAME for each instruction that has a kernel, defined in the file of its
/// family: appends its code. The result has elements.
#define EMITTER(NAME, KIND)                                                    \
  void emit##NAME(KernelBuilder &b, const NAME##Instr &instr,                  \
                  const KernelOperands &operands);
#define GET_EMITTER_LIST
#include "glowish/Backends/CPU/supports.inc"

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_KERNELOPERANDS_H
