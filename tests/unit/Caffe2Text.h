//===- Caffe2Text.h - Caffe2 nets in protobuf text for tests ----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_CAFFE2TEXT_H
#define GLOWISH_TESTS_UNIT_CAFFE2TEXT_H

#include "OnnxText.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Importer/Caffe2.h"

namespace glowish {

inline std::string intArg(llvm::StringRef name, int64_t value) {
  return llvm::formatv("arg {{ name: \"{0}\" i: {1} } ", name, value);
}
inline std::string floatArg(llvm::StringRef name, double value) {
  return llvm::formatv("arg {{ name: \"{0}\" f: {1:f6} } ", name, value);
}
inline std::string stringArg(llvm::StringRef name, llvm::StringRef value) {
  return llvm::formatv("arg {{ name: \"{0}\" s: \"{1}\" } ", name, value);
}
inline std::string intsArg(llvm::StringRef name, std::vector<int64_t> values) {
  std::string text = "arg { name: \"" + name.str() + "\" ";
  for (int64_t value : values)
    text += "ints: " + std::to_string(value) + " ";
  return text + "} ";
}
inline std::string floatsArg(llvm::StringRef name, std::vector<float> values) {
  std::string text = "arg { name: \"" + name.str() + "\" ";
  for (float value : values)
    text += "floats: " + std::to_string(value) + " ";
  return text + "} ";
}

/// An operator of a net.
inline std::string netOp(llvm::StringRef type, std::vector<std::string> inputs,
                         std::vector<std::string> outputs,
                         llvm::StringRef args = "") {
  std::string text = "op { type: \"" + type.str() + "\" ";
  for (const std::string &input : inputs)
    text += "input: \"" + input + "\" ";
  for (const std::string &output : outputs)
    text += "output: \"" + output + "\" ";
  return text + args.str() + "} ";
}

inline std::string floatFill(llvm::StringRef name, std::vector<int64_t> shape,
                             std::vector<float> values) {
  return netOp("GivenTensorFill", {}, {name.str()},
               intsArg("shape", std::move(shape)) +
                   floatsArg("values", std::move(values)));
}
inline std::string intFill(llvm::StringRef name, std::vector<int64_t> shape,
                           std::vector<int64_t> values,
                           llvm::StringRef type = "GivenTensorInt64Fill") {
  return netOp(type, {}, {name.str()},
               intsArg("shape", std::move(shape)) +
                   intsArg("values", std::move(values)));
}

/// A net of the operators \p ops with the outputs \p outputs.
inline std::string netText(llvm::StringRef ops,
                           std::vector<std::string> outputs = {"y"}) {
  std::string text = "name: \"n\" " + ops.str();
  for (const std::string &output : outputs)
    text += "external_output: \"" + output + "\" ";
  return text;
}

inline llvm::Expected<std::unique_ptr<Module>>
importNet(llvm::StringRef predict, llvm::StringRef init = "",
          ImportOptions options = {}) {
  options.evaluate = evaluateNode;
  return importCaffe2({predict, init}, "n", options);
}

inline std::string importNetError(llvm::StringRef predict,
                                  llvm::StringRef init = "",
                                  ImportOptions options = {}) {
  auto module = importNet(predict, init, std::move(options));
  return module ? "imported" : llvm::toString(module.takeError());
}

/// What the interpreter makes of a net without inputs: type and elements of
/// each of its outputs, one a line.
inline std::string runNet(llvm::StringRef predict, llvm::StringRef init = "") {
  auto module = importNet(predict, init);
  if (!module)
    return llvm::toString(module.takeError());
  std::unique_ptr<Backend> backend = createInterpreter();
  Compilation compilation(*backend, CompilationOptions());
  PlannedProgram program =
      llvm::cantFail(compilation.compile(std::move(*module)));
  auto session = llvm::cantFail(Session::create(program));
  llvm::cantFail(session->run());
  std::string text;
  for (const Buffer *output : session->getOutputs())
    text += (text.empty() ? "" : "\n") + toText(session->getTensor(output));
  return text;
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_CAFFE2TEXT_H
