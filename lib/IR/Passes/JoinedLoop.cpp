//===- JoinedLoop.cpp - Two element-wise loops as one ---------------------===//

#include "JoinedLoop.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

JoinedLoop::Value JoinedLoop::addInput(Input input) {
  auto found = llvm::find_if(inputs, [&](const Input &other) {
    return other.root == input.root && isSame(other.layout, input.layout) &&
           other.type == input.type;
  });
  unsigned index = found - inputs.begin();
  if (found == inputs.end())
    inputs.push_back(std::move(input));
  return {true, index};
}

JoinedLoop::Value JoinedLoop::addProgram(const ScalarProgram &program,
                                         std::vector<Value> values) {
  Value result = values.front(); // of an empty program
  for (const ScalarStep &original : program.steps) {
    Step added{original, {}};
    for (unsigned arg : original.args)
      added.args.push_back(values[arg]);
    added.step.args.clear();
    auto found = llvm::find_if(steps, [&](const Step &other) {
      return other.step == added.step && other.args == added.args;
    });
    result = {false, unsigned(found - steps.begin())};
    if (found == steps.end())
      steps.push_back(std::move(added));
    values.push_back(result);
  }
  return result;
}

InstrDraft JoinedLoop::makeDraft(IRFunction &function, llvm::StringRef name,
                                 Buffer *result, Value value) {
  std::vector<bool> neededInputs(inputs.size()), neededSteps(steps.size());
  (value.isInput ? neededInputs : neededSteps)[value.index] = true;
  for (size_t i = steps.size(); i-- > 0;)
    if (neededSteps[i])
      for (Value arg : steps[i].args)
        (arg.isInput ? neededInputs : neededSteps)[arg.index] = true;

  std::vector<unsigned> inputNumbers(inputs.size()), stepNumbers(steps.size());
  llvm::SmallVector<Buffer *, 4> buffers;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (!neededInputs[i])
      continue;
    inputNumbers[i] = buffers.size();
    buffers.push_back(input.buffer ? input.buffer
                                   : getView(function, name, input.root,
                                             input.type, input.layout));
  }
  ScalarProgram program;
  for (auto [i, step] : llvm::enumerate(steps)) {
    if (!neededSteps[i])
      continue;
    stepNumbers[i] = buffers.size() + program.steps.size();
    ScalarStep numbered = step.step;
    for (Value arg : step.args)
      numbered.args.push_back(
          (arg.isInput ? inputNumbers : stepNumbers)[arg.index]);
    program.steps.push_back(std::move(numbered));
  }
  // The steps that a value needs come before it, so a needed step is last
  // where the value is one.
  return ElementWiseLoopInstr::draft(result, program, buffers);
}
