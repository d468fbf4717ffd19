//===- CommonOptions.cpp - Options shared by the tools --------------------===//

#include "common/CommonOptions.h"
#include "common/GlowFlags.h"
#include "common/MemoryRegions.h"
#include "common/PassFlags.h"
#include "common/ValueOption.h"
#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Backends/Plugin.h"
#include "glowish/IR/Passes.h"
#include "glowish/Importer/Caffe2.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::debugCategory("Options to look inside");
cl::OptionCategory glowish::targetCategory("Target options");

static cl::list<std::string> modelPaths(
    "model",
    cl::desc(
        "The model: an ONNX file, a text form (.graph), or a Caffe2 model: "
        "a folder with predict_net and init_net (.pb or .pbtxt), or "
        "-model=NET -model=NET"),
    cl::value_desc("path"), cl::cat(modelCategory));
static cl::alias modelPathsAlias("m", cl::desc("Alias of -model"),
                                 cl::aliasopt(modelPaths));
static ValueOption<uint64_t> maxActivationBytes(
    "max-activation-bytes",
    cl::desc("The most memory for activations: where the model needs more, "
             "layers with large images are computed in patches, which takes "
             "longer; an error if that is not enough"),
    cl::value_desc("bytes"), cl::cat(modelCategory));
static cl::opt<std::string> memoryRegions(
    "memory-regions",
    cl::desc("The memories that activations are divided among, the fastest "
             "first, each with its most bytes; what is accessed most goes into "
             "the first ones, and a bundle's entry has a pointer for each"),
    cl::value_desc("name:bytes[K|M],..."), cl::cat(modelCategory));
static ValueOption<bool> placesIOInArena(
    "io-in-activations",
    cl::desc("Inputs and outputs have their places in the memory for "
             "activations and share it: a run destroys the inputs"),
    cl::cat(modelCategory));
static cl::opt<std::string> backendName("backend",
                                        cl::desc("CPU or Interpreter, or one "
                                                 "that -load brings"),
                                        cl::value_desc("name"), cl::init("CPU"),
                                        cl::cat(modelCategory));
static cl::list<std::string>
    plugins("load",
            cl::desc("Load a shared library that brings back ends (may be "
                     "repeated)"),
            cl::value_desc("file"), cl::cat(modelCategory));

static ValueOption<bool>
    dumpGraph("dump-graph", cl::desc("Print the lowered graph to stderr"),
              cl::cat(debugCategory));
static ValueOption<bool> dumpIR("dump-ir", cl::desc("Print the IR to stderr"),
                                cl::cat(debugCategory));
static cl::opt<std::string>
    dotFile("dump-graph-DAG", cl::desc("Write the lowered graph for Graphviz"),
            cl::value_desc("file"), cl::cat(debugCategory));
static cl::opt<std::string>
    importedDotFile("dump-graph-DAG-before-compile",
                    cl::desc("Write the graph as it was imported for Graphviz"),
                    cl::value_desc("file"), cl::cat(debugCategory));
static cl::list<std::string>
    printAfter("print-after", cl::CommaSeparated,
               cl::desc("Print what these passes left to stderr"),
               cl::value_desc("pass,..."), cl::cat(debugCategory));
static ValueOption<bool>
    printAfterAll("print-after-all",
                  cl::desc("Print after every pass that changed something"),
                  cl::cat(debugCategory));
static ValueOption<bool>
    verifyEach("verify-each", cl::desc("Run the verifiers after every pass"),
               cl::cat(debugCategory));
static cl::opt<std::string>
    stopAfter("stop-after",
              cl::desc("Stop after a phase: import, optimize, lower, "
                       "fit-memory, schedule, irgen, optimize-ir, plan"),
              cl::value_desc("phase"), cl::cat(debugCategory));
static ValueOption<bool>
    dumpsLLVM("dump-llvm-ir", cl::desc("Print the optimised LLVM IR to stderr"),
              cl::cat(debugCategory));
static ValueOption<bool> dumpsAssembly("dump-llvm-asm",
                                       cl::desc("Print the assembly to stderr"),
                                       cl::cat(debugCategory));
