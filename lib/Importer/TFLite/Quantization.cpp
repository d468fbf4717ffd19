//===- Quantization.cpp - TensorFlow Lite's quantized tensors -------------===//

#include "TFLite/Quantization.h"
#include "Common/Messages.h"
#include "glowish/Ops/TypeRuleHelpers.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace glowish;
using namespace glowish::tflite;

llvm::Expected<std::optional<Quantization>>
tflite::readQuantization(const schema::Tensor &tensor, const Type &type) {
  const schema::QuantizationParameters *params = tensor.quantization();
  if (!params || !params->scale() || params->scale()->size() == 0 ||
      isFloatKind(type.getKind()))
    return std::optional<Quantization>();
  Quantization result;
  result.scales.assign(params->scale()->begin(), params->scale()->end());
  result.axis = params->quantized_dimension();
  size_t count = result.scales.size();
  // FlatBuffers' verifier does not look at the alignment of the elements.
  if (const auto *zeroPoints = params->zero_point())
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
  for (float scale : result.scales)
    if (!(scale >= 0) || std::isinf(scale))
      return makeError("tensor {0} has the scale {1}; accepted: positive "
                       "numbers",
                       quote(getName(tensor)),
                       typerules::formatDouble(double(scale)));
  for (int64_t zeroPoint : result.zeroPoints)
    if (zeroPoint < -32768 || zeroPoint > 65535)
      return makeError("tensor {0} has the zero point {1}; accepted: numbers "
                       "of its kind",
                       quote(getName(tensor)), zeroPoint);
  return std::optional<Quantization>(std::move(result));
}

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
