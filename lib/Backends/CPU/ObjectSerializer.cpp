//===- ObjectSerializer.cpp - Programs as objects -------------------------===//

#include "JIT.h"
#include "Tuning/TuningRecord.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Support/Error.h"

using namespace glowish;

namespace glowish {

static void addToKey(KeyHasher &key, const TestingOptions &options) {
  const auto &[onlyLevel, choiceRank, compilesQuickly, dividesSmallKernels] =
      options;
  key.addAll(onlyLevel, choiceRank, compilesQuickly, dividesSmallKernels);
}

static void addToKey(KeyHasher &key, const TargetOptions &options) {
  // The tuning file's contents are added, not its name.
  const auto &[triple, architecture, cpu, attributes, abi, floatABI,
               relocationModel, codeModel, numThreads, winograd,
               packsWeightsOnce, isReproducible, roundsEachStep, tuningFile,
               tune, dumpsLLVM, dumpsAssembly, testing] = options;
  key.addAll(triple, architecture, cpu, attributes, abi, floatABI,
             relocationModel, codeModel, numThreads, winograd, packsWeightsOnce,
             isReproducible, roundsEachStep, testing);
  // What is measured is written to the file, and what is printed must be made.
  if (tune || dumpsLLVM || dumpsAssembly)
    key.refuse();
}

} // namespace glowish

namespace {

/// Code is the object that the JIT loads.
class ObjectSerializer final : public CodeSerializer {
public:
  explicit ObjectSerializer(CPUBackend &backend) : backend(backend) {}

  void addToKey(KeyHasher &key) const override {
    glowish::addToKey(key, backend.getOptions());
    // What stands for this machine in the options.
    const llvm::TargetMachine &machine = backend.getTargetMachine();
    key.addAll(machine.getTargetTriple().str(), machine.getTargetCPU(),
               machine.getTargetFeatureString());
    const TuningRecord *tuning = backend.getTuning();
    key.add(tuning ? tuning->str() : std::string());
  }

  llvm::Expected<llvm::SmallVector<char, 0>>
  serialize(const IRFunction &function, const MemoryPlan &plan) override {
    return backend.emitLocalObject(function, plan);
  }

  llvm::Expected<std::unique_ptr<Executable>>
  load(llvm::ArrayRef<char> code) override {
    return loadProgram(code, /*clock=*/nullptr,
                       getParallelFor(backend.getTarget().numThreads));
  }

private:
  CPUBackend &backend;
};

} // namespace

std::unique_ptr<CodeSerializer> CPUBackend::createCodeSerializer() {
  return std::make_unique<ObjectSerializer>(*this);
}
