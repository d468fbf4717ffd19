//===- RematerializationTest.cpp - Rematerialization in training steps ----===//

#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Autodiff/Initializers.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Driver/Session.h"
#include "glowish/Driver/TrainingCompilation.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Random.h"
#include <cmath>

using namespace glowish;

//===- Training with and without ------------------------------------------===//

/// An initializer whose elements are all \p value.
static std::string filled(const std::string &name, std::vector<int64_t> shape,
                          float value) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return floats(name, std::move(shape), std::vector<float>(count, value));
}

/// Convolutions with normalizations, activations, dropped elements and skips.
static std::string makeNetwork(unsigned numLayers) {
  TextModel model;
  model.opset = 10;
  model.inputs = {{"x", {3, 5, 17, 7}}};
  std::string before = "x";
  for (unsigned i = 0; i < numLayers; ++i) {
    std::string n = std::to_string(i);
    std::vector<std::string> statistics;
    for (const char *part : {"scale", "bias", "mean", "variance"})
      statistics.push_back(part + n);
    std::vector<std::string> inputs = {"c" + n};
    llvm::append_range(inputs, statistics);
    model.body +=
        onnxNode("Conv", {before, "w" + n}, intsAttr("pads", {1, 1, 1, 1}),
                 "c" + n) +
        onnxNode("BatchNormalization", inputs, "", "b" + n) +
        onnxNode("Sigmoid", {"b" + n}, "", "s" + n) +
        onnxNode("Mul", {"b" + n, "s" + n}, "", "m" + n) +
        onnxNode("Dropout", {"m" + n}, floatAttr("ratio", 0.25), "d" + n) +
        onnxNode("Add", {"d" + n, before}, "", "a" + n);
    model.body += filled("w" + n, {5, 5, 3, 3}, 0);
    for (const std::string &name : statistics)
      model.body += filled(name, {5}, name[0] == 's' || name[0] == 'v');
    before = "a" + n;
  }
  model.body += onnxNode("GlobalAveragePool", {before}, "", "p") +
                onnxNode("Flatten", {"p"}, "", "f") +
                onnxNode("Gemm", {"f", "w"}) + filled("w", {5, 4}, 0);
  return model.str();
}

namespace {

struct Trained {
  std::vector<double> losses;
  /// The elements of all variables, one after the other.
  std::vector<double> variables;
  uint64_t numBytes = 0;
};

class Rematerialization : public TestFolder {
protected:
  Trained train(Backend &backend,
                const RematerializationConfig &rematerialization);
  void check(Backend &backend, double tolerance);
};

} // namespace

/// Ten steps of Adam on one batch.
Trained
Rematerialization::train(Backend &backend,
                         const RematerializationConfig &rematerialization) {
  TrainingConfig config;
  config.solver.kind = SolverKind::Adam;
  VariableValues values;
  CompilationOptions options;
  options.rematerialization = rematerialization;
  Compilation compilation(backend, options);
  ModelGraph graph = llvm::cantFail(
      importForTraining(compilation, in("net.onnxtxt"), {}, values));
  initializeVariables(graph.getModule(), InitializerKind::Kaiming, config,
                      values);
  llvm::cantFail(makeStep(graph, values, config));
  PlannedProgram program =
      llvm::cantFail(compilation.compile(std::move(graph)));
  auto session = llvm::cantFail(Session::create(program));
  Trained result;
  result.numBytes = program.getPlan().activationSize;
  Random random(7);
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    auto value = values.find(buffer->getModelName().str());
    if (value != values.end()) {
      llvm::cantFail(session->setInput(buffer, *value->second));
      continue;
    }
    Tensor tensor(buffer->getType());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      tensor.setFromDouble(i, buffer->getModelName() == "x"
                                  ? double(random.below(1000)) / 500 - 1
                              : buffer->getModelName() == "label" ? double(i)
                                                                  : 0.01);
    llvm::cantFail(session->setInput(buffer, tensor));
  }
  for (unsigned step = 0; step < 10; ++step) {
    llvm::cantFail(session->run());
    result.losses.push_back(
        session->getTensor(llvm::cantFail(session->findPlaceholder("loss")))
            .getAsDouble(0));
  }
  for (const Buffer *buffer : session->getPlaceholders())
    if (values.count(buffer->getModelName().str())) {
      Tensor tensor = session->getTensor(buffer);
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        result.variables.push_back(tensor.getAsDouble(i));
    }
  return result;
}

static void expectNear(const std::vector<double> &actual,
                       const std::vector<double> &expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i],
                tolerance * std::max(1.0, std::abs(expected[i])))
        << i;
}

/// Each takes clearly less memory than the one before, and comes to the same:
/// running statistics are among the variables, and dropped elements change all
/// of them.
void Rematerialization::check(Backend &backend, double tolerance) {
  llvm::cantFail(writeFile(in("net.onnxtxt"), makeNetwork(9)));
  Trained all = train(backend, {});
  EXPECT_LT(all.losses.back(), all.losses.front());
  uint64_t numBytes = all.numBytes;
  for (RematerializationConfig config :
       {RematerializationConfig{true, 0}, RematerializationConfig{true, 3}}) {
    SCOPED_TRACE(config.numSegments);
    Trained less = train(backend, config);
    EXPECT_LT(less.numBytes, numBytes * 0.9);
    expectNear(less.losses, all.losses, tolerance);
    expectNear(less.variables, all.variables, tolerance);
    numBytes = less.numBytes;
  }
}

TEST_F(Rematerialization, ComesToTheSameBitsOnTheInterpreter) {
  check(*createInterpreter(), 0);
}

/// Loops that are fused otherwise may round otherwise.
TEST_F(Rematerialization, ComesToTheSameCompiled) {
  check(*llvm::cantFail(CPUBackend::create(TargetOptions())), 1e-4);
}
