//===- ImporterRandomTest.cpp - Random numbers ----------------------------===//
//
// Bits against the published ones of the generator, distributions against
// their moments, and both back ends against each other.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// y of \p model, whose input x (if it has one) has \p x in every element.
Tensor runOn(Backend &backend, TextModel &model, double x = 0) {
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(backend, options);
  PlannedProgram program =
      llvm::cantFail(compilation.compile(llvm::cantFail(model.import())));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor(buffer->getType());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      tensor.setFromDouble(i, x);
    llvm::cantFail(session->setInput(buffer, tensor));
  }
  llvm::cantFail(session->run());
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
      .clone();
}

Tensor interpret(TextModel &model, double x = 0) {
  return runOn(*createInterpreter(), model, x);
}
Tensor interpret(TextModel &&model, double x = 0) {
  return interpret(model, x);
}

/// A node without inputs, or over x of \p shape.
TextModel random(llvm::StringRef type, std::string attributes,
                 std::vector<std::string> inputs = {},
                 std::vector<int64_t> shape = {1}) {
  return oneNode(type, std::move(inputs), std::move(attributes), 22,
                 {{"x", std::move(shape)}});
}

double mean(const Tensor &tensor, unsigned power = 1) {
  double sum = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    sum += std::pow(tensor.getAsDouble(i), power);
  return sum / double(tensor.getNumElements());
}

} // namespace

/// The words are those that the authors publish with the generator.
TEST(ImporterRandom, Philox) {
  auto build = [](Function &f, Module &m) {
    auto number = [&](uint64_t value) {
      return NodeValue(m.createConstant(
          "c",
          Tensor::fromValues<uint64_t>(Type(ElemKind::UInt64, {1}), {value})));
    };
    return f.create<RandomBitsNode>("bits", number(0), number(0))->getResult();
  };
  Tensor bits = llvm::cantFail(run(*createInterpreter(), build));
  EXPECT_EQ(bits.data<uint64_t>()[0], 0xe169c58d6627e8d5u);
}

TEST(ImporterRandom, BitsOnAllLevels) {
  for (Dims shape :
       {Dims{1}, Dims{17}, Dims{3, 33}, Dims{0, 7}, Dims{5, 1, 70}}) {
    auto build = [&](Function &f, Module &m) {
      NodeValue counter = input(m, ElemKind::UInt64, shape);
      auto key = m.createConstant(
          "key", Tensor::fromValues<uint64_t>(Type(ElemKind::UInt64, Dims()),
                                              {0x123456789ABCDEF0u}));
      return f.create<RandomBitsNode>("bits", counter, NodeValue(key))
          ->getResult();
    };
    Tensor expected = llvm::cantFail(run(*createInterpreter(), build));
    for (const TargetOptions &options : getLevels()) {
      auto backend = llvm::cantFail(CPUBackend::create(options));
      EXPECT_TRUE(llvm::cantFail(run(*backend, build)).isBitwiseEqual(expected))
          << options.cpu;
    }
  }
}

TEST(ImporterRandom, UniformIsTheSameEverywhere) {
  std::string attributes = intsAttr("shape", {3, 17, 33}) +
                           floatAttr("low", -2) + floatAttr("high", 3) +
                           floatAttr("seed", 7);
  for (int64_t kind : {1, 10, 11, 16}) {
    TextModel model =
        random("RandomUniform", attributes + intAttr("dtype", kind));
    Tensor expected = interpret(model);
    for (unsigned threads : {1u, 3u}) {
      TargetOptions options;
      options.numThreads = threads;
      auto backend = llvm::cantFail(CPUBackend::create(options));
      Tensor actual = runOn(*backend, model);
      ASSERT_EQ(actual.getType(), expected.getType());
      for (int64_t i = 0; i < expected.getNumElements(); ++i)
        ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i),
                    kind == 16   ? 2e-2
                    : kind == 10 ? 2e-3
                                 : 5e-7)
            << kind << " at " << i;
    }
  }
}

TEST(ImporterRandom, UniformDistribution) {
  Tensor y = interpret(random("RandomUniform", intsAttr("shape", {100, 1000}) +
                                                   floatAttr("seed", 1)));
  ASSERT_EQ(y.getType(), Type(ElemKind::Float, {100, 1000}));
  EXPECT_NEAR(mean(y), 0.5, 0.005);
  EXPECT_NEAR(mean(y, 2), 1.0 / 3, 0.005);
  for (float value : y.data<float>())
    ASSERT_TRUE(value >= 0 && value < 1) << value;
  std::set<float> different(y.data<float>().begin(), y.data<float>().end());
  // 2^24 values: some 300 of 100,000 meet another.
  EXPECT_GT(different.size(), 99000u);
}

TEST(ImporterRandom, NormalDistribution) {
  for (int64_t kind : {1, 11}) {
    Tensor y = interpret(random(
        "RandomNormal", intsAttr("shape", {100000}) + floatAttr("mean", 2) +
                            floatAttr("scale", 3) + intAttr("dtype", kind)));
    double m = mean(y), variance = mean(y, 2) - m * m;
    EXPECT_NEAR(m, 2, 0.05);
    EXPECT_NEAR(variance, 9, 0.2);
    // The third and fourth moments, too: the shape is normal.
    double third = 0, fourth = 0;
    for (int64_t i = 0; i < y.getNumElements(); ++i) {
      double z = (y.getAsDouble(i) - m) / std::sqrt(variance);
      third += z * z * z / double(y.getNumElements());
      fourth += z * z * z * z / double(y.getNumElements());
    }
    EXPECT_NEAR(third, 0, 0.05);
    EXPECT_NEAR(fourth, 3, 0.1);
  }
}

