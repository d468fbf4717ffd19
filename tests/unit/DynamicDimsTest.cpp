//===- DynamicDimsTest.cpp - Extents known only when a model runs ---------===//
//
// A value whose extent is decided by an input goes through an operator on both
// back ends, and the result is compared with what the same operator makes of
// an input that has that extent.
//
//===----------------------------------------------------------------------===//

#include "ExtentRuns.h"
#include "OnnxText.h"

using namespace glowish;

namespace {

llvm::Expected<Program> compile(TextModel &model, bool isCPU,
                                ImportOptions options = {}) {
  GLOWISH_ASSIGN_OR_RETURN(auto module, model.import(std::move(options)));
  return compileProgram(std::move(module), createBackend(isCPU));
}

using Numbers = std::vector<double>;

/// The outputs for \p inputs, in the model's order.
std::string runProgram(Program &program, const std::vector<Numbers> &inputs) {
  Session &session = *program.session;
  size_t next = 0;
  for (const Buffer *buffer : session.getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor(buffer->getType());
    const Numbers &numbers = inputs[next++];
    EXPECT_EQ(int64_t(numbers.size()), tensor.getNumElements());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      tensor.setFromDouble(i, numbers[i]);
    llvm::cantFail(session.setInput(buffer, tensor));
  }
  llvm::cantFail(session.run());
  std::string text;
  for (const Buffer *buffer : session.getOutputs()) {
    Tensor output = session.getOutput(buffer);
    text += (text.empty() ? "" : "; ") + output.getType().str() + ":";
    for (int64_t i = 0; i < output.getNumElements(); ++i)
      text += llvm::formatv(" {0:f4}", output.getAsDouble(i)).str();
  }
  return text;
}

/// The same on both back ends, which must agree.
std::string runBoth(TextModel &model, const std::vector<Numbers> &inputs,
                    ImportOptions options = {}) {
  std::string texts[2];
  for (bool isCPU : {false, true}) {
    auto program = compile(model, isCPU, options);
    if (!program)
      return llvm::toString(program.takeError());
    texts[isCPU] = runProgram(*program, inputs);
  }
  EXPECT_EQ(texts[0], texts[1]);
  return texts[1];
}

std::string runBoth(TextModel &&model, const std::vector<Numbers> &inputs,
                    ImportOptions options = {}) {
  return runBoth(model, inputs, std::move(options));
}

/// -4, -3, ... in an order that repeats some.
Numbers makeNumbers(int64_t count) {
  Numbers numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(double(i * 5 % 9) - 4);
  return numbers;
}

/// The rows of a matrix of \p columns where \p flags is above 0.
Numbers pickRows(const Numbers &matrix, const Numbers &flags, int64_t columns) {
  Numbers picked;
  for (size_t i = 0; i < matrix.size(); ++i)
    if (flags[i / columns] > 0)
      picked.push_back(matrix[i]);
  return picked;
}

constexpr int64_t numColumns = 3;

struct Case {
  const char *name;
  std::string body; // makes y of v
  int opset = 18;
  /// What the operator needs to have a meaning.
  int64_t minRows = 0;
};

std::string constants() {
  return floats("zero", {}, {0}) + floats("one", {}, {1}) +
         floats("row", {3}, {1, -2, 3}) +
         floats("two", {2, 3}, {1, 2, 3, 4, 5, 6}) +
         floats("w", {3, 2}, {1, -1, 2, 0, 1, 3}) + int64s("i0", {0}) +
         int64s("i1", {1}) + int64s("i2", {2}) + int64s("m1", {-1}) +
         int64s("m2", {-2}) + int64s("end", {INT64_MAX}) +
         int64s("begin", {INT64_MIN}) + int64s("i02", {0, 2}) +
         int64s("i01", {0, 1}) + int64s("s0", {0, -1}) +
         int64s("s1", {-1, 1, 3}) + int64s("s3", {3, -1}) +
         int64s("t21", {2, 1}) + int64s("t32", {3, 2});
}

std::vector<Case> getMovementCases() {
  auto node = [](llvm::StringRef type, std::vector<std::string> inputs,
                 std::string attributes = "", std::string output = "y") {
    return onnxNode(type, std::move(inputs), std::move(attributes),
                    std::move(output));
  };
  auto slice = [&](std::string start, std::string stop, std::string step) {
    return node("Slice", {"v", start, stop, "i0", step});
  };
  std::string shape = node("Shape", {"v"}, "", "shape");
  return {
      {"Transpose", node("Transpose", {"v"})},
      {"Unsqueeze", node("Unsqueeze", {"v", "i01"})},
      {"Squeeze",
       node("Unsqueeze", {"v", "i1"}, "", "u") + node("Squeeze", {"u", "i1"})},
      {"Shape", shape + node("Identity", {"shape"})},
      {"Size", node("Size", {"v"})},
      {"GatherColumns", node("Gather", {"v", "i02"}, intAttr("axis", 1))},
      {"GatherLast", node("Gather", {"v", "m1"}), 18, 1},
      {"GatherByFound",
       node("ReduceMax", {"v", "m1"}, intAttr("keepdims", 0), "largest") +
           node("NonZero", {"largest"}, "", "found") +
           node("Gather", {"v", "found"})},
      {"GatherElements",
       node("Sign", {"v"}, "", "s") + node("Add", {"s", "one"}, "", "i") +
           node("Cast", {"i"}, intAttr("to", 7), "n") +
           node("GatherElements", {"v", "n"}, intAttr("axis", 1))},
      {"ScatterElements",
       node("Sign", {"v"}, "", "s") + node("Add", {"s", "one"}, "", "i") +
           node("Cast", {"i"}, intAttr("to", 7), "n") +
           node("ScatterElements", {"v", "n", "s"},
                intAttr("axis", 1) + stringAttr("reduction", "add"))},
      {"Sequence", node("SequenceConstruct", {"v", "two", "v"}, "", "q") +
                       node("ConcatFromSequence", {"q"}, intAttr("axis", 0))},
      {"GatherND", node("NonZero", {"v"}, "", "found") +
                       node("Transpose", {"found"}, "", "tuples") +
                       node("GatherND", {"v", "tuples"})},
      {"SliceTwo", slice("i0", "i2", "i1")},
      {"SliceFromOne", slice("i1", "end", "i1")},
      {"SliceLastTwo", slice("m2", "end", "i1")},
      {"SliceButLast", slice("i0", "m1", "i1")},
      {"SliceBackward", slice("end", "begin", "m1")},
      {"SliceEveryOther", slice("i0", "end", "i2")},
      {"SliceEveryOtherBackward", slice("m1", "begin", "m2")},
      {"SliceColumns", node("Slice", {"v", "i1", "end", "i1"})},
      {"SliceToHalf", node("Shape", {"v"}, intAttr("end", 1), "n") +
                          node("Div", {"n", "i2"}, "", "half") +
                          slice("i0", "half", "i1")},
      {"SliceFromHalf", node("Shape", {"v"}, intAttr("end", 1), "n") +
                            node("Div", {"n", "i2"}, "", "half") +
                            slice("half", "end", "i1")},
      {"ConcatRows", node("Concat", {"v", "v", "v"}, intAttr("axis", 0))},
      {"ConcatColumns", node("Relu", {"v"}, "", "r") +
                            node("Concat", {"v", "r"}, intAttr("axis", 1))},
      {"ConcatConstants",
       node("Concat", {"two", "v", "two", "v", "two"}, intAttr("axis", 0))},
      {"ReshapeFlat", node("Reshape", {"v", "m1"})},
      {"ReshapeCopy", node("Reshape", {"v", "s0"}), 18, 1},
      {"ReshapeRows", node("Reshape", {"v", "s1"})},
      {"ReshapeAcross", node("Reshape", {"v", "s3"})},
      {"ReshapeToShape",
       shape + node("Transpose", {"v"}, "", "t") +
           node("Reshape", {"t", "shape"}),
       18, 1},
      {"ReshapeByFirst",
       node("Shape", {"v"}, intAttr("end", 1), "n") +
           node("Concat", {"n", "m1"}, intAttr("axis", 0), "shape") +
           node("Reshape", {"v", "shape"}),
       18, 1},
      {"Flatten", node("Flatten", {"v"}, intAttr("axis", 0))},
      {"FlattenRows", node("Unsqueeze", {"v", "i1"}, "", "u") +
                          node("Flatten", {"u"}, intAttr("axis", 1))},
      {"TileRows", node("Tile", {"v", "t21"})},
      {"TileBoth", node("Tile", {"v", "t32"})},
      {"Expand", shape + node("Expand", {"row", "shape"})},
      {"ExpandSame", shape + node("Expand", {"v", "shape"})},
      {"ConstantOfShape", shape + node("ConstantOfShape", {"shape"})},
      {"Range", node("Size", {"v"}, "", "n") +
                    node("Squeeze", {"i0"}, "", "from") +
                    node("Squeeze", {"i2"}, "", "by") +
                    node("Range", {"from", "n", "by"})},
      {"PadColumns", int64s("pads", {0, 1, 0, 2}) + node("Pad", {"v", "pads"})},
      {"SplitColumns", int64s("sizes", {1, 2}) +
                           "node { op_type: \"Split\" input: \"v\" input: "
                           "\"sizes\" output: \"z\" output: \"y\" " +
                           intAttr("axis", 1) + "} "},
      {"PadRows", int64s("pads", {1, 0, 2, 0}) + node("Pad", {"v", "pads"})},
      {"PadRowsAgain",
       int64s("pads", {4, 0, 9, 1}) +
           node("Pad", {"v", "pads"}, stringAttr("mode", "reflect")),
       18, 1},
      {"Einsum", node("Einsum", {"v"}, stringAttr("equation", "ij->ji"))},
      {"CastLike", node("Shape", {"v"}, "", "s") + node("CastLike", {"v", "s"}),
       19},
      {"Dropout",
       "node { op_type: \"Dropout\" input: \"v\" output: \"z\" output: \"m\" "
       "} " +
           node("Cast", {"m"}, intAttr("to", 1))},
      {"ScatterND", node("NonZero", {"v"}, "", "found") +
                        node("Transpose", {"found"}, "", "tuples") +
                        node("GatherND", {"v", "tuples"}, "", "values") +
                        node("Neg", {"values"}, "", "updates") +
                        node("ScatterND", {"v", "tuples", "updates"})},
  };
}

std::vector<Case> getComputingCases() {
  auto node = [](llvm::StringRef type, std::vector<std::string> inputs,
                 std::string attributes = "", std::string output = "y") {
    return onnxNode(type, std::move(inputs), std::move(attributes),
                    std::move(output));
  };
  std::vector<Case> cases = {
      {"Relu", node("Relu", {"v"})},
      {"AddRow", node("Add", {"row", "v"})},
      {"AddSame", node("Abs", {"v"}, "", "a") + node("Sub", {"a", "v"})},
      {"Where", node("Greater", {"v", "one"}, "", "g") +
                    node("Where", {"g", "v", "row"})},
      {"Cast", node("Cast", {"v"}, intAttr("to", 7))},
      {"Clip", node("Clip", {"v", "zero", "one"})},
      {"SumOfThree", node("Sum", {"v", "row", "one"})},
      {"Softmax", node("Softmax", {"v"}, intAttr("axis", 0))},
      {"SoftmaxColumns", node("Softmax", {"v"}, intAttr("axis", 1))},
      {"SoftmaxFlat", node("Softmax", {"v"}, intAttr("axis", 0)), 11},
      {"LogSoftmax", node("LogSoftmax", {"v"}, intAttr("axis", 0))},
      {"Hardmax", node("Hardmax", {"v"}, intAttr("axis", 0)), 18, 1},
      {"MatMul", node("MatMul", {"v", "w"})},
      {"MatMulVector", node("MatMul", {"v", "row"})},
      {"MatMulDepth",
       node("Transpose", {"v"}, "", "t") + node("MatMul", {"t", "v"})},
      {"MatMulBoth",
       node("Transpose", {"v"}, "", "t") + node("MatMul", {"v", "t"})},
      {"Gemm", node("Gemm", {"v", "two", "one"}, intAttr("transB", 1))},
      {"GemmDepth", node("Gemm", {"v", "v"}, intAttr("transA", 1))},
      {"CumSum", node("CumSum", {"v", "i0"})},
      {"CumSumBackward", node("CumSum", {"v", "i0"}, intAttr("reverse", 1))},
      {"CumSumExclusive",
       node("CumSum", {"v", "i0"},
            intAttr("reverse", 1) + intAttr("exclusive", 1))},
      {"TopK",
       "node { op_type: \"TopK\" input: \"v\" input: \"i2\" output: "
       "\"y\" output: \"i\" " +
           intAttr("axis", 0) +
           "} node { op_type: \"Neg\" input: \"i\" output: \"z\" } ",
       18, 2},
      {"TopKOfAll", node("Shape", {"v"}, intAttr("end", 1), "n") +
                        "node { op_type: \"TopK\" input: \"v\" input: \"n\" "
                        "output: \"y\" output: \"i\" " +
                        intAttr("axis", 0) + "} "},
      {"Loss",
       int64s("classes", {0, 2, 1, 2, 0, 1, 2}) +
           node("Shape", {"v"}, intAttr("end", 1), "n") +
           node("Slice", {"classes", "i0", "n"}, "", "own") +
           node("SoftmaxCrossEntropyLoss", {"v", "own"}),
       18, 1},
      {"NonZero", node("NonZero", {"v"})},
      {"Compress", node("ReduceSum", {"v", "m1"}, intAttr("keepdims", 0), "s") +
                       node("Greater", {"s", "zero"}, "", "g") +
                       node("Compress", {"v", "g"}, intAttr("axis", 0))},
      {"CompressFlat", node("Greater", {"v", "zero"}, "", "g") +
                           node("Reshape", {"g", "m1"}, "", "f") +
                           node("Compress", {"v", "f"})},
      {"Unique", node("Unique", {"v"})},
      {"UniqueUnsorted", node("Unique", {"v"}, intAttr("sorted", 0))},
      {"UniqueRows", node("Sign", {"v"}, "", "s") +
                         node("Unique", {"s"}, intAttr("axis", 0))},
      {"EinsumOfTwo",
       node("Einsum", {"v", "v"}, stringAttr("equation", "ij,ik->jk"))},
      {"RandomNormalLike", node("RandomNormalLike", {"v"})},
      {"QuantizedMatMul",
       "node { op_type: \"DynamicQuantizeLinear\" input: \"v\" output: \"q\" "
       "output: \"s\" output: \"z\" } " +
           integers("b", 2, {3, 2}, {1, 200, 3, 4, 100, 6}) +
           node("MatMulInteger", {"q", "b", "z"}),
       18, 1},
      {"LayerNormalization", node("LayerNormalization", {"v", "row"})},
  };
  std::string microsoft = "domain: \"com.microsoft\" ";
  std::string bytes = node("Cast", {"v"}, intAttr("to", 2), "b");
  cases.push_back(
      {"QLinearAdd",
       bytes + node("QLinearAdd", {"b", "one", "", "b", "one", "", "one"},
                    microsoft)});
  cases.push_back(
      {"QLinearSoftmax",
       bytes + node("QLinearSoftmax", {"b", "one", "", "one"},
                    microsoft + intAttr("axis", 0) + intAttr("opset", 13))});
  for (std::string mode : {"Sum", "Mean", "Prod", "L1", "L2", "SumSquare",
                           "LogSumExp", "Max", "Min"}) {
    for (std::string axes : {"i0", "i1", "i01"})
      for (int64_t keepDims : {0, 1})
        cases.push_back(
            {"Reduce",
             node("Reduce" + mode, {"v", axes}, intAttr("keepdims", keepDims)),
             18});
  }
  for (std::string type : {"ArgMax", "ArgMin"})
    for (int64_t axis : {0, 1})
      for (int64_t last : {0, 1})
        cases.push_back(
            {"Arg",
             node(type, {"v"},
                  intAttr("axis", axis) + intAttr("select_last_index", last) +
                      intAttr("keepdims", last)),
             18, 1});
  return cases;
}

TextModel makePlain(const Case &test, int64_t rows) {
  TextModel plain;
  plain.opset = test.opset;
  plain.inputs = {{"v", {rows, numColumns}}};
  plain.body = constants() + test.body;
  return plain;
}

/// Runs the operator after a Compress of \p numRows rows with flags that keep
/// nothing, some and all, and on inputs that have only what is kept.
void checkCase(const Case &test, int64_t numRows) {
  SCOPED_TRACE(std::string(test.name) + ": " + test.body);
  TextModel sized;
  sized.opset = test.opset;
  sized.inputs = {{"x", {numRows, numColumns}}, {"c", {numRows}}};
  sized.body = constants() + onnxNode("Greater", {"c", "zero"}, "", "flags") +
               onnxNode("Compress", {"x", "flags"}, intAttr("axis", 0), "v") +
               test.body;
  // Some take no single row.
  TextModel most = makePlain(test, numRows);
  if (most.importError() != "imported")
    return;
  Program programs[2];
  for (bool isCPU : {false, true}) {
    auto program = compile(sized, isCPU);
    ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
    programs[isCPU] = std::move(*program);
  }
  Numbers x = makeNumbers(numRows * numColumns);
  for (Numbers flags : {Numbers{0, 0, 0, 0, 0, 0, 0},
                        {0, 0, 1, 0, 0, 0, 0},
                        {1, 0, 1, 1, 0, 0, 1},
                        {1, 1, 1, 1, 1, 1, 1}}) {
    flags.resize(size_t(numRows));
    Numbers picked = pickRows(x, flags, numColumns);
    int64_t rows = int64_t(picked.size()) / numColumns;
    if (rows < test.minRows)
      continue;
    TextModel plain = makePlain(test, rows);
    std::string expected = runBoth(plain, {picked});
    for (Program &program : programs)
      EXPECT_EQ(runProgram(program, {x, flags}), expected) << rows << " rows";
  }
}

void checkCases(llvm::ArrayRef<Case> cases) {
  for (const Case &test : cases)
    for (int64_t numRows : {7, 1})
      checkCase(test, numRows);
}

} // namespace

