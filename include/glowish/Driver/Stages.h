//===- Stages.h - Results of compilation phases -----------------*- C++ -*-===//
//
// A model on its way from a file to a program that can run. Each phase
// (Compilation.h) consumes the stage before it and makes the next one:
//
//   ModelGraph -> LoweredGraph -> ScheduledGraph
//     -> IRProgram -> PreparedProgram -> PlannedProgram
//
// A stage owns all that later phases need. Stages are movable: the objects that
// they refer to keep their addresses.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_DRIVER_STAGES_H
#define GLOWISH_DRIVER_STAGES_H

#include "glowish/Backends/Backend.h"
#include "glowish/Graph/Module.h"

namespace glowish {

/// Base of the stages before the IR: a module, of which the first function is
/// compiled.
class GraphStage {
public:
  Module &getModule() const { return *module; }
  Function &getFunction() const { return *module->getFunctions().front(); }
  /// The output that is the loss, where the function is a training step; else
  /// empty.
  llvm::StringRef getLossName() const { return lossName; }

protected:
  explicit GraphStage(std::unique_ptr<Module> newModule)
      : module(std::move(newModule)) {
    assert(!module->getFunctions().empty() && "nothing to compile");
  }

  std::unique_ptr<Module> module;
  std::string lossName;
};

/// A model as a graph: as it was imported, or optimized.
class ModelGraph : public GraphStage {
public:
  /// \p module has a function at least.
  ModelGraph(std::unique_ptr<Module> module) : GraphStage(std::move(module)) {}

  /// Declares that the function is a training step with the loss \p output.
  void setLossName(llvm::StringRef output) { lossName = output.str(); }
};

/// A graph that verifyLowered() accepts.
class LoweredGraph : public GraphStage {
  friend class Compilation;
  explicit LoweredGraph(ModelGraph graph) : GraphStage(std::move(graph)) {}
};

/// A lowered graph, and the order in which its nodes are computed.
class ScheduledGraph : public GraphStage {
public:
  llvm::ArrayRef<Node *> getOrder() const { return order; }

private:
  friend class Compilation;
  ScheduledGraph(LoweredGraph graph, std::vector<Node *> order)
      : GraphStage(std::move(graph)), order(std::move(order)) {}

  std::vector<Node *> order;
};

/// Base of the stages after the graph: a function of instructions.
class IRStage {
public:
  const IRFunction &getIR() const { return *function; }

protected:
  explicit IRStage(std::unique_ptr<IRFunction> function)
      : function(std::move(function)) {}

  std::unique_ptr<IRFunction> function;
};

/// Instructions that any back end may prepare.
class IRProgram : public IRStage {
public:
  IRFunction &getIR() { return *function; }
  using IRStage::getIR;

private:
  friend class Compilation;
  explicit IRProgram(std::unique_ptr<IRFunction> function)
      : IRStage(std::move(function)) {}
};

/// Instructions that a back end has prepared: only it can run them.
class PreparedProgram : public IRStage {
public:
  Backend &getBackend() const { return *backend; }

private:
  friend class Compilation;
  PreparedProgram(IRProgram program, Backend &backend)
      : IRStage(std::move(program)), backend(&backend) {}

  Backend *backend;
};

/// A program that can run: instructions, and the places of their buffers.
class PlannedProgram : public IRStage {
public:
  const MemoryPlan &getPlan() const { return *plan; }
  /// The back end that has prepared the program, and can run it.
  Backend &getBackend() const { return *backend; }

private:
  friend class Compilation;
  PlannedProgram(PreparedProgram program, MemoryPlan newPlan)
      : IRStage(std::move(static_cast<IRStage &>(program))),
        backend(&program.getBackend()),
        plan(std::make_unique<const MemoryPlan>(std::move(newPlan))) {}

  Backend *backend;
  std::unique_ptr<const MemoryPlan> plan;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_STAGES_H
