//===- OpenOptimizationTest.cpp - Graph passes over types with extents ----===//
//
// Patterns that a pass rewrites where extents are known. Where a run decides
// them, what is computed stays the same: the rewrite declines, or is right.
//
//===----------------------------------------------------------------------===//

#include "ExtentGraphs.h"
#include "glowish/Driver/RangeProfiler.h"
#include "glowish/Graph/ElementTrace.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Optimizer/ConvertPrecision.h"
#include "glowish/Optimizer/Passes.h"
#include "glowish/Optimizer/Patches.h"
#include "glowish/Optimizer/Quantize.h"

using namespace glowish;

namespace {

/// Returns the line of a constant of random numbers.
std::string makeConstant(llvm::StringRef name, llvm::StringRef kind,
                         DimsRef shape) {
  Tensor numbers = makeRandom(Type(ElemKind::Float, shape), shape.size());
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "constant %" << name << " : " << kind << "<" << formatShape(shape)
     << "> = [";
  for (int64_t i = 0; i < numbers.getNumElements(); ++i) {
    double number = numbers.getAsDouble(i);
    os << (i ? ", " : "");
    if (kind == "float")
      os << llvm::format("%.6f", number);
    else
      os << int(number * 100);
  }
  os << "]\n";
  return text;
}

/// The module of \p graph after \p pass.
std::unique_ptr<Module> run(const ExtentGraph &graph, llvm::StringRef pass) {
  auto module = llvm::cantFail(
      parseModule(makeOpenModule(makeText(graph)), "test", nullptr));
  Function &function = *module->findFunction("main");
  llvm::cantFail(
      findPass(getGraphPasses(), pass)->run(function, GraphPassContext()));
  return module;
}

/// How many nodes of \p kind \p pass leaves of \p graph, or makes.
unsigned count(const ExtentGraph &graph, llvm::StringRef pass, NodeKind kind) {
  auto module = run(graph, pass);
  return llvm::count_if(module->findFunction("main")->getNodes(),
                        [&](Node &node) { return node.getKind() == kind; });
}

//===- Data movement ------------------------------------------------------===//

/// Elements from the end are found where the end is.
TEST(OpenOptimization, GatherFromTheEnd) {
  for (const char *indices : {"[-7]", "[-8]", "[-1]", "[0]", "[1]", "[9]"}) {
    ExtentGraph graph = {{"float<2x8{N + 2}x5>"},
                         "%r = Gather(%a, %i) {axis = 1}",
                         "float<2x1x5>",
                         "constant %i : int64<1> = " + std::string(indices) +
                             "\n"};
    check(graph);
    bool isSlice =
        llvm::StringRef(indices) == "[0]" || llvm::StringRef(indices) == "[1]";
    EXPECT_EQ(count(graph, "canonicalize", NodeKind::Slice), isSlice)
        << indices;
  }
}

/// Slices of concatenations behind a part that may be shorter.
TEST(OpenOptimization, SlicesOfConcats) {
  for (auto [start, size] :
       {std::pair("4", "2"), {"0", "2"}, {"3", "3"}, {"2", "10?{N + 4}"}})
    check({{"float<6{N}>", "float<6>"},
           "%c = Concat(%a, %b) {axis = 0}\n%r = Slice(%c) {starts = [" +
               std::string(start) + "], sizes = [" + size + "], steps = [1]}",
           "float<" + std::string(size) + ">"});
}

/// An operand beside a concatenation is cut where the parts begin.
TEST(OpenOptimization, OperandsBesideConcats) {
  for (const char *parts : {"%a, %b", "%b, %a"})
    check({{"float<6{N}x2>", "float<3x2>"},
           "%c = Concat(" + std::string(parts) +
               ") {axis = 0}\n"
               "%s = Slice(%k) {starts = [0, 0], sizes = [9?{N + 3}, 2], steps "
               "= [1, 1]}\n%r = Mul(%c, %s)",
           "float<9?{N + 3}x2>",
           makeConstant("k", "float", {9, 2})});
  ExtentGraph row = {{"float<6{N}x2>", "float<3x2>"},
                     "%c = Concat(%a, %b) {axis = 0}\n%r = Mul(%c, %k)",
                     "float<9?{N + 3}x2>",
                     makeConstant("k", "float", {2})};
  check(row);
  EXPECT_EQ(count(row, "sink-concats", NodeKind::Mul), 2u);
}

/// An element is followed to where it is in all runs.
TEST(OpenOptimization, ElementTraces) {
  auto module = llvm::cantFail(
      parseModule(makeOpenModule(makeText(
                      {{"float<6{N}>", "float<3>"},
                       "%c = Concat(%b, %a, %b) {axis = 0}\n"
                       "%d = Concat(%b, %a) {axis = 0}\n"
                       "%e = Gather(%d, %i) {axis = 0}\n%r = Add(%e, %e)",
                       "float<4>",
                       "constant %i : int64<4> = [-1, 2, 3, 8]\n"})),
                  "test", nullptr));
  auto find = [&](llvm::StringRef name, int64_t position) {
    for (Node &node : module->findFunction("main")->getNodes())
      if (node.getName() == name)
        return traceElement({node.getResult(), position});
    ADD_FAILURE() << name.str();
    return std::optional<Element>();
  };
  EXPECT_EQ(find("c", 2)->position, 2);
  EXPECT_FALSE(find("c", 3));
  EXPECT_FALSE(find("c", 10));
  EXPECT_EQ(find("d", 5)->position, 2);
  EXPECT_FALSE(find("e", 0));
  EXPECT_EQ(find("e", 1)->position, 2);
  EXPECT_FALSE(find("e", 2));
  EXPECT_FALSE(find("e", 3));
}

//===- Attention ----------------------------------------------------------===//

/// Attention of matmuls, with the mask %k.
ExtentGraph makeAttention(const std::string &queries, const std::string &keys,
                          const std::string &mask,
                          const std::string &constant) {
  auto hide = [](std::string extent) {
    if (size_t at = extent.find('{'); at != std::string::npos)
      extent.insert(at, "?");
    return extent;
  };
  return {{"float<2x" + queries + "x3>", "float<2x" + keys + "x3>",
           "float<2x" + keys + "x3>"},
          "%t = Transpose(%b) {permutation = [0, 2, 1]}\n"
          "%s = MatMul(%a, %t)\n"
          "%k = Slice(%all) {starts = [0, 0], sizes = [" +
              hide(queries) + ", " + hide(keys) + "], steps = [1, 1]}\n" +
              mask +
              "%w = Softmax(%m) {axis = 2}\n"
              "%r = MatMul(%w, %c)",
          "float<2x" + hide(queries) + "x3>",
          constant};
}

/// Returns the line of a mask of \p queries rows.
std::string makeMask(int64_t queries, int64_t keys, const char *seen,
                     const char *masked) {
  std::string text =
      "constant %all : " + std::string(*seen == 't' ? "bool" : "float") + "<" +
      formatShape({queries, keys}) + "> = [";
  for (int64_t m = 0; m < queries; ++m)
    for (int64_t n = 0; n < keys; ++n)
      text += std::string(m + n ? ", " : "") +
              (n <= m + keys - queries ? seen : masked);
  return text + "]\n";
}

/// A mask is causal where a run does not change how many keys are before the
/// first query.
TEST(OpenOptimization, CausalMasks) {
  for (auto [queries, keys, numQueries, numKeys, isCausal] :
       {std::tuple("4{M}", "4{M}", 4, 4, true),
        {"4{M}", "6{M + 2}", 4, 6, true},
        {"4{M}", "6", 4, 6, false},
        {"3", "7{M + 3}", 3, 7, false},
        {"4", "6", 4, 6, true}}) {
    ExtentGraph graph =
        makeAttention(queries, keys, "%m = Add(%s, %k)\n",
                      makeMask(numQueries, numKeys, "0.0", "-1e10"));
    check(graph);
    auto module = llvm::cantFail(
        parseModule(makeOpenModule(makeText(graph)), "test", nullptr));
    Function &function = *module->findFunction("main");
    for (const char *pass : {"canonicalize", "recognize-attention"})
      llvm::cantFail(
          findPass(getGraphPasses(), pass)->run(function, GraphPassContext()));
    unsigned numAttentions = 0;
    for (Node &node : function.getNodes())
      if (auto *attention = llvm::dyn_cast<AttentionNode>(&node)) {
        ++numAttentions;
        EXPECT_EQ(attention->getCausal(), isCausal) << queries << " " << keys;
      }
    EXPECT_EQ(numAttentions, 1u);
  }
}

/// Scores that are replaced, of which a query may have no others.
TEST(OpenOptimization, ReplacedScores) {
  for (auto [keys, numKeys] : {std::pair("4{M}", 4), {"10{N + 4}", 10}})
    check(makeAttention("3", keys,
                        "%l = Splat() {elemKind = float, shape = [], value = "
                        "-10000.0}\n%m = Select(%k, %s, %l)\n",
                        makeMask(3, numKeys, "true", "false")));
}

/// Queries have no keys in some runs.
TEST(OpenOptimization, AttentionWithoutKeys) {
  for (const char *mask : {"%m = Add(%s, %k)\n", "%m = Mul(%s, %half)\n"})
    check(makeAttention("3", "6{N}", mask,
                        makeMask(3, 6, "0.0", "-1.0") +
                            "constant %half : float<> = [0.5]\n"));
}

//===- Integers -----------------------------------------------------------===//

/// The share of a zero point is known where the depth is.
TEST(OpenOptimization, DepthOfIntegerMatMuls) {
  for (const char *zero : {"0", "3"})
    for (const char *lhs : {"uint8<3x6{N}>", "uint8<6{N}x6>"}) {
      bool isOpen = llvm::StringRef(lhs).contains("3x6");
      ExtentGraph graph = {
          {lhs},
          "%i = Cast(%a) {to = int32}\n" +
              std::string(*zero == '0' ? "%d = Cast(%i) {to = float}\n"
                                       : "%z = Sub(%i, %zero)\n"
                                         "%d = Cast(%z) {to = float}\n") +
              "%x = Mul(%d, %s)\n%v = Cast(%w) {to = float}\n"
              "%u = Mul(%v, %s)\n%r = MatMul(%x, %u)",
          isOpen ? "float<3x4>" : "float<6?{N}x4>",
          "constant %zero : int32<> = [" + std::string(zero) +
              "]\nconstant %s : float<> = [0.25]\n" +
              makeConstant("w", "int8", {6, 4})};
      EXPECT_EQ(count(graph, "recognize-integer-arithmetic",
                      NodeKind::MatMulInteger) > 0,
                !isOpen || *zero == '0');
      if (!isOpen)
        check(graph);
    }
}

//===- Matmuls and slices -------------------------------------------------===//

/// An extent that is always the bound, which no slice keeps.
const std::string always = "2{N//49 + 2}", hidden = "2?{N//49 + 2}";

TEST(OpenOptimization, MergedMatMuls) {
  for (auto [rows, result] :
       {std::pair(std::string("6{N}"), std::string("6?{N}")),
        {always, hidden}}) {
    ExtentGraph graph = {{"float<" + rows + "x5>"},
                         "%b = MatMul(%a, %p)\n%c = MatMul(%a, %q)\n"
                         "%d = Transpose(%b) {permutation = [1, 0]}\n"
                         "%e = Transpose(%c) {permutation = [1, 0]}\n"
                         "%r = Concat(%d, %e) {axis = 0}",
                         "float<7x" + result + ">",
                         makeConstant("p", "float", {5, 4}) +
                             makeConstant("q", "float", {5, 3})};
    check(graph);
    EXPECT_EQ(count(graph, "merge-matmuls", NodeKind::MatMul),
              rows == always ? 2u : 1u);
  }
}

TEST(OpenOptimization, StepsOfSequences) {
  for (auto [rows, result] :
       {std::pair(std::string("6{N}"), std::string("6?{N}")),
        {always, hidden}}) {
    ExtentGraph graph = {
        {"float<2x" + rows + "x5>"},
        "%s = Slice(%a) {starts = [0, 0, 0], sizes = [1, " + result +
            ", 5], steps = [1, 1, 1]}\n"
            "%t = Slice(%a) {starts = [1, 0, 0], sizes = [1, " +
            result +
            ", 5], steps = [1, 1, 1]}\n"
            "%b = MatMul(%s, %p)\n%c = MatMul(%t, %p)\n"
            "%d = Transpose(%b) {permutation = [0, 2, 1]}\n"
            "%e = Transpose(%c) {permutation = [0, 2, 1]}\n"
            "%r = Concat(%d, %e) {axis = 0}",
        "float<2x4x" + result + ">",
        makeConstant("p", "float", {5, 4})};
    check(graph);
    EXPECT_EQ(count(graph, "batch-sequence-matmuls", NodeKind::MatMul), 1u);
  }
}

/// The first token, and all that is needed for it, is computed alone.
TEST(OpenOptimization, SlicedResults) {
  auto first = [](const std::string &input, const std::string &sizes,
                  const std::string &result) {
    return ExtentGraph{{input},
                       "%b = LayerNormalization(%a, none, none) {axis = 2, "
                       "epsilon = 0.1, subtractMean = true}\n"
                       "%c = MatMul(%b, %p)\n%d = Tanh(%c)\n"
                       "%r = Slice(%d) {starts = [0, 0, 0], sizes = [" +
                           sizes + ", 4], steps = [1, 1, 1]}",
                       result,
                       makeConstant("p", "float", {5, 4})};
  };
  for (const ExtentGraph &graph :
       {first("float<4{M}x3x5>", "4?{M}, 1", "float<4?{M}x1x4>"),
        first("float<2x8{N + 2}x5>", "2, 1", "float<2x1x4>"),
        first("float<4{M}x8{N + 2}x5>", "4?{M}, 2", "float<4?{M}x2x4>")}) {
    check(graph);
    auto module = run(graph, "bubble-up-slices");
    Node &node = module->findFunction("main")->getNodes().front();
    EXPECT_TRUE(llvm::isa<SliceNode>(node)) << node.getKindName().str();
  }
}

/// What a window reads behind a part need not be there.
TEST(OpenOptimization, SlicedWindows) {
  for (auto [start, size] : {std::pair("0", "2"), {"0", "1"}, {"2", "6?{N}"}}) {
    bool isRest = llvm::StringRef(size).contains("?");
    ExtentGraph graph = {
        {"float<1x8{N + 2}x4x3>"},
        "%b = Convolution(%a, %p, none) {strides = [1, 1], pads = [1, 1, 1, "
        "1], dilations = [1, 1], group = 1}\n"
        "%r = Slice(%b) {starts = [0, " +
            std::string(start) + ", 0, 0], sizes = [1, " + size +
            ", 4, 2], steps = [1, 1, 1, 1]}",
        "float<1x" + std::string(size) + "x4x2>",
        makeConstant("p", "float", {2, 3, 3, 3})};
    check(graph);
    auto module = run(graph, "bubble-up-slices");
    Node &node = module->findFunction("main")->getNodes().front();
    EXPECT_EQ(llvm::isa<SliceNode>(node), *size == '1' || isRest) << size;
  }
}

/// Bands of rows are of what is computed for the bounds.
TEST(OpenOptimization, Patches) {
  auto module = llvm::cantFail(parseModule(
      makeOpenModule(makeText({{"float<1x8{N + 2}x4x3>"},
                               "%b = Exp(%a)\n%c = Exp(%b)\n%r = Exp(%c)",
                               "float<1x8?{N + 2}x4x3>"})),
      "test", nullptr));
  Function &function = *module->findFunction("main");
  Node &inside = *std::next(function.getNodes().begin());
  EXPECT_TRUE(findPatchPlans(function, inside).empty());
  for (const char *pass : {"lower-extents", "close-extents", "dce"})
    llvm::cantFail(
        findPass(getGraphPasses(), pass)->run(function, GraphPassContext()));
  Node &closed = *std::next(function.getNodes().begin(), 2);
  EXPECT_EQ(closed.getType().str(), "float<1x8x4x3>");
  EXPECT_FALSE(findPatchPlans(function, closed).empty());
}

//===- Branches -----------------------------------------------------------===//

/// The result of a branch has all elements, also where its own nodes declare
/// which ones matter.
TEST(OpenOptimization, InlinedBranches) {
  ExtentGraph graph = {
      {"float<6x3>"},
      "%b = If(%no, %a, %n) {thenBody = body \"t\" (%p : float<6x3>, %m : "
      "int64<>) -> (%q : float<6x3>) {\nSave(%p, %q)\n}, elseBody = body \"e\" "
      "(%s : float<6x3>, %k : int64<>) -> (%u : float<6x3>) {\n"
      "%d = DeclareExtents(%s, %k) {resultType = [float<6{C}x3>], dims = "
      "[0]}\n%e = Exp(%d)\nSave(%e, %u)\n}}\n"
      "%w = Exp(%b)\n%r = Slice(%w) {starts = [0, 0], sizes = [1, 3], steps = "
      "[1, 1]}",
      "float<1x3>",
      "constant %no : bool<> = [false]\nconstant %n : int64<> = [4]\n"};
  auto module = run(graph, "simplify-control");
  Function &function = *module->findFunction("main");
  EXPECT_EQ(getMessage(verify(function)), "");
  EXPECT_TRUE(llvm::none_of(function.getNodes(), [](const Node &node) {
    return llvm::isa<IfNode>(node);
  }));
}

//===- Quantization, half precision, training -----------------------------===//

std::vector<ExtentGraph> makeNetworks() {
  std::string attrs = " {strides = [1, 1], pads = [1, 1, 1, 1], dilations = "
                      "[1, 1], group = 1}\n";
  return {{{"float<4{M}x8{N + 2}x4x3>"},
           "%b = Convolution(%a, %p, %bias)" + attrs +
               "%c = Relu(%b)\n"
               "%d = MaxPool(%c) {kernels = [3, 3], strides = [1, 1], pads = "
               "[1, 1, "
               "1, 1], dilations = [1, 1]}\n"
               "%e = Convolution(%d, %q, none)" +
               attrs +
               "%f = GlobalAvgPool(%e)\n%g = Reshape(%f) {shape = [4?{M}, 4]}\n"
               "%r = MatMul(%g, %w)",
           "float<4?{M}x3>",
           makeConstant("p", "float", {4, 3, 3, 3}) +
               makeConstant("bias", "float", {4}) +
               makeConstant("q", "float", {4, 3, 3, 4}) +
               makeConstant("w", "float", {4, 3})},
          {{"float<2x8{N + 2}x4>"},
           "%b = MatMul(%a, %p)\n%c = MatMul(%a, %q)\n"
           "%d = Attention(%b, %c, %c, none) {scale = 0.5, causal = true}\n"
           "%e = MatMul(%d, %w)\n%f = Add(%e, %a)\n"
           "%r = LayerNormalization(%f, none, none) {axis = 2, epsilon = 0.1, "
           "subtractMean = true}",
           "float<2x8?{N + 2}x4>",
           makeConstant("p", "float", {4, 4}) +
               makeConstant("q", "float", {4, 4}) +
               makeConstant("w", "float", {4, 4})}};
}

ModelGraph parse(const std::string &text) {
  return ModelGraph(llvm::cantFail(parseModule(text, "test", nullptr)));
}

/// Compiles \p graph after \p prepare, and creates a session.
Program compilePrepared(
    ModelGraph graph, bool isCPU,
    llvm::function_ref<llvm::Error(Compilation &compilation, ModelGraph &graph)>
        prepare) {
  Program result;
  result.backend = createBackend(isCPU);
  Compilation compilation(*result.backend, CompilationOptions());
  llvm::cantFail(prepare(compilation, graph));
  EXPECT_EQ(getMessage(verify(graph.getModule())), "");
  result.program = llvm::cantFail(compilation.compile(std::move(graph)));
  result.session = llvm::cantFail(Session::create(*result.program));
  return result;
}

/// Gives \p open and \p fixed the same random inputs and returns by how much
/// their outputs differ, by the largest.
double getError(Program &open, Program &fixed, const ExtentValues &values) {
  llvm::cantFail(setInputs(open, &fixed, values));
  llvm::cantFail(open.session->run());
  llvm::cantFail(fixed.session->run());
  Tensor expected = fixed.session->getOutput(fixed.find("y"));
  Tensor actual = open.session->getOutput(open.find("y"));
  EXPECT_EQ(actual.getType().str(), expected.getType().str());
  double error = 0, largest = 0;
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double difference = actual.getAsDouble(i) - expected.getAsDouble(i);
    if (!std::isfinite(difference))
      return INFINITY;
    error = std::max(error, std::abs(difference));
    largest = std::max(largest, std::abs(expected.getAsDouble(i)));
  }
  return error / largest;
}

