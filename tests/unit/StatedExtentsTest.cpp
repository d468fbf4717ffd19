//===- StatedExtentsTest.cpp - Extents that each run states ---------------===//
//
// A model with ranges for its symbols is compiled once and runs with several
// extents; its outputs are compared with those of the model compiled for each.
//
//===----------------------------------------------------------------------===//

#include "CPULevels.h"
#include "OnnxExtentRuns.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/IR/IRText.h"

using namespace glowish;

namespace {

using Ranges = ExtentRanges;
using Values = ExtentValues;

std::string int64Scalar(llvm::StringRef name, int64_t value) {
  return "initializer { name: \"" + name.str() +
         "\" data_type: 7 int64_data: " + std::to_string(value) + " } ";
}

/// A decoder's attention: x [1, S, 8] sees itself and past [1, P, 8], under a
/// mask [1, P + S]; the scores of later elements are hidden.
TextModel makeDecoder() {
  TextModel model;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"present\" } ";
  Random random(3);
  std::vector<float> weights(8 * 8);
  for (float &weight : weights)
    weight = float(random.uniform(-1, 1));
  std::string swapped = intsAttr("perm", {0, 2, 1});
  model.body =
      symbolicInput("x", {"1", "S", "8"}) +
      symbolicInput("past", {"1", "P", "8"}) +
      symbolicInput("mask", {"1", "P + S"}) + floats("w", {8, 8}, weights) +
      int64s("axis", {1}) + floats("least", {}, {-1e9f}) +
      floats("none", {}, {0}) + int64Scalar("first", 0) +
      int64Scalar("step", 1) + int64s("column", {1}) +
      onnxNode("MatMul", {"x", "w"}, "", "k") +
      onnxNode("Concat", {"past", "k"}, intAttr("axis", 1), "present") +
      onnxNode("Transpose", {"present"}, swapped, "kt") +
      onnxNode("MatMul", {"x", "kt"}, "", "scores") +
      onnxNode("Unsqueeze", {"mask", "axis"}, "", "row") +
      onnxNode("Add", {"scores", "row"}, "", "masked") +
      // Element i of x, which is number P + i, sees the numbers up to its own.
      onnxNode("Shape", {"past"}, "", "pastShape") +
      onnxNode("Gather", {"pastShape", "step"}, "", "p") +
      onnxNode("Shape", {"x"}, "", "shape") +
      onnxNode("Gather", {"shape", "step"}, "", "s") +
      onnxNode("Add", {"p", "s"}, "", "all") +
      onnxNode("Range", {"first", "all", "step"}, "", "keys") +
      onnxNode("Range", {"p", "all", "step"}, "", "queries") +
      onnxNode("Unsqueeze", {"queries", "column"}, "", "rows") +
      onnxNode("Greater", {"keys", "rows"}, "", "isLater") +
      onnxNode("Where", {"isLater", "least", "none"}, "", "causal") +
      onnxNode("Add", {"masked", "causal"}, "", "seen") +
      onnxNode("Softmax", {"seen"}, intAttr("axis", -1), "weights") +
      onnxNode("MatMul", {"weights", "present"});
  return model;
}

TEST(StatedExtents, ADecoderRunsWithAnyOfThem) {
  TextModel model = makeDecoder();
  checkBoth(model, {{"S", {1, 17}}, {"P", {0, 33}}},
            {{{"S", 1}, {"P", 0}},
             {{"S", 17}, {"P", 33}},
             {{"S", 1}, {"P", 7}},
             {{"S", 3}, {"P", 0}},
             {{"S", 7}, {"P", 33}}});
}

TEST(StatedExtents, OneSymbolMayBeConstant) {
  TextModel model = makeDecoder();
  Program ranged = compile(model, /*isCPU=*/true, {{"S", 1}}, {{"P", {2, 9}}});
  EXPECT_EQ(ranged.find("mask")->getInputExtents().dims,
            (ExtentList{std::nullopt, Extent::parse("P + 1")}));
  for (int64_t past : {2, 5, 9}) {
    Values values = {{"S", 1}, {"P", past}};
    Program fixed = compile(model, /*isCPU=*/true, values, {});
    compareRuns(ranged, fixed, values);
  }
}

TEST(StatedExtents, MovesNothingToJoinOrSplitOtherDimensions) {
  TextModel model;
  model.inputs.clear();
  model.body = symbolicInput("x", {"2", "3", "N", "4"}) +
               int64s("joined", {6, -1, 2, 2}) + int64s("axis", {1}) +
               onnxNode("Reshape", {"x", "joined"}, "", "j") +
               onnxNode("ReduceSum", {"j", "axis"});
  ImportOptions options;
  options.symbolRanges = {{"N", {1, 9}}};
  auto module = llvm::cantFail(model.import(options));
  for (const Node &node : module->findFunction("main")->getNodes())
    EXPECT_FALSE(llvm::isa<GatherNode>(node)) << node.getName().str();
  checkBoth(model, {{"N", {1, 9}}}, {{{"N", 1}}, {{"N", 4}}, {{"N", 9}}});
}

/// A layer of a transformer without its attention, for tokens [1, S]: what it
/// computes of each token by itself, and the share of each in a softmax.
TextModel makeLayer() {
  TextModel model;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"share\" } ";
  Random random(5);
  auto weights = [&](llvm::StringRef name, std::vector<int64_t> shape) {
    std::vector<float> values(countElements(shape));
    for (float &value : values)
      value = float(random.uniform(-0.2, 0.2));
    return floats(name, shape, values);
  };
  model.body =
      symbolicInput("x", {"1", "S", "48"}) + weights("w", {48, 200}) +
      weights("v", {200, 48}) + weights("g", {48}) + weights("b", {48}) +
      weights("h", {48, 3}) + floats("none", {}, {0}) +
      int64s("rows", {1, -1}) +
      onnxNode("LayerNormalization", {"x", "g", "b"}, intAttr("axis", 2), "n") +
      onnxNode("MatMul", {"n", "w"}, "", "wide") +
      onnxNode("Gelu", {"wide"}, "", "active") +
      onnxNode("MatMul", {"active", "v"}, "", "narrow") +
      onnxNode("Add", {"narrow", "x"}, "", "sum") +
      onnxNode("Transpose", {"sum"}, intsAttr("perm", {0, 2, 1}), "turned") +
      onnxNode("Tanh", {"turned"}, "", "t") +
      onnxNode("Transpose", {"t"}, intsAttr("perm", {0, 2, 1}), "back") +
      onnxNode("Softmax", {"back"}, intAttr("axis", -1), "y") +
      onnxNode("MatMul", {"sum", "h"}, "", "scores") +
      onnxNode("Softmax", {"scores"}, intAttr("axis", 1), "share");
  model.opset = 20;
  return model;
}

/// How many instructions of \p program compute no more than a run needs.
unsigned countBounded(const Program &program) {
  return unsigned(llvm::count_if(
      program.program->getIR().getInstrs(),
      [](const Instruction &instr) { return !instr.getLoopBounds().empty(); }));
}

/// Compiles \p model, whose symbol is S, for 1 to 70 and all levels of this
/// machine, and for two threads. \p inspect looks at each program, whose runs
/// with \p extents are compared.
void checkLevels(TextModel &model, llvm::ArrayRef<int64_t> extents,
                 llvm::function_ref<void(const Program &)> inspect,
                 bool quantizesActivations = false) {
  std::map<int64_t, Program> fixed;
  for (int64_t extent : extents)
    fixed[extent] = compile(model, /*isCPU=*/true, {{"S", extent}}, {},
                            TargetOptions(), quantizesActivations);
  std::vector<TargetOptions> targets = getLevels();
  targets.emplace_back().numThreads = 2;
  for (const TargetOptions &target : targets) {
    Program ranged = compile(model, /*isCPU=*/true, {}, {{"S", {1, 70}}},
                             target, quantizesActivations);
    inspect(ranged);
    for (auto &[extent, program] : fixed)
      compareRuns(ranged, program, {{"S", extent}});
  }
}

TEST(StatedExtents, LoopsEndWithThem) {
  TextModel model = makeLayer();
  checkLevels(
      model, {1, 2, 3, 4, 5, 7, 8, 10, 13, 15, 17, 33, 64, 69, 70},
      [](const Program &ranged) { EXPECT_GE(countBounded(ranged), 5u); });
}

/// Rows that a run has not are not computed for the one that is taken.
TEST(StatedExtents, RowsThatAreTakenByIndex) {
  for (int64_t index : {0, 2, -1, -2}) {
    TextModel model;
    model.inputs.clear();
    model.body = symbolicInput("x", {"S", "8"}) +
                 floats("w", {8, 2}, std::vector<float>(16, 0.25f)) +
                 int64Scalar("index", index) +
                 onnxNode("MatMul", {"x", "w"}, "", "rows") +
                 onnxNode("Gather", {"rows", "index"});
    checkBoth(model, {{"S", {2, 70}}}, {{{"S", 3}}, {{"S", 8}}, {{"S", 70}}});
    Program program = compile(model, /*isCPU=*/true, {}, {{"S", {2, 70}}});
    for (const Instruction &instr : program.program->getIR().getInstrs())
      EXPECT_FALSE(!instr.isLifetimeMarker() && instr.getLoopBounds().empty() &&
                   llvm::is_contained(instr.getOperand(0)->getShape(), 70))
          << index << " " << instr.getName().str();
  }
}

/// Rows of weights of 4 bits: one needed row, and few, are computed otherwise
/// than many.
TEST(StatedExtents, MatmulsWithWeightsOf4Bits) {
  TextModel model;
  model.inputs.clear();
  Random random(7);
  std::string weights = "initializer { name: \"w\" data_type: 2 dims: 70 "
                        "dims: 3 dims: 8 ";
  for (int i = 0; i < 70 * 3 * 8; ++i)
    weights += "int32_data: " + std::to_string(random.below(256)) + " ";
  std::vector<float> scales(70 * 3);
  for (float &scale : scales)
    scale = float(random.uniform(0.01, 0.02));
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 }";
  model.body =
      symbolicInput("x", {"1", "S", "48"}) + weights + "} " +
      floats("s", {70, 3}, scales) +
      onnxNode("MatMulNBits", {"x", "w", "s"},
               intAttr("K", 48) + intAttr("N", 70) + intAttr("block_size", 16) +
                   intAttr("bits", 4) + "domain: \"com.microsoft\" ");
  for (bool hasIntegers : {false, true})
    checkLevels(
        model, {1, 2, 3, 8, 9, 33, 70},
        [](const Program &ranged) { EXPECT_GE(countBounded(ranged), 1u); },
        hasIntegers);
}

