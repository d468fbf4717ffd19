//===- ModelVariantsTest.cpp - One compilation for several values ---------===//

#include "glowish/Driver/ModelVariants.h"
#include "CPULevels.h"
#include "Messages.h"
#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/Random.h"
#include <gmock/gmock.h>

using namespace glowish;

namespace {

//===- The option's text --------------------------------------------------===//

std::string parse(llvm::StringRef text) {
  auto symbol = parseSymbolValues(text);
  if (!symbol)
    return llvm::toString(symbol.takeError());
  std::string result = symbol->name + ":";
  for (int64_t value : symbol->values)
    result += " " + std::to_string(value);
  if (symbol->range)
    result +=
        llvm::formatv(" {0} to {1}", symbol->range->low, symbol->range->high);
  return result;
}

TEST(SymbolValues, Parse) {
  EXPECT_EQ(parse("N,0"), "N: 0");
  EXPECT_EQ(parse("N,1,8,32"), "N: 1 8 32");
  EXPECT_EQ(parse(" N , 1 , 8"), "N: 1 8");
  EXPECT_EQ(parse("Max(0, n),3"), "Max(0, n): 3");
  EXPECT_EQ(parse("Max(0, n),3,4"), "Max(0, n): 3 4");
  EXPECT_EQ(parse("N,0..2047"), "N: 0 to 2047");
  EXPECT_EQ(parse(" Max(0, n) , 1 .. 8"), "Max(0, n): 1 to 8");
  EXPECT_EQ(parse("N,1,1..64"), "N: 1 1 to 64");
  EXPECT_EQ(parse("Max(0, n),0, 3,0..8"), "Max(0, n): 0 3 0 to 8");
}

TEST(SymbolValues, Malformed) {
  std::string form = "; the form is name,value or name,value,value,...";
  EXPECT_EQ(parse("N"), "there is no value" + form);
  EXPECT_EQ(parse(""), "there is no name" + form);
  EXPECT_EQ(parse(",3"), "there is no name" + form);
  EXPECT_EQ(parse("N,"), "'' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,1.5"), "'1.5' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,1,x"), "'x' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,1,x,8"), "'x' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,99999999999999999999"),
            "'99999999999999999999' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,-1"), "the value -1 is below 0");
  EXPECT_EQ(parse("N,1..x"), "'1..x' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,-1..4"), "the range -1..4 begins below 0");
  EXPECT_EQ(parse("N,4..4"),
            "the range 4..4 has one value; the form is name,low..high");
  EXPECT_EQ(parse("N,4..3"),
            "the range 4..3 is empty; the form is name,low..high");
  EXPECT_EQ(parse("N,0,1"), "the value 0 is below 1");
  EXPECT_EQ(parse("N,1,9,1..8"), "the value 9 is not in the range 1..8");
  EXPECT_EQ(parse("N,2,1,1..8"),
            "1 comes after 2; the values are in ascending order");
  EXPECT_EQ(parse(",1..8"), "'1..8' is not an integer of 64 bits" + form);
  EXPECT_EQ(parse("N,1,8,8"), "the value 8 is there twice");
  EXPECT_EQ(parse("N,1,32,8"),
            "8 comes after 32; the values are in ascending order");
}

//===- Models -------------------------------------------------------------===//

std::string weight(llvm::StringRef name, std::vector<int64_t> shape,
                   uint64_t seed) {
  Random random(seed);
  std::vector<float> values(size_t(countElements(shape)));
  for (float &value : values)
    value = float(random.uniform(-0.3, 0.3));
  return floats(name, std::move(shape), values);
}

