//===- glowish-opt.cpp - Runs passes on a text form -----------------------===//

#include "common/GivenInputs.h"
#include "common/GlowFlags.h"
#include "common/ImportFlags.h"
#include "common/RunResults.h"
#include "common/SettingOptions.h"
#include "common/Tool.h"
#include "common/ValueOption.h"
#include "glowish/Backends/BackendRegistry.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/PassCheck.h"
#include "glowish/Graph/Contract.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Verifier.h"
#include "glowish/IR/IRText.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlanProof.h"
#include "glowish/IRGen/IRGen.h"
#include "glowish/Importer/ModelFormat.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Report/MemoryMap.h"
#include "glowish/Support/File.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::OptionCategory optCategory("Options");
static cl::OptionCategory
    targetCategory("Target (of the back end's own passes; default: this "
                   "machine)");

static cl::opt<std::string> inputPath(cl::Positional,
                                      cl::desc("<text form, or model>"),
                                      cl::cat(optCategory));
static cl::opt<std::string> secondPath(cl::Positional,
                                       cl::desc("[<the other file of a model "
                                                "of two>]"),
                                       cl::cat(optCategory));
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
static ValueOption<bool> checksContract(
    "verify-contract",
    cl::desc("Check, before passes, that the graph is what a front end "
             "delivers (docs/contract.md)"),
    cl::cat(optCategory));
static ValueOption<bool>
    checkPasses("check-passes",
                cl::desc("Interpret the first function after every pass; an "
                         "error names the first after which an output differs"),
                cl::cat(optCategory));
