//===- Quantization.cpp - TensorFlow Lite's quantized tensors -------------===//

#include "TFLite/Quantization.h"
#include "Common/Messages.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

/// An error if \p quantization has scales that are no positive numbers, or zero
/// points that no kind has.
static llvm::Error checkNumbers(const Quantization &quantization,
                                llvm::StringRef name) {
  for (float scale : quantization.scales)
    if (!(scale >= 0) || std::isinf(scale))
      return makeError("tensor {0} has the scale {1}; accepted: positive "
                       "numbers",
                       quote(name), typerules::formatDouble(double(scale)));
  for (int64_t zeroPoint : quantization.zeroPoints)
    if (zeroPoint < -32768 || zeroPoint > 65535)
      return makeError("tensor {0} has the zero point {1}; accepted: numbers "
                       "of its kind",
                       quote(name), zeroPoint);
  return llvm::Error::success();
}

//===- Blocks -------------------------------------------------------------===//

static bool isStoredInteger(ElemKind kind) {
  return isIntegerKind(kind) || isLowIntegerKind(kind);
}

/// The tensor \p index of \p graph, whose elements \p isKind accepts: one for
/// each block of \p tensor, in \p shape. \p what it has, and \p accepted for
/// it, are for the error.
static llvm::Expected<Tensor>
readBlocks(const TFLiteFile &file, const schema::SubGraph &graph,
           const schema::Tensor &tensor, int32_t index, DimsRef shape,
           bool (*isKind)(ElemKind), llvm::StringRef what) {
  if (index < 0 || size_t(index) >= graph.tensors()->size())
    return makeError("tensor {0} has the {1} in tensor {2} of {3}",
                     quote(getName(tensor)), what, index,
                     graph.tensors()->size());
  const schema::Tensor &stored = *graph.tensors()->Get(unsigned(index));
  GLOWISH_ASSIGN_OR_RETURN(Type type, getType(stored));
  if (type.getShape() != shape || !isKind(type.getKind()) ||
      file.getBytes(stored).empty())
    return makeError("the {0} of tensor {1} are {2}, {3}; accepted: constants, "
                     "{4}",
                     what, quote(getName(tensor)), quote(getName(stored)),
                     type.str(), formatShape(shape));
  return file.readConstant(stored);
}

/// What the integers of \p tensor stand for, whose blocks \p stored describes.
static llvm::Expected<Quantization>
readBlockwise(const TFLiteFile &file, const schema::SubGraph &graph,
              const schema::Tensor &tensor, const Type &type,
              const schema::BlockwiseQuantization &stored) {
  int64_t block = stored.block_size();
  Dims shape(type.getShape());
  if (!isStoredInteger(type.getKind()) || shape.empty() || block < 1 ||
      shape.back() % block != 0 || file.getBytes(tensor).empty())
    return makeError("tensor {0} is {1} and has blocks of {2} elements; "
                     "accepted: constant integers, the last extent a multiple "
                     "of that",
                     quote(getName(tensor)), type.str(), block);
  shape.back() /= block;
  Quantization result;
  result.axis = int64_t(shape.size()) - 1;
  result.block = block;
  GLOWISH_ASSIGN_OR_RETURN(Tensor scales,
                           readBlocks(file, graph, tensor, stored.scales(),
                                      shape, isFloatKind, "scales"));
  for (int64_t i = 0; i < scales.getNumElements(); ++i)
    result.scales.push_back(float(scales.getAsDouble(i)));
  if (stored.zero_points() == -1) {
    result.zeroPoints.resize(result.scales.size());
    return result;
  }
  GLOWISH_ASSIGN_OR_RETURN(Tensor zeroPoints,
                           readBlocks(file, graph, tensor, stored.zero_points(),
                                      shape, isStoredInteger, "zero points"));
  for (int64_t i = 0; i < zeroPoints.getNumElements(); ++i)
    result.zeroPoints.push_back(zeroPoints.getAsInt(i));
  return result;
}

//===- Scales of tensors and of dimensions --------------------------------===//