/// The heads of an attention that is not one instruction, as what is quantized
/// in between is not: x [1, S, 48] as \p heads heads, or as one matrix.
TextModel makeSeparateAttention(int64_t heads) {
  TextModel model;
  model.inputs.clear();
  std::string split, v = "x", turn = intsAttr("perm", {0, 2, 1});
  if (heads != 0) {
    split = int64s("shape", {0, 0, heads, 48 / heads}) +
            onnxNode("Reshape", {"x", "shape"}, "", "parts") +
            onnxNode("Transpose", {"parts"}, intsAttr("perm", {0, 2, 1, 3}),
                     "heads");
    v = "heads";
    turn = intsAttr("perm", {0, 1, 3, 2});
  }
  model.body = symbolicInput("x", {"1", "S", "48"}) + split +
               onnxNode("Transpose", {v}, turn, "turned") +
               onnxNode("MatMul", {v, "turned"}, "", "scores") +
               onnxNode("Tanh", {"scores"}, "", "small") +
               onnxNode("Softmax", {"small"}, intAttr("axis", -1), "share") +
               onnxNode("Sqrt", {"share"}, "", "root") +
               onnxNode("MatMul", {"root", v}) +
               onnxNode("ReduceMax", {"y"}, intsAttr("axes", {-1}), "most");
  model.outputs = "output { name: \"y\" } output { name: \"most\" } ";
  return model;
}

