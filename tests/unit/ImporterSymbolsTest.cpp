//===- ImporterSymbolsTest.cpp - Symbolic dimensions ----------------------===//

#include "Messages.h"
#include "OnnxText.h"
#include "glowish/Importer/OnnxModel.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

ImportOptions withSymbols(std::map<std::string, int64_t> symbols) {
  ImportOptions options;
  options.symbols = std::move(symbols);
  return options;
}

TextModel makeModel(std::vector<std::vector<llvm::StringRef>> inputs) {
  TextModel model;
  model.inputs.clear();
  for (auto [i, dims] : llvm::enumerate(inputs))
    model.body += symbolicInput("x" + std::to_string(i), dims);
  model.body += onnxNode("Relu", {"x0"});
  return model;
}

/// The type of an input of shape [\p dim], or the error.
std::string typeOf(llvm::StringRef dim,
                   std::map<std::string, int64_t> symbols = {},
                   std::map<std::string, IntRange> ranges = {}) {
  ImportOptions options = withSymbols(std::move(symbols));
  options.symbolRanges = std::move(ranges);
  auto module = makeModel({{dim}}).import(options);
  if (!module)
    return llvm::toString(module.takeError());
  return (*module)->findPlaceholder("x0")->getType().str();
}

TEST(ImporterSymbols, Expressions) {
  EXPECT_EQ(typeOf("2*batch", {{"batch", 3}}), "float<6>");
  EXPECT_EQ(typeOf("N + 1", {{"N", 7}}), "float<8>");
  EXPECT_EQ(typeOf("N-1", {{"N", 7}}), "float<6>");
  EXPECT_EQ(typeOf("(height + 1)//2", {{"height", 16}}), "float<8>");
  EXPECT_EQ(typeOf("N - M - 1", {{"N", 9}, {"M", 3}}), "float<5>");
  EXPECT_EQ(typeOf("N - (M - 1)", {{"N", 9}, {"M", 3}}), "float<7>");
  EXPECT_EQ(typeOf("N + 2*M", {{"N", 9}, {"M", 3}}), "float<15>");
  EXPECT_EQ(typeOf("N//3*2", {{"N", 10}}), "float<6>");
  EXPECT_EQ(typeOf("2*3", {}), "float<6>");
  EXPECT_EQ(typeOf("-N + 5", {{"N", 5}}), "float<0>");
  // Rounding is down, not to zero.
  EXPECT_EQ(typeOf("4 + (-N)//2", {{"N", 3}}), "float<2>");
  EXPECT_EQ(typeOf("4 + N//(-2)", {{"N", 3}}), "float<2>");
  EXPECT_EQ(typeOf("past.length + s_0", {{"past.length", 3}, {"s_0", 1}}),
            "float<4>");
}

TEST(ImporterSymbols, NamesBeforeExpressions) {
  EXPECT_EQ(typeOf("2*batch", {{"2*batch", 5}, {"batch", 3}}), "float<5>");
  EXPECT_EQ(typeOf("Max(0, n)", {{"Max(0, n)", 5}}), "float<5>");
  EXPECT_EQ(typeOf("batch-size", {{"batch-size", 5}}), "float<5>");
}

TEST(ImporterSymbols, ValuesAndRangesInOneExpression) {
  EXPECT_EQ(typeOf("N//M + 1", {{"M", 2}}, {{"N", {1, 9}}}),
            "float<5{N//2 + 1}>");
  // Parts of a name between ' and ' are no symbols.
  EXPECT_EQ(
      typeOf("'batch-size' + batch", {{"batch", 3}}, {{"batch-size", {1, 8}}}),
      "float<11{'batch-size' + 3}>");
  EXPECT_EQ(typeOf("'batch-size' + N", {{"batch-size", 3}}, {{"N", {1, 8}}}),
            "float<11{N + 3}>");
}

TEST(ImporterSymbols, ExpressionsWithoutAValue) {
  EXPECT_EQ(typeOf("N - 4", {{"N", 3}}),
            "'m': input 'x0': the dimension 'N - 4' is -1; at least 0 is "
            "needed");
  EXPECT_EQ(typeOf("8//(N - 3)", {{"N", 3}}),
            "'m': input 'x0': the dimension '8//(N - 3)' divides by 0");
  EXPECT_EQ(typeOf("N*N*N", {{"N", int64_t(1) << 31}}),
            "'m': input 'x0': the dimension 'N*N*N' does not fit 64 bits");
  EXPECT_EQ(typeOf("N + 99999999999999999999", {{"N", 1}}),
            "'m': input 'x0': the dimension 'N + 99999999999999999999' does "
            "not fit 64 bits");
  EXPECT_EQ(typeOf("(-9223372036854775807 - N)//(-1)", {{"N", 1}}),
            "'m': input 'x0': the dimension '(-9223372036854775807 - N)//(-1)' "
            "does not fit 64 bits");
}

std::string unbound(llvm::StringRef dim, llvm::StringRef symbol) {
  return ("'m': input 'x0' has the symbolic dimension '" + dim +
          "'; bind it with «define-symbol=" + symbol +
          ",VALUE» or state the type with «model-input=x0,float,[...]»")
      .str();
}

