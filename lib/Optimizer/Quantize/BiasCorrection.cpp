//===- BiasCorrection.cpp - What rounded weights add to sums --------------===//
//
// Rounded weights differ from the float ones, and where the mean of what they
// are multiplied with is not 0, as behind an activation, so does the mean of
// the sums. That part of the error is the same for all inputs, and the bias can
// take it back. After Nagel et al., Data-Free Quantization Through Weight
// Equalization and Bias Correction, 2019, with means that are measured.
//
//===----------------------------------------------------------------------===//

#include "Quantize/BiasCorrection.h"
#include "Util/ConstantTensors.h"

using namespace glowish;

/// For each tap along one dimension of an image: the share of the outputs for
/// which it is not in the padding.
static std::vector<double> getSharesInside(int64_t numTaps, int64_t extent,
                                           int64_t numOutputs, int64_t stride,
                                           int64_t pad, int64_t dilation) {
  std::vector<double> shares;
  for (int64_t tap = 0; tap < numTaps; ++tap) {
    int64_t numInside = 0;
    for (int64_t output = 0; output < numOutputs; ++output) {
      int64_t place = output * stride - pad + tap * dilation;
      numInside += place >= 0 && place < extent;
    }
    shares.push_back(double(numInside) /
                     double(std::max<int64_t>(numOutputs, 1)));
  }
  return shares;
}

/// The means of what the weights of \p node are multiplied with, in the order
/// of the weights.
static std::vector<double> getFactorMeans(const ConvolutionNode &node,
                                          llvm::ArrayRef<float> means) {
  DimsRef filter = node.getFilter().getShape();
  DimsRef input = node.getInput().getShape();
  DimsRef output = node.getType(0).getShape();
  std::vector<double> shares[2];
  for (size_t i = 0; i < 2; ++i)
    shares[i] = getSharesInside(filter[i + 1], input[i + 1], output[i + 1],
                                node.getStrides()[i], node.getPads()[i],
                                node.getDilations()[i]);
  int64_t outputsOfGroup = std::max<int64_t>(filter[0] / node.getGroup(), 1);
  std::vector<double> result;
  for (int64_t channel = 0; channel < filter[0]; ++channel)
    for (double shareOfRow : shares[0])
      for (double shareOfColumn : shares[1])
        for (int64_t i = 0; i < filter[3]; ++i)
          result.push_back(
              means[size_t(channel / outputsOfGroup * filter[3] + i)] *
              shareOfRow * shareOfColumn);
  return result;
}

/// The same for a matrix of weights.
static std::vector<double> getFactorMeans(DimsRef matrix,
                                          llvm::ArrayRef<float> means) {
  std::vector<double> result;
  for (int64_t row = 0; row < matrix[0]; ++row)
    result.insert(result.end(), size_t(matrix[1]), double(means[size_t(row)]));
  return result;
}

std::vector<double> glowish::getMeanErrors(const Node &node,
                                           const Anchor &anchor,
                                           const QuantizedWeights &weights,
                                           llvm::ArrayRef<float> means) {
  NodeValue filter = node.getOperand(anchor.filter);
  DimsRef shape = filter.getShape();
  auto *convolution = llvm::dyn_cast<ConvolutionNode>(&node);
  std::vector<double> factors = convolution
                                    ? getFactorMeans(*convolution, means)
                                    : getFactorMeans(shape, means);
  llvm::ArrayRef<float> exact = getConstantTensor(filter)->data<float>();
  int64_t inner = countElements(shape.drop_front(anchor.axis + 1));
  bool isPerChannel = weights.scales.getNumElements() > 1;
  std::vector<double> errors(size_t(shape[anchor.axis]), 0.0);
  for (auto [i, factor] : llvm::enumerate(factors)) {
    size_t channel = size_t(int64_t(i) / inner % shape[anchor.axis]);
    double scale = weights.scales.getAsDouble(isPerChannel ? channel : 0);
    errors[channel] +=
        (exact[i] - weights.integers.getAsDouble(int64_t(i)) * scale) * factor;
  }
  return errors;
}
