//===- Tuner.cpp - Measuring candidates for convolutions ------------------===//

#include "Tuning/Tuner.h"
#include "Selection/KernelSelection.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Progress.h"
#include "glowish/Support/Random.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>
#include <cstring>
#include <ctime>
#include <set>

using namespace glowish;

/// More than the caches of a core, and what a network reads from one run of a
/// layer to the next.
static constexpr size_t otherBytes = 64 << 20;
/// Other programs only make runs longer, so the shortest of some is taken.
static constexpr unsigned numRounds = 7;
/// Weights of all candidates together; two candidates are measured in any case.
static constexpr uint64_t maxWeightBytes = uint64_t(2) << 30;

llvm::Expected<std::unique_ptr<Tuner>> Tuner::create(CPUBackend &tuned) {
  const TargetOptions &options = tuned.getOptions();
  if (options.tuningFile.empty())
    return makeError("«tune»: state where the choices are kept with "
                     "«tuning-file=FILE»");
  if (llvm::StringRef(options.cpu).contains(','))
    return makeError(
        "«tune»: code for several levels ('{0}') runs on different "
        "machines; state one with «mcpu»",
        options.cpu);
  TargetOptions own = options;
  own.numThreads = 1;
  own.tune = false;
  own.tuningFile.clear();
  LogPause pause;
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(own));
  GLOWISH_RETURN_IF_ERROR(addContext(backend->checkRunsHere(), "«tune»: "));
  // A file that can't be made should not be found out late.
  if (!llvm::sys::fs::exists(options.tuningFile))
    GLOWISH_RETURN_IF_ERROR(
        writeFile(options.tuningFile, tuned.getTuning()->str()));
  return std::unique_ptr<Tuner>(new Tuner(tuned, std::move(backend)));
}

llvm::Expected<std::unique_ptr<KernelTuner>> CPUBackend::createTuner() {
  if (!options.tune)
    return nullptr;
  return Tuner::create(*this);
}

//===- What is measured ---------------------------------------------------===//

std::vector<ConvolutionCandidate>
glowish::selectCandidates(llvm::ArrayRef<ConvolutionCandidate> ranked) {
  constexpr double farthest = 4, near = 2.5;
  std::vector<ConvolutionCandidate> firsts, others;
  for (const ConvolutionCandidate &candidate : ranked) {
    double ratio = candidate.cycles / ranked.front().cycles;
    bool isFirst =
        llvm::none_of(firsts, [&](const ConvolutionCandidate &first) {
          return first.algorithm == candidate.algorithm;
        });
    if (isFirst && (firsts.empty() || ratio <= farthest))
      firsts.push_back(candidate);
    else if (ratio <= near)
      others.push_back(candidate);
  }
  llvm::append_range(firsts, others);
  return firsts;
}

TuningRecord::Entry
glowish::chooseMeasured(llvm::ArrayRef<MeasuredCandidate> measured) {
  constexpr double worthIt = 0.97;
  const MeasuredCandidate &estimated = measured.front();
  const MeasuredCandidate *best = llvm::min_element(
      measured, [](const MeasuredCandidate &a, const MeasuredCandidate &b) {
        return a.seconds < b.seconds;
      });
  if (best->seconds > worthIt * estimated.seconds)
    best = &estimated;
  std::string note = llvm::formatv("{0:F1} us", best->seconds * 1e6);
  if (best != &estimated)
    note += llvm::formatv("; by estimate {0}: {1:F1} us",
                          estimated.candidate.str(), estimated.seconds * 1e6);
  return {best->candidate, note};
}

/// Numbers in [-1, 1), or 8-bit integers.
static void fillRandom(Tensor &tensor) {
  auto *bytes = static_cast<uint8_t *>(tensor.getBytes());
  size_t size = size_t(tensor.getSizeInBytes());
  constexpr int64_t period = 1 << 16;
  int64_t count = std::min(tensor.getNumElements(), period);
  Random random(1);
  ElemKind kind = tensor.getType().getKind();
  double scale = kind == ElemKind::Int8 || kind == ElemKind::UInt8 ? 127 : 1;
  double least = kind == ElemKind::UInt8 ? -1 : 0;
  for (int64_t i = 0; i < count; ++i)
    tensor.setFromDouble(
        i, std::trunc(scale * (double(random.uniform(-1, 1)) - least)));
  size_t done = size_t(count) * getElemSize(tensor.getType().getKind());
  for (size_t at = done; done > 0 && at < size; at += done)
    std::memcpy(bytes + at, bytes, std::min(done, size - at));
}

/// The pad behind the image that gives \p out results.
static int64_t getEndPad(int64_t in, int64_t out, int64_t kernel,
                         int64_t stride, int64_t pad, int64_t dilation) {
  return std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 -
                                  in - pad);
}