/// An MLP over x: [N, 128].
std::string makeMlp() {
  TextModel model;
  model.inputs.clear();
  std::string transposed = intAttr("transB", 1);
  model.body = symbolicInput("x", {"N", "128"}) + weight("w1", {160, 128}, 1) +
               weight("b1", {160}, 2) + weight("w2", {96, 160}, 3) +
               weight("w3", {10, 96}, 4) + weight("b3", {10}, 5) +
               onnxNode("Gemm", {"x", "w1", "b1"}, transposed, "h1") +
               onnxNode("Relu", {"h1"}, "", "r1") +
               onnxNode("Gemm", {"r1", "w2"}, transposed, "h2") +
               onnxNode("Tanh", {"h2"}, "", "r2") +
               onnxNode("Gemm", {"r2", "w3", "b3"}, transposed);
  return model.str();
}

/// A network of convolutions over x: [N, 3, S, S + 1].
std::string makeConvNet() {
  TextModel model;
  model.inputs.clear();
  std::string padded = intsAttr("pads", {1, 1, 1, 1});
  model.body =
      symbolicInput("x", {"N", "3", "S", "S + 1"}) +
      weight("w1", {24, 3, 3, 3}, 1) + weight("b1", {24}, 2) +
      weight("w2", {40, 24, 3, 3}, 3) + weight("d", {40, 1, 3, 3}, 4) +
      weight("w3", {7, 40}, 5) +
      onnxNode("Conv", {"x", "w1", "b1"}, padded, "c1") +
      onnxNode("Relu", {"c1"}, "", "r1") +
      onnxNode("Conv", {"r1", "w2"}, padded, "c2") +
      onnxNode("Conv", {"c2", "d"}, padded + intAttr("group", 40), "c3") +
      onnxNode("GlobalAveragePool", {"c3"}, "", "p") +
      onnxNode("Flatten", {"p"}, "", "f") +
      onnxNode("Gemm", {"f", "w3"}, intAttr("transB", 1));
  return model.str();
}

/// Two of the last convolutions of a network, over x: [N, \p channels, 7, 7].
std::string makeLateLayers(int64_t channels) {
  TextModel model;
  model.inputs.clear();
  std::string padded = intsAttr("pads", {1, 1, 1, 1});
  std::string size = std::to_string(channels);
  model.body = symbolicInput("x", {"N", size, "7", "7"}) +
               weight("w1", {channels, channels, 3, 3}, 1) +
               weight("w2", {channels, channels, 3, 3}, 2) +
               onnxNode("Conv", {"x", "w1"}, padded, "c") +
               onnxNode("Tanh", {"c"}, "", "t") +
               onnxNode("Conv", {"t", "w2"}, padded);
  return model.str();
}

/// Attention over x: [B, T, 16], with a shape that is computed from T.
std::string makeAttention() {
  TextModel model;
  model.inputs.clear();
  std::string swapped = intsAttr("perm", {0, 2, 1});
  model.body =
      symbolicInput("x", {"B", "T", "16"}) + weight("wq", {16, 16}, 1) +
      weight("wk", {16, 16}, 2) + weight("wv", {16, 24}, 3) +
      floats("s", {}, {0.25f}) + int64s("two", {2}) + int64s("last", {-1}) +
      onnxNode("MatMul", {"x", "wq"}, "", "q") +
      onnxNode("MatMul", {"x", "wk"}, "", "k") +
      onnxNode("MatMul", {"x", "wv"}, "", "v") +
      onnxNode("Transpose", {"k"}, swapped, "kt") +
      onnxNode("MatMul", {"q", "kt"}, "", "l") +
      onnxNode("Mul", {"l", "s"}, "", "ls") +
      onnxNode("Softmax", {"ls"}, intAttr("axis", -1), "p") +
      onnxNode("MatMul", {"p", "v"}, "", "a") +
      onnxNode("Shape", {"x"}, "", "shape") +
      onnxNode("Slice", {"shape", "zero", "one"}, "", "batch") +
      int64s("zero", {0}) + int64s("one", {1}) +
      onnxNode("Concat", {"batch", "two", "last"}, intAttr("axis", 0), "to") +
      onnxNode("Reshape", {"a", "to"});
  return model.str();
}

