//===- CPUBackend.h - Native code through LLVM ------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_CPUBACKEND_H
#define GLOWISH_BACKENDS_CPU_CPUBACKEND_H

#include "glowish/Backends/Backend.h"
#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/Backends/Variants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <optional>
#include <set>

namespace glowish {

/// The most threads that kernels are split for.
constexpr unsigned maxThreads = 256;

class TuningRecord;
struct ConvolutionCandidate;
struct ConvolutionProblem;
struct TuningKey;

/// The largest m of Winograd's F(m x m, 3 x 3) that convolutions may be
/// computed with.
enum class WinogradLimit : unsigned { None = 0, F2 = 2, F4 = 4 };

/// Options for tests and for finding errors of the compiler: code that is made
/// with them is correct, and slower.
struct TestingOptions {
  /// Of several levels, the one that code is made for, with the weights that
  /// all of them share: for levels below the processor's own. Empty: all.
  std::string onlyLevel;
  /// The convolution algorithm of this rank by the estimated time, or the last:
  /// for those that are not the fastest.
  unsigned choiceRank = 0;
  /// LLVM does not optimize: for many small programs, which take longer to
  /// compile than to run.
  bool compilesQuickly = false;
  /// Small kernels are divided into tasks, too, where there are threads.
  bool dividesSmallKernels = false;
};

/// The target machine. Empty strings mean the host.
struct TargetOptions {
  std::string triple;
  /// Takes the place of the triple's where it is not empty; a name of LLVM's.
  std::string architecture;
  /// One, or levels of x86-64 separated by commas.
  std::string cpu;
  std::vector<std::string> attributes;
  std::string abi;
  llvm::FloatABI::ABIType floatABI = llvm::FloatABI::Default;
  /// Without a value: position independent where there is a system.
  std::optional<llvm::Reloc::Model> relocationModel;
  llvm::CodeModel::Model codeModel = llvm::CodeModel::Small;
  /// Threads that kernels are split for; 1 for a program without threads.
  unsigned numThreads = 1;
  WinogradLimit winograd = WinogradLimit::F4;
  /// A weight that several programs share is packed in one way for all of them,
  /// however much slower than their own ways that is.
  bool packsWeightsOnce = false;
  /// Float results have the same bits on all targets that can have this, and
  /// with any number of threads. NaNs may differ in their bits.
  bool isReproducible = false;
  /// Each step of an element-wise chain of float16 or bfloat16 is rounded by
  /// itself, as the interpreter does.
  bool roundsEachStep = false;
  /// Measured choices of convolution algorithms. For the shapes in it, they
  /// override the choices by estimate. May be empty.
  std::string tuningFile;
  /// A tuner is to measure the shapes that tuningFile lacks (createTuner) and
  /// write them to it: it need not exist yet.
  bool tune = false;
  /// Print the optimised LLVM IR, and the assembly, to stderr.
  bool dumpsLLVM = false;
  bool dumpsAssembly = false;
  TestingOptions testing;

  /// Whether code is for this machine, with all that its processor has.
  bool isForHost() const { return triple.empty() && architecture.empty(); }
};

/// The names that TargetOptions::cpu, or with their meaning those that
/// TargetOptions::attributes may have for the triple of \p options, a line
/// each.
llvm::Expected<std::string> listTargetNames(const TargetOptions &options,
                                            bool listsCpus);

/// The arguments of an entry behind the regions, and what it returns.
struct EntryForm {
  /// A pointer to what Executable::run calls \p bound.
  bool bindsPlaceholders = false;
  /// An InstrClock; the entry calls glowish_mark with it between instructions.
  bool isTimed = false;
  /// Whether the status tells which loop or call failed first: the module has a
  /// message for each.
  bool namesFailures = false;
};

/// The LLVM back end: compiles in memory for the host (ORC), and to objects for
/// any target of LLVM.
class CPUBackend : public Backend {
public:
  /// The error names a triple, CPU or feature that LLVM does not support, or
  /// the fault of the tuning file.
  static llvm::Expected<std::unique_ptr<CPUBackend>>
  create(const TargetOptions &options);
  /// The same for what runs what it compiles: the error says why this machine
  /// can't run code for \p options.
  static llvm::Expected<std::unique_ptr<CPUBackend>>
  createLocal(const TargetOptions &options);
  ~CPUBackend() override;

