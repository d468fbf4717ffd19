//===- ConvertPrecision.cpp - From float to a half precision --------------===//
//
// Goes through the nodes in their order. A node is made again with operands of
// the half precision if its type rule takes them; readers that stay float get
// what it gives through a Cast, as it gets through one what stays float itself.
// Casts that meet are removed by the passes that follow.
//
//===----------------------------------------------------------------------===//

#include "glowish/Optimizer/ConvertPrecision.h"
#include "Util/ConstantTensors.h"
#include "glowish/Base/ElemRange.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Support/Log.h"
#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace glowish;

namespace {

class PrecisionConverter {
public:
  PrecisionConverter(Function &function, const PrecisionConfig &config)
      : function(function), config(config) {}

  void run();

private:
  void keepQuantizations();
  void visit(Placeholder &placeholder);
  void visit(Node &node);
  bool isConvertible(const Node &node) const;
  llvm::StringRef explainKept(const Node &node) const;
  bool convert(Node &node);
  NodeValue addReal(NodeValue half);

  NodeValue getConverted(NodeValue value);
  NodeValue convertConstant(NodeValue value);
  NodeValue narrow(NodeValue value);
  Node *findNextTo(NodeValue value);

  Function &function;
  const PrecisionConfig &config;
  /// Float values that depend on others than integers and constants.
  llvm::DenseSet<NodeValue> reals;
  /// Nodes in front of a conversion to integers.
  llvm::DenseSet<const Node *> kept;
  /// Float values in the half precision.
  llvm::DenseMap<NodeValue, NodeValue> converted;
};

} // namespace

static bool isFloat(NodeValue value) {
  return value && value.getElemKind() == ElemKind::Float;
}

//===- Values -------------------------------------------------------------===//

/// Returns the node right behind \p value, the first one if that is storage;
/// null at the end.
Node *PrecisionConverter::findNextTo(NodeValue value) {
  if (value.node->getParent() != &function)
    return &function.getNodes().front();
  auto it = std::next(value.node->getIterator());
  return it == function.getNodes().end() ? nullptr : &*it;
}

/// \p value, within the range of \p kind if it is finite.
static double limit(double value, ElemKind kind) {
  return std::isfinite(value) ? getFiniteRange(kind).clamp(value) : value;
}

template <typename Half>
static void convertElements(llvm::ArrayRef<float> from, Tensor &to) {
  for (auto [half, value] : llvm::zip_equal(to.data<Half>(), from))
    half = Half(float(limit(value, to.getType().getKind())));
}

NodeValue PrecisionConverter::convertConstant(NodeValue value) {
  if (auto *splat = value.getNodeAs<SplatNode>()) {
    InsertionGuard guard(function, splat);
    return function
        .create<SplatNode>(splat->getName(), config.kind, splat->getShape(),
                           limit(float(splat->getValue()), config.kind))
        ->getResult();
  }
  const Tensor &from = *getConstantTensor(value);
  Tensor to(from.getType().withKind(config.kind));
  if (config.kind == ElemKind::Float16)
    convertElements<Float16>(from.data<float>(), to);
  else
    convertElements<BFloat16>(from.data<float>(), to);
  return NodeValue(function.getModule().createConstant(value.node->getName(),
                                                       std::move(to)));
}

/// \p value, of float, in the half precision. What is finite stays so: of a
/// mask's lowest float as -infinity, a row that is masked whole or a factor 0
/// would make NaN.
NodeValue PrecisionConverter::narrow(NodeValue value) {
  InsertionGuard guard(function, findNextTo(value));
  NodeBuilder b(function, value.node->getName());
  ElemRange range = getFiniteRange(config.kind);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  NodeValue isFinite = b.less(b.unary<AbsNode>(value), infinity);
  NodeValue limited = b.clip(value, range.low, range.high);
  NodeValue half = b.cast(b.select(isFinite, limited, value), config.kind);
  return llvm::cantFail(b.finish(half));
}

NodeValue PrecisionConverter::getConverted(NodeValue value) {
  auto found = converted.find(value);
  if (found != converted.end())
    return found->second;
  NodeValue half =
      isConstantOrSplat(value) ? convertConstant(value) : narrow(value);
  return converted[value] = half;
}

//===- Nodes --------------------------------------------------------------===//

/// Nodes that quantize, or compute indices, lose what they are for in half
/// precision: element-wise nodes that are read by a conversion to integers, or
/// by one another, alone.
void PrecisionConverter::keepQuantizations() {
  for (Node &node : llvm::reverse(function.getNodes())) {
    if (auto *cast = llvm::dyn_cast<CastNode>(&node)) {
      if (isFloat(cast->getOperand(0)) &&
          isIntegerKind(cast->getType().getKind()))
        kept.insert(&node);
      continue;
    }
    if (node.getInfo().scalarOp && node.hasUses() &&
        llvm::all_of(node.uses(), [&](const Use &use) {
          return kept.contains(use.getUser());
        }))
      kept.insert(&node);
  }
}

