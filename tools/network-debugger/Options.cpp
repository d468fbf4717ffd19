//===- Options.cpp - The command line of network-debugger -----------------===//

#include "network-debugger/Options.h"
#include "common/CommonOptions.h"
#include "common/QuantizationFlags.h"
#include "common/SettingOptions.h"
#include "common/ValueOption.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::comparisonCategory("Comparison options");

namespace {
enum class Mode { Layers, Bisect };
} // namespace

static ValueOption<Mode> mode(
    "mode", cl::desc("How the first difference is found"),
    cl::init(Mode::Layers),
    cl::values(
        clEnumValN(Mode::Layers, "layers",
                   "Compute each layer from what the reference has computed "
                   "for its operands, all at once (default)"),
        clEnumValN(Mode::Bisect, "bisect",
                   "Compute the network up to a place, and bisect the places: "
                   "for networks too large to keep all values of, and for "
                   "what only goes wrong when layers are fused")),
    cl::cat(comparisonCategory));
static ValueOption<bool> isOptimized(
    "optimized-graph",
    cl::desc("Compare the layers that graph optimizations leave, not those of "
             "the model (default true)"),
    cl::init(true), cl::cat(comparisonCategory));
static ValueOption<double>
    relativeTolerance("rtol",
                      cl::desc("Tolerance relative to the largest magnitude of "
                               "a layer (default 1e-4; of float16, 2^-9, of "
                               "bfloat16, 2^-6; with -load-profile, 0.05)"),
                      cl::init(1e-4), atLeast(0.0),
                      cl::cat(comparisonCategory));
static ValueOption<double>
    absoluteTolerance("atol",
                      cl::desc("Absolute tolerance (default "
                               "1e-6)"),
                      cl::init(1e-6), atLeast(0.0),
                      cl::cat(comparisonCategory));
static ValueOption<bool>
    onlyBad("only-bad",
            cl::desc("Print only the layers that differ by more than that"),
            cl::cat(comparisonCategory));
static cl::opt<std::string>
    dumpFolder("dump-tensors",
               cl::desc("Write both results of the layers that differ by more "
                        "than that as .npy"),
               cl::value_desc("folder"), cl::cat(comparisonCategory));

static cl::opt<std::string>
    against("against",
            cl::desc("The reference's model, whose nodes have the same names "
                     "(default: the same model)"),
            cl::value_desc("file"), cl::cat(comparisonCategory));
static cl::opt<std::string>
    againstBackend("against-backend",
                   cl::desc("The reference's back end (default: Interpreter; "
                            "with -against-mcpu and the like, CPU; with "
                            "-against or -load-profile alone, that of "
                            "-backend)"),
                   cl::value_desc("name"), cl::cat(comparisonCategory));
static cl::opt<std::string> againstCpu("against-mcpu",
                                       cl::desc("The reference's -mcpu"),
                                       cl::value_desc("name"),
                                       cl::cat(comparisonCategory));
static cl::list<std::string> againstAttributes("against-mattr",
                                               cl::CommaSeparated,
                                               cl::desc("The reference's "
                                                        "-mattr"),
                                               cl::value_desc("features"),
                                               cl::cat(comparisonCategory));
static ValueOption<unsigned>
    againstThreads("against-threads", cl::desc("The reference's -threads"),
                   cl::value_desc("N"), cl::init(1), inRange(1u, maxThreads),
                   cl::cat(comparisonCategory));
static ValueOption<bool> againstNoWinograd(
    "against-no-winograd",
    cl::desc("The reference computes all convolutions as sums of products"),
    cl::cat(comparisonCategory));
static ValueOption<bool>
    againstUnoptimized("against-O0",
                       cl::desc("LLVM does not optimize the reference's code"),
                       cl::cat(comparisonCategory));

static bool hasOwnTarget() {
  return againstCpu.getNumOccurrences() ||
         againstAttributes.getNumOccurrences() ||
         againstThreads.getNumOccurrences() || againstNoWinograd ||
         againstUnoptimized;
}

