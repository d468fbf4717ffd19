//===- Layout.h - The order of elements in memory ---------------*- C++ -*-===//
//
// The graph has values, whose elements have indices and no addresses. PyTorch's
// tensors have strides, which as_strided() and stride() show, and which decide
// whether reshape() copies.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_LAYOUT_H
#define GLOWISH_LIB_IMPORTER_ATEN_LAYOUT_H

#include "Aten/AtenOp.h"

namespace glowish::aten {

/// The numbers that TorchScript has for torch.memory_format.
enum class MemoryFormat : int64_t {
  Contiguous = 0,
  Preserve = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3,
};

/// An operator that makes a tensor of another one's memory.
struct AtenView {
  const RegisteredAtenOp *op = nullptr;
  /// In the order of its schema; that at `self` is the other tensor.
  AtenValue::List arguments = {};
  unsigned self = 0;
  /// The position in the list that it returns.
  std::optional<size_t> element = {};
};

/// Creates what \p view makes of \p base.
llvm::Expected<NodeValue> applyView(AtenView view, NodeValue base,
                                    Function &function, llvm::StringRef name,
                                    AtenContext &context);

/// Strides, in elements, with which all elements \p places of a tensor of
/// \p shape are found from the first one; none if there are no such.
std::optional<Dims> findStrides(DimsRef shape, llvm::ArrayRef<int64_t> places);

/// Whether two tensors of \p shape with these strides have their elements at
/// the same places: strides of one index don't count.
bool haveSameOrder(DimsRef shape, DimsRef strides, DimsRef others);

/// Whether elements with these strides can be seen in the shape \p wanted
/// without a copy.
bool canReshape(DimsRef shape, DimsRef strides, DimsRef wanted);

/// The dimensions from the outermost to the innermost one in memory, where
/// elements with these strides are next to each other; none if there are gaps
/// or elements at one place.
std::optional<std::vector<int64_t>> findOrder(DimsRef shape, DimsRef strides);

/// The strides of elements that are next to each other with the dimensions in
/// \p order, from the outermost to the innermost one.
Dims getOrderedStrides(DimsRef shape, llvm::ArrayRef<int64_t> order);

/// The strides of row-major elements. Extents of 0 count as 1, as opposed to
/// those of getDenseStrides().
Dims getRowMajorStrides(DimsRef shape);

/// The strides of images [N, C, ...] whose channels are the innermost
/// dimension, as of torch.channels_last; none unless there are two or three
/// spatial dimensions.
std::optional<Dims> getChannelsLastStrides(DimsRef shape);
/// The strides of tensors in \p format; none for one of images if \p shape is
/// of none, and for Preserve.
std::optional<Dims> getStrides(MemoryFormat format, DimsRef shape);
/// Whether PyTorch takes elements with these strides for such images; what may
/// be row-major as well is not.
bool areChannelsLast(DimsRef shape, DimsRef strides);

/// The strides of the result of an operator on each element of tensors, by the
/// rules of ATen's TensorIterator. \p shapes and \p strides are those of the
/// operands, which broadcast to \p shape.
Dims combineStrides(DimsRef shape, llvm::ArrayRef<DimsRef> shapes,
                    llvm::ArrayRef<DimsRef> strides);

/// A constant with the place in memory of each element of a tensor with these
/// strides, whose first one is at \p first.
llvm::Expected<NodeValue> makePlaces(Module &module, DimsRef shape,
                                     DimsRef strides, AtenContext &context,
                                     int64_t first = 0);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_LAYOUT_H
