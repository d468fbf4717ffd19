//===- ImporterAttributesTest.cpp - Attributes and fields that are unread -===//

#include "OnnxText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

TEST(ImporterAttributes, MisspeltAttributes) {
  std::vector<std::string> warnings;
  ImportOptions options;
  options.warn = [&](llvm::StringRef line) { warnings.push_back(line.str()); };
  TextModel model = oneNode("LeakyRelu", {"x"}, floatAttr("alhpa", 0.5));
  model.body += onnxNode("LeakyRelu", {"x"}, floatAttr("alhpa", 1), "z");
  EXPECT_EQ(model.importError(options), "imported");
  EXPECT_THAT(warnings,
              testing::ElementsAre("node 'y' (LeakyRelu): attribute 'alhpa' is "
                                   "ignored: the operator has no such "
                                   "attribute"));
}

/// An attribute of another opset, one of an operator that ONNX does not
/// describe, and one that may be of an opset that it does not describe yet.
TEST(ImporterAttributes, AttributesThatMayMatter) {
  EXPECT_THAT(
      oneNode("LeakyRelu", {"x"}, intsAttr("consumed_inputs", {0}))
          .importError(),
      HasSubstr("attribute 'consumed_inputs' is not supported in opset 13"));
  EXPECT_THAT(
      oneNode("FastGelu", {"x"},
              "domain: \"com.microsoft\" " + floatAttr("beta", 1))
          .importError(),
      HasSubstr("node 'y' (FastGelu): attribute 'beta' is not supported "
                "in version 1 of domain 'com.microsoft'"));
  EXPECT_THAT(
      oneNode("FastGelu", {"x", "", "x"}, "domain: \"com.microsoft\" ", 17)
          .importError(),
      HasSubstr("input 2 ('x') is not supported in version 1 of domain "
                "'com.microsoft'"));
  EXPECT_THAT(
      oneNode("LeakyRelu", {"x"}, floatAttr("alhpa", 0.5), 24).importError(),
      HasSubstr("attribute 'alhpa' is not supported in opset 24"));
}

//===- Types of attributes ------------------------------------------------===//

TEST(ImporterAttributes, TypesThatAreStated) {
  auto getError = [](const std::string &attribute) {
    return oneNode("LeakyRelu", {"x"},
                   "attribute { name: \"alpha\" " + attribute + " } ")
        .importError();
  };
  EXPECT_EQ(getError("f: 0.5 type: FLOAT"), "imported");
  // Files before IR version 2 do not state it.
  EXPECT_EQ(getError("f: 0.5"), "imported");
  EXPECT_THAT(getError("i: 1 type: INT"),
              HasSubstr("attribute 'alpha' is of type INT; accepted: FLOAT"));
  EXPECT_THAT(getError("i: 1"),
              HasSubstr("attribute 'alpha' is of type INT; accepted: FLOAT"));
  EXPECT_THAT(getError("floats: 0.5 type: FLOATS"),
              HasSubstr("is of type FLOATS; accepted: FLOAT"));
  EXPECT_THAT(getError("f: 0.5 i: 1 type: FLOAT"),
              HasSubstr("node 'y' (LeakyRelu): attribute 'alpha' has values of "
                        "the types FLOAT and INT; accepted: one"));
  EXPECT_THAT(getError("i: 1 type: FLOAT"),
              HasSubstr("attribute 'alpha' is of type FLOAT and has a value of "
                        "type INT; accepted: one type"));
}

//===- Fields of later versions -------------------------------------------===//

static std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7)
    bytes.push_back(char(value | 128));
  bytes.push_back(char(value));
  return bytes;
}
/// A field of a message in protobuf's binary form: bytes, or a number.
static std::string field(unsigned number, const std::string &bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}
static std::string field(unsigned number, uint64_t value) {
  return varint(number << 3) + varint(value);
}

namespace {

/// A model y = f(x) of two floats, where f is a LeakyRelu of the model's own,
/// in binary. The members are fields of these messages.
struct FunctionModel {
  std::string call, function, otherFunction, graph, model;