static ValueOption<bool>
    timePhases("time", cl::desc("Print a table of the phases' times"),
               cl::cat(debugCategory));

static cl::opt<std::string> target("target",
                                   cl::desc("Target triple (default: host)"),
                                   cl::value_desc("triple"),
                                   cl::cat(targetCategory));
static cl::opt<std::string>
    architecture("march",
                 cl::desc("Architecture, in place of the triple's: aarch64, "
                          "arm, riscv64, x86-64, ..."),
                 cl::value_desc("name"), cl::cat(targetCategory));
static cl::opt<std::string>
    cpu("mcpu",
        cl::desc("Target CPU (default: the host's, or generic); several of "
                 "x86-64, x86-64-v2, x86-64-v3 and x86-64-v4: the bundle takes "
                 "the best that its processor has"),
        cl::value_desc("name,..."), cl::cat(targetCategory));
static cl::list<std::string>
    attributes("mattr", cl::CommaSeparated,
               cl::desc("Target features: +a,-b; help: list them"),
               cl::value_desc("features"), cl::cat(targetCategory));
static cl::alias attributesAlias("target-feature", cl::CommaSeparated,
                                 cl::desc("Alias of -mattr"),
                                 cl::aliasopt(attributes));
static cl::opt<std::string> abi("mabi", cl::desc("Target ABI"),
                                cl::value_desc("name"),
                                cl::cat(targetCategory));
static ValueOption<llvm::FloatABI::ABIType> floatABI(
    "float-abi", cl::desc("How floats are passed"),
    cl::init(llvm::FloatABI::Default),
    cl::values(clEnumValN(llvm::FloatABI::Default, "default", "The target's"),
               clEnumValN(llvm::FloatABI::Soft, "soft", "In integer registers"),
               clEnumValN(llvm::FloatABI::Hard, "hard", "In float registers")),
    cl::cat(targetCategory));
static ValueOption<llvm::Reloc::Model> relocationModel(
    "relocation-model",
    cl::desc("Relocations of the object (default: pic, or static where the "
             "target has no system)"),
    cl::values(clEnumValN(llvm::Reloc::Static, "static", "Not relocatable"),
               clEnumValN(llvm::Reloc::PIC_, "pic", "Position independent")),
    cl::cat(targetCategory));
static ValueOption<unsigned> numThreads(
    "threads",
    cl::desc("Split kernels for this many threads (default 1). A bundle calls "
             "glowish_parallel_for for it: yours, or that of the "
             "glowish_threads.c which is written beside it; one for JavaScript "
             "has workers"),
    cl::value_desc("N"), cl::init(1), inRange(1u, maxThreads),
    cl::cat(targetCategory));
static ValueOption<WinogradLimit> winograd(
    "winograd",
    cl::desc("Convolutions may be computed with fewer multiplications where "
             "that is faster (default 4)"),
    cl::init(WinogradLimit::F4),
    cl::values(clEnumValN(WinogradLimit::None, "off",
                          "No: each output is a sum of products"),
               clEnumValN(WinogradLimit::F2, "2",
                          "By F(2x2,3x3): no less exact"),
               clEnumValN(WinogradLimit::F4, "4",
                          "By F(4x4,3x3) and F(2x2,5x5), too: errors "
                          "are some 2 times larger")),
    cl::cat(targetCategory));
static ValueOption<bool> reproducible(
    "reproducible",
    cl::desc(
        "Floats have the same bits on all 64-bit targets with a system and "
        "float vectors, on WebAssembly with simd128, and with any number of "
        "threads"),
    cl::cat(targetCategory));
static ValueOption<llvm::CodeModel::Model> codeModel(
    "code-model", cl::desc("Code model of the object"),
    cl::init(llvm::CodeModel::Small),
    cl::values(clEnumValN(llvm::CodeModel::Small, "small", "Small"),
               clEnumValN(llvm::CodeModel::Medium, "medium", "Medium"),
               clEnumValN(llvm::CodeModel::Large, "large", "Large")),
    cl::cat(targetCategory));
