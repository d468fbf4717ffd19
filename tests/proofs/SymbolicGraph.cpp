//===- SymbolicGraph.cpp - What graphs compute of unknown values ----------===//

#include "SymbolicGraph.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/ForEachIndex.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Tensors ------------------------------------------------------------===//

const Number &SymbolicTensor::getNumber(DimsRef index) const {
  int64_t position = 0;
  for (auto [stride, i] :
       llvm::zip_equal(getDenseStrides(type.getShape()), index))
    position += stride * i;
  return getNumber(position);
}

const Scalar &SymbolicTensor::getBroadcast(DimsRef index) const {
  DimsRef shape = type.getShape(), own = index.take_back(shape.size());
  int64_t position = 0;
  for (auto [stride, i, extent] :
       llvm::zip_equal(getDenseStrides(shape), own, shape))
    position += extent == 1 ? 0 : stride * i;
  return elements[size_t(position)];
}

static SymbolicTensor makeConstant(Proof &proof, const Tensor &tensor) {
  SymbolicTensor result = {tensor.getType(), {}};
  ElemKind kind = tensor.getType().getKind();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    if (kind == ElemKind::Bool)
      result.elements.push_back(
          Truth{&proof, proof.context.bool_val(tensor.getAsInt(i) != 0)});
    else
      result.elements.push_back(Number(proof, kind, tensor.getAsDouble(i)));
  }
  return result;
}

static SymbolicTensor makeInput(Proof &proof, const Placeholder &placeholder) {
  SymbolicTensor result = {placeholder.getType(), {}};
  ElemKind kind = placeholder.getType().getKind();
  for (int64_t i = 0; i < result.type.getNumElements(); ++i) {
    std::string name =
        (placeholder.getModelName() + "[" + llvm::Twine(i) + "]").str();
    if (kind == ElemKind::Bool)
      result.elements.push_back(
          Truth{&proof, proof.context.bool_const(name.c_str())});
    else
      result.elements.push_back(Number::makeUnknown(proof, kind, name));
  }
  return result;
}

//===- Element-wise nodes -------------------------------------------------===//

namespace {

/// Computes one element of an element-wise node.
class ElementFormula {
public:
  ElementFormula(Proof &proof, const Node &node,
                 llvm::ArrayRef<const Scalar *> operands)
      : proof(proof), operands(operands) {
    for (const AttrValue &attr : node.getAttrs()) {
      if (auto *value = std::get_if<double>(&attr))
        params.push_back(*value);
      else if (auto *table = std::get_if<std::vector<int64_t>>(&attr))
        params.append(table->begin(), table->end());
    }
  }

  template <class Formula> Scalar run(Formula) {
    return run<Formula>(std::make_index_sequence<Formula::numArgs>());
  }

private:
  template <class Formula, size_t... Is>
  Scalar run(std::index_sequence<Is...>) {
    constexpr bool hasTruths = Formula::kinds == ScalarOpInfo::Kinds::Bool;
    bool areTruths = (std::holds_alternative<Truth>(*operands[Is]) && ...);
    if constexpr (hasTruths) {
      return Formula::template eval<Number::Bool>(
          std::get<Truth>(*operands[Is])..., params);
    } else if constexpr (Formula::firstIsBool) {
      if (areTruths)
        return select(std::get<Truth>(*operands[0]),
                      std::get<Truth>(*operands[1]),
                      std::get<Truth>(*operands[2]));
      return Formula::template eval<Number>(get<Formula, Is>()..., params);
    } else {
      if (areTruths) {
        proof.fail("a formula of bools");
        return *operands[0];
      }
      return Formula::template eval<Number>(get<Formula, Is>()..., params);
    }
  }
  template <class Formula, size_t I> auto get() {
    if constexpr (Formula::firstIsBool && I == 0)
      return std::get<Truth>(*operands[I]);
    else
      return std::get<Number>(*operands[I]);
  }

  Proof &proof;
  llvm::ArrayRef<const Scalar *> operands;
  llvm::SmallVector<double, 8> params;
};

} // namespace

static SymbolicTensor
defineElementWise(Proof &proof, const Node &node,
                  llvm::ArrayRef<SymbolicTensor> operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    llvm::SmallVector<const Scalar *, 3> elements;
    for (const SymbolicTensor &operand : operands)
      elements.push_back(&operand.getBroadcast(index));
    if (node.getKind() == NodeKind::Cast) {
      auto *number = std::get_if<Number>(elements[0]);
      if (!number || result.type.getKind() == ElemKind::Bool)
        return proof.fail("a conversion from or to bool");
      result.elements.push_back(convert(*number, result.type.getKind()));
      return;
    }
    ElementFormula formula(proof, node, elements);
    result.elements.push_back(
        dispatchScalarOp(*node.getInfo().scalarOp,
                         [&](auto record) { return formula.run(record); }));
  });
  return result;
}

