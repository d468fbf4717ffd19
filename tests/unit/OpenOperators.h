//===- OpenOperators.h - ONNX operators with open dimensions ----*- C++ -*-===//
//
// A model of few nodes is compiled for ranges of its symbols, for both back
// ends, and runs with several extents; what lies beyond them shows. The results
// are those of the model compiled for the extents.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_UNIT_OPENOPERATORS_H
#define GLOWISH_TESTS_UNIT_OPENOPERATORS_H

#include "OnnxExtentRuns.h"

namespace glowish::openoperators {

struct Case {
  const char *name;
  std::vector<llvm::StringRef> shape; // of the input x
  std::string body;                   // makes y of x
  int opset = 13;
  std::string outputs = "output { name: \"y\" } ";
};

using Names = std::vector<std::string>;

inline std::string node(llvm::StringRef type, Names inputs,
                        std::string attrs = "", std::string output = "y") {
  return onnxNode(type, std::move(inputs), std::move(attrs), std::move(output));
}

/// A node of ONNX Runtime's own operators.
inline std::string microsoft(llvm::StringRef type, Names inputs,
                             std::string attrs = "", std::string output = "y") {
  return node(type, std::move(inputs), attrs + "domain: \"com.microsoft\" ",
              std::move(output));
}

/// A node with several outputs.
inline std::string nodeWith(llvm::StringRef type, const Names &inputs,
                            const Names &outputs,
                            const std::string &attrs = "") {
  std::string text = "node { op_type: \"" + type.str() + "\" ";
  for (const std::string &input : inputs)
    text += "input: \"" + input + "\" ";
  for (const std::string &output : outputs)
    text += "output: \"" + output + "\" ";
  return text + attrs + "} ";
}

inline std::string makeOutputs(const Names &names) {
  std::string text;
  for (const std::string &name : names)
    text += "output { name: \"" + name + "\" } ";
  return text;
}

inline std::string weights(llvm::StringRef name, std::vector<int64_t> shape,
                           float scale = 1) {
  Random random(uint64_t(name.size() + shape.size()));
  std::vector<float> values(countElements(shape));
  for (float &value : values)
    value = scale * float(random.uniform(-1, 1));
  return floats(name, std::move(shape), values);
}

inline std::string kernel(std::vector<int64_t> extents) {
  return intsAttr("kernel_shape", std::move(extents));
}
inline std::string strides(std::vector<int64_t> extents) {
  return intsAttr("strides", std::move(extents));
}
inline std::string pads(std::vector<int64_t> extents) {
  return intsAttr("pads", std::move(extents));
}
inline std::string autoPad(llvm::StringRef mode) {
  return stringAttr("auto_pad", mode);
}

inline TextModel makeModel(const Case &test) {
  TextModel model;
  model.opset = test.opset;
  model.inputs.clear();
  model.outputs = test.outputs;
  model.header = "opset_import { domain: \"com.microsoft\" version: 1 }";
  model.body = symbolicInput("x", test.shape) + test.body;
  return model;
}

inline const ExtentRanges ranges = {
    {"N", {1, 3}}, {"H", {4, 9}}, {"W", {3, 8}}};

/// Compares the runs of \p test with some values of those symbols that it has,
/// and with nothing.
inline void checkCase(const Case &test) {
  SCOPED_TRACE(test.name);
  TextModel model = makeModel(test);
  std::vector<ExtentValues> runs;
  for (auto [n, h, w] : {std::tuple(1, 4, 3), {3, 9, 8}, {2, 7, 5}, {2, 6, 8}})
    runs.push_back({{"N", n}, {"H", h}, {"W", w}});
  checkFromNothing(model, ranges, runs);
}

inline void checkCases(llvm::ArrayRef<Case> cases) {
  for (const Case &test : cases)
    checkCase(test);
}

inline const std::vector<llvm::StringRef> image = {"N", "4", "H", "W"},
                                          doubled = {"N", "4", "2*H", "2*W"},
                                          line = {"N", "4", "W"},
                                          volume = {"N", "4", "3", "4", "5"},
                                          square = {"N", "4", "6", "5"};

/// The number of instructions that compute all that a run may need.
inline unsigned countUnbounded(const Program &program) {
  unsigned count = 0;
  for (const Instruction &instr : program.program->getIR().getInstrs())
    count += !instr.isLifetimeMarker() && instr.getLoopBounds().empty();
  return count;
}

} // namespace glowish::openoperators

#endif // GLOWISH_TESTS_UNIT_OPENOPERATORS_H