TEST(Extents, OperatorsThatMove) { checkCases(getMovementCases()); }

TEST(Extents, OperatorsThatCompute) { checkCases(getComputingCases()); }

//===- What is found ------------------------------------------------------===//

TEST(Extents, NonZeroFindsEveryElement) {
  for (std::vector<int64_t> shape :
       std::vector<std::vector<int64_t>>{{}, {1}, {17}, {3, 7}, {33, 5, 2}}) {
    int64_t count = countElements(shape);
    for (int64_t step : {1, 3, 1000}) {
      Numbers x(count);
      Dims strides = getDenseStrides(shape);
      std::vector<int64_t> found;
      for (int64_t i = step == 1000 ? count : 0; i < count; i += step) {
        x[i] = -0.5;
        found.push_back(i);
      }
      std::string expected =
          Type(ElemKind::Int64, {int64_t(shape.size()), int64_t(found.size())})
              .str() +
          ":";
      for (unsigned d = 0; d < shape.size(); ++d)
        for (int64_t i : found)
          expected +=
              llvm::formatv(" {0}.0000", i / strides[d] % shape[d]).str();
      TextModel model = oneNode("NonZero", {"x"}, "", 13, {{"x", shape}});
      EXPECT_EQ(runBoth(model, {x}), expected);
    }
  }
}

