//===- ChannelWindowsTest.cpp - Depthwise convolutions and pools ----------===//
//
// The order of the tiles: groups of channels, strips of columns and bands of
// rows, each with one that is not full.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <limits>

using namespace glowish;

namespace {

struct WindowCase {
  int64_t height, width, channels, kernel, stride, dilation;
};

/// Images with more rows than are computed one by one, windows with and
/// without rows in common, channels of less than a vector, of whole vectors and
/// of groups of them with something left over; taps so far apart that many
/// tiles behind one another have some of them, or none.
const WindowCase cases[] = {
    {17, 33, 1, 3, 1, 1},   {9, 7, 7, 3, 1, 1},     {33, 17, 17, 5, 1, 1},
    {33, 33, 33, 3, 2, 1},  {17, 1, 80, 3, 1, 1},   {1, 17, 80, 3, 1, 1},
    {21, 65, 80, 3, 1, 1},  {13, 14, 184, 3, 1, 1}, {14, 14, 200, 5, 2, 1},
    {20, 3, 145, 3, 1, 2},  {19, 40, 72, 2, 2, 1},  {40, 19, 24, 2, 3, 1},
    {17, 115, 64, 3, 2, 1}, {3, 65, 17, 3, 1, 45},  {2, 70, 7, 2, 3, 90},
};

std::string describe(const WindowCase &c) {
  return std::to_string(c.height) + "x" + std::to_string(c.width) + "x" +
         std::to_string(c.channels) + " by " + std::to_string(c.kernel);
}

NodeValue makeInput(Module &m, const WindowCase &c, int64_t batch) {
  return input(m, ElemKind::Float, {batch, c.height, c.width, c.channels});
}

/// As many rows and columns of padding as keep the size for a stride of 1.
std::vector<int64_t> getPads(const WindowCase &c) {
  int64_t before = c.kernel / 2 * c.dilation,
          after = (c.kernel - 1) * c.dilation - before;
  return {before, before, after, after};
}

NodeValue buildDepthwise(Function &f, Module &m, const WindowCase &c,
                         int64_t batch) {
  NodeValue weights =
      constant(m, ElemKind::Float, {c.channels, c.kernel, c.kernel, 1});
  NodeValue bias = constant(m, ElemKind::Float, {c.channels});
  NodeValue y =
      f.create<ConvolutionNode>("conv", makeInput(m, c, batch), weights, bias,
                                std::vector<int64_t>(2, c.stride), getPads(c),
                                std::vector<int64_t>(2, c.dilation), c.channels)
          ->getResult();
  return f.create<SigmoidNode>("sigmoid", y)->getResult();
}

NodeValue buildMaxPool(Function &f, const WindowCase &c, NodeValue x) {
  return f
      .create<MaxPoolNode>("pool", x, std::vector<int64_t>(2, c.kernel),
                           std::vector<int64_t>(2, c.stride), getPads(c),
                           std::vector<int64_t>(2, c.dilation))
      ->getResult();
}

} // namespace

TEST(ChannelWindows, Depthwise) {
  for (const WindowCase &c : cases)
    compare(describe(c),
            [&](Function &f, Module &m) { return buildDepthwise(f, m, c, 2); });
}

TEST(ChannelWindows, Pools) {
  for (const WindowCase &c : cases) {
    compare("largest of " + describe(c), [&](Function &f, Module &m) {
      return buildMaxPool(f, c, makeInput(m, c, 2));
    });
    compare("mean of " + describe(c), [&](Function &f, Module &m) {
      return f
          .create<AvgPoolNode>("pool", makeInput(m, c, 2),
                               std::vector<int64_t>(2, c.kernel),
                               std::vector<int64_t>(2, c.stride), getPads(c),
                               std::vector<int64_t>(2, c.dilation), false)
          ->getResult();
    });
  }
}

/// With threads an image is cut into bands of rows: the results are the same
/// bits.
TEST(ChannelWindows, Threads) {
  for (const WindowCase &c : cases) {
    auto build = [&](Function &f, Module &m) {
      return buildMaxPool(f, c, buildDepthwise(f, m, c, 3));
    };
    std::vector<Tensor> results;
    for (unsigned threads : {1u, 3u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      auto result = run(*backend, build);
      ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
      results.push_back(std::move(*result));
    }
    EXPECT_EQ(results[0].getByteRange(), results[1].getByteRange())
        << describe(c);
  }
}

/// Some elements are NaN, infinite, or zero with either sign.
static Tensor makeSpecial(const Type &type, uint64_t seed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {std::nan(""), infinity, -infinity, 0.0, -0.0};
  Random random(seed);
  Tensor tensor = makeRandom(type, seed);
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (random.below(4) == 0)
      tensor.setFromDouble(i, specials[random.below(5)]);
  return tensor;
}

/// A window with a NaN has one for its largest element, wherever that is.
TEST(ChannelWindows, LargestOfSpecialNumbers) {
  for (const WindowCase &c : cases) {
    auto build = [&](Function &f, Module &m) {
      return buildMaxPool(f, c, makeInput(m, c, 1));
    };
    Tensor expected =
        llvm::cantFail(run(*createInterpreter(), build, nullptr, makeSpecial));
    for (const TargetOptions &options : getLevels()) {
      auto backend = llvm::cantFail(CPUBackend::create(options));
      Tensor actual =
          llvm::cantFail(run(*backend, build, nullptr, makeSpecial));
      for (int64_t i = 0; i < expected.getNumElements(); ++i) {
        double x = actual.getAsDouble(i), y = expected.getAsDouble(i);
        ASSERT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
            << describe(c) << " on '" << options.cpu << "' at " << i << ": "
            << x << " for " << y;
      }
    }
  }
}
