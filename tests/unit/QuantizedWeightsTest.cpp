//===- QuantizedWeightsTest.cpp - Errors of weights that become integers --===//

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Optimizer/Quantize.h"
#include "glowish/Support/Random.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace glowish;

namespace {

/// A number of a distribution.
using Draw = double (*)(Random &random);

struct Distribution {
  const char *name;
  Draw draw;
};

} // namespace

static double drawNormal(Random &random) { return 0.02 * random.normal(); }

/// Student's t with 4 degrees of freedom.
static double drawHeavyTailed(Random &random) {
  double squares = 0;
  for (int i = 0; i < 4; ++i) {
    double x = random.normal();
    squares += x * x;
  }
  return drawNormal(random) / std::sqrt(squares / 4);
}

static double drawPositive(Random &random) {
  return std::fabs(drawNormal(random));
}

/// Weights of few values, of which one scale is exact.
static double drawMultiple(Random &random) {
  return std::nearbyint(random.uniform(-7, 7)) * 0.125;
}

static const Distribution distributions[] = {{"normal", drawNormal},
                                             {"heavy-tailed", drawHeavyTailed},
                                             {"positive", drawPositive},
                                             {"multiples", drawMultiple}};

static Tensor makeWeights(const Distribution &distribution, int64_t rows,
                          int64_t columns, uint64_t seed) {
  Random random(seed);
  Tensor weights(Type(ElemKind::Float, {rows, columns}));
  for (float &weight : weights.data<float>())
    weight = float(distribution.draw(random));
  return weights;
}

/// The relative error that the weights of \p function's matmul have, computed.
static double measure(Function &function, const Tensor &weights) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  EXPECT_TRUE(llvm::cantFail(foldConstants(function, context)));
  double squares = 0, error = 0;
  for (const Node &node : function.getNodes())
    if (auto *matMul = llvm::dyn_cast<MatMulNode>(&node)) {
      auto *rhs = matMul->getRhs().getNodeAs<Constant>();
      if (!rhs)
        return INFINITY;
      for (int64_t i = 0; i < weights.getNumElements(); ++i) {
        double weight = weights.getAsDouble(i);
        squares += weight * weight;
        double difference = rhs->getPayload()->getAsDouble(i) - weight;
        error += difference * difference;
      }
    }
  return std::sqrt(error / squares);
}

/// The relative error of \p weights, of a matmul, or of the table of a Gather.
static double quantize(Tensor weights, const WeightQuantization &quantization,
                       bool isTable = false) {
  Tensor exact = weights.clone();
  Module module("net");
  NodeBuilder b(*module.createFunction("main"), "value");
  int64_t rows = weights.getType().getDim(0);
  NodeValue constant = b.createConstant(std::move(weights));
  NodeValue result;
  if (isTable) {
    NodeValue x(module.createPlaceholder("x", Type(ElemKind::Int64, {3}),
                                         /*isInput=*/true,
                                         /*isOutput=*/false));
    result = b.gather(constant, x, 0);
  } else {
    NodeValue x(module.createPlaceholder("x", Type(ElemKind::Float, {2, rows}),
                                         /*isInput=*/true,
                                         /*isOutput=*/false));
    result = b.matMul(x, constant);
  }
  auto *output = module.createPlaceholder("y", result.getType(),
                                          /*isInput=*/false, /*isOutput=*/true);
  b.getFunction().create<SaveNode>("save", result, NodeValue(output));
  auto nodes = isTable
                   ? quantizeEmbeddings(b.getFunction(), quantization, {})
                   : quantizeWeightsAlone(b.getFunction(), quantization, {});
  EXPECT_FALSE(bool(verify(module)));
  EXPECT_EQ(nodes.size(), 1u);
  double error = nodes.empty() ? 0 : nodes[0].error;
  // Larger ones are not folded.
  bool isFolded = !isTable && exact.getNumElements() <= 300;
  if (isFolded && error > 1e-6 && error < 1)
    EXPECT_NEAR(measure(b.getFunction(), exact), error, 1e-3 * error);
  return error;
}