TEST(Extents, NonZeroOfNothing) {
  EXPECT_EQ(runBoth(oneNode("NonZero", {"x"}, "", 13, {{"x", {0, 3}}}), {{}}),
            "int64<2x0>:");
}

/// All outputs of Unique over \p x.
static std::string findUnique(std::vector<int64_t> shape, const Numbers &x,
                              const std::string &attributes) {
  TextModel model;
  model.inputs = {{"x", std::move(shape)}};
  model.body = "node { op_type: \"Unique\" input: \"x\" output: \"y\" output: "
               "\"i\" output: \"inverse\" output: \"n\" " +
               attributes + "} ";
  model.outputs = "output { name: \"y\" } output { name: \"i\" } output { "
                  "name: \"inverse\" } output { name: \"n\" } ";
  std::string text = runBoth(model, {x});
  // The elements are whole numbers.
  for (size_t at; (at = text.find(".0000")) != std::string::npos;)
    text.erase(at, 5);
  return text;
}

TEST(Extents, UniqueHasAllOutputs) {
  EXPECT_EQ(findUnique({6}, {2, 1, 1, 3, 4, 3}, ""),
            "float<4>: 1 2 3 4; int64<4>: 1 0 3 4; int64<6>: 1 0 0 2 3 2; "
            "int64<4>: 2 1 2 1");
  EXPECT_EQ(findUnique({6}, {2, 1, 1, 3, 4, 3}, intAttr("sorted", 0)),
            "float<4>: 2 1 3 4; int64<4>: 0 1 3 4; int64<6>: 0 1 1 2 3 2; "
            "int64<4>: 1 2 2 1");
  EXPECT_EQ(findUnique({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4}, intAttr("axis", 0)),
            "float<2x3>: 1 0 0 2 3 4; int64<2>: 0 2; int64<3>: 0 0 1; "
            "int64<2>: 2 1");
  // Columns [0, 5], [-1, 9], [0, -5], [-1, 9], [0, 5].
  EXPECT_EQ(
      findUnique({2, 5}, {0, -1, 0, -1, 0, 5, 9, -5, 9, 5}, intAttr("axis", 1)),
      "float<2x3>: -1 0 0 9 -5 5; int64<3>: 1 2 0; int64<5>: 2 0 1 0 2; "
      "int64<3>: 2 1 2");
  EXPECT_EQ(findUnique({1}, {7}, ""),
            "float<1>: 7; int64<1>: 0; int64<1>: 0; int64<1>: 1");
  EXPECT_EQ(findUnique({0}, {}, ""),
            "float<0>:; int64<0>:; int64<0>:; int64<0>:");
}

