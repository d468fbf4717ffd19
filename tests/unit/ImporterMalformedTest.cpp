//===- ImporterMalformedTest.cpp - Malformed models never crash -----------===//

#include "common/SourceFolder.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Graph/Contract.h"
#include "glowish/Importer/ONNX.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// Imports mutated copies of a real model, and takes those that are still
/// models through all phases.
class MalformedModel : public testing::Test {
protected:
  void SetUp() override {
    auto buffer = readFile(getSourcePath("examples/digits/digits.onnx"));
    ASSERT_TRUE(bool(buffer)) << llvm::toString(buffer.takeError());
    llvm::StringRef text = (*buffer)->getBuffer();
    model.assign(text.bytes_begin(), text.bytes_end());
  }

  void tryModel(llvm::ArrayRef<uint8_t> bytes) {
    ImportOptions options;
    options.evaluate = evaluateNode;
    auto module = importOnnx(bytes, "mutated", options);
    if (!module) {
      std::string message = llvm::toString(module.takeError());
      EXPECT_NE(message.find("mutated"), std::string::npos) << message;
      ++refused;
      return;
    }
    ++imported;
    std::unique_ptr<Backend> backend = createInterpreter();
    Compilation compilation(*backend, {});
    llvm::consumeError(compilation.compile(std::move(*module)).takeError());
  }

  std::vector<uint8_t> model;
  unsigned refused = 0, imported = 0;
};

} // namespace

TEST_F(MalformedModel, WholeModelImports) {
  tryModel(model);
  EXPECT_EQ(imported, 1u);
}

TEST_F(MalformedModel, Truncated) {
  Random random(1);
  for (unsigned i = 0; i < 500; ++i)
    tryModel(llvm::ArrayRef(model).take_front(random.below(model.size())));
  // A protobuf that ends between two fields is a shorter protobuf.
  EXPECT_GT(refused, 490u);
}

TEST_F(MalformedModel, FlippedBits) {
  Random random(2);
  // Mostly where the structure is: weights are only numbers.
  size_t head = std::min<size_t>(model.size(), 1200);
  size_t tail = model.size() - std::min<size_t>(model.size(), 400);
  for (unsigned i = 0; i < 3000; ++i) {
    std::vector<uint8_t> mutated = model;
    for (uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      size_t at = i % 8 == 0   ? random.below(model.size())
                  : i % 8 == 1 ? tail + random.below(model.size() - tail)
                               : random.below(head);
      mutated[at] ^= uint8_t(1u << random.below(8));
    }
    tryModel(mutated);
  }
  EXPECT_EQ(refused + imported, 3000u);
  EXPECT_GT(refused, 300u);
  EXPECT_GT(imported, 300u);
}

TEST_F(MalformedModel, RandomBytesAndText) {
  Random random(3);
  for (unsigned i = 0; i < 500; ++i) {
    std::vector<uint8_t> bytes(random.below(200));
    for (uint8_t &byte : bytes)
      byte = uint8_t(random.below(i % 2 ? 256 : 96) + (i % 2 ? 0 : 32));
    tryModel(bytes);
  }
  EXPECT_EQ(imported, 0u);
}

//===- Operators with random operands and attributes ----------------------===//

namespace {

/// Makes models of one or two nodes, in protobuf text, whose operators are real
/// and whose operands and attributes are anything.
class NodeMaker {
public:
  explicit NodeMaker(uint64_t seed) : random(seed) {
    for (const auto &[name, opsets] : listOnnxOperators())
      operators.push_back(name);
  }

  std::string makeModel() {
    static constexpr int opsets[] = {1, 5, 6, 7, 9, 10, 11, 13, 14, 18, 24};
    std::string text = "ir_version: 7 opset_import { version: " +
                       std::to_string(opsets[random.below(11)]) + " } graph { ";
    for (const char *name : {"x", "w"})
      text += "input { name: \"" + std::string(name) +
              "\" type { tensor_type { " + makeType() + " } } } ";
    text += makeInitializers();
    if (random.below(3) == 0)
      text += makeNode("t", "x") + makeNode("y", "t");
    else
      text += makeNode("y", random.below(3) ? "x" : "i");
    return text + "output { name: \"y\" } }";
  }

private:
  /// Half of them are small, the others at the edges of what numbers can be.
  int64_t makeInt() {
    static constexpr int64_t extremes[] = {INT64_MIN,
                                           INT64_MIN + 1,
                                           -(int64_t(1) << 32),
                                           INT32_MIN,
                                           -1000,
                                           1000,
                                           INT32_MAX,
                                           int64_t(1) << 31,
                                           int64_t(1) << 40,
                                           int64_t(1) << 62,
                                           INT64_MAX};
    if (random.below(2))
      return int64_t(random.below(9)) - 2;
    return extremes[random.below(std::size(extremes))];
  }

  std::string makeInts(llvm::StringRef field, unsigned most) {
    std::string text;
    for (uint64_t left = random.below(most + 1); left > 0; --left)
      text += field.str() + ": " + std::to_string(makeInt()) + " ";
    return text;
  }

