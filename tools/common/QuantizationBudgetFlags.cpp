//===- QuantizationBudgetFlags.cpp - -max-error and -max-drop -------------===//

#include "common/QuantizationBudgetFlags.h"
#include "common/ProfileDump.h"
#include "common/QuantizationFlags.h"
#include "glowish/Support/Progress.h"
#include "llvm/Support/Format.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::opt<std::string> maxError(
    "max-error",
    cl::desc("With -load-profile, leave layers in float until the outputs "
             "differ from those of the float model by at most this share: the "
             "root of the mean square, of the given inputs"),
    cl::value_desc("percent"), cl::cat(quantizationCategory));
static cl::opt<std::string> maxDrop(
    "max-drop",
    cl::desc("With -load-profile and the labels of image-classifier, leave "
             "layers in float until at most this share of the answers is lost"),
    cl::value_desc("percent"), cl::cat(quantizationCategory));

bool glowish::limitsQuantization() {
  return maxError.getNumOccurrences() || maxDrop.getNumOccurrences();
}

static llvm::Expected<double> parsePercent(const cl::opt<std::string> &flag) {
  llvm::StringRef text = flag.getValue();
  double percent = 0;
  if (!text.consume_back("%") || !llvm::to_float(text.trim(), percent) ||
      !(percent >= 0) || percent > 100)
    return makeError("-{0}={1}: accepted: a percentage from 0% to 100%, such "
                     "as 0.5%",
                     flag.ArgStr, flag.getValue());
  return percent / 100;
}

llvm::Expected<std::optional<QuantizationLimit>>
glowish::getQuantizationLimit(const CompilationOptions &options) {
  if (!limitsQuantization())
    return std::nullopt;
  bool isOfAnswers = maxDrop.getNumOccurrences();
  if (isOfAnswers && maxError.getNumOccurrences())
    return makeError("-max-error and -max-drop; state one of them");
  const cl::opt<std::string> &flag = isOfAnswers ? maxDrop : maxError;
  GLOWISH_ASSIGN_OR_RETURN(double share, parsePercent(flag));
  if (!options.quantization || !options.quantization->profile)
    return makeError("-{0} has no effect without a profile; accepted: with "
                     "-load-profile=FILE",
                     flag.ArgStr);
  if (options.stopAfter)
    return makeError("-{0}={1}: with -stop-after, the model does not run; "
                     "state one of them",
                     flag.ArgStr, flag.getValue());
  return QuantizationLimit{share, isOfAnswers};
}

//===- Printing -----------------------------------------------------------===//

static uint64_t countMultiplications(llvm::ArrayRef<NodeSensitivity> nodes) {
  uint64_t sum = 0;
  for (const NodeSensitivity &each : nodes)
    sum += each.node.numMultiplications;
  return sum;
}

static double getShare(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * double(part) / double(whole) : 0.0;
}

/// The nodes that are float now.
static void printNodes(const FittedQuantization &fitted) {
  llvm::ArrayRef<NodeSensitivity> nodes =
      llvm::ArrayRef(fitted.nodes).take_front(fitted.numFloat);
  size_t nameWidth = 11, kindWidth = 8;
  for (const NodeSensitivity &each : nodes) {
    nameWidth = std::max(nameWidth, each.node.name.size());
    kindWidth = std::max(kindWidth, getNodeInfo(each.node.kind).name.size());
  }
  auto print = [&](llvm::StringRef name, llvm::StringRef kind) -> auto & {
    return llvm::outs() << llvm::left_justify(name, unsigned(nameWidth)) << "  "
                        << llvm::left_justify(kind, unsigned(kindWidth));
  };
  print("float layer", "operator") << "  error alone  multiplications\n";
  uint64_t all = countMultiplications(fitted.nodes);
  for (const NodeSensitivity &each : nodes)
    print(each.node.name, getNodeInfo(each.node.kind).name)
        << llvm::format("  %10.3f%%  %14.2f%%\n", 100 * each.error,
                        getShare(each.node.numMultiplications, all));
  llvm::outs() << llvm::formatv("{0} of {1} layers stay float, ", nodes.size(),
                                fitted.nodes.size())
               << llvm::format("with %.2f%% of the multiplications\n",
                               getShare(countMultiplications(nodes), all));
}

static void printEffects(const QuantizationMeter &meter,
                         const FittedQuantization &fitted) {
  llvm::outs() << "            error";
  if (meter.getModel().countRight)
    llvm::outs() << "     right";
  llvm::outs() << "    ms a run   MB of constants\n";
  std::pair<llvm::StringRef, QuantizationEffect> rows[] = {
      {"float", meter.getFloat()},
      {"quantized", fitted.before},
      {"as limited", fitted.after}};
  for (const auto &[name, effect] : rows) {
    llvm::outs() << llvm::left_justify(name, 10)
                 << llvm::format("%6.3f%%", 100 * effect.error);
    if (meter.getModel().countRight)
      llvm::outs() << llvm::format("  %7.2f%%", 100 * effect.rightShare);
    llvm::outs() << llvm::format("  %10.3f  %16.3f\n", effect.milliseconds,
                                 double(effect.constantBytes) / 1e6);
  }
}

llvm::Error glowish::applyQuantizationLimit(const QuantizationLimit &limit,
                                            BudgetModel model,
                                            CompilationOptions &options) {
  FittedQuantization fitted;
  std::optional<QuantizationMeter> meter;
  {
    Progress progress;
    progress.show("measuring the quantized model");
    GLOWISH_ASSIGN_OR_RETURN(meter,
                             QuantizationMeter::create(std::move(model)));
    GLOWISH_ASSIGN_OR_RETURN(
        fitted, fitQuantization(
                    *meter, options.quantization, limit.share,
                    [&](size_t node, size_t count) {
                      progress.show(llvm::formatv("measuring layer {0} of {1}",
                                                  node + 1, count));
                    }));
  }
  if (fitted.nodes.empty())
    llvm::outs() << "the limit holds with all layers quantized\n";
  else
    printNodes(fitted);
  printEffects(*meter, fitted);
  options.quantization = fitted.options;
  return writeProfile(*fitted.options->profile);
}
