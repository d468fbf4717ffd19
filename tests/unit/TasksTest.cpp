//===- TasksTest.cpp - Tasks of kernels write disjoint elements -----------===//

#include "Differential.h"
#include "InferTypes.h"
#include "JIT.h"
#include "TaskCheck.h"
#include "gmock/gmock.h"

using namespace glowish;

namespace {

/// An operator with the types of its operands, large enough for tasks.
struct TasksCase {
  const char *text;
  /// The operands from this number on are constants.
  unsigned firstConstant = ~0u;
};

const TasksCase cases[] = {
    {"Convolution(float<1x28x28x32>, float<64x3x3x32>, float<64>) {strides = "
     "[1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}",
     1},
    {"Convolution(float<1x28x28x32>, float<64x3x3x32>, none) {strides = [1, "
     "1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}"},
    {"Convolution(float<2x15x17x48>, float<40x1x1x48>, float<40>) {strides = "
     "[1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], group = 1}",
     1},
    {"Convolution(float<1x61x63x3>, float<17x3x3x3>, float<17>) {strides = "
     "[2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}",
     1},
    {"Convolution(float<1x29x31x70>, float<70x3x3x1>, float<70>) {strides = "
     "[1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 70}",
     1},
    {"Convolution(float<1x19x23x64>, float<18x3x3x32>, none) {strides = [1, "
     "1], pads = [2, 2, 2, 2], dilations = [2, 2], group = 2}",
     1},
    {"Convolution(float16<1x28x28x32>, float16<64x3x3x32>, float16<64>) "
     "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}",
     1},
    {"ConvolutionInteger(uint8<1x28x28x32>, int8<40x3x3x32>, none, none, none) "
     "{strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], group = 1}",
     1},
    {"ConvolutionFilterGradient(float<2x28x28x33>, float<2x28x28x40>) {kernels "
     "= [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], "
     "group = 1}"},
    {"ConvolutionFilterGradient(float<2x57x57x3>, float<2x57x57x16>) {kernels "
     "= [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1], "
     "group = 1}"},
    {"MatMul(float<65x128>, float<128x99>)", 1},
    {"MatMul(float<65x128>, float<128x99>)"},
    {"MatMul(float<9x32x64>, float<9x64x31>)"},
    {"MatMul(double<65x128>, double<128x99>)", 1},
    {"MatMul(bfloat16<65x128>, bfloat16<128x99>)", 1},
    {"MatMulInteger(uint8<65x128>, int8<128x99>, none)", 1},
    {"MatMulNBits(float<7x256>, int8<256x200>, float<8x200>, none, none) "
     "{block = 32}",
     1},
    {"MatMulNBits(float<1x512>, uint4<512x600>, float<16x600>, none, none) "
     "{block = 32}",
     1},
    {"Attention(float<3x65x32>, float<3x70x32>, float<3x70x33>, none) {scale "
     "= 0.5, causal = false}"},
    {"Attention(float<3x65x32>, float<3x65x32>, float<3x65x33>, none) {scale "
     "= 0.5, causal = true}"},
    {"Attention(float<12x1x64>, float<12x300x64>, float<12x300x64>, none) "
     "{scale = 0.5, causal = false}"},
    {"Softmax(float<65x1000>) {axis = 1}"},
    {"LayerNormalization(float<65x1000>, float<1000>, float<1000>) {axis = 1, "
     "epsilon = 0.01, subtractMean = true}"},
    {"GroupNormalization(float<2x33x31x32>, float<32>, float<32>) {axis = 3, "
     "groups = 8, epsilon = 0.01}"},
    {"Reduce(float<65x4099>) {mode = \"sum\", axes = [1], keepDims = false}"},
    {"Reduce(float<17x509x65>) {mode = \"max\", axes = [1], keepDims = false}"},
    {"Reduce(float<31x33x301>) {mode = \"mean\", axes = [0, 2], keepDims = "
     "false}"},
    {"ReduceInteger(int8<65x4099>) {axes = [1], keepDims = false}"},
    {"CumSum(float<65x4099>) {axis = 1, exclusive = false, reverse = false}"},
    {"CumSum(float<409x655>) {axis = 0, exclusive = true, reverse = true}"},
    {"MaxPool(float<1x57x55x66>) {kernels = [3, 3], strides = [2, 2], pads = "
     "[1, 1, 1, 1], dilations = [1, 1]}"},
    {"AvgPool(float<1x57x55x66>) {kernels = [3, 3], strides = [1, 1], pads = "
     "[1, 1, 1, 1], dilations = [1, 1], countIncludePads = true}"},
    {"MaxPoolGradient(float<2x31x33x34>, float<2x16x17x34>) {kernels = [3, 3], "
     "strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]}"},
    {"AvgPoolGradient(float<2x16x17x34>) {sizes = [31, 33], kernels = [3, 3], "
     "strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], "
     "countIncludePads = true}"},
    {"Transpose(float<65x129x97>) {permutation = [2, 0, 1]}"},
    {"Transpose(int8<67x129x97>) {permutation = [0, 2, 1]}"},
    {"Exp(float<67x4099>)"},
    {"Add(float<9x101x333>, float<101x1>)"},
    {"Relu(float16<67x4099>)"},
    {"Resize(float<1x33x31x34>) {sizes = [66, 62], scaleH = 2.0, scaleW = 2.0, "
     "mode = \"linear\", nearestMode = \"floor\", coordinates = "
     "\"half_pixel\"}"},
    {"TopK(float<65x1001>) {count = 5, largest = true}"},
    {"TopK(float<65x1001>) {count = 33, largest = false}"},
    {"NonMaxSuppression(float<2x300x4>, int64<2x40x300>, float<>) {count = "
     "20}"},
};

NodeValue buildCase(const TasksCase &tested, Function &function,
                    Module &module) {
  ParsedOp op = llvm::cantFail(parseOp(tested.text));
  auto make = [&](unsigned i, const Type &type) {
    return makeOperand(module, i, type, i >= tested.firstConstant);
  };
  return llvm::cantFail(createNode(function, op, make))->getResult(0);
}

/// Memory of a region, aligned as programs want it.
struct Region {
  std::vector<uint8_t> bytes;
  uint8_t *begin;

