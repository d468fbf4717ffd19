//===- OpenBody.cpp - Bodies of branches and loops during import ----------===//

#include "Common/OpenBody.h"
#include "glowish/Support/Error.h"

using namespace glowish;

NodeValue OpenBody::addParameter(llvm::StringRef name, const Type &type) {
  assert(captures.empty() && "captures come last");
  return NodeValue(getFunction().addParameter(name, type));
}

NodeValue OpenBody::enter(NodeValue value) {
  if (llvm::isa<Constant>(value.node))
    return value;
  NodeValue &parameter = entered[value];
  if (!parameter) {
    parameter = NodeValue(
        getFunction().addParameter(value.node->getName(), value.getType()));
    captures.push_back(value);
  }
  return parameter;
}

void OpenBody::enterCaptures(const OpenBody &other) {
  for (NodeValue capture : other.captures)
    enter(capture);
}

llvm::Error SubgraphBudget::take(int64_t count) {
  if (count > left)
    return makeError("inlined, the subgraphs of the model make too many nodes");
  left -= count;
  return llvm::Error::success();
}

void glowish::eraseNodesBehind(Function &function, Node *last,
                               llvm::function_ref<void(Node &)> onErase) {
  // In reverse order: the users of each are erased before it.
  while (!function.getNodes().empty() && &function.getNodes().back() != last) {
    Node &node = function.getNodes().back();
    onErase(node);
    function.erase(&node);
  }
}
