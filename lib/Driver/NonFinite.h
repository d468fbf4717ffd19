//===- NonFinite.h - Origins of NaN and infinity ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_DRIVER_NONFINITE_H
#define GLOWISH_LIB_DRIVER_NONFINITE_H

#include "glowish/Autodiff/Training.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include <set>

namespace glowish {

/// A training step on the interpreter whose inner values are all outputs.
class NonFiniteFinder {
public:
  /// Of the model at \p path; the parameters are those of Trainer::create.
  static llvm::Expected<std::unique_ptr<NonFiniteFinder>>
  create(llvm::StringRef path, ImportOptions importOptions,
         const TrainingConfig &config);

  /// Makes the step that \p session has the inputs and variables of, without
  /// changing them. Describes the node that first made a value that is not
  /// finite, and that made the loss or a variable so; empty if there is none in
  /// this process.
  llvm::Expected<std::string> find(const Session &session);

private:
  /// A result of a node, or an input or variable of the step.
  struct Value {
    std::string description;
    /// The placeholder that has it after a run.
    std::string placeholder;
    /// Indices of the values that it is computed of; of those that the step is
    /// given, none.
    std::vector<size_t> operands;
    bool isGiven = false;
    /// It comes from other processes as well, which find its origin there.
    bool isCollective = false;
  };

  explicit NonFiniteFinder(std::unique_ptr<Backend> backend)
      : backend(std::move(backend)) {}
  void addOutputs(Function &function, const std::set<std::string> &modelNames);

  std::unique_ptr<Backend> backend;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
  /// In the order in which they are computed.
  std::vector<Value> values;
  /// Those that the step leaves behind.
  std::vector<size_t> roots;
};

} // namespace glowish

#endif // GLOWISH_LIB_DRIVER_NONFINITE_H
