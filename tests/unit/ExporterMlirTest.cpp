//===- ExporterMlirTest.cpp - Nodes as MLIR -------------------------------===//
//
// What is written is compared with the interpreter by glowish-fuzz
// -on=mlir-linalg, -on=mlir-tosa and -on=mlir-stablehlo; here are the
// properties that no such comparison shows.
//
//===----------------------------------------------------------------------===//

#include "glowish/Exporter/MLIR.h"
#include "glowish/Graph/GraphText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <set>

using namespace glowish;

static std::string write(const char *graph, MlirDialect dialect) {
  auto module =
      llvm::cantFail(parseModule(graph, "test.graph", /*sideFile=*/nullptr));
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::Error error = writeMlir(*module, dialect, os))
    return llvm::toString(std::move(error));
  return text;
}

static bool isLowered(NodeKind kind) {
  switch (kind) {
#define LOWERING(NAME) case NodeKind::NAME:
#define GET_LOWERING_LIST
#include "glowish/Graph/NodeFunctions.inc"
    return true;
  default:
    return false;
  }
}

/// Processes that average are of no dialect.
TEST(ExporterMlir, LinalgAndStableHloHaveAFormOfEachKind) {
  for (MlirDialect dialect : {MlirDialect::Linalg, MlirDialect::StableHlo})
    for (const OpInfo &info : getNodeTable())
      if (std::optional<NodeKind> kind = findNodeKind(info.name);
          kind && !info.has(OpTrait::Collective))
        EXPECT_TRUE(hasMlirForm(dialect, *kind) || isLowered(*kind))
            << info.name.str();
}

TEST(ExporterMlir, StatesAreArgumentsAndResults) {
  constexpr const char *graph = R"(
module "m"
placeholder %unused : int8<2> input "unused"
placeholder %state : float<3> input output "state"
placeholder %y : float<3> output "y"
function "main" {
  %next = Neg(%state) : float<3>
  Save(%state, %y)
  Save(%next, %state)
}
)";
  for (MlirDialect dialect : allMlirDialects) {
    std::string text = write(graph, dialect);
    EXPECT_NE(text.find("@main(%arg0: tensor<2xi8> {glowish.name = \"unused\", "
                        "glowish.kind = \"int8\"}, %arg1: tensor<3xf32> "
                        "{glowish.name = \"state\", glowish.kind = \"float\"}) "
                        "-> (tensor<3xf32> {glowish.name = \"state\", "
                        "glowish.kind = \"float\"}, tensor<3xf32> "
                        "{glowish.name = \"y\", glowish.kind = \"float\"})"),
              std::string::npos)
        << text;
    // What is saved to y was read before the state was written.
    EXPECT_NE(text.find(", %arg1 : tensor<3xf32>, tensor<3xf32>"),
              std::string::npos)
        << text;
  }
}

// LLVM 19's tosa-to-scf fails for a cond_if in a cond_if.
TEST(ExporterMlir, TosaSelectsInsideOfBranches) {
  constexpr const char *graph = R"(
module "m"
placeholder %c : bool<> input "c"
placeholder %x : float<2x3> input "x"
placeholder %y : float<2x3> output "y"
function "main" {
  %outer = If(%c, %c, %x) {thenBody = body "a" (%d : bool<>, %p : float<2x3>) -> (%r : float<2x3>) {
    %inner = If(%d, %p) {thenBody = body "b" (%q : float<2x3>) -> (%s : float<2x3>) {
      %n = Neg(%q) : float<2x3>
      Save(%n, %s)
    }, elseBody = body "c" (%t : float<2x3>) -> (%u : float<2x3>) {
      Save(%t, %u)
    }} : float<2x3>
    Save(%inner, %r)
  }, elseBody = body "d" (%e : bool<>, %v : float<2x3>) -> (%w : float<2x3>) {
    Save(%v, %w)
  }} : float<2x3>
  Save(%outer, %y)
}
)";
  std::string text = write(graph, MlirDialect::Tosa);
  EXPECT_EQ(llvm::StringRef(text).count("tosa.cond_if"), 1u) << text;
  EXPECT_EQ(llvm::StringRef(text).count("tosa.select"), 1u) << text;
}

// LLVM 19's tosa-to-linalg fails for no elements where an operand broadcasts.
TEST(ExporterMlir, TosaComputesNothingOfNoElements) {
  constexpr const char *graph = R"(
module "m"
placeholder %x : float<4x0> input "x"
placeholder %z : float<1x1> input "z"
placeholder %y : float<4x0> output "y"
function "main" {
  %sum = Add(%x, %z) : float<4x0>
  Save(%sum, %y)
}
)";
  std::string text = write(graph, MlirDialect::Tosa);
  EXPECT_EQ(llvm::StringRef(text).count("tosa.add"), 0u) << text;
  EXPECT_NE(text.find("return %cst0 : tensor<4x0xf32>"), std::string::npos)
      << text;
}

TEST(ExporterMlir, NamesAreQuoted) {
  std::string text = write(R"(
module "m"
placeholder %x : float<1> input "a\"b\\c"
placeholder %y : float<1> output "y"
function "main" {
  Save(%x, %y)
}
)",
                           MlirDialect::Linalg);
  EXPECT_NE(text.find(R"(glowish.name = "a\22b\\c")"), std::string::npos)
      << text;
}

