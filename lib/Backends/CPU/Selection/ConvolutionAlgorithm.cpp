//===- ConvolutionAlgorithm.cpp - Algorithms for convolutions -------------===//

#include "Selection/ConvolutionAlgorithm.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace glowish;

//===- Registration -------------------------------------------------------===//

static std::vector<const ConvolutionAlgorithm *> &getRegistered() {
  static std::vector<const ConvolutionAlgorithm *> algorithms;
  return algorithms;
}

ConvolutionAlgorithm::ConvolutionAlgorithm(llvm::StringLiteral name,
                                           llvm::StringLiteral form)
    : name(name), form(form) {
  auto isBefore = [](const ConvolutionAlgorithm *a,
                     const ConvolutionAlgorithm *b) {
    return a->name < b->name;
  };
  auto &algorithms = getRegistered();
  algorithms.insert(llvm::upper_bound(algorithms, this, isBefore), this);
}

llvm::ArrayRef<const ConvolutionAlgorithm *>
glowish::getConvolutionAlgorithms() {
  return getRegistered();
}

//===- Text ---------------------------------------------------------------===//

std::string ConvolutionAlgorithm::getForm() const {
  return form.empty() ? name.str() : (name + " " + form).str();
}

/// The placeholder of a parameter in a form is a word in capitals.
static bool isPlaceholder(char c) { return llvm::isUpper(c); }

std::string ConvolutionCandidate::str() const {
  std::string text;
  const int64_t *parameter = parameters.begin();
  for (llvm::StringRef rest = algorithm->form; !rest.empty();) {
    if (isPlaceholder(rest.front())) {
      text += std::to_string(*parameter++);
      rest = rest.drop_while(isPlaceholder);
    } else {
      text += rest.front();
      rest = rest.drop_front();
    }
  }
  return text.empty() ? algorithm->name.str()
                      : (algorithm->name + " " + text).str();
}

/// The positive numbers that \p text has at the placeholders of \p form.
static std::optional<llvm::SmallVector<int64_t, 3>>
parseParameters(llvm::StringRef form, llvm::StringRef text) {
  llvm::SmallVector<int64_t, 3> parameters;
  while (!form.empty()) {
    if (isPlaceholder(form.front())) {
      int64_t &value = parameters.emplace_back();
      if (text.consumeInteger(10, value) || value < 1 ||
          !llvm::isUInt<32>(uint64_t(value)))
        return std::nullopt;
      form = form.drop_while(isPlaceholder);
    } else {
      if (!text.consume_front(form.take_front()))
        return std::nullopt;
      form = form.drop_front();
    }
  }
  if (!text.empty())
    return std::nullopt;
  return parameters;
}

std::optional<ConvolutionCandidate>
ConvolutionCandidate::parse(llvm::StringRef text) {
  auto [name, parameters] = text.split(' ');
  for (const ConvolutionAlgorithm *algorithm : getConvolutionAlgorithms()) {
    if (name != algorithm->name)
      continue;
    if (auto values = parseParameters(algorithm->form, parameters))
      return ConvolutionCandidate{algorithm, std::move(*values)};
  }
  return std::nullopt;
}

std::string ConvolutionCandidate::listForms() {
  std::vector<std::string> forms;
  for (const ConvolutionAlgorithm *algorithm : getConvolutionAlgorithms())
    forms.push_back("'" + algorithm->getForm() + "'");
  return joinWords(forms, "and");
}

constinit const CustomAttrType ConvolutionCandidate::attrType =
    makeCustomAttrType<ConvolutionCandidate>();

//===- Choices ------------------------------------------------------------===//

/// Inserts \p candidate into \p ranked, which is sorted by the estimates,
/// behind those that are as fast.
static void insertRanked(std::vector<ConvolutionCandidate> &ranked,
                         ConvolutionCandidate candidate) {
  auto isFaster = [](const auto &a, const auto &b) {
    return a.cycles < b.cycles;
  };
  ranked.insert(llvm::upper_bound(ranked, candidate, isFaster),
                std::move(candidate));
}

/// The candidates of \p target whose sums \p accepts, the fastest first.
static std::vector<ConvolutionCandidate>
rank(const ConvolutionProblem &problem, const TargetDescription &target,
     int64_t maxWinograd,
     llvm::function_ref<bool(const ConvolutionCandidate &)> accepts) {
  TargetDescription oneThread = target;
  oneThread.numThreads = 1;
  std::vector<ConvolutionCandidate> candidates, ranked;
  for (const ConvolutionAlgorithm *algorithm : getConvolutionAlgorithms())
    if (algorithm->multipliesBytes() == problem.isOfBytes)
      algorithm->addCandidates(problem, oneThread, maxWinograd, candidates);
  for (ConvolutionCandidate &candidate : candidates)
    if (accepts(candidate))
      insertRanked(ranked, std::move(candidate));
  return ranked;
}

static std::optional<ConvolutionAlgorithm::SumOrder>
getSumOrder(const ConvolutionCandidate &candidate) {
  return candidate.algorithm->getSumOrder(candidate.parameters);
}