//===- Movements ----------------------------------------------------------===//

/// Numbers the elements of the operands and lets the interpreter move the
/// numbers. What is no number of an element is what the node adds, as a pad.
static SymbolicTensor defineMovement(Proof &proof, const Node &node,
                                     llvm::ArrayRef<SymbolicTensor> operands) {
  constexpr double firstNumber = 1 << 30;
  Module module("moved");
  NodeDraft draft = node.getDraft();
  std::vector<const Scalar *> numbered;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    NodeValue value = draft.operands[i];
    bool isIndex = node.getKind() == NodeKind::Gather && i == 1;
    if (isIndex) {
      auto *indices = value.getNodeAs<Constant>();
      if (!indices) {
        proof.fail("indices that are not constant");
        return {node.getType(), {}};
      }
      draft.operands[i] =
          module.createConstant("indices", indices->getTensor().clone());
      continue;
    }
    Tensor numbers(Type(ElemKind::Double, operand.type.getShape()));
    for (const Scalar &element : operand.elements) {
      numbers.setFromDouble(int64_t(&element - operand.elements.data()),
                            firstNumber + double(numbered.size()));
      numbered.push_back(&element);
    }
    draft.operands[i] = module.createConstant("numbers", std::move(numbers));
  }
  Node *copy = module.createFunction("main")->create("moved", draft);
  llvm::Expected<std::vector<Tensor>> moved = evaluateNode(*copy);
  SymbolicTensor result = {node.getType(), {}};
  if (!moved) {
    proof.fail(llvm::toString(moved.takeError()));
    return result;
  }
  for (int64_t i = 0; i < moved->front().getNumElements(); ++i) {
    double number = moved->front().getAsDouble(i);
    result.elements.push_back(
        number >= firstNumber && std::isfinite(number)
            ? *numbered[size_t(number - firstNumber)]
            : Scalar(Number(proof, node.getType().getKind(), number)));
  }
  return result;
}

//===- Linear nodes -------------------------------------------------------===//

/// Each result as the sum of the operand's elements times what the interpreter
/// makes of each unit vector.
static SymbolicTensor defineLinear(Proof &proof, const Node &node,
                                   llvm::ArrayRef<SymbolicTensor> operands) {
  ElemKind kind = node.getType().getKind();
  SymbolicTensor result = {
      node.getType(),
      std::vector<Scalar>(size_t(node.getType().getNumElements()),
                          Number(proof, kind, 0.0))};
  for (size_t unit = 0; unit < operands[0].elements.size(); ++unit) {
    Tensor tensor(operands[0].type);
    tensor.setFromDouble(int64_t(unit), 1);
    Module module("unit");
    NodeDraft draft = node.getDraft();
    draft.operands[0] = module.createConstant("unit", std::move(tensor));
    Node *copy = module.createFunction("main")->create("linear", draft);
    std::vector<Tensor> images = llvm::cantFail(evaluateNode(*copy));
    for (size_t i = 0; i < result.elements.size(); ++i)
      result.elements[i] = std::get<Number>(result.elements[i]) +
                           operands[0].getNumber(int64_t(unit)) *
                               images[0].getAsDouble(int64_t(i));
  }
  return result;
}
static const NodeDefinition resize(NodeKind::Resize, defineLinear);

/// In inference.
static SymbolicTensor defineFirst(Proof &, const Node &,
                                  llvm::ArrayRef<SymbolicTensor> operands) {
  return operands[0];
}
static const NodeDefinition dropout(NodeKind::Dropout, defineFirst);
static const NodeDefinition loss(NodeKind::Loss, defineFirst);

//===- Graphs -------------------------------------------------------------===//

static std::map<NodeKind, NodeDefinition::Define> &getDefinitions() {
  static std::map<NodeKind, NodeDefinition::Define> definitions;
  return definitions;
}

NodeDefinition::NodeDefinition(NodeKind kind, Define define) {
  getDefinitions()[kind] = define;
}

