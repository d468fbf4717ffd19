//===- CodeGeneration.cpp - From LLVM IR to machine code ------------------===//

#include "CodeGeneration.h"
#include "glowish/Backends/CPU/FatalErrors.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/InitializePasses.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/Regex.h"

using namespace glowish;

//===- What LLVM cannot do ------------------------------------------------===//

namespace {

/// What this thread makes code of.
struct CodeInProgress {
  std::string target, function;
};

} // namespace

static thread_local CodeInProgress inProgress;

CodeScope::CodeScope(llvm::StringRef target) {
  inProgress = {target.str(), ""};
}

CodeScope::~CodeScope() { inProgress = {}; }

/// \p reason as an error that names target and function. LLVM writes addresses
/// into the first line, and may name the function in a later one.
static std::string describeFailure(llvm::StringRef function,
                                   llvm::StringRef reason) {
  std::string line = reason.trim().split('\n').first.str();
  llvm::Regex address(" ?0x[0-9a-f]+:?");
  while (address.match(line))
    line = address.sub("", line);
  if (function.empty())
    function = reason.split("In function: ").second.split('\n').first;
  if (inProgress.target.empty())
    return "LLVM: " + line;
  std::string place =
      function.empty() ? "" : " of function '" + function.str() + "'";
  return "target '" + inProgress.target + "': LLVM cannot make code" + place +
         ": " + line;
}

std::string glowish::describeFatalError(llvm::StringRef reason) {
  return describeFailure(inProgress.function, reason);
}

namespace {

/// Keeps the first error that LLVM reports about a module, which it would print
/// before it ends the process.
class FirstError final : public llvm::DiagnosticHandler {
public:
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error || !text.empty())
      return true;
    if (const auto *unsupported =
            llvm::dyn_cast<llvm::DiagnosticInfoUnsupported>(&info)) {
      text = describeFailure(unsupported->getFunction().getName(),
                             unsupported->getMessage().str());
      return true;
    }
    std::string message;
    llvm::raw_string_ostream os(message);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info.print(printer);
    text = describeFailure(inProgress.function, message);
    return true;
  }

  std::string text;
};

/// Has errors of LLVM about a module kept while it is there.
class ErrorScope {
public:
  ErrorScope(llvm::Module &module, const llvm::TargetMachine &machine)
      : code(machine.getTargetTriple().str()), context(module.getContext()),
        before(context.getDiagnosticHandler()) {
    auto handler = std::make_unique<FirstError>();
    first = handler.get();
    context.setDiagnosticHandler(std::move(handler));
  }
  ErrorScope(const ErrorScope &) = delete;
  ~ErrorScope() { context.setDiagnosticHandler(std::move(before)); }

  llvm::Error take() const {
    return first->text.empty() ? llvm::Error::success()
                               : makeError("{0}", first->text);
  }

private:
  CodeScope code;
  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> before;
  FirstError *first;
};

} // namespace

//===- Passes -------------------------------------------------------------===//

/// The share of a compilation that is done when LLVM's passes begin, and when
/// machine code is made: estimates.
static constexpr double shareBeforePasses = 0.35, shareBeforeCode = 0.5;

/// Whether the address depends on where a padded window starts, max(0, ...).
static bool dependsOnWindowStart(llvm::Instruction &address,
                                 llvm::ScalarEvolution &scalarEvolution) {
  return llvm::SCEVExprContains(scalarEvolution.getSCEV(&address),
                                [](const llvm::SCEV *part) {
                                  return llvm::isa<llvm::SCEVSMaxExpr>(part);
                                });
}

/// The loop within `outer`, and just below it, that has the use, or null.
static llvm::Loop *findLoopOfUse(const llvm::Use &use, const llvm::Loop &outer,
                                 const llvm::LoopInfo &loops) {
  llvm::Loop *loop = loops.getLoopFor(
      llvm::cast<llvm::Instruction>(use.getUser())->getParent());
  while (loop && loop->getParentLoop() != &outer)
    loop = loop->getParentLoop();
  return loop;
}

