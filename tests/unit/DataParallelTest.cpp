//===- DataParallelTest.cpp - The step of one of several processes --------===//
//
// What a process computes before anything is averaged: tests/e2e/mpi.py runs
// several.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Trainer.h"

using namespace glowish;

namespace {

class DataParallel : public TestFolder {
protected:
  /// \p model for the process \p rank of \p size.
  std::unique_ptr<Trainer> make(const TextModel &model, TrainingConfig config,
                                unsigned size, unsigned rank) {
    put("m.onnxtxt", model.str());
    config.loss = LossKind::MeanSquaredError;
    config.processes.size = size;
    config.processes.rank = rank;
    return llvm::cantFail(
        Trainer::create(*backend, in("m.onnxtxt"), {}, config, {}));
  }

  std::unique_ptr<Backend> backend = createInterpreter();
};

Tensor get(Trainer &trainer, llvm::StringRef name) {
  Session &session = trainer.getSession();
  return session.getTensor(llvm::cantFail(session.findPlaceholder(name)));
}

void fill(Trainer &trainer, llvm::StringRef name, double value) {
  Tensor tensor = get(trainer, name);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, value);
}

/// Drops some of x + w, where \p permutation, if there is one, has moved the
/// samples from dimension 0. The result has them first again.
TextModel makeDropout(llvm::StringRef permutation, llvm::StringRef back,
                      int64_t batch) {
  TextModel model;
  model.inputs = {{"x", {batch, 5, 7}}};
  auto transpose = [](llvm::StringRef from, llvm::StringRef to,
                      llvm::StringRef order) {
    return onnxNode("Transpose", {from.str()},
                    "attribute { name: \"perm\" type: INTS " + order.str() +
                        " } ",
                    to.str());
  };
  bool moves = !permutation.empty();
  model.body = onnxNode("Add", {"x", "w"}, "", moves ? "sum" : "moved");
  if (moves)
    model.body += transpose("sum", "moved", permutation);
  model.body +=
      onnxNode("Dropout", {"moved", "ratio"}, "", moves ? "dropped" : "y");
  if (moves)
    model.body += transpose("dropped", "y", back);
  model.body +=
      floats("w", {5, 7}, std::vector<float>(35)) + floats("ratio", {}, {0.5f});
  return model;
}

/// The same where samples are the second of two dimensions that are one.
TextModel makeJoinedDropout(int64_t batch) {
  TextModel model =
      makeDropout("ints: 1 ints: 0 ints: 2", "ints: 1 ints: 0 ints: 2", batch);
  llvm::StringRef body = model.body;
  auto [before, after] =
      body.split(onnxNode("Dropout", {"moved", "ratio"}, "", "dropped"));
  model.body = (before + onnxNode("Reshape", {"moved", "joined"}, "", "rows") +
                onnxNode("Dropout", {"rows", "ratio"}, "", "left") +
                onnxNode("Reshape", {"left", "again"}, "", "dropped") + after +
                int64s("joined", {-1, 7}) + int64s("again", {5, batch, 7}))
                   .str();
  return model;
}

} // namespace

TEST_F(DataParallel, MasksAreThoseOfOneProcess) {
  constexpr int64_t batch = 6;
  using Make = std::function<TextModel(int64_t batch)>;
  auto moved = [](const char *to, const char *back) -> Make {
    return [=](int64_t batch) { return makeDropout(to, back, batch); };
  };
  Make models[] = {moved("", ""),
                   moved("ints: 1 ints: 0 ints: 2", "ints: 1 ints: 0 ints: 2"),
                   moved("ints: 1 ints: 2 ints: 0", "ints: 2 ints: 0 ints: 1"),
                   makeJoinedDropout};
  auto run = [&](std::unique_ptr<Trainer> trainer) {
    fill(*trainer, "x", 3);
    fill(*trainer, "label", 0);
    llvm::cantFail(trainer->run(0));
    return get(*trainer, "y").clone();
  };
  for (const auto &[number, model] : llvm::enumerate(models)) {
    Tensor whole = run(make(model(batch), {}, 1, 0));
    for (unsigned size : {2, 3}) {
      int64_t part = batch / size;
      for (unsigned rank = 0; rank < size; ++rank) {
        SCOPED_TRACE(
            llvm::formatv("model {0}, {1} of {2}", number, rank, size).str());
        Tensor own = run(make(model(part), {}, size, rank));
        ASSERT_EQ(own.getNumElements(), part * 35);
        for (int64_t i = 0; i < own.getNumElements(); ++i)
          ASSERT_EQ(own.getAsDouble(i),
                    whole.getAsDouble(int64_t(rank) * part * 35 + i))
              << i;
      }
    }
  }
}