TEST(Extents, UniqueOfManyRows) {
  // 33 rows of 5, of which each comes at least twice.
  Numbers x;
  for (int64_t i = 0; i < 33; ++i)
    for (int64_t k = 0; k < 5; ++k)
      x.push_back(double(i % 11 * (k + 3) % 7));
  std::string text = findUnique({33, 5}, x, intAttr("axis", 0));
  EXPECT_NE(text.find("float<7x5>"), std::string::npos) << text;
  EXPECT_NE(text.find("int64<33>"), std::string::npos) << text;
}

//===- Boxes --------------------------------------------------------------===//

namespace {

/// [batch, class, box] that are picked of \p boxes and \p scores.
std::string pickBoxes(int64_t numClasses, const Numbers &boxes,
                      const Numbers &scores, int64_t most, float overlap,
                      const std::string &threshold,
                      std::string attributes = "") {
  int64_t n = int64_t(boxes.size()) / 4;
  TextModel model;
  model.inputs = {{"b", {1, n, 4}}, {"s", {1, numClasses, n}}};
  model.body = int64s("most", {most}) + floats("overlap", {1}, {overlap});
  std::vector<std::string> inputs = {"b", "s", "most", "overlap"};
  if (!threshold.empty()) {
    model.body += floats("threshold", {1}, {std::stof(threshold)});
    inputs.push_back("threshold");
  }
  model.body += onnxNode("NonMaxSuppression", inputs, std::move(attributes));
  std::string text = runBoth(model, {boxes, scores});
  for (size_t at; (at = text.find(".0000")) != std::string::npos;)
    text.erase(at, 5);
  return text;
}

/// Boxes of 1 x 1 at x = 0, 0.1, 10, 10.1, 20; corners in either order.
const Numbers rowOfBoxes = {0, 0,  1, 1,    0, 1.1,  1, 0.1, 0, 10,
                            1, 11, 0, 10.1, 1, 11.1, 0, 20,  1, 21};

} // namespace

