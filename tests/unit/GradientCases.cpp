//===- GradientCases.cpp - Cases for gradient checks ----------------------===//

#include "GradientCases.h"
#include "ScalarOperands.h"
#include "glowish/Graph/Node.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

/// \p text with each of \p parts for `$`.
static void addEach(std::vector<GradientCase> &cases, const char *text,
                    std::initializer_list<const char *> parts,
                    std::vector<InputValues> values = {}) {
  for (const char *part : parts) {
    std::string whole = text;
    whole.replace(whole.find('$'), 1, part);
    cases.push_back({whole, values});
  }
}

//===- Element-wise -------------------------------------------------------===//

static std::string getAttrs(const OpInfo &info) {
  std::string text;
  for (const AttrInfo &attr : info.attrs) {
    double value = llvm::StringSwitch<double>(attr.name)
                       .Case("low", -1.3)
                       .Case("high", 2.1)
                       .Case("beta", 0.4)
                       .Default(0.3);
    text += llvm::formatv("{0}{1} = {2}", text.empty() ? "" : ", ", attr.name,
                          value)
                .str();
  }
  return text.empty() ? text : " {" + text + "}";
}

static void addOperator(std::vector<GradientCase> &cases, const OpInfo &info) {
  const char *shapeSets[][3] = {{"7x1x3", "5x3", "1"},
                                {"5x3", "", "7x5x3"},
                                {"", "7x1", "1x3"},
                                {"0x3", "1x3", "3"}};
  const ScalarOpInfo &scalar = getScalarOpInfo(*info.scalarOp);
  for (auto &shapes : shapeSets) {
    std::string operands;
    for (unsigned i = 0; i < scalar.numArgs; ++i)
      operands +=
          llvm::formatv("{0}{1}<{2}>", i ? ", " : "",
                        i == 0 && scalar.firstIsBool ? "bool" : "double",
                        shapes[i])
              .str();
    GradientCase added((info.name + "(" + operands + ")").str() +
                       getAttrs(info));
    OperandRange range = getOperandRange(scalar);
    added.values.assign(scalar.numArgs, between(range.low, range.high));
    if (scalar.firstIsBool)
      added.values[0] = held({0, 1, 1, 0, 1, 0, 0});
    cases.push_back(std::move(added));
  }
}

std::vector<GradientCase> glowish::getElementWiseCases() {
  std::vector<GradientCase> cases;
  for (const OpInfo &info : getNodeTable()) {
    if (!info.scalarOp || info.name == "Cast")
      continue;
    if (getDifferentiability(*findNodeKind(info.name)).kind ==
        Differentiability::Differentiable)
      addOperator(cases, info);
  }
  cases.push_back({"Cast(double<3x7>) {to = double}"});
  // Powers of negative numbers, and their exponents held.
  cases.push_back(
      {"Pow(double<2x3>, double<3>)", {between(-2, -0.5), held({2, -1, 3})}});
  return cases;
}

//===- Convolution and pooling --------------------------------------------===//