TEST(ImporterRandom, SeedsAndNames) {
  auto make = [](std::string attributes, std::string name) {
    return interpret(random("RandomUniform", intsAttr("shape", {8}) +
                                                 attributes + "name: \"" +
                                                 name + "\" "));
  };
  auto seed = [](int value) { return floatAttr("seed", value); };
  EXPECT_TRUE(make("", "a").isBitwiseEqual(make("", "a")));
  EXPECT_FALSE(make("", "a").isBitwiseEqual(make("", "b")));
  EXPECT_TRUE(make(seed(3), "a").isBitwiseEqual(make(seed(3), "b")));
  EXPECT_FALSE(make(seed(3), "a").isBitwiseEqual(make(seed(4), "a")));
}

TEST(ImporterRandom, LikeAnother) {
  EXPECT_EQ(interpret(random("RandomNormalLike", "", {"x"}, {3, 7})).getType(),
            Type(ElemKind::Float, {3, 7}));
  EXPECT_EQ(interpret(random("RandomUniformLike", intAttr("dtype", 11), {"x"},
                             {3, 0}))
                .getType(),
            Type(ElemKind::Double, {3, 0}));
}

TEST(ImporterRandom, Bernoulli) {
  for (double p : {0.0, 0.25, 1.0}) {
    Tensor y = interpret(
        random("Bernoulli", intAttr("dtype", 6), {"x"}, {33, 1000}), p);
    ASSERT_EQ(y.getType(), Type(ElemKind::Int32, {33, 1000}));
    for (int64_t i = 0; i < y.getNumElements(); ++i)
      ASSERT_TRUE(y.getAsInt(i) == 0 || y.getAsInt(i) == 1);
    EXPECT_NEAR(mean(y), p, p == 0.25 ? 0.01 : 0);
  }
}

/// Weights 1, 0, 3: two classes, three quarters of the draws the last.
TEST(ImporterRandom, Multinomial) {
  TextModel model =
      random("Multinomial", intAttr("sample_size", 5000) + floatAttr("seed", 5),
             {"w"});
  model.body += floats("w", {2, 3}, {5, -1000, 5 + std::log(3.0f), 0, 0, -800});
  Tensor y = interpret(model);
  ASSERT_EQ(y.getType(), Type(ElemKind::Int32, {2, 5000}));
  int64_t counts[2][3] = {};
  for (int64_t i = 0; i < y.getNumElements(); ++i) {
    ASSERT_TRUE(y.getAsInt(i) >= 0 && y.getAsInt(i) < 3);
    ++counts[i / 5000][y.getAsInt(i)];
  }
  EXPECT_EQ(counts[0][1], 0);
  EXPECT_NEAR(double(counts[0][2]), 3750, 150);
  EXPECT_EQ(counts[1][2], 0);
  EXPECT_NEAR(double(counts[1][0]), 2500, 170);
}

TEST(ImporterRandom, TrainingDropout) {
  TextModel model = oneNode("Dropout", {"x", "r", "t"}, intAttr("seed", 2), 13,
                            {{"x", {33, 100}}});
  model.body += floats("r", {}, {0.75f}) +
                "initializer { name: \"t\" data_type: 9 int32_data: 1 } ";
  Tensor y = interpret(model, 2);
  int64_t kept = 0;
  for (float value : y.data<float>()) {
    ASSERT_TRUE(value == 0 || value == 8) << value;
    kept += value != 0;
  }
  EXPECT_NEAR(double(kept), 825, 100);
  TextModel masked = oneNode("Dropout", {}, "", 13, model.inputs);
  masked.body = onnxNode("Dropout", {"x", "r", "t"},
                         intAttr("seed", 2) + "output: \"y\" ", "kept") +
                model.body.substr(model.body.find("initializer"));
  Tensor mask = interpret(masked, 2);
  ASSERT_EQ(mask.getType(), Type(ElemKind::Bool, {33, 100}));
  for (int64_t i = 0; i < y.getNumElements(); ++i)
    ASSERT_EQ(mask.getAsDouble(i) != 0, y.getAsDouble(i) != 0);
}

TEST(ImporterRandom, Errors) {
  EXPECT_THAT(random("RandomNormal", "").importError(),
              HasSubstr("attribute 'shape' is missing"));
  EXPECT_THAT(
      random("RandomNormal", intsAttr("shape", {3}) + intAttr("dtype", 7))
          .importError(),
      HasSubstr("the result's kind is int64; accepted: float kinds"));
  EXPECT_THAT(random("RandomUniform", intsAttr("shape", {3, -1})).importError(),
              HasSubstr("-1"));
  EXPECT_THAT(random("Multinomial", "", {"x"}, {3}).importError(),
              HasSubstr("accepted: a float kind and [batch, classes]"));
}