TEST(Extents, NonMaxSuppression) {
  Numbers scores = {0.9, 0.75, 0.6, 0.95, 0.3};
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 9, 0.5, "0"),
            "int64<3x3>: 0 0 3 0 0 0 0 0 4");
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 2, 0.5, "0"),
            "int64<2x3>: 0 0 3 0 0 0");
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 9, 0.5, "0.4"),
            "int64<2x3>: 0 0 3 0 0 0");
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 9, 0.95, ""),
            "int64<5x3>: 0 0 3 0 0 0 0 0 1 0 0 2 0 0 4");
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 0, 0.5, "0"), "int64<0x3>:");
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, scores, 9, 0.5, "1"), "int64<0x3>:");
  // Of equal scores the first; a NaN is not picked and hides nothing.
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(pickBoxes(1, rowOfBoxes, {0.5, 0.5, 0.4, nan, nan}, 9, 0.5, "0"),
            "int64<2x3>: 0 0 0 0 0 2");
  EXPECT_EQ(pickBoxes(2, rowOfBoxes, {0.1, 0.2, 0, 0, 0, 0, 0, 0.1, 0.2, 0.3},
                      1, 0.5, "0"),
            "int64<2x3>: 0 0 1 0 1 4");
  // [x, y, width, height] around the center.
  EXPECT_EQ(pickBoxes(1, {0.5, 0.5, 1, 1, 0.6, 0.5, 1, 1, 5, 5, 1, 1},
                      {0.9, 0.75, 0.6}, 9, 0.5, "0",
                      intAttr("center_point_box", 1)),
            "int64<2x3>: 0 0 0 0 0 2");
}

