//===- SharedPackings.cpp - Packings that programs share ------------------===//

#include "Selection/SharedPackings.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

SharedPackings::Packing
SharedPackings::getPacking(const ConvolutionCandidate &candidate) {
  auto algorithms = getConvolutionAlgorithms();
  auto number =
      size_t(llvm::find(algorithms, candidate.algorithm) - algorithms.begin());
  return {number, candidate.algorithm->getPackingKey(candidate.parameters)};
}

SharedPackings::Use
SharedPackings::makeUse(llvm::ArrayRef<ConvolutionCandidate> ranked) {
  Use use;
  double best = ranked.front().cycles;
  for (const ConvolutionCandidate &candidate : ranked)
    if (candidate.cycles <= maxSlowdown * best)
      use.try_emplace(getPacking(candidate),
                      best > 0 ? candidate.cycles / best : 1);
  return use;
}

void SharedPackings::add(std::shared_ptr<const Tensor> filter,
                         llvm::ArrayRef<ConvolutionCandidate> ranked) {
  Filter &entry = filters[filter.get()];
  entry.tensor = std::move(filter);
  entry.uses.push_back(makeUse(ranked));
}

/// The packing that most of \p uses accept; of several such packings the
/// fastest one.
template <typename Use>
static typename Use::key_type findMostUsed(llvm::ArrayRef<Use> uses) {
  struct Score {
    unsigned count = 0;
    double slowdowns = 0;
  };
  std::map<typename Use::key_type, Score> scores;
  for (const Use &use : uses)
    for (const auto &[packing, slowdown] : use) {
      ++scores[packing].count;
      scores[packing].slowdowns += slowdown;
    }
  auto best = scores.begin();
  for (auto it = scores.begin(); it != scores.end(); ++it)
    if (std::pair(-int64_t(it->second.count), it->second.slowdowns) <
        std::pair(-int64_t(best->second.count), best->second.slowdowns))
      best = it;
  return best->first;
}

void SharedPackings::decide() {
  for (auto &[tensor, filter] : filters) {
    std::vector<Use> open = filter.uses;
    while (!open.empty()) {
      Packing packing = findMostUsed<Use>(open);
      filter.packings.push_back(packing);
      llvm::erase_if(open,
                     [&](const Use &use) { return use.count(packing) != 0; });
    }
  }
}

const ConvolutionCandidate &
SharedPackings::choose(const Tensor &filter,
                       llvm::ArrayRef<ConvolutionCandidate> ranked) const {
  auto found = filters.find(&filter);
  if (found == filters.end())
    return ranked.front();
  Use use = makeUse(ranked);
  for (const Packing &packing : found->second.packings)
    if (use.count(packing))
      return *llvm::find_if(ranked, [&](const ConvolutionCandidate &candidate) {
        return getPacking(candidate) == packing;
      });
  return ranked.front();
}