  /// A function whose alpha is the attribute that a call states.
  static std::string makeFunction(const std::string &more) {
    std::string alpha =
        field(1, "alpha") + field(21, "slope") + field(20, uint64_t(1));
    std::string node =
        field(1, "a") + field(2, "b") + field(4, "LeakyRelu") + field(5, alpha);
    return field(1, "f") + field(4, "a") + field(5, "b") + field(6, "slope") +
           field(7, node) + field(9, field(1, "") + field(2, uint64_t(16))) +
           field(10, "own") + more;
  }
  /// An attribute `slope`.
  static std::string makeSlope(float value) {
    std::string bytes(4, 0);
    std::memcpy(bytes.data(), &value, 4);
    return field(1, "slope") + varint(2 << 3 | 5) + bytes +
           field(20, uint64_t(1));
  }
  static std::string makeValue(const std::string &name) {
    std::string shape = field(1, field(1, uint64_t(2)));
    return field(1, name) +
           field(2, field(1, field(1, uint64_t(1)) + field(2, shape)));
  }

  std::string str() const {
    std::string node =
        field(1, "x") + field(2, "y") + field(4, "f") + field(7, "own") + call;
    std::string functions = field(25, makeFunction(function));
    if (!otherFunction.empty())
      functions += field(25, makeFunction(otherFunction));
    return field(1, uint64_t(9)) +
           field(8, field(1, "") + field(2, uint64_t(16))) +
           field(8, field(1, "own") + field(2, uint64_t(1))) + functions +
           field(7, field(1, node) + field(2, "g") + field(11, makeValue("x")) +
                        field(12, makeValue("y")) + graph) +
           model;
  }
  /// The slope that the function's node has, or the error.
  std::string import() const {
    std::string bytes = str();
    ImportOptions options;
    options.evaluate = evaluateNode;
    auto module = importOnnx(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                       bytes.size()),
        "m", options);
    if (!module)
      return llvm::toString(module.takeError());
    for (Node &node : (*module)->findFunction("main")->getNodes())
      if (auto *relu = llvm::dyn_cast<LeakyReluNode>(&node))
        return llvm::formatv("{0}", relu->getAlpha()).str();
    return "no LeakyRelu";
  }
};

} // namespace

TEST(ImporterLaterFields, DefaultsOfFunctions) {
  FunctionModel model;
  model.function = field(11, FunctionModel::makeSlope(0.25f));
  EXPECT_EQ(model.import(), "0.25");
  model.call = field(5, FunctionModel::makeSlope(0.5f));
  EXPECT_EQ(model.import(), "0.50");
  // Without any, that of the operator.
  model.function = model.call = "";
  EXPECT_EQ(model.import(), "0.01");
  model.function = field(11, "no attribute");
  EXPECT_THAT(model.import(), HasSubstr("'f' is malformed"));
}

TEST(ImporterLaterFields, OverloadsOfFunctions) {
  FunctionModel model;
  model.function = field(11, FunctionModel::makeSlope(0.25f));
  model.otherFunction =
      field(11, FunctionModel::makeSlope(0.5f)) + field(13, "other");
  EXPECT_EQ(model.import(), "0.25");
  model.call = field(8, "other");
  EXPECT_EQ(model.import(), "0.50");
  model.call = field(8, "third");
  EXPECT_THAT(model.import(),
              HasSubstr("node 'y' (f) of domain 'own', opset 1"));
}

TEST(ImporterLaterFields, FieldsOfNoVersion) {
  FunctionModel model;
  model.function = field(11, FunctionModel::makeSlope(0.25f));
  // Metadata, and where nodes run.
  model.call = field(9, field(1, "key") + field(2, "value")) + field(10, "");
  model.graph = field(16, field(1, "key"));
  model.model = field(26, field(1, "device"));
  EXPECT_EQ(model.import(), "0.25");
  model.call = field(99, uint64_t(3));
  EXPECT_THAT(
      model.import(),
      HasSubstr("'m': node 'y' (f): field 99 of NodeProto is set, which "
                "is none of ONNX 1.23"));
  model.call = "";
  model.model = field(4000, "x");
  EXPECT_THAT(model.import(),
              HasSubstr("'m': field 4000 of ModelProto is set"));
}
