//===- AccessEstimate.h - How often buffers are accessed --------*- C++ -*-===//
//
// An estimate by what operators are defined to compute. A kernel that has
// vectors, or keeps elements in registers or on the stack, accesses memory less
// often, which its back end may say (Backend::countAccesses).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_IR_ACCESSESTIMATE_H
#define GLOWISH_IR_ACCESSESTIMATE_H

#include "glowish/IR/IR.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace glowish {

/// The loads and stores of operand \p index of \p instr, of an element each. A
/// result is stored once. A matrix or an image that is multiplied is loaded
/// once for each multiply-add; the input of a pool, once for each window; any
/// other operand, once, and what a view repeats, each time.
double countAccesses(const Instruction &instr, unsigned index);

/// countAccesses, or what a back end says in its place.
using CountAccessesFn =
    std::function<double(const Instruction &instr, unsigned index)>;

/// The accesses of a run to each buffer. Both bodies of a branch count, and the
/// body of a loop as often as it may run.
class AccessEstimate {
public:
  AccessEstimate(const IRFunction &function, CountAccessesFn countAccesses);

  /// Of \p root, through all views and bodies.
  double get(const Buffer *root) const { return accesses.lookup(root); }
  /// Of all buffers that the bodies of \p instr, and \p instr itself, have in
  /// the arena.
  double getInside(const Instruction &instr) const;

private:
  void visit(const IRFunction &function, double times);
  void visit(const Instruction &instr, double times);
  /// \p inner is a parameter or result of a body, and stands for \p outer.
  void bind(const Buffer *inner, const Buffer *outer);
  void bindBodies(const Instruction &instr);

  CountAccessesFn countAccesses;
  llvm::DenseMap<const Buffer *, const Buffer *> bindings;
  llvm::DenseMap<const Buffer *, double> accesses;
};

} // namespace glowish

#endif // GLOWISH_IR_ACCESSESTIMATE_H
