//===- RangedModel.h - ONNX models with ranges for symbols ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_RANGEDMODEL_H
#define GLOWISH_TESTS_FUZZ_RANGES_RANGEDMODEL_H

#include "../TestCase.h"
#include "glowish/Importer/OnnxModel.h"
#include <onnx/onnx_pb.h>
#include <set>

namespace glowish::fuzz {

struct Form;

/// An ONNX model, ranges for symbolic dimensions of its inputs, and the extents
/// that it is run with.
struct RangedModel {
  onnx::ModelProto proto;
  std::map<std::string, IntRange> ranges;
  std::vector<StateNames> states;
  std::vector<RunExtents> runs;
  /// The form that is imported with ranges; null for ONNX.
  const Form *form = nullptr;

  /// Protobuf text; what is not part of ONNX is in metadata_props:
  ///   range S: "0..9", state NAME: "OUTPUT", run 0: "S=3 P=0", form: "caffe2".
  std::string print() const;
  static llvm::Expected<RangedModel> parse(llvm::StringRef text);

  /// Imports it, in its form, with its ranges and states.
  llvm::Expected<std::unique_ptr<Module>> importRanged() const;
  /// The name of \p output there.
  std::string getOutputName(const std::string &output) const;
  /// Imports it with the extents \p values in the place of ranges. \p evaluate
  /// folds constants; null for the interpreter.
  llvm::Expected<std::unique_ptr<Module>>
  importFixed(const RunExtents &values,
              const NodeEvaluator &evaluate = nullptr) const;

  /// Removes nodes, inputs and initializers that no output needs, states
  /// without their output, and symbols of no input.
  void dropUnused();
};

/// A ranged model, compared with itself with fixed extents.
class RangedCase : public TestCase {
public:
  explicit RangedCase(RangedModel model) : model(std::move(model)) {}

  std::string print() const override { return model.print(); }
  llvm::Expected<std::unique_ptr<Module>> makeModule() const override {
    return model.importRanged();
  }
  std::vector<RunExtents> getRuns() const override { return model.runs; }
  llvm::Expected<std::unique_ptr<Module>>
  makeReference(const RunExtents &run,
                const NodeEvaluator &evaluate) const override {
    return model.importFixed(run, evaluate);
  }
  std::string findPlace(const std::string &output) const override;

private:
  RangedModel model;
};

/// What \p model has in it: "Softmax" (an operator of its form), "rank:2",
/// "type:FLOAT" (of an input), "sum-of-symbols", "several-symbols",
/// "several-outputs", "state".
std::set<std::string> describeFeatures(const RangedModel &model);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_RANGEDMODEL_H