std::vector<GradientCase> glowish::getConvolutionCases() {
  return {
      {"Convolution(double<2x7x5x3>, double<4x3x3x3>, double<4>) {strides = "
       "[2, 1], pads = [1, 0, 2, 1], dilations = [1, 1], group = 1}"},
      // What the last windows do not reach.
      {"Convolution(double<1x8x9x2>, double<3x2x3x2>, none) {strides = [3, 4], "
       "pads = [0, 1, 0, 1], dilations = [1, 2], group = 1}"},
      {"Convolution(double<1x6x5x6>, double<4x2x3x3>, double<4>) {strides = "
       "[1, 2], pads = [0, 0, 0, 0], dilations = [2, 1], group = 2}"},
      // Depthwise, with one filter a channel and with two.
      {"Convolution(double<1x5x5x3>, double<3x3x3x1>, none) {strides = [1, 1], "
       "pads = [1, 1, 1, 1], dilations = [1, 1], group = 3}"},
      {"Convolution(double<2x4x3x3>, double<6x2x2x1>, double<6>) {strides = "
       "[2, 2], pads = [1, 1, 0, 0], dilations = [1, 1], group = 3}"},
      {"Convolution(double<1x3x3x17>, double<7x1x1x17>, none) {strides = "
       "[1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1}"},
      {"Convolution(double<0x5x5x3>, double<2x3x3x3>, double<2>) {strides = "
       "[1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1}"},
      {"ConvolutionFilterGradient(double<2x7x5x3>, double<2x4x4x4>) {kernels = "
       "[3, 3], strides = [2, 1], pads = [1, 0, 2, 1], dilations = [1, 1], "
       "group = 1}"},
      {"ConvolutionFilterGradient(double<1x6x5x4>, double<1x4x2x6>) {kernels = "
       "[2, 3], strides = [1, 2], pads = [0, 0, 0, 0], dilations = [2, 1], "
       "group = 2}"},
      {"ConvTranspose(double<2x3x4x3>, double<3x3x2x5>, double<5>) {strides = "
       "[2, 1], pads = [1, 0, 0, 1], outputPads = [0, 0], dilations = [1, 1], "
       "group = 1}"},
      {"ConvTranspose(double<1x3x4x4>, double<4x2x3x3>, double<6>) {strides = "
       "[3, 2], pads = [0, 1, 2, 1], outputPads = [1, 1], dilations = [1, 2], "
       "group = 2}"},
      // More is added than was cut off: only the bias reaches that.
      {"ConvTranspose(double<1x2x3x2>, double<2x2x2x1>, double<1>) {strides = "
       "[3, 2], pads = [0, 0, 1, 0], outputPads = [2, 1], dilations = [1, 1], "
       "group = 1}"},
      {"ConvTranspose(double<1x3x3x3>, double<3x3x3x1>, none) {strides = "
       "[2, 2], pads = [1, 1, 1, 1], outputPads = [1, 1], dilations = [1, 1], "
       "group = 3}"},
  };
}

std::vector<GradientCase> glowish::getPoolingCases() {
  std::vector<GradientCase> cases;
  for (const char *op : {"MaxPool(double<2x7x5x3>) {$}",
                         "AvgPool(double<2x7x5x3>) {$, countIncludePads = "
                         "true}",
                         "AvgPool(double<2x7x5x3>) {$, countIncludePads = "
                         "false}"})
    addEach(cases, op,
            {"kernels = [3, 2], strides = [2, 1], pads = [1, 0, 2, 1], "
             "dilations = [1, 1]",
             "kernels = [2, 2], strides = [3, 2], pads = [0, 0, 0, 0], "
             "dilations = [1, 1]",
             "kernels = [3, 2], strides = [1, 1], pads = [1, 1, 1, 1], "
             "dilations = [2, 3]",
             "kernels = [7, 5], strides = [1, 1], pads = [0, 0, 0, 0], "
             "dilations = [1, 1]"});
  addEach(cases,
          "AvgPoolGradient(double<1x4x4x3>) {sizes = [7, 5], kernels = "
          "[3, 2], strides = [2, 1], pads = [1, 0, 1, 0], dilations = [1, 1], "
          "countIncludePads = $}",
          {"true", "false"});
  addEach(cases, "Global$Pool(double<2x3x5x7>)", {"Avg", "Max"});
  addEach(cases, "Global$Pool(double<0x3x5x7>)", {"Avg", "Max"});
  return cases;
}

//===- Matmuls ------------------------------------------------------------===//

std::vector<GradientCase> glowish::getMatMulCases() {
  std::vector<GradientCase> cases;
  addEach(cases, "MatMul($)",
          {"double<3x7>, double<7x5>", "double<1x17>, double<17x1>",
           "double<2x3x4>, double<4x5>", "double<3x4>, double<2x4x5>",
           "double<2x1x3x4>, double<3x4x2>", "double<1x3x4>, double<5x4x3>",
           "double<2x3x1x4>, double<1x4x3>", "double<0x3>, double<3x2>",
           "double<3x0>, double<0x2>", "double<0x3x4>, double<4x2>",
           "double<2x0x4>, double<2x4x3>"});
  addEach(cases, "FullyConnected($)",
          {"double<3x7>, double<7x5>, double<5>",
           "double<1x3>, double<3x1>, double<1>",
           "double<0x3>, double<3x2>, double<2>"});
  addEach(cases,
          "Attention(double<2x3x4>, double<2x5x4>, double<2x5x3>, $) {scale = "
          "0.5, causal = false}",
          {"none", "double<3x5>", "double<2x1x5>", "double<>"});
  addEach(cases,
          "Attention(double<2x3x3x2>, double<2x3x5x2>, double<2x3x5x1>, $) "
          "{scale = 0.7, causal = true}",
          {"none", "double<3x5>", "double<2x1x3x5>"});
  addEach(cases,
          "Attention(double<7x1>, double<7x1>, double<7x3>, $) {scale = 1.0, "
          "causal = true}",
          {"none", "double<7x1>"});
  return cases;
}