/// TOSA compares integers as signed ones, so that others come with the highest
/// bit flipped, here and back again.
TEST(ExporterMlir, TosaComparesUnsignedIntegersInTheirOrder) {
  std::string text = write(R"(
module "m"
placeholder %x : uint8<1x4x4x2> input "x"
placeholder %a : int64<1x4x4> output "a"
placeholder %m : uint8<1x4x4> output "m"
placeholder %p : uint8<1x2x2x2> output "p"
function "main" {
  %arg = ArgMax(%x) {axis = 3, keepDims = false, selectLast = false} : int64<1x4x4>
  %max = Reduce(%x) {mode = "max", axes = [3], keepDims = false} : uint8<1x4x4>
  %pool = MaxPool(%x) {kernels = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : uint8<1x2x2x2>
  Save(%arg, %a)
  Save(%max, %m)
  Save(%pool, %p)
}
)",
                           MlirDialect::Tosa);
  EXPECT_NE(text.find("dense<-128> : tensor<1x1x1x1xi8>"), std::string::npos)
      << text;
  for (const char *operation :
       {"tosa.argmax %", "tosa.reduce_max %", "tosa.max_pool2d %"}) {
    EXPECT_NE(text.find(operation), std::string::npos) << text;
    EXPECT_EQ(text.find(std::string(operation) + "arg0"), std::string::npos)
        << text;
  }
  // Three flips before, and two behind those that return elements.
  size_t flips = 0;
  for (size_t at = 0;
       (at = text.find("tosa.bitwise_xor", at + 1)) != std::string::npos;)
    ++flips;
  EXPECT_EQ(flips, 5u) << text;
}

/// mlir-opt refuses an index of no elements.
TEST(ExporterMlir, TosaHasNoIndicesOfNothing) {
  std::string text = write(R"(
module "m"
placeholder %x : float<0x3> input "x"
placeholder %y : int64<0> output "y"
function "main" {
  %a = ArgMax(%x) {axis = 1, keepDims = false, selectLast = true} : int64<0>
  Save(%a, %y)
}
)",
                           MlirDialect::Tosa);
  EXPECT_EQ(text.find("tosa.argmax"), std::string::npos) << text;
  EXPECT_NE(text.find("tensor<0xi64>"), std::string::npos) << text;
}

/// LLVM 19's tosa-to-linalg makes the largest int64 of all floats.
TEST(ExporterMlir, TosaCastsNoFloatToInt64) {
  std::string text = write(R"(
module "m"
placeholder %x : float<3> input "x"
placeholder %y : int64<3> output "y"
function "main" {
  %c = Cast(%x) {to = int64} : int64<3>
  Save(%c, %y)
}
)",
                           MlirDialect::Tosa);
  EXPECT_EQ(text.find("(tensor<3xf32>) -> tensor<3xi64>"), std::string::npos)
      << text;
  EXPECT_NE(text.find("(tensor<3xi32>) -> tensor<3xi64>"), std::string::npos)
      << text;
}

/// The names of values in \p text: "%0", "%cst1".
static std::vector<std::string> findNames(llvm::StringRef text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find('%', at)) != llvm::StringRef::npos; ++at)
    names.push_back("%" + text.drop_front(at + 1)
                              .take_while([](char c) { return isalnum(c); })
                              .str());
  return names;
}

/// XLA takes reductions, sorts and scatters that use constants from outside for
/// programs that capture values, which it refuses.
TEST(ExporterMlir, StableHloComputationsAreClosed) {
  std::string text = write(R"(
module "m"
placeholder %x : bfloat16<1x4x4x3> input "x"
placeholder %rows : bfloat16<4x3> input "rows"
placeholder %i : int64<2> input "i"
placeholder %u : bfloat16<2x3> input "u"
placeholder %a : int64<1x4x4> output "a"
placeholder %p : bfloat16<1x2x2x3> output "p"
placeholder %s : bfloat16<4x3> output "s"
placeholder %t : int64<4x2> output "t"
function "main" {
  %arg = ArgMax(%x) {axis = 3, keepDims = false, selectLast = true} : int64<1x4x4>
  %pool = MaxPool(%x) {kernels = [2, 2], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]} : bfloat16<1x2x2x3>
  %scatter = Scatter(%rows, %i, %u) {mode = "max"} : bfloat16<4x3>
  %top = TopK(%rows) {count = 2, largest = false} : int64<4x2>
  Save(%arg, %a)
  Save(%pool, %p)
  Save(%scatter, %s)
  Save(%top, %t)
}
)",
                           MlirDialect::StableHlo);
  unsigned computations = 0;
  bool isInside = false;
  std::set<std::string> known;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    line = line.trim();
    if (line.starts_with("})"))
      isInside = false;
    if (isInside) {
      auto [before, after] = line.split(" = ");
      bool isReturn = after.empty() && !line.starts_with("^bb0");
      for (const std::string &name : findNames(isReturn ? line : after))
        EXPECT_TRUE(known.count(name)) << line.str();
      // The parameters, or the result.
      for (const std::string &name : findNames(before))
        known.insert(name);
    }
    if (line.ends_with("({")) {
      isInside = true;
      known.clear();
      ++computations;
    }
  }
  EXPECT_EQ(computations, 4u) << text;
}