  explicit Region(uint64_t size) : bytes(size + 64) {
    begin = reinterpret_cast<uint8_t *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(bytes.data()), 64));
  }
};

/// What the tasks of a program did.
struct TasksRun {
  std::vector<std::string> faults;
  std::set<std::string> kinds;
  uint64_t numTasks = 0;
};

/// Runs \p program, compiled for \p backend, and checks all tasks.
TasksRun runTasks(CPUBackend &backend, const PlannedProgram &program) {
  const IRFunction &function = program.getIR();
  const MemoryPlan &plan = program.getPlan();
  InstrClock clock;
  auto object =
      llvm::cantFail(backend.emitLocalObject(function, plan, /*isTimed=*/true));
  auto executable =
      llvm::cantFail(loadProgram(object, &clock, &TaskCheck::parallelFor));
  Region mutables(plan.mutableSize), activations(plan.activationSize);
  uint64_t seed = 7;
  for (const Buffer *input : function.getInputs()) {
    Tensor values = makeRandom(input->getType(), seed++);
    llvm::copy(values.getByteRange(),
               (plan.isInArena(input) ? activations : mutables).begin +
                   plan.getOffset(input));
  }
  Tensor constants = makeConstantRegion(function, plan);
  TaskCheck check(function, plan, mutables.begin, activations.begin, clock);
  llvm::cantFail(
      executable->run(static_cast<const uint8_t *>(constants.getBytes()),
                      mutables.begin, activations.begin));
  return {check.getFaults().vec(), check.getKinds(), check.getNumTasks()};
}

std::unique_ptr<CPUBackend> createBackend(TargetOptions options,
                                          unsigned choiceRank) {
  options.numThreads = 4;
  options.testing.choiceRank = choiceRank;
  options.testing.compilesQuickly = true;
  return llvm::cantFail(CPUBackend::create(options));
}

/// Of all graphs that this program compares with the interpreter, with tasks of
/// small kernels, too: shapes that leave parts of tiles and vectors.
[[maybe_unused]] const bool checksCompared = [] {
  checkTasks = [](const TargetOptions &level, const BuildFn &build) {
    TargetOptions options = level;
    options.testing.dividesSmallKernels = true;
    auto backend = createBackend(options, /*choiceRank=*/0);
    PlannedProgram program = llvm::cantFail(compileFor(*backend, build));
    EXPECT_THAT(runTasks(*backend, program).faults, testing::IsEmpty());
  };
  return true;
}();