static cl::alias codeModelAlias("bundle-code-model",
                                cl::desc("Alias of -code-model"),
                                cl::aliasopt(codeModel));

static ValueOption<bool>
    tune("tune",
         cl::desc("Measure the algorithms of each convolution, and matmul "
                  "with a constant matrix, on this machine, which must be able "
                  "to run the target's code; with -tuning-file"),
         cl::cat(targetCategory));
static cl::opt<std::string> tuningFile(
    "tuning-file",
    cl::desc("Take the measured choices in this file; with -tune, shapes that "
             "it lacks are measured and added"),
    cl::value_desc("file"), cl::cat(targetCategory));

llvm::StringRef glowish::getModelPath() {
  return modelPaths.empty() ? llvm::StringRef() : modelPaths.front();
}

llvm::Error glowish::checkModelPath() {
  if (getModelPath().empty())
    return makeError("no model; state one with -model=FILE");
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::string>> glowish::getModelFiles() {
  if (isCaffe2Path(getModelPath()))
    return findCaffe2Files(getModelPath(),
                           modelPaths.size() > 1 ? modelPaths[1] : "");
  return std::vector<std::string>{getModelPath().str()};
}

/// Of a Caffe2 model given as two files the other one.
static llvm::Expected<std::string> readSecondModelPath() {
  if (modelPaths.size() < 2)
    return "";
  if (modelPaths.size() > 2)
    return makeError("-model is given {0} times; accepted: once, or twice with "
                     "the nets of a Caffe2 model",
                     modelPaths.size());
  for (const std::string &path : modelPaths)
    if (!isCaffe2Path(path))
      return makeError("-model is given twice, and '{0}' is no Caffe2 net; "
                       "accepted: two files that end in .pb or .pbtxt",
                       path);
  return modelPaths[1];
}
llvm::StringRef glowish::getBackendName() { return backendName; }

llvm::Expected<ImportOptions>
glowish::getImportOptions(std::vector<SymbolValues> &several) {
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions options,
                           getImportFlags(getModelPath(),
                                          getModelPath().ends_with(".graph"),
                                          several));
  GLOWISH_ASSIGN_OR_RETURN(options.secondFile, readSecondModelPath());
  return options;
}

llvm::Expected<ImportOptions> glowish::getImportOptions() {
  std::vector<SymbolValues> several;
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions options, getImportOptions(several));
  GLOWISH_RETURN_IF_ERROR(refuseSeveral(several));
  if (!options.symbolRanges.empty())
    return makeError("-onnx-define-symbol: '{0}' has a range; accepted: one "
                     "value",
                     options.symbolRanges.begin()->first);
  return options;
}

/// The name of the pass that is called \p name; empty if none is.
static llvm::StringRef findPassName(llvm::StringRef name) {
  if (const GraphPass *pass = findPass(getGraphPasses(), name))
    return pass->name;
  if (const IRPass *pass = findPass(getIRPasses(), name))
    return pass->name;
  return {};
}

llvm::Expected<CompilationOptions>
glowish::getCompilationOptions(PhaseTimer &timer) {
  CompilationOptions options;
  options.function = getFunctionName();
  options.dumpGraph = dumpGraph;
  options.dumpIR = dumpIR;
  options.dotFile = dotFile;
  options.importedDotFile = importedDotFile;
  GLOWISH_RETURN_IF_ERROR(readPassFlags(options));
  options.printAfterAll = printAfterAll;
  if (maxActivationBytes.getNumOccurrences())
    options.maxActivationBytes = maxActivationBytes;
  options.placesIOInArena = placesIOInArena;
  if (memoryRegions.getNumOccurrences()) {
    GLOWISH_ASSIGN_OR_RETURN(options.arenaRegions,
                             parseMemoryRegions(memoryRegions));
  }
  options.verifyEach = verifyEach;
  options.timer = timePhases ? &timer : nullptr;
  for (const std::string &name : printAfter) {
    llvm::StringRef pass = findPassName(name);
    if (pass.empty())
      return makeError("-print-after={0}: there is no such pass; `glowish-opt "
                       "-list-passes` lists them",
                       name);
    for (PassOptions *kind : {&options.graphPasses, &options.irPasses})
      kind->printAfter.names.insert(pass.str());
  }
  if (!stopAfter.empty()) {
    options.stopAfter = parsePhase(stopAfter);
    if (!options.stopAfter)
      return makeError("-stop-after={0}: there is no such phase; the phases "
                       "are {1}",
                       stopAfter, listPhases());
  }
  return options;
}