/// What the integers of \p tensor stand for, which has scales in \p stored.
static llvm::Expected<Quantization>
readScales(const schema::Tensor &tensor, const Type &type,
           const schema::QuantizationParameters &stored) {
  Quantization result;
  result.scales.assign(stored.scale()->begin(), stored.scale()->end());
  result.axis = stored.quantized_dimension();
  size_t count = result.scales.size();
  // FlatBuffers' verifier does not look at the alignment of the elements.
  if (const auto *zeroPoints = stored.zero_point())
    for (size_t i = 0; i < zeroPoints->size(); ++i)
      result.zeroPoints.push_back(
          int64_t(llvm::support::endian::read64le(zeroPoints->Data() + 8 * i)));
  // Zero points that are all 0 may be left out.
  if (result.zeroPoints.empty())
    result.zeroPoints.resize(count);
  bool isPerAxis = count > 1;
  // Old converters state the filter's dimension for biases.
  if (isPerAxis && type.getRank() == 1)
    result.axis = 0;
  if (isPerAxis && (result.axis < 0 || result.axis >= type.getRank() ||
                    type.getShape()[result.axis] != int64_t(count)))
    return makeError("tensor {0} is {1} and has {2} scales along dimension {3}",
                     quote(getName(tensor)), type.str(), count, result.axis);
  if (result.zeroPoints.size() != count)
    return makeError("tensor {0} has {1} scales and {2} zero points",
                     quote(getName(tensor)), count, result.zeroPoints.size());
  return result;
}

llvm::Expected<std::optional<Quantization>>
tflite::readQuantization(const TFLiteFile &file, const schema::SubGraph &graph,
                         const schema::Tensor &tensor, const Type &type) {
  const schema::QuantizationParameters *stored = tensor.quantization();
  if (!stored)
    return std::nullopt;
  auto read = [&]() -> llvm::Expected<Quantization> {
    switch (stored->details_type()) {
    case schema::QuantizationDetails::NONE:
      return readScales(tensor, type, *stored);
    case schema::QuantizationDetails::BlockwiseQuantization:
      return readBlockwise(file, graph, tensor, type,
                           *stored->details_as_BlockwiseQuantization());
    case schema::QuantizationDetails::CustomQuantization:
    case schema::QuantizationDetails::MultiAxisQuantization:
      break;
    }
    return makeError(
        "tensor {0} has {1}; accepted: scales, or BlockwiseQuantization",
        quote(getName(tensor)),
        schema::EnumNameQuantizationDetails(stored->details_type()));
  };
  bool hasScales = stored->scale() && stored->scale()->size() > 0 &&
                   !isFloatKind(type.getKind());
  if (!stored->details() && !hasScales)
    return std::nullopt;
  if (!stored->details() &&
      stored->details_type() != schema::QuantizationDetails::NONE)
    return makeError("it is malformed: tensor {0} lacks the details of its "
                     "quantization",
                     quote(getName(tensor)));
  GLOWISH_ASSIGN_OR_RETURN(Quantization result, read());
  GLOWISH_RETURN_IF_ERROR(checkNumbers(result, getName(tensor)));
  return std::optional<Quantization>(std::move(result));
}

//===- Factors ------------------------------------------------------------===//

FixedPointFactor FixedPointFactor::get(double factor) {
  // As large as an int32 allows.
  constexpr FixedPointFactor largest = {
      .multiplier = std::numeric_limits<int32_t>::max(), .shift = 30};
  if (!(factor > 0))
    return {};
  if (std::isinf(factor))
    return largest;
  FixedPointFactor result;
  double fraction = std::frexp(factor, &result.shift);
  auto multiplier = int64_t(std::round(fraction * double(int64_t(1) << 31)));
  if (multiplier == int64_t(1) << 31) {
    multiplier /= 2;
    ++result.shift;
  }
  // So small that what it multiplies becomes 0.
  if (result.shift < -31)
    return {};
  if (result.shift > 30)
    return largest;
  result.multiplier = int32_t(multiplier);
  return result;
}
