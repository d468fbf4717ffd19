//===- TuningTest.cpp - Choices that were measured ------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "Messages.h"
#include "TestFolder.h"
#include "Tuning/Tuner.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/Escape.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

class Tuning : public TestFolder {
protected:
  /// Compiles y = conv(x) with a 3x3 kernel, x being 1x17x33x7 and y having
  /// 33 channels, and then a matmul with a constant matrix, and says how they
  /// are computed.
  std::string compile(CPUBackend &backend) const {
    PlannedProgram program = build(backend);
    std::string algorithms;
    for (const Instruction &instr : program.getIR().getInstrs())
      if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
        algorithms += convolution->getAlgorithm().str() + ";";
    return algorithms;
  }
  std::string compile(const TargetOptions &options) const {
    return compile(*llvm::cantFail(CPUBackend::create(options)));
  }

  PlannedProgram build(CPUBackend &backend) const {
    auto module = std::make_unique<Module>("test");
    Function *f = module->createFunction("main");
    ElemKind kind = ElemKind::Float;
    NodeValue x = input(*module, kind, {1, 17, 33, 7});
    NodeValue y =
        f->create<ConvolutionNode>(
             "conv", x, constant(*module, kind, {33, 3, 3, 7}), NodeValue(),
             std::vector<int64_t>{1, 1}, std::vector<int64_t>{1, 1, 1, 1},
             std::vector<int64_t>{1, 1}, int64_t(1))
            ->getResult();
    NodeValue z =
        f->create<MatMulNode>("mm", y, constant(*module, kind, {33, 65}))
            ->getResult();
    Placeholder *output =
        module->createPlaceholder("y", z.getType(), false, true);
    f->create<SaveNode>("save", z, NodeValue(output));
    std::unique_ptr<KernelTuner> tuner = llvm::cantFail(backend.createTuner());
    CompilationOptions options;
    options.tuner = tuner.get();
    return llvm::cantFail(
        Compilation(backend, options).compile(std::move(module)));
  }

  /// The bytes of all files of the bundle.
  std::string compileBundle(const TargetOptions &options,
                            llvm::StringRef name) const {
    auto backend = llvm::cantFail(CPUBackend::create(options));
    PlannedProgram program = build(*backend);
    BundleOptions bundle;
    bundle.folder = in(name);
    bundle.networkName = bundle.entryName = "net";
    llvm::cantFail(
        writeBundle(*backend, program.getIR(), program.getPlan(), bundle));
    std::string bytes;
    for (const std::string &file : list(in(name)))
      bytes += file + read((name + "/" + file).str());
    return bytes;
  }

  /// The host, with a tuning file.
  TargetOptions getOptions(bool tune = false) const {
    TargetOptions options;
    options.tuningFile = in("tuning");
    options.tune = tune;
    return options;
  }
  static std::string getHostTarget() {
    auto backend = llvm::cantFail(CPUBackend::create({}));
    return getTuningTarget(backend->getTargetMachine().getTargetTriple(),
                           backend->getTarget());
  }
  /// A file with \p choice for the convolution on this machine.
  void putChoice(const std::string &choice) const {
    put("tuning",
        "glowish-tuning 1\n" + getHostTarget() + shape + choice + "\n");
  }
  static bool hasVectors() {
    return llvm::cantFail(CPUBackend::create({}))->getTarget().vectorBits > 0;
  }

  static constexpr const char *shape =
      " float 1x17x33x7 -> 17x33x33 kernel 3x3 stride 1x1 pad 1x1 dilation 1x1 "
      "group 1 winograd 4 input dense: ";
};

/// \p lines under the first line.
std::string parse(const std::string &lines) {
  return getMessage(
      TuningRecord::parse("glowish-tuning 1\n" + lines, "the.tuning"));
}

ConvolutionCandidate makeCandidate(llvm::StringRef text, double cycles) {
  ConvolutionCandidate candidate = *ConvolutionCandidate::parse(text);
  candidate.cycles = cycles;
  return candidate;
}

const std::string key =
    "float 1x9x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 dilation 1x1 "
    "group 1 winograd 0 input dense: ";

} // namespace

TEST_F(Tuning, RoundTrip) {
  const std::string text =
      "glowish-tuning 1\n"
      "aarch64-generic " +
      key + "int8-slices # 7.0 us\n" + "x86_64-v " + key + "direct 14x2\n" +
      "x86_64-v float 1x9x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 "
      "dilation 1x1 group 1 winograd 0 input 441x-49x7x1: winograd 2x4 48 # a "
      "# b\n"
      "x86_64-v float 1x10x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 "
      "dilation 1x1 group 1 winograd 0 input dense: direct 1x1\n";
  auto record = llvm::cantFail(TuningRecord::parse(text, "f"));
  EXPECT_EQ(record.str(), text);
  EXPECT_EQ(llvm::cantFail(TuningRecord::parse(record.str(), "f")).str(), text);
  // Lines in any order, the last one without its end.
  std::string reordered = "glowish-tuning 1\nx86_64-v " + key +
                          "direct 14x2\naarch64-generic " + key +
                          "int8-slices #  7.0 us ";
  EXPECT_EQ(llvm::cantFail(TuningRecord::parse(reordered, "f")).str(),
            "glowish-tuning 1\naarch64-generic " + key +
                "int8-slices # 7.0 us\nx86_64-v " + key + "direct 14x2\n");
}

