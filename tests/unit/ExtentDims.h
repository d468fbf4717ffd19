//===- ExtentDims.h - Random dimensions with extents ------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_EXTENTDIMS_H
#define GLOWISH_TESTS_UNIT_EXTENTDIMS_H

#include "ExtentCases.h"

namespace glowish {

/// Returns a number from \p low to \p high.
int64_t pick(Random &random, int64_t low, int64_t high);

/// A dimension, static or with an extent.
struct Dim {
  std::string expression;
  int64_t low, high;
  int64_t bound;
  bool isOpen;

  std::string str() const;
  /// Returns the same where a list of attributes has it.
  std::string attr() const;
};

using DimVector = std::vector<Dim>;

/// Returns a static dimension.
Dim fix(int64_t extent);
/// Returns a dimension with an extent of at least \p least for all values.
Dim makeOpenDim(Random &random, int64_t least = 0);
/// Returns one of either kind.
Dim makeDim(Random &random, int64_t least = 0);
Dim multiplyDim(const Dim &dim, int64_t factor);

DimVector makeDims(Random &random, unsigned rank);
/// Returns one to three dimensions.
DimVector makeDims(Random &random);

/// Returns the template of a type.
std::string makeType(llvm::StringRef kind, llvm::ArrayRef<Dim> dims);
/// Returns the same as a list of attributes.
std::string makeList(llvm::ArrayRef<Dim> dims);

/// Returns the cases of the records that move elements.
std::map<std::string, MakeCase> makeMovementCases();

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_EXTENTDIMS_H