/// Scores of tokens that a run does not have are neither computed nor summed,
/// in rows and in columns.
TEST(StatedExtents, SoftmaxesAndMatmulsSumNoMore) {
  for (int64_t heads : {0, 1, 3}) {
    TextModel model = makeSeparateAttention(heads);
    auto inspect = [&](const Program &ranged) {
      unsigned summed = 0;
      for (const Instruction &instr : ranged.program->getIR().getInstrs())
        if (llvm::isa<MatMulInstr, SoftmaxInstr>(instr)) {
          EXPECT_FALSE(instr.getLoopBounds().empty()) << instr.getName().str();
          summed +=
              llvm::any_of(instr.getLoopBounds(), [](const LoopBound &bound) {
                return bound.operand == 1;
              });
        }
      EXPECT_EQ(summed, 2u) << heads;
    };
    checkLevels(model, {1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 69, 70}, inspect);
    checkBoth(model, {{"S", {1, 70}}}, {{{"S", 1}}, {{"S", 9}}, {{"S", 70}}});
  }
}

/// Each instruction of a quantized layer computes the rows that are needed,
/// whichever kernel multiplies its bytes.
TEST(StatedExtents, QuantizedLoopsEndWithThem) {
  Random random(3);
  std::vector<int64_t> weights(30 * 40);
  for (int64_t &weight : weights)
    weight = int64_t(random.below(255)) - 127;
  auto quantize = [](const std::string &from, const std::string &to) {
    return onnxNode("QuantizeLinear", {from, "scale", "zero"}, "", to + "Q") +
           onnxNode("DequantizeLinear", {to + "Q", "scale", "zero"}, "", to);
  };
  for (int type : {2, 3}) { // uint8, int8
    TextModel model;
    model.inputs.clear();
    model.body = symbolicInput("x", {"S", "30"}) +
                 integers("wQ", /*type=*/3, {30, 40}, weights) +
                 floats("scale", {}, {0.02f}) + floats("wScale", {}, {0.005f}) +
                 integers("zero", type, {}, {type == 2 ? 120 : -3}) +
                 onnxNode("DequantizeLinear", {"wQ", "wScale"}, "", "w") +
                 quantize("x", "dx") +
                 onnxNode("MatMul", {"dx", "w"}, "", "m") + quantize("m", "y");
    checkLevels(model, {1, 2, 5, 8, 33, 70}, [](const Program &ranged) {
      // But for the extents of the result, two copies.
      EXPECT_EQ(countBounded(ranged) + 2,
                llvm::count_if(ranged.program->getIR().getInstrs(),
                               [](const Instruction &instr) {
                                 return !instr.isLifetimeMarker();
                               }));
    });
  }
}

