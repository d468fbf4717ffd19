//===- Onnx.cpp - ONNX models ---------------------------------------------===//

#include "glowish/Importer/OnnxModel.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// The symbols that the seeds and mutations have: one with a value, one with a
/// range.
static void setSymbols(const OnnxModel &model, ImportOptions &options) {
  if (model.hasSymbol("n"))
    options.symbols["n"] = 2;
  if (model.hasSymbol("m"))
    options.symbolRanges["m"] = {1, 5};
}

GLOWISH_PARSER_FUZZER(onnx) {
  auto model =
      accept(OnnxModel::parse(input, "model.onnx", getWeightsFolder()));
  if (!model)
    return;
  ImportOptions options = getImportOptions();
  setSymbols(*model, options);
  model->getDeclaredInputs();
  model->getDeclaredOutputs();
  accept(model->getStatedInputs(options));
  compileToPlan(model->importLast(options), input.size(), Target::CPU);
}
