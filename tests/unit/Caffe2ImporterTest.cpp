//===- Caffe2ImporterTest.cpp - Nets, their order and their names ---------===//

#include "Caffe2Text.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using testing::Not;

static ImportOptions withInput(const char *name, const Type &type) {
  ImportOptions options;
  options.inputTypes.emplace(name, type);
  return options;
}
static Type floatType(std::initializer_list<int64_t> shape) {
  return Type(ElemKind::Float, shape);
}

TEST(Caffe2Importer, EitherNetComesFirst) {
  std::string init = netText(floatFill("x", {2}, {1, -2}), {});
  std::string predict = netText(netOp("Relu", {"x"}, {"y"}));
  EXPECT_EQ(runNet(predict, init), "float<2>: 1 0");
  EXPECT_EQ(runNet(init, predict), "float<2>: 1 0");
  // Neither reads what the other one makes.
  std::string own = netText(floatFill("y", {1}, {3}));
  EXPECT_EQ(runNet(init, own), "float<1>: 3");
  EXPECT_EQ(runNet(own, init), "float<1>: 3");
}

TEST(Caffe2Importer, BlobsAreOverwritten) {
  std::string net = floatFill("x", {2}, {-1, 2}) + netOp("Relu", {"x"}, {"x"}) +
                    netOp("Scale", {"x"}, {"x"}, floatArg("scale", 3)) +
                    netOp("Add", {"x", "x"}, {"y"});
  EXPECT_EQ(runNet(netText(net)), "float<2>: 0 12");
}

TEST(Caffe2Importer, DeadOperatorsAreIgnored) {
  std::string net = netOp("Frobnicate", {"absent"}, {"dead"}) +
                    floatFill("x", {1}, {4}) + netOp("Sqrt", {"x"}, {"y"}) +
                    netOp("Quux", {"y"}, {"later"});
  EXPECT_EQ(runNet(netText(net)), "float<1>: 2");
}

TEST(Caffe2Importer, UnsupportedOperatorsAreListed) {
  std::string net = netOp("Frobnicate", {"x"}, {"a"}) +
                    netOp("Quux", {"a"}, {"y"}) + netOp("Unused", {"a"}, {"z"});
  std::string error = importNetError(netText(net));
  EXPECT_THAT(error, HasSubstr("2 nodes have operators that are not supported:"
                               "\nnode 'a' (Frobnicate)\nnode 'y' (Quux)"));
  EXPECT_THAT(error, Not(HasSubstr("Unused")));
}

TEST(Caffe2Importer, InputsNeedTypes) {
  std::string net = netText(netOp("Relu", {"x"}, {"y"}));
  EXPECT_THAT(importNetError(net),
              HasSubstr("the type of the input 'x' is not in the file; state "
                        "it with «model-input=x,float,[...]»"));
  EXPECT_EQ(importNetError(net, "", withInput("x", floatType({2, 3}))),
            "imported");
  EXPECT_THAT(
      importNetError(net, "", withInput("z", floatType({2}))),
      HasSubstr("«model-input»: the model has no input 'z'; it has 'x'"));
  // A tensor that is given in its place has a type, too.
  ImportOptions given;
  given.givenTypesInOrder = {floatType({4})};
  auto module = importNet(net, "", given);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->findPlaceholder("x")->getType(), floatType({4}));
}

TEST(Caffe2Importer, StatedInputsReplaceStandIns) {
  std::string init =
      netText(netOp("ConstantFill", {}, {"data"}, intsArg("shape", {1})), {});
  std::string net = netText(netOp("Relu", {"data"}, {"y"}));
  EXPECT_EQ(runNet(net, init), "float<1>: 0");
  auto module = importNet(net, init, withInput("data", floatType({3, 4})));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->findPlaceholder("y")->getType(), floatType({3, 4}));
}

TEST(Caffe2Importer, WeightsWithoutInitNet) {
  ImportOptions options = withInput("x", floatType({1, 3, 5, 5}));
  std::vector<std::string> warnings;
  options.warn = [&](llvm::StringRef line) { warnings.push_back(line.str()); };
  options.evaluate = evaluateNode;
  std::string net = netText(netOp("Conv", {"x", "w", "b"}, {"y"}));
  auto import = [&] {
    auto module = importCaffe2({net}, "n", options);
    return module ? (*module)->findPlaceholder("y")->getType().str()
                  : llvm::toString(module.takeError());
  };
  EXPECT_THAT(import(), HasSubstr("the type of the input 'w' is not in"));
  options.inputTypes.emplace("w", floatType({7, 3, 3, 3}));
  EXPECT_EQ(import(), "float<1x7x3x3>");
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
            "there is no init_net: 2 weights are zeros, 'w' the first");
  // With an init_net the bias must be there.
  EXPECT_THAT(importNetError(net, "", options),
              HasSubstr("the type of the input 'b' is not in the file"));
  options.inputTypes.erase("w");
  options.inputTypes.erase("x");
  EXPECT_THAT(import(), HasSubstr("2 blobs have neither a value, as init_net "
                                  "would give them, nor a type"));
}