TEST_F(Tuning, Keys) {
  ConvolutionShape shape = ConvolutionShape::get(
      {1, 9, 7, 3}, {1, 9, 7, 17}, {3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1);
  auto makeKey = [&](ElemKind kind, Dims strides, int64_t maxWinograd) {
    return TuningKey({shape, kind, strides}, maxWinograd);
  };
  TuningKey dense = makeKey(ElemKind::Float, {189, 21, 3, 1}, 4);
  auto isSame = [](const TuningKey &a, const TuningKey &b) {
    return !(a < b) && !(b < a);
  };
  // The stride of a dimension of extent 1 doesn't matter; others do.
  EXPECT_TRUE(isSame(dense, makeKey(ElemKind::Float, {0, 21, 3, 1}, 4)));
  EXPECT_FALSE(isSame(dense, makeKey(ElemKind::Float, {189, 42, 3, 1}, 4)));
  EXPECT_FALSE(isSame(dense, makeKey(ElemKind::Float, {189, 21, 3, 1}, 2)));
  EXPECT_FALSE(isSame(dense, makeKey(ElemKind::Double, {189, 21, 3, 1}, 4)));
  // A limit of what doesn't apply doesn't either.
  shape.strideH = 2;
  shape.outHeight = 5;
  EXPECT_TRUE(isSame(makeKey(ElemKind::Float, {189, 21, 3, 1}, 4),
                     makeKey(ElemKind::Float, {189, 21, 3, 1}, 0)));
}

TEST_F(Tuning, Malformed) {
  EXPECT_EQ(getMessage(TuningRecord::parse("", "f")),
            "f:1: '' is not the first line of a tuning file; 'glowish-tuning "
            "1' is");
  EXPECT_THAT(getMessage(TuningRecord::parse("glowish-tuning 2\n", "f")),
              HasSubstr("f:1: 'glowish-tuning 2' is not"));
  EXPECT_EQ(parse("t " + key + "direct 2x1\n"), "");
  EXPECT_EQ(parse("t " + key + "direct 2x1\nt " + key + "int8-slices\n"),
            "the.tuning:3: a line before it has the same target and shape; "
            "each has one line");
  EXPECT_EQ(parse("t " + key + "direct 2"),
            "the.tuning:2: 'direct 2' is not a choice; " +
                ConvolutionCandidate::listForms() + " are");
  for (const char *choice :
       {"", "direct", "direct 0x1", "direct 2x", "direct -2x1", "direct 2x1x1",
        "direct 4294967296x1", "direct 99999999999999999999x1", "winograd 2x2",
        "winograd 2x2 0", "winograd 2 2 16", "int8-slices 3", "Int8-slices"})
    EXPECT_THAT(parse("t " + key + choice), HasSubstr("is not a choice"))
        << choice;
  for (const char *line :
       {"", " ", "t", "t ", "t float", "# only a note", "t flo 1x9x7x3 -> ",
        "t int8 1x9x7x3 -> 4x7x17", "t float 1x9x7 -> 4x7x17",
        "t float 0x9x7x3 -> 4x7x17", "t float 1x9x7x3x1 -> 4x7x17",
        "t float 99999999999999999999x9x7x3 -> 4x7x17",
        "t float 1x8888888888888888832x7x32 -> 9x7x48 kernel 3x3 stride 1x1 "
        "pad 1x1 dilation 1x1 group 1 winograd 4 input dense: direct 5x2"})
    EXPECT_THAT(parse(std::string(line) + "\n"),
                HasSubstr("the.tuning:2: '" + std::string(line).substr(0, 40)))
        << line;
}

TEST_F(Tuning, MalformedBytes) {
  const std::string text =
      "glowish-tuning 1\nx86_64-v " + key + "winograd 2x4 48 # a note\n";
  for (size_t size = 0; size < text.size(); ++size)
    llvm::consumeError(
        TuningRecord::parse(llvm::StringRef(text).take_front(size), "f")
            .takeError());
  Random random(5);
  for (unsigned i = 0; i < 5000; ++i) {
    std::string changed = text;
    for (unsigned k = 0; k <= i % 3; ++k)
      changed[random.below(changed.size())] = char(random.below(256));
    auto record = TuningRecord::parse(changed, "f");
    if (record) {
      // What is accepted can be written and read again.
      std::string again = record->str();
      EXPECT_EQ(llvm::cantFail(TuningRecord::parse(again, "f")).str(), again);
      continue;
    }
    std::string message = getMessage(record.takeError());
    EXPECT_EQ(escapeControls(message), message);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 500u);
  }
}

