//===- CompilationLog.cpp - Logs the phases of a compilation --------------===//

#include "CompilationLog.h"
#include "glowish/IR/Cost.h"
#include "glowish/IR/FusionRemarks.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"

using namespace glowish;

void glowish::forEachNode(const Function &function,
                          llvm::function_ref<void(const Node &node)> visit) {
  for (const Node &node : function.getNodes()) {
    visit(node);
    for (const Function *body : getBodies(node))
      forEachNode(*body, visit);
  }
}

size_t glowish::countNodes(const Function &function) {
  size_t count = 0;
  forEachNode(function, [&](const Node &) { ++count; });
  return count;
}

size_t glowish::countInstrs(const IRFunction &function) {
  size_t count = 0;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      count += !instr.isLifetimeMarker();
  });
  return count;
}

namespace {

class CompilationLog final : public CompilationObserver {
public:
  void afterPhase(Phase phase, const Compilation &compilation,
                  const GraphStage &graph) override;
  void afterPhase(Phase phase, const Compilation &compilation,
                  const IRProgram &program) override;
  void afterPhase(Phase phase, const Compilation &compilation,
                  const PlannedProgram &program) override;
  void afterWeightQuantization(
      const Compilation &compilation,
      llvm::ArrayRef<NodeOfQuantizedWeights> nodes) override;
  void afterPass(const PassRun &pass, const Compilation &compilation,
                 Function &unit) override {
    logPass(pass, "nodes");
  }
  void afterPass(const PassRun &pass, const Compilation &compilation,
                 IRFunction &unit) override;

private:
  static void logPass(const PassRun &pass, llvm::StringRef unit);

  std::vector<UnfusedLoopText> unfusedLoops;
};

} // namespace

//===- Passes -------------------------------------------------------------===//

void CompilationLog::logPass(const PassRun &pass, llvm::StringRef unit) {
  if (pass.changed)
    GLOWISH_VLOG(2, "pass {0}{1} changed {2} {3} to {4} in {5:F1} ms",
                 pass.name, pass.isOnBody ? " on a body" : "", pass.before,
                 unit, pass.after, 1e3 * pass.seconds);
}

void CompilationLog::afterPass(const PassRun &pass,
                               const Compilation &compilation,
                               IRFunction &unit) {
  logPass(pass, "instructions");
  // The last run of the pass counts; later, buffers are shared.
  if (!pass.isOnBody && pass.name == "fuse-loops")
    unfusedLoops = describeUnfusedLoops(unit);
}

//===- Phases -------------------------------------------------------------===//

static void logModel(const Module &module) {
  size_t numInputs = 0, numOutputs = 0, numConstants = 0;
  uint64_t bytes = 0;
  for (const auto &placeholder : module.getPlaceholders()) {
    numInputs += placeholder->isInput();
    numOutputs += placeholder->isOutput();
  }
  for (const Node &constant : module.getConstants()) {
    ++numConstants;
    bytes += uint64_t(constant.getType().getSizeInBytes());
  }
  GLOWISH_VLOG(1, "model: {0} inputs, {1} outputs, {2} constants of {3}",
               numInputs, numOutputs, numConstants, formatExactBytes(bytes));
}

void CompilationLog::afterPhase(Phase phase, const Compilation &compilation,
                                const GraphStage &graph) {
  if (phase == Phase::Import)
    logModel(graph.getModule());
  if (phase != Phase::Schedule)
    GLOWISH_VLOG(1, "{0}: {1} nodes", getPhaseName(phase),
                 countNodes(graph.getFunction()));
}

void CompilationLog::afterWeightQuantization(
    const Compilation &compilation,
    llvm::ArrayRef<NodeOfQuantizedWeights> nodes) {
  for (const NodeOfQuantizedWeights &node : nodes)
    GLOWISH_VLOG(1,
                 "quantized: the weights of {0} '{1}' are {2} with a scale for "
                 "{3}, error {4:P2}",
                 getNodeInfo(node.kind).name, node.name, node.type.str(),
                 node.block, node.error);
}

static void logUnfused(const UnfusedLoopText &loop) {
  if (loop.missedFusions.empty())
    GLOWISH_VLOG(1,
                 "not fused: loop '{0}' ({1}): no loop and no instruction with "
                 "an epilogue makes an input of it",
                 loop.name, loop.type);
  for (const auto &[producer, reason] : loop.missedFusions)
    GLOWISH_VLOG(1, "not fused: loop '{0}' ({1}) into {2}: {3}", loop.name,
                 loop.type, producer, reason);
}

void CompilationLog::afterPhase(Phase phase, const Compilation &compilation,
                                const IRProgram &program) {
  if (phase == Phase::OptimizeIR)
    for (const UnfusedLoopText &loop : unfusedLoops)
      logUnfused(loop);
  GLOWISH_VLOG(1, "{0}: {1} instructions", getPhaseName(phase),
               countInstrs(program.getIR()));
}

void CompilationLog::afterPhase(Phase phase, const Compilation &compilation,
                                const PlannedProgram &program) {
  const MemoryPlan &plan = program.getPlan();
  GLOWISH_VLOG(1, "plan: {0} instructions", countInstrs(program.getIR()));
  GLOWISH_VLOG(1, "plan: weights {0}, {1} {2}, arena {3}",
               formatExactBytes(plan.constantSize),
               plan.arenaPlaceholders.empty() ? "inputs and outputs" : "states",
               formatExactBytes(plan.mutableSize),
               formatExactBytes(plan.activationSize));
  GLOWISH_VLOG(1, "plan: {0:P1} of the arena live at once, {1}",
               plan.getEfficiency(), formatExactBytes(plan.peakLiveBytes));
  for (auto [i, region] : llvm::enumerate(plan.arenaRegions))
    GLOWISH_VLOG(1, "plan: region {0} of the arena {1}, {2:P1} of the accesses",
                 region.name, formatExactBytes(region.size),
                 plan.getAccessShare(i));
}

std::unique_ptr<CompilationObserver> glowish::createCompilationLog() {
  if (!GLOWISH_IS_LOGGED(1))
    return nullptr;
  return std::make_unique<CompilationLog>();
}
