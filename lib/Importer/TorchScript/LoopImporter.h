//===- LoopImporter.h - A prim::Loop that is imported -----------*- C++ -*-===//
//
// A loop of few nodes, with conditions and a trip count that are known, is
// executed iteration by iteration. Another one becomes a Loop node: the values
// of the loop, and tensors from outside, that an iteration changes are its
// states.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPIMPORTER_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPIMPORTER_H

#include "TorchScript/LoopTensors.h"

namespace glowish::torchscript {

/// Imports one call of prim::Loop.
class LoopImporter {
public:
  LoopImporter(ScriptCall &call)
      : call(call), in(call.in), block(call.node.blocks[0]),
        states(call.inputs.begin() + 2, call.inputs.end()),
        isVariant(states.size()) {}

  llvm::Expected<ScriptValues> import();

private:
  using Storage = std::shared_ptr<ScriptStorage>;

  //===- Loops.cpp: iterations and nodes ------------------------------------//

  llvm::Expected<std::optional<ScriptValues>> unroll(int64_t mostTrips);
  llvm::Expected<std::optional<ScriptValues>>
  unrollIterations(int64_t mostTrips);
  llvm::Expected<ScriptValues> makeLoop();
  llvm::Expected<int64_t> getMost() const;
  int64_t countNodes() const;
  /// Runs the block for iteration \p number with the states \p current. Returns
  /// the condition of the next iteration and the states after this one.
  llvm::Expected<ScriptValues> runBlock(const ScriptValue &number,
                                        const ScriptValues &current);

  //===- LoopStates.cpp: values before, in and after iterations -------------//

  void addTensors();
  llvm::Expected<ScriptValues>
  enterStates(llvm::function_ref<NodeValue(const Type &)> next);
  llvm::Expected<ScriptValue>
  enter(const ScriptValue &first, size_t &tensor,
        llvm::function_ref<NodeValue(const Type &)> next);
  void forbidChanges(const ScriptValue &state);
  std::vector<std::pair<ScriptValue, size_t>>
  getVariantLeaves(llvm::ArrayRef<ScriptValue> values) const;
  llvm::Expected<std::vector<NodeValue>> getInitial();
  llvm::Error checkState(size_t index, const ScriptValue &first,
                         const ScriptValue &next) const;
  llvm::Expected<bool> findPlaces(const ScriptValues &after);

  //===- LoopBodies.cpp: the iteration that is imported ---------------------//

  llvm::Expected<bool> importBody(OpenBody &body);
  llvm::Expected<bool> findChanges(const ScriptValues &before,
                                   const ScriptValues &after);
  void findAppended();
  llvm::Error collect(const std::shared_ptr<ScriptList> &list,
                      llvm::ArrayRef<ScriptValue> after);
  llvm::Expected<bool> collectAll();
  void takeCollected(llvm::function_ref<NodeValue()> next);
  llvm::Error addResults(OpenBody &body, const ScriptValues &outputs);

  ScriptCall &call;
  ScriptInterpreter &in;
  const ProgramBlock &block;
  ScriptValues states;
  /// Their tensors, if the loop becomes a node, and how many each has.
  std::optional<LoopTensors> tensors;
  std::vector<size_t> numTensors;
  /// Whether a state is another value in the next iteration.
  std::vector<bool> isVariant;
  /// The tensors from outside that an iteration changes: further states.
  std::vector<Storage> changed;
  /// Tensors from outside that may share memory with one that is changed.
  std::vector<Storage> conflicts;
  /// A list from outside that each iteration appends as many tensors to.
  struct Collected {
    std::shared_ptr<ScriptList> list;
    /// Their numbers in `tensors`.
    std::vector<size_t> numbers = {};
    /// The tensors of the iteration that was imported.
    std::vector<ScriptPlaceRef> appended = {};
  };
  std::vector<Collected> lists;
  /// Lists that an iteration changed, with what they have after it.
  std::vector<std::pair<std::shared_ptr<ScriptList>, ScriptValues>> grown;
  /// Whether as many iterations are executed as there are trips.
  bool isExact = false;
  size_t mark = 0;
  uint64_t birth = 0;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPIMPORTER_H