/// Whether \p node is one that takes whatever kind its operands have.
static bool followsKinds(const Node &node) {
  // Bodies and functions have the kinds that they were made with.
  return !node.getInfo().hasBodies() &&
         !node.getInfo().has(OpTrait::CallsFunction);
}

/// Whether \p node computes of real values, or of constants alone.
bool PrecisionConverter::isConvertible(const Node &node) const {
  bool isOfConstants = true, hasFloats = false;
  for (NodeValue operand : node.getOperands()) {
    if (!isFloat(operand))
      continue;
    if (reals.contains(operand))
      return true;
    hasFloats = true;
    isOfConstants &= isConstantOrSplat(operand);
  }
  return hasFloats && isOfConstants;
}

/// Makes \p node again; false where its type rule takes no half precision.
bool PrecisionConverter::convert(Node &node) {
  NodeDraft draft = node.getDraft();
  for (NodeValue &operand : draft.operands)
    if (isFloat(operand))
      operand = getConverted(operand);
  for (AttrValue &attr : draft.attrs) {
    if (auto *kind = std::get_if<ElemKind>(&attr);
        kind && *kind == ElemKind::Float)
      attr = config.kind;
    if (auto *number = std::get_if<double>(&attr))
      *number = limit(*number, config.kind);
  }
  Node *made = nullptr;
  {
    InsertionGuard guard(function, &node);
    llvm::Expected<Node *> created =
        function.tryCreate(node.getName(), std::move(draft));
    if (!created) {
      llvm::consumeError(created.takeError());
      return false;
    }
    made = *created;
  }
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    const Type &type = node.getType(i);
    bool isHalf = type.getKind() == ElemKind::Float;
    if (made->getType(i) != (isHalf ? type.withKind(config.kind) : type)) {
      function.erase(made);
      return false;
    }
  }
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    NodeValue result = made->getResult(i);
    if (isFloat(node.getResult(i)))
      result = addReal(result);
    node.getResult(i).replaceAllUsesWith(result);
  }
  return true;
}

/// Why \p node is not to be converted; empty if it is.
llvm::StringRef PrecisionConverter::explainKept(const Node &node) const {
  if (kept.contains(&node))
    return "its result becomes an integer";
  if (config.keptKinds.count(node.getKind()))
    return "its kind keeps its precision";
  if (!followsKinds(node))
    return "its bodies or functions have kinds of their own";
  return {};
}

void PrecisionConverter::visit(Node &node) {
  if (auto *save = llvm::dyn_cast<SaveNode>(&node)) {
    if (save->getInput().getElemKind() != save->getOutput().getElemKind())
      save->setOperand(SaveNode::inputIdx, getConverted(save->getInput()));
    return;
  }
  if (!isConvertible(node))
    return;
  llvm::StringRef reason = explainKept(node);
  if (reason.empty()) {
    if (convert(node))
      return;
    reason = "its operator takes no half precision here";
  }
  GLOWISH_VLOG(1, "float: {0} '{1}': {2}", node.getKindName(), node.getName(),
               reason);
  for (unsigned i = 0; i < node.getNumResults(); ++i)
    if (isFloat(node.getResult(i)))
      reals.insert(node.getResult(i));
}

//===- The function -------------------------------------------------------===//

/// What readers of floats get of \p half.
NodeValue PrecisionConverter::addReal(NodeValue half) {
  InsertionGuard guard(function, findNextTo(half));
  NodeValue real =
      function.create<CastNode>(half.node->getName(), half, ElemKind::Float)
          ->getResult();
  reals.insert(real);
  converted[real] = half;
  return real;
}

void PrecisionConverter::visit(Placeholder &placeholder) {
  NodeValue value(&placeholder);
  if (!isFloat(value))
    return;
  if (!config.convertsPlaceholders) {
    reals.insert(value);
    return;
  }
  std::vector<std::pair<Node *, unsigned>> readers;
  for (const Use &use : placeholder.uses())
    if (!llvm::isa<SaveNode>(use.getUser()))
      readers.emplace_back(use.getUser(), use.getOperandIndex());
  function.getModule().setElemKind(placeholder, config.kind);
  if (readers.empty())
    return;
  NodeValue real = addReal(value);
  for (auto [reader, index] : readers)
    reader->setOperand(index, real);
}

void PrecisionConverter::run() {
  auto getNodes = [&] {
    return llvm::to_vector(llvm::make_pointer_range(function.getNodes()));
  };
  auto nodes = getNodes();
  keepQuantizations();
  for (const auto &placeholder : function.getModule().getPlaceholders())
    visit(*placeholder);
  for (Node *node : nodes)
    visit(*node);
  nodes = getNodes();
  for (Node *node : llvm::reverse(nodes))
    if (isDead(*node))
      function.erase(node);
}

void glowish::convertPrecision(Function &function,
                               const PrecisionConfig &config) {
  if (!function.getNodes().empty())
    PrecisionConverter(function, config).run();
}
