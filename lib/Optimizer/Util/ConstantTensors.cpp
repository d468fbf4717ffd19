//===- ConstantTensors.cpp - Transforming constants directly --------------===//

#include "Util/ConstantTensors.h"

using namespace glowish;

const Tensor *glowish::getConstantTensor(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  return constant ? &constant->getTensor() : nullptr;
}

bool glowish::isConstantOrSplat(NodeValue value) {
  return getConstantTensor(value) || value.getNodeAs<SplatNode>();
}

std::optional<double> glowish::getUniformValue(NodeValue value) {
  if (auto *splat = value.getNodeAs<SplatNode>())
    return splat->getValue();
  const Tensor *tensor = getConstantTensor(value);
  if (!tensor || tensor->getNumElements() == 0 ||
      tensor->getNumElements() > 4096)
    return std::nullopt;
  double first = tensor->getAsDouble(0);
  for (int64_t i = 1; i < tensor->getNumElements(); ++i)
    if (tensor->getAsDouble(i) != first)
      return std::nullopt;
  return first;
}

std::pair<NodeValue, double> glowish::splitFactor(NodeValue value) {
  auto take = [&](NodeValue x, NodeValue constant, bool isDivisor) {
    std::optional<double> factor = getUniformValue(constant);
    if (!factor || x.getType() != value.getType() ||
        !isFloatKind(value.getElemKind()))
      return std::pair(NodeValue(), 1.0);
    return std::pair(x, isDivisor ? 1 / *factor : *factor);
  };
  std::pair<NodeValue, double> result;
  if (auto *quotient = value.getNodeAs<DivNode>())
    result = take(quotient->getX(), quotient->getY(), /*isDivisor=*/true);
  if (auto *mul = value.getNodeAs<MulNode>()) {
    result = take(mul->getX(), mul->getY(), /*isDivisor=*/false);
    if (!result.first)
      result = take(mul->getY(), mul->getX(), /*isDivisor=*/false);
  }
  return result.first ? result : std::pair(value, 1.0);
}

std::optional<std::vector<double>> glowish::getChannelValues(NodeValue value,
                                                             int64_t count) {
  const Tensor *tensor = getConstantTensor(value);
  if (!tensor || !isFloatKind(tensor->getType().getKind()))
    return std::nullopt;
  int64_t elements = tensor->getNumElements();
  bool isScalar = elements == 1;
  bool isChannels = elements == count && tensor->getType().getRank() > 0 &&
                    tensor->getType().getShape().back() == count;
  if (!isScalar && !isChannels)
    return std::nullopt;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(tensor->getAsDouble(isScalar ? 0 : i));
  return values;
}
