//===- TFLiteRuns.h - Import and run TensorFlow Lite models -----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_TFLITERUNS_H
#define GLOWISH_TESTS_UNIT_TFLITERUNS_H

#include "Differential.h"
#include "TFLiteModels.h"
#include "glowish/Importer/TFLite.h"

namespace glowish {

inline llvm::Expected<std::unique_ptr<Module>>
importTFLiteBytes(const std::string &bytes, ImportOptions options = {}) {
  options.evaluate = evaluateNode;
  // At an address that is a multiple of 16, as a file's.
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(bytes);
  return importTFLite(llvm::arrayRefFromStringRef(buffer->getBuffer()), "m",
                      options);
}

/// What the import says: an error, or "imported".
inline std::string getTFLiteError(const std::string &bytes,
                                  ImportOptions options = {}) {
  auto module = importTFLiteBytes(bytes, std::move(options));
  return module ? "imported" : llvm::toString(module.takeError());
}

/// Options that bound loops.
inline ImportOptions withMaxTripCount(int64_t most) {
  ImportOptions options;
  options.maxTripCount = most;
  return options;
}

/// The elements of tensors by their names.
using TFLiteRun = std::map<std::string, std::vector<double>>;

/// The outputs of runs on \p backend with \p inputs, one after the other.
inline llvm::Expected<std::vector<TFLiteRun>>
runTFLite(Backend &backend, const std::string &bytes,
          llvm::ArrayRef<TFLiteRun> inputs, const ImportOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(auto module, importTFLiteBytes(bytes, options));
  CompilationOptions compilation;
  compilation.verifyEach = true;
  GLOWISH_ASSIGN_OR_RETURN(
      PlannedProgram program,
      Compilation(backend, compilation).compile(std::move(module)));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  std::vector<TFLiteRun> results;
  for (const TFLiteRun &run : inputs) {
    for (const auto &[name, values] : run) {
      GLOWISH_ASSIGN_OR_RETURN(const Buffer *input,
                               session->findPlaceholder(name));
      Tensor tensor(input->getType());
      for (auto [i, value] : llvm::enumerate(values))
        tensor.setFromDouble(int64_t(i), value);
      GLOWISH_RETURN_IF_ERROR(session->setInput(input, tensor));
    }
    GLOWISH_RETURN_IF_ERROR(session->run());
    TFLiteRun &outputs = results.emplace_back();
    for (const Buffer *buffer : session->getPlaceholders()) {
      if (!buffer->isOutput())
        continue;
      Tensor tensor = session->getTensor(buffer);
      std::vector<double> &values = outputs[buffer->getModelName().str()];
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        values.push_back(tensor.getAsDouble(i));
    }
  }
  return results;
}

/// The interpreter's outputs, which those of compiled code are compared with.
inline std::vector<TFLiteRun>
runTFLiteEverywhere(const std::string &bytes, llvm::ArrayRef<TFLiteRun> inputs,
                    const ImportOptions &options = {}) {
  auto expected = runTFLite(*createInterpreter(), bytes, inputs, options);
  if (!expected) {
    ADD_FAILURE() << llvm::toString(expected.takeError());
    return std::vector<TFLiteRun>(inputs.size());
  }
  for (const TargetOptions &target : getLevelsInTurn()) {
    auto backend = llvm::cantFail(CPUBackend::create(target));
    auto actual = runTFLite(*backend, bytes, inputs, options);
    if (!actual)
      ADD_FAILURE() << llvm::toString(actual.takeError());
    else
      EXPECT_EQ(*actual, *expected) << "on '" << target.cpu << "'";
  }
  return std::move(*expected);
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_TFLITERUNS_H