/// A matmul of the rows of x: [B, T, 12] with a softmax over them.
std::string makeRows() {
  TextModel model;
  model.inputs.clear();
  model.body = symbolicInput("x", {"B", "T", "12"}) + weight("w", {12, 10}, 1) +
               onnxNode("MatMul", {"x", "w"}, "", "m") +
               onnxNode("Softmax", {"m"}, intAttr("axis", 1));
  return model.str();
}

/// "x <9x128> 64 ...": names, extents and offsets of the placeholders.
std::string listPlaceholders(const Variant &program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const auto &buffer : program.function->getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable) {
      os << buffer->getModelName() << " <";
      llvm::interleave(buffer->getShape(), os, "x");
      os << "> " << program.plan->getOffset(buffer.get()) << "\n";
    }
  return text;
}

std::string branch(llvm::StringRef name, const std::string &nodes,
                   llvm::StringRef output) {
  return llvm::formatv("attribute {{ name: \"{0}\" type: GRAPH g {{ name: "
                       "\"{0}\" {1} output {{ name: \"{2}\" } } } ",
                       name, nodes, output);
}

/// Matmuls with constants in the branches of an If over x: [N, 24].
std::string makeBranches() {
  TextModel model;
  model.inputs.clear();
  std::string then = onnxNode("MatMul", {"x", "w1"}, "", "t") +
                     onnxNode("Tanh", {"t"}, "", "then_y");
  std::string other = onnxNode("MatMul", {"x", "w2"}, "", "else_y");
  model.body = symbolicInput("x", {"N", "24"}) + weight("w1", {24, 40}, 1) +
               weight("w2", {24, 40}, 2) + weight("w3", {40, 24}, 3) +
               floats("zero", {}, {0}) +
               onnxNode("ReduceSum", {"x"}, intAttr("keepdims", 0), "sum") +
               onnxNode("Greater", {"sum", "zero"}, "", "condition") +
               onnxNode("If", {"condition"},
                        branch("then_branch", then, "then_y") +
                            branch("else_branch", other, "else_y"),
                        "i") +
               onnxNode("MatMul", {"i", "w3"});
  return model.str();
}

using Outputs = std::map<std::vector<int64_t>, Tensor>;

class ModelVariantsTest : public TestFolder {
protected:
  /// Compiles \p text for \p symbols, as far as \p model's options say.
  llvm::Expected<std::optional<CompiledVariants>>
  run(ModelVariants &model, const std::string &text,
      std::vector<SymbolValues> symbols,
      std::map<std::string, int64_t> bound = {}) const {
    put("m.onnxtxt", text);
    ImportOptions options;
    options.symbols = std::move(bound);
    GLOWISH_RETURN_IF_ERROR(
        model.open(in("m.onnxtxt"), options, std::move(symbols)));
    return model.compile();
  }
  CompiledVariants compile(ModelVariants &model, const std::string &text,
                           std::vector<SymbolValues> symbols,
                           std::map<std::string, int64_t> bound = {}) const {
    return std::move(*llvm::cantFail(
        run(model, text, std::move(symbols), std::move(bound))));
  }

  /// y of each variant for x of a fixed seed, the variants sharing a constant
  /// region.
  Outputs run(Backend &backend, const std::string &text,
              std::vector<SymbolValues> symbols,
              std::map<std::string, int64_t> bound = {}) const {
    CompilationOptions options;
    options.verifyEach = true;
    ModelVariants model(backend, options);
    CompiledVariants compiled =
        compile(model, text, std::move(symbols), std::move(bound));
    auto constants =
        std::make_shared<const Tensor>(compiled.makeConstantRegion());
    Variants variants = compiled.getVariants();
    std::vector<std::unique_ptr<Session>> sessions;
    for (const PlannedProgram &program : compiled.getPrograms())
      sessions.push_back(
          llvm::cantFail(Session::create(program, nullptr, constants)));
    Outputs outputs;
    for (auto [variant, session] :
         llvm::zip_equal(variants.programs, sessions)) {
      const Buffer *x = llvm::cantFail(session->findPlaceholder("x"));
      Tensor input(x->getType());
      Random random(7);
      for (float &value : input.data<float>())
        value = float(random.uniform(-1, 1));
      llvm::cantFail(session->setInput(x, input));
      llvm::cantFail(session->run());
      outputs.try_emplace(
          variant.values,
          session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
              .clone());
    }
    return outputs;
  }