static ValueOption<bool>
    isRun("run",
          cl::desc("Interpret the program, after the passes, on the inputs of "
                   "-input, -random-inputs or -test-data instead of printing "
                   "it; prints the outputs, or does what -output-dir and "
                   "-expect say"),
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
static cl::opt<std::string>
    backendName("backend",
                cl::desc("Whose passes of its own may run (default CPU)"),
                cl::init("CPU"), cl::value_desc("name"), cl::cat(optCategory));
static SettingOptions targetOptions(getSettings().target, targetCategory);
static ValueOption<bool> listPasses("list-passes",
                                    cl::desc("List all passes and stop"),
                                    cl::cat(optCategory));

/// Which graphs a pass is for, as the standard pipelines run it.
static llvm::StringRef getLevel(const GraphPass &pass) {
  auto isIn = [&](const Pipeline &pipeline) {
    return llvm::any_of(pipeline, [&](const PipelineStep &step) {
      return llvm::is_contained(step.passes, pass.name);
    });
  };
  if (!isIn(getLowerPipeline()))
    return "Passes of the graph, before it is lowered";
  return isIn(getOptimizePipeline())
             ? "Passes of the graph, also when it is lowered"
             : "Passes that lower the graph, or follow that";
}

static void printPassList() {
  std::map<llvm::StringRef, std::string> levels;
  auto add = [&](llvm::StringRef level, const auto &pass) {
    std::string &lines = levels[level];
    lines += llvm::formatv(
        "  {0,-30} {1,-8} {2}", pass.name,
        pass.exactness == Exactness::Exact ? "exact" : "rounding", pass.doc);
    if (!pass.argumentForm.empty())
      lines += llvm::formatv("; {0}<{1}>", pass.name, pass.argumentForm);
    lines += "\n";
  };
  for (const GraphPass &pass : getGraphPasses())
    add(getLevel(pass), pass);
  for (const IRPass &pass : getIRPasses())
    add("Passes of the IR", pass);
  llvm::ListSeparator separator("\n");
  for (const auto &[level, lines] : levels)
    llvm::outs() << separator << level << ":\n" << lines;
}

/// Whether all -passes are of \p own, which are of the level \p level; an error
/// names the first that is not, and the level of \p other, if it is one of
/// them.
template <typename Table, typename OtherTable>
static llvm::Error checkPassNames(Table own, llvm::StringRef level,
                                  OtherTable other,
                                  llvm::StringRef otherLevel) {
  for (const std::string &pass : passes) {
    llvm::StringRef name = llvm::StringRef(pass).split('<').first;
    if (findPass(own, name))
      continue;
    if (findPass(other, name))
      return makeError("-passes={0}: a pass of the {1}, and this is the {2}; "
                       "`glowish-opt -list-passes` lists the passes of both",
                       name, otherLevel, level);
    return makeError("-passes={0}: there is no such pass; `glowish-opt "
                     "-list-passes` lists them",
                     name);
  }
  return llvm::Error::success();
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
  GLOWISH_RETURN_IF_ERROR(provePlan(function, plan).takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  printMemoryMap(os, {{function.getName().str(), &function, &plan}});
  return writeFile(memoryMap, text);
}

/// Interprets \p function on the inputs that are given; returns the exit code.
/// Outputs that are neither written to a file nor compared are printed.
static llvm::Expected<int> interpret(const IRFunction &function,
                                     const GivenTensors &given) {
  PlanOptions options;
  options.placesIOInArena = placesIOInArena;
  MemoryPlan plan = planMemory(function, options);
  GLOWISH_RETURN_IF_ERROR(provePlan(function, plan).takeError());
  std::unique_ptr<Backend> interpreter = createInterpreter();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Session> session,
                           Session::create(*interpreter, function, plan));
  GLOWISH_RETURN_IF_ERROR(fillInputs(*session, given));
  GLOWISH_RETURN_IF_ERROR(session->run());
  GLOWISH_RETURN_IF_ERROR(writeOutputs(*session));
  if (asksForResults())
    return checkOutputs(*session);
  for (const Buffer *output : session->getOutputs()) {
    Tensor value = session->getOutput(output);
    llvm::outs() << output->getModelName() << " : " << value.getType().str()
                 << " = ";
    ConstantWriter(/*sideFile=*/nullptr).print(llvm::outs(), value);
    llvm::outs() << "\n";
  }
  return ExitCode::success;
}

/// The back end of which a pass is asked for, whose name the pass begins with;
/// null if it is of none.
static llvm::Expected<std::unique_ptr<Backend>> createBackend() {
  std::string prefix = llvm::StringRef(backendName).lower() + "-";
  if (llvm::none_of(passes, [&](const std::string &pass) {
        return llvm::StringRef(pass).starts_with(prefix);
      }))
    return nullptr;
  GLOWISH_ASSIGN_OR_RETURN(const BackendInfo *info, findBackend(backendName));
  return info->create(getSettings().target.getOptions());
}

static llvm::Expected<int> runOnIR(IRFunction &function, PassCheck &check,
                                   const GivenTensors &given) {
  if (checkPasses)
    GLOWISH_RETURN_IF_ERROR(check.start(function));
  IRPassContext context;
  context.overwritesInputs = placesIOInArena ? &function : nullptr;
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend, createBackend());
  if (backend)
    context.backend = backend->getPassInput(/*choices=*/nullptr);
  llvm::Expected<bool> changed = runPipeline<IRFunction, IRPassContext>(
      pipeline ? getIRPipeline() : getPipeline(), getIRPasses(), function,
      context, getHooks<IRFunction>(check, function, getIRPasses()));
  if (!changed)
    return changed.takeError();
  GLOWISH_RETURN_IF_ERROR(verify(function));
  if (!memoryMap.empty())
    GLOWISH_RETURN_IF_ERROR(drawMemory(function));
  if (!outputPath.empty())
    GLOWISH_RETURN_IF_ERROR(writeIR(function, outputPath));
  if (isRun)
    return interpret(function, given);
  if (outputPath.empty())
    printIR(llvm::outs(), function, /*sideFile=*/nullptr);
  return ExitCode::success;
}

/// Makes IR of the graph, and runs no more passes than the pipeline's.
static llvm::Expected<int> runGenerated(Function &function, PassCheck &check,
                                        const GivenTensors &given) {
  // Graphs that are only interpreted may have nodes without an instruction.
  if (!toIR)
    GLOWISH_RETURN_IF_ERROR(lowerForInterpreter(function));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> ir,
                           generateIR(function, scheduleNodes(function)));
  passes.clear();
  return runOnIR(*ir, check, given);
}

