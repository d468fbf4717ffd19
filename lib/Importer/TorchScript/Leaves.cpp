//===- Leaves.cpp - Values that branches and loops exchange ---------------===//

#include "TorchScript/Leaves.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

llvm::Expected<ScriptLeaves> torchscript::readLeaves(ScriptInterpreter &in,
                                                     const ScriptValue &value) {
  ScriptLeaves leaves{value};
  if (value.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(leaves.leaf, in.memory.read(value.getTensor()));
  } else if (value.isComputed()) {
    leaves.leaf = in.memory.enter(value.get<NodeValue>());
  } else if (value.isList()) {
    for (const ScriptValue &element : value.getList().elements) {
      GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves own, readLeaves(in, element));
      leaves.elements.push_back(std::move(own));
    }
  } else if (value.isDict()) {
    for (const ScriptDict::Entry &entry : value.getDict().entries) {
      GLOWISH_ASSIGN_OR_RETURN(ScriptLeaves own, readLeaves(in, entry.value));
      leaves.elements.push_back(std::move(own));
    }
  }
  return leaves;
}

bool torchscript::areSame(const ScriptValue &x, const ScriptValue &y) {
  if (x.value.index() != y.value.index())
    return false;
  if (x.isTensor())
    return x.getTensor() == y.getTensor();
  if (x.isComputed())
    return x.get<NodeValue>() == y.get<NodeValue>();
  if (x.isDict())
    return &x.getDict() == &y.getDict();
  if (!x.isList())
    return areEqual(x, y) == true;
  const ScriptList &own = x.getList(), &other = y.getList();
  if (&own == &other)
    return true;
  // Tuples don't change, so that those of the same elements are the same.
  if (!own.isTuple || !other.isTuple ||
      own.elements.size() != other.elements.size())
    return false;
  return llvm::all_of(llvm::zip_equal(own.elements, other.elements),
                      [](const auto &pair) {
                        return areSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

NodeValue torchscript::getLeaf(ScriptInterpreter &in,
                               const ScriptLeaves &leaves) {
  return leaves.value.isKnownNumber() ? in.makeScalar(leaves.value)
                                      : leaves.leaf;
}

//===- Rebuilding ---------------------------------------------------------===//

/// A container like that of \p like with \p elements.
static ScriptValue makeContainer(ScriptInterpreter &in, const ScriptValue &like,
                                 ScriptValues elements) {
  if (like.isList())
    return in.makeList(std::move(elements), like.getList().isTuple,
                       like.getList().names);
  auto dict = std::make_shared<ScriptDict>();
  dict->birth = in.memory.tick();
  for (auto [entry, element] :
       llvm::zip_equal(like.getDict().entries, elements))
    dict->entries.push_back({entry.key, element});
  return dict;
}

llvm::Expected<ScriptValue> LeafRebuilder::rebuild(const ScriptLeaves &like,
                                                   uint64_t birth) {
  if (like.value.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, next(like));
    llvm::SmallVector<ScriptTensorRef, 1> others;
    if (like.value.getTensor()->birth <= birth)
      others.push_back(like.value.getTensor());
    // Iterations may have another order of elements.
    return ScriptValue(in.memory.createUncertain(value, std::nullopt, others));
  }
  if (like.value.isComputed() || like.value.isKnownNumber()) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue value, next(like));
    return ScriptValue(value);
  }
  if (!like.value.isList() && !like.value.isDict())
    return like.value;
  ScriptValues elements;
  for (const ScriptLeaves &element : like.elements) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue own, rebuild(element, birth));
    elements.push_back(std::move(own));
  }
  return makeContainer(in, like.value, std::move(elements));
}

//===- Merging ------------------------------------------------------------===//

static bool isNumber(const ScriptValue &value) {
  return value.isKnownNumber() || value.isComputed();
}

llvm::Error LeafMerger::add(const ScriptLeaves &x, const ScriptLeaves &y) {
  if (areSame(x.value, y.value) && !x.value.isList() && !x.value.isDict())
    return llvm::Error::success();
  auto refuse = [&] {
    return makeError("a value is {0} in one branch and {1} in the other; "
                     "accepted: the same type, or a condition that is known "
                     "when the model is compiled",
                     x.value.describe(), y.value.describe());
  };
  bool areTensors = x.value.isTensor() && y.value.isTensor();
  if (areTensors || (isNumber(x.value) && isNumber(y.value))) {
    NodeValue own = getLeaf(in, x), other = getLeaf(in, y);
    if (own.getType() != other.getType())
      return refuse();
    return addPair(own, other);
  }
  if (x.value.value.index() != y.value.value.index() ||
      x.elements.size() != y.elements.size() || x.elements.empty())
    // Without elements, or of what has none.
    return x.value.isNone() || (x.value.isList() && y.value.isList() &&
                                x.elements.empty() && y.elements.empty())
               ? llvm::Error::success()
               : refuse();
  for (auto [own, other] : llvm::zip_equal(x.elements, y.elements))
    GLOWISH_RETURN_IF_ERROR(add(own, other));
  return llvm::Error::success();
}

ScriptValue LeafMerger::take(const ScriptLeaves &x, const ScriptLeaves &y,
                             Node *node, unsigned &next, uint64_t birth) {
  if (areSame(x.value, y.value) && !x.value.isList() && !x.value.isDict())
    return x.value;
  if (x.value.isTensor()) {
    llvm::SmallVector<ScriptTensorRef, 2> others;
    for (const ScriptLeaves *leaves : {&x, &y})
      if (leaves->value.getTensor()->birth <= birth)
        others.push_back(leaves->value.getTensor());
    NodeValue result = node->getResult(next++);
    std::optional<Dims> strides;
    if (x.value.getTensor()->isDense && y.value.getTensor()->isDense)
      strides = getRowMajorStrides(result.getShape());
    return in.memory.createUncertain(result, std::move(strides), others);
  }
  if (isNumber(x.value))
    return node->getResult(next++);
  if (x.elements.empty())
    return x.value;
  ScriptValues elements;
  for (auto [own, other] : llvm::zip_equal(x.elements, y.elements))
    elements.push_back(take(own, other, node, next, birth));
  return areSame(x.value, y.value) && x.value.isList() &&
                 x.value.getList().birth <= birth
             ? x.value
             : makeContainer(in, x.value, std::move(elements));
}