TEST_F(Tuning, Candidates) {
  std::vector<ConvolutionCandidate> ranked = {
      makeCandidate("winograd 4x4 32", 100),
      makeCandidate("winograd 4x4 32", 240),
      makeCandidate("winograd 4x4 32", 260), makeCandidate("direct 6x2", 390),
      makeCandidate("int8-slices", 410)};
  std::vector<double> cycles;
  for (const ConvolutionCandidate &candidate : selectCandidates(ranked))
    cycles.push_back(candidate.cycles);
  EXPECT_EQ(cycles, (std::vector<double>{100, 390, 240}));
}

TEST_F(Tuning, ChoosesTheFastest) {
  ConvolutionCandidate a = makeCandidate("int8-slices", 1),
                       b = *ConvolutionCandidate::parse("direct 6x2");
  EXPECT_EQ(chooseMeasured({{a, 100e-6}, {b, 98e-6}}).candidate.str(),
            "int8-slices");
  TuningRecord::Entry entry = chooseMeasured({{a, 100e-6}, {b, 96e-6}});
  EXPECT_EQ(entry.candidate.str(), "direct 6x2");
  EXPECT_EQ(entry.note, "96.0 us; by estimate int8-slices: 100.0 us");
  EXPECT_EQ(chooseMeasured({{a, 90e-6}, {b, 96e-6}}).note, "90.0 us");
}

/// What each algorithm writes is read back.
TEST_F(Tuning, TextOfCandidates) {
  for (const char *text :
       {"direct 14x2", "depthwise", "winograd 4x1 32", "int8-slices"}) {
    auto candidate = ConvolutionCandidate::parse(text);
    ASSERT_TRUE(candidate) << text;
    EXPECT_EQ(candidate->str(), text);
  }
}

TEST_F(Tuning, RecordedChoicesAreTaken) {
  if (!hasVectors())
    GTEST_SKIP() << "there is one candidate only";
  auto target = llvm::cantFail(CPUBackend::create({}))->getTarget();
  ConvolutionProblem problem = {
      .shape = ConvolutionShape::get({1, 17, 33, 7}, {1, 17, 33, 33}, {3, 3},
                                     {1, 1}, {1, 1, 1, 1}, {1, 1}, 1),
      .inputStrides = {3927, 231, 7, 1}};
  std::set<std::string> algorithms;
  for (const ConvolutionCandidate &candidate :
       rankCandidates(problem, target, /*maxWinograd=*/4)) {
    putChoice(candidate.str());
    std::string taken = compile(getOptions());
    EXPECT_EQ(taken.substr(0, taken.find(';')), candidate.str());
    algorithms.insert(taken);
  }
  EXPECT_GE(algorithms.size(), 4u);
}

TEST_F(Tuning, ChoicesThatDoNotApply) {
  std::string estimated = compile(TargetOptions());
  for (const char *choice :
       {"direct 13x7", "winograd 3x3 16", "winograd 2x2 4000000000"}) {
    putChoice(choice);
    EXPECT_EQ(compile(getOptions()), estimated) << choice;
  }
  // For another limit nothing is recorded.
  putChoice("winograd 2x2 48");
  TargetOptions options = getOptions();
  options.winograd = WinogradLimit::None;
  TargetOptions plain;
  plain.winograd = WinogradLimit::None;
  EXPECT_EQ(compile(options), compile(plain));
}

TEST_F(Tuning, MeasuresOnce) {
  const std::string other = "zz-other " + key + "direct 3x1 # theirs\n";
  put("tuning", "glowish-tuning 1\n" + other);
  std::string first = compileBundle(getOptions(/*tune=*/true), "first");
  std::string file = read("tuning");
  // The convolution, the matmul, and what was there.
  EXPECT_EQ(llvm::StringRef(file).count('\n'), 4u) << file;
  EXPECT_THAT(file, HasSubstr(getHostTarget() + shape));
  EXPECT_THAT(file, HasSubstr(" 1x17x33x33 -> 17x33x65 kernel 1x1 "));
  EXPECT_THAT(file, HasSubstr(other));
  EXPECT_EQ(llvm::cantFail(TuningRecord::parse(file, "f")).str(), file);
  // Times would differ if anything was measured again.
  std::string second = compileBundle(getOptions(/*tune=*/true), "second");
  EXPECT_EQ(read("tuning"), file);
  std::string third = compileBundle(getOptions(), "third");
  EXPECT_EQ(second, first);
  EXPECT_EQ(third, first);
  EXPECT_EQ(list(),
            (std::vector<std::string>{"first", "second", "third", "tuning"}));
}

