//===- StateSet.h - States with initial values ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_STATESET_H
#define GLOWISH_LIB_IMPORTER_COMMON_STATESET_H

#include "glowish/Graph/Module.h"
#include "llvm/ADT/MapVector.h"

namespace glowish {

/// A state that tells whether there was a run before. An application begins
/// with states of zeros.
class RunFlag {
public:
  explicit RunFlag(Function &function) : function(function) {}

  /// False in the first run. Creates the state.
  NodeValue get();
  /// Saves that there was a run, if anything asks for it. Called once, at the
  /// end.
  void save();

private:
  Function &function;
  Placeholder *placeholder = nullptr;
};

/// Tensors that a program keeps from run to run. Each is a placeholder that is
/// an input and an output. An application begins with zeros; where the model
/// states another first value, a further state, `initialized`, tells whether
/// there was a run.
class StateSet {
public:
  explicit StateSet(Function &function) : function(function), flag(function) {}

  /// The value of the state \p name before the run; \p initial is that of the
  /// first run.
  NodeValue add(llvm::StringRef name, std::shared_ptr<const Tensor> initial);
  /// Saves \p value, of the state's type, for the next run.
  void save(llvm::StringRef name, NodeValue value);
  /// Saves that there was a run. Called once, at the end.
  void finish() { flag.save(); }

private:
  Function &function;
  llvm::StringMap<Placeholder *> placeholders;
  /// For states that begin with other values than zeros.
  RunFlag flag;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_STATESET_H