TEST(QuantizedWeights, SearchIsNeverWorseThanTheRange) {
  for (const Distribution &distribution : distributions)
    for (ElemKind kind :
         {ElemKind::Int4, ElemKind::UInt4, ElemKind::Int8, ElemKind::UInt8})
      for (int64_t block : {0, 16, 32, 100})
        for (uint64_t seed = 1; seed <= 3; ++seed) {
          // Single blocks, so that no other block makes up for it.
          int64_t rows = block ? block : 300;
          Tensor weights = makeWeights(distribution, rows, 1, seed);
          double nearest = quantize(weights.clone(), {kind, block, false});
          double searched = quantize(weights.clone(), {kind, block, true});
          EXPECT_LE(searched, nearest * (1 + 1e-9))
              << distribution.name << " " << getElemKindName(kind).str()
              << " block " << block << " seed " << seed;
        }
}

TEST(QuantizedWeights, SearchIsBetterOnAverage) {
  // Of the root of the mean squared error; the most that is left of it.
  const std::tuple<int, ElemKind, int64_t, double> expected[] = {
      {0, ElemKind::Int4, 32, 0.95},  {0, ElemKind::UInt4, 32, 0.96},
      {0, ElemKind::Int4, 0, 0.88},   {1, ElemKind::Int4, 32, 0.97},
      {1, ElemKind::UInt4, 32, 0.97}, {1, ElemKind::Int4, 0, 0.8},
      {0, ElemKind::Int8, 32, 0.95},  {1, ElemKind::UInt8, 32, 0.95},
  };
  for (auto [distribution, kind, block, most] : expected) {
    Tensor weights = makeWeights(distributions[distribution], 896, 64, 5);
    double nearest = quantize(weights.clone(), {kind, block, false});
    double searched = quantize(weights.clone(), {kind, block, true});
    EXPECT_LT(searched, most * nearest)
        << distributions[distribution].name << " "
        << getElemKindName(kind).str() << " block " << block;
  }
}

TEST(QuantizedWeights, ExactWeightsStayExact) {
  Tensor weights = makeWeights(distributions[3], 64, 8, 9);
  // Each block has the whole range, as weights do that were quantized before.
  for (int64_t i = 0; i < weights.getNumElements(); ++i)
    if (int64_t row = i / 8; row % 32 < 2)
      weights.data<float>()[size_t(i)] = row % 32 ? 0.875f : -0.875f;
  for (ElemKind kind : {ElemKind::Int4, ElemKind::UInt4})
    EXPECT_LT(quantize(weights.clone(), {kind, 32, true}), 1e-6);
}

TEST(QuantizedWeights, ZerosAndTinyNumbers) {
  for (float number : {0.0f, 1e-38f, 1e-20f, 3e37f})
    for (ElemKind kind : {ElemKind::Int4, ElemKind::UInt4, ElemKind::Int8}) {
      Tensor weights(Type(ElemKind::Float, {40, 3}));
      for (float &weight : weights.data<float>())
        weight = number;
      double error = quantize(std::move(weights), {kind, 16, true});
      // What is less than any scale is zero.
      EXPECT_LE(error, number == 1e-38f ? 1 : 1e-6) << number;
    }
}

TEST(QuantizedWeights, TablesHaveBlocksInRows) {
  // Rows of different magnitudes, which no scale of a column suits.
  Tensor table = makeWeights(distributions[0], 20, 33, 3);
  for (int64_t i = 0; i < table.getNumElements(); ++i)
    table.data<float>()[size_t(i)] *= float(std::pow(10.0, double(i / 33)));
  for (ElemKind kind : {ElemKind::Int8, ElemKind::UInt8})
    EXPECT_LT(quantize(table.clone(), {kind, 0, true}, /*isTable=*/true), 0.01);
  for (ElemKind kind : {ElemKind::Int4, ElemKind::UInt4})
    EXPECT_LT(quantize(table.clone(), {kind, 16, true}, /*isTable=*/true), 0.1);
}
