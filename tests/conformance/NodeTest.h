//===- NodeTest.h - One test of ONNX's own ----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_NODETEST_H
#define GLOWISH_TESTS_CONFORMANCE_NODETEST_H

#include "glowish/Support/Error.h"
#include <map>
#include <string>
#include <vector>

namespace glowish {

/// A folder with model.onnx and test_data_set_N/{input,output}_K.pb.
struct NodeTest {
  std::string folder;
  /// The folder below the root, with '/': "v1.22.0/node/test_abs".
  std::string name;
  /// Of the file scope.csv above the folder: "A-float32"; "unclassified" where
  /// there is no such file.
  std::string testClass = "unclassified";
  /// The operators of the model's graph, without repetitions, sorted.
  std::vector<std::string> operators;
};

/// All tests below \p root, sorted by name. Models that are given without a
/// folder of data are no tests.
llvm::Expected<std::vector<NodeTest>> findNodeTests(llvm::StringRef root);

/// How far an output may be from what is expected: that of ONNX's own runner.
struct Tolerances {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// Compiles the model and compares its outputs for each set of data; an error
/// is what a person needs to know of a failure. \p backend: "CPU" or
/// "Interpreter".
///
/// An input can decide a shape (the repeats of Tile, the axes of ReduceSum),
/// and such a model can't be compiled before it is known. Where the import
/// fails, it is tried again with the inputs as constants that can be meant to
/// be so: first integers and bools of rank 0 and 1 and other scalars, then all
/// of rank 0 and 1.
llvm::Error runNodeTest(const NodeTest &test, llvm::StringRef backend,
                        Tolerances tolerances);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_NODETEST_H
