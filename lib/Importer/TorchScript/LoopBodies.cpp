//===- LoopBodies.cpp - Iterations as the bodies of Loop nodes ------------===//

#include "TorchScript/LoopImporter.h"

using namespace glowish;
using namespace glowish::torchscript;

//===- Bodies -------------------------------------------------------------===//

static llvm::Error refuseContainer() {
  return makeError("an iteration changes a list or a dictionary; accepted: "
                   "that each iteration appends tensors to a list, tensors and "
                   "numbers, or a trip count and conditions that are known "
                   "when the model is compiled");
}

/// Whether the states and changes that were assumed are all that there are;
/// those that were missing are added.
llvm::Expected<bool> LoopImporter::findChanges(const ScriptValues &before,
                                               const ScriptValues &after) {
  bool isComplete = true;
  for (auto [i, value] : llvm::enumerate(after))
    if (!isVariant[i] && !areSame(before[i], value)) {
      isVariant[i] = true;
      isComplete = false;
    }
  auto note = [&](std::vector<Storage> &known, const Storage &storage) {
    if (llvm::is_contained(known, storage))
      return;
    known.push_back(storage);
    isComplete = false;
  };
  for (const Storage &storage :
       in.journal.getChanged<ScriptStorage>(mark, birth)) {
    if (storage->version > birth)
      note(changed, storage);
    if (storage->isConflicting)
      note(conflicts, storage);
  }
  for (const std::shared_ptr<ScriptList> &list :
       in.journal.getChanged<ScriptList>(mark, birth))
    grown.emplace_back(list, list->elements);
  if (!in.journal.getChanged<ScriptDict>(mark, birth).empty())
    return refuseContainer();
  tensors->noteConflicts();
  if (!in.journal.getChanged<ScriptObject>(mark, birth).empty())
    return makeError("an iteration sets an attribute; accepted: tensors that "
                     "are changed in place, or a trip count and conditions "
                     "that are known when the model is compiled");
  if (!in.journal.getChanged<ScriptTensor>(mark, birth).empty())
    return makeError("an iteration changes the shape of a tensor in place; "
                     "accepted: operators that return another tensor, or a "
                     "trip count and conditions that are known when the model "
                     "is compiled");
  return isComplete;
}

//===- Lists --------------------------------------------------------------===//

/// Finds the tensors that the iteration appended to the lists that are known to
/// grow.
void LoopImporter::findAppended() {
  for (auto &[list, after] : grown) {
    auto known = llvm::find_if(
        lists, [&](const Collected &own) { return own.list == list; });
    if (known == lists.end())
      continue;
    known->appended.clear();
    if (after.size() < known->numbers.size())
      continue;
    for (const ScriptValue &element :
         llvm::ArrayRef(after).take_back(known->numbers.size()))
      if (element.isTensor())
        known->appended.push_back(element.getTensor()->place);
  }
}

/// Lets each iteration append to \p list, which has these elements \p after the
/// first one; an error if it does something else, or nothing that can be
/// collected.
llvm::Error LoopImporter::collect(const std::shared_ptr<ScriptList> &list,
                                  llvm::ArrayRef<ScriptValue> after) {
  const ScriptValues &before = list->elements;
  if (!isExact || after.size() <= before.size())
    return refuseContainer();
  for (auto [x, y] : llvm::zip(before, after))
    if (!areSame(x, y))
      return refuseContainer();
  Collected own{list};
  for (const ScriptValue &element : after.drop_front(before.size())) {
    if (!element.isTensor())
      return refuseContainer();
    own.numbers.push_back(tensors->addCollected());
  }
  lists.push_back(std::move(own));
  return llvm::Error::success();
}

/// Returns whether all lists that the iteration, which was taken back, changed
/// were known to grow; adds others.
llvm::Expected<bool> LoopImporter::collectAll() {
  bool areKnown = true;
  for (const auto &[list, after] : grown) {
    const auto &changed = list;
    auto known = llvm::find_if(
        lists, [&](const Collected &own) { return own.list == changed; });
    if (known == lists.end()) {
      GLOWISH_RETURN_IF_ERROR(collect(list, after));
      areKnown = false;
    } else if (after.size() != list->elements.size() + known->numbers.size()) {
      return refuseContainer();
    }
  }
  for (const Collected &own : lists)
    if (areKnown && (!isExact || own.appended.size() != own.numbers.size()))
      return refuseContainer();
  return areKnown;
}

