//===- ByteFunctions.cpp - Functions of one byte as tables ----------------===//
//
// Where integers of 8 bits are computed of one integer of 8 bits alone, as
// where what it stands for goes through an activation and is quantized again,
// the steps become a Lookup: a table of what they give for each of the 256
// numbers. The interpreter computes it, so that results are the same bits.
//
//===----------------------------------------------------------------------===//

#include "Util/ConstantTensors.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace glowish;

static bool isByte(NodeValue value) {
  ElemKind kind = value.getElemKind();
  return kind == ElemKind::Int8 || kind == ElemKind::UInt8;
}

static bool isSingleConstant(NodeValue value) {
  return llvm::isa<Constant>(value.node) &&
         value.getType().getNumElements() == 1;
}

namespace {

/// The element-wise nodes between a byte and the bytes that are functions of
/// it.
class ByteFunctions {
public:
  ByteFunctions(Function &function, const GraphPassContext &context)
      : function(function), context(context) {
    for (Node &node : function.getNodes())
      if (isElementWise(node))
        if (NodeValue origin = findOrigin(node))
          origins[&node] = origin;
  }

  llvm::Expected<bool> run();

private:
  using Nodes = llvm::SetVector<Node *>;

  NodeValue getOrigin(NodeValue value) const;
  NodeValue findOrigin(Node &node) const;
  void collect(Node &node, Nodes &steps) const;
  bool isWorthTable(Node &node) const;
  bool isReadOutside(Node &node) const;
  llvm::Expected<std::vector<int64_t>> tabulate(Node &node);
  llvm::Error replace(Node &node);

  Function &function;
  const GraphPassContext &context;
  /// The byte of which each node is a function, element by element. It comes
  /// before all others of which the node is one, too.
  llvm::DenseMap<const Node *, NodeValue> origins;
  /// Nodes whose users all end in tables of the same byte.
  llvm::DenseMap<const Node *, bool> isAbsorbed;
};

} // namespace

/// \p value as a function of one byte; null if it is none.
NodeValue ByteFunctions::getOrigin(NodeValue value) const {
  if (NodeValue origin = origins.lookup(value.node))
    return origin;
  return isByte(value) ? value : NodeValue();
}

NodeValue ByteFunctions::findOrigin(Node &node) const {
  NodeValue origin;
  for (NodeValue operand : node.getOperands()) {
    if (isSingleConstant(operand))
      continue;
    NodeValue own = getOrigin(operand);
    if (!own || (origin && own != origin))
      return {};
    origin = own;
  }
  if (!origin || origin.getShape() != node.getType().getShape())
    return {};
  return origin;
}

/// Adds the nodes between the origin of \p node and \p node, operands first.
void ByteFunctions::collect(Node &node, Nodes &steps) const {
  if (steps.contains(&node))
    return;
  for (NodeValue operand : node.getOperands())
    if (operand != origins.lookup(&node) && !isSingleConstant(operand))
      collect(*operand.node, steps);
  steps.insert(&node);
}

/// Whether to compute \p node takes more than to look it up.
bool ByteFunctions::isWorthTable(Node &node) const {
  if (!isByte(node.getResult()) || llvm::isa<LookupNode>(node))
    return false;
  Nodes steps;
  collect(node, steps);
  return llvm::any_of(steps, [](Node *step) {
    return !getScalarOpInfo(*step->getInfo().scalarOp).hasFewInstructions;
  });
}

/// Whether \p node has a user that is not in front of a table of its origin.
bool ByteFunctions::isReadOutside(Node &node) const {
  NodeValue origin = origins.lookup(&node);
  return llvm::any_of(node.uses(), [&](const Use &use) {
    return origins.lookup(use.getUser()) != origin ||
           !isAbsorbed.lookup(use.getUser());
  });
}

llvm::Expected<std::vector<int64_t>> ByteFunctions::tabulate(Node &node) {
  NodeValue origin = origins.lookup(&node);
  Module &module = function.getModule();
  Tensor bytes(Type(origin.getElemKind(), {256}));
  auto *bits = static_cast<uint8_t *>(bytes.getBytes());
  std::iota(bits, bits + 256, 0);
  llvm::DenseMap<NodeValue, Constant *> values;
  values[origin] = module.createConstant("bytes", std::move(bytes));
  Nodes steps;
  collect(node, steps);
  for (Node *step : steps) {
    NodeDraft draft = step->getDraft();
    for (NodeValue &operand : draft.operands)
      if (Constant *value = values.lookup(operand))
        operand = value;
    Node *copy = function.create(step->getName(), std::move(draft));
    llvm::Expected<std::vector<Tensor>> results = context.evaluate(*copy);
    function.erase(copy);
    if (!results)
      return results.takeError();
    values[step->getResult()] =
        module.createConstant("bytes", std::move((*results)[0]));
  }
  std::vector<int64_t> table;
  for (int64_t i = 0; i < 256; ++i)
    table.push_back(
        int64_t(values[node.getResult()]->getPayload()->getAsDouble(i)));
  for (auto &[value, constant] : values)
    module.eraseConstant(constant);
  return table;
}

/// Puts a table in the place of \p node.
llvm::Error ByteFunctions::replace(Node &node) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> table, tabulate(node));
  NodeValue origin = origins.lookup(&node);
  ElemKind kind = node.getType().getKind();
  // The bits of another kind are those of the origin's.
  for (int64_t &number : table)
    number = origin.getElemKind() == ElemKind::Int8 ? int64_t(int8_t(number))
                                                    : int64_t(uint8_t(number));
  InsertionGuard guard(function, &node);
  NodeValue result =
      function.create<LookupNode>(node.getName(), origin, table)->getResult();
  if (origin.getElemKind() != kind)
    result =
        function.create<CastNode>(node.getName(), result, kind)->getResult();
  node.getResult().replaceAllUsesWith(result);
  return llvm::Error::success();
}

llvm::Expected<bool> ByteFunctions::run() {
  bool changed = false;
  for (Node &node : llvm::reverse(function.getNodes())) {
    if (!origins.contains(&node))
      continue;
    bool isOutside = isReadOutside(node);
    bool isTable = isWorthTable(node);
    isAbsorbed[&node] = isTable || !isOutside;
    if (!isTable || !isOutside)
      continue;
    GLOWISH_RETURN_IF_ERROR(replace(node));
    changed = true;
  }
  return changed;
}

llvm::Expected<bool>
glowish::tabulateByteFunctions(Function &function,
                               const GraphPassContext &context) {
  if (!context.evaluate)
    return false;
  return ByteFunctions(function, context).run();
}
