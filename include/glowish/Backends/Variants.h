//===- Variants.h - A model for several values of a dimension ---*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_VARIANTS_H
#define GLOWISH_BACKENDS_VARIANTS_H

#include "glowish/IR/IR.h"
#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// The value of a symbolic dimension.
struct SymbolValue {
  std::string symbol;
  int64_t value;
};

/// A program, and the values of the symbolic dimensions that it is for.
struct Variant {
  /// Of the symbols that values tell apart.
  std::vector<int64_t> values;
  const IRFunction *function;
  const MemoryPlan *plan;
  /// Of symbols with ranges: the program is only for runs that state these. It
  /// has the placeholders of the program for all runs of the same values.
  std::vector<SymbolValue> stated = {};

  bool isForAllRuns() const { return stated.empty(); }
};

/// The programs of one model. They have the same placeholders but for their
/// shapes, and one constant region. A program for all runs comes before those
/// of the same values that are for some of them, and the fewer come later.
struct Variants {
  /// The symbolic dimensions that values tell apart; none where there is one
  /// program.
  std::vector<std::string> symbols;
  std::vector<Variant> programs;

  /// The only program.
  static Variants single(const IRFunction &function, const MemoryPlan &plan) {
    return {{}, {{{}, &function, &plan}}};
  }
  /// Bytes of the regions that serve all programs.
  uint64_t getConstantSize() const {
    return getLargest(&MemoryPlan::constantSize);
  }
  uint64_t getMutableSize() const {
    return getLargest(&MemoryPlan::mutableSize);
  }
  uint64_t getActivationSize() const {
    return getLargest(&MemoryPlan::activationSize);
  }
  /// What the programs for \p values need.
  uint64_t getActivationSize(llvm::ArrayRef<int64_t> values) const {
    uint64_t largest = 0;
    for (const Variant &program : programs)
      if (llvm::ArrayRef(program.values) == values)
        largest = std::max(largest, program.plan->activationSize);
    return largest;
  }
  uint64_t getAlignment() const { return getLargest(&MemoryPlan::alignment); }

private:
  uint64_t getLargest(uint64_t MemoryPlan::*size) const {
    uint64_t largest = 0;
    for (const Variant &program : programs)
      largest = std::max(largest, program.plan->*size);
    return largest;
  }
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_VARIANTS_H
