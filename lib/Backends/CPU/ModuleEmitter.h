//===- ModuleEmitter.h - From IR instructions to LLVM IR --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H
#define GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H

#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/CPU/TargetDescription.h"
#include "glowish/Backends/CodeSizes.h"
#include "glowish/IR/Instrs.h"
#include "glowish/IR/MemoryPlan.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace glowish {

/// The status that the entry returns: the values of GLOWISH_SUCCESS... in a
/// bundle's header.
enum class EntryStatus : unsigned {
  Success = 0,
  Null = 1,
  Alignment = 2,
  // 3 and 4 are what the checks of a bundle's weights return.
  Processor = 5,
  Dimension = 6,
  // 7 is what restoring the state of a bundle that learns returns.
  TripCount = 8,
  Function = 9
};

/// The status of an entry that names failures has the number of the failure,
/// from 1, above these bits: that of its message in the module's array
/// failureMessagesName, in which each message ends with a 0.
inline constexpr unsigned failureNumberShift = 8;
inline constexpr llvm::StringLiteral failureMessagesName =
    "glowish_failure_messages";

/// The function that splits work among threads; the application supplies it or
/// links the default:
///   void (void (*task)(void *arguments, int64_t begin, int64_t end),
///         void *arguments, int64_t count)
/// calls task for ranges that cover 0 ... count - 1, each once, and returns
/// when all are done.
inline constexpr llvm::StringLiteral parallelForName = "glowish_parallel_for";

/// The function that a timed program calls between instructions, with the
/// InstrClock that its entry gets as its last argument.
inline constexpr llvm::StringLiteral markName = "glowish_mark";

/// Returns the loops of \p function and of bodies inside it that may have to
/// end before their trip count: the entry returns EntryStatus::TripCount then.
std::vector<const LoopInstr *> getBoundedLoops(const IRFunction &function);

/// Whether \p function or a body inside it calls functions that are not in it:
/// the entry may return EntryStatus::Function then.
bool hasExternalCalls(const IRFunction &function);

/// Whether a scalar program of \p function or of a body inside it converts
/// floats to integers, as a quantized network does: the last bit of a float may
/// decide about an integer.
bool convertsToIntegers(const IRFunction &function);

/// Renames the internal function \p name of \p module, if there is one: LLVM
/// would give an external one another name.
void releaseName(llvm::Module &module, llvm::StringRef name);

/// Makes an LLVM module of an IR function: an internal function a distinct
/// instruction (those with the same shapes and attributes share one) and the
/// entry that calls them in order.
class ModuleEmitter {
public:
  /// \p kernelNames: where the kernels of each instruction go; may be null.
  ModuleEmitter(llvm::Module &module, const TargetDescription &target,
                KernelNames *kernelNames = nullptr)
      : module(module), target(target), kernelNames(kernelNames) {}