/// The share of what is common in the union of boxes \p x and \p y of corners
/// in order.
static double getOverlap(const double *x, const double *y) {
  double height = std::min(x[2], y[2]) - std::max(x[0], y[0]);
  double width = std::min(x[3], y[3]) - std::max(x[1], y[1]);
  double common = std::max(height, 0.0) * std::max(width, 0.0);
  return common / ((x[2] - x[0]) * (x[3] - x[1]) +
                   (y[2] - y[0]) * (y[3] - y[1]) - common);
}

TEST(Extents, NonMaxSuppressionOfMany) {
  // A grid of boxes, each of which overlaps its neighbours by half.
  constexpr int64_t n = 129;
  Numbers boxes, scores;
  for (int64_t i = 0; i < n; ++i) {
    double y = double(i / 12) * 0.5, x = double(i % 12) * 0.5;
    boxes.insert(boxes.end(), {y, x, y + 1, x + 1});
    scores.push_back(double(i * 37 % n) / n);
  }
  std::vector<int64_t> order(n), picked;
  for (int64_t i = 0; i < n; ++i)
    order[i] = i;
  // No two scores are the same.
  llvm::sort(order,
             [&](int64_t i, int64_t k) { return scores[i] > scores[k]; });
  std::string expected;
  for (int64_t i : order) {
    bool overlaps = llvm::any_of(picked, [&](int64_t k) {
      return getOverlap(&boxes[i * 4], &boxes[k * 4]) > 0.3;
    });
    if (overlaps)
      continue;
    picked.push_back(i);
    expected += llvm::formatv(" 0 0 {0}", i).str();
  }
  EXPECT_EQ(pickBoxes(1, boxes, scores, n, 0.3f, "-1"),
            "int64<" + std::to_string(picked.size()) + "x3>:" + expected);
}