TEST(ImporterSymbols, NamesWhatToDefine) {
  EXPECT_EQ(typeOf("N"), unbound("N", "N"));
  EXPECT_EQ(typeOf("2*N"), unbound("2*N", "N"));
  EXPECT_EQ(typeOf("N - M", {{"M", 1}}), unbound("N - M", "N"));
  // One name, where none of its parts is stated.
  EXPECT_EQ(typeOf("batch-size"), unbound("batch-size", "batch-size"));
  EXPECT_EQ(typeOf("batch-size", {{"size", 1}}),
            unbound("batch-size", "batch"));
  EXPECT_EQ(typeOf("?"), unbound("?", "?"));
  EXPECT_EQ(typeOf("N +"), unbound("N +", "N +"));
  EXPECT_EQ(typeOf("2 N"), unbound("2 N", "2 N"));
  EXPECT_EQ(typeOf("(N"), unbound("(N", "(N"));
  // Text that nests deeper than people write is no expression.
  std::string deep = std::string(200, '(') + "1" + std::string(200, ')');
  EXPECT_EQ(typeOf(deep), unbound(deep, deep));
  std::string minus = std::string(200, '-') + "1";
  EXPECT_EQ(typeOf(minus), unbound(minus, minus));
  // What would take all of the stack, in a message that is cut.
  for (char open : {'(', '-'}) {
    std::string message = typeOf(std::string(100000, open) + "1");
    EXPECT_THAT(message, testing::StartsWith("'m': input 'x0' has the symbolic "
                                             "dimension '" +
                                             std::string(100, open)));
    EXPECT_LT(message.size(), 2000u);
  }
}

TEST(ImporterSymbols, AllInOneMessage) {
  TextModel model = makeModel({{"batch", "length", "3"},
                               {"batch", "2*width"},
                               {"batch", "past + length"}});
  EXPECT_EQ(model.importError(withSymbols({{"batch", 1}})),
            "'m': the inputs have 3 symbolic dimensions without values: "
            "'length' (input 'x0'), '2*width' (input 'x1'), 'past + length' "
            "(input 'x2'); bind them with «define-symbol=length,VALUE» "
            "«define-symbol=width,VALUE» «define-symbol=past,VALUE»");
  ImportOptions options = withSymbols({{"batch", 1}, {"length", 4}});
  options.inputTypes = {{"x1", Type(ElemKind::Float, {1, 8})}};
  options.constantInputs = {
      {"x2", std::make_shared<const Tensor>(Type(ElemKind::Float, {1, 9}))}};
  EXPECT_EQ(model.importError(options), "imported");
}

OnnxModel parse(const std::string &text) {
  return llvm::cantFail(OnnxModel::parse(text, "m", ""));
}

TEST(ImporterSymbols, ImportsShareTheWeights) {
  TextModel text = makeModel({{"N", "3"}});
  text.body = symbolicInput("x", {"N", "3"}) + floats("w", {3}, {1, 2, 3}) +
              // Files of IR version 3 list weights as inputs.
              symbolicInput("w", {"3"}) + onnxNode("Add", {"x", "w"});
  OnnxModel model = parse(text.str());
  ImportOptions options;
  std::vector<std::unique_ptr<Module>> modules;
  for (int64_t value : {1, 7, 33}) {
    options.symbols = {{"N", value}};
    auto inputs = llvm::cantFail(model.getInputs(options));
    ASSERT_EQ(inputs.size(), 1u);
    EXPECT_EQ(inputs[0].name, "x");
    EXPECT_EQ(inputs[0].type, Type(ElemKind::Float, {value, 3}));
    modules.push_back(llvm::cantFail(value == 33 ? model.importLast(options)
                                                 : model.import(options)));
    EXPECT_EQ(modules.back()->findPlaceholder("y")->getType(),
              Type(ElemKind::Float, {value, 3}));
  }
  auto getPayload = [](const Module &module) {
    const Node &weight = *module.getConstants().begin();
    return llvm::cast<Constant>(weight).getPayload();
  };
  EXPECT_EQ(toText(*getPayload(*modules[0])), "float<3>: 1 2 3");
  EXPECT_EQ(getPayload(*modules[0]), getPayload(*modules[1]));
  EXPECT_EQ(getPayload(*modules[0]), getPayload(*modules[2]));
}

TEST(ImporterSymbols, KnowsItsSymbols) {
  OnnxModel model = parse(makeModel({{"2*N", "a-b"}, {"M"}}).str());
  EXPECT_TRUE(model.hasSymbol("N"));
  EXPECT_TRUE(model.hasSymbol("M"));
  EXPECT_TRUE(model.hasSymbol("a"));
  EXPECT_TRUE(model.hasSymbol("a-b"));
  EXPECT_TRUE(model.hasSymbol("2*N"));
  EXPECT_FALSE(model.hasSymbol("2"));
  EXPECT_FALSE(model.hasSymbol("x0"));
  EXPECT_EQ(getMessage(model.getInputs(withSymbols({{"N", 1}, {"M", 2}}))),
            "'m': input 'x0' has the symbolic dimension 'a-b'; bind it with "
            "«define-symbol=a-b,VALUE» or state the type with "
            "«model-input=x0,float,[...]»");
  EXPECT_EQ(getMessage(OnnxModel::parse("", "m", "")),
            "'m': the file is empty");
}

} // namespace
