//===- AtenProgram.cpp - Programs of ATen's operators ---------------------===//

#include "AtenProgram.h"
#include "../../../GraphTarget.h"
#include "AtenBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- Programs -----------------------------------------------------------===//

/// Adds the names of the values that \p argument has to \p names.
static void addNames(const AtenArg &argument, std::set<std::string> &names) {
  if (const auto *tensor = argument.getIf<AtenTensor>())
    names.insert(tensor->name);
  if (const auto *number = argument.getIf<AtenNumber>())
    names.insert(number->name);
  if (const auto *list = argument.getIf<AtenArg::List>())
    for (const AtenArg &element : *list)
      addNames(element, names);
}

void AtenProgram::dropUnused() {
  std::set<std::string> used(outputs.begin(), outputs.end());
  std::vector<AtenCall> kept;
  for (AtenCall &call : llvm::reverse(calls)) {
    if (!call.writes && llvm::none_of(call.results, [&](const auto &result) {
          return used.count(result);
        }))
      continue;
    for (const AtenArg &argument : call.arguments)
      addNames(argument, used);
    for (const auto &[name, argument] : call.named)
      addNames(argument, used);
    addNames(call.condition, used);
    kept.push_back(std::move(call));
  }
  std::reverse(kept.begin(), kept.end());
  calls = std::move(kept);
  std::erase_if(weights,
                [&](const auto &weight) { return !used.count(weight.first); });
}

std::set<std::string> AtenProgram::getOperators() const {
  std::set<std::string> operators;
  for (const AtenCall &call : calls)
    operators.insert(call.op);
  return operators;
}

//===- Integers -----------------------------------------------------------===//

using Ints = std::vector<Extent>;

/// The elements of \p x and \p y, which broadcast, one by one.
static std::optional<Ints>
combine(const std::optional<Ints> &x, const std::optional<Ints> &y,
        llvm::function_ref<std::optional<Extent>(Extent, Extent)> compute) {
  if (!x || !y || x->empty() || y->empty())
    return std::nullopt;
  Ints result;
  for (size_t i = 0; i < std::max(x->size(), y->size()); ++i) {
    std::optional<Extent> element =
        compute((*x)[x->size() == 1 ? 0 : i], (*y)[y->size() == 1 ? 0 : i]);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

/// Dimensions of the operand of a Shape node.
static Ints getDims(const FormNode &node) {
  Ints dims = node.getType(0).getLengths();
  auto rank = int64_t(dims.size());
  auto find = [&](llvm::StringRef name, int64_t otherwise) {
    int64_t position = node.getAxis(name, otherwise, unsigned(rank));
    return std::clamp<int64_t>(position, 0, rank);
  };
  int64_t start = find("start", 0), end = std::max(start, find("end", rank));
  return {dims.begin() + start, dims.begin() + end};
}

static std::optional<Ints> computeInts(const AtenBuilder &b,
                                       const FormNode &node) {
  llvm::StringRef op = node.getOp();
  auto get = [&](unsigned index) { return b.findInts(node.getInput(index)); };
  if (op == "Shape")
    return getDims(node);
  if (op == "Size") {
    std::optional<Extent> all = multiplyAll(node.getType(0).getLengths());
    return all ? std::optional(Ints{*all}) : std::nullopt;
  }
  if (op == "Squeeze" || op == "Unsqueeze" || op == "Identity")
    return get(0);
  if (op == "Add")
    return combine(get(0), get(1),
                   [](Extent x, Extent y) { return add(x, y); });
  if (op == "Sub")
    return combine(get(0), get(1),
                   [](Extent x, Extent y) { return subtract(x, y); });
  if (op == "Mul")
    return combine(get(0), get(1),
                   [](Extent x, Extent y) { return multiply(x, y); });
  if (op == "Div") {
    SymbolRanges ranges(b.model.model.ranges);
    return combine(get(0), get(1),
                   [&](Extent x, Extent y) -> std::optional<Extent> {
                     auto range = ranges.getRange(x);
                     int64_t divisor = y.getConstant().value_or(0);
                     if (!range || range->low < 0 || divisor < 1)
                       return std::nullopt;
                     return divideDown(x, divisor);
                   });
  }
  if (op == "Gather") {
    std::optional<Ints> all = get(0);
    std::optional<std::vector<int64_t>> indices = node.findInts(1);
    // Of a vector; it has the elements.
    if (!all || !indices || node.getRank(0) != 1)
      return std::nullopt;
    Ints result;
    for (int64_t index : *indices)
      result.push_back(
          (*all)[size_t(index < 0 ? index + int64_t(all->size()) : index)]);
    return result;
  }
  if (op == "Concat") {
    Ints all;
    for (unsigned i = 0; i < node.getNumInputs(); ++i) {
      std::optional<Ints> part = get(i);
      if (!part)
        return std::nullopt;
      all.insert(all.end(), part->begin(), part->end());
    }
    return all;
  }
  return std::nullopt;
}

void AtenBuilder::noteInts(const FormNode &node) {
  const Type &type = node.getOutputType();
  if (type.getKind() != ElemKind::Int64 || type.getRank() > 1)
    return;
  if (auto elements = computeInts(*this, node))
    if (type.getRank() == 0 ||
        type.getLength(0) == Extent(int64_t(elements->size())))
      ints[node.getOutput()] = std::move(*elements);
}

//===- Translation --------------------------------------------------------===//

static const std::map<llvm::StringRef, AtenTranslator> &getTranslators() {
  static const std::map<llvm::StringRef, AtenTranslator> translators = [] {
    std::map<llvm::StringRef, AtenTranslator> all;
    for (auto list : {getAtenElementWise(), getAtenMovement(), getAtenShapes(),
                      getAtenReductions(), getAtenIndexing(), getAtenMatMuls(),
                      getAtenQuantization(), getAtenImages()})
      for (const AtenTranslation &translation : list)
        all[translation.op] = translation.translate;
    return all;
  }();
  return translators;
}

bool fuzz::isTranslatedToAten(llvm::StringRef op) {
  return getTranslators().count(op);
}

/// Whether PyTorch has tensors of \p kind.
static bool hasKind(ElemKind kind) {
  static constexpr ElemKind kinds[] = {
      ElemKind::Float, ElemKind::Float16, ElemKind::BFloat16, ElemKind::Double,
      ElemKind::Int64, ElemKind::Int32,   ElemKind::Int16,    ElemKind::Int8,
      ElemKind::UInt8, ElemKind::Bool};
  return llvm::is_contained(kinds, kind);
}

static llvm::Error translate(AtenBuilder &b, const FormNode &node) {
  auto translator = getTranslators().find(node.getOp());
  if (translator == getTranslators().end())
    return node.refuse("it has no counterpart");
  for (const auto *names : {&node.proto.input(), &node.proto.output()})
    for (const std::string &name : *names) {
      if (name.empty())
        continue;
      if (b.model.openValues.count(name) ||
          !hasKind(b.model.getType(name).getKind()))
        return node.refuse("'" + name + "' has no such type");
    }
  b.noteInts(node);
  if (!translator->second(b, node))
    return node.refuse("it has no counterpart with these operands");
  return llvm::Error::success();
}

llvm::Expected<AtenProgram> fuzz::translateToAten(const TypedModel &model,
                                                  AtenDialect dialect) {
  AtenBuilder b(model, dialect);
  for (const auto &proto : model.model.proto.graph().node())
    if (llvm::Error error = translate(b, FormNode(model, proto)))
      return std::move(error);
  b.program.dropUnused();
  return std::move(b.program);
}