TEST(Extents, DetectionsOfANetwork) {
  // Boxes and scores -> the rows [score, box] of what is picked.
  TextModel model;
  model.opset = 18;
  model.inputs = {{"b", {1, 5, 4}}, {"s", {1, 1, 5}}};
  model.body =
      int64s("most", {10}) + floats("overlap", {1}, {0.5}) +
      floats("threshold", {1}, {0.35}) + int64s("i2", {2}) + int64s("i1", {1}) +
      int64s("i3", {3}) + int64s("m1", {-1}) + int64s("boxes", {-1, 4}) +
      int64s("column", {-1, 1}) +
      onnxNode("NonMaxSuppression", {"b", "s", "most", "overlap", "threshold"},
               "", "picked") +
      onnxNode("Slice", {"picked", "i2", "i3", "i1"}, "", "index") +
      onnxNode("Squeeze", {"index", "i1"}, "", "number") +
      onnxNode("Reshape", {"b", "boxes"}, "", "rows") +
      onnxNode("Reshape", {"s", "column"}, "", "column_of_scores") +
      onnxNode("Gather", {"rows", "number"}, "", "kept") +
      onnxNode("Gather", {"column_of_scores", "number"}, "", "kept_scores") +
      onnxNode("Concat", {"kept_scores", "kept"}, intAttr("axis", 1));
  EXPECT_EQ(runBoth(model, {rowOfBoxes, {0.5, 0.25, 0.75, 0.25, 0.25}}),
            "float<2x5>: 0.7500 0.0000 10.0000 1.0000 11.0000 0.5000 0.0000 "
            "0.0000 1.0000 1.0000");
  EXPECT_EQ(runBoth(model, {rowOfBoxes, {0, 0, 0, 0, 0}}), "float<0x5>:");
}