  /// y of makeRows() for x of a fixed seed.
  static Tensor runRows(const PlannedProgram &program,
                        std::shared_ptr<const Tensor> constants, int64_t batch,
                        int64_t length) {
    auto session =
        llvm::cantFail(Session::create(program, nullptr, std::move(constants)));
    Tensor input(Type(ElemKind::Float, {batch, length, 12}));
    Random random(7);
    for (float &value : input.data<float>())
      value = float(random.uniform(-1, 1));
    const Buffer *x = llvm::cantFail(session->findPlaceholder("x"));
    llvm::cantFail(session->setInput(x, input));
    llvm::cantFail(session->run());
    const Buffer *y = llvm::cantFail(session->findPlaceholder("y"));
    return session->getOutput(y).clone();
  }

  static void expectNear(const Tensor &actual, const Tensor &expected) {
    ASSERT_EQ(actual.getType(), expected.getType());
    for (int64_t i = 0; i < expected.getNumElements(); ++i)
      ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 2e-5) << i;
  }

  /// Every level of this machine, one of them with each weight packed once, and
  /// the interpreter's own variants, against the interpreter with one value.
  void check(const std::string &text,
             const std::vector<SymbolValues> &symbols) const {
    auto interpreter = createInterpreter();
    Outputs expected;
    for (auto &[values, output] : run(*interpreter, text, symbols)) {
      std::map<std::string, int64_t> bound;
      for (auto [symbol, value] : llvm::zip_equal(symbols, values))
        bound[symbol.name] = value;
      expected.try_emplace(
          values, std::move(run(*interpreter, text, {}, bound).at({})));
      expectNear(output, expected.at(values));
    }
    std::vector<TargetOptions> targets = getLevels();
    targets.push_back(targets.front());
    targets.back().numThreads = 3;
    targets.back().packsWeightsOnce = true;
    for (const TargetOptions &target : targets) {
      auto backend = llvm::cantFail(CPUBackend::create(target));
      Outputs actual = run(*backend, text, symbols);
      ASSERT_EQ(actual.size(), expected.size());
      for (auto &[values, output] : actual)
        expectNear(output, expected.at(values));
    }
  }

  /// Bytes of the constant region for an x86-64 \p cpu.
  uint64_t getWeights(const std::string &text, llvm::StringRef cpu,
                      std::vector<SymbolValues> symbols,
                      std::map<std::string, int64_t> bound = {},
                      bool packsOnce = false) const {
    TargetOptions options;
    options.triple = "x86_64-linux-gnu";
    options.cpu = cpu.str();
    options.packsWeightsOnce = packsOnce;
    auto backend = llvm::cantFail(CPUBackend::create(options));
    ModelVariants model(*backend, {});
    CompiledVariants compiled =
        compile(model, text, std::move(symbols), std::move(bound));
    Variants variants = compiled.getVariants();
    EXPECT_EQ(variants.getConstantSize(),
              uint64_t(compiled.makeConstantRegion().getSizeInBytes()));
    return variants.getConstantSize();
  }
};

//===- Results ------------------------------------------------------------===//

TEST_F(ModelVariantsTest, Mlp) { check(makeMlp(), {{"N", {1, 7, 33}}}); }

TEST_F(ModelVariantsTest, Convolutions) {
  check(makeConvNet(), {{"N", {1, 3}}, {"S", {1, 17}}});
}

TEST_F(ModelVariantsTest, SequenceLength) {
  check(makeAttention(), {{"B", {1, 2}}, {"T", {4, 34}}});
}

