//===- JoinedLoop.h - Two element-wise loops as one -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PASSES_JOINEDLOOP_H
#define GLOWISH_LIB_IR_PASSES_JOINEDLOOP_H

#include "glowish/IR/Instrs.h"
#include "glowish/IR/StridedLayout.h"

namespace glowish {

/// Builds the inputs and the program of a loop from those of others. First all
/// inputs are added, then the steps; an input or a step that is there already
/// is not added again.
class JoinedLoop {
public:
  /// An input as the joined loop reads it; \p buffer is null where a view has
  /// to be made for it.
  struct Input {
    Buffer *root;
    StridedLayout layout;
    Type type;
    Buffer *buffer;
  };

  /// A value of the joined loop: an input or a step.
  struct Value {
    bool isInput = true;
    unsigned index = 0;
    bool operator==(const Value &other) const = default;
  };

  Value addInput(Input input);
  /// Adds the steps of \p program, of which the inputs are \p values; returns
  /// its result.
  Value addProgram(const ScalarProgram &program, std::vector<Value> values);

  size_t getNumInputs() const { return inputs.size(); }
  size_t getNumSteps() const { return steps.size(); }

  /// The loop that stores \p value in \p result, without what \p value does
  /// not need. Makes views called \p name.
  InstrDraft makeDraft(IRFunction &function, llvm::StringRef name,
                       Buffer *result, Value value);

private:
  struct Step {
    ScalarStep step; // without args
    llvm::SmallVector<Value, 3> args;
  };
  std::vector<Input> inputs;
  std::vector<Step> steps;
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_PASSES_JOINEDLOOP_H
