//===- Weights.cpp - Constant operands as integers ------------------------===//

#include "Quantize/Weights.h"
#include <cmath>

using namespace glowish;

/// The scale of weights is symmetric in any schema: a zero point would cost a
/// sum of the inputs for each output.
static QuantizationSchema getWeightSchema(const QuantizationConfig &config) {
  return config.schema == QuantizationSchema::SymmetricWithPower2Scale
             ? config.schema
             : QuantizationSchema::Symmetric;
}

/// The scale of \p values, which are those of a channel or of all.
static double getScale(llvm::ArrayRef<float> values,
                       const QuantizationConfig &config) {
  QuantizationSchema schema = getWeightSchema(config);
  Histogram histogram;
  histogram.add(values);
  if (histogram.isEmpty())
    return 1;
  ValueRange range =
      calibrate(histogram, schema,
                config.calibratesConstants ? config.calibration
                                           : QuantizationCalibration::None);
  // Zeros have any scale; the bias is a multiple of it.
  constexpr double least = 1e-20;
  range.max = std::max(range.max, least);
  return chooseQuantization(range, schema).scale;
}

/// \p scale, or a larger one by which \p bias has at most 2^30 steps, so that
/// sums don't overflow.
static double fitBias(double scale, double bias, double inputScale,
                      const QuantizationConfig &config) {
  double least = std::abs(bias) / (inputScale * 0x1p30);
  if (!(scale < least))
    return scale;
  return chooseQuantization({-127 * least, 127 * least},
                            getWeightSchema(config))
      .scale;
}

QuantizedWeights glowish::quantizeWeights(const Tensor &weights, size_t axis,
                                          const Tensor *bias, double inputScale,
                                          const QuantizationConfig &config,
                                          bool isPerChannel) {
  DimsRef shape = weights.getType().getShape();
  int64_t numChannels = shape[axis];
  int64_t inner = countElements(shape.drop_front(axis + 1));
  int64_t numScales = isPerChannel ? numChannels : 1;
  auto findScale = [&](int64_t i) {
    return size_t(isPerChannel ? i / inner % numChannels : 0);
  };
  std::vector<std::vector<float>> values((size_t(numScales)));
  llvm::ArrayRef<float> all = weights.data<float>();
  for (int64_t i = 0; i < weights.getNumElements(); ++i)
    values[findScale(i)].push_back(all[size_t(i)]);
  Dims scaleShape;
  if (isPerChannel) {
    scaleShape = Dims(shape.size(), 1);
    scaleShape[axis] = numChannels;
  }
  QuantizedWeights result = {Tensor(Type(ElemKind::Int8, shape)),
                             Tensor(Type(ElemKind::Float, scaleShape))};
  auto scales = result.scales.data<float>();
  for (int64_t channel = 0; channel < numScales; ++channel)
    scales[size_t(channel)] = float(getScale(values[size_t(channel)], config));
  if (bias && bias->getNumElements() == numChannels)
    for (int64_t channel = 0; channel < numChannels; ++channel) {
      float &scale = scales[size_t(isPerChannel ? channel : 0)];
      scale =
          float(fitBias(scale, bias->getAsDouble(channel), inputScale, config));
    }
  for (int64_t i = 0; i < weights.getNumElements(); ++i) {
    double integer =
        std::nearbyint(double(all[size_t(i)]) / scales[findScale(i)]);
    // Symmetric: -128 would have no opposite.
    result.integers.setFromDouble(i,
                                  std::min(std::max(integer, -127.0), 127.0));
  }
  return result;
}

Tensor glowish::roundBias(const Tensor &bias, const QuantizedWeights &weights,
                          int64_t numChannels, double inputScale) {
  Tensor rounded = bias.clone();
  if (bias.getNumElements() != numChannels)
    return rounded;
  bool isPerChannel = weights.scales.getNumElements() > 1;
  for (int64_t i = 0; i < numChannels; ++i) {
    double scale =
        weights.scales.getAsDouble(isPerChannel ? i : 0) * inputScale;
    rounded.setFromDouble(i,
                          std::nearbyint(bias.getAsDouble(i) / scale) * scale);
  }
  return rounded;
}
