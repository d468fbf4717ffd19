//===- Suite.h - ONNX's own tests in a folder -------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_SUITE_H
#define GLOWISH_TESTS_CONFORMANCE_SUITE_H

#include "Skips.h"
#include "glowish/Support/Error.h"
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace glowish {

/// A model with inputs and the outputs that are expected.
struct NodeTest {
  /// Below the suite's folder, with '/': "v1.22.0/node/test_abs".
  std::string name;
  /// The model's file.
  std::string model;
  /// Where the files of the sets of data are, up to input_0.pb's number:
  /// "test_abs/test_data_set_0/".
  std::vector<std::string> dataPrefixes;
  /// No inputs are given: element i of one with n elements is i / n. So are
  /// ONNX's light models.
  bool hasRampInputs = false;
  /// Of the file scope.csv above the folder: "A-float32"; "unclassified" where
  /// there is none.
  std::string testClass = "unclassified";
  /// The inputs that decide a shape, as far as scope.csv says so.
  std::vector<std::string> constantInputs;
  /// The operators of the model's graph, without repetitions, sorted.
  std::vector<std::string> operators;
  /// Why it is not run; null if it is.
  const SkipKind *skip = nullptr;
};

/// All tests below \p root, sorted by name: folders with model.onnx and
/// test_data_set_N/{input,output}_K.pb, and pairs of files NAME.onnx and
/// NAME_output_0.pb. Models without data are no tests. \p isWritten: the models
/// are to be written as ONNX, which skips more of them.
llvm::Expected<std::vector<NodeTest>> findNodeTests(llvm::StringRef root,
                                                    bool isWritten = false);

llvm::Expected<onnx::ModelProto> readModelProto(llvm::StringRef file);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_SUITE_H
