//===- ProfileTest.cpp - Times of the instructions of a run ---------------===//

#include "glowish/Driver/Profile.h"
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
    profile = llvm::cantFail(measureProfile(*session, program->getIR(), clock,
                                            numRuns, /*peakRate=*/1e9));
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
    EXPECT_EQ(row.operations, backend->countOperations(*row.instr));
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
