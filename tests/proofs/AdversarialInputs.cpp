//===- AdversarialInputs.cpp - Numbers that break rewrites ----------------===//

#include "AdversarialInputs.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Random.h"
#include <cmath>
#include <limits>

using namespace glowish;
using namespace glowish::proofs;

namespace {

/// Fills inputs with moderate numbers, and with extreme ones.
class InputFiller {
public:
  InputFiller(uint64_t seed, bool isExtreme)
      : random(seed), isExtreme(isExtreme) {}

  Tensor fill(const Type &type) {
    Tensor tensor(type);
    dispatchElemKind(type.getKind(), [&](auto zero) {
      using T = decltype(zero);
      for (T &element : tensor.data<T>())
        if constexpr (std::is_same_v<T, bool>)
          element = random.below(2) != 0;
        else if constexpr (std::is_integral_v<T>)
          element = T(getInteger(std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()));
        else
          tensor.setFromDouble(&element - tensor.data<T>().data(), getFloat());
    });
    return tensor;
  }

private:
  double getFloat() {
    static constexpr double extremes[] = {
        0.0,      -0.0,     1.0,          -1.0,    INFINITY, -INFINITY, NAN,
        0x1p-149, 0x1p-130, -0x1p-24,     0x1p-14, 65504,    65536,     3e38,
        -3e38,    0.5,      2147483648.0, -128.5,  255.5};
    if (isExtreme && random.below(2))
      return extremes[random.below(std::size(extremes))];
    return random.uniform(-4, 4);
  }
  /// All bytes in turn; of others also the ends.
  template <typename T> int64_t getInteger(T lowest, T highest) {
    if (sizeof(T) == 1)
      return int64_t(lowest) + int64_t(next++ * 37 % 256);
    if (isExtreme && random.below(3) == 0)
      return random.below(2) ? int64_t(lowest) : int64_t(highest);
    int64_t small = int64_t(random.below(9));
    return lowest == 0 ? small : small - 4;
  }

  Random random;
  bool isExtreme;
  uint64_t next = 0;
};

} // namespace

bool proofs::isExhaustible(const Module &module) {
  unsigned numInputs = 0;
  for (const auto &placeholder : module.getPlaceholders()) {
    if (!placeholder->isInput())
      continue;
    const Type &type = placeholder->getType();
    ++numInputs;
    if (!llvm::is_contained({ElemKind::Int8, ElemKind::UInt8},
                            type.getKind()) ||
        type.getNumElements() < 256)
      return false;
  }
  return numInputs == 1 &&
         llvm::all_of(module.getFunctions().front()->getNodes(),
                      [](const Node &node) {
                        return node.getInfo().scalarOp ||
                               llvm::isa<CastNode, SaveNode>(node);
                      });
}

llvm::Error proofs::interpretBoth(Module &before, Module &after,
                                  llvm::StringRef what, Exactness exactness) {
  constexpr unsigned numTrials = 4;
  for (unsigned trial = 0; trial < numTrials; ++trial) {
    bool isExtreme = exactness == Exactness::Exact && trial > 0;
    PassCheck check([&](Session &session) -> llvm::Error {
      InputFiller filler(trial, isExtreme),
          moderate(trial, /*isExtreme=*/false);
      for (const Buffer *buffer : session.getPlaceholders()) {
        if (!buffer->isInput())
          continue;
        bool isFinite = buffer->getModelName().starts_with("finite");
        Tensor values = (isFinite ? moderate : filler).fill(buffer->getType());
        GLOWISH_RETURN_IF_ERROR(session.setInput(buffer, values));
      }
      return llvm::Error::success();
    });
    GLOWISH_RETURN_IF_ERROR(check.start(before));
    GLOWISH_RETURN_IF_ERROR(check.check(what, exactness, after));
  }
  return llvm::Error::success();
}
