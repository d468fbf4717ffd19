//===- Variants.h - The programs of a bundle --------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_VARIANTS_H
#define GLOWISH_BACKENDS_VARIANTS_H

#include "glowish/IR/IR.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IR/PlaceholderPool.h"

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
  /// Single values of symbols with ranges: the program is only for runs that
  /// state these. It has the placeholders of the program for the whole ranges
  /// and the same `values`.
  std::vector<SymbolValue> stated = {};
  /// The function that it is, which has an entry of its own; empty where all
  /// programs have one entry.
  std::string entry = {};
  /// The placeholders that a function with an entry of its own shares.
  PlaceholderSharing sharing = {};

  bool isForWholeRanges() const { return stated.empty(); }
};

/// The programs of one bundle, which have one constant region: those of one
/// model, which have the same placeholders but for their shapes, or one for
/// each of several functions. Of those with the same values, the program for
/// whole ranges comes first; a run takes the last one whose stated values it
/// has.
struct Variants {
  /// The symbolic dimensions that values tell apart; none where there is one
  /// program, or one a function.
  std::vector<std::string> symbols;
  std::vector<Variant> programs;

  /// The only program.
  static Variants single(const IRFunction &function, const MemoryPlan &plan) {
    return {{}, {{{}, &function, &plan}}};
  }
  /// Whether each program is a function with an entry of its own.
  bool hasEntries() const { return !programs.front().entry.empty(); }
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
    return getLargest(&MemoryPlan::activationSize, [&](const Variant &program) {
      return llvm::ArrayRef(program.values) == values;
    });
  }
  uint64_t getAlignment() const { return getLargest(&MemoryPlan::alignment); }

private:
  uint64_t getLargest(
      uint64_t MemoryPlan::*size,
      llvm::function_ref<bool(const Variant &)> isMeant = [](const Variant &) {
        return true;
      }) const {
    uint64_t largest = 0;
    for (const Variant &program : programs)
      if (isMeant(program))
        largest = std::max(largest, program.plan->*size);
    return largest;
  }
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_VARIANTS_H
