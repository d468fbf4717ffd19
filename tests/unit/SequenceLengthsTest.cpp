//===- SequenceLengthsTest.cpp - Recurrent operators with lengths ---------===//
//
// Sequences of different lengths in one batch give what each gives alone, and
// nothing is computed behind their ends.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include "OnnxText.h"

using namespace glowish;

static constexpr int64_t maxLength = 6, batch = 4, inputSize = 20, hidden = 18;

namespace {

struct RecurrentCase {
  const char *type;
  int64_t gates;
  const char *direction;
  int64_t numDirections;
};

} // namespace

static std::string randomFloats(llvm::StringRef name, const Dims &shape,
                                uint64_t seed) {
  Tensor tensor = makeRandom(Type(ElemKind::Float, shape), seed);
  std::vector<float> values(tensor.data<float>().begin(),
                            tensor.data<float>().end());
  return floats(name, {shape.begin(), shape.end()}, values);
}

/// A model of \p steps time steps of \p numSequences, with lengths as an input
/// or without them.
static std::unique_ptr<Module> importModel(const RecurrentCase &test,
                                           int64_t steps, int64_t numSequences,
                                           bool hasLengths) {
  int64_t d = test.numDirections, rows = test.gates * hidden;
  TextModel model;
  model.inputs = {{"x", {steps, numSequences, inputSize}}};
  model.body =
      onnxNode(test.type, {"x", "w", "r", "b", hasLengths ? "lens" : ""},
               intAttr("hidden_size", hidden) +
                   stringAttr("direction", test.direction)) +
      randomFloats("w", {d, rows, inputSize}, 1) +
      randomFloats("r", {d, rows, hidden}, 2) +
      randomFloats("b", {d, 2 * rows}, 3);
  if (hasLengths)
    model.body +=
        llvm::formatv("input {{ name: \"lens\" type {{ tensor_type {{ "
                      "elem_type: 6 shape {{ dim {{ dim_value: {0} "
                      "} } } } } ",
                      numSequences);
  return llvm::cantFail(model.import());
}

/// Runs \p module with \p x and, where it has such an input, \p lengths.
static Tensor runWith(Backend &backend, std::unique_ptr<Module> module,
                      const Tensor &x, llvm::ArrayRef<int32_t> lengths) {
  CompilationOptions options;
  options.verifyEach = true;
  PlannedProgram program =
      llvm::cantFail(Compilation(backend, options).compile(std::move(module)));
  auto session = llvm::cantFail(Session::create(program));
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (buffer->getModelName() == "x")
      llvm::cantFail(session->setInput(buffer, x));
    if (buffer->getModelName() == "lens")
      llvm::cantFail(session->setInput(
          buffer, Tensor::fromValues<int32_t>(buffer->getType(), lengths)));
  }
  llvm::cantFail(session->run());
  return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
      .clone();
}

/// The result [steps, directions, sequences, hidden] of sequences alone, each
/// as long as it is, with zeros behind its end.
static Tensor runAlone(Backend &backend, const RecurrentCase &test,
                       const Tensor &x, llvm::ArrayRef<int32_t> lengths) {
  Tensor all(
      Type(ElemKind::Float, {maxLength, test.numDirections, batch, hidden}));
  for (int64_t s = 0; s < batch; ++s) {
    int64_t length = lengths[size_t(s)];
    if (length == 0)
      continue;
    Tensor own(Type(ElemKind::Float, {length, 1, inputSize}));
    for (int64_t t = 0; t < length; ++t)
      llvm::copy(llvm::ArrayRef<float>(x.data<float>())
                     .slice(size_t((t * batch + s) * inputSize), inputSize),
                 own.data<float>().begin() + t * inputSize);
    Tensor y = runWith(
        backend, importModel(test, length, 1, /*hasLengths=*/false), own, {});
    for (int64_t row = 0; row < length * test.numDirections; ++row)
      llvm::copy(llvm::ArrayRef<float>(y.data<float>())
                     .slice(size_t(row * hidden), size_t(hidden)),
                 all.data<float>().begin() + (row * batch + s) * hidden);
  }
  return all;
}

static const RecurrentCase cases[] = {
    {"LSTM", 4, "forward", 1},       {"LSTM", 4, "reverse", 1},
    {"LSTM", 4, "bidirectional", 2}, {"GRU", 3, "forward", 1},
    {"GRU", 3, "bidirectional", 2},  {"RNN", 1, "reverse", 1}};

TEST(SequenceLengths, GiveWhatSequencesGiveAlone) {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(createInterpreter());
  backends.push_back(createInterpreter({.heedsPredicates = true}));
  for (unsigned numThreads : {1, 3}) {
    TargetOptions options;
    options.numThreads = numThreads;
    options.testing.dividesSmallKernels = true;
    backends.push_back(llvm::cantFail(CPUBackend::create(options)));
  }
  const std::vector<int32_t> several[] = {
      {6, 1, 0, 3}, {6, 6, 6, 6}, {0, 0, 0, 0}, {2, 5, 5, 4}};
  for (const RecurrentCase &test : cases)
    for (const std::vector<int32_t> &lengths : several) {
      Tensor x =
          makeRandom(Type(ElemKind::Float, {maxLength, batch, inputSize}), 11);
      Tensor expected = runAlone(*backends.front(), test, x, lengths);
      // What is behind the ends does not matter.
      for (int64_t i = 0; i < x.getNumElements(); ++i)
        if (i / inputSize / batch >= lengths[size_t(i / inputSize % batch)])
          x.data<float>()[size_t(i)] = NAN;
      for (const auto &backend : backends) {
        Tensor actual = runWith(
            *backend, importModel(test, maxLength, batch, /*hasLengths=*/true),
            x, lengths);
        for (int64_t i = 0; i < expected.getNumElements(); ++i)
          ASSERT_NEAR(actual.data<float>()[size_t(i)],
                      expected.data<float>()[size_t(i)], 1e-5)
              << test.type << " " << test.direction;
      }
    }
}

/// The matmul of all inputs, and those of the states, have predicates.
TEST(SequenceLengths, ArePredicates) {
  for (const RecurrentCase &test : cases) {
    auto module = importModel(test, maxLength, batch, /*hasLengths=*/true);
    for (const Node &node : module->getFunctions().front()->getNodes())
      if (llvm::isa<MatMulNode>(node))
        EXPECT_TRUE(node.getPredicate()) << node.getName().str();
    module = importModel(test, maxLength, batch, /*hasLengths=*/false);
    for (const Node &node : module->getFunctions().front()->getNodes())
      EXPECT_FALSE(node.getPredicate());
  }
}
