//===- LowerExtentsTest.cpp - Programs of graphs with extents -------------===//
//
// Graphs whose types have extents, compiled once, against the same graphs with
// the values in place of the extents. Elements beyond the extents of inputs are
// NaN or the largest integer.
//
//===----------------------------------------------------------------------===//

#include "ExtentGraphs.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/Optimizer/Passes.h"

using namespace glowish;

namespace {

using Graph = ExtentGraph;

const std::string rows = "float<2x6{N}x5>", sameRows = "float<2x6?{N}x5>";

TEST(LowerExtents, ElementWise) {
  check(node({rows}, "Exp(%a)", sameRows));
  check(node({rows, "float<2x8{N}x5>"}, "Add(%a, %a)", sameRows));
  check(node({rows, "float<6x5>"}, "Mul(%a, %a)", sameRows));
  check(
      node({"bool<6{N}x1>", rows, "float<5>"}, "Select(%a, %b, %c)", sameRows));
  check(node({"int8<6{N}>"}, "Cast(%a) {to = int64}", "int64<6?{N}>"));
}

TEST(LowerExtents, Reductions) {
  for (const char *kind : {"float", "float16", "int64"})
    for (const char *mode : {"sum", "mean", "max", "min", "prod"})
      check(node({std::string(kind) + "<6{N}x4{M}x3>"},
                 "Reduce(%a) {mode = \"" + std::string(mode) +
                     "\", axes = [0, 1], keepDims = false}",
                 std::string(kind) + "<3>"));
  check(node({rows},
             "Reduce(%a) {mode = \"mean\", axes = [2], keepDims = true}",
             "float<2x6?{N}x1>"));
  check(node({"uint8<6{N}x4>"},
             "ReduceInteger(%a) {axes = [0], keepDims = "
             "false}",
             "int32<4>"));
  for (const char *last : {"true", "false"})
    check(node({rows},
               std::string("ArgMax(%a) {axis = 1, keepDims = false, "
                           "selectLast = ") +
                   last + "}",
               "int64<2x5>"));
  for (const char *reverse : {"true", "false"})
    for (const char *exclusive : {"true", "false"})
      check(node({rows},
                 std::string("CumSum(%a) {axis = 1, exclusive = ") + exclusive +
                     ", reverse = " + reverse + "}",
                 sameRows));
  for (const char *kind : {"GlobalAvgPool", "GlobalMaxPool"})
    check(node({"float<2x6{N}x5x4{M}>"}, std::string(kind) + "(%a)",
               "float<2x1x1x4?{M}>"));
}

/// The largest sums of float16 and means of them.
TEST(LowerExtents, MeansDoNotOverflow) {
  check({{"float16<6{N}x3>"},
         "%w = Cast(%a) {to = float}\n"
         "%l = Mul(%w, %w)\n%c = Clip(%w) {low = 60000.0, high = 60001.0}\n"
         "%h = Cast(%c) {to = float16}\n"
         "%r = Reduce(%h) {mode = \"mean\", axes = [0], keepDims = false}",
         "float16<3>"});
}

TEST(LowerExtents, Normalizations) {
  for (int axis : {0, 1, 2})
    for (const char *kind : {"Softmax", "LogSoftmax"})
      check(
          node({rows},
               std::string(kind) + "(%a) {axis = " + std::to_string(axis) + "}",
               sameRows));
  for (const char *subtract : {"true", "false"})
    for (int axis : {1, 2})
      check(node(
          {rows},
          "LayerNormalization(%a, none, none) {axis = " + std::to_string(axis) +
              ", epsilon = 0.1, subtractMean = " + subtract + "}",
          sameRows));
  check(node({"float16<3x6{N}x4>", "float16<4>"},
             "LayerNormalization(%a, %b, none) {axis = 2, epsilon = 0.1, "
             "subtractMean = true}",
             "float16<3x6?{N}x4>"));
  check(node({"float<2x6{N}x4x4{M}>", "float<4>", "float<4>"},
             "GroupNormalization(%a, %b, %c) {axis = 2, groups = 2, epsilon = "
             "0.1}",
             "float<2x6?{N}x4x4?{M}>"));
  check(node({"float<2x6{N}x4{M}>"},
             "LocalResponseNormalization(%a) {size = 3, alpha = 0.5, beta = "
             "0.5, bias = 1.0}",
             "float<2x6?{N}x4?{M}>"));
}

TEST(LowerExtents, MatMuls) {
  check(node({rows, "float<5x3>"}, "MatMul(%a, %b)", "float<2x6?{N}x3>"));
  check(node({"float<2x3x6{N}>", "float<6{N}x4{M}>"}, "MatMul(%a, %b)",
             "float<2x3x4?{M}>"));
  check(node({"uint8<3x6{N}>", "int8<6{N}x4>", "int8<4>"},
             "MatMulInteger(%a, %b, %c)", "int32<3x4>"));
  check(node({"float<4{M}x6{N}>", "float<6{N}x3>", "float<3>"},
             "FullyConnected(%a, %b, %c)", "float<4?{M}x3>"));
  for (const char *mask : {"", "float<4{M}x7{N + 1}>", "float<1x7{N + 1}>"})
    check(node({"float<2x4{M}x3>", "float<2x7{N + 1}x3>", "float<2x7{N + 1}x5>",
                *mask ? mask : "float<1>"},
               std::string("Attention(%a, %b, %c, ") + (*mask ? "%d" : "none") +
                   ") {scale = 0.5, causal = false}",
               "float<2x4?{M}x5>"));
  check(
      node({"float<2x4{M}x3>", "float<2x10{N + M}x3>", "float<2x10{N + M}x5>"},
           "Attention(%a, %b, %c, none) {scale = 0.5, causal = true}",
           "float<2x4?{M}x5>"));
}

TEST(LowerExtents, Windows) {
  std::string attrs =
      "strides = [2, 1], pads = [1, 1, 2, 1], dilations = [1, 1]";
  std::string images = "float<2x7{N + 1}x4{M}x3>";
  std::string height = "5?{N//2 + 2}", width = "4?{M}";
  check(node({images, "float<2x2x3x3>"},
             "Convolution(%a, %b, none) {" + attrs + ", group = 1}",
             "float<2x" + height + "x" + width + "x2>"));
  check(node({"uint8<2x7{N + 1}x4{M}x3>", "int8<2x2x3x3>", "uint8<>"},
             "ConvolutionInteger(%a, %b, %c, none, none) {" + attrs +
                 ", group = 1}",
             "int32<2x" + height + "x" + width + "x2>"));
  std::string result = "float<2x" + height + "x" + width + "x3>";
  check(
      node({images}, "MaxPool(%a) {kernels = [2, 3], " + attrs + "}", result));
  for (const char *count : {"true", "false"})
    check(node({images},
               "AvgPool(%a) {kernels = [2, 3], strides = [2, 1], pads = [1, 1, "
               "1, 1], dilations = [1, 1], countIncludePads = " +
                   std::string(count) + "}",
               "float<2x4?{(N + 1)//2 + 1}x" + width + "x3>"));
  check(node({images, "float<3x3x2x2>"},
             "ConvTranspose(%a, %b, none) {strides = [2, 1], pads = [0, 0, 0, "
             "0], outputPads = [0, 0], dilations = [1, 1], group = 1}",
             "float<2x15?{2*N + 3}x5?{M + 1}x2>"));
  check(node({"float<6{N}x3x2x4{M}>"},
             "Resize(%a) {sizes = [6, 4], scaleH = 2.0, scaleW = 2.0, mode = "
             "\"nearest\", coordinates = \"asymmetric\", nearestMode = "
             "\"floor\"}",
             "float<6?{N}x6x4x4?{M}>"));
  for (std::string mode : {"nearest", "linear"})
    for (std::string coordinates : {"half_pixel", "asymmetric"})
      for (std::string rounding : {"floor", "ceil", "round_prefer_floor"})
        check(node({"float<2x8{N + 2}x4{M}x3>"},
                   "Resize(%a) {sizes = [4?{(N + 2)//2}, 12?{3*M}], scaleH = "
                   "0.5, scaleW = 3.0, mode = \"" +
                       mode + "\", coordinates = \"" + coordinates +
                       "\", nearestMode = \"" + rounding + "\"}",
                   "float<2x4?{(N + 2)//2}x12?{3*M}x3>"));
}

TEST(LowerExtents, DataMovement) {
  check(node({rows, "float<2x4{M}x5>", "float<2x3x5>"},
             "Concat(%a, %b, %c, %a) {axis = 1}",
             "float<2x19?{2*N + M + 3}x5>"));
  check(node({"float<2x5>", "float<4{M}x5>"},
             "Concat(%a, %a, %b, %a, %b) {axis = 0}", "float<14?{6 + 2*M}x5>"));
  check(node({"bool<6{N}>", "bool<4{M}>"}, "Concat(%a, %b) {axis = 0}",
             "bool<10?{N + M}>"));
  check(node({"float<2x8{N + 2}x5>"},
             "Slice(%a) {starts = [0, 1, 4], sizes = [2, 4?{(N + 2)//2}, 3], "
             "steps = [1, 2, -2]}",
             "float<2x4?{(N + 2)//2}x3>"));
  check(node({"float<8{N + 2}>"},
             "Slice(%a) {starts = [1], sizes = [2], steps = [-1]}",
             "float<2>"));
  check(node({"float<6{N}x4{M}x3>"}, "Transpose(%a) {permutation = [2, 0, 1]}",
             "float<3x6?{N}x4?{M}>"));
  check(node({"float<2x6{N}x4>"}, "Reshape(%a) {shape = [2, 12?{2*N}, 2]}",
             "float<2x12?{2*N}x2>"));
  check(node({"float<12{2*N}x1x5>"}, "Reshape(%a) {shape = [6?{N}, 2, 5]}",
             "float<6?{N}x2x5>"));
  check(node({"float<6{N}x0x2>"}, "Reshape(%a) {shape = [1, 6?{N}, 0, 2]}",
             "float<1x6?{N}x0x2>"));
  check(node({"float<0x4x6{N}>"}, "Reshape(%a) {shape = [0, 2, 6?{N}]}",
             "float<0x2x6?{N}>"));
  check(node({"float<6{N}x1>"}, "Broadcast(%a) {shape = [2, 6?{N}, 3]}",
             "float<2x6?{N}x3>"));
  check(
      node({"float<6{N}x3>"}, "Tile(%a) {repeats = [1, 2]}", "float<6?{N}x6>"));
  check(node({"float<6{N}x3x4{M}>"},
             "Pad(%a) {pads = [1, 0, -1, 2, 1, 1], mode = \"constant\", value "
             "= 3.0}",
             "float<9?{N + 3}x4x4?{M}>"));
  check(node({"float<4{M}x3>"},
             "Pad(%a) {pads = [0, 1, 0, 1], mode = \"edge\", value = 0.0}",
             "float<4?{M}x5>"));
  check(node({"float<6{N}x3>"}, "BitCast(%a) {to = int32}", "int32<6?{N}x3>"));
  check(node({"float<6{N}x3>"}, "Dropout(%a) {ratio = 0.5}", "float<6?{N}x3>"));
}

TEST(LowerExtents, Repack) {
  // Elements keep their places, or move.
  for (auto [from, to] :
       {std::pair("float<6{N}x4x4{M}>", "float<24{4*N}x4{M}>"),
        {"float<3x6{N}x4>", "float<3x24{4*N}>"},
        {"float<3x6{N}x4>", "float<18{3*N}x4>"},
        {"float<18{3*N}x4>", "float<3x6{N}x4>"},
        {"float<2x6{N}x4{M}>", "float<12{2*N}x4{M}>"},
        {"float<6{N}x2x4{M}>", "float<12{2*N}x4{M}>"},
        {"float<4{M}x6{N}>", "float<6{N}x4{M}>"},
        {"int64<4{M}x6{N}x1>", "int64<24{N*M}>"}}) {
    // The output has the bounds.
    std::string result = to;
    for (size_t at = 0; (at = result.find('{', at)) != std::string::npos;
         at += 2)
      result.insert(at, "?");
    check(node({from}, std::string("Repack(%a) {resultType = [") + to + "]}",
               result));
  }
}

/// Rows are computed where they are.
TEST(LowerExtents, PackedRows) {
  for (const char *rows :
       {"%f = FullyConnected(%p, %b, %c)", "%f = MatMul(%p, %b)",
        "%e = Tanh(%p)\n%m = MatMul(%e, %b)\n%f = Add(%c, %m)"})
    check({{"float<3x6{N}x4>", "float<4x5>", "float<5>"},
           std::string("%p = Repack(%a) {resultType = [float<18{3*N}x4>]}\n") +
               rows + "\n%r = Repack(%f) {resultType = [float<3x6{N}x5>]}",
           "float<3x6?{N}x5>"});
}

/// They are though a node that nothing uses reads them, too, as in quantized
/// models where the shape alone is read of what is quantized.
TEST(LowerExtents, PackedRowsWithUnusedReader) {
  Graph graph = {{"float<3x6{N}x4>", "float<4x5>"},
                 "%p = Repack(%a) {resultType = [float<18{3*N}x4>]}\n"
                 "%f = MatMul(%p, %b)\n"
                 "%u = Tanh(%f)\n"
                 "%r = Repack(%f) {resultType = [float<3x6{N}x5>]}",
                 "float<3x6?{N}x5>"};
  check(graph);
  auto module = llvm::cantFail(
      parseModule(makeOpenModule(makeText(graph)), "test", nullptr));
  Function *function = module->findFunction("main");
  auto evaluate = [](const Node &) -> llvm::Expected<std::vector<Tensor>> {
    return makeError("there is nothing to fold");
  };
  GraphPassContext context;
  context.evaluate = evaluate;
  llvm::cantFail(runPipeline<Function, GraphPassContext>(
      getOptimizePipeline(), getGraphPasses(), *function, context));
  EXPECT_TRUE(llvm::none_of(function->getNodes(), [](Node &each) {
    return llvm::isa<RepackNode>(each);
  }));
}

/// Indices from the end, and out of range.
TEST(LowerExtents, Indices) {
  for (const char *kind : {"int32", "int64"}) {
    check(node({"float<7{N + 1}x3>", kind + std::string("<5x4{M}>")},
               "Gather(%a, %b) {axis = 0}", "float<5x4?{M}x3>"));
    check(node({"float<3x6{N}>", kind + std::string("<5>")},
               "Gather(%a, %b) {axis = 0}", "float<5x6?{N}>"));
    for (const char *mode : {"replace", "add", "max"}) {
      std::string attrs = std::string(" {mode = \"") + mode + "\"}";
      check(node(
          {"float<7{N + 1}x3>", kind + std::string("<4{M}>"), "float<4{M}x3>"},
          "Scatter(%a, %b, %c)" + attrs, "float<7?{N + 1}x3>"));
      check(node({"float<2x6{N}>", kind + std::string("<5>"), "float<5x6{N}>"},
                 "Scatter(%a, %b, %c)" + attrs, "float<2x6?{N}>"));
    }
    check(node({"float<2x8{N + 2}>", "float<2x2>", kind + std::string("<>")},
               "DynamicUpdateSlice(%a, %b, %c) {axis = 1}",
               "float<2x8?{N + 2}>"));
  }
  for (int start : {-1, 1, 2, 5, 100})
    check({{"float<2x8{N + 2}>", "float<2x2>", "int64<>"},
           "%d = Mul(%c, %c)\n%e = Clip(%d) {low = " + std::to_string(start) +
               ".0, high = " + std::to_string(start) +
               ".0}\n%r = DynamicUpdateSlice(%a, %b, %e) {axis = 1}",
           "float<2x8?{N + 2}>"});
  for (const char *largest : {"true", "false"}) {
    std::string attrs = std::string("largest = ") + largest + "}";
    check(node({"float<4{M}x8{N + 2}>"}, "TopK(%a) {count = 2, " + attrs,
               "int64<4?{M}x2>"));
    // All, of which some are no numbers.
    check({{"float<4{M}x8{N + 2}>"},
           "%b = Sqrt(%a)\n%r = TopK(%b) {count = 8?{N + 2}, " + attrs,
           "int64<4?{M}x8?{N + 2}>"});
    check(node({"int32<9{N + 2}>"}, "TopK(%a) {count = 9?{N + 2}, " + attrs,
               "int64<9?{N + 2}>"));
  }
  check(node({"float<2x6{N}x4>", "int64<2x4{M}x6{N}>", "float<>"},
             "NonMaxSuppression(%a, %b, %c) {count = 3}", "int64<2x4?{M}x3>"));
}

//===- Declared extents ---------------------------------------------------===//

/// Compares \p graph, in which DECLARED(x) has the first C rows of %x [6, 3],
/// with the graph that slices them off. %f [6] has ones, as many as C. %a and
/// %b have the other inputs.
void checkDeclared(const Graph &graph) {
  std::string text = makeText(graph);
  auto replace = [&](llvm::StringRef declared) {
    std::string replaced = text;
    size_t at;
    while ((at = replaced.find("DECLARED(x)")) != std::string::npos)
      replaced.replace(at, 11, declared.str());
    return replaced;
  };
  std::string open = replace(
      "DeclareExtents(%x, %count) {resultType = [float<6{C}x3>], dims = [0]}");
  std::string flags = "placeholder %f : int64<6> input \"f\"\n"
                      "placeholder %x : float<6x3> input \"x\"\n";
  std::string count = "%count = Reduce(%f) {mode = \"sum\", axes = [0], "
                      "keepDims = false}\n";
  size_t begin = open.find("function \"main\" {\n") + 18;
  open.insert(begin, count);
  for (bool isCPU : {false, true}) {
    Program program =
        llvm::cantFail(compileOpenGraph(flags + open, symbolRanges, isCPU));
    for (int64_t c : {0, 1, 4, 6}) {
      ExtentValues values = {{"N", 3}, {"M", 2}, {"C", c}};
      std::string sliced = replace("Slice(%x) {starts = [0, 0], sizes = [" +
                                   std::to_string(c) + ", 3], steps = [1, 1]}");
      Program fixed = llvm::cantFail(
          compileStaticGraph(flags + sliced, values, /*isCPU=*/false));
      auto makeElements = [&](llvm::StringRef name, const Type &type,
                              uint64_t seed, const ExtentValues &) {
        Tensor tensor = makeRandom(type, seed);
        for (int64_t i = 0; name == "f" && i < 6; ++i)
          tensor.setFromDouble(i, i >= 6 - c);
        return tensor;
      };
      compareRuns(program, fixed, values, {makeElements});
    }
  }
}

TEST(LowerExtents, CountedSymbols) {
  checkDeclared({{"float<3>"},
                 "%d = DECLARED(x)\n%e = Exp(%d)\n%s = Add(%e, %a)\n"
                 "%r = Reduce(%s) {mode = \"mean\", axes = [0], keepDims = "
                 "false}",
                 "float<3>"});
  checkDeclared({{"float<4{M}x3>"},
                 "%d = DECLARED(x)\n%e = Concat(%d, %a, %d) {axis = 0}\n"
                 "%r = Reduce(%e) {mode = \"max\", axes = [0], keepDims = "
                 "false}",
                 "float<3>"});
}

/// A value has extents of its own where it is read by another node, too.
TEST(LowerExtents, DeclaredForOneOfTwoReaders) {
  checkDeclared(
      {{"float<3>"},
       "%d = DECLARED(x)\n"
       "%s = Reduce(%d) {mode = \"sum\", axes = [0], keepDims = true}\n"
       "%t = Reduce(%x) {mode = \"sum\", axes = [0], keepDims = true}\n"
       "%p = Softmax(%x) {axis = 0}\n"
       "%u = Add(%s, %p)\n"
       "%r = Mul(%t, %u)",
       "float<6x3>"});
}

//===- Verification -------------------------------------------------------===//

/// A rewrite that loses extents, or makes a node with other ones than its rule
/// infers, is found behind the pass.
TEST(LowerExtents, LostExtentsAreFound) {
  auto module = llvm::cantFail(
      parseModule(makeOpenModule(makeText(node({rows}, "Exp(%a)", sameRows))),
                  "test", nullptr));
  Function *function = module->findFunction("main");
  EXPECT_EQ(getMessage(verify(*function)), "");
  Node &exp = function->getNodes().front();
  EXPECT_EQ(exp.getType().str(), "float<2x6{N}x5>");
  NodeValue rows = exp.getOperand(0);
  Node *closed = function->create<DeclareExtentsNode>(
      "closed", rows, TypeList{rows.getType().withoutExtents()});
  function->moveBefore(closed, &exp);
  exp.setOperand(0, closed->getResult());
  EXPECT_NE(getMessage(verify(*function)).find("float<2x6{N}x5>"),
            std::string::npos);
}

/// The rows of a matmul are moved where few of them lie side by side alone.
TEST(LowerExtents, OrderOfRows) {
  for (auto [input, result, numTransposes] :
       {std::tuple("float<9x6{N}x4>", "float<9x6?{N}x5>", 2u),
        {"float<3x6{N}x4>", "float<3x6?{N}x5>", 0u},
        {"float<6{N}x9x4>", "float<6?{N}x9x5>", 0u}}) {
    Graph graph = node({input, "float<4x5>"}, "MatMul(%a, %b)", result);
    check(graph);
    auto module = llvm::cantFail(
        parseModule(makeOpenModule(makeText(graph)), "test", nullptr));
    Function *function = module->findFunction("main");
    auto *pass = findPass(getGraphPasses(), "arrange-rows");
    EXPECT_EQ(llvm::cantFail(pass->run(*function, GraphPassContext())),
              numTransposes != 0);
    EXPECT_EQ(llvm::count_if(
                  function->getNodes(),
                  [](Node &each) { return llvm::isa<TransposeNode>(each); }),
              numTransposes)
        << input;
  }
}

//===- Graphs of several nodes --------------------------------------------===//

/// Returns a graph of random nodes that keep the type float<2xLENGTHx5>, but
/// for the length.
Graph makeGraph(Random &random) {
  std::string length = "N";
  int64_t bound = 6;
  Graph graph = {{rows, "float<2x4{M}x5>", "float<5x5>"}, "%v0 = Tanh(%a)", ""};
  unsigned last = 0;
  auto append = [&](std::string text) {
    size_t at;
    while ((at = text.find('@')) != std::string::npos)
      text.replace(at, 1, "%v" + std::to_string(last));
    graph.nodes += "\n%v" + std::to_string(++last) + " = " + text;
  };
  for (uint64_t i = 3 + random.below(5); i > 0; --i) {
    unsigned before = last;
    switch (random.below(9)) {
    case 0:
      append("Softmax(@) {axis = 1}");
      break;
    case 1:
      append("Reduce(@) {mode = \"mean\", axes = [1], keepDims = true}");
      append("Sub(%v" + std::to_string(before) + ", @)");
      break;
    case 2:
      if (bound > 60)
        break;
      append("Concat(%b, @) {axis = 1}");
      length += " + M";
      bound += 4;
      break;
    case 3:
      append("MatMul(@, %c)");
      append("Tanh(@)");
      break;
    case 4:
      append("Transpose(@) {permutation = [0, 2, 1]}");
      append("MatMul(%v" + std::to_string(before) + ", @)");
      append("Softmax(@) {axis = 2}");
      append("MatMul(@, %v" + std::to_string(before) + ")");
      break;
    case 5:
      append("Pad(@) {pads = [0, 1, 0, 0, 2, 0], mode = \"constant\", value = "
             "0.5}");
      length = length + " + 3";
      bound += 3;
      break;
    case 6:
      append("Slice(@) {starts = [0, 0, 0], sizes = [2, " +
             std::to_string((bound + 1) / 2) + "?{(" + length +
             " + 1)//2}, 5], steps = [1, 2, 1]}");
      length = "(" + length + " + 1)//2";
      bound = (bound + 1) / 2;
      break;
    case 7:
      append("CumSum(@) {axis = 1, exclusive = false, reverse = true}");
      append("Tanh(@)");
      break;
    default:
      append("LayerNormalization(@, none, none) {axis = 1, epsilon = 0.1, "
             "subtractMean = true}");
      break;
    }
  }
  append("Exp(@)");
  graph.nodes += "\n%r = Neg(%v" + std::to_string(last) + ")";
  graph.result = "float<2x" + std::to_string(bound) + "?{" + length + "}x5>";
  return graph;
}

TEST(LowerExtents, RandomGraphs) {
  Random random(4);
  for (int i = 0; i < 25 && !testing::Test::HasFailure(); ++i)
    check(makeGraph(random));
}

} // namespace
