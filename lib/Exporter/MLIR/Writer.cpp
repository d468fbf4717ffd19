//===- Writer.cpp - Write nodes as operations of a dialect ----------------===//

#include "MLIR/Writer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;

ElemKind glowish::getSumKind(ElemKind kind) {
  return kind == ElemKind::Float16 || kind == ElemKind::BFloat16
             ? ElemKind::Float
             : kind;
}

Dims glowish::getReducedShape(DimsRef shape, IntsRef axes, bool keepDims) {
  Dims kept;
  for (auto [d, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, int64_t(d)))
      kept.push_back(extent);
    else if (keepDims)
      kept.push_back(1);
  return kept;
}

double glowish::getReductionIdentity(llvm::StringRef mode) {
  if (mode == "max" || mode == "min")
    return mode == "max" ? -HUGE_VAL : HUGE_VAL;
  return mode == "prod" ? 1 : 0;
}

std::string glowish::joinNames(llvm::ArrayRef<MlirValue> values) {
  auto getName = [](const MlirValue &value) { return value.name; };
  return llvm::join(llvm::map_range(values, getName), ", ");
}

llvm::SmallVector<Type, 4> glowish::getTypes(llvm::ArrayRef<MlirValue> values) {
  llvm::SmallVector<Type, 4> types;
  for (const MlirValue &value : values)
    types.push_back(value.type);
  return types;
}

std::string glowish::formatOperands(llvm::ArrayRef<MlirValue> values,
                                    TextStyle style) {
  return joinNames(values) + " : " + getTensorTypes(getTypes(values), style);
}

void MlirWriter::line(const llvm::Twine &content) {
  text.append(2 * depth, ' ');
  text += content.str();
  text += '\n';
}

void MlirWriter::region(llvm::StringRef terminator,
                        llvm::function_ref<MlirValues()> body) {
  indent();
  MlirValues values = body();
  std::string operands =
      values.empty() ? ""
                     : " " + formatOperands(values, getTextStyle(getDialect()));
  line(terminator + operands);
  outdent();
}

MlirValues MlirWriter::beginOp(llvm::ArrayRef<Type> types,
                               const llvm::Twine &content) {
  std::string name = newName();
  if (types.empty()) {
    line(content);
    return {};
  }
  if (types.size() == 1) {
    line(name + " = " + content);
    return {{name, types.front()}};
  }
  line(name + ":" + llvm::Twine(types.size()) + " = " + content);
  MlirValues results;
  for (auto [i, type] : llvm::enumerate(types))
    results.push_back({name + "#" + std::to_string(i), type});
  return results;
}

std::string MlirWriter::declareFunction(llvm::StringRef name,
                                        llvm::StringRef signature) {
  auto [known, isNew] = declared.try_emplace((name + signature).str());
  if (!isNew)
    return known->second;
  std::string symbol = name.str();
  for (unsigned i = 1; !symbols.insert(symbol).second; ++i)
    symbol = (name + "_" + llvm::Twine(i)).str();
  declarations.push_back("func.func private @" + symbol + signature.str());
  return known->second = symbol;
}

//===- Errors -------------------------------------------------------------===//

void MlirWriter::refuse(const llvm::Twine &reason) {
  std::string node = current ? llvm::formatv("'{0}' ({1})", current->getName(),
                                             current->getKindName())
                                   .str()
                             : "the function";
  std::string refusal = node + ": " + reason.str();
  // One reason a node.
  if (refusals.empty() || !llvm::StringRef(refusals.back()).starts_with(node))
    refusals.push_back(refusal);
}

MlirValue MlirWriter::refuseValue(const llvm::Twine &what, const Type &type) {
  refuse(getMlirDialectName(getDialect()) + " has no " + what);
  return {"%refused", type};
}

//===- Values of the function ---------------------------------------------===//