//===- Normalization and reduction ----------------------------------------===//

/// Statistics of the batch, as training has them, which are an output as well.
static const char *batchNormalization = R"(
module "m"
placeholder %x : double<2x3x2x5> input "x"
placeholder %scale : double<3> input "scale"
placeholder %bias : double<3> input "bias"
placeholder %y : double<2x3x2x5> output "y"
placeholder %v : double<3> output "v"
function "main" {
  %square = Mul(%x, %x) : double<2x3x2x5>
  %means = Reduce(%square) {mode = "mean", axes = [0, 2, 3], keepDims = true} : double<1x3x1x1>
  %centered = Sub(%square, %means) : double<2x3x2x5>
  %squares = Mul(%centered, %centered) : double<2x3x2x5>
  %variances = Reduce(%squares) {mode = "mean", axes = [0, 2, 3], keepDims = true} : double<1x3x1x1>
  %mean = Reshape(%means) {shape = [3]} : double<3>
  %variance = Reshape(%variances) {shape = [3]} : double<3>
  %norm = BatchNormalization(%square, %scale, %bias, %mean, %variance) {axis = 1, epsilon = 0.01} : double<2x3x2x5>
  %sine = Sin(%norm) : double<2x3x2x5>
  Save(%sine, %y)
  Save(%variance, %v)
}
)";

std::vector<GradientCase> glowish::getNormalizationCases() {
  std::vector<GradientCase> cases;
  for (const char *op : {"Softmax($}", "LogSoftmax($}"})
    addEach(cases, op,
            {"double<3x7>) {axis = 1", "double<3x7x5>) {axis = 1",
             "double<5x1>) {axis = 1", "double<7>) {axis = 0",
             "double<0x3>) {axis = 1"});
  for (auto [extent, axis] : {std::pair(7, 3), std::pair(3, 1)})
    cases.push_back(
        {llvm::formatv("BatchNormalization(double<2x3x5x7>, double<{0}>, "
                       "double<{0}>, double<{0}>, double<{0}>) {{axis = {1}, "
                       "epsilon = 0.01}",
                       extent, axis),
         {between(-2, 2), between(-1, 1), between(-1, 1), between(-1, 1),
          between(0.3, 2)}});
  cases.push_back({batchNormalization});
  // Without training it is the identity, and so it is without other processes.
  cases.push_back({"Dropout(double<3x7>) {ratio = 0.5}"});
  addEach(cases, "Loss(double<3x7>, double<3x7>) {loss = \"$\"}",
          {"softmax-cross-entropy", "binary-cross-entropy",
           "mean-squared-error", "l1", "huber"});
  cases.push_back({"AllReduce(double<3x7>)"});
  addEach(cases,
          "LocalResponseNormalization(double<2x3x7>) {size = $, beta = 0.75, "
          "bias = 1.2}",
          {"1, alpha = 0.5", "2, alpha = 0.9", "3, alpha = 0.9",
           "4, alpha = 1.1", "5, alpha = 0.1", "15, alpha = 0.3"});
  cases.push_back({"LocalResponseNormalization(double<0x3x7>) {size = 3, alpha "
                   "= 0.9, beta = 0.75, bias = 1.2}"});
  for (const char *mean : {"true", "false"})
    for (const char *operands :
         {"double<3x7>, double<7>, double<7>) {axis = 1",
          "double<3x7>, none, none) {axis = 1",
          "double<3x7>, double<7>, none) {axis = 1",
          "double<3x7>, none, double<7>) {axis = 1",
          "double<2x3x5>, double<3x5>, double<3x5>) {axis = 1",
          "double<2x3x5>, double<2x3x5>, none) {axis = 0",
          "double<0x5>, double<5>, double<5>) {axis = 1"})
      cases.push_back(
          llvm::formatv("LayerNormalization({0}, epsilon = 0.01, subtractMean "
                        "= {1}}",
                        operands, mean)
              .str());
  return cases;
}

