//===- ModelRobustnessTest.cpp - Malformed models of all kinds ------------===//

#include "../unit/TestFolder.h"
#include "Extremes.h"
#include "Mutations.h"
#include "Robustness.h"
#include "Seeds.h"
#include "common/SourceFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Importer/ONNX.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"
#include <google/protobuf/text_format.h>
#include <onnx/onnx_pb.h>

using namespace glowish;
using namespace glowish::robustness;

static onnx::ModelProto parse(const Seed &seed) {
  onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(seed.model, &model))
      << seed.name;
  return model;
}

namespace {

class MalformedModels : public TestFolder {
protected:
  void SetUp() override {
    TestFolder::SetUp();
    put("weights", makeWeights());
  }

  /// Takes the model \p bytes through everything.
  void check(const std::string &name, const std::string &bytes) {
    saveCase(name + ".onnx", bytes);
    cases.add(name, [this, bytes] {
      put("model.onnx", bytes);
      return compileAll(bytes.size(), [&] {
        ImportOptions options;
        options.evaluate = evaluateNode;
        return importOnnxFile(in("model.onnx"), options);
      });
    });
  }

  /// Makes a training step of the model \p bytes.
  void checkStep(const std::string &name, const std::string &bytes) {
    saveCase(name + ".onnx", bytes);
    cases.add(name, [this, bytes] {
      put("model.onnx", bytes);
      return compileStep(bytes.size(), in("model.onnx"));
    });
  }

  Cases cases;
};

} // namespace

/// Small models from elsewhere, where there are any: sorted, so that a number
/// is always the same model.
static std::vector<Seed> findMoreSeeds() {
  const char *given = std::getenv("GLOWISH_TEST_DATA");
  std::string root = given ? given : getSourcePath("../shared/data");
  std::vector<std::string> paths;
  for (const char *part :
       {"odd-models", "fusion", "quantized", "onnx-backend/v1.22.0/node"}) {
    std::error_code code;
    std::filesystem::recursive_directory_iterator i(root + "/" + part, code);
    for (; !code && i != std::filesystem::recursive_directory_iterator();
         i.increment(code))
      if (i->path().extension() == ".onnx" && i->file_size() < 16384)
        paths.push_back(i->path().string());
  }
  llvm::sort(paths);
  std::vector<Seed> seeds;
  for (const std::string &path : paths)
    if (auto buffer = llvm::MemoryBuffer::getFile(path))
      seeds.push_back({llvm::StringRef(path).substr(root.size() + 1).str(),
                       (*buffer)->getBuffer().str()});
  return seeds;
}

static std::string mutate(onnx::ModelProto model, Random &random) {
  bool isStructural = random.below(4) != 0;
  if (isStructural)
    for (uint64_t left = 1 + random.below(3); left > 0; --left)
      mutateMessage(model, random);
  std::string bytes = model.SerializePartialAsString();
  if (!isStructural)
    for (uint64_t left = 1 + random.below(3); left > 0; --left)
      mutateBytes(bytes, random);
  return bytes;
}

TEST_F(MalformedModels, SeedsAreGood) {
  for (const Seed &seed : makeSeeds())
    check(seed.name, parse(seed).SerializeAsString());
  Counts counts = cases.run();
  EXPECT_THAT(counts.refused, testing::Each(testing::AnyOf("if", "loop")));
  EXPECT_GE(counts.accepted, 50u);
}

/// Gives \p model a weight that its first input is multiplied with, and with
/// that something to train.
static void addWeight(onnx::ModelProto &model) {
  onnx::GraphProto &graph = *model.mutable_graph();
  if (graph.input().empty())
    return;
  const std::string input = graph.input(0).name(), scaled = input + ".scaled";
  for (onnx::NodeProto &node : *graph.mutable_node())
    for (std::string &name : *node.mutable_input())
      if (name == input)
        name = scaled;
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type("Mul");
  node.add_input(input);
  node.add_input("weight");
  node.add_output(scaled);
  // Nodes are sorted.
  for (int i = graph.node_size() - 1; i > 0; --i)
    graph.mutable_node()->SwapElements(i, i - 1);
  onnx::TensorProto &weight = *graph.add_initializer();
  weight.set_name("weight");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(1);
  weight.add_float_data(1);
}

/// Mutated model \p number: of the own seeds in turn, each third one of \p
/// more. \p prepare: before it is mutated.
static Seed
makeMutated(uint64_t number, const std::vector<Seed> &seeds,
            const std::vector<Seed> &more,
            llvm::function_ref<void(onnx::ModelProto &)> prepare = nullptr) {
  Random random(number);
  onnx::ModelProto model;
  std::string name = std::to_string(number) + "-";
  if (number % 3 == 0 && !more.empty()) {
    const Seed &seed = more[random.below(more.size())];
    name += seed.name;
    (void)model.ParsePartialFromString(seed.model);
  } else {
    const Seed &seed = seeds[number % seeds.size()];
    name += seed.name;
    model = parse(seed);
  }
  if (prepare)
    prepare(model);
  std::replace(name.begin(), name.end(), '/', '_');
  return {name, mutate(std::move(model), random)};
}

/// Of models that \p range says how many there are of.
static void report(const Counts &counts, const Range &range) {
  llvm::outs() << counts.refused.size() << " refused, " << counts.accepted
               << " accepted\n";
  if (range.count >= 100) {
    EXPECT_GT(counts.refused.size(), range.count / 20);
    EXPECT_GT(counts.accepted, range.count / 20);
  }
}

TEST_F(MalformedModels, GiveErrorsOnly) {
  std::vector<Seed> seeds = makeSeeds(), more = findMoreSeeds();
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Seed mutated = makeMutated(i, seeds, more);
    check(mutated.name, mutated.model);
  }
  report(cases.run(), range);
}

/// Integers of any model, the own ones and others, as bytes.
TEST_F(MalformedModels, ExtremeIntegers) {
  std::vector<Seed> seeds = findMoreSeeds();
  for (const Seed &seed : makeSeeds())
    seeds.push_back({seed.name, parse(seed).SerializeAsString()});
  Range range = getRange(/*defaultCount=*/200);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Random random(i);
    const Seed &seed = seeds[random.below(seeds.size())];
    onnx::ModelProto model;
    (void)model.ParsePartialFromString(seed.model);
    for (uint64_t left = 1 + random.below(2); left > 0; --left)
      setExtreme(model, random);
    std::string name = std::to_string(i) + "-" + seed.name;
    std::replace(name.begin(), name.end(), '/', '_');
    check(name, model.SerializePartialAsString());
  }
  report(cases.run(), range);
}

TEST_F(MalformedModels, TrainOrGiveErrors) {
  std::vector<Seed> seeds = makeSeeds(), more = findMoreSeeds();
  Range range = getRange(/*defaultCount=*/100);
  for (uint64_t i = range.first; i < range.first + range.count; ++i) {
    Seed mutated = makeMutated(i, seeds, more, addWeight);
    checkStep(mutated.name, mutated.model);
  }
  report(cases.run(), range);
}