MlirValue MlirWriter::get(NodeValue value) {
  if (!value)
    return {};
  if (auto *constant = value.getNodeAs<Constant>()) {
    MlirValue written = constants.get(*constant);
    return {written.name, getStoredType(written.type)};
  }
  MlirValue written = values.lookup(value);
  assert((written || !refusals.empty()) && "operands come first");
  return written ? written
                 : MlirValue{"%refused", getStoredType(value.getType())};
}

void MlirWriter::set(NodeValue value, const MlirValue &written) {
  values[value] = {written.name, getStoredType(written.type)};
}

void MlirWriter::setResult(const Node &node, const MlirValue &written) {
  ElemKind kind = getStoredType(node.getType()).getKind();
  set(NodeValue(const_cast<Node *>(&node)),
      cast({written.name, getStoredType(written.type)}, kind));
}

void MlirWriter::setResults(const Node &node,
                            llvm::ArrayRef<MlirValue> written) {
  for (auto [i, value] : llvm::enumerate(written))
    set(NodeValue(const_cast<Node *>(&node), unsigned(i)), value);
}

MlirValues MlirWriter::writeBody(const Function &body,
                                 llvm::ArrayRef<MlirValue> arguments) {
  for (auto [parameter, argument] : llvm::zip(body.getParameters(), arguments))
    set(NodeValue(parameter.get()), argument);
  writeNodes(body);
  MlirValues results;
  for (const auto &result : body.getResults())
    results.push_back(getSaved(result.get()));
  return results;
}

MlirValues MlirWriter::writeBranch(const IfNode &node,
                                   const std::shared_ptr<Body> &body) {
  MlirValues captures;
  for (NodeValue capture : node.getCaptures())
    captures.push_back(get(capture));
  return writeBody(getFunction(body), captures);
}

MlirValues MlirWriter::writeIteration(const LoopNode &node,
                                      llvm::ArrayRef<MlirValue> values) {
  MlirValues arguments(values);
  auto statesAndCaptures = node.getValues();
  for (NodeValue capture :
       llvm::drop_begin(statesAndCaptures, size_t(node.getNumStates())))
    arguments.push_back(get(capture));
  return writeBody(getFunction(node.getBody()), arguments);
}

MlirValue MlirWriter::getSaved(const Node *placeholder) {
  return get(saved.lookup(placeholder));
}

/// Returns the nodes that save a value or whose results one of them needs.
static llvm::DenseSet<const Node *> findNeededNodes(const Function &function) {
  llvm::DenseSet<const Node *> live;
  for (const Node &node : llvm::reverse(function.getNodes())) {
    if (!node.hasSideEffects() && !live.contains(&node))
      continue;
    live.insert(&node);
    for (NodeValue operand : node.getOperands())
      if (operand)
        live.insert(operand.node);
  }
  return live;
}

void MlirWriter::writeNode(const Node &node) {
  if (auto *save = llvm::dyn_cast<SaveNode>(&node))
    return this->save(save->getOutput().node, save->getInput());
  const MlirForm::Function *form = findMlirForm(getDialect(), node.getKind());
  if (!form)
    return refuse(getMlirDialectName(getDialect()) + " has no form of it");
  (*form)(*this, node);
}

void MlirWriter::writeNodes(const Function &function) {
  llvm::DenseSet<const Node *> live = findNeededNodes(function);
  const Node *outer = current;
  for (const Node &node : function.getNodes())
    if (live.contains(&node)) {
      current = &node;
      writeNode(node);
    }
  current = outer;
}

//===- Tensors ------------------------------------------------------------===//

/// The extents that \p operands broadcast to.
static Dims getCommonShape(llvm::ArrayRef<MlirValue> operands) {
  Dims shape;
  for (const MlirValue &operand : operands) {
    DimsRef own = operand.getShape();
    if (own.size() > shape.size())
      shape.insert(shape.begin(), own.size() - shape.size(), 1);
    for (size_t d = 0; d < own.size(); ++d) {
      int64_t &extent = shape[shape.size() - own.size() + d];
      extent = extent == 1 ? own[d] : extent;
    }
  }
  return shape;
}