/// What is beyond an extent is not in the range that decides a scale.
TEST(StatedExtents, QuantizedMatmulsAndTriangles) {
  TextModel model;
  model.opset = 14;
  model.inputs.clear();
  model.outputs = "output { name: \"y\" } output { name: \"sums\" } "
                  "output { name: \"bytes\" } ";
  model.body =
      symbolicInput("x", {"S", "3"}) +
      integers("w", /*type=*/3, {3, 2}, {-3, 100, 7, 0, -90, 11}) +
      floats("scale", {}, {0.05f}) + integers("zero", /*type=*/3, {}, {5}) +
      "node { op_type: \"DynamicQuantizeLinear\" input: \"x\" output: \"d\" "
      "output: \"dScale\" output: \"dZero\" } " +
      onnxNode("MatMulInteger", {"d", "w", "dZero"}, "", "sums") +
      onnxNode("QuantizeLinear", {"x", "scale", "zero"}, "", "bytes") +
      onnxNode("DequantizeLinear", {"bytes", "scale", "zero"}, "", "floats") +
      onnxNode("Trilu", {"floats"}, intAttr("upper", 0), "lower") +
      onnxNode("EyeLike", {"x"}, "", "eye") +
      onnxNode("Add", {"lower", "eye"}, "", "y");
  checkBoth(model, {{"S", {1, 9}}}, {{{"S", 1}}, {{"S", 2}}, {{"S", 9}}});
}

//===- What a run states --------------------------------------------------===//

Tensor makeExtent(int64_t extent) {
  return Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {extent});
}

Tensor makeFloats(DimsRef shape) {
  return Tensor(Type(ElemKind::Float, shape));
}

