//===- Backend.h - Interface of a back end ----------------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_BACKEND_H
#define GLOWISH_BACKENDS_BACKEND_H

#include "glowish/Backends/Bundle.h"
#include "glowish/Backends/CodeSerializer.h"
#include "glowish/Backends/InstrClock.h"
#include "glowish/Backends/KernelTuner.h"
#include "glowish/IR/AccessEstimate.h"
#include "glowish/IR/Cost.h"
#include "glowish/IR/IR.h"
#include "glowish/IR/MemoryPlan.h"
#include "glowish/IR/Passes.h"
#include "glowish/IR/PlaceholderLiveness.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Pass.h"

namespace glowish {

class Node;

/// Whether a run may find \p buffer, a placeholder, elsewhere than its plan
/// has it: an input or an output whose extents no run states.
inline bool isBindable(const Buffer &buffer) {
  const InputExtents &extents = buffer.getInputExtents();
  return PlaceholderLiveness::hasLifetime(buffer) && !extents.range &&
         extents.dims.empty() && !buffer.getExtents();
}

/// A program ready to run in this process. Reentrant: all state is in the
/// three memory regions, laid out by its MemoryPlan.
class Executable {
public:
  virtual ~Executable() = default;
  /// Each region is aligned to MemoryPlan::alignment and as large as the plan
  /// says. \p bound: null, or for each placeholder in the order of the
  /// function's buffers where the run finds it, aligned to an element; null for
  /// those that are where the plan has them, as are all that are not
  /// isBindable() or are in the arena.
  virtual llvm::Error run(const uint8_t *constants, uint8_t *mutables,
                          uint8_t *activations,
                          uint8_t *const *bound = nullptr) const = 0;
};

/// Choices that a back end made for several programs together.
class SharedChoices {
public:
  virtual ~SharedChoices() = default;
  /// Returns what the programs could not share, what that costs and which
  /// setting avoids it, a sentence without an end; empty if there is nothing.
  virtual std::string getNote() const { return ""; }
};

/// A back end: the nodes it supports, its passes over the lowered graph and the
/// IR, and execution.
class Backend {
public:
  virtual ~Backend() = default;
  virtual llvm::StringRef getName() const = 0;

  /// GraphPassContext::isSupported.
  virtual bool isSupported(const Node &node) const = 0;

  /// Returns the back end's own passes over the lowered graph, in their order:
  /// names of passes that it has registered (GraphPassRegistration) and of
  /// glowish's. They run on bodies, too. The nodes that they leave must be
  /// supported; a pipeline whose passes make others has "lower" after them.
  virtual Pipeline getLoweredPipeline() const { return {}; }

  /// Returns the back end's own passes over the IR, in their order: names of
  /// passes that it has registered (IRPassRegistration) and of glowish's. They
  /// run on bodies, too, after the common pipeline and before the memory plan:
  /// kernel selection, packing of weights.
  virtual Pipeline getIRPipeline() const { return {}; }

  /// Returns what these passes find as IRPassContext::backend. \p choices:
  /// those of chooseTogether for this function and others; null for a program
  /// of its own.
  virtual llvm::Any getPassInput(const SharedChoices * /*choices*/) const {
    return {};
  }

  /// Runs the back end's own passes over the IR on \p function and all bodies
  /// inside it.
  llvm::Error prepare(IRFunction &function,
                      const SharedChoices *choices = nullptr,
                      const PassHooks<IRFunction> &hooks = {});

  /// Returns what measures the kernels before prepare() chooses, where the
  /// options that the back end was made with ask for that
  /// (TargetOptions::tune); else null. It outlives the result. The error states
  /// why this machine cannot measure.
  virtual llvm::Expected<std::unique_ptr<KernelTuner>> createTuner() {
    return nullptr;
  }

  /// Returns names and values of what the back end compiles for, for reports.
  virtual std::vector<std::pair<std::string, std::string>>
  getTargetFacts() const {
    return {};
  }

  /// Looks at programs that are to be prepared, of one model for several values
  /// of its symbolic dimensions, so that what prepare() makes of their common
  /// constants is common to them, too. Equal constants are one payload.
  virtual llvm::Expected<std::unique_ptr<SharedChoices>>
  chooseTogether(llvm::ArrayRef<const IRFunction *> /*functions*/) {
    return nullptr;
  }

  /// The time that \p instr of a prepared program takes one core, in cycles, as
  /// the back end estimates it when it chooses between kernels; null where it
  /// does not.
  virtual std::optional<double>
  estimateCycles(const Instruction & /*instr*/) const {
    return std::nullopt;
  }

  /// The floating-point operations that \p instr of a prepared program does at
  /// least: two for each multiply-add and one for any other, those of epilogues
  /// among them, without what a kernel repeats or fills up. Unlike
  /// getCost(), which counts what is defined, it follows the kernel's
  /// algorithm: one with fewer multiplications has fewer operations.
  virtual double countOperations(const Instruction &instr) const {
    return getCost(instr).flops;
  }

  /// The loads and stores by which \p instr of a prepared program accesses
  /// operand \p index. Unlike glowish::countAccesses, which follows what is
  /// defined, by vectors and without what its kernel keeps in registers or
  /// copies.
  virtual double countAccesses(const Instruction &instr, unsigned index) const {
    return glowish::countAccesses(instr, index);
  }

  /// Makes \p function runnable in this process. It and \p plan outlive the
  /// result. With \p clock, which outlives it too, every run marks the time
  /// between instructions; such a program runs once at a time.
  virtual llvm::Expected<std::unique_ptr<Executable>>
  compile(const IRFunction &function, const MemoryPlan &plan,
          InstrClock *clock = nullptr) = 0;

  /// Writes bundles of what this back end, which outlives the result, has
  /// prepared; null where it writes none.
  virtual std::unique_ptr<BundleWriter> createBundleWriter() { return nullptr; }

  /// Compiles to bytes what this back end, which outlives the result, has
  /// prepared; null where programs can't be kept.
  virtual std::unique_ptr<CodeSerializer> createCodeSerializer() {
    return nullptr;
  }
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_BACKEND_H
