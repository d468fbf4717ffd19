//===- SharedPackings.cpp - Packings that programs share ------------------===//

#include "Selection/SharedPackings.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;

static constexpr double infinity = std::numeric_limits<double>::infinity();

//===- Uses ---------------------------------------------------------------===//

SharedPackings::Packing
SharedPackings::getPacking(const ConvolutionCandidate &candidate) {
  auto algorithms = getConvolutionAlgorithms();
  auto number =
      size_t(llvm::find(algorithms, candidate.algorithm) - algorithms.begin());
  return {number, candidate.algorithm->getPackingKey(candidate.parameters)};
}

void SharedPackings::collect(const Tensor &filter,
                             llvm::ArrayRef<ConvolutionCandidate> ranked) {
  std::vector<ConvolutionCandidate> &kept = collected[&filter];
  for (const ConvolutionCandidate &candidate : ranked)
    if (llvm::none_of(kept, [&](const ConvolutionCandidate &other) {
          return getPacking(other) == getPacking(candidate);
        }))
      kept.push_back(candidate);
}

llvm::ArrayRef<ConvolutionCandidate>
SharedPackings::getCollected(const Tensor &filter) const {
  auto found = collected.find(&filter);
  if (found == collected.end())
    return {};
  return found->second;
}

void SharedPackings::add(unsigned program, const Buffer &filter,
                         const ConvolutionShape &shape,
                         llvm::ArrayRef<ConvolutionCandidate> ranked) {
  Filter &entry = filters[&filter.getTensor()];
  entry.tensor = filter.getPayload();
  llvm::ArrayRef<Instruction *> users = filter.getUsers();
  entry.name = users.empty() ? "" : users.front()->getName().str();
  Use use = {program, {}, ranked.front().getTime()};
  for (const ConvolutionCandidate &candidate : ranked) {
    Packing packing = getPacking(candidate);
    use.candidates.try_emplace(packing, candidate);
    entry.sizes.try_emplace(packing,
                            double(entry.tensor->getSizeInBytes()) *
                                candidate.algorithm->getPackedRatio(
                                    shape, candidate.parameters,
                                    entry.tensor->getType().getKind()));
  }
  if (program >= ownTimes.size())
    ownTimes.resize(program + 1);
  ownTimes[program] += use.ownTime;
  entry.uses.push_back(std::move(use));
}

std::optional<double>
SharedPackings::Use::getTime(llvm::ArrayRef<Packing> packings) const {
  std::optional<double> least;
  for (const Packing &packing : packings)
    if (auto found = candidates.find(packing); found != candidates.end())
      least = std::min(least.value_or(infinity), found->second.getTime());
  return least;
}

double SharedPackings::Filter::getSize(llvm::ArrayRef<Packing> of) const {
  double size = 0;
  for (const Packing &packing : of)
    size += sizes.at(packing);
  return size;
}

bool SharedPackings::Filter::isForAll(llvm::ArrayRef<Packing> of) const {
  return llvm::all_of(
      uses, [&](const Use &use) { return use.getTime(of).has_value(); });
}

//===- Decisions ----------------------------------------------------------===//

double SharedPackings::getSize() const {
  double size = 0;
  for (const auto &[tensor, filter] : filters)
    size += filter.getSize(filter.packings);
  return size;
}

SharedPackings::Times SharedPackings::getSlowdowns() const {
  Times slowdowns(ownTimes.size(), 0);
  for (const auto &[tensor, filter] : filters)
    for (const Use &use : filter.uses)
      slowdowns[use.program] += *use.getTime(filter.packings);
  for (auto [slowdown, own] : llvm::zip_equal(slowdowns, ownTimes))
    slowdown = own > 0 ? slowdown / own : 1;
  return slowdowns;
}

void SharedPackings::addChange(Times &slowdowns, const Filter &filter,
                               llvm::ArrayRef<Packing> packings) const {
  for (const Use &use : filter.uses)
    if (double own = ownTimes[use.program]; own > 0)
      slowdowns[use.program] +=
          (*use.getTime(packings) - *use.getTime(filter.packings)) / own;
}

