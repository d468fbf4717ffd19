//===- CodeGeneration.cpp - From LLVM IR to machine code ------------------===//

#include "CodeGeneration.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Task.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/InitializePasses.h"
#include "llvm/Passes/PassBuilder.h"

using namespace glowish;

/// The share of a compilation that is done when LLVM's passes begin, and when
/// machine code is made: estimates.
static constexpr double shareBeforePasses = 0.35, shareBeforeCode = 0.5;

/// The kernels state their own vectors and unrolling: LLVM's passes clean up
/// and allocate registers, and must not undo the tiling.
void glowish::optimizeModule(llvm::Module &module,
                             llvm::TargetMachine &machine) {
  reportProgress("optimize code", shareBeforePasses);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  tuning.LoopInterleaving = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [](llvm::StringRef, llvm::Any) { return !isCancelled(); });
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
}

namespace {

/// Runs on each function after the code of the one before it has been made:
/// reports progress, and empties the functions that are left where the task is
/// cancelled, since LLVM's passes can't be stopped. Comes first, before there
/// are analyses of what it empties.
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
  return checkCancelled();
}