  llvm::StringRef getName() const override { return "CPU"; }
  bool isSupported(const Node &node) const override;
  Pipeline getIRPipeline() const override;
  llvm::Any getPassInput(const SharedChoices *choices) const override;
  /// Measures the choices that the tuning file lacks, and adds them to it.
  llvm::Expected<std::unique_ptr<KernelTuner>> createTuner() override;
  std::vector<std::pair<std::string, std::string>>
  getTargetFacts() const override;
  llvm::Expected<std::unique_ptr<SharedChoices>>
  chooseTogether(llvm::ArrayRef<const IRFunction *> functions) override;
  std::optional<double> estimateCycles(const Instruction &instr) const override;
  double countOperations(const Instruction &instr) const override;
  double countAccesses(const Instruction &instr, unsigned index) const override;
  llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock) override;
  std::unique_ptr<BundleWriter> createBundleWriter() override;
  std::unique_ptr<CodeSerializer> createCodeSerializer() override;

  /// An LLVM module with the entry
  ///   int entryName(const uint8_t *constants, uint8_t *mutables,
  ///                 uint8_t *activations)
  /// which returns 0; everything else in it is internal. Where the plans divide
  /// the arena into regions, it has a pointer for each of these in place of
  /// activations. Not yet optimised.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  emitModule(llvm::LLVMContext &context, const IRFunction &function,
             const MemoryPlan &plan, llvm::StringRef entryName,
             EntryForm form = {});
  /// The same for several programs: the entry's first arguments are values of
  /// the symbolic dimensions (int64_t), and it returns EntryStatus::Dimension
  /// where no program is for them. Where programs have entries of their own,
  /// \p entryName is what the names of these begin with (getEntryName).
  /// Programs share their kernels, the names of which go to \p kernels unless
  /// it is null.
  llvm::Expected<std::unique_ptr<llvm::Module>>
  emitModule(llvm::LLVMContext &context, const Variants &variants,
             llvm::StringRef entryName, EntryForm form = {},
             KernelNames *kernels = nullptr);
  /// Optimises \p module and writes an object file of it, and to \p assembly,
  /// unless it is null, the same code as text.
  llvm::Expected<llvm::SmallVector<char, 0>>
  emitObject(llvm::Module &module,
             llvm::SmallVectorImpl<char> *assembly = nullptr);
  /// The object that compile() loads, with an entry for one arena.
  llvm::Expected<llvm::SmallVector<char, 0>>
  emitLocalObject(const IRFunction &function, const MemoryPlan &plan,
                  bool isTimed = false);

  /// Whether this machine runs code for the target, or of several levels for
  /// the lowest: the error names the target or an instruction set extension
  /// that the processor lacks. Without it, code for another machine is run as
  /// if it were for this one.
  llvm::Error checkRunsHere() const;
  const TargetOptions &getOptions() const { return options; }
  /// The choices that were measured; null without a tuning file.
  TuningRecord *getTuning() { return tuning.get(); }
  const TuningRecord *getTuning() const { return tuning.get(); }
  /// The convolutions and matmuls of \p function, without its bodies, for
  /// which there is no such choice.
  std::set<TuningKey> findUntuned(const IRFunction &function) const;

  llvm::TargetMachine &getTargetMachine() { return *machine; }
  const llvm::TargetMachine &getTargetMachine() const { return *machine; }
  /// The target, or the highest of several levels.
  const TargetDescription &getTarget() const { return levels.back(); }
  /// Whether code is made for several levels, of which the entry takes the
  /// best that the processor has.
  bool hasLevels() const { return levels.size() > 1; }

private:
  CPUBackend(std::unique_ptr<llvm::TargetMachine> machine,
             std::vector<TargetDescription> levels,
             const TargetOptions &options);
  /// Reads options.tuningFile.
  llvm::Error readTuning();
  /// The recorded choice for \p key, if it is one of \p ranked; else null.
  const ConvolutionCandidate *
  findRecorded(const TuningKey &key,
               llvm::ArrayRef<ConvolutionCandidate> ranked) const;
  struct Candidates;
  Candidates getCandidates(const ConvolutionProblem &problem) const;

  std::unique_ptr<llvm::TargetMachine> machine;
  /// One target, or several levels of x86-64, lowest first.
  std::vector<TargetDescription> levels;
  TargetOptions options;
  /// Null without a tuning file.
  std::unique_ptr<TuningRecord> tuning;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_CPUBACKEND_H
