//===- Session.h - Running a compiled model in this process -----*- C++ -*-===//

#ifndef GLOWISH_DRIVER_SESSION_H
#define GLOWISH_DRIVER_SESSION_H

#include "glowish/Driver/Stages.h"
#include "llvm/ADT/MapVector.h"

namespace glowish {

struct RunnableProgram;

/// A compiled program and its memory: set inputs, run, read outputs.
class Session {
public:
  /// \p program outlives the session, as does \p clock, which is for
  /// Backend::compile. \p constants: the region of programs that share theirs
  /// (ConstantPool); null for a program of its own.
  static llvm::Expected<std::unique_ptr<Session>>
  create(const PlannedProgram &program, InstrClock *clock = nullptr,
         std::shared_ptr<const Tensor> constants = nullptr) {
    return create(program.getBackend(), program.getIR(), program.getPlan(),
                  clock, std::move(constants));
  }
  /// The same of \p function, which \p backend has prepared and \p plan lays
  /// out; both outlive the session.
  static llvm::Expected<std::unique_ptr<Session>>
  create(Backend &backend, const IRFunction &function, const MemoryPlan &plan,
         InstrClock *clock = nullptr,
         std::shared_ptr<const Tensor> constants = nullptr);
  /// The same of code that is loaded. Placeholders are those of \p program,
  /// which outlives the session.
  static llvm::Expected<std::unique_ptr<Session>>
  create(const RunnableProgram &program);

  /// Placeholders in the model's order.
  llvm::ArrayRef<const Buffer *> getPlaceholders() const {
    return placeholders;
  }
  /// The placeholder that the model calls \p name; the error lists the names.
  llvm::Expected<const Buffer *> findPlaceholder(llvm::StringRef name) const;

  /// Returns an error unless setInput() takes a tensor of type \p type.
  llvm::Error checkInput(const Buffer *placeholder, const Type &type) const;
  /// Copies \p tensor, which has the placeholder's type; the error names the
  /// placeholder and both types. Extents that each run states (InputExtents)
  /// may be others, in the bounds that follow from the ranges of symbols: the
  /// tensor then states the extent of a symbol, which is the largest until an
  /// input states it. What lies beyond is NaN.
  llvm::Error setInput(const Buffer *placeholder, const Tensor &tensor);
  /// Lets runs read input \p placeholder, or write output \p placeholder, at
  /// \p memory, which is aligned to an element, has the bytes of the
  /// placeholder's type, is no part of another output and is there until the
  /// next call for the placeholder. Null, and setInput(): where the session has
  /// it. False where the session must have it itself: states, and what has
  /// extents of each run.
  bool bind(const Buffer *placeholder, void *memory);
  /// Returns the type of the largest tensor that fits the inputs that are set:
  /// the placeholder's, but for a state that grows and for extents that other
  /// inputs have stated.
  Type getLargestType(const Buffer *placeholder) const;
  /// The placeholder's contents, borrowed. Those of an input are what it was
  /// set to, also where a run destroys it (MemoryPlan::arenaPlaceholders).
  Tensor getTensor(const Buffer *placeholder) const;
  /// The outputs of the model, in its order: without those that are made to
  /// have the extents of others.
  std::vector<const Buffer *> getOutputs() const;
  /// The contents of output \p placeholder, cut to the actual extents where
  /// these are known only after run().
  Tensor getOutput(const Buffer *placeholder) const;

  /// Returns the values of the symbols that inputs state: those of the next
  /// run.
  std::map<std::string, int64_t> getSymbolValues() const;

  /// Sets each input but those that \p isOther accepts, which may be null, to
  /// what \p from has of its name. The error names an input that \p from lacks,
  /// or both types.
  llvm::Error
  copyInputs(const Session &from,
             llvm::function_ref<bool(const Buffer *input)> isOther = nullptr);
  /// Takes what the last run of \p other, a session of the same model with
  /// other extents, has left in its states.
  void takeStates(const Session &other);

  /// Runs the program. It is an error if the extents of inputs are out of their
  /// bounds or contradict each other.
  llvm::Error run();

private:
  explicit Session(const MemoryPlan &plan) : plan(plan) {}
  static llvm::Expected<std::unique_ptr<Session>>
  create(const IRFunction &function, const MemoryPlan &plan,
         std::shared_ptr<const Executable> executable,
         std::shared_ptr<const Tensor> constants);
  /// Writes \p tensor, which has the placeholder's type.
  void write(const Buffer *placeholder, const Tensor &tensor);
  /// Writes \p tensor, which may have smaller extents, and states them.
  void writePart(const Buffer *placeholder, const Tensor &tensor);
  std::optional<int64_t> getSymbolValue(llvm::StringRef symbol) const;
  /// Returns the input that has stated that \p symbol is \p value; null if none
  /// has.
  const Buffer *findStating(llvm::StringRef symbol, int64_t value) const;
  llvm::Error checkExtents() const;
  llvm::Error reportContradiction(const Buffer &buffer, DimsRef shape,
                                  size_t d) const;
  /// Where the program has \p placeholder.
  uint8_t *getAddress(const Buffer *placeholder) const;

  const MemoryPlan &plan;
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<const Tensor> constants;
  Tensor mutables, activations;
  /// The inputs that each run takes to the arena, where it destroys them.
  llvm::MapVector<const Buffer *, Tensor> arenaInputs;
  /// The shapes of the tensors that inputs with stated extents were set to.
  llvm::MapVector<const Buffer *, Dims> givenShapes;
  /// The inputs that state extents, and their ranges, by symbols.
  std::map<std::string, const Buffer *> symbols;
  SymbolRanges ranges;
  std::vector<const Buffer *> placeholders;
  /// What Executable::run calls \p bound; empty where nothing is.
  std::vector<uint8_t *> bound;
};

/// Checks that the system has the memory for \p plan. A model may declare any
/// extents: an excess is an error of the input, and must not abort.
llvm::Error checkMemory(const MemoryPlan &plan);

} // namespace glowish

#endif // GLOWISH_DRIVER_SESSION_H