//===- Bounds and refusals ------------------------------------------------===//

/// Range from 0 to x, which is 0-dimensional.
static TextModel makeRange() {
  TextModel model;
  model.inputs = {{"x", {}}};
  model.body = floats("zero", {}, {0}) + floats("half", {}, {0.5}) +
               onnxNode("Range", {"zero", "x", "half"});
  return model;
}

TEST(Extents, OptionBoundsWhatTheModelDoesNot) {
  EXPECT_EQ(makeRange().importError(),
            "'m': node 'y' (Range): the extent of dimension 0 of its output "
            "'y' is known only when the model runs, and nothing bounds it; "
            "state «max-extent=y,N»");
  ImportOptions options;
  options.maxExtents["y"] = 5;
  EXPECT_EQ(runBoth(makeRange(), {{1.75}}, options),
            "float<4>: 0.0000 0.5000 1.0000 1.5000");
  EXPECT_EQ(runBoth(makeRange(), {{0}}, options), "float<0>:");
  // What is more than the bound is cut.
  EXPECT_EQ(runBoth(makeRange(), {{100}}, options),
            "float<5>: 0.0000 0.5000 1.0000 1.5000 2.0000");
}

TEST(Extents, SliceOfComputedLength) {
  TextModel model;
  model.inputs = {{"x", {7}}, {"n", {1}}};
  model.body = onnxNode("Cast", {"n"}, intAttr("to", 7), "m") +
               int64s("two", {2}) + onnxNode("Add", {"m", "two"}, "", "stop") +
               onnxNode("Slice", {"x", "m", "stop"});
  Numbers x = {0, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(runBoth(model, {x, {3}}), "float<2>: 3.0000 4.0000");
  EXPECT_EQ(runBoth(model, {x, {6}}), "float<1>: 6.0000");
  EXPECT_EQ(runBoth(model, {x, {9}}), "float<0>:");
  EXPECT_EQ(runBoth(model, {x, {-3}}), "float<2>: 4.0000 5.0000");
}

TEST(Extents, OperatorsThatNeedConstantExtentsRefuseOthers) {
  TextModel model;
  model.inputs = {{"x", {4, 3}}};
  model.body = onnxNode("NonZero", {"x"}, "", "found") +
               onnxNode("Split", {"found"}, intAttr("axis", 1));
  EXPECT_EQ(model.importError(),
            "'m': node 'y' (Split): the extent of dimension 1, which is split, "
            "is known only when the model runs; accepted: such extents of "
            "others");
}

TEST(Extents, AnOutputHasItsExtentsBesideIt) {
  TextModel model = oneNode("NonZero", {"x"});
  auto module = llvm::cantFail(model.import());
  Placeholder *y = module->findPlaceholder("y");
  ASSERT_TRUE(y->getExtents());
  EXPECT_EQ(y->getType().str(), "int64<2x6>");
  EXPECT_EQ(y->getExtents()->getModelName(), "y.extents");
  EXPECT_EQ(y->getExtents()->getType().str(), "int64<2>");
}
