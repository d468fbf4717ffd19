//===- glowish-opt.cpp - Runs passes on a text form -----------------------===//

#include "common/GivenInputs.h"
#include "common/GlowFlags.h"
#include "common/InputTypes.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Report/MemoryMap.h"
#include "glowish/Support/File.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory optCategory("Options");

static cl::opt<std::string> inputPath(cl::Positional,
                                      cl::desc("<text form, or ONNX or Caffe2 "
                                               "model>"),
                                      cl::cat(optCategory));
static cl::opt<std::string> secondPath(cl::Positional,
                                       cl::desc("[<the other net of Caffe2>]"),
                                       cl::cat(optCategory));
static cl::list<std::string> modelInputs(
    "model-input",
    cl::desc("State the type of an input of a model that is imported: "
             "-model-input=data,float,[1,3,8,8]"),
    cl::value_desc("name,type[,scale,offset],[dims]"), cl::cat(optCategory));
static cl::opt<std::string>
    outputPath("o",
               cl::desc("Write here, large constants to FILE.weights; without "
                        "it, print with large constants elided"),
               cl::value_desc("file"), cl::cat(optCategory));
static cl::list<std::string> passes("passes", cl::CommaSeparated,
                                    cl::desc("Run these passes, in order"),
                                    cl::value_desc("pass,..."),
                                    cl::cat(optCategory));
static ValueOption<bool>
    verifyEach("verify-each", cl::desc("Run the verifier after every pass"),
               cl::cat(optCategory));
static ValueOption<bool>
    checkPasses("check-passes",
                cl::desc("Interpret the first function after every pass; an "
                         "error names the first after which an output differs"),
                cl::cat(optCategory));
static ValueOption<bool> toIR("emit-ir",
                              cl::desc("Schedule a graph and print its IR"),
                              cl::cat(optCategory));
static ValueOption<bool>
    pipeline("pipeline",
             cl::desc("Run the standard pipelines instead of "
                      "single passes"),
             cl::cat(optCategory));
static cl::opt<std::string>
    memoryMap("memory-map",
              cl::desc("Plan the memory of the IR and draw the arena over time "
                       "as SVG into this file"),
              cl::value_desc("file"), cl::cat(optCategory));
static ValueOption<bool> placesIOInArena(
    "io-in-activations",
    cl::desc("Passes and plan may have inputs and outputs in the memory for "
             "activations"),
    cl::cat(optCategory));
static ValueOption<bool> listPasses("list-passes",
                                    cl::desc("List all passes and stop"),
                                    cl::cat(optCategory));

static void printPassList() {
  auto print = [](llvm::StringRef title, auto table) {
    llvm::outs() << title << ":\n";
    for (const auto &pass : table)
      llvm::outs() << llvm::formatv(
          "  {0,-24} {1,-8} {2}\n", pass.name,
          pass.exactness == Exactness::Exact ? "exact" : "rounding", pass.doc);
  };
  print("Graph passes", getGraphPasses());
  print("IR passes", getIRPasses());
}

/// The passes of the command line as a pipeline.
static Pipeline getPipeline() {
  if (passes.empty())
    return {};
  return {{std::vector<std::string>(passes), /*toFixedPoint=*/false}};
}

/// \p whole: what \p check interprets after each of \p table's passes.
template <typename Unit, typename Whole, typename Table>
static PassHooks<Unit> getHooks(PassCheck &check, Whole &whole, Table table) {
  PassHooks<Unit> hooks;
  hooks.after = [&check, &whole, table](llvm::StringRef pass, Unit &unit,
                                        bool changed) -> llvm::Error {
    if (verifyEach)
      GLOWISH_RETURN_IF_ERROR(
          addContext(verify(unit), "after pass " + pass + ": "));
    if (checkPasses && changed)
      return check.check("pass " + pass.str(), findPass(table, pass)->exactness,
                         whole);
    return llvm::Error::success();
  };
  return hooks;
}

static llvm::Error drawMemory(const IRFunction &function) {
  PlanOptions options;
  options.placesIOInArena = placesIOInArena;
  MemoryPlan plan = planMemory(function, options);
  GLOWISH_RETURN_IF_ERROR(verifyPlan(function, plan));
  std::string text;
  llvm::raw_string_ostream os(text);
  printMemoryMap(os, {{function.getName().str(), &function, &plan}});
  return writeFile(memoryMap, text);
}