static Buffer *createInput(IRFunction &function,
                           const ConvolutionProblem &problem) {
  const ConvolutionShape &s = problem.shape;
  Type type(problem.kind, {s.batch, s.height, s.width, s.channels});
  if (problem.inputStrides == getDenseStrides(type.getShape()))
    return function.createMutable("input", type, "input", true, false);
  int64_t size = 1, first = 0;
  for (auto [extent, stride] :
       llvm::zip_equal(type.getShape(), problem.inputStrides)) {
    size += (extent - 1) * std::abs(stride);
    first += (extent - 1) * std::max<int64_t>(0, -stride);
  }
  Buffer *whole = function.createMutable("input", Type(problem.kind, {size}),
                                         "input", true, false);
  return function.createView("view", whole, type, first, problem.inputStrides);
}

/// A kind that has the values of the filter.
static ElemKind getFilterKind(const ConvolutionProblem &problem) {
  if (!problem.isOfBytes)
    return problem.kind;
  return problem.hasWideFilter ? ElemKind::UInt8 : ElemKind::Int8;
}

/// One convolution, of \p problem.
static std::unique_ptr<IRFunction>
createFunction(const ConvolutionProblem &problem,
               std::shared_ptr<const Tensor> filter) {
  const ConvolutionShape &s = problem.shape;
  auto function = std::make_unique<IRFunction>("tune");
  Buffer *input = createInput(*function, problem);
  Buffer *result = function->createMutable(
      "result",
      Type(problem.kind, {s.batch, s.outHeight, s.outWidth, s.outChannels}),
      "result", false, true);
  Buffer *weights = function->createConstant("filter", std::move(filter));
  std::array<int64_t, 2> strides = {s.strideH, s.strideW},
                         dilations = {s.dilationH, s.dilationW};
  std::array<int64_t, 4> pads = {s.padTop, s.padLeft,
                                 getEndPad(s.height, s.outHeight, s.kernelH,
                                           s.strideH, s.padTop, s.dilationH),
                                 getEndPad(s.width, s.outWidth, s.kernelW,
                                           s.strideW, s.padLeft, s.dilationW)};
  if (!problem.isOfBytes) {
    function->create<ConvolutionInstr>("convolution", result, input, weights,
                                       nullptr, strides, pads, dilations,
                                       s.group);
    return function;
  }
  // In networks sums become bytes again as they are stored.
  ScalarProgram epilogue;
  epilogue.steps.push_back({ScalarOp::Cast, {0}, {}, problem.kind});
  function->create<ConvolutionIntegerInstr>(
      "convolution", result, input, weights, /*zeroPoint=*/nullptr,
      /*filterZeroPoint=*/nullptr, /*bias=*/nullptr, strides, pads, dilations,
      s.group, llvm::ArrayRef<Buffer *>(), epilogue);
  return function;
}

//===- Measuring ----------------------------------------------------------===//

/// A program, its memory, and the shortest time that it took.
struct Tuner::Candidate {
  MeasuredCandidate measured;
  std::unique_ptr<IRFunction> function;
  MemoryPlan plan;
  std::unique_ptr<Executable> executable;
  Tensor constants, mutables, activations;
};

Tuner::Tuner(CPUBackend &tuned, std::unique_ptr<CPUBackend> backend)
    : tuned(tuned), backend(std::move(backend)) {}

llvm::Expected<std::unique_ptr<Tuner::Candidate>>
Tuner::build(const ConvolutionProblem &problem,
             const ConvolutionCandidate &candidate,
             std::shared_ptr<const Tensor> filter) {
  LogPause pause;
  auto result = std::make_unique<Candidate>();
  result->measured = {candidate, std::numeric_limits<double>::infinity()};
  result->function = createFunction(problem, std::move(filter));
  IRFunction &function = *result->function;
  for (SelectedOps selected : {SelectedOps::Bytes, SelectedOps::Others})
    selectKernels(function, selected, backend->getTarget(),
                  [&](const ConvolutionProblem &, const Buffer &) {
                    return ConvolutionChoice{candidate};
                  });
  result->plan = planMemory(function);
  const MemoryPlan &plan = result->plan;
  GLOWISH_ASSIGN_OR_RETURN(result->executable,
                           backend->compile(function, plan, /*clock=*/nullptr));
  auto makeRegion = [](uint64_t size) {
    return Tensor(Type(ElemKind::UInt8, {int64_t(size)}));
  };
  result->constants = makeConstantRegion(function, plan);
  result->mutables = makeRegion(plan.mutableSize);
  result->activations = makeRegion(plan.activationSize);
  const Buffer *input = function.findBuffer("input");
  auto *bytes = static_cast<uint8_t *>(result->mutables.getBytes()) +
                plan.getOffset(input);
  Tensor values = Tensor::borrow(input->getType(), bytes);
  fillRandom(values);
  return result;
}

