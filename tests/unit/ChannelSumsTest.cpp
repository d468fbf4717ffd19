//===- ChannelSumsTest.cpp - Convolutions with few output channels --------===//
//
// Compiled code, made to take every candidate for a convolution or a matmul,
// against the interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "glowish/IR/Instrs.h"

using namespace glowish;

namespace {

struct SumsCase {
  int64_t batch, height, width, channels, outChannels, kernelH, kernelW;
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
};

/// Rows that fill vectors and rows with something left over, in the whole row
/// of a kernel and in each of its taps; borders on all sides and on one; tiles
/// of channels with something left over; groups; a single output.
const SumsCase cases[] = {
    {2, 7, 33, 32, 3, 3, 3, {1, 1}, {1, 1, 1, 1}, {1, 1}},
    {1, 9, 17, 19, 5, 7, 7, {1, 1}, {3, 3, 3, 3}, {1, 1}},
    {1, 5, 29, 7, 1, 1, 5, {1, 1}, {0, 4, 0, 0}, {1, 1}},
    {3, 1, 65, 16, 1, 1, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}},
    {1, 1, 131, 40, 2, 1, 7, {1, 2}, {0, 3, 0, 3}, {1, 1}},
    {1, 11, 13, 17, 7, 3, 3, {2, 2}, {1, 0, 0, 1}, {1, 1}},
    {1, 12, 15, 33, 3, 3, 2, {1, 1}, {2, 2, 2, 2}, {2, 3}},
    {2, 6, 9, 68, 6, 3, 3, {1, 1}, {1, 1, 1, 1}, {1, 1}, 2},
    {1, 3, 3, 256, 1, 3, 3, {1, 1}, {0, 0, 0, 0}, {1, 1}},
};

NodeValue build(const SumsCase &c, ElemKind kind, bool isConstant, Function &f,
                Module &m) {
  NodeValue x = input(m, kind, {c.batch, c.height, c.width, c.channels});
  Dims shape = {c.outChannels, c.kernelH, c.kernelW, c.channels / c.group};
  NodeValue w = isConstant ? constant(m, kind, shape) : input(m, kind, shape);
  NodeValue bias =
      c.channels % 2 ? constant(m, kind, {c.outChannels}) : NodeValue();
  NodeValue y = f.create<ConvolutionNode>("conv", x, w, bias, c.strides, c.pads,
                                          c.dilations, c.group)
                    ->getResult();
  return f.create<TanhNode>("tanh", y)->getResult();
}

/// The candidate that computes the only convolution.
std::string describe(CPUBackend &backend, const BuildFn &build) {
  PlannedProgram program = llvm::cantFail(compileFor(backend, build));
  for (const Instruction &instr : program.getIR().getInstrs())
    if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
      return convolution->getAlgorithm().str();
  return "none";
}

bool isChannelSums(llvm::StringRef candidate) {
  return candidate.starts_with("channel-sums");
}

/// Compares what all candidates that are channel-sums compute with the
/// interpreter; returns how many there were.
unsigned compareCandidates(const std::string &name, const BuildFn &build,
                           double tolerance) {
  unsigned found = 0;
  Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
  for (TargetOptions options : getLevelsInTurn()) {
    std::set<std::string> seen;
    unsigned &rank = options.testing.choiceRank;
    for (rank = 0; rank < 12; ++rank) {
      auto backend = llvm::cantFail(CPUBackend::create(options));
      std::string candidate = describe(*backend, build);
      if (!isChannelSums(candidate) || !seen.insert(candidate).second)
        continue;
      ++found;
      Tensor actual = llvm::cantFail(run(*backend, build));
      for (int64_t i = 0; i < expected.getNumElements(); ++i)
        EXPECT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), tolerance)
            << name << " on '" << options.cpu << "' by " << candidate << " at "
            << i;
    }
  }
  return found;
}