TEST_F(Tuning, StaleChoicesAreMeasuredAgain) {
  putChoice("direct 13x7 # stale");
  compile(getOptions(/*tune=*/true));
  EXPECT_EQ(read("tuning").find("stale"), std::string::npos);
  EXPECT_THAT(read("tuning"), HasSubstr(shape));
}

/// The choice is by measurement; the results are what the interpreter says.
TEST_F(Tuning, ResultsAreRight) {
  auto buildConvolution = [](Function &f, Module &m) {
    ElemKind kind = ElemKind::Float;
    NodeValue x = input(m, kind, {3, 7, 17, 33});
    NodeValue y = f.create<ConvolutionNode>(
                       "conv", x, constant(m, kind, {17, 5, 3, 33}),
                       constant(m, kind, {17}), std::vector<int64_t>{2, 1},
                       std::vector<int64_t>{2, 0, 1, 1},
                       std::vector<int64_t>{1, 2}, int64_t(1))
                      ->getResult();
    return f.create<TanhNode>("tanh", y)->getResult();
  };
  Tensor expected = llvm::cantFail(run(*createInterpreter(), buildConvolution));
  auto backend = llvm::cantFail(CPUBackend::create(getOptions(/*tune=*/true)));
  auto tuner = llvm::cantFail(backend->createTuner());
  Tensor actual = llvm::cantFail(run(*backend, buildConvolution, tuner.get()));
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 1e-4) << i;
  EXPECT_THAT(read("tuning"), HasSubstr("3x7x17x33 -> 3x14x17 kernel 5x3"));
}

/// Kernels of bytes, for filters that int8 has and for others.
TEST_F(Tuning, Bytes) {
  if (!hasVectors())
    GTEST_SKIP() << "there is one candidate only";
  for (bool isWide : {false, true}) {
    auto buildConvolution = [&](Function &f, Module &m) {
      Type type(ElemKind::UInt8, {17, 3, 3, 8});
      Tensor filter = makeRandom(type, 3);
      filter.setFromDouble(0, isWide ? 200 : 100);
      NodeValue x = input(m, ElemKind::UInt8, {1, 9, 7, 8});
      return f
          .create<ConvolutionIntegerNode>(
              "conv", x, NodeValue(m.createConstant("w", std::move(filter))),
              NodeValue(), NodeValue(), NodeValue(), std::vector<int64_t>{1, 1},
              std::vector<int64_t>{1, 1, 1, 1}, std::vector<int64_t>{1, 1},
              int64_t(1))
          ->getResult();
    };
    Tensor expected =
        llvm::cantFail(run(*createInterpreter(), buildConvolution));
    auto backend =
        llvm::cantFail(CPUBackend::create(getOptions(/*tune=*/true)));
    auto tuner = llvm::cantFail(backend->createTuner());
    Tensor actual =
        llvm::cantFail(run(*backend, buildConvolution, tuner.get()));
    EXPECT_EQ(actual.getByteRange(), expected.getByteRange());
    std::string file = read("tuning");
    EXPECT_THAT(file,
                HasSubstr(std::string(isWide ? " uint8xint16" : " uint8xint8") +
                          " 1x9x7x8 -> 9x7x17 kernel 3x3"));
    EXPECT_EQ(llvm::cantFail(TuningRecord::parse(file, "f")).str(), file);
    // Nothing is left to measure.
    llvm::cantFail(run(*llvm::cantFail(CPUBackend::create(getOptions(true))),
                       buildConvolution, tuner.get()));
    EXPECT_EQ(read("tuning"), file);
  }
}

TEST_F(Tuning, Errors) {
  auto getError = [](const TargetOptions &options) {
    auto backend = CPUBackend::create(options);
    return backend ? getMessage((*backend)->createTuner())
                   : getMessage(backend.takeError());
  };
  EXPECT_THAT(getError(getOptions()), HasSubstr("«tuning-file»: cannot read"));
  TargetOptions options;
  options.tune = true;
  EXPECT_EQ(getError(options), "«tune»: state where the choices are kept with "
                               "«tuning-file=FILE»");
  options = getOptions(/*tune=*/true);
  options.triple = "riscv64-unknown-elf";
  EXPECT_THAT(getError(options), HasSubstr("cannot run code for 'riscv64"));
  options.triple = "x86_64-unknown-linux-gnu";
  options.cpu = "x86-64-v3,x86-64-v4";
  EXPECT_THAT(getError(options), HasSubstr("«tune»: code for several levels"));
  EXPECT_TRUE(list().empty());
}
