//===- Passes.h - Passes over the graph -------------------------*- C++ -*-===//

#ifndef GLOWISH_OPTIMIZER_PASSES_H
#define GLOWISH_OPTIMIZER_PASSES_H

#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Pass.h"
#include <limits>

namespace glowish {

/// Sees what the rewrites of a pass do, one by one: for proofs of them.
class RewriteObserver {
public:
  virtual ~RewriteObserver() = default;
  /// Called once for each rewrite of a pass that runs.
  virtual void list(llvm::StringRef rewrite) = 0;
  /// Before \p function may be rewritten.
  virtual void willTry(Function &function) = 0;
  /// \p rewrite has replaced a value of \p function, whose other nodes are as
  /// they were, with those that are not used any more.
  virtual void didApply(llvm::StringRef rewrite, Function &function) = 0;
};

/// Services and limits that the caller gives to graph passes.
struct GraphPassContext {
  /// Computes nodes with constant operands.
  NodeEvaluator evaluate;
  /// Whether the back end has an instruction for the node as it is; lowering
  /// replaces the others. Null: every instruction of Instrs.td.
  std::function<bool(const Node &node)> isSupported;
  /// The most elements of constants that are merged when they are equal.
  int64_t maxMergedElements = std::numeric_limits<int64_t>::max();
  /// May be null.
  RewriteObserver *observer = nullptr;
};

using GraphPass = PassInfo<Function, GraphPassContext>;
using GraphPassHooks = PassHooks<Function>;

/// Returns all graph passes, sorted by name: those of Passes.def, and those
/// that plug-ins have registered so far. The list stays as it is when others
/// are registered.
llvm::ArrayRef<GraphPass> getGraphPasses();

/// Registers a graph pass from outside, as a static object, or in a plug-in's
/// glowish_register_plugin(), while other threads may run passes. Its strings
/// live as long as the process. A pass of a name that is taken already is not
/// registered; names begin with that of the back end ("counting-reciprocals").
class GraphPassRegistration {
public:
  explicit GraphPassRegistration(const GraphPass &pass);
};

/// Before lowering: clean-ups, layout, batch normalization folding.
const Pipeline &getOptimizePipeline();
/// Before a function is differentiated: images are NHWC from then on, so that
/// their adjoints are, too. Nothing is fused, and Dropout stays.
const Pipeline &getTrainingPipeline();
/// Before a float function is profiled or quantized: images are NHWC,
/// normalizations in the weights, and activations of several nodes are one.
/// Names of nodes come out the same each time.
const Pipeline &getQuantizationPipeline();
/// What is multiplied with quantized weights becomes int8; between
/// getOptimizePipeline() and getLowerPipeline(), where the user wants that.
const Pipeline &getActivationPipeline();
/// Lowering to nodes that the back end supports, then fusion.
const Pipeline &getLowerPipeline();

/// Verifies the contract between the graph and IRGen: each node is data
/// movement that IRGen handles, or is supported by the back end. (Node types
/// already ensure that shapes are static and images NHWC.)
llvm::Error verifyLowered(const Function &function,
                          const GraphPassContext &context);

#define GRAPH_PASS(FUNCTION, NAME, EXACTNESS, DOC)                             \
  llvm::Expected<bool> FUNCTION(Function &function,                            \
                                const GraphPassContext &context);
#define GRAPH_PASS_WITH_ARGUMENT(FUNCTION, NAME, FORM, EXACTNESS, DOC)         \
  llvm::Expected<bool> FUNCTION(Function &function,                            \
                                const GraphPassContext &context,               \
                                llvm::StringRef argument);
#include "glowish/Optimizer/Passes.def"

} // namespace glowish

#endif // GLOWISH_OPTIMIZER_PASSES_H
