//===- Values.cpp - Values of inputs and constants ------------------------===//

#include "Values.h"
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

Tensor fuzz::makeValues(llvm::StringRef name, const Type &type) {
  llvm::StringRef valueClass =
      name.take_while([](char c) { return c >= 'a' && c <= 'z'; });
  uint64_t seed = 0;
  name.drop_front(valueClass.size()).getAsInteger(10, seed);
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