/// The order in which all reproducible targets add: of those that the target
/// for sums can, and so each, the fastest where there is more stack.
static ConvolutionAlgorithm::SumOrder
chooseSumOrder(const ConvolutionProblem &problem,
               const TargetDescription &sumTarget, int64_t maxWinograd) {
  constexpr int64_t commonStackBytes = 1280 << 10;
  std::set<ConvolutionAlgorithm::SumOrder> orders;
  rank(problem, sumTarget, maxWinograd, [&](const auto &candidate) {
    if (auto order = getSumOrder(candidate))
      orders.insert(std::move(*order));
    return false;
  });
  TargetDescription roomy = sumTarget;
  roomy.maxStackBytes = commonStackBytes;
  auto ranked = rank(problem, roomy, maxWinograd, [&](const auto &candidate) {
    auto order = getSumOrder(candidate);
    return order && orders.count(*order);
  });
  return *getSumOrder(ranked.front());
}

/// Ranks the candidates for all images.
static std::vector<ConvolutionCandidate>
rankForAll(const ConvolutionProblem &problem, const TargetDescription &target,
           int64_t maxWinograd) {
  // Sums of integers are exact.
  if (!target.isReproducible || problem.isOfBytes)
    return rank(problem, target, maxWinograd,
                [](const auto &) { return true; });
  // The order is that of the program by itself.
  ConvolutionProblem own = problem;
  own.ofOthers = {};
  auto order = chooseSumOrder(own, target.getSumTarget(), maxWinograd);
  return rank(problem, target, maxWinograd, [&](const auto &candidate) {
    return getSumOrder(candidate) == order;
  });
}

/// Returns how many times as long as the fastest of \p ranked, candidates for
/// some of the images, \p candidate takes: as that with its packing, or else
/// one that computes alike.
static double getSlowdown(llvm::ArrayRef<ConvolutionCandidate> ranked,
                          const ConvolutionCandidate &candidate) {
  if (ranked.empty())
    return 1;
  auto find = [&](auto getKey) {
    return llvm::find_if(ranked, [&](const ConvolutionCandidate &other) {
      return other.algorithm == candidate.algorithm &&
             getKey(other) == getKey(candidate);
    });
  };
  const auto *found = find([](const ConvolutionCandidate &each) {
    return each.algorithm->getPackingKey(each.parameters);
  });
  if (found == ranked.end())
    found = find(getSumOrder);
  if (found == ranked.end())
    found = &ranked.back();
  double fastest = ranked.front().cycles;
  return fastest > 0 ? found->cycles / fastest : 1;
}

std::vector<ConvolutionCandidate>
glowish::rankCandidates(const ConvolutionProblem &problem,
                        const TargetDescription &target, int64_t maxWinograd) {
  std::vector<ConvolutionCandidate> all =
      rankForAll(problem, target, maxWinograd);
  if (problem.mostImages == 0 || all.size() <= 1)
    return all;
  std::vector<double> worst(all.size(), 1);
  for (int64_t count : spreadCounts(problem.mostImages)) {
    ConvolutionProblem part = problem;
    part.shape.batch = count;
    std::vector<ConvolutionCandidate> ranked =
        rankForAll(part, target, maxWinograd);
    for (auto [slowdown, candidate] : llvm::zip_equal(worst, all))
      slowdown = std::max(slowdown, getSlowdown(ranked, candidate));
  }
  double fastest = all.front().cycles;
  std::vector<ConvolutionCandidate> ranked;
  for (auto [slowdown, candidate] : llvm::zip_equal(worst, all)) {
    candidate.cycles = slowdown * fastest;
    insertRanked(ranked, std::move(candidate));
  }
  return ranked;
}

std::optional<ConvolutionChoice>
glowish::chooseForRuntimeWeights(const ConvolutionProblem &problem,
                                 const TargetDescription &target,
                                 int64_t numUses, bool isPlain) {
  // A tile needs an address computation for the plain weights of each step.
  constexpr double plainSlowdown = 1.1;
  const ConvolutionShape &shape = problem.shape;
  double weights =
      double(shape.outChannels) * double(shape.getTaps()) / double(numUses);
  std::vector<ConvolutionCandidate> packed;
  bool isPlainBest = false;
  double bestCycles = std::numeric_limits<double>::infinity();
  for (ConvolutionCandidate &candidate :
       rankCandidates(problem, target, /*maxWinograd=*/0)) {
    const ConvolutionAlgorithm &algorithm = *candidate.algorithm;
    double plain = candidate.cycles * plainSlowdown;
    candidate.cycles += weights * algorithm.getPackingCycles();
    if (candidate.cycles < bestCycles) {
      bestCycles = candidate.cycles;
      isPlainBest = false;
    }
    if (isPlain && algorithm.takesPlainWeights() && plain < bestCycles) {
      bestCycles = plain;
      isPlainBest = true;
    }
    insertRanked(packed, std::move(candidate));
  }
  if (isPlainBest || packed.empty())
    return std::nullopt;
  return ConvolutionChoice{packed.front(),
                           {std::next(packed.begin()), packed.end()}};
}
