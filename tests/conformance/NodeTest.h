//===- NodeTest.h - One test of ONNX's own ----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_NODETEST_H
#define GLOWISH_TESTS_CONFORMANCE_NODETEST_H

#include "TestData.h"
#include "common/Foreign/ForeignTarget.h"
#include "glowish/Driver/Compilation.h"
#include <set>

namespace glowish {

/// "CPU" or "Interpreter", for this machine.
llvm::Expected<std::unique_ptr<Backend>>
createTestBackend(llvm::StringRef name);

/// The inputs are those of \p data: \p constants by value, others by type.
ImportOptions makeImportOptions(const TestData &data,
                                const std::set<std::string> &constants);

/// A model that is imported, and the inputs that are constants in it.
struct ImportedTest {
  ModelGraph graph;
  std::set<std::string> constants;
};

/// Imports the test's model for \p data.
///
/// An input can decide a shape (the repeats of Tile, the axes of ReduceSum),
/// and such a model can't be compiled before it is known. Those that scope.csv
/// names are constants. It misses some, and does not exist everywhere: where
/// the import fails, it is tried again with those, too, that can be meant to
/// decide shapes: first integers and bools of rank 0 and 1 and other scalars,
/// then all of rank 0 and 1.
llvm::Expected<ImportedTest> importForData(Compilation &compilation,
                                           const NodeTest &test,
                                           const TestData &data);

/// Takes an imported model through all phases, runs it on the inputs that are
/// no constants, and returns the outputs. \p foreign: the machine that the
/// compilation's back end is for and on which the program runs; null for this
/// process.
llvm::Expected<std::vector<Tensor>>
compileAndRun(Compilation &compilation, ImportedTest test, const TestData &data,
              const ForeignTarget *foreign = nullptr);

/// Compares \p outputs with those of \p data: they are at most getTolerance()
/// off. The error names the element that exceeds its tolerance most. Returns
/// the largest error of those that are compared, as measureUlps does.
llvm::Expected<double> checkOutputs(const TestData &data,
                                    llvm::ArrayRef<Tensor> outputs);

/// What is known of a test that passed.
struct PassedTest {
  /// The inputs that were constants.
  std::set<std::string> constants;
  /// The largest error of an output in units in the last place.
  double ulps = 0;

  /// Makes this that of both.
  void add(const PassedTest &other);
  /// What a worker reports, and its inverse.
  std::string str() const;
  static PassedTest parse(llvm::StringRef text);
};

/// Compiles the model for each set of data, runs it in this process, and
/// compares. \p backend: "CPU" or "Interpreter"; "Written" or
/// "WrittenOptimized" for the interpreter on the model that was imported,
/// perhaps optimized, written as ONNX and imported again; "CheckPasses" for the
/// CPU with every pass checked (PassCheck); "OpenInterpreter" or "OpenCPU" for
/// the model with a range for the first dimension of its inputs, where it is
/// accepted; "OnnxRuntime" runs the model itself there. What is written for the
/// first set of data is left in WRITTEN/BACKEND/NAME.onnx unless \p written is
/// empty.
/// \p foreign: the machine that it is compiled for and run on; the back end is
/// the CPU's then.
llvm::Expected<PassedTest> runNodeTest(const NodeTest &test,
                                       llvm::StringRef backend,
                                       llvm::StringRef written = "",
                                       const ForeignTarget *foreign = nullptr);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_NODETEST_H