static std::string getReferenceBackendName(bool isQuantized) {
  if (!againstBackend.empty())
    return againstBackend;
  if (hasOwnTarget())
    return "CPU";
  bool isSame = against.empty() && !isQuantized;
  return isSame ? "Interpreter"
                : getSettings().compilation.getBackendName().str();
}

static llvm::Expected<GraphForm> getGraphForm(bool isQuantized) {
  if (!isQuantized)
    return isOptimized ? GraphForm::Optimized : GraphForm::Imported;
  if (isOptimized.getNumOccurrences())
    return makeError("-optimized-graph has no effect with -load-profile, where "
                     "the layers are those of the profile; accepted: without "
                     "one of them");
  return GraphForm::Prepared;
}

/// Those of the other side, and what differs.
static TargetOptions getReferenceTarget() {
  TargetOptions options = getTargetOptions();
  if (againstCpu.getNumOccurrences())
    options.cpu = againstCpu;
  if (againstAttributes.getNumOccurrences())
    options.attributes = std::vector<std::string>(againstAttributes);
  if (againstThreads.getNumOccurrences())
    options.numThreads = againstThreads;
  if (againstNoWinograd)
    options.winograd = WinogradLimit::None;
  options.testing.compilesQuickly = againstUnoptimized;
  return options;
}

llvm::Expected<DebuggerOptions> glowish::getDebuggerOptions(PhaseTimer &timer) {
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  DebuggerOptions options;
  options.bisects = mode == Mode::Bisect;
  options.onlyBad = onlyBad;
  GLOWISH_ASSIGN_OR_RETURN(ModelCompiler compiler, createModelCompiler(timer));
  if (compiler.getDeveloperOptions().options.stopAfter)
    return makeError("-stop-after is not for comparisons");
  GLOWISH_ASSIGN_OR_RETURN(options.prepared,
                           compiler.prepareProgram(SymbolForm::Value));
  const CompilationOptions &compilationOptions = options.prepared.options;
  if (compilationOptions.precision)
    return makeError("-convert-to-fp16: models are compared in the precision "
                     "that they have; accepted: without it");
  options.isQuantized = compilationOptions.quantization != nullptr;
  GLOWISH_ASSIGN_OR_RETURN(GraphForm form, getGraphForm(options.isQuantized));
  options.comparison.rtol = relativeTolerance;
  options.comparison.atol = absoluteTolerance;
  // Two units in the last place.
  if (!relativeTolerance.getNumOccurrences() && options.isQuantized) {
    options.comparison.rtol = 0.05;
  } else if (!relativeTolerance.getNumOccurrences()) {
    options.comparison.float16Rtol = 1.0 / 512;
    options.comparison.bfloat16Rtol = 1.0 / 64;
  }
  options.dumpFolder = dumpFolder;
  std::string referenceName = getReferenceBackendName(options.isQuantized);
  if (hasOwnTarget() && referenceName != "CPU")
    return makeError("-against-backend={0} has no target; accepted with "
                     "-against-mcpu and the like: CPU",
                     referenceName);
  auto reference = getSettings().compilation.createBackend(
      "against-backend", referenceName, getReferenceTarget(), /*isLocal=*/true);
  if (!reference)
    return addContext(reference.takeError(),
                      referenceName == "CPU" ? "the reference: " : "");
  options.referenceBackend = std::move(*reference);
  const ImportOptions &importOptions = options.prepared.importOptions;
  options.tested = {options.prepared.backend.get(), options.prepared.path,
                    importOptions, compilationOptions, form};
  CompilationOptions referenceOptions;
  referenceOptions.function = compilationOptions.function;
  options.reference = {options.referenceBackend.get(),
                       against.empty() ? options.prepared.path
                                       : against.getValue(),
                       importOptions, referenceOptions, form};
  return options;
}
