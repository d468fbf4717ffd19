//===- ExtentRefusalsTest.cpp - Extents that rules refuse or require ------===//

#include "ExtentCases.h"
#include "InferTypes.h"

using namespace glowish;

namespace {

SymbolRanges getSymbols() { return SymbolRanges(getExtentCaseRanges()); }

/// The types of the results with their extents, or the message of the error.
std::string inferText(llvm::StringRef text,
                      const SymbolRanges &symbols = getSymbols()) {
  llvm::Expected<Inferred> result = inferWithExtents(text, symbols);
  return result ? printTypes(result->types)
                : llvm::toString(result.takeError());
}

/// A message names the operand and the dimension.
TEST(ExtentRules, Refusals) {
  auto decides = [](const char *operand, int dim, const char *why) {
    return (llvm::Twine("operand '") + operand +
            "): a run decides the extent of dimension " + llvm::Twine(dim) +
            ", and " + why)
        .str();
  };
  const std::pair<const char *, std::string> cases[] = {
      {"Convolution(float<1x8x8x8{L}>, float<1x1x1x8>, none) {strides = [1, "
       "1], pads "
       "= [0, 0, 0, 0], dilations = [1, 1], group = 1}",
       decides("input' (float<1x8x8x8{L}>", 3,
               "the filter needs all channels")},
      {"Convolution(float<1x8x8x8>, float<8{N}x1x1x8>, none) {strides = [1, "
       "1], pads "
       "= [0, 0, 0, 0], dilations = [1, 1], group = 1}",
       decides("filter' (float<8{N}x1x1x8>", 0,
               "accepted: such extents of the first operand")},
      {"FullyConnected(float<2x3>, float<3x4>, float<4{N}>)",
       decides("bias' (float<4{N}>", 0,
               "accepted: such extents of the matrices")},
      {"LayerNormalization(float<2x4>, float<4{N}>, none) {axis = 1, epsilon = "
       "0.1, "
       "subtractMean = true}",
       decides("scale' (float<4{N}>", 0,
               "accepted: such extents of the first operand")},
      {"GroupNormalization(float<2x4{N}x3>, none, none) {axis = 1, groups = 2, "
       "epsilon = 0.1}",
       decides("input' (float<2x4{N}x3>", 1,
               "it is divided into groups; accepted: others")},
      {"Attention(float<2x4>, float<3x4{N}>, float<3x4>, none) {scale = 1.0, "
       "causal "
       "= "
       "false}",
       decides("key' (float<3x4{N}>", 1,
               "the scores need all elements of a query")},
      {"TopK(float<6{L}>) {count = 3, largest = true}",
       decides("input' (float<6{L}>", 0,
               "there may be fewer or more than 3 elements; accepted: never "
               "fewer, or all")},
      {"DynamicUpdateSlice(float<6{L}>, float<3>, int64<>) {axis = 0}",
       decides("input' (float<6{L}>", 0,
               "it may be less than that of the update; accepted: at least as "
               "much")},
      {"DynamicUpdateSlice(float<6>, float<3{M}>, int64<>) {axis = 0}",
       decides("update' (float<3{M}>", 0,
               "all of the update is written; accepted: others")},
      {"Slice(float<6{L}>) {starts = [1], sizes = [4], steps = [1]}",
       decides("input' (float<6{L}>", 0,
               "not all that the slice takes is always there; accepted: a "
               "slice to the end, or of what is")},
      {"Reshape(float<2x4{N}>) {shape = [8]}",
       decides("input' (float<2x4{N}>", 1,
               "it is joined with what is before it; accepted: an outermost "
               "one")},
      {"Pad(float<4{N}>) {pads = [-1, 0], mode = \"constant\", value = 0.0}",
       "the extent of dimension 0 of the result is N - 1; accepted: 0 to 3 for "
       "all values of its symbols"},
      {"Pad(float<4{N}>) {pads = [1, -1], mode = \"constant\", value = 0.0}",
       decides("input' (float<4{N}>", 0,
               "it may be less than what is cropped; accepted: at least 1")},
      {"MaxPool(float<1x4{N}x1x1>) {kernels = [4, 1], strides = [1, 1], pads = "
       "[0, 0, 0, 0], dilations = [1, 1]}",
       "the extent of dimension 1 of the result is N - 3; accepted: 0 to 1 for "
       "all values of its symbols"},
      {"ConvolutionFilterGradient(float<4{N}x8x8x1>, float<4x8x8x1>) {kernels "
       "= "
       "[1, 1], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], "
       "group = 1}",
       "operand 'input' (float<4{N}x8x8x1>): a run decides an extent, which "
       "ConvolutionFilterGradient does not take"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(inferText(text), message);
}

/// A dimension of at most 1 is never broadcast as another would be.
TEST(ExtentRules, RequiredToBeTheSame) {
  auto getRequirements = [](llvm::StringRef text) {
    std::string all;
    for (const ExtentRequirement &required :
         llvm::cantFail(inferWithExtents(text, getSymbols())).requirements)
      all += required.a.str() + " == " + required.b.str() + "; ";
    return all;
  };
  EXPECT_EQ(getRequirements("Add(float<6{N}>, float<6{L}>)"), "N == L; ");
  EXPECT_EQ(getRequirements("Add(float<6{N}>, float<6{N}>)"), "");
  EXPECT_EQ(getRequirements("Add(float<1{N//4}>, float<6>)"), "N//4 == 1; ");
  EXPECT_EQ(getRequirements("Broadcast(float<1{N//4}>) {shape = [6]}"),
            "N//4 == 1; ");
  EXPECT_EQ(getRequirements("MatMul(float<2x6{N}>, float<6{L}x2>)"),
            "N == L; ");
  EXPECT_EQ(getRequirements("MatMul(float<2x6{N}>, float<6x2>)"), "N == 6; ");
  EXPECT_EQ(getRequirements("Reshape(float<6{L}x2>) {shape = [3, 4]}"),
            "4*(L//2) == 2*L; ");
  EXPECT_EQ(
      getRequirements("Attention(float<4x2>, float<6{L}x2>, float<6{L}x2>, "
                      "float<4x6{N}>) {scale = 1.0, causal = false}"),
      "N == L; ");
  EXPECT_EQ(getRequirements("Scatter(float<6x2>, int32<6{L}>, float<6{N}x2>) "
                            "{mode = \"add\"}"),
            "L == N; ");
}

TEST(ExtentRules, TooManyTerms) {
  SymbolRanges symbols;
  std::string text = "Concat(";
  // As many terms as there may be, of each four operands the same.
  for (int i = 0; i < 64; ++i) {
    std::string symbol = "S" + std::to_string(i % 16);
    symbols.set(symbol, {0, 9});
    text += std::string(i ? ", " : "") + "float<9{" + symbol + "}x2>";
  }
  std::string all = inferText(text + ") {axis = 0}", symbols);
  EXPECT_TRUE(llvm::StringRef(all).starts_with("float<576{4*S0 + 4*S1 + "))
      << all;
  symbols.set("T", {0, 1});
  EXPECT_EQ(inferText(text + ", float<1{T}x2>) {axis = 0}", symbols),
            "the extent of dimension 0 of the result has too many terms; "
            "accepted: at most 16, each of at most 4 factors");
}

} // namespace