  /// Mostly float, of rank 0 to 5.
  std::string makeType() {
    static constexpr int kinds[] = {1, 1, 1, 1, 1, 7, 6, 9, 10, 11, 2, 13};
    static constexpr int64_t extents[] = {0, 1, 1, 2, 3, 4, 7, 8};
    std::string text =
        "elem_type: " + std::to_string(kinds[random.below(std::size(kinds))]) +
        " shape { ";
    uint64_t rank = random.below(2) ? 4 : random.below(6);
    for (; rank > 0; --rank)
      text += "dim { dim_value: " + std::to_string(extents[random.below(8)]) +
              " } ";
    return text + "}";
  }

  std::string makeInitializers() {
    std::string ints = makeInts("int64_data", 5);
    auto size = llvm::StringRef(ints).count("int64_data");
    std::string text =
        "initializer { name: \"i\" data_type: 7 dims: " + std::to_string(size) +
        " " + ints + "} ";
    text += "initializer { name: \"s\" data_type: 7 int64_data: " +
            std::to_string(makeInt()) + " } ";
    return text + "initializer { name: \"f\" data_type: 1 float_data: " +
           std::to_string(makeInt()) +
           " } initializer { name: \"g\" data_type: 1 dims: 4 float_data: 1 "
           "float_data: 1 float_data: 2 float_data: " +
           std::to_string(double(random.below(8)) / 3) + " } ";
  }

  /// Mostly of the type that the attribute has.
  std::string makeAttribute() {
    enum Kind { Int, Float, String, Tensor, Floats, Ints };
    static constexpr std::pair<const char *, Kind> attributes[] = {
        {"axis", Int},
        {"axes", Ints},
        {"keepdims", Int},
        {"kernel_shape", Ints},
        {"strides", Ints},
        {"pads", Ints},
        {"dilations", Ints},
        {"group", Int},
        {"auto_pad", String},
        {"ceil_mode", Int},
        {"perm", Ints},
        {"shape", Ints},
        {"starts", Ints},
        {"ends", Ints},
        {"steps", Ints},
        {"split", Ints},
        {"mode", String},
        {"to", Int},
        {"value", Tensor},
        {"alpha", Float},
        {"beta", Float},
        {"size", Int},
        {"bias", Float},
        {"blocksize", Int},
        {"upper", Int},
        {"k", Int},
        {"p", Int},
        {"min", Float},
        {"max", Float},
        {"scales", Floats},
        {"epsilon", Float},
        {"broadcast", Int},
        {"transA", Int},
        {"value_ints", Ints},
        {"fmod", Int},
        {"num_groups", Int},
        {"value_floats", Floats},
        {"dtype", Int},
        {"count_include_pad", Int},
        {"coordinate_transformation_mode", String}};
    static constexpr const char *words[] = {
        "SAME_UPPER", "SAME_LOWER",    "linear", "reflect", "edge",
        "wrap",       "align_corners", "FLOAT",  ""};
    auto [name, kind] = attributes[random.below(std::size(attributes))];
    std::string text = "attribute { name: \"" + std::string(name) + "\" ";
    switch (random.below(8) ? kind : Kind(random.below(6))) {
    case Int:
      return text + "type: INT i: " + std::to_string(makeInt()) + " } ";
    case Float:
      return text + "type: FLOAT f: " + std::to_string(makeInt()) + " } ";
    case String:
      return text + "type: STRING s: \"" + words[random.below(9)] + "\" } ";
    case Tensor:
      return text + "type: TENSOR t { data_type: 7 int64_data: " +
             std::to_string(makeInt()) + " } } ";
    case Floats:
      return text + "type: FLOATS floats: 1 floats: 1 floats: " +
             std::to_string(makeInt()) + " floats: 1.5 } ";
    case Ints:
      return text + "type: INTS " + makeInts("ints", 5) + "} ";
    }
    llvm_unreachable("not a kind");
  }

  std::string makeNode(llvm::StringRef output, llvm::StringRef input) {
    static constexpr const char *values[] = {"x", "w", "i", "s", "f", "g", ""};
    std::string text =
        "node { op_type: \"" + operators[random.below(operators.size())] +
        "\" output: \"" + output.str() + "\" input: \"" + input.str() + "\" ";
    for (uint64_t left = random.below(random.below(4) + 1); left > 0; --left)
      text += "input: \"" + std::string(values[random.below(7)]) + "\" ";
    for (uint64_t left = random.below(random.below(4) + 1); left > 0; --left)
      text += makeAttribute();
    return text + "} ";
  }

  Random random;
  std::vector<std::string> operators;
};

} // namespace

TEST(MalformedNodes, AreRefusedOrVerify) {
  NodeMaker maker(/*seed=*/4);
  unsigned refused = 0, imported = 0;
  for (unsigned i = 0; i < 20000; ++i) {
    std::string text = maker.makeModel();
    ImportOptions options;
    options.evaluate = evaluateNode;
    auto module = importOnnx(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                       text.size()),
        "malformed", options);
    if (!module) {
      llvm::consumeError(module.takeError());
      ++refused;
      continue;
    }
    ++imported;
    std::string message = llvm::toString(verifyContract(**module));
    EXPECT_EQ(message, "") << text;
  }
  EXPECT_GT(imported, 500u);
  EXPECT_GT(refused, 500u);
}
