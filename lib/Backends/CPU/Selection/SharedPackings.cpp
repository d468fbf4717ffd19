//===- SharedPackings.cpp - Packings that programs share ------------------===//

#include "Selection/SharedPackings.h"
#include "glowish/Support/Numbers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

SharedPackings::Packing
SharedPackings::getPacking(const ConvolutionCandidate &candidate) {
  auto algorithms = getConvolutionAlgorithms();
  auto number =
      size_t(llvm::find(algorithms, candidate.algorithm) - algorithms.begin());
  return {number, candidate.algorithm->getPackingKey(candidate.parameters)};
}

void SharedPackings::add(unsigned program, const Buffer &filter,
                         const ConvolutionShape &shape,
                         llvm::ArrayRef<ConvolutionCandidate> ranked) {
  Filter &entry = filters[&filter.getTensor()];
  entry.tensor = filter.getPayload();
  llvm::ArrayRef<Instruction *> users = filter.getUsers();
  entry.name = users.empty() ? "" : users.front()->getName().str();
  Use use = {program, {}, ranked.front().cycles};
  for (const ConvolutionCandidate &candidate : ranked) {
    Packing packing = getPacking(candidate);
    use.cycles.try_emplace(packing, candidate.cycles);
    entry.sizes.try_emplace(packing,
                            double(entry.tensor->getSizeInBytes()) *
                                candidate.algorithm->getPackedRatio(
                                    shape, candidate.parameters,
                                    entry.tensor->getType().getKind()));
  }
  entry.uses.push_back(std::move(use));
}

SharedPackings::Packing
SharedPackings::Filter::findMostUsed(llvm::ArrayRef<const Use *> open) const {
  struct Score {
    unsigned count = 0;
    double slowdowns = 0;
  };
  std::map<Packing, Score> scores;
  for (const Use *use : open)
    for (const auto &[packing, cycles] : use->cycles)
      if (use->takes(packing, maxSlowdown)) {
        ++scores[packing].count;
        scores[packing].slowdowns += use->getSlowdown(packing);
      }
  Score best;
  for (const auto &[packing, score] : scores)
    if (score.count > best.count ||
        (score.count == best.count && score.slowdowns < best.slowdowns))
      best = score;
  // The size, and then the time.
  std::pair least(anySlowdown, anySlowdown);
  Packing found;
  for (const auto &[packing, score] : scores) {
    std::pair own(sizes.at(packing), score.slowdowns);
    if (score.count == best.count && own < least &&
        score.slowdowns <= maxSlowdownForSize * best.slowdowns) {
      least = own;
      found = packing;
    }
  }
  return found;
}

const SharedPackings::Packing &
SharedPackings::Filter::getTaken(const Use &use) const {
  return *llvm::find_if(packings, [&](const Packing &packing) {
    return use.takes(packing, packings.size() > 1 ? maxSlowdown : anySlowdown);
  });
}

double SharedPackings::Filter::getSize() const {
  double size = 0;
  for (const Packing &packing : packings)
    size += sizes.at(packing);
  return size;
}

void SharedPackings::cover(Filter &filter) {
  std::vector<const Use *> open;
  for (const Use &use : filter.uses)
    open.push_back(&use);
  while (!open.empty()) {
    Packing packing = filter.findMostUsed(open);
    filter.packings.push_back(packing);
    llvm::erase_if(
        open, [&](const Use *use) { return use->takes(packing, maxSlowdown); });
  }
}

std::vector<SharedPackings::Packing>
SharedPackings::Filter::findCommon() const {
  std::vector<std::pair<double, Packing>> common;
  for (const auto &[packing, size] : sizes) {
    double slowdowns = 0;
    for (const Use &use : uses)
      slowdowns +=
          use.cycles.count(packing) ? use.getSlowdown(packing) : anySlowdown;
    if (slowdowns < anySlowdown)
      common.push_back({slowdowns, packing});
  }
  llvm::sort(common);
  std::vector<Packing> packings;
  for (auto &[slowdowns, packing] : common)
    packings.push_back(std::move(packing));
  return packings;
}

void SharedPackings::merge() {
  // By program: the shortest time, and that with the packings so far.
  std::map<unsigned, double> best, spent;
  std::multimap<double, Filter *, std::greater<>> bySize;
  for (auto &[tensor, filter] : filters) {
    for (const Use &use : filter.uses) {
      best[use.program] += use.best;
      spent[use.program] += use.cycles.at(filter.getTaken(use));
    }
    if (filter.packings.size() > 1)
      bySize.insert({filter.getSize(), &filter});
  }
  for (auto &[size, filter] : bySize)
    for (const Packing &packing : filter->findCommon()) {
      std::map<unsigned, double> after = spent;
      for (const Use &use : filter->uses)
        after[use.program] +=
            use.cycles.at(packing) - use.cycles.at(filter->getTaken(use));
      bool isCheap = llvm::all_of(after, [&](const auto &program) {
        return program.second <= maxProgramSlowdown * best[program.first];
      });
      if (!packsOnce && (!isCheap || filter->sizes.at(packing) >= size))
        continue;
      filter->packings = {packing};
      spent = std::move(after);
      break;
    }
}

void SharedPackings::decide() {
  for (auto &[tensor, filter] : filters)
    cover(filter);
  merge();
}

const ConvolutionCandidate &
SharedPackings::choose(const Tensor &filter,
                       llvm::ArrayRef<ConvolutionCandidate> ranked) const {
  auto found = filters.find(&filter);
  if (found == filters.end())
    return ranked.front();
  llvm::ArrayRef<Packing> packings = found->second.packings;
  double limit = packings.size() > 1 ? maxSlowdown : anySlowdown;
  for (const Packing &packing : packings)
    for (const ConvolutionCandidate &candidate : ranked)
      if (isWithin(candidate.cycles, limit, ranked.front().cycles) &&
          getPacking(candidate) == packing)
        return candidate;
  return ranked.front();
}

std::string SharedPackings::getNote() const {
  constexpr size_t mostNamed = 4;
  std::vector<std::string> names;
  double more = 0;
  for (const auto &[tensor, filter] : filters) {
    if (filter.packings.size() < 2)
      continue;
    names.push_back("'" + filter.name + "'");
    more += filter.getSize() - filter.sizes.at(filter.packings.front());
  }
  if (names.empty())
    return "";
  size_t count = names.size();
  if (count > mostNamed) {
    names.resize(mostNamed);
    names.push_back("...");
  }
  std::string note = llvm::formatv(
      "{0} of {1} {2} more than one packing, as none is {3}for all programs; "
      "that takes {4} more",
      count == 1 ? "the weight" : std::to_string(count) + " weights",
      llvm::join(names, ", "), count == 1 ? "has" : "have",
      packsOnce ? "" : "fast ", formatBytes(uint64_t(more)));
  return packsOnce ? note : note + "; «pack-weights-once» packs each once";
}