/// Reads every cache line of \p bytes.
static void readLines(llvm::ArrayRef<uint8_t> bytes) {
  constexpr size_t line = 64;
  for (size_t i = 0; i < bytes.size(); i += line)
    // Without volatile, the compiler would remove the unused read.
    (void)*const_cast<const volatile uint8_t *>(&bytes[i]);
}

/// Reads \p bytes of the stack below the caller's, where kernels keep what they
/// use again.
LLVM_ATTRIBUTE_NOINLINE static void readStack(size_t bytes) {
  auto *lowest = static_cast<uint8_t *>(__builtin_alloca(bytes));
  readLines(llvm::ArrayRef<uint8_t>(lowest, bytes));
}

/// A clock of this thread, which stands while another program has the core.
static double getSeconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec now = {};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
#endif
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

llvm::Error Tuner::time(Candidate &candidate) {
  readLines(otherData);
  readLines(candidate.mutables.getByteRange());
  readLines(candidate.activations.getByteRange());
  readStack(size_t(backend->getTarget().maxStackBytes));
  double start = getSeconds();
  GLOWISH_RETURN_IF_ERROR(
      candidate.executable->run(candidate.constants.data<uint8_t>().data(),
                                candidate.mutables.data<uint8_t>().data(),
                                candidate.activations.data<uint8_t>().data()));
  double seconds = getSeconds() - start;
  candidate.measured.seconds = std::min(candidate.measured.seconds, seconds);
  return llvm::Error::success();
}

llvm::Expected<TuningRecord::Entry> Tuner::measure(const TuningKey &key) {
  const ConvolutionShape &s = key.problem.shape;
  std::vector<ConvolutionCandidate> choices = selectCandidates(
      rankCandidates(key.problem, backend->getTarget(), key.maxWinograd));
  if (choices.size() == 1)
    return TuningRecord::Entry{choices.front(), "no other was worth a try"};
  otherData.resize(otherBytes, 1);
  Tensor filter(
      Type(getFilterKind(key.problem),
           {s.outChannels, s.kernelH, s.kernelW, s.getGroupChannels()}));
  fillRandom(filter);
  auto sharedFilter = std::make_shared<const Tensor>(std::move(filter));
  std::vector<std::unique_ptr<Candidate>> candidates;
  uint64_t weightBytes = 0;
  for (const ConvolutionCandidate &choice : choices) {
    if (candidates.size() >= 2 && weightBytes > maxWeightBytes)
      break;
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Candidate> candidate,
                             build(key.problem, choice, sharedFilter));
    weightBytes += 2 * candidate->plan.constantSize;
    candidates.push_back(std::move(candidate));
  }
  // Candidates alternate, so that a slow phase of the machine affects all of
  // them. The first round, which faults pages in, is never the shortest.
  for (unsigned round = 0; round < numRounds; ++round)
    for (const auto &candidate : candidates)
      GLOWISH_RETURN_IF_ERROR(time(*candidate));
  std::vector<MeasuredCandidate> measured;
  measured.reserve(candidates.size());
  for (const auto &candidate : candidates) {
    measured.push_back(candidate->measured);
    GLOWISH_VLOG(3, "measured: {0} takes {1:F1} us",
                 candidate->measured.candidate.str(),
                 candidate->measured.seconds * 1e6);
  }
  return chooseMeasured(measured);
}

llvm::Error Tuner::tune(llvm::ArrayRef<const IRFunction *> functions) {
  std::set<TuningKey> missing;
  for (const IRFunction *function : functions)
    forEachFunction(*function, [&](const IRFunction &each) {
      missing.merge(tuned.findUntuned(each));
    });
  std::string target = getTuningTarget(
      tuned.getTargetMachine().getTargetTriple(), tuned.getTarget());
  TuningRecord &record = *tuned.getTuning();
  Progress progress;
  unsigned number = 0;
  for (const TuningKey &key : missing) {
    progress.show(
        llvm::formatv("tuning {0} of {1}", ++number, missing.size()).str());
    GLOWISH_ASSIGN_OR_RETURN(TuningRecord::Entry entry, measure(key));
    GLOWISH_VLOG(1, "tuned {0}: {1}; {2}", describeKey(key),
                 entry.candidate.str(), entry.note);
    record.set(target, key, std::move(entry));
    // Saved after each measurement, so that an interrupted run can be resumed.
    GLOWISH_RETURN_IF_ERROR(
        writeFile(tuned.getOptions().tuningFile, record.str()));
  }
  return llvm::Error::success();
}
