//===- glowish-check-llvm-ir.cpp - Interprets kernels' LLVM IR ------------===//
//
// Compiles models, and interprets the LLVM IR that the emitters make and what
// LLVM's passes make of it, with an interpreter that shares no code with them.
// Both must leave the same bits in the outputs, close to what the project's
// interpreter computes, and access nothing outside of their memory.
//
//===----------------------------------------------------------------------===//

#include "CodeGeneration.h"
#include "Comparison.h"
#include "PlantedErrors.h"
#include "common/Tool.h"
#include "glowish/Support/Error.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace glowish;
using namespace glowish::irinterp;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("<models>"), cl::cat(category));
static cl::opt<std::string> triple("target", cl::desc("Target triple"),
                                   cl::cat(category));
static cl::opt<std::string> processor("mcpu", cl::desc("Target CPU"),
                                      cl::cat(category));
static cl::list<std::string> attributes("mattr", cl::CommaSeparated,
                                        cl::desc("Features of the target"),
                                        cl::cat(category));
static cl::opt<bool> runsFiles(
    "run",
    cl::desc("The files are LLVM IR: interpret the functions without "
             "parameters, and print what they return or what is wrong"),
    cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("Of the inputs"), cl::init(1),
                              cl::cat(category));
static cl::opt<double> tolerance(
    "tolerance",
    cl::desc("The largest error, as a share of the largest magnitude"),
    cl::init(1e-4), cl::cat(category));
static cl::opt<unsigned> numPlanted(
    "plant",
    cl::desc("Plant this many errors of each kind into the optimized "
             "LLVM IR, and print how many are found"),
    cl::init(0), cl::cat(category));
static cl::opt<unsigned> choiceRank(
    "choice-rank",
    cl::desc("The convolution algorithm of this rank, not the fastest"),
    cl::init(0), cl::cat(category));

/// Why a planted error is found; success where it is not.
static llvm::Error checkPlanted(const CheckedModel &model,
                                const llvm::Module &module,
                                const Outputs &before) {
  GLOWISH_ASSIGN_OR_RETURN(Outputs after, model.interpret(module));
  return compareBits(before, after);
}

/// How many errors were planted, and how many of them found.
static unsigned allPlanted = 0, allFound = 0;

static void plantErrors(const CheckedModel &model, const llvm::Module &module,
                        const Outputs &before) {
  for (const PlantedError &error : getPlantedErrors()) {
    // Spread over the module: the first ones are alike.
    for (unsigned i = 0; i < numPlanted; ++i) {
      std::unique_ptr<llvm::Module> changed = llvm::CloneModule(module);
      std::string place;
      if (!plantError(*changed, error, 7 * i, place))
        break;
      ++allPlanted;
      llvm::Error result = checkPlanted(model, *changed, before);
      if (result)
        ++allFound;
      else
        llvm::outs() << "not found: " << error.name << " in " << place << "\n";
      llvm::consumeError(std::move(result));
    }
  }
}

/// A model that the compiler refuses is no error here.
static llvm::Expected<CheckedModel> createModel(CPUBackend &backend,
                                                llvm::StringRef file) {
  auto model = CheckedModel::create(backend, file, seed);
  if (!model)
    return llvm::make_error<Unsupported>(llvm::toString(model.takeError()));
  return model;
}

/// Returns the number of interpreted instructions before and after the passes.
static llvm::Expected<std::pair<uint64_t, uint64_t>>
check(CPUBackend &backend, llvm::StringRef file) {
  GLOWISH_ASSIGN_OR_RETURN(CheckedModel model, createModel(backend, file));
  llvm::LLVMContext context;
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                           model.emit(context));
  GLOWISH_ASSIGN_OR_RETURN(Outputs before, model.interpret(*module));
  GLOWISH_RETURN_IF_ERROR(optimizeModule(*module, backend.getTargetMachine()));
  GLOWISH_ASSIGN_OR_RETURN(Outputs after, model.interpret(*module));
  GLOWISH_RETURN_IF_ERROR(compareBits(before, after));
  if (tolerance >= 0) {
    GLOWISH_ASSIGN_OR_RETURN(Outputs reference, model.getReference());
    GLOWISH_RETURN_IF_ERROR(compareValues(after, reference, tolerance));
  }
  if (numPlanted > 0)
    plantErrors(model, *module, before);
  return std::make_pair(before.numSteps, after.numSteps);
}

static void printResult(llvm::Expected<llvm::SmallVector<Lane, 8>> lanes) {
  if (!lanes) {
    llvm::outs() << " error: " << llvm::toString(lanes.takeError()) << "\n";
    return;
  }
  for (const Lane &lane : *lanes) {
    llvm::outs() << " ";
    if (lane.isPoison)
      llvm::outs() << "poison";
    else
      llvm::outs() << lane.bits;
  }
  llvm::outs() << "\n";
}

/// Interprets the functions of a file with LLVM IR.
static llvm::Error runFile(const std::string &file) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module =
      llvm::parseIRFile(file, diagnostic, context);
  if (!module)
    return makeError("{0}: {1}", file, diagnostic.getMessage());
  for (const llvm::Function &function : *module) {
    if (function.isDeclaration() || function.hasLocalLinkage() ||
        !function.arg_empty())
      continue;
    Memory memory(module->getDataLayout().getPointerSizeInBits());
    Interpreter interpreter(*module, memory);
    llvm::outs() << "@" << function.getName() << ":";
    printResult(interpreter.run(function, {}));
  }
  return llvm::Error::success();
}

static llvm::Expected<int> checkAll() {
  if (runsFiles) {
    for (const std::string &file : files)
      GLOWISH_RETURN_IF_ERROR(runFile(file));
    return success;
  }
  TargetOptions options;
  options.triple = triple;
  options.cpu = processor;
  options.attributes.assign(attributes.begin(), attributes.end());
  options.testing.choiceRank = choiceRank;
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<CPUBackend> backend,
                           CPUBackend::create(options));
  unsigned wrong = 0, leftOut = 0;
  for (const std::string &file : files) {
    auto steps = check(*backend, file);
    if (steps) {
      llvm::outs() << file << ": same, " << steps->first << " and "
                   << steps->second << " instructions\n";
      continue;
    }
    llvm::Error error = steps.takeError();
    bool isUnsupported = error.isA<Unsupported>();
    ++(isUnsupported ? leftOut : wrong);
    llvm::outs() << file
                 << (isUnsupported ? ": not interpreted: " : ": WRONG: ")
                 << llvm::toString(std::move(error)) << "\n";
  }
  llvm::outs() << files.size() - wrong - leftOut << " right, " << wrong
               << " wrong, " << leftOut << " not interpreted\n";
  if (numPlanted > 0)
    llvm::outs() << allFound << " of " << allPlanted
                 << " planted errors found\n";
  // Some change nothing: a loop whose last round writes what was there.
  bool findsEnough = allFound >= 0.9 * allPlanted && (!numPlanted || allFound);
  return wrong || !findsEnough ? mismatch : success;
}

int main(int argc, char **argv) {
  return runTool(
      argc, argv,
      "Interprets the LLVM IR of models before and after LLVM's passes\n",
      {&category}, checkAll);
}
