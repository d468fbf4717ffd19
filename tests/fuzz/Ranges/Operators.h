//===- Operators.h - Random operators of ranged models ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_OPERATORS_H
#define GLOWISH_TESTS_FUZZ_RANGES_OPERATORS_H

#include "ModelBuilder.h"

namespace glowish::fuzz {

/// Adds a random operator of a family over values that are there, with what it
/// needs besides. Returns false where nothing fits. What the importer does not
/// take at all points is thrown away: a generator need not be exact, but for
/// what the importer can't see: an extent that is 1 only in some runs does not
/// broadcast, and indices are in range.
using OperatorGenerator = bool (*)(ModelBuilder &);

struct OperatorFamily {
  OperatorGenerator add;
  /// How often it is tried.
  unsigned weight;
};

llvm::ArrayRef<OperatorFamily> getElementWiseFamilies();
llvm::ArrayRef<OperatorFamily> getReductionFamilies();
llvm::ArrayRef<OperatorFamily> getMovementFamilies();
llvm::ArrayRef<OperatorFamily> getShapeFamilies();
llvm::ArrayRef<OperatorFamily> getIndexingFamilies();
llvm::ArrayRef<OperatorFamily> getMatMulFamilies();
llvm::ArrayRef<OperatorFamily> getAttentionFamilies();
llvm::ArrayRef<OperatorFamily> getImageFamilies();
llvm::ArrayRef<OperatorFamily> getQuantizedFamilies();

/// Whether \p a and \p b broadcast to each other: along each dimension they are
/// the same, or one has one element in every run.
bool broadcasts(const ModelValue &a, const ModelValue &b);
/// A value that broadcasts to \p value, of its kind: one that is there, or one
/// with some of its dimensions.
std::optional<ModelValue> findBroadcast(ModelBuilder &b, ElemKind kind,
                                        const ModelValue &value);
/// Floats [N, C, W] or [N, C, H, W], of a known number of channels.
bool isImages(const ModelValue &value);
/// Adds a filter of a shape, and a bias or none, and returns their names.
using FilterMaker = llvm::function_ref<std::vector<std::string>(DimsRef)>;
/// Adds a convolution of \p images, which have the shape of \p x; none where
/// some have no pixels.
std::optional<std::string> addConv(ModelBuilder &b, const ModelValue &x,
                                   const std::string &images,
                                   FilterMaker makeFilter);
/// Adds a pooling in the same way.
std::optional<std::string> addPool(ModelBuilder &b, const ModelValue &x,
                                   const std::string &images);
/// Adds a Resize that repeats pixels.
std::string addNearest(ModelBuilder &b, const ModelValue &x,
                       const std::string &images);
/// A dimension of \p value; it has one.
inline int64_t pickAxis(ModelBuilder &b, const ModelValue &value) {
  return int64_t(b.random.below(value.getRank()));
}
/// \p axis, or counted from the end.
inline int64_t countFromEither(ModelBuilder &b, int64_t axis, unsigned rank) {
  return b.chance(30) ? axis - int64_t(rank) : axis;
}

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_OPERATORS_H
