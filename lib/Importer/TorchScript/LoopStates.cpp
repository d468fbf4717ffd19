//===- LoopStates.cpp - States of loops -----------------------------------===//

#include "TorchScript/LoopImporter.h"

using namespace glowish;
using namespace glowish::torchscript;

/// Appends each tensor and each number in \p value to \p leaves.
static void addLeaves(const ScriptValue &value, ScriptValues &leaves) {
  if (value.isTensor() || value.isNumber())
    leaves.push_back(value);
  for (const ScriptValue &element : value.getElements())
    addLeaves(element, leaves);
}

static ScriptValues getLeaves(const ScriptValue &value) {
  ScriptValues leaves;
  addLeaves(value, leaves);
  return leaves;
}

/// Gives each tensor of the states a number.
void LoopImporter::addTensors() {
  tensors.emplace(in, birth);
  numTensors.assign(states.size(), 0);
  for (auto [i, state] : llvm::enumerate(states))
    for (const ScriptValue &leaf : getLeaves(state))
      if (leaf.isTensor()) {
        tensors->add(leaf.getTensor()->place);
        ++numTensors[i];
      }
}

/// Makes a value that stands for a state that is \p first before the loop.
/// Lists and dictionaries may be those from before it, and must not be changed.
llvm::Expected<ScriptValue>
LoopImporter::enter(const ScriptValue &first, size_t &tensor,
                    llvm::function_ref<NodeValue(const Type &)> next) {
  if (first.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptPlaceRef place,
                             tensors->enter(tensor++, next));
    return ScriptValue(in.memory.createAt(std::move(place)));
  }
  if (first.isNumber())
    return ScriptValue(next(*first.getType()));
  if (!first.isContainer())
    return first;
  ScriptValues elements;
  for (const ScriptValue &element : first.getElements()) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue own, enter(element, tensor, next));
    elements.push_back(std::move(own));
  }
  ScriptValue value = in.makeContainer(first, std::move(elements));
  in.forbidChanges(value);
  return value;
}

/// Forbids changes of lists and dictionaries in \p state, which the loop may
/// have handed on.
void LoopImporter::forbidChanges(const ScriptValue &state) {
  if (!state.isContainer())
    return;
  in.forbidChanges(state);
  for (const ScriptValue &element : state.getElements())
    forbidChanges(element);
}

/// Begins an iteration, or what follows the loop, with the tensors from outside
/// and the states, in the order of the node's states.
llvm::Expected<ScriptValues>
LoopImporter::enterStates(llvm::function_ref<NodeValue(const Type &)> next) {
  for (const Storage &storage : changed)
    in.memory.assign(storage, next(storage->value.getType()));
  for (const Storage &storage : conflicts)
    in.memory.setConflicting(storage);
  ScriptValues current = states;
  size_t tensor = 0;
  for (auto [i, state] : llvm::enumerate(current)) {
    if (!isVariant[i]) {
      tensor += numTensors[i];
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(state, enter(states[i], tensor, next));
  }
  tensors->joinUncertain();
  return current;
}

/// Returns the tensors and numbers in those of \p values, one for each state,
/// that are others in each iteration, with the numbers of the tensors.
std::vector<std::pair<ScriptValue, size_t>>
LoopImporter::getVariantLeaves(llvm::ArrayRef<ScriptValue> values) const {
  std::vector<std::pair<ScriptValue, size_t>> all;
  size_t tensor = 0;
  for (auto [i, value] : llvm::enumerate(values)) {
    size_t own = tensor;
    tensor += numTensors[i];
    if (!isVariant[i])
      continue;
    for (const ScriptValue &leaf : getLeaves(value))
      all.emplace_back(leaf, leaf.isTensor() ? own++ : own);
  }
  return all;
}

/// Returns the values of the node's states before the loop.
llvm::Expected<std::vector<NodeValue>> LoopImporter::getInitial() {
  std::vector<NodeValue> values;
  for (const Storage &storage : changed)
    values.push_back(in.memory.enter(storage->value));
  for (NodeValue value : values)
    if (value.getType().hasExtents())
      return makeError("an iteration changes a tensor, {0}; accepted: extents "
                       "that no run decides",
                       value.getType().str());
  for (const auto &[leaf, tensor] : getVariantLeaves(states)) {
    if (leaf.isTensor() && leaf.isOpen())
      return makeError("an iteration gets {0}; accepted: extents that no run "
                       "decides",
                       leaf.describe());
    if (!leaf.isTensor()) {
      values.push_back(in.makeScalar(leaf));
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> own,
                             tensors->getInitial(tensor));
    llvm::append_range(values, own);
  }
  return values;
}

/// Refuses a state that is \p first before the loop and can't be \p next.
llvm::Error LoopImporter::checkState(size_t index, const ScriptValue &first,
                                     const ScriptValue &next) const {
  auto refuse = [&] {
    return makeError("state {0} is {1} at first and then {2}; accepted: one "
                     "type, or a trip count and conditions that are known when "
                     "the model is compiled",
                     index, first.describe(), next.describe());
  };
  if (first.isNumber())
    return next.isNumber() && first.getType() == next.getType()
               ? llvm::Error::success()
               : refuse();
  if (first.value.index() != next.value.index())
    return refuse();
  if (first.isTensor())
    return first.getTensor()->getType() == next.getTensor()->getType()
               ? llvm::Error::success()
               : refuse();
  if (!first.isContainer())
    return areSame(first, next) ? llvm::Error::success() : refuse();
  ScriptValues own = first.getElements(), other = next.getElements();
  if (own.size() != other.size() || !haveSameKeys(first, next))
    return refuse();
  for (auto [x, y] : llvm::zip_equal(own, other))
    GLOWISH_RETURN_IF_ERROR(checkState(index, x, y));
  return llvm::Error::success();
}

/// Returns whether the places that tensors have after an iteration were known.
llvm::Expected<bool> LoopImporter::findPlaces(const ScriptValues &after) {
  std::vector<LoopTensors::Yield> yields;
  for (auto [i, state] : llvm::enumerate(states))
    if (isVariant[i])
      GLOWISH_RETURN_IF_ERROR(checkState(i, state, after[i]));
  for (const auto &[leaf, tensor] : getVariantLeaves(after))
    if (leaf.isTensor())
      yields.push_back({tensor, leaf.getTensor()->place});
  for (const Collected &own : lists)
    for (auto [number, place] : llvm::zip(own.numbers, own.appended))
      yields.push_back({number, place});
  return tensors->findPlaces(yields);
}