/// y = ((x + a) * b + c) * d, whose gradients are of 8, 2, 8 and 4 floats.
static TextModel makeChain() {
  TextModel model;
  model.inputs = {{"x", {4, 8}}};
  model.body =
      onnxNode("Add", {"x", "a"}, "", "s") +
      onnxNode("Reshape", {"s", "shape"}, "", "r") +
      onnxNode("Mul", {"r", "b"}, "", "p") +
      onnxNode("Reshape", {"p", "back"}, "", "q") +
      onnxNode("Add", {"q", "c"}, "", "t") + onnxNode("Mul", {"t", "d"}) +
      floats("a", {8}, std::vector<float>(8, 1)) + floats("b", {2}, {1, 2}) +
      floats("c", {8}, std::vector<float>(8, 1)) +
      floats("d", {4, 1}, {1, 2, 3, 4}) + int64s("shape", {16, 2}) +
      int64s("back", {4, 8});
  return model;
}

TEST_F(DataParallel, GradientsAreAveragedInBuckets) {
  auto describe = [&](uint64_t bucketBytes, unsigned size) {
    TrainingConfig config;
    config.processes.bucketBytes = bucketBytes;
    return make(makeChain(), config, size, 0)->describeReductions();
  };
  EXPECT_EQ(describe(1 << 20, 1), "");
  auto count = [](llvm::StringRef text, llvm::StringRef what) {
    return text.count(what);
  };
  // All in one, in two of at most 12, and each for itself.
  EXPECT_EQ(count(describe(1 << 20, 2), "StartAllReduce float<22>"), 1u);
  EXPECT_EQ(count(describe(48, 2), "StartAllReduce float<12>"), 1u);
  EXPECT_EQ(count(describe(48, 2), "StartAllReduce float<10>"), 1u);
  std::string each = describe(1, 3);
  EXPECT_EQ(count(each, "StartAllReduce float<8>"), 2u);
  EXPECT_EQ(count(each, "StartAllReduce float<4>"), 1u);
  EXPECT_EQ(count(each, "StartAllReduce float<2>"), 1u);
  // All begin before the first of the gradients ends, and all end.
  for (const std::string &text : {describe(48, 2), each}) {
    EXPECT_EQ(count(text, "StartAllReduce"), count(text, "FinishAllReduce"));
    EXPECT_LT(text.rfind("StartAllReduce"), text.find("FinishAllReduce"));
  }
}

TEST_F(DataParallel, StatisticsOfTheBatchAreAveraged) {
  TextModel model;
  model.inputs = {{"x", {4, 3, 2}}};
  model.body =
      onnxNode("BatchNormalization", {"x", "scale", "bias", "mean", "var"}) +
      floats("scale", {3}, {1, 1, 1}) + floats("bias", {3}, {0, 0, 0}) +
      floats("mean", {3}, {0, 0, 0}) + floats("var", {3}, {1, 1, 1});
  // Mean and variance; x has no gradient, so that theirs are not needed.
  std::string text = make(model, {}, 2, 1)->describeReductions();
  EXPECT_EQ(llvm::StringRef(text).count("StartAllReduce"), 4u) << text;
  // In double, so that they are those of one process with all samples.
  EXPECT_EQ(llvm::StringRef(text).count("StartAllReduce double<"), 2u) << text;
  // A part of one element has a variance, if all have: 2 x 1 elements.
  model.inputs = {{"x", {1, 3, 1}}};
  EXPECT_NE(make(model, {}, 2, 0), nullptr);
}
