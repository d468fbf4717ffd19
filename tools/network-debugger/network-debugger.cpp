//===- network-debugger.cpp - Finds where two networks diverge ------------===//

#include "common/CommonOptions.h"
#include "common/GivenInputs.h"
#include "common/QuantizationFlags.h"
#include "common/TensorFile.h"
#include "common/Tool.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Progress.h"
#include "network-debugger/Bisection.h"
#include "network-debugger/LayerComparison.h"
#include "network-debugger/Options.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"

using namespace glowish;

//===- Printing -----------------------------------------------------------===//

/// The place of element \p index: "[0,3,4]".
static std::string formatPlace(int64_t index, DimsRef shape) {
  std::string text = "[";
  Dims strides = getDenseStrides(shape);
  for (auto [d, stride] : llvm::enumerate(strides))
    text += (d ? "," : "") + std::to_string(index / stride % shape[d]);
  return text + "]";
}

static std::string formatValue(const ValueName &name) {
  return name.result ? name.node + ":" + std::to_string(name.result)
                     : name.node;
}

/// Where the values differ most; "-" where nothing differs.
static std::string findPlace(const LayerResult &result) {
  if (!(result.comparison.maxError > 0))
    return "-";
  return formatPlace(result.comparison.maxErrorIndex, result.type.getShape());
}

/// \p hasRms: with the root of the mean square, which tells more of roundings.
static void printTable(llvm::ArrayRef<LayerResult> results, bool hasRms) {
  size_t nameWidth = 5, kindWidth = 8, typeWidth = 4;
  for (const LayerResult &result : results) {
    nameWidth = std::max(nameWidth, formatValue(result.name).size());
    kindWidth = std::max(kindWidth, result.kind.size());
    typeWidth = std::max(typeWidth, result.type.str().size());
  }
  auto print = [&](llvm::StringRef name, llvm::StringRef kind,
                   llvm::StringRef type, const std::string &numbers) {
    llvm::outs() << llvm::left_justify(name, unsigned(nameWidth)) << "  "
                 << llvm::left_justify(kind, unsigned(kindWidth)) << "  "
                 << llvm::left_justify(type, unsigned(typeWidth)) << "  "
                 << numbers << "\n";
  };
  print("layer", "operator", "type",
        hasRms ? "difference    relative         RMS  at"
               : "difference    relative  at");
  for (const LayerResult &result : results) {
    std::string numbers;
    llvm::raw_string_ostream os(numbers);
    os << llvm::format("%10.3e  %10.3e  ", result.comparison.maxError,
                       result.comparison.getRelativeError());
    if (hasRms)
      os << llvm::format("%10.3e  ", result.comparison.getRelativeRms());
    os << findPlace(result) << (result.isBad ? "  BAD" : "");
    print(formatValue(result.name), result.kind, result.type.str(), numbers);
  }
}

/// The layer that the user should inspect first.
static void printFirst(const LayerResult &result) {
  llvm::outs() << llvm::formatv("first bad layer: '{0}' ({1}), {2}: ",
                                formatValue(result.name), result.kind,
                                result.type.str())
               << llvm::format("%.7g", result.actual) << " at "
               << formatPlace(result.comparison.maxErrorIndex,
                              result.type.getShape())
               << llvm::format(", the reference has %.7g\n", result.expected);
}

static const LayerResult &findWorst(llvm::ArrayRef<LayerResult> results) {
  auto isLess = [](const LayerResult &a, const LayerResult &b) {
    return a.comparison.getRelativeError() < b.comparison.getRelativeError();
  };
  return *std::max_element(results.begin(), results.end(), isLess);
}

static void printCut(const Cut &cut) {
  const LayerResult &worst = findWorst(cut.results);
  llvm::outs() << llvm::formatv("after '{0}' ({1}): {2} value{3}, ", cut.node,
                                cut.kind, cut.results.size(),
                                cut.results.size() == 1 ? "" : "s");
  llvm::outs() << llvm::format("difference %.3e, relative %.3e: ",
                               worst.comparison.maxError,
                               worst.comparison.getRelativeError())
               << (cut.isBad() ? "BAD" : "good") << "\n";
  llvm::outs().flush();
}

