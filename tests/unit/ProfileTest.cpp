//===- ProfileTest.cpp - Times of the instructions of a run ---------------===//

#include "glowish/Driver/Profile.h"
#include "OnnxText.h"
#include "TestFolder.h"
#include "glowish/Backends/CPU/PeakRate.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Support/File.h"
#include "llvm/Support/JSON.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace glowish;

namespace {

/// y = softmax(x * w), and its profile over some runs.
class Profiled {
public:
  explicit Profiled(Backend &backend, unsigned numRuns = 3) {
    auto module = std::make_unique<Module>("test");
    Function *function = module->createFunction("main");
    Type type(ElemKind::Float, {33, 17});
    auto *x = module->createPlaceholder("x", type, true, false);
    auto *y = module->createPlaceholder("y", type, false, true);
    auto *w =
        module->createConstant("w", Tensor(Type(ElemKind::Float, {17, 17})));
    auto *matMul = function->create<MatMulNode>("a \"matmul\"", NodeValue(x),
                                                NodeValue(w));
    auto *softmax = function->create<SoftmaxNode>("soft", matMul, 1);
    function->create<SaveNode>("save", softmax, NodeValue(y));
    Compilation compilation(backend, CompilationOptions());
    program = llvm::cantFail(compilation.compile(std::move(module)));
    session = llvm::cantFail(Session::create(*program, &clock));
    profile = llvm::cantFail(
        measureProfile(*session, *program, clock, numRuns, /*peakRate=*/1e9));
  }