bool hasVectors() {
  return llvm::cantFail(CPUBackend::create(TargetOptions()))
             ->getTarget()
             .vectorBits > 0;
}

} // namespace

TEST(ChannelSums, EveryTileIsRight) {
  if (!hasVectors())
    GTEST_SKIP() << "no vectors";
  unsigned number = 0, found = 0;
  for (const SumsCase &c : cases)
    for (ElemKind kind : {ElemKind::Float, ElemKind::Double})
      found += compareCandidates(
          "case " + std::to_string(number++),
          [&](Function &f, Module &m) {
            return build(c, kind, /*isConstant=*/true, f, m);
          },
          kind == ElemKind::Double ? 1e-13 : 3e-5);
  EXPECT_GE(found, std::size(cases));
}

/// The weights of a matmul that are computed are packed by the program.
TEST(ChannelSums, RuntimeWeights) {
  if (!hasVectors())
    GTEST_SKIP() << "no vectors";
  unsigned found = 0;
  for (int64_t columns : {1, 3, 5})
    found += compareCandidates(
        "matmul to " + std::to_string(columns),
        [&](Function &f, Module &m) {
          NodeValue x = input(m, ElemKind::Float, {37, 75});
          NodeValue w = input(m, ElemKind::Float, {75, columns});
          return f.create<MatMulNode>("m", x, w)->getResult();
        },
        1e-4);
  EXPECT_GE(found, 1u);
}

/// Rows of an image, and tiles of a single row, are the tasks of threads: the
/// results have the same bits.
TEST(ChannelSums, Threads) {
  if (!hasVectors())
    GTEST_SKIP() << "no vectors";
  for (const SumsCase &c : {cases[0], cases[4]}) {
    auto buildCase = [&](Function &f, Module &m) {
      return build(c, ElemKind::Float, /*isConstant=*/true, f, m);
    };
    std::vector<Tensor> results;
    for (unsigned threads : {1u, 3u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      for (unsigned &rank = options.testing.choiceRank;
           rank < 12 && !isChannelSums(describe(*backend, buildCase)); ++rank)
        backend = llvm::cantFail(CPUBackend::create(options));
      ASSERT_TRUE(isChannelSums(describe(*backend, buildCase)));
      results.push_back(llvm::cantFail(run(*backend, buildCase)));
    }
    EXPECT_EQ(results[0].getByteRange(), results[1].getByteRange());
  }
}

/// Numbers behind the end of a row must not reach its sum: 0 times infinity is
/// no number.
TEST(ChannelSums, NothingBehindTheEnd) {
  if (!hasVectors())
    GTEST_SKIP() << "no vectors";
  constexpr double infinity = std::numeric_limits<double>::infinity();
  auto buildCase = [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {2, 19});
    Tensor weights(Type(ElemKind::Float, {19, 1}));
    for (int64_t i = 0; i < 19; ++i)
      weights.setFromDouble(i, 1);
    NodeValue w = m.createConstant("w", std::move(weights))->getResult();
    // The second row is infinite.
    Tensor scale(Type(ElemKind::Float, {2, 1}));
    scale.setFromDouble(0, 1);
    scale.setFromDouble(1, infinity);
    NodeValue s = m.createConstant("s", std::move(scale))->getResult();
    NodeValue wide = f.create<BroadcastNode>("b", s, Dims{2, 19})->getResult();
    NodeValue scaled = f.create<MulNode>("mul", x, wide)->getResult();
    return f.create<MatMulNode>("m", scaled, w)->getResult();
  };
  for (const TargetOptions &options : getLevels()) {
    auto backend = llvm::cantFail(CPUBackend::create(options));
    EXPECT_TRUE(isChannelSums(describe(*backend, buildCase))) << options.cpu;
    Tensor actual = llvm::cantFail(run(*backend, buildCase));
    EXPECT_TRUE(std::isfinite(actual.getAsDouble(0))) << options.cpu;
  }
}
