//===- TensorProto.cpp - ONNX's tensors -----------------------------------===//

#include "glowish/Importer/TensorProtoFile.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// The file as a tensor and as a sequence of tensors.
GLOWISH_PARSER_FUZZER(tensor) {
  MemoryFile file(input, "input");
  accept(readTensorProto(file.getPath()));
  accept(readSequenceProto(file.getPath()));
}