static llvm::Expected<int> runOnModule(Module &module, PassCheck &check,
                                       const GivenTensors &given) {
  GLOWISH_RETURN_IF_ERROR(
      checkPassNames(getGraphPasses(), "graph", getIRPasses(), "IR"));
  if (toIR || isRun || checkPasses || !getFunctionName().empty())
    GLOWISH_RETURN_IF_ERROR(addContext(
        selectFunction(module, getFunctionName()), "'" + inputPath + "': "));
  if (checksContract)
    GLOWISH_RETURN_IF_ERROR(
        addContext(verifyContract(module), "'" + inputPath + "': "));
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
  if (!outputPath.empty() && !toIR)
    GLOWISH_RETURN_IF_ERROR(writeModule(module, outputPath));
  if (toIR || isRun)
    return runGenerated(*module.getFunctions().front(), check, given);
  if (outputPath.empty())
    printModule(llvm::outs(), module, /*sideFile=*/nullptr);
  return ExitCode::success;
}

/// Whether the first word of the text says that it is IR.
static bool isIRText(llvm::StringRef text) {
  while (!(text = text.ltrim()).empty() && text.consume_front("//"))
    text = text.drop_until([](char c) { return c == '\n'; });
  return text.starts_with("ir ");
}

/// Refuses options that need -run.
static llvm::Error checkRunOptions() {
  if (!isRun && asksForResults() && !checkPasses)
    return makeError("-output-dir, -expect and -test-data are for the results "
                     "of -run");
  return llvm::Error::success();
}

/// Imports the model at \p path.
static llvm::Expected<std::unique_ptr<Module>>
importModel(llvm::StringRef path, const ModelFormat &format,
            ImportOptions options) {
  options.evaluate = evaluateNode;
  options.secondFile = secondPath;
  return format.import(path, options);
}

static llvm::Expected<int> optimize() {
  if (listPasses) {
    printPassList();
    return ExitCode::success;
  }
  if (inputPath.empty())
    return makeError("no input; state a file");
  llvm::StringRef path = inputPath;
  GLOWISH_RETURN_IF_ERROR(checkRunOptions());
  // Other files are text forms, whatever their names end in.
  const ModelFormat *format = nullptr;
  if (!isTextForm(path))
    GLOWISH_ASSIGN_OR_RETURN(format, recognizeModel(path));
  if (!secondPath.empty() && !(format && format->hasSecondFile))
    return makeError(
        "'{0}' is no {1} model, and there is a second file '{2}'", path,
        joinFormatNames([](auto &each) { return each.hasSecondFile; }),
        secondPath);
  GLOWISH_ASSIGN_OR_RETURN(ImportOptions importOptions,
                           getImportFlags(path, format));
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
  stateGivenTypes(given, importOptions);
  PassCheck check([&](Session &session) { return fillInputs(session, given); });
  if (format) {
    GLOWISH_ASSIGN_OR_RETURN(
        std::unique_ptr<Module> module,
        importModel(path, *format, std::move(importOptions)));
    return runOnModule(*module, check, given);
  }
  GLOWISH_ASSIGN_OR_RETURN(auto text, readFile(path));
  if (isIRText(text->getBuffer())) {
    if (!getFunctionName().empty())
      return makeError("-function={0}: '{1}' is IR, which is one function",
                       getFunctionName(), path);
    GLOWISH_RETURN_IF_ERROR(
        checkPassNames(getIRPasses(), "IR", getGraphPasses(), "graph"));
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<IRFunction> function,
                             readIR(path));
    return runOnIR(*function, check, given);
  }
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, readModule(path));
  return runOnModule(*module, check, given);
}

int main(int argc, char **argv) {
  return runTool(
      argc, argv,
      "Reads a graph or an IR function, runs passes and prints it.\n",
      {&optCategory, &targetCategory, &modelCategory, &inputCategory,
       &runCategory},
      optimize);
}