//===- Dumping ------------------------------------------------------------===//

/// Quantized elements as their integers: .npy files know no others.
static Tensor getPlain(const Tensor &tensor) {
  const Type &type = tensor.getType();
  if (!type.isQuantized() && type.getKind() != ElemKind::BFloat16)
    return tensor.clone();
  bool isQuantized = type.isQuantized();
  Tensor plain(type.withKind(isQuantized ? ElemKind::Int32 : ElemKind::Float));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    plain.setFromDouble(i, tensor.getAsDouble(i));
  return plain;
}

static llvm::Error dump(llvm::StringRef folder, const LayerResult &result,
                        const Tensor &expected, const Tensor &actual) {
  GLOWISH_RETURN_IF_ERROR(createDirectories(folder));
  auto write = [&](llvm::StringRef suffix, const Tensor &tensor) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path,
                            getFileName(formatValue(result.name)) + suffix);
    return writeNpyFile(path, getPlain(tensor));
  };
  GLOWISH_RETURN_IF_ERROR(write(".reference.npy", expected));
  return write(".npy", actual);
}

//===- Modes --------------------------------------------------------------===//

static llvm::Expected<int> compareAll(const DebuggerOptions &options,
                                      const ComparisonOptions &comparison) {
  std::vector<LayerResult> results;
  {
    Progress progress;
    progress.show("comparing");
    GLOWISH_ASSIGN_OR_RETURN(
        results, compareLayers(options.reference, options.tested, comparison));
  }
  std::vector<LayerResult> bad;
  llvm::copy_if(results, std::back_inserter(bad),
                [](const LayerResult &result) { return result.isBad; });
  if (!options.onlyBad)
    printTable(results, options.isQuantized);
  else if (!bad.empty())
    printTable(bad, options.isQuantized);
  llvm::outs() << bad.size() << " of " << results.size() << " layers are bad\n";
  if (bad.empty())
    return ExitCode::success;
  printFirst(bad.front());
  return ExitCode::mismatch;
}

static llvm::Expected<int> bisect(const DebuggerOptions &options,
                                  const ComparisonOptions &comparison) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<LayerResult> first,
      bisectLayers(options.reference, options.tested, comparison, printCut));
  if (!first) {
    llvm::outs() << "what the network computes agrees\n";
    return ExitCode::success;
  }
  printFirst(*first);
  return ExitCode::mismatch;
}

static llvm::Expected<int> runDebugger() {
  PhaseTimer timer;
  GLOWISH_ASSIGN_OR_RETURN(DebuggerOptions options, getDebuggerOptions(timer));
  GLOWISH_ASSIGN_OR_RETURN(GivenTensors given, readGivenTensors());
  stateGivenTypes(given, options.reference.importOptions);
  stateGivenTypes(given, options.tested.importOptions);
  // One of them is enough.
  options.reference.importOptions.isRepeated = true;
  ComparisonOptions &comparison = options.comparison;
  comparison.fillInputs = [&](Session &session) {
    return fillInputs(session, given);
  };
  if (!options.dumpFolder.empty())
    comparison.visit = [&](const LayerResult &result, const Tensor &expected,
                           const Tensor &actual) {
      return result.isBad ? dump(options.dumpFolder, result, expected, actual)
                          : llvm::Error::success();
    };
  GLOWISH_ASSIGN_OR_RETURN(int code, options.bisects
                                         ? bisect(options, comparison)
                                         : compareAll(options, comparison));
  reportTime(timer);
  return code;
}

int main(int argc, char **argv) {
  return runTool(argc, argv,
                 "Computes a network in two ways and finds the first layer "
                 "where they differ.\n",
                 {&modelCategory, &quantizationCategory, &inputCategory,
                  &comparisonCategory, &targetCategory, &debugCategory},
                 runDebugger);
}
