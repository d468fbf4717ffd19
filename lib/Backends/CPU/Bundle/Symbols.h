//===- Symbols.h - The placeholders as a bundle shows them ------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_SYMBOLS_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_SYMBOLS_H

#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// One placeholder of a bundle.
struct BundleSymbol {
  std::string modelName;
  /// The model's name as a C identifier: chooseIdentifiers (Names.h).
  std::string identifier;
  Type type;
  /// 1 input, 2 output, 3 both, 0 neither (state): GLOWISH_INPUT | ...
  unsigned direction;
  /// Whether it is in the activations, and not in the mutable region.
  bool isInArena;
  /// The number of its region among those of the activations; 0 where they are
  /// one.
  unsigned arenaRegion;
  /// Bytes from the start of its region.
  uint64_t offset;
  /// Of an output whose extents are known after a call: the number of the
  /// symbol that has them.
  std::optional<unsigned> extents;
  InputExtents inputExtents = {};
  /// Placeholder::getClassNames.
  std::vector<std::string> classNames = {};
};

/// The number of a region in headers: GLOWISH_REGION_MUTABLE or
/// GLOWISH_REGION_ACTIVATIONS, or of one of several regions of the activations.
/// It is the number of the entry's pointer after constantWeight.
inline unsigned getRegionNumber(const BundleSymbol &symbol) {
  return symbol.isInArena ? 1 + symbol.arenaRegion : 0;
}

/// The placeholders of \p function in the model's order, without identifiers.
std::vector<BundleSymbol> getBundleSymbols(const IRFunction &function,
                                           const MemoryPlan &plan);

/// One constant of a bundle.
struct BundleConstant {
  std::string name;
  Type type;
  /// Bytes from the start of the constant region.
  uint64_t offset;
};

/// The constants of \p function and its bodies. Some have the same place.
std::vector<BundleConstant> getBundleConstants(const IRFunction &function,
                                               const MemoryPlan &plan);

/// The number of an element kind in headers: GLOWISH_FLOAT is 0. Part of the
/// ABI: the order of ElemKinds.def only grows at its end.
inline unsigned getKindNumber(ElemKind kind) { return unsigned(kind); }

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_SYMBOLS_H