  InstrClock clock;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
  Profile profile;
};

std::unique_ptr<CPUBackend> createCPU() {
  return llvm::cantFail(CPUBackend::create(TargetOptions()));
}

void checkRows(Profiled &profiled) {
  const Profile &profile = profiled.profile;
  std::vector<const Instruction *> expected, actual;
  for (const Instruction &instr : profiled.program->getIR().getInstrs())
    if (!instr.isLifetimeMarker())
      expected.push_back(&instr);
  for (const Profile::Row &row : profile.rows) {
    actual.push_back(row.instr);
    EXPECT_GT(row.seconds, 0);
  }
  EXPECT_GE(expected.size(), 2u);
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(profile.getCost().flops, 2 * 33 * 17 * 17);
  EXPECT_GT(profile.runSeconds, 0);
  EXPECT_EQ(profile.numRuns, 3u);
}

TEST(Profile, CompiledCode) {
  auto backend = createCPU();
  Profiled profiled(*backend);
  checkRows(profiled);
}

TEST(Profile, Interpreter) {
  auto backend = createInterpreter();
  Profiled profiled(*backend);
  checkRows(profiled);
}

TEST(Profile, RunsAtLeastOnce) {
  auto backend = createInterpreter();
  EXPECT_EQ(Profiled(*backend, 0).profile.numRuns, 1u);
}

TEST(Profile, UntimedCodeCallsNothing) {
  auto backend = createCPU();
  Profiled profiled(*backend);
  llvm::LLVMContext context;
  const PlannedProgram &program = *profiled.program;
  auto emit = [&](bool isTimed) {
    return llvm::cantFail(backend->emitModule(context, program.getIR(),
                                              program.getPlan(), "f",
                                              {.isTimed = isTimed}));
  };
  EXPECT_FALSE(emit(false)->getFunction("glowish_mark"));
  EXPECT_TRUE(emit(true)->getFunction("glowish_mark"));
}

TEST(Profile, TableBeginsWithTheSlowest) {
  auto backend = createInterpreter();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  for (Profile::Row &row : profile.rows)
    row.seconds = llvm::isa<SoftmaxInstr>(row.instr) ? 3e-6 : 1e-6;
  std::string text;
  llvm::raw_string_ostream os(text);
  printProfile(os, profile);
  size_t softmax = text.find("Softmax float<33x17> \"soft\"");
  size_t matMul = text.find("MatMul float<33x17> \"a \\\"matmul\\\"\"");
  ASSERT_NE(matMul, std::string::npos) << text;
  EXPECT_LT(softmax, matMul) << text;
  // 19074 operations in a microsecond, of 1000 possible.
  EXPECT_THAT(text, testing::HasSubstr("     0.019     19.1 1907.4"));
}

/// A core of 1 GFLOP/s with a cache of \p cacheBytes, and memory that is read
/// at \p memoryRate.
MachineLimits makeLimits(uint64_t cacheBytes, double memoryRate) {
  return {.peakRate = 1e9,
          .levels = {{.bytes = cacheBytes, .readRate = 1e12},
                     {.bytes = 0, .readRate = memoryRate}}};
}

TEST(Profile, RooflineOfArithmetic) {
  auto backend = createCPU();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  addRoofline(profile, *profiled.program, makeLimits(1 << 20, 1e12));
  double sum = 0;
  for (const Profile::Row &row : profile.rows) {
    EXPECT_EQ(row.bound, 0u);
    EXPECT_EQ(row.operations, backend->countOperations(*row.inRun));
    EXPECT_DOUBLE_EQ(row.rooflineSeconds, 1e-9 * row.operations);
    EXPECT_EQ(row.bytes.back(), 0);
    sum += row.rooflineSeconds;
  }
  // The softmax computes, too.
  EXPECT_GT(sum, 1e-9 * (2 * 33 * 17 * 17 + 33 * 17 * 20));
  EXPECT_DOUBLE_EQ(profile.getRooflineSeconds(), sum);
}

TEST(Profile, RooflineOfMemory) {
  auto backend = createCPU();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  addRoofline(profile, *profiled.program, makeLimits(/*cacheBytes=*/1, 1e6));
  for (const Profile::Row &row : profile.rows) {
    EXPECT_EQ(row.bound, 2u);
    EXPECT_DOUBLE_EQ(row.bytes[0] + row.bytes[1], row.cost.bytes);
    EXPECT_DOUBLE_EQ(row.rooflineSeconds, 1e-6 * row.bytes[1]);
  }
}

TEST(Profile, TableWithRoofline) {
  auto backend = createInterpreter();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  addRoofline(profile, *profiled.program, makeLimits(1 << 20, 1e12));
  for (Profile::Row &row : profile.rows) {
    bool isSoftmax = llvm::isa<SoftmaxInstr>(row.instr);
    row.seconds = isSoftmax ? 30e-6 : 40e-6;
    row.rooflineSeconds = isSoftmax ? 3e-6 : 38e-6;
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  printProfile(os, profile, ProfileOrder::Excess);
  EXPECT_LT(text.find("Softmax float"), text.find("MatMul float")) << text;
  EXPECT_THAT(text, testing::HasSubstr("     38.00   95.0  FMA     MatMul"));
  EXPECT_THAT(text, testing::HasSubstr("L1 (1024 KB) 1000.0 GB/s, memory"));
}

TEST(Profile, MeasuredLimits) {
  auto backend = createCPU();
  MachineLimits limits =
      llvm::cantFail(measureMachineLimits(*backend, /*seconds=*/0.01));
  EXPECT_GT(limits.peakRate, 1e8);
  ASSERT_FALSE(limits.levels.empty());
  EXPECT_EQ(limits.levels.back().bytes, 0u);
  EXPECT_EQ(limits.getCaches().size() + 1, limits.levels.size());
  EXPECT_TRUE(llvm::is_sorted(limits.getCaches()));
  for (const MemoryLevel &level : limits.levels)
    EXPECT_GT(level.readRate, 1e8);
}

//===- Extents of a run ---------------------------------------------------===//

/// A layer of attention over S tokens, [1, S, 8], of which a convolution has
/// each as an image.
TextModel makeLayer() {
  TextModel model;
  model.inputs.clear();
  std::vector<float> weights(8 * 8, 0.25f), filter(8 * 8 * 3, 0.125f);
  std::string swapped = intsAttr("perm", {0, 2, 1});
  model.body =
      symbolicInput("x", {"1", "S", "8"}) + floats("w", {8, 8}, weights) +
      floats("f", {8, 8, 3}, filter) + onnxNode("MatMul", {"x", "w"}, "", "k") +
      onnxNode("Transpose", {"k"}, swapped, "kt") +
      onnxNode("MatMul", {"x", "kt"}, "", "scores") +
      onnxNode("Softmax", {"scores"}, intAttr("axis", -1), "p") +
      onnxNode("MatMul", {"p", "k"}, "", "sums") +
      onnxNode("Transpose", {"sums"}, intsAttr("perm", {1, 2, 0}), "images") +
      onnxNode("Conv", {"images", "f"}, intsAttr("pads", {1, 1}));
  return model;
}

/// A profile of makeLayer() with 17 tokens, made for \p options.
Profile profileLayer(Backend &backend, ImportOptions options) {
  TextModel model = makeLayer();
  Compilation compilation(backend, CompilationOptions());
  PlannedProgram program = llvm::cantFail(
      compilation.compile(llvm::cantFail(model.import(std::move(options)))));
  InstrClock clock;
  auto session = llvm::cantFail(Session::create(program, &clock));
  const Buffer *input = llvm::cantFail(session->findPlaceholder("x"));
  Tensor tensor(input->getType().withShape({1, 17, 8}));
  llvm::cantFail(session->setInput(input, tensor));
  Profile profile = llvm::cantFail(measureProfile(
      *session, program, clock, /*numRuns=*/1, /*peakRate=*/1e9));
  addRoofline(profile, program, makeLimits(1 << 20, 1e12));
  // They end with this function.
  for (Profile::Row &row : profile.rows)
    row.instr = nullptr;
  return profile;
}

Profile profileRange(Backend &backend) {
  ImportOptions options;
  options.symbolRanges = {{"S", {1, 64}}};
  return profileLayer(backend, std::move(options));
}

Profile profileValue(Backend &backend) {
  ImportOptions options;
  options.symbols = {{"S", 17}};
  return profileLayer(backend, std::move(options));
}

/// The results that have multiply-adds, and what \p getNumber returns of each.
std::multimap<std::string, double>
getNumbers(const Profile &profile,
           llvm::function_ref<double(const Profile::Row &)> getNumber) {
  std::multimap<std::string, double> numbers;
  for (const Profile::Row &row : profile.rows)
    if (row.cost.flops > 0)
      numbers.insert(
          {row.inRun->getOperand(0)->getType().str(), getNumber(row)});
  return numbers;
}

TEST(Profile, ARunCountsItsExtents) {
  auto cpu = createCPU();
  auto interpreter = createInterpreter();
  for (Backend *backend :
       std::array<Backend *, 2>{cpu.get(), interpreter.get()}) {
    Profile ranged = profileRange(*backend), fixed = profileValue(*backend);
    EXPECT_EQ(fixed.getCost().flops,
              2 * (17 * 8 * 8 + 2 * 17 * 17 * 8 + 17 * 8 * 8 * 3));
    auto getFlops = [](const Profile::Row &row) { return row.cost.flops; };
    EXPECT_EQ(getNumbers(ranged, getFlops), getNumbers(fixed, getFlops));
    EXPECT_TRUE(fixed.symbols.empty());
    EXPECT_EQ(ranged.symbols, (std::map<std::string, int64_t>{{"S", 17}}));
    for (const Profile::Row &row : ranged.rows)
      EXPECT_DOUBLE_EQ(row.bytes[0] + row.bytes[1], row.cost.bytes);
  }
}

// Where no kernels are chosen for the extents.
TEST(Profile, ARunMovesTheBytesOfItsExtents) {
  auto backend = createInterpreter();
  Profile ranged = profileRange(*backend), fixed = profileValue(*backend);
  auto getBytes = [](const Profile::Row &row) {
    // Keys have a mask in a range.
    auto *attention = llvm::dyn_cast<AttentionInstr>(row.inRun);
    return row.cost.bytes - (attention && attention->getMask() ? 17 * 4 : 0);
  };
  EXPECT_EQ(getNumbers(ranged, getBytes), getNumbers(fixed, getBytes));
  auto getOperations = [](const Profile::Row &row) { return row.operations; };
  EXPECT_EQ(getNumbers(ranged, getOperations),
            getNumbers(fixed, getOperations));
}

TEST(Profile, TableHasTheExtentsOfTheRuns) {
  auto backend = createInterpreter();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  profile.symbols = {{"N", 3}, {"S", 17}};
  std::string text;
  llvm::raw_string_ostream os(text);
  printProfile(os, profile);
  EXPECT_THAT(text, testing::HasSubstr("extents of the runs: N = 3, S = 17\n"));
}

class ProfileTrace : public TestFolder {};

TEST_F(ProfileTrace, IsInTheOrderOfTheProgram) {
  auto backend = createInterpreter();
  Profiled profiled(*backend);
  Profile profile = profiled.profile;
  for (Profile::Row &row : profile.rows)
    row.seconds = 2e-6;
  std::string path = in("trace.json");
  ASSERT_FALSE(bool(writeProfileTrace(profile, path)));
  auto file = llvm::cantFail(readFile(path));
  auto json = llvm::json::parse(file->getBuffer());
  ASSERT_TRUE(bool(json)) << llvm::toString(json.takeError());
  const llvm::json::Array &events =
      *json->getAsObject()->getArray("traceEvents");
  ASSERT_EQ(events.size(), profile.rows.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const llvm::json::Object &event = *events[i].getAsObject();
    EXPECT_EQ(event.getString("ph"), "X");
    EXPECT_EQ(event.getString("name"), profile.rows[i].instr->getName());
    EXPECT_EQ(event.getNumber("ts"), 2.0 * i);
    EXPECT_EQ(event.getNumber("dur"), 2.0);
  }
}

TEST(Profile, PeakOfWiderVectorsIsHigher) {
  auto backend = createCPU();
  if (backend->getTarget().vectorBits < 256)
    GTEST_SKIP() << "no vectors to speak of";
  TargetOptions narrow;
  narrow.triple = backend->getTargetMachine().getTargetTriple().str();
  narrow.cpu = "x86-64";
  auto plain = llvm::cantFail(CPUBackend::create(narrow));
  EXPECT_GT(llvm::cantFail(measurePeakRate(*backend, 0.02)),
            1.5 * llvm::cantFail(measurePeakRate(*plain, 0.02)));
}

} // namespace
