//===- Convolution.cpp - Types of convolutions ----------------------------===//

#include "glowish/Base/CheckedInt.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using namespace glowish::typerules;
using llvm::Error;
using llvm::Twine;

/// The filter [OC, KH, KW, C / group] against the input [N, H, W, C]. \p View:
/// that of any convolution.
template <typename View> static Error checkFilter(const View &op) {
  int64_t channels = op.getInput().getDim(3), group = op.getGroup();
  DimsRef filter = op.getFilter().getShape();
  if (group < 1)
    return op.attrError("group", Twine(group) + " is less than 1");
  if (channels % group)
    return op.attrError("group", Twine(group) + " does not divide the " +
                                     Twine(channels) + " input channels");
  if (filter[0] % group)
    return op.attrError("group", Twine(group) + " does not divide the " +
                                     Twine(filter[0]) + " output channels");
  if (filter[3] != channels / group)
    return op.operandError(op.filterIdx, "expected " + Twine(channels / group) +
                                             " as the last extent");
  if (filter[1] < 1 || filter[2] < 1)
    return op.operandError(op.filterIdx, "the kernel has no elements");
  return Error::success();
}

/// The result, of \p kind as the bias, of a convolution whose element kinds are
/// right.
template <typename View>
static llvm::Expected<TypeList> inferConvolutionOf(const View &op,
                                                   ElemKind kind) {
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.filterIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkFilter(op));
  DimsRef input = op.getInput().getShape();
  DimsRef filter = op.getFilter().getShape();
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.biasIdx, kind, {filter[0]}));
  GLOWISH_ASSIGN_OR_RETURN(
      auto size, countWindows(op, {filter.slice(1, 2), op.getStrides(),
                                   op.getPads(), op.getDilations()}));
  return makeResult(kind, {input[0], size[0], size[1], filter[0]});
}

llvm::Expected<TypeList> glowish::inferConvolution(const OpView &view) {
  ConvolutionView op(view);
  GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.filterIdx, op.inputIdx));
  return inferConvolutionOf(op, op.getInput().getKind());
}

llvm::Expected<TypeList> glowish::inferConvolutionInteger(const OpView &view) {
  ConvolutionIntegerView op(view);
  GLOWISH_RETURN_IF_ERROR(checkBytes(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkBytes(op, op.filterIdx));
  GLOWISH_RETURN_IF_ERROR(
      checkIs(op, op.zeroPointIdx, op.getInput().getKind(), {}));
  GLOWISH_RETURN_IF_ERROR(
      checkZeroPoint(op, op.filterZeroPointIdx, op.filterIdx, 0));
  return inferConvolutionOf(op, ElemKind::Int32);
}

llvm::Expected<TypeList>
glowish::inferConvolutionFilterGradient(const OpView &view) {
  ConvolutionFilterGradientView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.gradientIdx, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.gradientIdx, 4));
  int64_t channels = op.getInput().getDim(3), group = op.getGroup();
  int64_t outChannels = op.getGradient().getDim(3);
  if (group < 1 || channels % group || outChannels % group)
    return op.attrError("group", llvm::formatv("{0} does not divide the {1} "
                                               "channels of the input and the "
                                               "{2} of the gradient",
                                               group, channels, outChannels));
  GLOWISH_ASSIGN_OR_RETURN(auto size, countOwnWindows(op));
  GLOWISH_RETURN_IF_ERROR(
      checkWindowGradient(op, op.gradientIdx, size, outChannels));
  return makeResult(
      op.getInput().getKind(),
      {outChannels, op.getKernels()[0], op.getKernels()[1], channels / group});
}