TEST_F(ModelVariantsTest, Branches) {
  check(makeBranches(), {{"N", {1, 5, 18}}});
}

TEST_F(ModelVariantsTest, CombinationsInOrder) {
  auto backend = createInterpreter();
  ModelVariants model(*backend, {});
  CompiledVariants compiled =
      compile(model, makeConvNet(), {{"N", {1, 2}}, {"S", {3, 4}}});
  ASSERT_EQ(model.getNumVariants(), 4u);
  EXPECT_EQ(model.describe(0), "N=1, S=3");
  EXPECT_EQ(model.describe(1), "N=1, S=4");
  EXPECT_EQ(model.describe(3), "N=2, S=4");
  EXPECT_EQ(compiled.getVariants().symbols,
            (std::vector<std::string>{"N", "S"}));
  EXPECT_EQ(compiled.getVariants().programs[2].values,
            (std::vector<int64_t>{2, 3}));
}

TEST_F(ModelVariantsTest, OneValueNeedsNoSharing) {
  auto backend = createInterpreter();
  ModelVariants model(*backend, {});
  CompiledVariants compiled = compile(model, makeMlp(), {}, {{"N", 2}});
  EXPECT_FALSE(model.hasSymbols());
  EXPECT_EQ(model.getNumVariants(), 1u);
  EXPECT_TRUE(compiled.getVariants().symbols.empty());
  EXPECT_EQ(compiled.getConstants().getSize(), 0u);
}

TEST_F(ModelVariantsTest, StopsAfterPhases) {
  auto backend = createInterpreter();
  for (Phase phase : {Phase::Import, Phase::Lower, Phase::FitMemory,
                      Phase::IRGen, Phase::OptimizeIR, Phase::Plan}) {
    CompilationOptions options;
    options.stopAfter = phase;
    ModelVariants model(*backend, options);
    EXPECT_EQ(
        llvm::cantFail(run(model, makeMlp(), {{"N", {1, 2}}})).has_value(),
        phase == Phase::Plan);
  }
}

//===- Values of a range --------------------------------------------------===//

TEST_F(ModelVariantsTest, ValuesInARangeShareThePlaceholders) {
  std::vector<SymbolValues> symbols = {{"T", {1, 5}, IntRange{1, 9}},
                                       {"B", {2, 4}}};
  for (bool isCompiled : {false, true}) {
    std::unique_ptr<Backend> backend = createInterpreter();
    if (isCompiled)
      backend = llvm::cantFail(CPUBackend::create({}));
    CompilationOptions options;
    options.verifyEach = true;
    ModelVariants model(*backend, options);
    CompiledVariants compiled = compile(model, makeRows(), symbols);
    Variants variants = compiled.getVariants();
    ASSERT_EQ(model.getNumVariants(), 6u);
    EXPECT_EQ(model.describe(0), "T=1..9, B=2");
    EXPECT_EQ(model.describe(3), "T=1, B=4");
    EXPECT_EQ(variants.symbols, (std::vector<std::string>{"B"}));
    EXPECT_EQ(variants.programs[3].values, (std::vector<int64_t>{4}));
    ASSERT_EQ(variants.programs[3].stated.size(), 1u);
    EXPECT_EQ(variants.programs[3].stated[0].symbol, "T");
    EXPECT_EQ(variants.programs[3].stated[0].value, 1);
    for (const Variant &program : variants.programs) {
      // The first two programs are for the whole range.
      const Variant &all = variants.programs[program.values[0] == 2 ? 0 : 1];
      EXPECT_EQ(listPlaceholders(program), listPlaceholders(all));
    }
    auto constants =
        std::make_shared<const Tensor>(compiled.makeConstantRegion());
    for (size_t i = 2; i < 6; ++i) {
      int64_t length = variants.programs[i].stated[0].value;
      int64_t batch = variants.programs[i].values[0];
      auto own = runRows(compiled.getPrograms()[i], constants, batch, length);
      auto all = runRows(compiled.getPrograms()[batch == 2 ? 0 : 1], constants,
                         batch, length);
      EXPECT_EQ(own.getType(), Type(ElemKind::Float, {batch, length, 10}));
      expectNear(own, all);
    }
  }
}

