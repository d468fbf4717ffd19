//===- Interpreter.h - Runs LLVM IR with checks -----------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_IRINTERP_INTERPRETER_H
#define GLOWISH_TESTS_IRINTERP_INTERPRETER_H

#include "Memory.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <deque>
#include <memory>

namespace glowish::irinterp {

/// A module has what the interpreter does not know: no error of the module.
class Unsupported : public llvm::ErrorInfo<Unsupported> {
public:
  static char ID;
  explicit Unsupported(std::string what) : what(std::move(what)) {}
  void log(llvm::raw_ostream &os) const override { os << what; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string what;
};

/// Values of an instruction's operand: its lanes one after the other.
using Lanes = llvm::ArrayRef<Lane>;
using LanesOut = llvm::MutableArrayRef<Lane>;

/// An interpreter of the LLVM IR of one module that shares no code with LLVM's
/// passes and code generators: each lane is computed by itself, by the Language
/// Reference. What is undefined by that is an error where it decides about
/// something: a poisoned branch or address, an access outside of its piece of
/// memory.
class Interpreter {
public:
  /// \p module and \p memory outlive this.
  Interpreter(const llvm::Module &module, Memory &memory)
      : layout(module.getDataLayout()), memory(memory) {}
  ~Interpreter();

  /// Calls a function; the error begins with the instruction. Unsupported where
  /// the module has what is not interpreted.
  llvm::Expected<llvm::SmallVector<Lane, 8>> run(const llvm::Function &function,
                                                 Lanes arguments);
  uint64_t getNumSteps() const { return numSteps; }

private:
  struct Operand {
    /// Of a constant; else the slot of the frame.
    const Lane *constant = nullptr;
    unsigned slot = 0, count = 0;
  };
  struct Step {
    const llvm::Instruction *source = nullptr;
    const TypeLayout *type = nullptr;
    unsigned slot = 0;
    llvm::SmallVector<Operand, 3> operands;
    /// Of GetElementPtr: what is added, and the factors of the other operands.
    uint64_t offset = 0;
    llvm::SmallVector<uint64_t, 2> scales;
  };
  struct Block {
    std::vector<Step> phis, steps;
  };
  struct Code {
    llvm::DenseMap<const llvm::BasicBlock *, Block> blocks;
    llvm::DenseMap<const llvm::Value *, unsigned> slots;
    unsigned numSlots = 0;
  };
  struct Frame;

  llvm::Expected<const Code *> getCode(const llvm::Function &function);
  llvm::Error decode(Code &code, const llvm::Instruction &instr);
  llvm::Error decodeAddress(Step &step, const Code &code,
                            const llvm::GetElementPtrInst &instr);
  llvm::Expected<Operand> getOperand(const Code &code,
                                     const llvm::Value *value);
  llvm::Expected<const TypeLayout *> getLayout(llvm::Type *type);
  llvm::Error evaluate(const llvm::Constant *constant,
                       llvm::SmallVectorImpl<Lane> &lanes);
  llvm::Expected<uint64_t> getGlobal(const llvm::GlobalVariable *global);

  llvm::Expected<llvm::SmallVector<Lane, 8>>
  runCode(const llvm::Function &function, const Code &code, Lanes arguments);
  llvm::Error enter(Frame &frame, const llvm::BasicBlock *from,
                    const llvm::BasicBlock *to);
  llvm::Expected<const llvm::BasicBlock *> branch(Frame &frame,
                                                  const Step &step);
  llvm::Error execute(Frame &frame, const Step &step);
  llvm::Error load(const Step &step, Lanes address, LanesOut result);
  llvm::Error store(const Step &step, Lanes value, Lanes address);
  llvm::Error call(Frame &frame, const Step &step, LanesOut result);
  llvm::Error callMemory(const Step &step, llvm::ArrayRef<Lanes> operands,
                         LanesOut result, bool &isKnown);
  llvm::Error selectLanes(const Step &step, llvm::ArrayRef<Lanes> operands,
                          LanesOut result);

  const llvm::DataLayout &layout;
  Memory &memory;
  llvm::DenseMap<const llvm::Function *, std::unique_ptr<Code>> codes;
  llvm::DenseMap<llvm::Type *, std::unique_ptr<TypeLayout>> layouts;
  llvm::DenseMap<const llvm::GlobalVariable *, uint64_t> globals;
  std::deque<llvm::SmallVector<Lane, 8>> constants;
  uint64_t numSteps = 0;
  unsigned depth = 0;
};

/// \name Scalar operations
/// Those that can't be computed are Unsupported.
/// @{
llvm::Expected<Lane> computeBinary(const llvm::Instruction &instr,
                                   ScalarType type, Lane a, Lane b);
llvm::Expected<Lane> computeCast(const llvm::Instruction &instr,
                                 ScalarType from, ScalarType to, Lane lane);
Lane compare(llvm::CmpInst::Predicate predicate, ScalarType type, Lane a,
             Lane b);
/// @}

/// Computes an intrinsic that accesses no memory. Unsupported where it is none.
llvm::Error computeIntrinsic(const llvm::CallBase &call, ScalarType type,
                             llvm::ArrayRef<Lanes> operands, LanesOut result);
/// The same for those of single targets, by their names.
llvm::Error computeTargetIntrinsic(llvm::StringRef name,
                                   llvm::ArrayRef<Lanes> operands,
                                   LanesOut result);

} // namespace glowish::irinterp

#endif // GLOWISH_TESTS_IRINTERP_INTERPRETER_H
