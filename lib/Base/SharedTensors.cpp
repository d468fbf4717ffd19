//===- SharedTensors.cpp - Tensors that are there once --------------------===//

#include "glowish/Base/SharedTensors.h"

using namespace glowish;

std::shared_ptr<const Tensor> SharedTensors::share(Tensor tensor) {
  // Smaller ones are not worth the search.
  constexpr int64_t least = 64 << 10;
  auto own = std::make_shared<const Tensor>(std::move(tensor));
  if (own->getSizeInBytes() < least)
    return own;
  auto &candidates = known[own->getFingerprint()];
  std::erase_if(candidates, [](const auto &each) { return each.expired(); });
  for (const auto &candidate : candidates)
    if (auto other = candidate.lock(); other->isBitwiseEqual(*own))
      return other;
  candidates.push_back(own);
  return own;
}
