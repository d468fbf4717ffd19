//===- WinogradTest.cpp - Convolutions with few multiplications -----------===//
//
// The transforms against the definition, and compiled code, made to take every
// candidate for a convolution, against the interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "Kernels/Division.h"
#include "Kernels/Winograd/WinogradTransform.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

struct WinogradCase {
  int64_t batch, height, width, channels, outChannels, kernelH, kernelW;
  std::vector<int64_t> pads;
};

NodeValue build(const WinogradCase &c, Function &f, Module &m) {
  ElemKind kind = ElemKind::Float;
  NodeValue x = input(m, kind, {c.batch, c.height, c.width, c.channels});
  NodeValue w =
      constant(m, kind, {c.outChannels, c.kernelH, c.kernelW, c.channels});
  NodeValue bias =
      c.channels % 2 ? constant(m, kind, {c.outChannels}) : NodeValue();
  NodeValue y =
      f.create<ConvolutionNode>("conv", x, w, bias, std::vector<int64_t>{1, 1},
                                c.pads, std::vector<int64_t>{1, 1}, int64_t(1))
          ->getResult();
  return f.create<TanhNode>("tanh", y)->getResult();
}

/// Tiles that fill the image and tiles that it cuts; images smaller than a
/// tile; tails of channels; borders on one side only; every kernel.
const WinogradCase cases[] = {
    {1, 8, 8, 16, 16, 3, 3, {1, 1, 1, 1}},
    {2, 7, 17, 7, 33, 3, 3, {1, 1, 1, 1}},
    {1, 3, 3, 17, 3, 3, 3, {0, 0, 0, 0}},
    {1, 1, 1, 5, 1, 3, 3, {1, 1, 1, 1}},
    {1, 9, 33, 1, 17, 3, 3, {0, 1, 2, 0}},
    {1, 17, 7, 33, 65, 1, 3, {0, 1, 0, 1}},
    {3, 7, 9, 17, 7, 3, 1, {1, 0, 1, 0}},
    {1, 11, 13, 7, 17, 5, 5, {2, 2, 2, 2}},
    {1, 7, 7, 33, 16, 5, 1, {2, 0, 0, 0}},
    {1, 33, 5, 3, 48, 1, 5, {0, 4, 0, 4}},
    {1, 13, 11, 8, 8, 3, 5, {1, 2, 1, 2}},
};

/// The algorithm that a convolution is computed by, and its tile: "winograd
/// 4x4", "direct 6x2".
std::string describe(CPUBackend &backend, const WinogradCase &c) {
  PlannedProgram program = llvm::cantFail(compileFor(
      backend, [&](Function &f, Module &m) { return build(c, f, m); }));
  for (const Instruction &instr : program.getIR().getInstrs())
    if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr)) {
      std::string algorithm = convolution->getAlgorithm().str();
      llvm::StringRef text = algorithm;
      bool hasBlock = text.consume_front("winograd ");
      return hasBlock ? ("winograd " + text.split(' ').first).str()
                      : text.str();
    }
  return "none";
}

/// All candidates for \p c on the target of \p options.
std::set<std::string> getCandidates(TargetOptions options,
                                    const WinogradCase &c) {
  std::set<std::string> candidates;
  unsigned &rank = options.testing.choiceRank;
  for (rank = 0; rank < 12; ++rank)
    candidates.insert(
        describe(*llvm::cantFail(CPUBackend::create(options)), c));
  return candidates;
}

} // namespace

TEST(Division, NumbersOfPartsThatGiveAnotherSize) {
  for (int64_t count = 0; count <= 300; ++count) {
    std::vector<int64_t> expected, found;
    int64_t last = 0;
    for (int64_t parts = 1; parts <= count; ++parts) {
      int64_t size = (count + parts - 1) / parts;
      if (size != last)
        expected.push_back(parts);
      last = size;
    }
    forEachDivision(count, [&](int64_t parts) { found.push_back(parts); });
    EXPECT_EQ(found, expected) << count;
  }
}

TEST(Winograd, Transforms) {
  Random random(3);
  for (auto [outputs, taps] : {std::pair(1u, 1u), std::pair(2u, 3u),
                               std::pair(4u, 3u), std::pair(2u, 5u)}) {
    WinogradTransform transform(outputs, taps);
    std::vector<double> filter(taps), data(transform.getPoints());
    for (double &x : filter)
      x = double(random.uniform(-1, 1));
    for (double &x : data)
      x = double(random.uniform(-1, 1));
    auto multiply = [](const TransformMatrix &matrix,
                       const std::vector<double> &x) {
      std::vector<double> y(matrix.getRows());
      for (unsigned i = 0; i < matrix.getRows(); ++i)
        for (unsigned j = 0; j < matrix.getColumns(); ++j)
          y[i] += matrix.at(i, j) * x[j];
      return y;
    };
    std::vector<double> transformed = multiply(transform.input, data);
    for (auto [x, y] :
         llvm::zip_equal(transformed, multiply(transform.filter, filter)))
      x *= y;
    std::vector<double> actual = multiply(transform.toOutput, transformed);
    for (unsigned i = 0; i < outputs; ++i) {
      double expected = 0;
      for (unsigned k = 0; k < taps; ++k)
        expected += data[i + k] * filter[k];
      EXPECT_NEAR(actual[i], expected, 1e-14) << outputs << " of " << taps;
    }
  }
}

