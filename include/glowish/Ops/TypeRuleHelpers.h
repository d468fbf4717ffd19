//===- TypeRuleHelpers.h - Checks that type rules share ---------*- C++ -*-===//

#ifndef GLOWISH_OPS_TYPERULEHELPERS_H
#define GLOWISH_OPS_TYPERULEHELPERS_H

#include "glowish/Ops/TypeRules.h"
#include "glowish/Support/Error.h"

namespace glowish::typerules {

/// \name Operands
/// Errors name operand \p index, what it is and what would be accepted.
/// checkIs, checkSameKind and checkZeroPoint take an optional operand that is
/// absent.
/// @{
/// float16, bfloat16, float or double.
llvm::Error checkFloat(const OpView &op, unsigned index);
/// A float or an integer kind.
llvm::Error checkNumber(const OpView &op, unsigned index);
/// An 8-bit integer kind.
llvm::Error checkBytes(const OpView &op, unsigned index);
/// The kind of operand \p other, and a scalar or one value per index of its
/// dimension \p dim.
llvm::Error checkZeroPoint(const OpView &op, unsigned index, unsigned other,
                           unsigned dim);
llvm::Error checkRank(const OpView &op, unsigned index, unsigned rank);
/// At least \p rank.
llvm::Error checkMinRank(const OpView &op, unsigned index, unsigned rank);
/// The element kind of operand \p other.
llvm::Error checkSameKind(const OpView &op, unsigned index, unsigned other);
/// Element kind \p kind and shape \p shape.
llvm::Error checkIs(const OpView &op, unsigned index, ElemKind kind,
                    DimsRef shape);
/// Broadcasts to \p shape.
llvm::Error checkBroadcastsTo(const OpView &op, unsigned index, DimsRef shape);
/// Checks that the operand is not quantized, or has one scale for the tensor:
/// for rules that do not map scales of a dimension.
llvm::Error checkNotPerAxis(const OpView &op, unsigned index);
/// @}

/// \name Attributes
/// @{
/// One of the dimensions of operand \p operand, counted from 0.
llvm::Error checkAxis(const OpView &op, llvm::StringRef name, int64_t axis,
                      unsigned operand);
llvm::Error checkLength(const OpView &op, llvm::StringRef name,
                        llvm::ArrayRef<int64_t> values, size_t length);
/// \p length values, each at least \p least.
llvm::Error checkValues(const OpView &op, llvm::StringRef name,
                        llvm::ArrayRef<int64_t> values, size_t length,
                        int64_t least);
/// An element of kind \p kind can hold \p value: a float rounds, all others
/// must be exact. Quantized kinds hold their integers.
llvm::Error checkRepresentable(const OpView &op, llvm::StringRef name,
                               double value, ElemKind kind);
/// \p value as the text forms print it.
std::string formatDouble(double value);
/// @}

/// \name Results
/// @{
/// \p type, if its shape is a shape.
llvm::Expected<TypeList> makeResult(Type type);
llvm::Expected<TypeList> makeResult(ElemKind kind, DimsRef shape);
/// \p shape with \p axis taken out, or kept as 1.
Dims reduceShape(DimsRef shape, llvm::ArrayRef<int64_t> axes, bool keepDims);

/// @}

/// Windows that slide over the height and width of NHWC images.
struct Windows {
  llvm::ArrayRef<int64_t> kernels, strides, pads, dilations;
};
/// Height and width of the result for images of \p size, the height and width
/// of operand 0 where that is not stated; checks the four attributes of
/// \p windows (the kernels of a convolution come from its filter, and are
/// checked by it).
llvm::Expected<std::array<int64_t, 2>>
countWindows(const OpView &op, const Windows &windows, DimsRef size = {});
/// Counts the windows that the attributes of \p op state, kernels included, as
/// countWindows does.
template <typename View>
llvm::Expected<std::array<int64_t, 2>> countOwnWindows(const View &op,
                                                       DimsRef size = {}) {
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "kernels", op.getKernels(), 2, 1));
  return countWindows(
      op, {op.getKernels(), op.getStrides(), op.getPads(), op.getDilations()},
      size);
}
/// Operand \p index, a gradient, is [N, size, channels] of operand 0's kind,
/// with the size that countWindows gave.
llvm::Error checkWindowGradient(const OpView &op, unsigned index,
                                std::array<int64_t, 2> size, int64_t channels);

} // namespace glowish::typerules

#endif // GLOWISH_OPS_TYPERULEHELPERS_H