TEST_F(ModelVariantsTest, ValuesInARangeSelectedByInputs) {
  auto backend = createInterpreter();
  put("m.onnxtxt", makeMlp());
  auto select = [&](std::optional<Dims> dims) {
    ModelVariants model(*backend, {});
    ImportOptions options;
    if (dims)
      options.givenTypes = {{"x", Type(ElemKind::Float, *dims)}};
    llvm::cantFail(
        model.open(in("m.onnxtxt"), options, {{"N", {1, 4}, IntRange{1, 9}}}));
    llvm::cantFail(model.select());
    std::string names;
    for (size_t i = 0; i < model.getNumVariants(); ++i)
      names += (i ? "; " : "") + model.describe(i);
    // The only one of the range has the placeholders of all.
    CompiledVariants compiled = std::move(*llvm::cantFail(model.compile()));
    for (const Variant &program : compiled.getVariants().programs)
      EXPECT_THAT(listPlaceholders(program),
                  testing::HasSubstr("x <9x128> 64"));
    return names;
  };
  EXPECT_EQ(select(Dims{4, 128}), "N=4");
  EXPECT_EQ(select(Dims{5, 128}), "N=1..9");
  EXPECT_EQ(select(std::nullopt), "N=1..9; N=1; N=4");
}

TEST(PlaceholderLayout, OtherPlaceholdersAreRefused) {
  Module whole("whole");
  Type rows(ElemKind::Float, {9, 4});
  whole.createPlaceholder("x", rows, /*isInput=*/true, /*isOutput=*/false);
  whole.createPlaceholder("y", rows, /*isInput=*/false, /*isOutput=*/true);
  PlaceholderLayout layout(whole);
  EXPECT_EQ(llvm::cantFail(layout.findShape("y", {1, 4})), (Dims{9, 4}));
  auto refuse = [&](llvm::StringRef name, DimsRef shape) {
    return getMessage(layout.findShape(name, shape).takeError());
  };
  EXPECT_EQ(refuse("z", {1, 4}),
            "there is no 'z' with the ranges of all symbols");
  std::string accepted = " with single values; accepted: extents that are not "
                         "larger";
  EXPECT_EQ(refuse("y", {4}), "'y' has the extents 9x4 with the ranges of all "
                              "symbols, and 4" +
                                  accepted);
  EXPECT_EQ(refuse("y", {1, 5}), "'y' has the extents 9x4 with the ranges of "
                                 "all symbols, and 1x5" +
                                     accepted);
  EXPECT_EQ(getMessage(layout.check(whole)), "");
  Module other("other");
  other.createPlaceholder("x", rows, /*isInput=*/true, /*isOutput=*/false);
  EXPECT_EQ(getMessage(layout.check(other)),
            "there are 2 inputs and outputs with the ranges of all symbols, "
            "and 1 with single values; accepted: values with which the model "
            "has the same");
  other.createPlaceholder("z", rows, /*isInput=*/false, /*isOutput=*/true);
  EXPECT_EQ(getMessage(layout.check(other)),
            "'y' has the extents 9x4 with the ranges of all symbols, and 'z' "
            "9x4 with single values; accepted: values with which the model has "
            "the same inputs and outputs");
}

TEST_F(ModelVariantsTest, ValuesInARangeNeedTheirOwnRegion) {
  auto backend = createInterpreter();
  CompilationOptions options;
  options.placesIOInArena = true;
  ModelVariants arena(*backend, options);
  EXPECT_EQ(
      getMessage(
          run(arena, makeMlp(), {{"N", {2}, IntRange{2, 3}}}).takeError()),
      "inputs and outputs among the activations lie elsewhere in each "
      "program; accepted with values of their own in the range of a "
      "symbol: those in mutableWeight");
}