  /// Returns the entry.
  llvm::Function *emit(const IRFunction &function, const MemoryPlan &plan,
                       llvm::StringRef entryName, EntryForm form);

private:
  /// The code of an instruction: void (ptr, ...), one pointer a present
  /// operand, to its element 0. The bounds of its loops follow, and in a
  /// program for threads two more numbers: the function runs the tasks from the
  /// first to before the second.
  struct Kernel {
    llvm::Function *function = nullptr;
    int64_t numTasks = 1;
    /// Unpacks pointers and bounds: void (ptr to them, first task, end). Null
    /// where there is one task.
    llvm::Function *taskFunction = nullptr;
  };
  const Kernel &getKernel(const Instruction &instr);
  void recordKernel(const Instruction &instr, const Kernel &kernel);
  Kernel createKernel(const Instruction &instr);
  llvm::Function *createTaskFunction(llvm::Function *kernel,
                                     unsigned numPointers, unsigned numBounds);
  void callKernel(llvm::IRBuilder<> &builder, const Kernel &kernel,
                  llvm::ArrayRef<llvm::Value *> given,
                  llvm::Value *argumentArray);
  bool hasThreads() const { return target.numThreads > 1; }
  /// The type that addresses are computed in.
  llvm::Type *getIndexTy() const {
    return module.getDataLayout().getIntPtrType(module.getContext());
  }
  /// Where the code of a function finds its memory.
  struct Frame {
    llvm::Value *constants;
    /// The start of each region of the arena, or of the arena where it is one.
    llvm::SmallVector<llvm::Value *, 2> arena{};
    /// The application's storage; null in a body.
    llvm::Value *mutables = nullptr;
    /// The entry's result so far, an i32; null where it is always a success.
    llvm::Value *status = nullptr;
    /// The parameters and results of a body, and placeholders that an entry is
    /// given pointers to.
    llvm::DenseMap<const Buffer *, llvm::Value *> bindings{};
    /// Storage for the pointers and bounds that tasks get; null without
    /// threads.
    llvm::Value *argumentArray = nullptr;
    /// The extents that the inputs state, as they were when the run began:
    /// their memory may be used again.
    llvm::StringMap<llvm::Value *> symbols{};
  };
  /// Emits all instructions of \p function, those with a predicate where a row
  /// is needed: neighbours with the same one are skipped together. \p markTime,
  /// if given, is called behind each.
  void emitInstrs(llvm::IRBuilder<> &builder, const Frame &frame,
                  const IRFunction &function,
                  llvm::function_ref<void()> markTime);
  void emitRun(llvm::IRBuilder<> &builder, const Frame &frame,
               llvm::ArrayRef<const Instruction *> run);
  llvm::Value *emitAny(llvm::IRBuilder<> &builder, const Frame &frame,
                       const Buffer &predicate);
  llvm::Function *getAny(int64_t count, int64_t stride);
  llvm::Value *getAddress(llvm::IRBuilder<> &builder, const Frame &frame,
                          const Buffer *buffer) const;
  /// \p offset bytes behind the start of \p root, which is in the arena.
  llvm::Value *getArenaAddress(llvm::IRBuilder<> &builder, const Frame &frame,
                               const Buffer *root, uint64_t offset) const;
  /// The pointers to the arena that entry and bodies get.
  unsigned getNumArenaPointers() const {
    return std::max<unsigned>(1, plan->arenaRegions.size());
  }
  /// Of the entry.
  Frame getFrame(llvm::Function *entry) const;
  void createArgumentArray(llvm::IRBuilder<> &builder, Frame &frame,
                           const IRFunction &function) const;
  void readSymbols(llvm::IRBuilder<> &builder, Frame &frame,
                   const IRFunction &function) const;
  llvm::Value *emitExtent(llvm::IRBuilder<> &builder, const Frame &frame,
                          const Extent &extent) const;
  /// The code of \p instr, at the end of the builder's block; the builder is at
  /// the end of another block then.
  void emitInstr(llvm::IRBuilder<> &builder, const Frame &frame,
                 const Instruction &instr);
  /// Storage for the entry's result, if loops or calls may change it; else
  /// null.
  static llvm::Value *createStatus(llvm::Function &entry,
                                   const IRFunction &function);
  /// Stores \p status, of the failure \p message, to the entry's result if
  /// \p hasFailed.
  void emitFailure(llvm::IRBuilder<> &builder, const Frame &frame,
                   llvm::Value *hasFailed, EntryStatus status,
                   std::string message);
  /// Adds the array failureMessagesName to the module.
  void emitFailureMessages();
  /// void (constants, activations..., status, parameters..., results...)
  /// without the status unless \p hasStatus.
  llvm::Function *createBody(const IRFunction &body, bool hasStatus);
  /// Calls \p function, made by createBody of \p body, with \p addresses of its
  /// parameters and results.
  static void callBody(llvm::IRBuilder<> &builder, const Frame &frame,
                       llvm::Function *function,
                       llvm::ArrayRef<llvm::Value *> addresses);
  void emitIf(llvm::IRBuilder<> &builder, const Frame &frame,
              const IfInstr &instr);
  void emitLoop(llvm::IRBuilder<> &builder, const Frame &frame,
                const LoopInstr &instr);
  /// An array of glowish_tensor on the stack; \p buffers: null for absent ones.
  llvm::Value *emitTensors(llvm::IRBuilder<> &builder, const Frame &frame,
                           llvm::ArrayRef<Buffer *> buffers);
  void emitExternalCall(llvm::IRBuilder<> &builder, const Frame &frame,
                        const ExternalCallInstr &instr);
  llvm::Function *createEntry(llvm::StringRef name, EntryForm form);
  /// Lets \p frame find the placeholders where the entry's table has them.
  void bindPlaceholders(llvm::IRBuilder<> &builder, Frame &frame,
                        llvm::Function &entry, const IRFunction &function);
  /// StartAllReduce or FinishAllReduce.
  void emitCollective(llvm::IRBuilder<> &builder, const Frame &frame,
                      const Instruction &instr);
  void emitChecks(llvm::Function *entry, const IRFunction &function);

  llvm::Module &module;
  const TargetDescription &target;
  KernelNames *kernelNames;
  const MemoryPlan *plan = nullptr;
  unsigned numBodies = 0;
  bool namesFailures = false;
  /// If it names failures.
  std::vector<std::string> failureMessages;
  /// See emitInstruction.
  bool keepsRoundings = false;
  /// Kernels by everything that their code depends on.
  llvm::StringMap<Kernel> kernels;
};

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_MODULEEMITTER_H