TEST(StatedExtents, AreCheckedBeforeARun) {
  TextModel model = makeDecoder();
  for (bool isCPU : {false, true}) {
    Program ranged = compile(model, isCPU, {}, {{"S", {1, 4}}, {"P", {2, 6}}});
    Session &session = *ranged.session;
    const Buffer *x = ranged.find("x"), *past = ranged.find("past"),
                 *mask = ranged.find("mask");
    EXPECT_EQ(getMessage(session.setInput(x, makeFloats({1, 5, 8}))),
              "input 'x' is float<1x5x8>: dimension 1 is S, which is 1 to 4");
    EXPECT_EQ(getMessage(session.setInput(x, makeFloats({1, 0, 8}))),
              "input 'x' is float<1x0x8>: dimension 1 is S, which is 1 to 4");
    EXPECT_EQ(getMessage(session.setInput(x, makeFloats({1, 4, 7}))),
              "input 'x' is float<1x4{S}x8>, "
              "not float<1x4x7>");
    EXPECT_EQ(getMessage(session.setInput(mask, makeFloats({1, 11}))),
              "input 'mask' is float<1x11>: dimension 1 is P + S, which is 3 "
              "to 10");
    llvm::cantFail(session.setInput(x, makeFloats({1, 3, 8})));
    EXPECT_EQ(session.getLargestType(mask).str(), "float<1x9>");
    llvm::cantFail(session.setInput(past, makeFloats({1, 2, 8})));
    EXPECT_EQ(session.getLargestType(mask).str(), "float<1x5>");
    llvm::cantFail(session.setInput(mask, makeFloats({1, 5})));
    EXPECT_EQ(getMessage(session.run()), "");
    Program same = compile(model, isCPU, {}, {{"S", {1, 4}}, {"P", {2, 6}}});
    llvm::cantFail(same.session->copyInputs(session));
    EXPECT_EQ(same.session->getLargestType(same.find("mask")).str(),
              "float<1x5>");
    EXPECT_EQ(getMessage(same.session->run()), "");
    llvm::cantFail(session.setInput(mask, makeFloats({1, 6})));
    EXPECT_EQ(getMessage(session.run()),
              "input 'mask' is float<1x6>: dimension 1 is P + S, and P is 2 in "
              "input 'past', S is 3 in input 'x'");
    EXPECT_EQ(getMessage(session.setInput(past, makeFloats({1, 1, 8}))),
              "input 'past' is float<1x1x8>: dimension 1 is P, which is 2 to "
              "6");
    llvm::cantFail(session.setInput(ranged.find("P"), makeExtent(-1)));
    EXPECT_EQ(getMessage(session.run()),
              "the extent 'P' is -1; accepted: 2 to 6");
  }
}

TEST(StatedExtents, CompiledCodeChecksThemItself) {
  TextModel model = makeDecoder();
  Program ranged =
      compile(model, /*isCPU=*/true, {}, {{"S", {1, 4}}, {"P", {2, 6}}});
  const PlannedProgram &program = *ranged.program;
  auto executable = llvm::cantFail(
      ranged.backend->compile(program.getIR(), program.getPlan(), nullptr));
  const MemoryPlan &plan = program.getPlan();
  auto makeRegion = [](uint64_t size) {
    return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
  };
  Tensor mutables = makeRegion(plan.mutableSize),
         activations = makeRegion(plan.activationSize),
         constants = makeConstantRegion(program.getIR(), plan);
  auto runWith = [&](int64_t s, int64_t p) {
    auto bytes = mutables.data<uint8_t>();
    auto write = [&](llvm::StringRef symbol, int64_t value) {
      std::memcpy(bytes.data() + plan.getOffset(ranged.find(symbol)), &value,
                  sizeof(value));
    };
    std::fill(bytes.begin(), bytes.end(), 0x5A);
    write("S", s);
    write("P", p);
    std::vector<uint8_t> before(bytes.begin(), bytes.end());
    std::string message = getMessage(
        executable->run(constants.data<uint8_t>().data(), bytes.data(),
                        activations.data<uint8_t>().data()));
    EXPECT_EQ(message.empty(), bytes != llvm::ArrayRef<uint8_t>(before));
    return message;
  };
  std::string refused = "the compiled program returned status 6";
  EXPECT_EQ(runWith(1, 2), "");
  EXPECT_EQ(runWith(4, 6), "");
  for (auto [s, p] : {std::pair<int64_t, int64_t>(0, 2),
                      {5, 2},
                      {1, 1},
                      {1, 7},
                      {-1, 2},
                      {1, INT64_MIN},
                      {INT64_MAX, 2}})
    EXPECT_EQ(runWith(s, p), refused) << s << " " << p;
}