TEST(Winograd, EveryWayIsRight) {
  unsigned number = 0;
  for (const WinogradCase &c : cases) {
    std::string name = "case " + std::to_string(number++);
    auto buildCase = [&](Function &f, Module &m) { return build(c, f, m); };
    Tensor expected = llvm::cantFail(run(*createInterpreter(), buildCase));
    for (TargetOptions options : getLevelsInTurn()) {
      std::set<std::string> seen;
      unsigned &rank = options.testing.choiceRank;
      for (rank = 0; rank < 12; ++rank) {
        auto backend = llvm::cantFail(CPUBackend::create(options));
        if (!seen.insert(describe(*backend, c)).second)
          continue;
        Tensor actual = llvm::cantFail(run(*backend, buildCase));
        for (int64_t i = 0; i < expected.getNumElements(); ++i)
          // Sums are some 10, and tanh does not enlarge their errors.
          ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 3e-5)
              << name << " on '" << options.cpu << "', way " << rank << " at "
              << i;
      }
    }
  }
}

TEST(Winograd, Candidates) {
  TargetOptions options;
  auto backend = llvm::cantFail(CPUBackend::create(options));
  if (backend->getTarget().vectorBits == 0 || !backend->getTarget().isHosted)
    GTEST_SKIP() << "no vectors or no memory";
  auto has = [&](const WinogradCase &c, const char *candidate) {
    return getCandidates(options, c).count(candidate) == 1;
  };
  EXPECT_TRUE(has(cases[0], "winograd 2x2"));
  EXPECT_TRUE(has(cases[0], "winograd 4x4"));
  EXPECT_TRUE(has(cases[5], "winograd 1x4"));
  EXPECT_TRUE(has(cases[6], "winograd 4x1"));
  EXPECT_TRUE(has(cases[7], "winograd 2x2"));
  EXPECT_TRUE(has(cases[10], "winograd 4x2"));
  options.winograd = WinogradLimit::F2;
  EXPECT_TRUE(has(cases[0], "winograd 2x2"));
  EXPECT_FALSE(has(cases[0], "winograd 4x4"));
  EXPECT_FALSE(has(cases[7], "winograd 2x2"));
  options.winograd = WinogradLimit::None;
  EXPECT_FALSE(has(cases[0], "winograd 2x2"));
}

/// Large enough that it is faster, on any number of threads with the same
/// result, within the stated bound of the interpreter, which adds in double.
TEST(Winograd, IsChosenAndExact) {
  WinogradCase c = {1, 40, 42, 96, 64, 3, 3, {1, 1, 1, 1}};
  TargetOptions options;
  options.attributes = {"-amx-int8"};
  if (!llvm::StringRef(llvm::sys::getProcessTriple()).starts_with("x86_64"))
    options.attributes.clear();
  auto backend = llvm::cantFail(CPUBackend::create(options));
  if (backend->getTarget().vectorBits < 256)
    GTEST_SKIP() << "vectors are too short for it to be faster";
  EXPECT_EQ(describe(*backend, c), "winograd 4x4");
  auto buildSums = [&](Function &f, Module &m) {
    NodeValue result = build(c, f, m);
    return result.node->getOperand(0);
  };
  Tensor expected = llvm::cantFail(run(*createInterpreter(), buildSums));
  Tensor first = llvm::cantFail(run(*backend, buildSums));
  double largest = 0, error = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    largest = std::max(largest, std::abs(expected.getAsDouble(i)));
    error = std::max(error,
                     std::abs(first.getAsDouble(i) - expected.getAsDouble(i)));
  }
  EXPECT_LE(error, 3e-6 * largest);
  for (unsigned threads : {2, 5}) {
    options.numThreads = threads;
    Tensor actual = llvm::cantFail(
        run(*llvm::cantFail(CPUBackend::create(options)), buildSums));
    for (int64_t i = 0; i < first.getNumElements(); ++i)
      ASSERT_EQ(actual.getAsDouble(i), first.getAsDouble(i))
          << threads << " threads, element " << i;
  }
}
