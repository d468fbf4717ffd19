//===- OnnxText.h - Models in protobuf text for tests -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_ONNXTEXT_H
#define GLOWISH_TESTS_UNIT_ONNXTEXT_H

#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Importer/ONNX.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

namespace glowish {

/// Type and elements: "int64<2>: 1 2".
inline std::string toText(const Tensor &tensor) {
  std::string text = tensor.getType().str() + ":";
  bool isInteger = isIntegerKind(tensor.getType().getKind());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    text += isInteger ? llvm::formatv(" {0}", tensor.getAsInt(i)).str()
                      : llvm::formatv(" {0}", tensor.getAsDouble(i)).str();
  // formatv writes two decimals.
  for (size_t at; (at = text.find(".00")) != std::string::npos;)
    text.erase(at, 3);
  return text;
}

/// A model in protobuf text with inputs of the given shapes, float unless
/// stated, and the output "y".
struct TextModel {
  int opset = 13;
  /// Fields of the graph.
  std::string body;
  /// Fields of the model.
  std::string header;
  std::vector<std::pair<std::string, std::vector<int64_t>>> inputs = {
      {"x", {2, 3}}};
  std::string outputs = "output { name: \"y\" } ";
  std::unique_ptr<Module> module;

  std::string str() const {
    std::string text = llvm::formatv("ir_version: 7 opset_import {{ version: "
                                     "{0} } {1} graph {{ name: \"g\" ",
                                     opset, header);
    text += body;
    for (const auto &[name, shape] : inputs) {
      text += "input { name: \"" + name +
              "\" type { tensor_type { elem_type: 1 shape { ";
      for (int64_t dim : shape)
        text += "dim { dim_value: " + std::to_string(dim) + " } ";
      text += "} } } } ";
    }
    return text + outputs + "}";
  }

  llvm::Expected<std::unique_ptr<Module>> import(ImportOptions options = {}) {
    if (!options.evaluate)
      options.evaluate = evaluateNode;
    std::string text = str();
    return importOnnx(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(text.data()),
                       text.size()),
        "m", options);
  }
  /// The value that is saved to y.
  NodeValue importOutput() {
    auto made = import();
    if (!made) {
      ADD_FAILURE() << llvm::toString(made.takeError());
      return {};
    }
    module = std::move(*made);
    return llvm::cast<SaveNode>(module->findFunction("main")->getNodes().back())
        .getInput();
  }
  /// y, which is a constant.
  std::string importConstant() {
    auto *constant = importOutput().getNodeAs<Constant>();
    if (!constant)
      return "not a constant";
    return toText(constant->getTensor());
  }
  std::string importError(ImportOptions options = {}) {
    auto made = import(std::move(options));
    return made ? "imported" : llvm::toString(made.takeError());
  }
  unsigned getNumNodes() const {
    return module->findFunction("main")->getNodes().size();
  }
};

/// A node of operator \p type; an input "" is absent.
inline std::string onnxNode(llvm::StringRef type,
                            std::vector<std::string> nodeInputs,
                            std::string attributes = "",
                            std::string output = "y") {
  std::string text = "node { op_type: \"" + type.str() + "\" ";
  for (const std::string &input : nodeInputs)
    text += "input: \"" + input + "\" ";
  return text + "output: \"" + output + "\" " + attributes + "} ";
}

inline std::string intAttr(llvm::StringRef name, int64_t value) {
  return llvm::formatv("attribute {{ name: \"{0}\" i: {1} type: INT } ", name,
                       value);
}
inline std::string floatAttr(llvm::StringRef name, double value) {
  return llvm::formatv("attribute {{ name: \"{0}\" f: {1:f6} type: FLOAT } ",
                       name, value);
}
inline std::string stringAttr(llvm::StringRef name, llvm::StringRef value) {
  return llvm::formatv("attribute {{ name: \"{0}\" s: \"{1}\" type: STRING } ",
                       name, value);
}
inline std::string intsAttr(llvm::StringRef name, std::vector<int64_t> values) {
  std::string text = "attribute { name: \"" + name.str() + "\" type: INTS ";
  for (int64_t value : values)
    text += "ints: " + std::to_string(value) + " ";
  return text + "} ";
}

inline std::string stringsAttr(llvm::StringRef name,
                               const std::vector<std::string> &values) {
  std::string text = "attribute { name: \"" + name.str() + "\" type: STRINGS ";
  for (const std::string &value : values)
    text += "strings: \"" + value + "\" ";
  return text + "} ";
}

/// An int64 initializer of rank 1.
inline std::string int64s(llvm::StringRef name, std::vector<int64_t> values) {
  std::string text = "initializer { name: \"" + name.str() +
                     "\" data_type: 7 dims: " + std::to_string(values.size());
  for (int64_t value : values)
    text += " int64_data: " + std::to_string(value);
  return text + " } ";
}
/// A float input with dimensions that are numbers or dim_params; a field of the
/// graph.
inline std::string symbolicInput(llvm::StringRef name,
                                 llvm::ArrayRef<llvm::StringRef> dims) {
  std::string text = "input { name: \"" + name.str() +
                     "\" type { tensor_type { elem_type: 1 shape { ";
  for (llvm::StringRef dim : dims) {
    int64_t extent;
    bool isNumber = !dim.getAsInteger(10, extent);
    text += isNumber ? "dim { dim_value: " + dim.str() + " } "
                     : "dim { dim_param: \"" + dim.str() + "\" } ";
  }
  return text + "} } } } ";
}

/// An initializer of small integers of \p type, ONNX's number of their kind.
inline std::string integers(llvm::StringRef name, int type,
                            std::vector<int64_t> shape,
                            std::vector<int64_t> values) {
  std::string text = "initializer { name: \"" + name.str() +
                     "\" data_type: " + std::to_string(type) + " ";
  for (int64_t dim : shape)
    text += "dims: " + std::to_string(dim) + " ";
  for (int64_t value : values)
    text += "int32_data: " + std::to_string(value) + " ";
  return text + "} ";
}

/// A float initializer.
inline std::string floats(llvm::StringRef name, std::vector<int64_t> shape,
                          std::vector<float> values) {
  std::string text = "initializer { name: \"" + name.str() + "\" data_type: 1 ";
  for (int64_t dim : shape)
    text += "dims: " + std::to_string(dim) + " ";
  for (float value : values)
    text += "float_data: " + std::to_string(value) + " ";
  return text + "} ";
}

/// A model of one node over x: [2, 3], or other inputs.
inline TextModel
oneNode(llvm::StringRef type, std::vector<std::string> nodeInputs,
        std::string attributes = "", int opset = 13,
        std::vector<std::pair<std::string, std::vector<int64_t>>> inputs = {
            {"x", {2, 3}}}) {
  TextModel model;
  model.opset = opset;
  model.body = onnxNode(type, std::move(nodeInputs), std::move(attributes));
  model.inputs = std::move(inputs);
  return model;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_ONNXTEXT_H