//===- Import -------------------------------------------------------------===//

TEST(StatedExtents, TypesHaveTheLargest) {
  TextModel model = makeDecoder();
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 4}}, {"P", {0, 6}}};
  auto module = llvm::cantFail(model.import(options));
  Placeholder *past = module->findPlaceholder("past");
  EXPECT_EQ(past->getType().str(), "float<1x6{P}x8>");
  EXPECT_EQ(module->findPlaceholder("mask")->getType().str(),
            "float<1x10{P + S}>");
  Placeholder *extent = module->findPlaceholder("P");
  ASSERT_TRUE(extent && extent->isInput());
  EXPECT_EQ(extent->getType().str(), "int64<>");
  EXPECT_EQ(extent->getInputExtents().range, (SymbolRange{"P", {0, 6}}));
}

TEST(StatedExtents, NamesOfTheModelComeFirst) {
  TextModel model = oneNode("Neg", {"S"});
  model.inputs.clear();
  model.body += symbolicInput("S", {"S"});
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 4}}};
  auto module = llvm::cantFail(model.import(options));
  EXPECT_EQ(module->findPlaceholder("S")->getType().str(), "float<4{S}>");
  EXPECT_TRUE(module->findPlaceholder("S.extent"));
}

TEST(StatedExtents, ExpressionsThatAreRefused) {
  TextModel model = oneNode("Neg", {"x"});
  model.inputs.clear();
  std::string body = model.body;
  model.body = body + symbolicInput("x", {"N - 3"});
  EXPECT_EQ(importError(model, {{"N", {2, 9}}}),
            "'m': input 'x': the dimension 'N - 3' may be -1; at least 0 is "
            "needed");
  EXPECT_EQ(importError(model, {{"M", {2, 9}}}),
            "'m': no dimension of an input is 'M', for which "
            "«define-symbol» (or «train-define-symbol») gives 2..9; "
            "accepted: 'N', 'N - 3', and symbols in the types that "
            "«model-input=NAME,TYPE,[M,...]» states");
  model.body = body + symbolicInput("x", {"8 // N"});
  EXPECT_EQ(importError(model, {{"N", {0, 9}}}),
            "'m': input 'x': the dimension '8 // N' may divide a negative "
            "number, or not by a positive one");
}

/// Bounds decide what memory there is to be, and what indices are.
TEST(StatedExtents, BoundsThatAreTooLarge) {
  std::string large = "a tensor of kind float and shape 2147483648x2147483648 "
                      "is larger than 1099511627776 bytes";
  IntRange range = {1, int64_t(1) << 31};
  TextModel model;
  model.inputs.clear();
  model.body = symbolicInput("x", {"N", "M"}) + onnxNode("Neg", {"x"});
  EXPECT_EQ(importError(model, {{"N", range}, {"M", range}}),
            "'m': input 'x': " + large);
  // Of results, too.
  model.body = symbolicInput("x", {"N", "4"}) + symbolicInput("z", {"4", "M"}) +
               onnxNode("MatMul", {"x", "z"});
  EXPECT_EQ(importError(model, {{"N", range}, {"M", range}}),
            "'m': node 'y' (MatMul): MatMul 'y': " + large);
}

//===- Text forms ---------------------------------------------------------===//

TEST(StatedExtents, ProgramsHaveThemInTheirText) {
  TextModel model = oneNode("Neg", {"x"});
  model.inputs.clear();
  model.body += symbolicInput("x", {"2", "S + 1"});
  Program ranged = compile(model, /*isCPU=*/false, {}, {{"S", {0, 6}}});
  auto printProgram = [](const IRFunction &function) {
    std::string text;
    llvm::raw_string_ostream os(text);
    printIR(os, function, nullptr);
    return text;
  };
  std::string text = printProgram(ranged.program->getIR());
  EXPECT_NE(text.find("input \"S\" range \"S\" [0, 6]"), std::string::npos);
  EXPECT_NE(text.find("float<2x7{S + 1}> input \"x\""), std::string::npos);
  auto parsed = llvm::cantFail(parseIR(text, "f", nullptr));
  EXPECT_EQ(printProgram(*parsed), text);
  EXPECT_EQ(getMessage(verify(*parsed)), "");
}

} // namespace
