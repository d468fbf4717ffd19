//===- SharedPackings.cpp - Weights packed alike in programs --------------===//

#include "SharedPackings.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using Algorithm = ConvolutionChoice::Algorithm;

SharedPackings::Packing
SharedPackings::getPacking(const ConvolutionChoice &choice) {
  switch (choice.algorithm) {
  case Algorithm::Direct:
    return {unsigned(choice.algorithm), 0, 0, choice.tile.vectors};
  case Algorithm::Winograd:
    return {unsigned(choice.algorithm), choice.size.height, choice.size.width,
            choice.block};
  case Algorithm::Split:
    return {unsigned(choice.algorithm), 0, 0, 0};
  }
  llvm_unreachable("not an algorithm");
}

SharedPackings::Use
SharedPackings::makeUse(llvm::ArrayRef<ConvolutionChoice> ranked) {
  Use use;
  double best = ranked.front().cycles;
  for (const ConvolutionChoice &choice : ranked)
    if (choice.cycles <= maxSlowdown * best)
      use.try_emplace(getPacking(choice), best > 0 ? choice.cycles / best : 1);
  return use;
}

void SharedPackings::add(std::shared_ptr<const Tensor> filter,
                         llvm::ArrayRef<ConvolutionChoice> ranked) {
  Filter &entry = filters[filter.get()];
  entry.tensor = std::move(filter);
  entry.uses.push_back(makeUse(ranked));
}

/// The packing that most of \p uses can take, the fastest for them where there
/// are several.
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

const ConvolutionChoice &
SharedPackings::choose(const Tensor &filter,
                       llvm::ArrayRef<ConvolutionChoice> ranked) const {
  auto found = filters.find(&filter);
  if (found == filters.end())
    return ranked.front();
  Use use = makeUse(ranked);
  for (const Packing &packing : found->second.packings)
    if (use.count(packing))
      return *llvm::find_if(ranked, [&](const ConvolutionChoice &choice) {
        return getPacking(choice) == packing;
      });
  return ranked.front();
}