MlirValue MlirWriter::map(ElemKind kind, DimsRef shape,
                          llvm::ArrayRef<MlirValue> operands,
                          ScalarFunction function) {
  return mapElements(kind, shape, operands,
                     [&](llvm::ArrayRef<MlirScalar> elements) {
                       std::vector<MlirScalar> values;
                       for (const MlirScalar &element : elements)
                         values.push_back(loadScalar(element));
                       return convertScalar(function(values), kind);
                     });
}

MlirValue MlirWriter::mapSame(ElemKind kind, llvm::ArrayRef<MlirValue> operands,
                              ScalarFunction function) {
  return map(kind, getCommonShape(operands), operands, function);
}

MlirValue MlirWriter::cast(const MlirValue &x, ElemKind kind) {
  if (x.getKind() == kind)
    return x;
  return map(kind, x.getShape(), {x},
             [](auto elements) { return elements[0]; });
}

MlirValue MlirWriter::bitCast(const MlirValue &x, ElemKind kind) {
  return mapElements(kind, x.getShape(), {x}, [&](auto elements) {
    return bitCastScalar(elements[0], kind);
  });
}

MlirValue MlirWriter::add(const MlirValue &x, const MlirValue &y) {
  return mapSame(x.getKind(), {x, y},
                 [](auto elements) { return elements[0] + elements[1]; });
}
MlirValue MlirWriter::sub(const MlirValue &x, const MlirValue &y) {
  return mapSame(x.getKind(), {x, y},
                 [](auto elements) { return elements[0] - elements[1]; });
}
MlirValue MlirWriter::mul(const MlirValue &x, const MlirValue &y) {
  return mapSame(x.getKind(), {x, y},
                 [](auto elements) { return elements[0] * elements[1]; });
}
MlirValue MlirWriter::div(const MlirValue &x, const MlirValue &y) {
  return mapSame(x.getKind(), {x, y},
                 [](auto elements) { return elements[0] / elements[1]; });
}

MlirValue MlirWriter::pad(const MlirValue &x, IntsRef pads, double value) {
  unsigned rank = x.getRank();
  std::vector<int64_t> starts(rank), sizes(x.getShape()), steps(rank, 1);
  std::vector<int64_t> wider(pads);
  for (unsigned d = 0; d < rank; ++d) {
    int64_t before = std::max<int64_t>(-pads[d], 0);
    starts[d] = before;
    sizes[d] -= before + std::max<int64_t>(-pads[rank + d], 0);
  }
  for (int64_t &amount : wider)
    amount = std::max<int64_t>(amount, 0);
  MlirValue cropped =
      DimsRef(sizes) == x.getShape() ? x : slice(x, starts, sizes, steps);
  bool isWider = llvm::any_of(wider, [](int64_t amount) { return amount; });
  return isWider ? padWider(cropped, wider, value) : cropped;
}

MlirValue MlirWriter::padImages(const MlirValue &x, IntsRef pads,
                                double value) {
  return pad(x, {0, pads[0], pads[1], 0, 0, pads[2], pads[3], 0}, value);
}

MlirValue MlirWriter::table(ElemKind kind, DimsRef shape,
                            llvm::function_ref<double(int64_t i)> element) {
  Tensor tensor(Type(kind, shape));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, element(i));
  return constant(std::move(tensor));
}

MlirValue MlirWriter::divideByTaps(const MlirValue &sums, const Windows &window,
                                   IntsRef size, bool countPads) {
  return div(sums,
             constant(countInside(window, size, sums.getShape().slice(1, 2),
                                  countPads, sums.getKind())));
}

MlirValue MlirWriter::ints(IntsRef values) {
  return constant(Tensor::fromValues<int64_t>(
      Type(ElemKind::Int64, {int64_t(values.size())}), values));
}
