//===- Values.cpp - Values of inputs and constants ------------------------===//

#include "Values.h"
#include "glowish/Base/CopyCorner.h"
#include "glowish/Support/Random.h"
#include <limits>

using namespace glowish;
using namespace glowish::fuzz;

llvm::ArrayRef<llvm::StringRef> fuzz::getValueClasses() {
  static const llvm::StringRef classes[] = {"unit",  "positive", "large",
                                            "whole", "wide",     "special"};
  return classes;
}

static double makeSpecial(Random &random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const double values[] = {
      0.0, -0.0, 1.0,     -1.0,    infinity, -infinity, std::nan(""),
      0.5, -2.5, 1.0e-15, 1.0e15f, -1.0e15f, 65504.0,   6.0e-8};
  return values[random.below(std::size(values))];
}

static double makeFloat(llvm::StringRef valueClass, Random &random) {
  if (valueClass == "positive")
    return random.uniform(0.1f, 2.0f);
  if (valueClass == "large")
    return random.uniform(1.1f, 4.0f);
  if (valueClass == "whole")
    return double(random.below(7)) - 3;
  if (valueClass == "wide")
    return 10.0 * random.normal();
  if (valueClass == "special")
    return makeSpecial(random);
  return random.uniform(-1.0f, 1.0f);
}

static std::vector<std::shared_ptr<const Tensor>> &getGivenTensors() {
  static std::vector<std::shared_ptr<const Tensor>> tensors;
  return tensors;
}

std::string fuzz::giveValues(std::shared_ptr<const Tensor> tensor) {
  getGivenTensors().push_back(std::move(tensor));
  return "given" + std::to_string(getGivenTensors().size() - 1);
}

/// Returns the corner of the given tensor \p number that \p type has, or null
/// where there is none.
static std::optional<Tensor> takeGiven(uint64_t number, const Type &type) {
  if (number >= getGivenTensors().size())
    return std::nullopt;
  const Tensor &given = *getGivenTensors()[number];
  auto fits = [](int64_t extent, int64_t givenExtent) {
    return extent <= givenExtent;
  };
  DimsRef shape = type.getShape(), givenShape = given.getType().getShape();
  if (given.getType().withShape(shape) != type ||
      shape.size() != givenShape.size() ||
      !std::equal(shape.begin(), shape.end(), givenShape.begin(), fits))
    return std::nullopt;
  Tensor tensor(type);
  copyCorner(given, tensor);
  return tensor;
}

Tensor fuzz::makeValues(llvm::StringRef name, const Type &type) {
  llvm::StringRef valueClass =
      name.take_while([](char c) { return c >= 'a' && c <= 'z'; });
  uint64_t seed = 0;
  name.drop_front(valueClass.size()).getAsInteger(10, seed);
  if (valueClass == "given")
    if (std::optional<Tensor> given = takeGiven(seed, type))
      return std::move(*given);
  Random random(seed);
  Tensor tensor(type);
  ElemKind kind = type.getKind();
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    if (isFloatKind(kind)) {
      tensor.setFromDouble(i, makeFloat(valueClass, random));
    } else if (kind == ElemKind::Bool) {
      tensor.setFromDouble(i, double(random.below(2)));
    } else if (isLowPrecisionKind(kind)) {
      // Not all bytes are elements.
      tensor.setFromDouble(i, isLowIntegerKind(kind)
                                  ? double(random.below(16)) - 8
                                  : double(makeFloat(valueClass, random)));
    } else if (valueClass == "wide") {
      uint64_t bits = random.next();
      unsigned size = getElemSize(kind);
      std::memcpy(bytes + i * size, &bits, size);
    } else {
      double value = double(random.below(7)) - 3;
      tensor.setFromDouble(i, isSignedIntegerKind(kind) ? value : value + 3);
    }
  }
  return tensor;
}