const ExtentValues profiled = {{"N", 3}, {"M", 2}};

/// The profile of a run with the values `profiled` of the graphs with \p text,
/// whose inputs \p program has.
RangeProfile profile(const std::string &text, const Program &program) {
  auto backend = createInterpreter();
  auto profiler = llvm::cantFail(
      RangeProfiler::create(*backend, CompilationOptions(), parse(text), 256));
  llvm::cantFail(profiler->run(*program.session));
  return profiler->getProfile();
}

TEST(OpenOptimization, Quantized) {
  for (const ExtentGraph &graph : makeNetworks()) {
    std::string text = makeText(graph);
    Program open = llvm::cantFail(compileOpenGraph(text, symbolRanges, false));
    std::string fixedText = "module \"m\"\n" + makeStatic(text, profiled);
    Program fixed = llvm::cantFail(compileGraph(fixedText, false));
    getError(open, fixed, profiled);
    // What lies beyond the extents is not in it.
    RangeProfile ranges = profile(makeOpenModule(text), open);
    RangeProfile expected = profile(fixedText, fixed);
    EXPECT_EQ(ranges.values.size(), expected.values.size());
    for (const auto &[name, histogram] : expected.values) {
      auto found = ranges.values.find(name);
      ASSERT_NE(found, ranges.values.end()) << name << text;
      EXPECT_NEAR(found->second.getMin(), histogram.getMin(), 1e-5);
      EXPECT_NEAR(found->second.getMax(), histogram.getMax(), 1e-5);
    }
    for (bool isDynamic : {false, true}) {
      auto prepare = [&](Compilation &compilation,
                         ModelGraph &own) -> llvm::Error {
        llvm::cantFail(compilation.prepareQuantization(own));
        if (isDynamic)
          return quantizeDynamically(own.getFunction(), {});
        // A causal mask differs in its size.
        ranges.checksum = getProfileChecksum(own.getFunction());
        return quantize(own.getFunction(), ranges, {});
      };
      std::vector<Program> programs;
      for (bool isCPU : {false, true})
        programs.push_back(
            compilePrepared(parse(makeOpenModule(text)), isCPU, prepare));
      for (int64_t n : {0, 3, 6}) {
        ExtentValues values = {{"N", n}, {"M", n / 2 + 1}};
        Program known = compilePrepared(
            parse("module \"m\"\n" + makeStatic(text, values)), false, prepare);
        for (Program &program : programs)
          EXPECT_LT(getError(program, known, values), 0.01)
              << n << isDynamic << text;
      }
    }
  }
}

