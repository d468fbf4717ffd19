//===- OnnxExtentRuns.h - ONNX models whose runs state extents --*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H
#define GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H

#include "Differential.h"
#include "ExtentRuns.h"
#include "Messages.h"
#include "OnnxText.h"

namespace glowish {

/// The ranges of symbols.
using ExtentRanges = std::map<std::string, IntRange>;

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
  return llvm::cantFail(
      compileProgram(llvm::cantFail(model.import(std::move(options))),
                     createBackend(isCPU, target), compilationOptions));
}

/// Runs \p ranged with random inputs of the extents that \p values give, and
/// compares all outputs with those of \p fixed, which is compiled for these.
inline void compare(Program &ranged, Program &fixed,
                    const ExtentValues &values) {
  uint64_t seed = 0;
  for (const Buffer *input : ranged.session->getPlaceholders()) {
    if (input->getInputExtents().dims.empty())
      continue;
    Tensor tensor = makeRandom(
        input->getType().withShape(evaluateShape(input, values)), ++seed);
    llvm::cantFail(setInput(ranged, &fixed, input, tensor));
  }
  ASSERT_EQ(getMessage(ranged.session->run()), "");
  llvm::cantFail(fixed.session->run());
  for (const Buffer *output : fixed.session->getOutputs()) {
    Tensor expected = fixed.session->getOutput(output);
    Tensor actual =
        ranged.session->getOutput(ranged.find(output->getModelName()));
    ASSERT_EQ(actual.getType().str(), expected.getType().str());
    for (int64_t i = 0; i < expected.getNumElements(); ++i)
      // Infinities are equal, too.
      if (actual.getAsDouble(i) != expected.getAsDouble(i))
        ASSERT_NEAR(actual.getAsDouble(i), expected.getAsDouble(i), 2e-6)
            << output->getModelName().str() << " " << i;
  }
}

/// The same with \p model compiled for them now.
inline void check(TextModel &model, bool isCPU, Program &ranged,
                  const ExtentValues &values) {
  Program fixed = compile(model, isCPU, values, {});
  compare(ranged, fixed, values);
}

/// Compiles \p model with \p ranges for both back ends, and checks all of
/// \p values.
inline void checkBoth(TextModel &model, const ExtentRanges &ranges,
                      llvm::ArrayRef<ExtentValues> values) {
  for (bool isCPU : {false, true}) {
    Program ranged = compile(model, isCPU, {}, ranges);
    for (const ExtentValues &each : values)
      check(model, isCPU, ranged, each);
  }
}

/// Returns the message of the import of \p model with \p ranges.
inline std::string importError(TextModel &model, const ExtentRanges &ranges) {
  ImportOptions options;
  options.symbolRanges = ranges;
  return model.importError(std::move(options));
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_ONNXEXTENTRUNS_H