bool glowish::asksForCode() { return dumpsLLVM || dumpsAssembly; }

bool glowish::asksForDumps(const CompilationOptions &options) {
  auto isAny = [](const PassOptions::Selection &selection) {
    return selection.all || !selection.names.empty();
  };
  auto prints = [&](const PassOptions &passes) {
    return passes.printNames || isAny(passes.printBefore) ||
           isAny(passes.printAfter);
  };
  return options.dumpGraph || options.dumpIR || !options.dotFile.empty() ||
         !options.importedDotFile.empty() || options.printAfterAll ||
         prints(options.graphPasses) || prints(options.irPasses) ||
         asksForCode();
}

void glowish::reportTime(const PhaseTimer &timer) {
  if (timePhases)
    timer.print(llvm::errs());
}

TargetOptions glowish::getTargetOptions() {
  TargetOptions options;
  options.triple = target;
  options.architecture = architecture;
  options.cpu = cpu;
  options.attributes = std::vector<std::string>(attributes);
  options.abi = abi;
  options.floatABI = floatABI;
  if (relocationModel.getNumOccurrences())
    options.relocationModel = relocationModel;
  options.codeModel = codeModel;
  options.dumpsLLVM = dumpsLLVM;
  options.dumpsAssembly = dumpsAssembly;
  options.winograd = winograd;
  options.isReproducible = reproducible;
  options.tune = tune;
  options.tuningFile = tuningFile;
  options.numThreads = numThreads;
  return options;
}

llvm::Expected<bool> glowish::printTargetHelp(llvm::raw_ostream &os) {
  bool listsCpus = cpu == "help";
  if (!listsCpus && !llvm::is_contained(attributes, "help"))
    return false;
  GLOWISH_ASSIGN_OR_RETURN(std::string names,
                           listTargetNames(getTargetOptions(), listsCpus));
  os << names;
  return true;
}

/// The back end \p name, given for -\p option, which runs here if \p isLocal.
static llvm::Expected<std::unique_ptr<Backend>>
makeBackend(llvm::StringRef option, llvm::StringRef name,
            const TargetOptions &target, bool isLocal) {
  for (const std::string &path : plugins)
    GLOWISH_RETURN_IF_ERROR(addContext(loadPlugin(path), "-load: "));
  llvm::Expected<const BackendInfo *> info = findBackend(name);
  if (!info)
    return addContext(info.takeError(), "-" + option + "=" + name + ": ");
  return isLocal && (*info)->createLocal ? (*info)->createLocal(target)
                                         : (*info)->create(target);
}

llvm::Expected<std::unique_ptr<Backend>> glowish::createBackend() {
  return createBackend("backend", backendName, getTargetOptions());
}

llvm::Expected<std::unique_ptr<Backend>>
glowish::createBackend(llvm::StringRef option, llvm::StringRef name,
                       const TargetOptions &target) {
  return makeBackend(option, name, target, /*isLocal=*/false);
}

llvm::Expected<std::unique_ptr<Backend>>
glowish::createLocalBackend(llvm::StringRef option, llvm::StringRef name,
                            const TargetOptions &target) {
  return makeBackend(option, name, target, /*isLocal=*/true);
}

llvm::Expected<std::unique_ptr<Backend>>
glowish::createLocalBackend(std::optional<Phase> stopAfter) {
  if (stopAfter)
    return createBackend();
  return createLocalBackend("backend", backendName, getTargetOptions());
}

llvm::Expected<std::unique_ptr<KernelTuner>>
glowish::createTuner(Backend &backend) {
  if (!tune || backend.getName() != "CPU")
    return nullptr;
  return createTuner(static_cast<CPUBackend &>(backend));
}
