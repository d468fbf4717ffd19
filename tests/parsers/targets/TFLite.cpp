//===- TFLite.cpp - TensorFlow Lite models --------------------------------===//

#include "glowish/Importer/TFLite.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::parsers;

GLOWISH_PARSER_FUZZER(tflite) {
  compileToPlan(importTFLite(llvm::arrayRefFromStringRef(input), "model.tflite",
                             getImportOptions()),
                input.size(), Target::Interpreter);
}