TEST(Tasks, OfAllKernelsWriteDisjointElements) {
  std::vector<TargetOptions> levels = getLevels(/*sharesWeights=*/false);
  for (auto [number, tested] : llvm::enumerate(cases)) {
    SCOPED_TRACE(tested.text);
    bool isConvolution = llvm::StringRef(tested.text).starts_with("Conv");
    for (auto [i, level] : llvm::enumerate(levels)) {
      // This machine, and half of the others in turn.
      if (i > 0 && (i + number) % 2)
        continue;
      for (unsigned rank = 0; rank < (isConvolution ? 4 : 1); ++rank) {
        auto backend = createBackend(level, rank);
        auto program =
            compileFor(*backend, [&](Function &function, Module &module) {
              return buildCase(tested, function, module);
            });
        ASSERT_TRUE(bool(program)) << llvm::toString(program.takeError());
        TasksRun run = runTasks(*backend, *program);
        EXPECT_THAT(run.faults, testing::IsEmpty()) << level.cpu << " " << rank;
        EXPECT_GE(run.numTasks, 2u) << level.cpu << " " << rank;
      }
    }
  }
}

//===- Planted bugs -------------------------------------------------------===//

/// y = 2 * x for 64 floats, 16 for each of 4 tasks, with a fault.
enum class Fault {
  None,
  OneMore,
  OneLess,
  OtherTask,
  Outside,
  ReadsOther,
  DependsOnBegin
};
Fault fault;

void runTask(void *arguments, int64_t begin, int64_t end) {
  float *y = static_cast<float **>(arguments)[0];
  const float *x = static_cast<float **>(arguments)[1];
  for (int64_t task = begin; task < end; ++task) {
    int64_t first = 16 * task, last = first + 16;
    if (fault == Fault::OneMore && task < 3)
      ++last;
    if (fault == Fault::OneLess && task == 2)
      --last;
    for (int64_t i = first; i < last; ++i)
      y[i] = 2 * x[i];
    if (fault == Fault::OtherTask && task == 3)
      y[0] = 2 * x[0];
    if (fault == Fault::Outside && task == 3)
      y[64] = 1;
    if (fault == Fault::ReadsOther && task == 3)
      y[63] = y[0] + 1;
    if (fault == Fault::DependsOnBegin && task == 3)
      y[63] = float(begin);
  }
}

std::string findPlanted(Fault planted) {
  auto function = llvm::cantFail(parseIR(R"(
ir "f" {
  mutable %x : float<64> input "x"
  mutable %y : float<64> output "y"
  mutable %z : float<64> output "z"
  code {
    "double" ElementWiseLoop(@out %y, @in %x) {program = {v1:float = Add(v0, v0)}}
    "z" Copy(@out %z, @in %x)
  }
}
)",
                                         "test.ir", nullptr));
  MemoryPlan plan = planMemory(*function);
  Region mutables(plan.mutableSize), activations(plan.activationSize);
  auto find = [&](llvm::StringRef name) {
    return reinterpret_cast<float *>(
        mutables.begin + plan.getOffset(function->findBuffer(name)));
  };
  for (int i = 0; i < 64; ++i)
    find("x")[i] = float(i + 1);
  InstrClock clock;
  clock.mark();
  TaskCheck check(*function, plan, mutables.begin, activations.begin, clock);
  float *arguments[] = {find("y"), find("x")};
  fault = planted;
  TaskCheck::parallelFor(runTask, arguments, 4);
  EXPECT_EQ(check.getNumTasks(), 4u);
  std::string prefix = "ElementWiseLoop 'double', 4 tasks: ";
  if (check.getFaults().empty())
    return "";
  llvm::StringRef text = check.getFaults().front();
  EXPECT_TRUE(text.consume_front(prefix)) << text.str();
  return text.str();
}

TEST(Tasks, PlantedBugsAreFound) {
  EXPECT_EQ(findPlanted(Fault::None), "");
  EXPECT_THAT(findPlanted(Fault::OneMore),
              testing::StartsWith("tasks 0 and 1 write byte "));
  EXPECT_THAT(findPlanted(Fault::OneLess),
              testing::StartsWith("no task writes byte "));
  EXPECT_THAT(findPlanted(Fault::OtherTask),
              testing::StartsWith("tasks 0 and 3 write byte "));
  EXPECT_THAT(findPlanted(Fault::Outside),
              testing::HasSubstr(", which is no result"));
  EXPECT_THAT(findPlanted(Fault::ReadsOther),
              testing::StartsWith("task 3 alone leaves another value in byte"));
  EXPECT_THAT(findPlanted(Fault::DependsOnBegin),
              testing::StartsWith("task 3 alone leaves another value in byte"));
}

} // namespace
