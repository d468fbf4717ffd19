//===- NormalizationTest.cpp - Layer and RMS normalization ----------------===//
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
  int64_t axis;
  bool hasScale, hasBias, subtractMean;
};

/// On an input that is far from 0.
NodeValue buildNorm(const NormCase &c, ElemKind kind, Function &f, Module &m) {
  Dims normalized(c.shape.begin() + c.axis, c.shape.end());
  NodeValue x = input(m, kind, c.shape);
  NodeValue scale = c.hasScale ? input(m, kind, normalized) : NodeValue();
  NodeValue bias = c.hasBias ? input(m, kind, normalized) : NodeValue();
  Tensor three(Type(kind, {1}));
  three.setFromDouble(0, 3);
  x = f.create<AddNode>("far", x,
                        NodeValue(m.createConstant("c", std::move(three))))
          ->getResult();
  return f
      .create<LayerNormalizationNode>("norm", x, scale, bias, c.axis,
                                      /*epsilon=*/1e-3, c.subtractMean)
      ->getResult();
}

const NormCase cases[] = {
    {{3, 17}, 1, true, true, true},      {{3, 17}, 1, false, false, true},
    {{2, 3, 33}, 2, true, false, true},  {{2, 3, 7}, 2, false, true, true},
    {{2, 3, 33}, 2, true, false, false}, {{5, 1}, 1, true, true, true},
    {{1, 128}, 1, true, true, true},     {{3, 1000}, 1, true, true, true},
    {{2, 7, 3, 5}, 2, true, true, true}, {{7, 3, 5}, 0, true, true, false},
    {{64, 256}, 1, true, true, true},    {{0, 17}, 1, true, true, true},
    {{3, 0}, 1, true, true, true},       {{33}, 0, true, true, false},
};

} // namespace

TEST(Normalization, Definition) {
  for (const NormCase &c : cases) {
    auto build = [&](Function &f, Module &m) {
      return buildNorm(c, ElemKind::Float, f, m);
    };
    Tensor actual = llvm::cantFail(run(*createInterpreter(), build));
    uint64_t seed = 7;
    Tensor x = makeRandom(actual.getType(), seed++);
    Type type(ElemKind::Float, DimsRef(c.shape).drop_front(c.axis));
    Tensor scale = makeRandom(type, c.hasScale ? seed++ : 0);
    Tensor bias = makeRandom(type, c.hasBias ? seed++ : 0);
    int64_t length = type.getNumElements();
    for (int64_t i = 0; i < actual.getNumElements(); ++i) {
      int64_t row = i / length * length, column = i % length;
      double mean = 0, squares = 0;
      for (int64_t k = row; k < row + length && c.subtractMean; ++k)
        mean += (x.getAsDouble(k) + 3) / double(length);
      for (int64_t k = row; k < row + length; ++k)
        squares += std::pow(x.getAsDouble(k) + 3 - mean, 2) / double(length);
      double expected =
          (x.getAsDouble(i) + 3 - mean) / std::sqrt(squares + 1e-3);
      if (c.hasScale)
        expected *= scale.getAsDouble(column);
      if (c.hasBias)
        expected += bias.getAsDouble(column);
      ASSERT_NEAR(actual.getAsDouble(i), expected, 2e-5) << i;
    }
  }
}

TEST(Normalization, CompiledCode) {
  for (ElemKind kind : {ElemKind::Float, ElemKind::Double}) {
    unsigned number = 0;
    for (const NormCase &c : cases)
      compare("case " + std::to_string(number++),
              [&](Function &f, Module &m) { return buildNorm(c, kind, f, m); });
  }
  // Rounded to the kind's precision at the end only.
  for (const NormCase &c : {cases[0], cases[4]})
    compare(
        "half",
        [&](Function &f, Module &m) {
          return buildNorm(c, ElemKind::Float16, f, m);
        },
        2e-3);
}

/// Between transposes, and with an epilogue that reads another tensor.
TEST(Normalization, StridesAndEpilogue) {
  auto build = [](Function &f, Module &m) {
    NodeValue x = input(m, ElemKind::Float, {3, 5, 7, 17});
    NodeValue other = input(m, ElemKind::Float, {5, 1, 17});
    std::vector<int64_t> permutation = {1, 0, 2, 3};
    x = f.create<TransposeNode>("in", x, permutation)->getResult();
    x = f.create<LayerNormalizationNode>("norm", x, NodeValue(), NodeValue(),
                                         int64_t(3), 1e-5, true)
            ->getResult();
    other =
        f.create<ReshapeNode>("shape", other, Dims{5, 1, 1, 17})->getResult();
    x = f.create<AddNode>("add", x, other)->getResult();
    x = f.create<TanhNode>("tanh", x)->getResult();
    return f.create<TransposeNode>("out", x, permutation)->getResult();
  };
  compare("strides", build);
}

TEST(Normalization, Types) {
  EXPECT_TYPE("LayerNormalization(float<2x3x4>, float<3x4>, none) {axis = 1, "
              "epsilon = 0.5, subtractMean = true}",
              "float<2x3x4>");
  auto refuses = [](const char *text, const char *message) {
    EXPECT_THAT(infer(text), testing::HasSubstr(message));
  };
  refuses("LayerNormalization(float<2x3x4>, float<3>, none) {axis = 1, "
          "epsilon = 0.5, subtractMean = true}",
          "scale");
  refuses("LayerNormalization(float<2x3x4>, none, double<4>) {axis = 2, "
          "epsilon = 0.5, subtractMean = true}",
          "bias");
  refuses("LayerNormalization(float<2x3>, none, none) {axis = 2, "
          "epsilon = 0.5, subtractMean = true}",
          "axis");
  refuses("LayerNormalization(float<2x3>, none, none) {axis = 1, "
          "epsilon = -0.5, subtractMean = true}",
          "epsilon");
  refuses("LayerNormalization(int32<2x3>, none, none) {axis = 1, "
          "epsilon = 0.5, subtractMean = true}",
          "input");
  refuses("LayerNormalization(float<2x3x4>, none, none) {axis = 1, "
          "epsilon = 0.5, subtractMean = true} -> float<2x3x4>",
          "last dimension");
}
