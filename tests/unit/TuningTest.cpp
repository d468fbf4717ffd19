//===- TuningTest.cpp - Choices that were measured ------------------------===//

#include "Differential.h"
#include "Instrs.h"
#include "Messages.h"
#include "TestFolder.h"
#include "Tuner.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/IR/Instrs.h"
#include "llvm/ADT/StringExtras.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;
using Algorithm = ConvolutionChoice::Algorithm;

namespace {

class Tuning : public TestFolder {
protected:
  /// Compiles y = conv(x) with a 3x3 kernel, x being 1x17x33x7 and y having
  /// 33 channels, and then a product with a matrix, and says how they are
  /// computed.
  std::string compile(CPUBackend &backend) const {
    Compilation compilation(backend, {});
    build(compilation);
    std::string ways;
    for (const Instruction &instr : compilation.getIR().getInstrs())
      if (auto *winograd = llvm::dyn_cast<CPUWinogradConvolutionInstr>(&instr))
        ways += llvm::formatv("winograd {0}x{1};", winograd->getSize()[0],
                              winograd->getSize()[1]);
      else if (auto *direct = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
        ways += llvm::formatv("direct {0}x{1};", direct->getTile()[0],
                              direct->getTile()[1]);
      else if (llvm::isa<CPUSplitConvolutionInstr>(instr))
        ways += "digits;";
    return ways;
  }
  std::string compile(const TargetOptions &options) const {
    return compile(*llvm::cantFail(CPUBackend::create(options)));
  }

  void build(Compilation &compilation) const {
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
    compilation.setModule(std::move(module));
    llvm::cantFail(compilation.run());
  }

  /// The bytes of all files of the bundle.
  std::string compileBundle(const TargetOptions &options,
                            llvm::StringRef name) const {
    auto backend = llvm::cantFail(CPUBackend::create(options));
    Compilation compilation(*backend, {});
    build(compilation);
    BundleOptions bundle;
    bundle.folder = in(name);
    bundle.networkName = bundle.entryName = "net";
    llvm::cantFail(writeBundle(*backend, compilation.getIR(),
                               compilation.getPlan(), bundle));
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

ConvolutionChoice makeChoice(Algorithm algorithm, double cycles) {
  ConvolutionChoice choice;
  choice.algorithm = algorithm;
  choice.cycles = cycles;
  return choice;
}

const std::string key =
    "float 1x9x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 dilation 1x1 "
    "group 1 winograd 0 input dense: ";

} // namespace

TEST_F(Tuning, RoundTrip) {
  const std::string text =
      "glowish-tuning 1\n"
      "aarch64-generic " +
      key + "digits # 7.0 us\n" + "x86_64-v " + key + "direct 14x2\n" +
      "x86_64-v float 1x9x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 "
      "dilation 1x1 group 1 winograd 0 input 441x-49x7x1: winograd 2x4 48 # a "
      "# b\n"
      "x86_64-v float 1x10x7x3 -> 4x7x17 kernel 3x1 stride 2x1 pad 0x0 "
      "dilation 1x1 group 1 winograd 0 input dense: direct 1x1\n";
  auto record = llvm::cantFail(TuningRecord::parse(text, "f"));
  EXPECT_EQ(record.str(), text);
  EXPECT_EQ(llvm::cantFail(TuningRecord::parse(record.str(), "f")).str(), text);
  // Lines in any order, and the last one without its end.
  std::string turned = "glowish-tuning 1\nx86_64-v " + key +
                       "direct 14x2\naarch64-generic " + key +
                       "digits #  7.0 us ";
  EXPECT_EQ(llvm::cantFail(TuningRecord::parse(turned, "f")).str(),
            "glowish-tuning 1\naarch64-generic " + key +
                "digits # 7.0 us\nx86_64-v " + key + "direct 14x2\n");
}

TEST_F(Tuning, Keys) {
  ConvolutionShape shape = {1, 9, 7, 3, 9, 7, 17, 3, 3, 1, 1, 1, 1, 1, 1, 1};
  TuningKey dense(shape, ElemKind::Float, {189, 21, 3, 1}, 4);
  auto isSame = [](const TuningKey &a, const TuningKey &b) {
    return !(a < b) && !(b < a);
  };
  // The stride of a dimension of extent 1 doesn't matter; others do.
  EXPECT_TRUE(
      isSame(dense, TuningKey(shape, ElemKind::Float, {0, 21, 3, 1}, 4)));
  EXPECT_FALSE(
      isSame(dense, TuningKey(shape, ElemKind::Float, {189, 42, 3, 1}, 4)));
  EXPECT_FALSE(
      isSame(dense, TuningKey(shape, ElemKind::Float, {189, 21, 3, 1}, 2)));
  EXPECT_FALSE(
      isSame(dense, TuningKey(shape, ElemKind::Double, {189, 21, 3, 1}, 4)));
  // A limit of what doesn't apply doesn't either.
  shape.strideH = 2;
  shape.outHeight = 5;
  EXPECT_TRUE(isSame(TuningKey(shape, ElemKind::Float, {189, 21, 3, 1}, 4),
                     TuningKey(shape, ElemKind::Float, {189, 21, 3, 1}, 0)));
}

TEST_F(Tuning, Malformed) {
  EXPECT_EQ(getMessage(TuningRecord::parse("", "f")),
            "f:1: '' is not the first line of a tuning file; 'glowish-tuning "
            "1' is");
  EXPECT_THAT(getMessage(TuningRecord::parse("glowish-tuning 2\n", "f")),
              HasSubstr("f:1: 'glowish-tuning 2' is not"));
  EXPECT_EQ(parse("t " + key + "direct 2x1\n"), "");
  EXPECT_EQ(parse("t " + key + "direct 2x1\nt " + key + "digits\n"),
            "the.tuning:3: a line before it has the same target and shape; "
            "each has one line");
  EXPECT_EQ(parse("t " + key + "direct 2"),
            "the.tuning:2: 'direct 2' is not a choice; 'direct "
            "PIXELSxVECTORS', 'winograd HEIGHTxWIDTH BLOCK' and 'digits' are");
  for (const char *choice :
       {"", "direct", "direct 0x1", "direct 2x", "direct -2x1", "direct 2x1x1",
        "direct 4294967296x1", "direct 99999999999999999999x1", "winograd 2x2",
        "winograd 2x2 0", "winograd 2 2 16", "digits 3", "Digits"})
    EXPECT_THAT(parse("t " + key + choice), HasSubstr("is not a choice"))
        << choice;
  for (const char *line :
       {"", " ", "t", "t ", "t float", "# only a note", "t flo 1x9x7x3 -> ",
        "t int8 1x9x7x3 -> 4x7x17", "t float 1x9x7 -> 4x7x17",
        "t float 0x9x7x3 -> 4x7x17", "t float 1x9x7x3x1 -> 4x7x17",
        "t float 99999999999999999999x9x7x3 -> 4x7x17"})
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
    EXPECT_TRUE(llvm::all_of(message, [](char c) { return llvm::isPrint(c); }))
        << message;
    EXPECT_LT(message.size(), 500u);
  }
}

TEST_F(Tuning, Candidates) {
  std::vector<ConvolutionChoice> ranked = {makeChoice(Algorithm::Winograd, 100),
                                           makeChoice(Algorithm::Winograd, 240),
                                           makeChoice(Algorithm::Winograd, 260),
                                           makeChoice(Algorithm::Direct, 390),
                                           makeChoice(Algorithm::Split, 410)};
  std::vector<double> cycles;
  for (const ConvolutionChoice &choice : selectCandidates(ranked))
    cycles.push_back(choice.cycles);
  EXPECT_EQ(cycles, (std::vector<double>{100, 390, 240}));
}

TEST_F(Tuning, ChoosesTheFastest) {
  ConvolutionChoice a = makeChoice(Algorithm::Split, 1),
                    b = makeChoice(Algorithm::Direct, 2);
  EXPECT_EQ(chooseMeasured({{a, 100e-6}, {b, 98e-6}}).choice.algorithm,
            Algorithm::Split);
  TuningRecord::Entry entry = chooseMeasured({{a, 100e-6}, {b, 96e-6}});
  EXPECT_EQ(entry.choice.algorithm, Algorithm::Direct);
  EXPECT_EQ(entry.note, "96.0 us; by estimate digits: 100.0 us");
  EXPECT_EQ(chooseMeasured({{a, 90e-6}, {b, 96e-6}}).note, "90.0 us");
}

TEST_F(Tuning, RecordedChoicesAreTaken) {
  if (!hasVectors())
    GTEST_SKIP() << "there is one way only";
  putChoice("winograd 2x2 16");
  auto target = llvm::cantFail(CPUBackend::create({}))->getTarget();
  ConvolutionShape s = {1, 17, 33, 7, 17, 33, 33, 3, 3, 1, 1, 1, 1, 1, 1, 1};
  std::set<std::string> ways;
  for (const ConvolutionChoice &choice :
       rankConvolutions(s, ElemKind::Float, {3927, 231, 7, 1}, target, 4)) {
    std::string way = describeChoice(choice);
    putChoice(way);
    // Blocks are no part of the instruction's description.
    std::string taken = compile(getOptions());
    EXPECT_EQ(taken.substr(0, taken.find(';')),
              llvm::StringRef(way).starts_with("winograd")
                  ? way.substr(0, way.rfind(' '))
                  : way);
    ways.insert(taken);
  }
  EXPECT_GE(ways.size(), 4u);
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
  // The convolution, the product, and what was there.
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
  Tensor actual = llvm::cantFail(run(*backend, buildConvolution));
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 1e-4) << i;
  EXPECT_THAT(read("tuning"), HasSubstr("3x7x17x33 -> 3x14x17 kernel 5x3"));
}

TEST_F(Tuning, Errors) {
  auto getError = [](const TargetOptions &options) {
    return getMessage(CPUBackend::create(options).takeError());
  };
  EXPECT_THAT(getError(getOptions()), HasSubstr("-tuning-file: cannot read"));
  TargetOptions options;
  options.tune = true;
  EXPECT_EQ(getError(options), "-tune: state where the choices are kept with "
                               "-tuning-file=FILE");
  options = getOptions(/*tune=*/true);
  options.triple = "riscv64-unknown-elf";
  EXPECT_THAT(getError(options), HasSubstr("cannot run code for 'riscv64"));
  options.triple = "x86_64-unknown-linux-gnu";
  options.cpu = "x86-64-v3,x86-64-v4";
  EXPECT_THAT(getError(options), HasSubstr("-tune: code for several levels"));
  EXPECT_TRUE(list().empty());
}