/// Appends to lists what iterations appended. \p next returns the next result.
void LoopImporter::takeCollected(llvm::function_ref<NodeValue()> next) {
  for (const Collected &own : lists) {
    std::vector<ScriptPlaceRef> places;
    for (size_t number : own.numbers)
      places.push_back(tensors->takeCollected(number, next()));
    in.journal.save(own.list);
    for (int64_t trip = 0; trip < call.inputs[0].getInt(); ++trip)
      for (const ScriptPlaceRef &place : places)
        own.list->elements.push_back(
            in.memory.createAt(in.memory.makePart(place, 0, trip)));
  }
}

//===- Iterations ---------------------------------------------------------===//

llvm::Error LoopImporter::addResults(OpenBody &body,
                                     const ScriptValues &outputs) {
  if (!outputs[0].is<bool>() && !outputs[0].isComputed())
    return makeError("the condition is {0}; accepted: a bool",
                     outputs[0].describe());
  Function &function = body.getFunction();
  function.addResult("next", in.makeScalar(outputs[0]));
  for (const Storage &storage : changed)
    function.addResult("memory", in.memory.enter(storage->value));
  for (const auto &[leaf, tensor] :
       getVariantLeaves(llvm::ArrayRef(outputs).drop_front())) {
    if (!leaf.isTensor()) {
      function.addResult("next", in.makeScalar(leaf));
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> values,
                             tensors->getNext(tensor));
    for (NodeValue value : values)
      function.addResult("next", value);
  }
  for (const Collected &own : lists)
    for (const ScriptPlaceRef &place : own.appended) {
      GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(place));
      function.addResult("collected", value);
    }
  return llvm::Error::success();
}

/// Imports an iteration. Returns whether all that changes was known before.
llvm::Expected<bool> LoopImporter::importBody(OpenBody &body) {
  NodeValue number = body.addParameter("number", Type(ElemKind::Int64, {}));
  body.addParameter("condition", Type(ElemKind::Bool, {}));
  ScriptScope *outer = in.memory.scope;
  ScriptScope inside{body.getFunction(), &body, outer};
  in.memory.scope = &inside;
  grown.clear();
  std::set<const ScriptList *> outerLists = in.growingLists;
  for (const Collected &own : lists)
    in.growingLists.insert(own.list.get());
  auto execute = [&]() -> llvm::Expected<bool> {
    for (const Collected &own : lists)
      for (size_t number : own.numbers)
        tensors->enterCollected(number);
    GLOWISH_ASSIGN_OR_RETURN(ScriptValues current,
                             enterStates([&](const Type &type) {
                               return body.addParameter("state", type);
                             }));
    GLOWISH_RETURN_IF_ERROR(in.budget.take(countNodes()));
    GLOWISH_ASSIGN_OR_RETURN(ScriptValues outputs, runBlock(number, current));
    ScriptValues after(outputs.begin() + 1, outputs.end());
    isExact = call.inputs[0].isInt() && call.inputs[1].is<bool>() &&
              outputs[0].is<bool>() && outputs[0].get<bool>();
    GLOWISH_ASSIGN_OR_RETURN(bool isComplete, findChanges(current, after));
    findAppended();
    GLOWISH_ASSIGN_OR_RETURN(bool areKnown, findPlaces(after));
    isComplete &= areKnown;
    if (isComplete)
      GLOWISH_RETURN_IF_ERROR(addResults(body, outputs));
    return isComplete;
  };
  llvm::Expected<bool> isComplete = execute();
  in.growingLists = std::move(outerLists);
  in.memory.scope = outer;
  in.journal.rollBack(mark);
  if (!isComplete)
    return isComplete;
  GLOWISH_ASSIGN_OR_RETURN(bool areKnown, collectAll());
  return *isComplete && areKnown;
}