NodeDefinition::Define NodeDefinition::find(NodeKind kind) {
  const OpInfo &info = getNodeInfo(kind);
  auto found = getDefinitions().find(kind);
  if (found != getDefinitions().end())
    return found->second;
  if (info.scalarOp || kind == NodeKind::Cast)
    return defineElementWise;
  if (info.has(OpTrait::StaticDataMovement) || kind == NodeKind::Gather)
    return defineMovement;
  return nullptr;
}

namespace {

/// Computes the nodes of a function, and of its bodies.
class GraphEvaluator {
public:
  explicit GraphEvaluator(Proof &proof) : proof(proof) {}

  /// The elements of what is saved, by the placeholders.
  std::map<const Node *, SymbolicTensor> run(const Function &function);
  void set(const Node &node, SymbolicTensor tensor) {
    values[&node] = std::move(tensor);
  }

private:
  const SymbolicTensor &get(NodeValue value);
  SymbolicTensor compute(const Node &node,
                         llvm::ArrayRef<SymbolicTensor> operands);
  SymbolicTensor computeIf(const IfNode &node,
                           llvm::ArrayRef<SymbolicTensor> operands);
  SymbolicTensor computeBody(const std::shared_ptr<Body> &body,
                             llvm::ArrayRef<SymbolicTensor> arguments);

  Proof &proof;
  std::map<const Node *, SymbolicTensor> values;
};

} // namespace

const SymbolicTensor &GraphEvaluator::get(NodeValue value) {
  auto [place, isNew] = values.try_emplace(value.node);
  if (isNew) {
    if (auto *constant = value.getNodeAs<Constant>())
      place->second = makeConstant(proof, constant->getTensor());
    else if (auto *placeholder = value.getNodeAs<Placeholder>())
      place->second = makeInput(proof, *placeholder);
  }
  return place->second;
}

SymbolicTensor
GraphEvaluator::computeBody(const std::shared_ptr<Body> &body,
                            llvm::ArrayRef<SymbolicTensor> arguments) {
  const Function &function = getFunction(body);
  GraphEvaluator inner(proof);
  for (auto [parameter, argument] :
       llvm::zip_equal(function.getParameters(), arguments))
    inner.set(*parameter, argument);
  return inner.run(function)[function.getResults().front().get()];
}

SymbolicTensor
GraphEvaluator::computeIf(const IfNode &node,
                          llvm::ArrayRef<SymbolicTensor> operands) {
  const auto &condition = std::get<Truth>(operands[0].elements[0]);
  SymbolicTensor result =
      computeBody(node.getThenBody(), operands.drop_front());
  SymbolicTensor other = computeBody(node.getElseBody(), operands.drop_front());
  for (auto [x, y] : llvm::zip_equal(result.elements, other.elements)) {
    if (auto *number = std::get_if<Number>(&x))
      x = select(condition, *number, std::get<Number>(y));
    else
      x = select(condition, std::get<Truth>(x), std::get<Truth>(y));
  }
  return result;
}

SymbolicTensor
GraphEvaluator::compute(const Node &node,
                        llvm::ArrayRef<SymbolicTensor> operands) {
  if (llvm::any_of(node.getTypes(),
                   [](const Type &type) { return type.isQuantized(); }))
    proof.fail("quantized values");
  if (node.getNumResults() > 1)
    proof.fail("a node with several results");
  NodeDefinition::Define define = NodeDefinition::find(node.getKind());
  auto *branch = llvm::dyn_cast<IfNode>(&node);
  if (!define && !branch)
    proof.fail("no definition of " + node.getKindName());
  if (!proof.obstacle.empty())
    return {};
  return branch ? computeIf(*branch, operands) : define(proof, node, operands);
}

std::map<const Node *, SymbolicTensor>
GraphEvaluator::run(const Function &function) {
  std::map<const Node *, SymbolicTensor> saved;
  for (const Node &node : function.getNodes()) {
    std::vector<SymbolicTensor> operands;
    for (NodeValue operand : node.getOperands())
      operands.push_back(operand ? get(operand) : SymbolicTensor());
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      saved[save->getOutput().node] = operands[0];
    else
      values[&node] = compute(node, operands);
    if (!proof.obstacle.empty())
      return {};
  }
  return saved;
}

std::map<std::string, SymbolicTensor>
proofs::evaluate(Proof &proof, const Function &function) {
  std::map<std::string, SymbolicTensor> outputs;
  for (auto &[node, tensor] : GraphEvaluator(proof).run(function))
    outputs[llvm::cast<Placeholder>(node)->getModelName().str()] =
        std::move(tensor);
  return outputs;
}
