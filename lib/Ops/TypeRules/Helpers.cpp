//===- Helpers.cpp - Checks that type rules share -------------------------===//

#include "glowish/Base/CheckedInt.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace glowish;
using llvm::Error;
using llvm::Twine;

//===- Operands -----------------------------------------------------------===//

Error typerules::checkFloat(const OpView &op, unsigned index) {
  if (isFloatKind(op.getInput(index).getKind()))
    return Error::success();
  return op.operandError(index, "expected a float kind");
}

Error typerules::checkNumber(const OpView &op, unsigned index) {
  ElemKind kind = op.getInput(index).getKind();
  if (isFloatKind(kind) || isIntegerKind(kind))
    return Error::success();
  return op.operandError(index, "expected a float or integer kind");
}

Error typerules::checkBytes(const OpView &op, unsigned index) {
  ElemKind kind = op.getInput(index).getKind();
  if (kind == ElemKind::Int8 || kind == ElemKind::UInt8)
    return Error::success();
  return op.operandError(index, "expected kind int8 or uint8");
}

Error typerules::checkZeroPoint(const OpView &op, unsigned index,
                                unsigned other, unsigned dim) {
  if (!op.hasInput(index) || op.getInput(index).getRank() == 0)
    return checkSameKind(op, index, other);
  if (op.getInput(other).getRank() <= dim)
    return op.operandError(other, "expected at least rank " + Twine(dim + 1));
  return checkIs(op, index, op.getInput(other).getKind(),
                 {op.getInput(other).getDim(dim)});
}

Error typerules::checkRank(const OpView &op, unsigned index, unsigned rank) {
  if (op.getInput(index).getRank() == rank)
    return Error::success();
  return op.operandError(index, "expected rank " + Twine(rank));
}

Error typerules::checkMinRank(const OpView &op, unsigned index, unsigned rank) {
  if (op.getInput(index).getRank() >= rank)
    return Error::success();
  return op.operandError(index, "expected at least rank " + Twine(rank));
}

Error typerules::checkSameKind(const OpView &op, unsigned index,
                               unsigned other) {
  ElemKind kind = op.getInput(other).getKind();
  if (!op.hasInput(index) || op.getInput(index).getKind() == kind)
    return Error::success();
  return op.operandError(index, "expected kind " + getElemKindName(kind));
}

Error typerules::checkIs(const OpView &op, unsigned index, ElemKind kind,
                         DimsRef shape) {
  if (!op.hasInput(index) || (op.getInput(index).getKind() == kind &&
                              op.getInput(index).getShape() == shape))
    return Error::success();
  return op.operandError(index, "expected kind " + getElemKindName(kind) +
                                    " and shape " + formatShape(shape));
}

Error typerules::checkBroadcastsTo(const OpView &op, unsigned index,
                                   DimsRef shape) {
  DimsRef found = op.getInput(index).getShape();
  bool fits = found.size() <= shape.size();
  for (size_t d = 0; fits && d < found.size(); ++d)
    fits = found[d] == 1 || found[d] == shape[shape.size() - found.size() + d];
  if (fits)
    return Error::success();
  return op.operandError(index, "does not broadcast to " + formatShape(shape));
}

Error typerules::checkNotPerAxis(const OpView &op, unsigned index) {
  const Type &type = op.getInput(index);
  if (!type.isQuantized() || type.getQuantParams().axis < 0)
    return Error::success();
  return op.operandError(index, "expected one scale for the whole tensor");
}

//===- Attributes ---------------------------------------------------------===//

Error typerules::checkAxis(const OpView &op, llvm::StringRef name, int64_t axis,
                           unsigned operand) {
  unsigned rank = op.getInput(operand).getRank();
  if (axis >= 0 && axis < int64_t(rank))
    return Error::success();
  return op.attrError(name, Twine(axis) + " is not a dimension of rank " +
                                Twine(rank));
}

Error typerules::checkLength(const OpView &op, llvm::StringRef name,
                             llvm::ArrayRef<int64_t> values, size_t length) {
  if (values.size() == length)
    return Error::success();
  return op.attrError(name, "expected " + Twine(length) +
                                (length == 1 ? " value" : " values") +
                                ", got " + Twine(values.size()));
}

Error typerules::checkValues(const OpView &op, llvm::StringRef name,
                             llvm::ArrayRef<int64_t> values, size_t length,
                             int64_t least) {
  GLOWISH_RETURN_IF_ERROR(checkLength(op, name, values, length));
  for (int64_t value : values)
    if (value < least)
      return op.attrError(name, Twine(value) + " is less than " + Twine(least));
  return Error::success();
}

std::string typerules::formatDouble(double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printDouble(os, value);
  return text;
}