static llvm::Error runOnIR(IRFunction &function, PassCheck &check) {
  if (checkPasses)
    GLOWISH_RETURN_IF_ERROR(check.start(function));
  IRPassContext context;
  context.overwritesInputs = placesIOInArena ? &function : nullptr;
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      pipeline ? getIRPipeline() : getPipeline(), getIRPasses(), function,
      context, getHooks<IRFunction>(check, function, getIRPasses()));
  if (!changed)
    return changed.takeError();
  GLOWISH_RETURN_IF_ERROR(verify(function));
  if (!memoryMap.empty())
    GLOWISH_RETURN_IF_ERROR(drawMemory(function));
  if (!outputPath.empty())
    return writeIR(function, outputPath);
  printIR(llvm::outs(), function, /*sideFile=*/nullptr);
  return llvm::Error::success();
}

static llvm::Error runOnModule(Module &module, PassCheck &check) {
  GraphPassContext context;
  context.evaluate = evaluateNode;
  std::unique_ptr<Backend> interpreter = createInterpreter();
  context.isSupported = [&](const Node &node) {
    return interpreter->isSupported(node);
  };
  Pipeline steps = getPipeline();
  if (pipeline) {
    steps = getOptimizePipeline();
    llvm::append_range(steps, getLowerPipeline());
  }
  if (checkPasses)
    GLOWISH_RETURN_IF_ERROR(check.start(module));
  for (const auto &function : module.getFunctions()) {
    llvm::Expected<bool> changed = runPipeline<Function, GraphPassContext>(
        steps, getGraphPasses(), *function, context,
        getHooks<Function>(check, module, getGraphPasses()));
    if (!changed)
      return changed.takeError();
  }
  GLOWISH_RETURN_IF_ERROR(verify(module));
  if (!memoryMap.empty() && !toIR)
    return makeError("-memory-map={0}: a graph has no memory plan; -emit-ir "
                     "makes IR of it",
                     memoryMap.getValue());
  if (toIR) {
    if (module.getFunctions().empty())
      return makeError("the module has no function; -emit-ir needs one");
    Function &function = *module.getFunctions().front();
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                             generateIR(function, scheduleNodes(function)));
    passes.clear();
    return runOnIR(*ir, check);
  }
  if (!outputPath.empty())
    return writeModule(module, outputPath);
  printModule(llvm::outs(), module, /*sideFile=*/nullptr);
  return llvm::Error::success();
}

/// Whether the first word of the text says that it is IR.
static bool isIRText(llvm::StringRef text) {
  while (!(text = text.ltrim()).empty() && text.consume_front("//"))
    text = text.drop_until([](char c) { return c == '\n'; });
  return text.starts_with("ir ");
}

static llvm::Expected<int> optimize() {
  if (listPasses) {
    printPassList();
    return ExitCode::success;
  }
  if (inputPath.empty())
    return makeError("no input; state a file");
  llvm::StringRef path = inputPath;
  GLOWISH_RETURN_IF_ERROR(checkGlowModel(path));
  bool isCaffe2 = isCaffe2Path(path);
  bool isModel =
      isCaffe2 || path.ends_with(".onnx") || path.ends_with(".onnxtxt");
  if (!secondPath.empty() && !isCaffe2)
    return makeError("'{0}' is no Caffe2 net, and there is a second file '{1}'",
                     path, secondPath);
  if (!modelInputs.empty() && !isModel)
    return makeError("-model-input: '{0}' is a text form, which states all "
                     "types",
                     path);
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
  PassCheck check([&](Session &session) { return fillInputs(session, given); });
  if (isModel) {
    ImportOptions options;
    options.evaluate = evaluateNode;
    options.secondFile = secondPath;
    options.warn = [](llvm::StringRef line) {
      llvm::errs() << "warning: " << line << "\n";
    };
    GLOWISH_RETURN_IF_ERROR(readInputTypes(modelInputs, options));
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                             isCaffe2 ? importCaffe2File(path, options)
                                      : importOnnxFile(path, options));
    GLOWISH_RETURN_IF_ERROR(runOnModule(*module, check));
    return ExitCode::success;
  }
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(path));
  if (isIRText(text->getBuffer())) {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> function,
                             readIR(path));
    GLOWISH_RETURN_IF_ERROR(runOnIR(*function, check));
    return ExitCode::success;
  }
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, readModule(path));
  GLOWISH_RETURN_IF_ERROR(runOnModule(*module, check));
  return ExitCode::success;
}

int main(int argc, char **argv) {
  return runTool(
      argc, argv,
      "Reads a graph or an IR function, runs passes and prints it.\n",
      {&optCategory, &inputCategory}, optimize);
}