/// The attributes of a transposed convolution, all in a range in which sizes
/// don't overflow.
static Error checkTransposedWindow(const ConvTransposeView &op) {
  constexpr int64_t most = int64_t(1) << 31;
  auto check = [&](llvm::StringRef name, llvm::ArrayRef<int64_t> values,
                   size_t count, int64_t least) -> Error {
    GLOWISH_RETURN_IF_ERROR(checkValues(op, name, values, count, least));
    for (int64_t value : values)
      if (value > most)
        return op.attrError(name,
                            Twine(value) + " is more than " + Twine(most));
    return Error::success();
  };
  GLOWISH_RETURN_IF_ERROR(check("strides", op.getStrides(), 2, 1));
  GLOWISH_RETURN_IF_ERROR(check("pads", op.getPads(), 4, 0));
  GLOWISH_RETURN_IF_ERROR(check("outputPads", op.getOutputPads(), 2, 0));
  return check("dilations", op.getDilations(), 2, 1);
}

/// Lowering makes a convolution of each residue of the position modulo the
/// strides that a tap of the kernel reaches.
static Error checkTransposedPhases(const ConvTransposeView &op) {
  constexpr int64_t most = 4096;
  DimsRef filter = op.getFilter().getShape();
  int64_t rows = std::min(op.getStrides()[0], filter[1]);
  int64_t columns = std::min(op.getStrides()[1], filter[2]);
  if (rows <= most && columns <= most && rows * columns <= most)
    return Error::success();
  return op.attrError(
      "strides", llvm::formatv("{0} x {1} of a kernel of {2} x {3} make {4} x "
                               "{5} convolutions; accepted: {6} altogether",
                               op.getStrides()[0], op.getStrides()[1],
                               filter[1], filter[2], rows, columns, most));
}

/// Lowering cuts \p result from one whose extents are multiples of the strides.
static Error checkWholeStrides(const ConvTransposeView &op,
                               const Type &result) {
  Dims whole(result.getShape());
  for (unsigned d = 0; d < 2; ++d)
    whole[d + 1] =
        llvm::alignTo(whole[d + 1], std::min(op.getStrides()[d], whole[d + 1]));
  Error error = checkShape(result.getKind(), whole);
  return error ? op.attrError("strides", "with whole strides, " +
                                             llvm::toString(std::move(error)))
               : Error::success();
}

llvm::Expected<TypeList> glowish::inferConvTranspose(const OpView &view) {
  ConvTransposeView op(view);
  GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.filterIdx, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.filterIdx, 4));
  GLOWISH_RETURN_IF_ERROR(checkTransposedWindow(op));
  DimsRef input = op.getInput().getShape();
  DimsRef filter = op.getFilter().getShape();
  int64_t group = op.getGroup();
  if (group < 1 || input[3] % group)
    return op.attrError("group", Twine(group) + " does not divide the " +
                                     Twine(input[3]) + " input channels");
  if (filter[0] != input[3])
    return op.operandError(op.filterIdx, "expected " + Twine(input[3]) +
                                             " as the first extent");
  if (filter[1] < 1 || filter[2] < 1)
    return op.operandError(op.filterIdx, "the kernel has no elements");
  GLOWISH_RETURN_IF_ERROR(checkTransposedPhases(op));
  std::optional<int64_t> channels = (CheckedInt(filter[3]) * group).get();
  if (!channels)
    return op.attrError("group", "the result has too many channels");
  ElemKind kind = op.getInput().getKind();
  GLOWISH_RETURN_IF_ERROR(checkIs(op, op.biasIdx, kind, {*channels}));
  Dims result = {input[0], 0, 0, *channels};
  for (unsigned d = 0; d < 2; ++d) {
    CheckedInt spread = CheckedInt(input[d + 1] - 1) * op.getStrides()[d];
    CheckedInt reach = CheckedInt(filter[d + 1] - 1) * op.getDilations()[d];
    std::optional<int64_t> size = (spread + reach + 1 + op.getOutputPads()[d] -
                                   op.getPads()[d] - op.getPads()[d + 2])
                                      .get();
    if (!size)
      return op.operandError(op.inputIdx, "the result is too large");
    if (input[d + 1] < 1 || *size < 1)
      return op.operandError(op.inputIdx, "the result has no elements");
    result[d + 1] = *size;
  }
  GLOWISH_ASSIGN_OR_RETURN(TypeList types, makeResult(kind, result));
  GLOWISH_RETURN_IF_ERROR(checkWholeStrides(op, types.front()));
  return types;
}
