//===- OnnxExtentRuns.h - ONNX models whose runs state extents --*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H
#define GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H

#include "ExtentRuns.h"
#include "OnnxText.h"

namespace glowish {

/// The ranges of symbols.
using ExtentRanges = std::map<std::string, IntRange>;

/// Imports and compiles \p model.
inline llvm::Expected<Program>
tryCompile(TextModel &model, bool isCPU, ImportOptions options,
           const TargetOptions &target = {},
           CompilationOptions compilationOptions = {}) {
  GLOWISH_ASSIGN_OR_RETURN(auto module, model.import(std::move(options)));
  return compileProgram(std::move(module), createBackend(isCPU, target),
                        std::move(compilationOptions));
}

/// Compiles \p model for these values and ranges of its symbols.
inline Program compile(TextModel &model, bool isCPU, const ExtentValues &values,
                       const ExtentRanges &ranges,
                       const TargetOptions &target = {},
                       bool quantizesActivations = false) {
  ImportOptions options;
  options.symbols = {values.begin(), values.end()};
  options.symbolRanges = ranges;
  CompilationOptions compilationOptions;
  compilationOptions.quantizesActivations = quantizesActivations;
  return llvm::cantFail(tryCompile(model, isCPU, std::move(options), target,
                                   std::move(compilationOptions)));
}

/// Returns the ranges of those symbols that inputs of \p model have as
/// dimensions.
inline ExtentRanges findRanges(const TextModel &model,
                               const ExtentRanges &ranges) {
  ExtentRanges own;
  for (llvm::StringRef part : llvm::split(model.body, "dim_param: \""))
    for (const auto &range : ranges)
      if (part.data() != model.body.data() &&
          part.take_until([](char c) { return c == '"'; })
              .contains(range.first))
        own.insert(range);
  return own;
}

/// Returns the message of the import of \p model with \p ranges.
inline std::string importError(TextModel &model, const ExtentRanges &ranges) {
  ImportOptions options;
  options.symbolRanges = ranges;
  return model.importError(std::move(options));
}

/// Compiles \p model with \p ranges for both back ends, and compares its runs
/// with those of the model for each of \p runs, and with \p nothing.
inline void checkBoth(TextModel &model, const ExtentRanges &ranges,
                      llvm::ArrayRef<ExtentValues> runs,
                      const std::optional<ExtentValues> &nothing = {}) {
  auto make = [&](const ExtentValues *values, bool isCPU) {
    ImportOptions options;
    for (const auto &[symbol, range] : ranges) {
      if (values)
        options.symbols[symbol] = values->find(symbol)->second;
      else
        options.symbolRanges[symbol] = range;
    }
    return tryCompile(model, isCPU, std::move(options));
  };
  checkRuns(make, runs, {}, nothing);
}

/// Checks \p runs with the symbols of \p model alone. Where ranges that begin
/// with 0 are accepted, the program is for these, and runs with nothing, too.
inline void checkFromNothing(TextModel &model, const ExtentRanges &ranges,
                             llvm::ArrayRef<ExtentValues> runs) {
  ExtentRanges own = findRanges(model, ranges), all = own;
  ExtentValues nothing;
  for (auto &[symbol, range] : all)
    nothing[symbol] = range.low = 0;
  if (importError(model, all) == "imported")
    checkBoth(model, all, runs, nothing);
  else
    checkBoth(model, own, runs);
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H