std::vector<GradientCase> glowish::getReductionCases() {
  std::vector<GradientCase> cases;
  for (const char *mode : {"sum", "mean", "max", "min", "prod"})
    for (const char *rest : {"double<3x7x5>) {axes = [1], keepDims = false",
                             "double<3x7x5>) {axes = [0, 2], keepDims = true",
                             "double<3x5>) {axes = [0, 1], keepDims = false",
                             "double<17>) {axes = [0], keepDims = true",
                             "double<3x1x5>) {axes = [1], keepDims = false",
                             "double<3x5>) {axes = [], keepDims = false",
                             "double<0x5>) {axes = [1], keepDims = false"})
      cases.push_back(
          {llvm::formatv("Reduce({0}, mode = \"{1}\"}", rest, mode)});
  for (const char *mode : {"exclusive = false, reverse = false",
                           "exclusive = true, reverse = false",
                           "exclusive = false, reverse = true",
                           "exclusive = true, reverse = true"})
    for (const char *input : {"double<3x7x5>) {axis = 1",
                              "double<3x7>) {axis = 1", "double<0>) {axis = 0"})
      cases.push_back({llvm::formatv("CumSum({0}, {1}}", input, mode)});
  // Of empty sets: the other modes have no finite result that differences could
  // be taken of.
  for (const char *mode : {"sum", "prod"})
    cases.push_back(
        {llvm::formatv("Reduce(double<0x5>) {{axes = [0], keepDims = false, "
                       "mode = \"{0}\"}",
                       mode)});
  // Rows with no, one, two and three zeros.
  cases.push_back({"Reduce(double<4x3>) {axes = [1], keepDims = false, mode = "
                   "\"prod\"}",
                   {at({0.5, -2, 3, 0, 0.7, 2, 1.5, 0, 0, 0, 0, 0})}});
  return cases;
}

//===- Data movement ------------------------------------------------------===//

std::vector<GradientCase> glowish::getDataMovementCases() {
  std::vector<GradientCase> cases = {
      {"Concat(double<3x2x5>, double<3x1x5>, double<3x0x5>, double<3x4x5>) "
       "{axis = 1}"},
      {"Concat(double<7>) {axis = 0}"},
      {"DeclareExtents(double<3x4>) {resultType = [double<3x4>]}"},
      {"Repack(double<3x7x2>) {resultType = [double<7x6>]}"},
      {"Reshape(double<3x7x2>) {shape = [7, 6]}"},
      {"Reshape(double<0x7>) {shape = [7, 0, 3]}"},
      {"Reshape(double<1>) {shape = []}"},
  };
  addEach(cases, "Slice(double<7x5>) {$}",
          {"starts = [1, 0], sizes = [3, 5], steps = [1, 1]",
           "starts = [0, 1], sizes = [4, 2], steps = [2, 3]",
           "starts = [1, 0], sizes = [2, 2], steps = [4, 3]",
           "starts = [6, 4], sizes = [7, 5], steps = [-1, -1]",
           "starts = [5, 4], sizes = [2, 3], steps = [-3, -2]",
           "starts = [6, 1], sizes = [2, 1], steps = [-5, 7]",
           "starts = [2, 3], sizes = [1, 1], steps = [-9, -9]",
           "starts = [2, 3], sizes = [0, 2], steps = [1, 1]"});
  addEach(cases, "Slice(double<33>) {$}",
          {"starts = [32], sizes = [11], steps = [-3]",
           "starts = [1], sizes = [5], steps = [7]"});
  addEach(cases, "Transpose(double<3x5x2x7>) {permutation = [$]}",
          {"3, 1, 0, 2", "1, 2, 3, 0", "0, 2, 1, 3"});
  addEach(cases, "Broadcast(double<$}",
          {"7x1x3>) {shape = [2, 7, 5, 3]", ">) {shape = [3, 1]",
           "5x3>) {shape = [5, 3]", "1>) {shape = [0]"});
  addEach(cases, "Tile(double<$}",
          {"3x5>) {repeats = [2, 3]", "3x5>) {repeats = [1, 4]",
           "1x7>) {repeats = [3, 1]", "3x5>) {repeats = [0, 2]",
           ">) {repeats = []"});
  addEach(cases,
          "Pad(double<5x7>) {pads = [$], mode = \"constant\", value = 0.5}",
          {"1, 0, 2, 3", "-1, 2, 0, -3", "-2, -1, -2, -1", "0, -7, 0, 0",
           "0, 0, 0, 0"});
  addEach(cases, "Pad(double<5x3>) {pads = [$], mode = \"edge\", value = 0.0}",
          {"1, 0, 2, 3", "7, 1, 0, 0", "0, 0, 0, 9"});
  addEach(cases,
          "Pad(double<5x3>) {pads = [$], mode = \"reflect\", value = 0.0}",
          {"1, 0, 2, 2", "4, 1, 0, 0", "0, 2, 4, 2"});
  return cases;
}

