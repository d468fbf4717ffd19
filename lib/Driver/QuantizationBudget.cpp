//===- QuantizationBudget.cpp - Quantization with a limit -----------------===//

#include "glowish/Driver/QuantizationBudget.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Support/Log.h"
#include <chrono>

using namespace glowish;

//===- Measuring ----------------------------------------------------------===//

static CompilationOptions
getOptions(const BudgetModel &model,
           std::shared_ptr<const QuantizationOptions> quantization) {
  CompilationOptions options;
  options.function = model.function;
  options.quantization = std::move(quantization);
  return options;
}

/// Warnings would be repeated with each compilation.
static ImportOptions getQuietOptions(const BudgetModel &model) {
  ImportOptions options = model.importOptions;
  options.isRepeated = true;
  options.sequenceOutputs = nullptr;
  return options;
}

llvm::Expected<QuantizationEffect> QuantizationMeter::run(
    std::shared_ptr<const QuantizationOptions> options,
    llvm::function_ref<void(const Session &session, size_t sample)> visit)
    const {
  LogPause pause;
  using Clock = std::chrono::steady_clock;
  Compilation compilation(*model.backend,
                          getOptions(model, std::move(options)));
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph, compilation.import(model.path, getQuietOptions(model)));
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(graph)));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  QuantizationEffect effect;
  effect.constantBytes = program.getPlan().constantSize;
  effect.milliseconds = std::numeric_limits<double>::infinity();
  // The first runs are slow; those of few samples are repeated.
  constexpr size_t leastRuns = 5;
  size_t numRight = 0;
  for (size_t i = 0; i < std::max(model.numSamples, leastRuns); ++i) {
    if (i < model.numSamples)
      GLOWISH_RETURN_IF_ERROR(model.fillInputs(*session, i));
    Clock::time_point start = Clock::now();
    GLOWISH_RETURN_IF_ERROR(session->run());
    effect.milliseconds =
        std::min(effect.milliseconds,
                 std::chrono::duration<double, std::milli>(Clock::now() - start)
                     .count());
    if (i >= model.numSamples)
      continue;
    visit(*session, i);
    if (model.countRight)
      numRight += model.countRight(*session, i);
  }
  if (model.numAnswers)
    effect.rightShare = double(numRight) / double(model.numAnswers);
  return effect;
}

llvm::Expected<QuantizationMeter> QuantizationMeter::create(BudgetModel model) {
  QuantizationMeter meter(std::move(model));
  auto keep = [&](const Session &session, size_t) {
    std::vector<Tensor> &own = meter.outputs.emplace_back();
    for (const Buffer *buffer : session.getOutputs())
      own.push_back(session.getTensor(buffer).clone());
  };
  GLOWISH_ASSIGN_OR_RETURN(meter.ofFloat, meter.run(/*options=*/nullptr, keep));
  return meter;
}

llvm::Expected<QuantizationEffect> QuantizationMeter::measure(
    std::shared_ptr<const QuantizationOptions> options) const {
  // Of each output, over all samples.
  std::vector<Comparison> sums;
  auto compare = [&](const Session &session, size_t sample) {
    sums.resize(outputs[sample].size());
    for (auto [sum, buffer, expected] :
         llvm::zip_equal(sums, session.getOutputs(), outputs[sample])) {
      Comparison own =
          compareTensors(session.getTensor(buffer), expected, 0, 0);
      sum.squaredError += own.squaredError;
      sum.squaredMagnitude += own.squaredMagnitude;
    }
  };
  GLOWISH_ASSIGN_OR_RETURN(QuantizationEffect effect,
                           run(std::move(options), compare));
  for (const Comparison &sum : sums)
    effect.error = std::max(effect.error, sum.getRelativeRms());
  return effect;
}

llvm::Expected<std::vector<QuantizedNode>>
QuantizationMeter::listNodes(const QuantizationOptions &options) const {
  LogPause pause;
  Compilation compilation(*model.backend, getOptions(model, nullptr));
  GLOWISH_ASSIGN_OR_RETURN(
      ModelGraph graph, compilation.import(model.path, getQuietOptions(model)));
  GLOWISH_RETURN_IF_ERROR(compilation.prepareQuantization(graph));
  return listQuantizedNodes(graph.getFunction(), *options.profile,
                            options.config);
}

//===- Fitting ------------------------------------------------------------===//

/// \p options with \p nodes in float, too.
static std::shared_ptr<const QuantizationOptions>
keepFloat(const QuantizationOptions &options,
          llvm::ArrayRef<NodeSensitivity> nodes) {
  auto changed = std::make_shared<QuantizationOptions>(options);
  // What is put back is not to be quantized.
  changed->config.assertsAll = false;
  for (const NodeSensitivity &each : nodes)
    changed->profile->floatNodes.insert(each.node.name);
  return changed;
}

/// Fills in the error of each of \p nodes: that of the model in which the
/// others are float.
static llvm::Error
measureNodes(const QuantizationMeter &meter, const QuantizationOptions &options,
             std::vector<NodeSensitivity> &nodes,
             llvm::function_ref<void(size_t node, size_t count)> onNode) {
  for (auto [i, each] : llvm::enumerate(nodes)) {
    onNode(i, nodes.size());
    auto alone =
        std::make_shared<QuantizationOptions>(*keepFloat(options, nodes));
    alone->profile->floatNodes.erase(each.node.name);
    alone->config.needsQuantizedOperand = false;
    GLOWISH_ASSIGN_OR_RETURN(QuantizationEffect effect,
                             meter.measure(std::move(alone)));
    each.error = effect.error;
  }
  return llvm::Error::success();
}

llvm::Expected<FittedQuantization> glowish::fitQuantization(
    const QuantizationMeter &meter,
    std::shared_ptr<const QuantizationOptions> options, double limit,
    llvm::function_ref<void(size_t node, size_t count)> onNode) {
  FittedQuantization fitted;
  fitted.options = options;
  GLOWISH_ASSIGN_OR_RETURN(fitted.before, meter.measure(options));
  fitted.after = fitted.before;
  if (meter.getLoss(fitted.before) <= limit)
    return fitted;
  GLOWISH_ASSIGN_OR_RETURN(std::vector<QuantizedNode> nodes,
                           meter.listNodes(*options));
  for (QuantizedNode &node : nodes)
    fitted.nodes.push_back({std::move(node), 0});
  GLOWISH_RETURN_IF_ERROR(measureNodes(meter, *options, fitted.nodes, onNode));
  llvm::sort(fitted.nodes, [](const auto &a, const auto &b) {
    return a.error != b.error ? a.error > b.error : a.node.name < b.node.name;
  });
  // With `low` in float the limit does not hold; with `high` it does.
  size_t low = 0, high = fitted.nodes.size() + 1;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    auto tried = keepFloat(
        *options, llvm::ArrayRef(fitted.nodes)
                      .take_front(std::min(middle, fitted.nodes.size())));
    GLOWISH_ASSIGN_OR_RETURN(QuantizationEffect effect, meter.measure(tried));
    if (meter.getLoss(effect) > limit) {
      low = middle;
      continue;
    }
    high = middle;
    fitted.options = std::move(tried);
    fitted.after = effect;
    fitted.numFloat = high;
  }
  if (!fitted.numFloat)
    return makeError(
        "the limit does not hold with all layers in float, either; accepted: a "
        "higher one");
  return fitted;
}
