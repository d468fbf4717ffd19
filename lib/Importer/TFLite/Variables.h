//===- Variables.h - Values that are kept from run to run -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_VARIABLES_H
#define GLOWISH_LIB_IMPORTER_TFLITE_VARIABLES_H

#include "Common/OpenBody.h"
#include "TFLite/Quantization.h"
#include "llvm/ADT/MapVector.h"

namespace glowish::tflite {

/// A variable of a model: a tensor that the file marks as one, or a resource,
/// which operators read and assign.
struct TFLiteVariable {
  std::string name;
  /// A resource has the type and the scales of what is first read of it or
  /// assigned to it; null before that.
  std::optional<Type> type = {};
  std::optional<Quantization> quantization = {};
  /// Holds it between runs; null before it is read.
  Placeholder *placeholder = nullptr;
};

/// The values of variables at one point of a function that is being imported:
/// that of the model, or a body of a branch or loop.
class VariableScope {
public:
  explicit VariableScope(Function &function) : function(&function) {}
  /// Those of \p body, which is executed where \p outer holds.
  VariableScope(OpenBody &body, VariableScope &outer)
      : function(&body.getFunction()), body(&body), outer(&outer) {}

  /// The value of \p variable, whose type is known.
  NodeValue read(TFLiteVariable &variable);
  void assign(TFLiteVariable &variable, NodeValue value) {
    values[&variable].now = value;
  }
  /// States the value that \p variable has before the first node of a body.
  void begin(TFLiteVariable &variable, NodeValue value) {
    values[&variable] = {.before = value, .now = value};
  }
  /// The variables whose values are not those from before the first node.
  std::vector<TFLiteVariable *> getAssigned() const;

  /// Whether \p variable has the value that it has before the run.
  bool isAsBeforeRun(TFLiteVariable &variable);
  /// Saves what was assigned for the next run.
  void save();

private:
  struct Value {
    /// Null if the variable was assigned before it was read.
    NodeValue before;
    NodeValue now;
  };
  Function *function;
  /// Null in the model's function.
  OpenBody *body = nullptr;
  VariableScope *outer = nullptr;
  llvm::MapVector<TFLiteVariable *, Value> values;
};

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_VARIABLES_H