SharedPackings::Packing
SharedPackings::findCheapest(const Filter &filter,
                             llvm::ArrayRef<Packing> known) const {
  struct Score {
    unsigned numUses = 0;
    double cost = 0;
  };
  std::map<Packing, Score> scores;
  for (const Use &use : filter.uses) {
    if (use.getTime(known))
      continue;
    double own = std::max(ownTimes[use.program], 1.0);
    for (const auto &[packing, candidate] : use.candidates) {
      Score &score = scores[packing];
      ++score.numUses;
      score.cost += candidate.cycles / own;
    }
  }
  Score best;
  for (const auto &[packing, score] : scores)
    if (score.numUses > best.numUses ||
        (score.numUses == best.numUses && score.cost < best.cost))
      best = score;
  // The size, and then the cost.
  std::pair least(infinity, infinity);
  Packing found;
  for (const auto &[packing, score] : scores) {
    std::pair own(filter.sizes.at(packing), score.cost);
    if (score.numUses == best.numUses && own < least &&
        score.cost <= maxCostForSize * best.cost) {
      least = own;
      found = packing;
    }
  }
  return found;
}

/// Returns how far programs are above \p limit, in sum.
static double getExcess(llvm::ArrayRef<double> slowdowns, double limit) {
  double excess = 0;
  for (double slowdown : slowdowns)
    excess += std::max(0.0, slowdown - limit);
  return excess;
}

bool SharedPackings::speedUp(double limit, bool several) {
  constexpr double leastSaved = 1e-6;
  const Times slowdowns = getSlowdowns();
  double excess = getExcess(slowdowns, limit), best = 0;
  Filter *changed = nullptr;
  Packings taken;
  auto tryTaking = [&](Filter &filter, Packings packings) {
    if (!filter.isForAll(packings))
      return;
    Times after = slowdowns;
    addChange(after, filter, packings);
    double saved = excess - getExcess(after, limit);
    double more = filter.getSize(packings) - filter.getSize(filter.packings);
    double gain = saved / std::max(more, 1.0);
    if (saved < leastSaved || gain <= best)
      return;
    best = gain;
    changed = &filter;
    taken = std::move(packings);
  };
  for (auto &[tensor, filter] : filters)
    for (const auto &[packing, size] : filter.sizes) {
      if (llvm::is_contained(filter.packings, packing))
        continue;
      tryTaking(filter, {packing});
      if (!several)
        continue;
      Packings both = filter.packings;
      both.push_back(packing);
      tryTaking(filter, std::move(both));
    }
  if (changed)
    changed->packings = std::move(taken);
  return changed;
}

void SharedPackings::decide() {
  for (auto &[tensor, filter] : filters)
    while (!filter.isForAll(filter.packings))
      filter.packings.push_back(findCheapest(filter, filter.packings));
  while (speedUp(maxSlowdown, /*several=*/false)) {
  }
  sizeOnce = getSize();
  for (double slowdown : getSlowdowns())
    slowdownOnce = std::max(slowdownOnce, slowdown);
  if (!packsOnce)
    while (speedUp(maxSlowdownOnce, /*several=*/true)) {
    }
}

const ConvolutionCandidate &
SharedPackings::choose(const Tensor &filter,
                       llvm::ArrayRef<ConvolutionCandidate> ranked) const {
  const ConvolutionCandidate *best = nullptr;
  if (auto found = filters.find(&filter); found != filters.end())
    for (const ConvolutionCandidate &candidate : ranked)
      if (llvm::is_contained(found->second.packings, getPacking(candidate)) &&
          (!best || candidate.getTime() < best->getTime()))
        best = &candidate;
  return best ? *best : ranked.front();
}

//===- Messages -----------------------------------------------------------===//

std::string SharedPackings::getNote() const {
  constexpr size_t mostNamed = 4;
  std::vector<std::string> names;
  double others = 0;
  for (const auto &[tensor, filter] : filters) {
    if (filter.packings.size() < 2)
      continue;
    names.push_back("'" + filter.name + "'");
    others += filter.getSize(llvm::ArrayRef(filter.packings).drop_front());
  }
  bool isForSpeed = !packsOnce && slowdownOnce > maxSlowdownOnce;
  double more = isForSpeed ? getSize() - sizeOnce : others;
  if (names.empty() || more <= 0)
    return "";
  size_t count = names.size();
  if (count > mostNamed) {
    names.resize(mostNamed);
    names.push_back("...");
  }
  std::string reason =
      isForSpeed ? llvm::formatv("with one for all programs, one of them would "
                                 "take {0} % longer",
                                 std::lround((slowdownOnce - 1) * 100))
                       .str()
                 : "none is for all programs";
  std::string note = llvm::formatv(
      "{0} of {1} {2} more than one packing, as {3}; that takes {4} more",
      count == 1 ? "the weight" : std::to_string(count) + " weights",
      llvm::join(names, ", "), count == 1 ? "has" : "have", reason,
      formatBytes(uint64_t(more)));
  return isForSpeed ? note + "; «pack-weights-once» packs each once" : note;
}
