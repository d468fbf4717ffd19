//===- CommonOptions.cpp - Options shared by the tools --------------------===//

#include "common/CommonOptions.h"
#include "common/GlowFlags.h"
#include "common/PassFlags.h"
#include "common/SettingOptions.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/IR/Passes.h"
#include "glowish/Importer/ModelFormat.h"

using namespace glowish;
namespace cl = llvm::cl;

cl::OptionCategory glowish::debugCategory("Options to look inside");
cl::OptionCategory glowish::targetCategory("Target options");

/// Returns the help of -model; the text outlives the option.
static llvm::StringRef describeModels() {
  static const std::string text = [] {
    std::string list = "The model: ";
    for (const ModelFormat *format : listModelFormats())
      list += format->description.str() + ", ";
    return list + "or a text form (.graph). Given twice for a model of two "
                  "files, and for each function of a bundle with several";
  }();
  return text;
}

static cl::list<std::string> modelPaths("model", cl::desc(describeModels()),
                                        cl::value_desc("path"),
                                        cl::cat(modelCategory));
static cl::alias modelPathsAlias("m", cl::desc("Alias of -model"),
                                 cl::aliasopt(modelPaths));
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

static SettingOptions compilationOptions(getSettings().compilation,
                                         modelCategory);
static SettingOptions targetOptions(getSettings().target, targetCategory);

llvm::Error glowish::loadPlugins() {
  return getSettings().compilation.loadPlugins();
}

llvm::StringRef glowish::getModelPath() {
  return modelPaths.empty() ? llvm::StringRef() : modelPaths.front();
}

llvm::Error glowish::checkModelPath() {
  if (getModelPath().empty())
    return makeError("no model; state one with -model=FILE");
  return llvm::Error::success();
}

/// The name of the pass that is called \p name; empty if none is.
static llvm::StringRef findPassName(llvm::StringRef name) {
  if (const GraphPass *pass = findPass(getGraphPasses(), name))
    return pass->name;
  if (const IRPass *pass = findPass(getIRPasses(), name))
    return pass->name;
  return {};
}

/// Reads -dump-graph, -print-after...
static llvm::Expected<CompilationOptions>
readCompilationFlags(PhaseTimer &timer) {
  CompilationOptions options;
  options.dumpGraph = dumpGraph;
  options.dumpIR = dumpIR;
  options.dotFile = dotFile;
  options.importedDotFile = importedDotFile;
  GLOWISH_RETURN_IF_ERROR(readPassFlags(options));
  options.printAfterAll = printAfterAll;
  options.verifyEach = verifyEach;
  options.timer = &timer;
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

static DeveloperOptions readDumpFlags() {
  DeveloperOptions developer;
  developer.dumpsLLVM = dumpsLLVM;
  developer.dumpsAssembly = dumpsAssembly;
  return developer;
}

llvm::Expected<ModelCompiler> glowish::createModelCompiler(PhaseTimer &timer) {
  GLOWISH_RETURN_IF_ERROR(checkModelPath());
  DeveloperOptions developer = readDumpFlags();
  // Passes of plug-ins have names, too.
  GLOWISH_RETURN_IF_ERROR(loadPlugins());
  GLOWISH_ASSIGN_OR_RETURN(developer.options, readCompilationFlags(timer));
  ModelSource source = {std::vector<std::string>(modelPaths), printWarning};
  return ModelCompiler(getSettings(), std::move(source), std::move(developer));
}

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
         prints(options.graphPasses) || prints(options.irPasses) || dumpsLLVM ||
         dumpsAssembly;
}

void glowish::reportTime(const PhaseTimer &timer) {
  if (timePhases)
    timer.print(llvm::errs());
}

TargetOptions glowish::getTargetOptions() {
  return readDumpFlags().getTarget(getSettings().target);
}

/// Prints the names that -target=help, -mcpu=help or -mattr=help asks for.
static llvm::Expected<bool> printTargetHelp() {
  GLOWISH_ASSIGN_OR_RETURN(std::string names, getSettings().target.getHelp());
  llvm::outs() << names;
  return !names.empty();
}
static const ListPrinter targetHelpPrinter(printTargetHelp);
