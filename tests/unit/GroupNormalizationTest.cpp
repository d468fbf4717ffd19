//===- GroupNormalizationTest.cpp - Instance and group normalization ------===//
//
// The interpreter against the definition, and compiled code against the
// interpreter.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "InferTypes.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

struct NormCase {
  Dims shape;
  int64_t axis, groups;
  bool hasScale = true, hasBias = true;
};

std::string str(const NormCase &c) {
  std::string text;
  for (int64_t extent : c.shape)
    text += std::to_string(extent) + "x";
  return text + " axis " + std::to_string(c.axis) + " groups " +
         std::to_string(c.groups);
}

/// On an input that is far from 0.
NodeValue buildNorm(const NormCase &c, ElemKind kind, Function &f, Module &m) {
  int64_t channels = c.shape[c.axis];
  NodeValue x = input(m, kind, c.shape);
  NodeValue scale = c.hasScale ? input(m, kind, {channels}) : NodeValue();
  NodeValue bias = c.hasBias ? input(m, kind, {channels}) : NodeValue();
  Tensor three(Type(kind, {1}));
  three.setFromDouble(0, 3);
  x = f.create<AddNode>("far", x,
                        NodeValue(m.createConstant("c", std::move(three))))
          ->getResult();
  return f
      .create<GroupNormalizationNode>("norm", x, scale, bias, c.axis, c.groups,
                                      /*epsilon=*/1e-3)
      ->getResult();
}

void compareCase(const NormCase &c, ElemKind kind, double bound = 1e-5) {
  compare(
      str(c), [&](Function &f, Module &m) { return buildNorm(c, kind, f, m); },
      bound);
}

/// Channels last, with one group, some, and as many as channels.
std::vector<NormCase> getCases() {
  std::vector<NormCase> cases;
  const Dims images[] = {{1}, {7}, {33, 5}};
  for (int64_t batch : {1, 3})
    for (int64_t channels : {1, 3, 7, 16, 17, 33, 64})
      for (const Dims &pixels : images)
        for (int64_t groups : {int64_t(1), int64_t(4), channels}) {
          Dims shape = {batch};
          shape.append(pixels.begin(), pixels.end());
          shape.push_back(channels);
          bool isSame = groups == channels && channels == 1;
          if (channels % groups == 0 && !isSame)
            cases.push_back({shape, int64_t(shape.size()) - 1, groups,
                             /*hasScale=*/channels % 3 != 0,
                             /*hasBias=*/batch == 1});
        }
  return cases;
}

} // namespace

TEST(GroupNormalization, Definition) {
  for (const NormCase &c :
       {NormCase{{2, 5, 3, 6}, 3, 2}, NormCase{{2, 6, 5, 3}, 1, 6},
        NormCase{{2, 5, 6, 3}, 2, 3}}) {
    auto build = [&](Function &f, Module &m) {
      return buildNorm(c, ElemKind::Float, f, m);
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
    int64_t channels = c.shape[c.axis], count = actual.getNumElements();
    Tensor x = makeRandom(actual.getType(), 7);
    Tensor scale = makeRandom(Type(ElemKind::Float, {channels}), 8);
    Tensor bias = makeRandom(Type(ElemKind::Float, {channels}), 9);
    int64_t inner = countElements(DimsRef(c.shape).drop_front(c.axis + 1));
    auto channelOf = [&](int64_t i) { return i / inner % channels; };
    auto groupOf = [&](int64_t i) {
      return std::pair(i / (count / c.shape[0]),
                       channelOf(i) / (channels / c.groups));
    };
    for (int64_t i = 0; i < count; ++i) {
      double sum = 0, squares = 0, size = double(count / c.shape[0] / c.groups);
      for (int64_t k = 0; k < count; ++k)
        sum += groupOf(k) == groupOf(i) ? x.getAsDouble(k) + 3 : 0;
      for (int64_t k = 0; k < count; ++k)
        if (groupOf(k) == groupOf(i))
          squares += std::pow(x.getAsDouble(k) + 3 - sum / size, 2);
      double expected = (x.getAsDouble(i) + 3 - sum / size) /
                        std::sqrt(squares / size + 1e-3);
      expected = expected * scale.getAsDouble(channelOf(i)) +
                 bias.getAsDouble(channelOf(i));
      ASSERT_NEAR(actual.getAsDouble(i), expected, 2e-5) << str(c) << i;
    }
  }
}

TEST(GroupNormalization, CompiledCode) {
  for (const NormCase &c : getCases())
    compareCase(c, ElemKind::Float);
}

TEST(GroupNormalization, OtherKinds) {
  for (const NormCase &c :
       {NormCase{{2, 33, 17}, 2, 17}, NormCase{{2, 33, 24}, 2, 3}}) {
    compareCase(c, ElemKind::Double, 1e-12);
    // Rounded to the kind's precision at the end only.
    compareCase(c, ElemKind::Float16, 2e-3);
    compareCase(c, ElemKind::BFloat16, 2e-2);
  }
}

/// Lowered to layer normalization: channels that are not last, and more of a
/// group than fit on the stack.
TEST(GroupNormalization, Lowered) {
  auto backend = llvm::cantFail(CPUBackend::create({}));
  for (const NormCase &c :
       {NormCase{{2, 6, 5, 3}, 1, 6}, NormCase{{2, 6, 5, 3}, 1, 2},
        NormCase{{2, 5, 6, 3}, 2, 3}, NormCase{{1, 2, 300000}, 2, 1}}) {
    compareCase(c, ElemKind::Float);
    auto build = [&](Function &f, Module &m) {
      return buildNorm(c, ElemKind::Float, f, m);
    };
    EXPECT_GE(countInstrs(*backend, build, "LayerNormalization"), 1u) << str(c);
  }
}

/// A group of one pixel, and of none.
TEST(GroupNormalization, Small) {
  for (const NormCase &c :
       {NormCase{{3, 6}, 1, 2}, NormCase{{2, 0, 6}, 2, 3},
        NormCase{{2, 6, 0}, 1, 3}, NormCase{{0, 5, 6}, 2, 6},
        NormCase{{2, 5, 0}, 2, 3}})
    compareCase(c, ElemKind::Float);
}

/// Two kernels where few tasks have many pixels. The results are the same bits
/// for any number of threads.
TEST(GroupNormalization, Threads) {
  struct ThreadCase {
    NormCase norm;
    ElemKind kind;
    bool hasParts;
  };
  using enum ElemKind;
  const ThreadCase cases[] = {
      {{{1, 66, 50, 16}, 3, 16}, Float, true},
      {{{2, 33, 50, 24}, 3, 2, true, false}, Float, true},
      {{{1, 33, 50, 96}, 3, 32}, Double, false},
      {{{1, 20, 33, 96}, 3, 1}, Float16, true},
      {{{1, 90, 90, 7}, 3, 7, false, true}, Float, true},
      {{{1, 15000, 3}, 2, 3}, Double, true},
      {{{8, 33, 50, 8}, 3, 2}, Float, false}};
  for (const ThreadCase &c : cases) {
    auto build = [&](Function &f, Module &m) {
      NodeValue x = buildNorm(c.norm, c.kind, f, m);
      return f.create<TanhNode>("tanh", x)->getResult();
    };
    Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
    double bound = c.kind == Float16 ? 2e-3 : 1e-5;
    Tensor first;
    for (int64_t threads : {1, 3, 5}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      EXPECT_EQ(countInstrs(*backend, build, "CPUGroupStatistics"),
                c.hasParts ? 1u : 0u)
          << str(c.norm);
      Tensor actual = llvm::cantFail(run(*backend, build));
      if (threads == 1)
        first = actual.clone();
      EXPECT_TRUE(actual.isBitwiseEqual(first))
          << str(c.norm) << ", " << threads << " threads";
      for (int64_t i = 0; i < expected.getNumElements(); ++i)
        ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), bound)
            << str(c.norm) << ", " << threads << " threads, at " << i;
    }
  }
}