TEST(Caffe2Importer, ArgumentsAreChecked) {
  ImportOptions options = withInput("x", floatType({1, 3, 5, 5}));
  auto error = [&](llvm::StringRef type, llvm::StringRef args) {
    return importNetError(netText(netOp(type, {"x"}, {"y"}, args)), "",
                          options);
  };
  EXPECT_THAT(error("MaxPool", ""),
              HasSubstr("node 'y' (MaxPool): argument 'kernel' has the value "
                        "0; accepted: 1 to"));
  EXPECT_THAT(error("MaxPool", stringArg("kernel", "a")),
              HasSubstr("argument 'kernel' has the wrong type; accepted: "
                        "an integer"));
  EXPECT_THAT(error("MaxPool", intsArg("kernels", {1, 2, 3})),
              HasSubstr("argument 'kernels' has 3 values; accepted: 2"));
  EXPECT_THAT(error("MaxPool", intArg("kernel", 2) + intArg("legacy_pad", 9)),
              HasSubstr("argument 'legacy_pad' is 9; accepted: 0 to 3"));
  EXPECT_THAT(error("MaxPool", intArg("kernel", 2) + stringArg("order", "XY")),
              HasSubstr("argument 'order' is 'XY'; accepted: NCHW, NHWC"));
  EXPECT_THAT(error("Add", ""), HasSubstr("it has 1 inputs; accepted: 2"));
  EXPECT_THAT(error("Mod", intArg("divisor", 2)),
              HasSubstr("input 0 ('x') is float<1x3x5x5>; accepted: integers"));
  EXPECT_THAT(error("Cast", intArg("to", 4)),
              HasSubstr("argument 'to' is 4, no element type"));
  EXPECT_THAT(error("Int8Relu", ""),
              HasSubstr("accepted: a quantized tensor with one scale"));
}

TEST(Caffe2Importer, UnreadArgumentsAreErrors) {
  ImportOptions options = withInput("x", floatType({2, 2}));
  auto error = [&](llvm::StringRef type, llvm::StringRef args) {
    return importNetError(netText(netOp(type, {"x"}, {"y"}, args)), "",
                          options);
  };
  // A hint for a library.
  EXPECT_EQ(error("Relu", intArg("use_cudnn", 1)), "imported");
  EXPECT_THAT(error("Relu", intArg("slpoe", 1)),
              HasSubstr("node 'y' (Relu): argument 'slpoe' is 1; accepted: no "
                        "arguments"));
  EXPECT_THAT(error("Softmax", "arg { name: \"axsi\" ints: 1 ints: 2 } "),
              HasSubstr("node 'y' (Softmax): argument 'axsi' is 2 integers; "
                        "accepted: arguments axis"));
  EXPECT_THAT(error("Softmax", "arg { name: \"axis\" i: 1 f: 0.5 } "),
              HasSubstr("argument 'axis' is 0.5 and 1; accepted: values of one "
                        "form"));
  // Operators that nothing needs may have what they like.
  EXPECT_EQ(
      importNetError(netText(netOp("Relu", {"x"}, {"z"}, intArg("slpoe", 1)) +
                             netOp("Relu", {"x"}, {"y"})),
                     "", options),
      "imported");
}

TEST(Caffe2Importer, FieldsOfNoNet) {
  auto field = [](int number, const std::string &bytes) {
    return std::string{char(number << 3 | 2), char(bytes.size())} + bytes;
  };
  // A NetDef with an operator, in binary.
  std::string op = field(1, "x") + field(2, "y") + field(4, "Relu");
  std::string rest = field(7, "x") + field(8, "y");
  ImportOptions options = withInput("x", floatType({2}));
  EXPECT_EQ(importNetError(field(2, op) + rest, "", options), "imported");
  EXPECT_THAT(
      importNetError(field(2, op + field(14, "a")) + rest, "", options),
      HasSubstr("node 'y' (Relu): field 14 of OperatorDef is set, which "
                "is none of Caffe2"));
}

TEST(Caffe2Importer, FillsAreChecked) {
  EXPECT_THAT(importNetError(netText(floatFill("y", {3}, {1, 2}))),
              HasSubstr("it has 2 values; the shape 3 has 3"));
  EXPECT_THAT(importNetError(netText(
                  netOp("ConstantFill", {}, {"y"},
                        intsArg("shape", {INT32_MAX, INT32_MAX, INT32_MAX})))),
              HasSubstr("node 'y' (ConstantFill)"));
  EXPECT_THAT(importNetError(netText(intFill("y", {-1}, {1}))),
              HasSubstr("node 'y' (GivenTensorInt64Fill)"));
}

TEST(Caffe2Importer, MalformedFiles) {
  EXPECT_THAT(importNetError("name: \"n\" op { inptu: \"x\" }"),
              HasSubstr("not a Caffe2 net in protobuf text: 1:"));
  EXPECT_THAT(importNetError(llvm::StringRef("\x0a\xff\xff\xff", 4)),
              HasSubstr("not a Caffe2 net: the protobuf is truncated or "
                        "corrupt"));
  EXPECT_THAT(importNetError(netText(floatFill("y", {1}, {1}), {})),
              HasSubstr("the net has no external_output"));
}

TEST(Caffe2Importer, OutputsMayBeInputs) {
  auto module =
      importNet(netText("", {"x"}), "", withInput("x", floatType({2})));
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  Placeholder *x = (*module)->findPlaceholder("x");
  EXPECT_TRUE(x->isInput() && x->isOutput());
}