//===- Weights ------------------------------------------------------------===//

TEST_F(ModelVariantsTest, WeightsAreShared) {
  for (llvm::StringRef cpu : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    uint64_t mlp = getWeights(makeMlp(), cpu, {}, {{"N", 1}});
    EXPECT_GT(mlp, 4u * (160 * 128 + 96 * 160));
    EXPECT_LT(double(getWeights(makeMlp(), cpu, {{"N", {1, 8, 32}}})),
              1.1 * double(mlp))
        << cpu.str();
    uint64_t net = getWeights(makeConvNet(), cpu, {}, {{"N", 1}, {"S", 32}});
    // Packed for other vectors, 40 columns need other zeros behind them.
    uint64_t branches = getWeights(makeBranches(), cpu, {}, {{"N", 5}});
    EXPECT_LT(double(getWeights(makeBranches(), cpu, {{"N", {4, 5, 6}}})),
              1.5 * double(branches))
        << cpu.str();
    EXPECT_LT(double(getWeights(makeConvNet(), cpu, {{"N", {1, 8, 32}}},
                                {{"S", 32}})),
              1.5 * double(net))
        << cpu.str();
  }
}

// For one image the filters are packed as they are, for several they are
// transformed.
TEST_F(ModelVariantsTest, FiltersArePackedOnce) {
  std::string text = makeLateLayers(128);
  for (llvm::StringRef cpu : {"x86-64-v3", "x86-64-v4"}) {
    uint64_t largest = 0, all = 0;
    std::vector<int64_t> values = {1, 2, 4, 8};
    for (int64_t n : values) {
      uint64_t own = getWeights(text, cpu, {}, {{"N", n}});
      largest = std::max(largest, own);
      all += own;
    }
    uint64_t once =
        getWeights(text, cpu, {{"N", values}}, {}, /*packsOnce=*/true);
    uint64_t shared = getWeights(text, cpu, {{"N", values}});
    EXPECT_LE(once, largest) << cpu.str();
    EXPECT_LE(once, shared) << cpu.str();
    EXPECT_LE(double(shared), 1.05 * double(largest)) << cpu.str();
    EXPECT_LE(2 * shared, all) << cpu.str();
  }
}

TEST_F(ModelVariantsTest, FiltersThatArePackedOnceComputeTheSame) {
  check(makeLateLayers(32), {{"N", {1, 2, 5}}});
}

TEST_F(ModelVariantsTest, InterpreterSharesAllWeights) {
  auto backend = createInterpreter();
  ModelVariants one(*backend, {}), three(*backend, {});
  uint64_t size =
      compile(one, makeMlp(), {}, {{"N", 8}}).getVariants().getConstantSize();
  CompiledVariants compiled = compile(three, makeMlp(), {{"N", {1, 8, 32}}});
  EXPECT_EQ(compiled.getConstants().getSize(), size);
  EXPECT_EQ(compiled.getConstants().getSizeUnshared(), 3 * size);
  std::set<const Tensor *> payloads;
  size_t count = 0;
  for (const PlannedProgram &program : compiled.getPrograms())
    for (const auto &buffer : program.getIR().getBuffers())
      if (buffer->getKind() == Buffer::Kind::Constant) {
        payloads.insert(&buffer->getTensor());
        ++count;
      }
  EXPECT_EQ(payloads.size() * 3, count);
}

//===- Choice -------------------------------------------------------------===//