/// Rows of a table stay floats where what is gathered can't be reshaped.
TEST(OpenOptimization, QuantizedEmbeddings) {
  for (auto [indices, result] :
       {std::pair("2x4{M}", "2x4?{M}"), {"1{N//6}", "1?{N//6}"}})
    for (ElemKind kind : {ElemKind::Int8, ElemKind::Int4}) {
      auto module = llvm::cantFail(parseModule(
          makeOpenModule(makeText({{"int64<" + std::string(indices) + ">"},
                                   "%r = Gather(%t, %a) {axis = 0}",
                                   "float<" + std::string(result) + "x16>",
                                   makeConstant("t", "float", {5, 16})})),
          "test", nullptr));
      Function &function = *module->findFunction("main");
      size_t numQuantized =
          quantizeEmbeddings(function, {.kind = kind, .block = 8}, {}).size();
      EXPECT_EQ(getMessage(verify(*module)), "");
      EXPECT_EQ(numQuantized, *indices == '2' ? 1u : 0u) << indices;
    }
}

TEST(OpenOptimization, HalfPrecision) {
  for (const ExtentGraph &graph : makeNetworks())
    for (ElemKind kind : {ElemKind::Float16, ElemKind::BFloat16}) {
      std::string text = makeText(graph);
      PrecisionConfig config;
      config.kind = kind;
      Program half = compilePrepared(
          parse(makeOpenModule(text)), /*isCPU=*/true,
          [&](Compilation &compilation, ModelGraph &own) {
            llvm::cantFail(compilation.prepareQuantization(own));
            convertPrecision(own.getFunction(), config);
            return llvm::Error::success();
          });
      for (int64_t n : {0, 3, 6}) {
        ExtentValues values = {{"N", n}, {"M", n / 2 + 1}};
        Program exact =
            llvm::cantFail(compileStaticGraph(text, values, /*isCPU=*/false));
        EXPECT_LT(getError(half, exact, values), 0.1) << n << text;
      }
    }
}

/// Gradients are made of what is computed for the bounds.
TEST(OpenOptimization, PreparedForTraining) {
  for (const ExtentGraph &graph : makeNetworks()) {
    auto backend = createInterpreter();
    Compilation compilation(*backend, CompilationOptions());
    ModelGraph own = llvm::cantFail(
        compilation.prepareTraining(parse(makeOpenModule(makeText(graph)))));
    for (const Node &node : own.getFunction().getNodes())
      if (!llvm::isa<SaveNode>(node))
        EXPECT_FALSE(node.getType().hasExtents()) << node.getName().str();
  }
}

} // namespace