/// Between transposes and slices, and with an epilogue that reads other
/// tensors.
TEST(GroupNormalization, StridesAndEpilogue) {
  for (int64_t groups : {1, 17})
    compare("strides", [&](Function &f, Module &m) {
      NodeValue x = input(m, ElemKind::Float, {5, 3, 9, 20});
      NodeValue other = input(m, ElemKind::Float, {3, 1, 7, 1});
      std::vector<int64_t> permutation = {1, 0, 2, 3};
      x = f.create<SliceNode>("slice", x, std::vector<int64_t>{0, 0, 1, 2},
                              std::vector<int64_t>{5, 3, 7, 17},
                              std::vector<int64_t>{1, 1, 1, 1})
              ->getResult();
      x = f.create<TransposeNode>("in", x, permutation)->getResult();
      x = f.create<GroupNormalizationNode>("norm", x, NodeValue(), NodeValue(),
                                           int64_t(3), groups, 1e-5)
              ->getResult();
      x = f.create<AddNode>("add", x, other)->getResult();
      x = f.create<TanhNode>("tanh", x)->getResult();
      return f.create<TransposeNode>("out", x, permutation)->getResult();
    });
}

/// What is added and multiplied where the channels are not last.
TEST(GroupNormalization, LoweredEpilogue) {
  compare("epilogue", [&](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {2, 6, 5, 3});
    NodeValue other = input(m, ElemKind::Float, {5, 1});
    x = f.create<GroupNormalizationNode>("norm", x, NodeValue(), NodeValue(),
                                         int64_t(1), int64_t(2), 1e-5)
            ->getResult();
    return f.create<MulNode>("scale", x, other)->getResult();
  });
}

TEST(GroupNormalization, Types) {
  EXPECT_TYPE("GroupNormalization(float<2x3x4>, float<4>, none) {axis = 2, "
              "groups = 2, epsilon = 0.5}",
              "float<2x3x4>");
  auto refuses = [](const char *text, const char *message) {
    EXPECT_THAT(infer(text), testing::HasSubstr(message));
  };
  refuses("GroupNormalization(float<2x3x4>, float<3>, none) {axis = 2, "
          "groups = 2, epsilon = 0.5}",
          "scale");
  refuses("GroupNormalization(float<2x3x4>, none, double<4>) {axis = 2, "
          "groups = 2, epsilon = 0.5}",
          "bias");
  refuses("GroupNormalization(float<2x3>, none, none) {axis = 2, "
          "groups = 1, epsilon = 0.5}",
          "axis");
  refuses("GroupNormalization(float<2x3>, none, none) {axis = 0, "
          "groups = 1, epsilon = 0.5}",
          "another dimension than 0");
  refuses("GroupNormalization(float<2x3>, none, none) {axis = 1, "
          "groups = 2, epsilon = 0.5}",
          "does not divide the 3 channels");
  refuses("GroupNormalization(float<2x3>, none, none) {axis = 1, "
          "groups = 0, epsilon = 0.5}",
          "groups");
  refuses("GroupNormalization(float<2x3>, none, none) {axis = 1, "
          "groups = 3, epsilon = -0.5}",
          "epsilon");
  refuses("GroupNormalization(int32<2x3>, none, none) {axis = 1, "
          "groups = 3, epsilon = 0.5}",
          "input");
}