TEST_F(ModelVariantsTest, SelectsByInputs) {
  auto backend = createInterpreter();
  auto select = [&](Dims dims, ElemKind kind, bool isByName) {
    put("m.onnxtxt", makeConvNet());
    ModelVariants model(*backend, {});
    ImportOptions options;
    if (isByName)
      options.givenTypes = {{"x", Type(kind, dims)}};
    else
      options.givenTypesInOrder = {Type(kind, dims)};
    llvm::cantFail(
        model.open(in("m.onnxtxt"), options, {{"N", {1, 2}}, {"S", {3, 4}}}));
    if (llvm::Error error = model.select())
      return llvm::toString(std::move(error));
    EXPECT_EQ(model.getNumVariants(), 1u);
    return model.describe(0);
  };
  for (bool isByName : {false, true}) {
    EXPECT_EQ(select({2, 3, 3, 4}, ElemKind::Float, isByName), "N=2, S=3");
    EXPECT_EQ(select({1, 3, 4, 5}, ElemKind::Float, isByName), "N=1, S=4");
    EXPECT_EQ(select({3, 3, 4, 5}, ElemKind::Float, isByName),
              "'" + in("m.onnxtxt") +
                  "': no values of the symbolic dimensions are for the given "
                  "inputs; N=1, S=3: input 'x' is float<1x3x3x4>, not "
                  "float<3x3x4x5>; N=1, S=4: input 'x' is float<1x3x4x5>, not "
                  "float<3x3x4x5>; N=2, S=3: input 'x' is float<2x3x3x4>, not "
                  "float<3x3x4x5>; N=2, S=4: input 'x' is float<2x3x4x5>, not "
                  "float<3x3x4x5>");
    EXPECT_NE(select({1, 3, 4, 5}, ElemKind::Double, isByName)
                  .find("not double<1x3x4x5>"),
              std::string::npos);
  }
}

TEST_F(ModelVariantsTest, InputsThatDecideNothing) {
  auto backend = createInterpreter();
  put("m.onnxtxt", makeMlp());
  ModelVariants model(*backend, {});
  ImportOptions options;
  options.givenTypes = {{"z", Type(ElemKind::Float, {3})}};
  llvm::cantFail(model.open(in("m.onnxtxt"), options, {{"N", {1, 2, 5}}}));
  EXPECT_EQ(getMessage(model.select()), "");
  EXPECT_EQ(model.getNumVariants(), 3u);
}

//===- Errors -------------------------------------------------------------===//

TEST_F(ModelVariantsTest, Errors) {
  auto backend = createInterpreter();
  std::string path = in("m.onnxtxt");
  auto error = [&](std::vector<SymbolValues> symbols) {
    ModelVariants model(*backend, {});
    return getMessage(
        run(model, makeConvNet(), std::move(symbols)).takeError());
  };
  EXPECT_EQ(error({{"N", {1, 2}}, {"T", {1, 2}}}),
            "'" + path +
                "': no dimension of an input is 'T', for which several values "
                "are given");
  EXPECT_EQ(error({{"N", {1, 2}}})
                .find("with N=1: '" + path +
                      "': input 'x' has the symbolic dimension 'S'; bind it"),
            0u);
  std::vector<int64_t> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(error({{"N", nine}, {"S", nine}}),
            "the values of the symbolic dimensions have more than 64 "
            "combinations; 64 can be compiled at once");
  ModelVariants text(*backend, {});
  EXPECT_EQ(getMessage(text.open(in("m.graph"), {}, {{"N", {1, 2}}})),
            "'" + in("m.graph") +
                "': several values of 'N' need a model of the format ONNX");
}

TEST_F(ModelVariantsTest, NamesTheValuesThatAreWrong) {
  TextModel text;
  text.inputs.clear();
  text.body = symbolicInput("x", {"N", "4"}) + int64s("to", {2, 6}) +
              onnxNode("Reshape", {"x", "to"});
  auto backend = createInterpreter();
  ModelVariants model(*backend, {});
  std::string message =
      getMessage(run(model, text.str(), {{"N", {3, 5}}}).takeError());
  EXPECT_EQ(
      message.find("with N=5: '" + in("m.onnxtxt") + "': node 'y' (Reshape): "),
      0u)
      << message;
}

} // namespace
