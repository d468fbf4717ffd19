//===- ImportOptions.h - What importers are told ----------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_IMPORTOPTIONS_H
#define GLOWISH_IMPORTER_IMPORTOPTIONS_H

#include "glowish/Graph/Evaluator.h"
#include "glowish/Graph/Module.h"
#include "glowish/Graph/Variables.h"
#include "glowish/Importer/FusedRows.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace glowish {

struct ImportOptions {
  /// The other of the two files of a model that has two: weights and net of
  /// Caffe2, in either order. Empty where there is none.
  std::string secondFile;
  /// Values of symbolic dimensions (-onnx-define-symbol=name,value).
  std::map<std::string, int64_t> symbols;
  /// Types of inputs that replace or complete the model's own
  /// (-model-input=name,type,[dims]). A name that the model lacks is an error.
  std::map<std::string, Type> inputTypes;
  /// Those of them that are rows with their own scales (-model-input=
  /// name,UInt8FusedQ,[dims]), of type uint8 above.
  std::map<std::string, const FusedRows *> fusedInputs;
  /// Inputs that are bound to constants: what decides a shape must be known.
  std::map<std::string, std::shared_ptr<const Tensor>> constantInputs;
  /// The most repetitions of a loop of which the model does not state any
  /// (-max-trip-count); 0 for none.
  int64_t maxTripCount = 0;
  /// The largest extents of values, by their names in the model, whose extents
  /// are known only when the model runs and that the model does not bound
  /// (-max-extent=name,N): they hold for each such dimension.
  std::map<std::string, int64_t> maxExtents;
  /// Types of the tensors that inputs will be given, by name and by the number
  /// of the input. They bind dimensions that nothing above binds; where inputs
  /// share a symbolic dimension, one that is given binds the others' too.
  std::map<std::string, Type> givenTypes;
  std::vector<Type> givenTypesInOrder;
  /// Where it is not null the model is imported to be trained: initializers of
  /// float kinds become placeholders that are inputs and outputs at once, with
  /// these initial values. Normalizations have their fixed statistics, and
  /// Dropout is a node.
  VariableValues *variables = nullptr;
  /// Folds shape arithmetic.
  NodeEvaluator evaluate;
  /// Called with one line for each thing in the model that is ignored.
  std::function<void(llvm::StringRef)> warn;
};

} // namespace glowish

#endif // GLOWISH_IMPORTER_IMPORTOPTIONS_H