/// Freezes addresses that depend on where a padded window starts, for the loops
/// over the window: LLVM's loop strength reduction can't see through a freeze.
/// It would try the variables of the loops around for each access of the
/// unrolled code, which took half of the time of compiling a convolution, and
/// made the code larger. An address that it can't see keeps a register of its
/// own, so loops with many of them are left as they are.
static void freezeWindowStarts(llvm::Function &function, llvm::LoopInfo &loops,
                               llvm::ScalarEvolution &scalarEvolution) {
  constexpr size_t maxNumAddresses = 4;
  using Uses = llvm::SmallVector<llvm::Use *>;
  llvm::MapVector<llvm::Loop *, llvm::MapVector<llvm::Instruction *, Uses>>
      addressesOf;
  for (llvm::Instruction &address : llvm::instructions(function)) {
    llvm::Loop *outer = loops.getLoopFor(address.getParent());
    if (!outer || !llvm::isa<llvm::GetElementPtrInst>(address))
      continue;
    llvm::MapVector<llvm::Loop *, Uses> usesIn;
    for (llvm::Use &use : address.uses())
      if (llvm::Loop *loop = findLoopOfUse(use, *outer, loops))
        usesIn[loop].push_back(&use);
    if (!usesIn.empty() && dependsOnWindowStart(address, scalarEvolution))
      for (auto &[loop, uses] : usesIn)
        addressesOf[loop][&address] = std::move(uses);
  }
  for (auto &[loop, addresses] : addressesOf) {
    if (addresses.size() > maxNumAddresses)
      continue;
    for (auto &[address, uses] : addresses) {
      auto *frozen =
          new llvm::FreezeInst(address, "", std::next(address->getIterator()));
      for (llvm::Use *use : uses)
        use->set(frozen);
    }
  }
}

/// Whether the pass is one that takes a while and changes no kernel. They have
/// no call through a pointer that could be known, no loop that keeps in
/// registers what the iteration before loaded, no arithmetic with dead bits, no
/// idiom of scalar code (AggressiveInstCombine), and no loop that is to be
/// unrolled; the passes behind LoopInstSimplify do what it would.
static bool findsNothing(llvm::StringRef pass) {
  return llvm::is_contained({"AggressiveInstCombinePass", "BDCEPass",
                             "CalledValuePropagationPass", "LoopFullUnrollPass",
                             "LoopInstSimplifyPass", "LoopLoadEliminationPass",
                             "LoopUnrollPass"},
                            pass);
}

/// The kernels state their own vectors and unrolling: LLVM's passes clean up
/// and allocate registers, and must not undo the tiling.
llvm::Error glowish::optimizeModule(llvm::Module &module,
                                    llvm::TargetMachine &machine) {
  reportProgress("optimize code", shareBeforePasses);
  ErrorScope errors(module, machine);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef pass, llvm::Any) {
        return !isCancelled() && !findsNothing(pass);
      });
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      freezeWindowStarts(
          function, functions.getResult<llvm::LoopAnalysis>(function),
          functions.getResult<llvm::ScalarEvolutionAnalysis>(function));
  return errors.take();
}

namespace {

/// Runs on each function after the code of the one before it has been made:
/// notes its name, reports progress, and empties the functions that are left
/// where the task is cancelled, since LLVM's passes can't be stopped. Comes
/// first, before there are analyses of what it empties.
class TaskPass final : public llvm::FunctionPass {
public:
  static char ID;
  TaskPass() : llvm::FunctionPass(ID) {}

  bool doInitialization(llvm::Module &module) override {
    numFunctions = size_t(llvm::count_if(
        module, [](const llvm::Function &each) { return !each.empty(); }));
    return false;
  }

  bool runOnFunction(llvm::Function &function) override {
    inProgress.function = function.getName().str();
    reportProgress("generate code", shareBeforeCode + (1 - shareBeforeCode) *
                                                          double(numDone++) /
                                                          double(numFunctions));
    if (!isCancelled())
      return false;
    for (llvm::BasicBlock &block : function)
      block.dropAllReferences();
    while (!function.empty())
      function.back().eraseFromParent();
    new llvm::UnreachableInst(
        function.getContext(),
        llvm::BasicBlock::Create(function.getContext(), "", &function));
    return true;
  }

private:
  size_t numFunctions = 1, numDone = 0;
};

} // namespace

char TaskPass::ID = 0;

/// LLVM makes the pass by its ID.
static void registerTaskPass() {
  static llvm::RegisterPass<TaskPass> registration(
      "glowish-task", "Watches the generation of code");
}

llvm::Error glowish::emitCode(llvm::Module &module,
                              llvm::TargetMachine &machine,
                              llvm::CodeGenFileType kind,
                              llvm::SmallVectorImpl<char> &code) {
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  registerTaskPass();
  ErrorScope errors(module, machine);
  llvm::raw_svector_ostream os(code);
  llvm::legacy::PassManager passes;
  // What TargetMachine::addPassesToEmitFile does, with one pass more, behind
  // one of the first that all targets have.
  auto &target = static_cast<llvm::LLVMTargetMachine &>(machine);
  auto *info = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig *config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  config->insertPass(&llvm::AtomicExpandID, &TaskPass::ID);
  passes.add(config);
  passes.add(info);
  bool isRefused = config->addISelPasses();
  if (!isRefused) {
    config->addMachinePasses();
    config->setInitialized();
    isRefused = target.addAsmPrinter(passes, os, nullptr, kind,
                                     info->getMMI().getContext());
  }
  if (isRefused)
    return makeError("target '{0}' cannot write object files",
                     machine.getTargetTriple().str());
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  return errors.take();
}
