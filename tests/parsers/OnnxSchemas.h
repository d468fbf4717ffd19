//===- OnnxSchemas.h - What ONNX says of its operators ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_ONNXSCHEMAS_H
#define GLOWISH_TESTS_PARSERS_ONNXSCHEMAS_H

#include <string>
#include <vector>

namespace glowish::parsers {

/// An operator of the main domain with its attributes.
struct OnnxOperator {
  struct Attribute {
    std::string name;
    /// AttributeProto.AttributeType.
    int type;
  };
  std::string name;
  int minInputs, maxInputs, minOutputs;
  std::vector<Attribute> attributes;
};

/// Those that the importer has, as the newest schema of ONNX's library says;
/// without attributes where that lacks them.
const std::vector<OnnxOperator> &getOnnxOperators();

/// The names of all their attributes.
std::vector<std::string> listAttributeNames();

} // namespace glowish::parsers

#endif // GLOWISH_TESTS_PARSERS_ONNXSCHEMAS_H