Error typerules::checkRepresentable(const OpView &op, llvm::StringRef name,
                                    double value, ElemKind kind) {
  bool fits = dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      return value == 0 || value == 1;
    } else if constexpr (std::is_integral_v<T>) {
      // One more than the largest value: a power of two, exact as a double.
      double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
      return value == std::trunc(value) &&
             value >= double(std::numeric_limits<T>::lowest()) && value < limit;
    } else if constexpr (isLowInt<T>) {
      return value == std::trunc(value) && value >= T::lowest &&
             value <= T::highest;
    } else {
      return true;
    }
  });
  if (fits)
    return Error::success();
  return op.attrError(name, formatDouble(value) + " is not a value of kind " +
                                getElemKindName(kind));
}

//===- Results ------------------------------------------------------------===//

llvm::Expected<TypeList> typerules::makeResult(Type type) {
  GLOWISH_RETURN_IF_ERROR(checkShape(type.getKind(), type.getShape()));
  return TypeList{std::move(type)};
}

llvm::Expected<TypeList> typerules::makeResult(ElemKind kind, DimsRef shape) {
  return makeResult(Type(kind, shape));
}

Dims typerules::reduceShape(DimsRef shape, llvm::ArrayRef<int64_t> axes,
                            bool keepDims) {
  // Axes ascend, so that one walk over both lists finds them.
  Dims result;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d) {
    bool isReduced = !axes.empty() && axes.front() == d;
    if (isReduced)
      axes = axes.drop_front();
    if (!isReduced)
      result.push_back(shape[d]);
    else if (keepDims)
      result.push_back(1);
  }
  return result;
}

llvm::Expected<TypeList> glowish::applyEpilogue(const OpView &op,
                                                TypeList result,
                                                unsigned fusedOperand,
                                                unsigned epilogueAttr) {
  const Type &type = result.front();
  // Inputs are counted without the results.
  unsigned firstFused =
      fusedOperand -
      llvm::count_if(op.getInfo().operands, [](const OperandInfo &operand) {
        return operand.role == OperandRole::Out;
      });
  llvm::SmallVector<ElemKind, 4> kinds = {type.getKind()};
  for (unsigned i = firstFused; i < op.getNumInputs(); ++i) {
    GLOWISH_RETURN_IF_ERROR(
        typerules::checkBroadcastsTo(op, i, type.getShape()));
    kinds.push_back(op.getInput(i).getKind());
  }
  llvm::Expected<ElemKind> kind =
      op.getAttr<ScalarProgram>(epilogueAttr).check(kinds);
  if (!kind)
    return op.attrError("epilogue", llvm::toString(kind.takeError()));
  if (*kind != type.getKind())
    result.front() = type.withKind(*kind);
  return result;
}

//===- Windows ------------------------------------------------------------===//

/// Windows of \p kernel taps, \p dilation apart, in \p extent elements with
/// \p before and \p after around them; nullopt when a sum overflows.
static std::optional<int64_t> countPositions(int64_t extent, int64_t before,
                                             int64_t after, int64_t kernel,
                                             int64_t dilation, int64_t stride) {
  std::optional<int64_t> padded = (CheckedInt(extent) + before + after).get();
  std::optional<int64_t> reach = (CheckedInt(kernel - 1) * dilation + 1).get();
  if (!padded || !reach)
    return std::nullopt;
  return *padded < *reach ? 0 : (*padded - *reach) / stride + 1;
}

llvm::Expected<std::array<int64_t, 2>>
typerules::countWindows(const OpView &op, const Windows &windows,
                        DimsRef size) {
  if (size.empty())
    size = op.getInput(0).getShape().slice(1, 2);
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "strides", windows.strides, 2, 1));
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "pads", windows.pads, 4, 0));
  GLOWISH_RETURN_IF_ERROR(
      checkValues(op, "dilations", windows.dilations, 2, 1));
  std::array<int64_t, 2> counts;
  for (unsigned d = 0; d < 2; ++d) {
    std::optional<int64_t> count = countPositions(
        size[d], windows.pads[d], windows.pads[2 + d], windows.kernels[d],
        windows.dilations[d], windows.strides[d]);
    llvm::StringRef side = d == 0 ? "height" : "width";
    if (!count)
      return op.operandError(0, "pads or dilations of the " + side +
                                    " are too large");
    if (*count == 0)
      return op.operandError(
          0, llvm::formatv("a kernel of {0} {1} does not fit {2} with pads {3} "
                           "and {4} and dilation {5}",
                           side, windows.kernels[d], size[d], windows.pads[d],
                           windows.pads[2 + d], windows.dilations[d]));
    counts[d] = *count;
  }
  return counts;
}

llvm::Error typerules::checkWindowGradient(const OpView &op, unsigned index,
                                           std::array<int64_t, 2> size,
                                           int64_t channels) {
  const Type &image = op.getInput(0);
  return checkIs(op, index, image.getKind(),
                 {image.getDim(0), size[0], size[1], channels});
}