//===- Indexing -----------------------------------------------------------===//

std::vector<GradientCase> glowish::getIndexingCases() {
  std::vector<GradientCase> cases;
  // Repeated, negative, and out of range, where they are clamped.
  std::vector<InputValues> picks = {between(-1, 1),
                                    held({1, -1, 1, 4, -9, 12, 0, -5})};
  addEach(
      cases, "Gather($}",
      {"double<5x3>, int64<8>) {axis = 0", "double<3x5>, int32<8>) {axis = 1",
       "double<2x5x3>, int64<2x4>) {axis = 1", "double<5>, int32<>) {axis = 0",
       "double<5x3>, int64<0>) {axis = 0", "double<0x5x3>, int64<3>) {axis = 1",
       "double<2x3x5>, int32<1x7>) {axis = 2"},
      picks);
  for (int64_t start : {0, 1, 7, -1})
    addEach(cases, "DynamicUpdateSlice($}",
            {"double<5x3>, double<2x3>, int64<>) {axis = 0",
             "double<3x5>, double<3x5>, int32<1>) {axis = 1",
             "double<2x5x3>, double<2x3x3>, int64<1x1>) {axis = 1",
             "double<5x3>, double<0x3>, int64<>) {axis = 0"},
            {between(-1, 1), between(-1, 1), held({double(start)})});
  for (const char *mode : {"replace", "add", "mul", "max", "min"}) {
    for (const char *operands : {"double<5x3>, int64<7>, double<7x3>",
                                 "double<5x1>, int32<7>, double<7x1>",
                                 "double<5x3>, int64<0>, double<0x3>",
                                 "double<0x3>, int64<2>, double<2x3>",
                                 "double<5x0>, int64<2>, double<2x0>"})
      cases.push_back(
          {llvm::formatv("Scatter({0}) {{mode = \"{1}\"}", operands, mode),
           {between(-2, 2), held({1, -1, 1, 4, -9, 12, -5}), between(-2, 2)}});
  }
  // Scatter mul with zeros in the input, in updates, in both, and two in
  // updates.
  cases.push_back(
      {"Scatter(double<4x1>, int64<6>, double<6x1>) {mode = "
       "\"mul\"}",
       {at({0, 2, 0, 3}), held({0, 1, 2, 1, 3, 3}), at({3, 0, 0, 5, 0, 0})}});
  return cases;
}

std::vector<GradientCase> glowish::getResizeCases() {
  std::vector<GradientCase> cases;
  auto add = [&](const char *rest, const char *mode) {
    for (const char *coordinates :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"})
      cases.push_back(
          {llvm::formatv("Resize(double<{0}, mode = {1}, coordinates = "
                         "\"{2}\"}",
                         rest, mode, coordinates)});
  };
  for (const char *rest :
       {"2x3x5x3>) {sizes = [7, 8], scaleH = 2.3333333333333335, scaleW = 1.6",
        "1x7x5x1>) {sizes = [3, 1], scaleH = 0.5, scaleW = 0.2",
        "1x1x5x2>) {sizes = [3, 5], scaleH = 3.0, scaleW = 1.0"}) {
    for (const char *nearest :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      add(rest, llvm::formatv("\"nearest\", nearestMode = \"{0}\"", nearest)
                    .str()
                    .c_str());
    add(rest, "\"linear\", nearestMode = \"floor\"");
  }
  add("0x3x5x3>) {sizes = [7, 8], scaleH = 2.3333333333333335, scaleW = 1.6",
      "\"linear\", nearestMode = \"floor\"");
  return cases;
}

std::vector<GradientCase> glowish::getAllGradientCases() {
  std::vector<GradientCase> all;
#define APPEND(FAMILY) llvm::append_range(all, get##FAMILY##Cases());
  FOR_EACH_GRADIENT_FAMILY(APPEND)
#undef APPEND
  return all;
}
