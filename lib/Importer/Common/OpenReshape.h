//===- OpenReshape.h - Shapes of extents that runs decide -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// A framework's rule for the extent -1 of a new shape whose other extents make
/// 0 elements, so that no division tells it.
enum class EmptyRest : uint8_t {
  /// PyTorch refuses the reshape.
  Refused,
  /// Caffe2 takes 0 where the input has no elements, either.
  Zero,
  /// TensorFlow Lite divides the extents of the input that are not 0 by those
  /// of the new shape that are not 0.
  Ratio
};

/// Returns \p count elements divided by \p known of them, which are not 0: the
/// exact quotient, or a number's quotient rounded down, of which each run
/// requires that nothing remains. None if there is no such extent.
std::optional<Extent> divideElements(const Extent &count, const Extent &known);

/// Returns the extents \p dims of a new shape, one of which may be -1, with the
/// number in its place that gives the shape as many elements as dimensions of
/// the extents \p from have. An error if there is none, if only some runs have
/// one, or if both have other numbers of elements in each run.
llvm::Expected<std::vector<Extent>> completeShape(llvm::ArrayRef<Extent> dims,
                                                  llvm::ArrayRef<Extent> from,
                                                  const SymbolRanges &symbols,
                                                  EmptyRest rule);

/// Returns the type of \p kind with dimensions of \p extents, or an error if
/// there is none. A dimension has the bound that \p like has for the same
/// extent, if it does.
llvm::Expected<Type> makeType(ElemKind kind, llvm::ArrayRef<Extent> extents,
                              const SymbolRanges &symbols,
                              const Type &like = {});

/// Returns \p x, which may be null, in dimensions of completeShape(\p dims).
llvm::Expected<NodeValue> reshapeOpen(NodeBuilder &b, NodeValue x,
                                      llvm::ArrayRef<Extent> dims,
                                      EmptyRest rule);

/// Returns the extents of dimensions \p dims of \p x, which may be null, as a
/// list of \p kind.
NodeValue listExtents(NodeBuilder &b, ElemKind kind, NodeValue x,
                      llvm::ArrayRef<int64_t> dims);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPENRESHAPE_H
