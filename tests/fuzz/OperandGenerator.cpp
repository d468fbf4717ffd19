//===- OperandGenerator.cpp - Operands and attributes to try --------------===//

#include "OperandGenerator.h"
#include <cmath>
#include <limits>

using namespace glowish;
using namespace glowish::fuzz;

const Type *EntryDraft::getType(const GraphSpec &spec, unsigned index) const {
  const OperandDraft &operand = operands[index];
  if (operand.storage)
    return &*operand.storage;
  return operand.existing ? &spec.getType(operand.existing) : nullptr;
}

//===- Types --------------------------------------------------------------===//

ElemKind OperandGenerator::pickKind() {
  return chance(50) ? ElemKind::Float : pick(llvm::ArrayRef(allElemKinds));
}

/// Quantized kinds with one scale, or one for each index of a dimension.
Type OperandGenerator::makeType(ElemKind kind, DimsRef shape) {
  if (!isQuantizedKind(kind))
    return Type(kind, shape);
  QuantParams params;
  size_t count = 1;
  if (!shape.empty() && chance(30)) {
    params.axis = int(random.below(shape.size()));
    count = shape[params.axis];
  }
  for (size_t i = 0; i < count; ++i) {
    params.scales.push_back(float(1 + random.below(4)) / 4);
    params.offsets.push_back(int32_t(random.below(5)) - 2);
  }
  return Type(kind, shape, std::move(params));
}

/// One of those that the draft has already, mostly: extents must agree.
int64_t OperandGenerator::pickExtent(const EntryDraft &draft) {
  static const int64_t extents[] = {1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 16, 17, 33};
  if (chance(60) && !draft.operands.empty())
    if (const Type *type =
            draft.getType(spec, random.below(draft.operands.size())))
      if (type->getRank() > 0)
        return pick(type->getShape());
  return chance(2) ? 0 : pick(llvm::ArrayRef(extents));
}

Dims OperandGenerator::makeShape(const EntryDraft &draft) {
  static const unsigned ranks[] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 4, 5};
  Dims shape;
  for (unsigned rank = pick(llvm::ArrayRef(ranks)); shape.size() < rank;)
    shape.push_back(pickExtent(draft));
  return shape;
}

/// A shape that has to do with \p other.
Dims OperandGenerator::deriveShape(const EntryDraft &draft, DimsRef other) {
  Dims shape(other);
  if (shape.empty())
    return shape;
  switch (random.below(6)) {
  case 0: // broadcasts to it
    shape.erase(shape.begin(), shape.begin() + random.below(shape.size() + 1));
    for (int64_t &extent : shape)
      if (chance(30))
        extent = 1;
    return shape;
  case 1: // a row
    return {pick(llvm::ArrayRef<int64_t>(shape))};
  case 2: // its last dimensions
    shape.erase(shape.begin(), shape.begin() + random.below(shape.size() + 1));
    return shape;
  case 3:
    if (shape.size() > 1)
      std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    if (chance(50))
      shape.back() = pickExtent(draft);
    return shape;
  case 4:
    shape[random.below(shape.size())] = pickExtent(draft);
    return shape;
  default:
    return shape;
  }
}

Type OperandGenerator::makeType(const EntryDraft &draft, unsigned index) {
  const Type *other = nullptr;
  for (unsigned tries = 0; tries < 3 && !other; ++tries)
    if (unsigned i = random.below(draft.operands.size()); i != index)
      other = draft.getType(spec, i);
  Dims shape = other && chance(60) ? deriveShape(draft, other->getShape())
                                   : makeShape(draft);
  if (!other || !chance(80))
    return makeType(pickKind(), shape);
  if (other->isQuantized() && other->getQuantParams().axis < 0)
    return other->withShape(shape);
  return makeType(other->getKind(), shape);
}

//===- Operands -----------------------------------------------------------===//

void OperandGenerator::changeOperand(EntryDraft &draft, unsigned index) {
  OperandDraft &operand = draft.operands[index];
  if (draft.info->getOperandInfo(index).isOptional && chance(40)) {
    operand = {};
    return;
  }
  if (!spec.entries.empty() && chance(index == 0 ? 75 : 40)) {
    size_t count = spec.entries.size();
    size_t recent = chance(60) ? std::min<size_t>(count, 3) : count;
    operand = {};
    operand.existing.entry = int(count - 1 - random.below(recent));
    // Results of nodes more often than storage, so that chains become long.
    for (unsigned tries = 0; tries < 3; ++tries)
      if (spec.entries[operand.existing.entry].isStorage())
        operand.existing.entry = int(count - 1 - random.below(count));
    operand.existing.result =
        random.below(spec.entries[operand.existing.entry].types.size());
    return;
  }
  Type type = makeType(draft, index);
  operand = {};
  operand.storage = type;
}

/// The shape of \p type, if there is one, with what \p hint says changed.
Dims OperandGenerator::makeExpectedShape(const EntryDraft &draft,
                                         const Type *type,
                                         const RefusalHint &hint) {
  Dims shape = hint.shape ? *hint.shape
               : type     ? Dims(type->getShape())
                          : makeShape(draft);
  if (hint.rank) {
    while (shape.size() < *hint.rank)
      shape.insert(shape.begin(), pickExtent(draft));
    if (!hint.isLeastRank)
      shape.resize(*hint.rank);
  }
  hint.setExtents(shape);
  return shape;
}

/// A value that is there and that \p hint accepts, of a node if there is one.
ValueRef OperandGenerator::findAccepted(const RefusalHint &hint) {
  std::vector<ValueRef> results, storage;
  for (size_t i = 0; i < spec.entries.size(); ++i)
    for (unsigned r = 0; r < spec.entries[i].types.size(); ++r)
      if (hint.accepts(spec.entries[i].types[r]))
        (spec.entries[i].isStorage() ? storage : results)
            .push_back({int(i), r});
  const std::vector<ValueRef> &found = results.empty() ? storage : results;
  return found.empty() ? ValueRef() : pick(llvm::ArrayRef(found));
}

bool OperandGenerator::changeToExpected(EntryDraft &draft, unsigned index,
                                        const RefusalHint &hint) {
  if (!hint.isOfType())
    return false;
  if (ValueRef found = findAccepted(hint); found && chance(60)) {
    draft.operands[index] = {found, std::nullopt};
    return true;
  }
  const Type *type = draft.getType(spec, index);
  ElemKind kind = !hint.kinds.empty() ? pick(llvm::ArrayRef(hint.kinds))
                  : type              ? type->getKind()
                                      : pickKind();
  Type changed = makeType(kind, makeExpectedShape(draft, type, hint));
  draft.operands[index] = {};
  draft.operands[index].storage = std::move(changed);
  return true;
}

void OperandGenerator::changeCount(EntryDraft &draft) {
  unsigned fixed = draft.info->operands.size() - 1;
  unsigned count =
      fixed ? (chance(70) ? 0 : 1 + random.below(2)) : 1 + random.below(4);
  while (draft.operands.size() > fixed + count)
    draft.operands.pop_back();
  while (draft.operands.size() < fixed + count) {
    draft.operands.emplace_back();
    changeOperand(draft, draft.operands.size() - 1);
  }
}

EntryDraft OperandGenerator::start(const OpInfo &info) {
  EntryDraft draft = {&info, {}, getDefaultAttrs(info)};
  unsigned fixed = info.operands.size() - (info.isVariadic() ? 1 : 0);
  for (unsigned i = 0; i < fixed; ++i) {
    draft.operands.emplace_back();
    changeOperand(draft, i);
  }
  if (info.isVariadic())
    changeCount(draft);
  for (unsigned i = 0; i < info.attrs.size(); ++i)
    changeAttr(draft, i);
  return draft;
}

//===- Attributes ---------------------------------------------------------===//

int64_t OperandGenerator::makeInt(const EntryDraft &draft) {
  if (chance(70))
    return int64_t(random.below(4));
  return chance(50) ? pickExtent(draft) : int64_t(random.below(7)) - 3;
}

/// Another shape of as many elements: neighbours joined, extents split.
Dims OperandGenerator::refactor(DimsRef shape) {
  Dims result(shape);
  for (unsigned steps = 1 + random.below(3); steps > 0; --steps) {
    if (result.size() > 1 && chance(50)) {
      unsigned d = random.below(result.size() - 1);
      result[d] *= result[d + 1];
      result.erase(result.begin() + d + 1);
    } else {
      int64_t factor = 1 + int64_t(random.below(4));
      unsigned d = random.below(result.size() + 1);
      if (d == result.size() || result[d] % factor || chance(20)) {
        result.insert(result.begin() + d, 1);
      } else {
        result[d] /= factor;
        result.insert(result.begin() + d, factor);
      }
    }
  }
  return result;
}

/// Dimensions of \p shape, or a shape that has to do with it.
std::vector<int64_t> OperandGenerator::makeShapeAttr(const EntryDraft &draft,
                                                     Dims shape) {
  switch (random.below(3)) {
  case 0: { // some dimensions
    std::vector<int64_t> axes;
    for (unsigned d = 0; d < shape.size(); ++d)
      if (chance(50))
        axes.push_back(d);
    return axes;
  }
  case 1:
    shape = refactor(shape);
    break;
  default: // what it broadcasts to
    for (int64_t &extent : shape)
      if (extent == 1)
        extent = pickExtent(draft);
    for (unsigned count = random.below(3); count > 0; --count)
      shape.insert(shape.begin(), pickExtent(draft));
  }
  return std::vector<int64_t>(shape.begin(), shape.end());
}

std::vector<int64_t> OperandGenerator::makeInts(const EntryDraft &draft) {
  const Type *first = draft.operands.empty() ? nullptr : draft.getType(spec, 0);
  Dims shape = first ? Dims(first->getShape()) : makeShape(draft);
  unsigned rank = shape.size();
  static const unsigned lengths[] = {2, 4, 2, 4, 1, 3, 5};
  unsigned length = chance(50)   ? rank
                    : chance(30) ? 2 * rank
                                 : pick(llvm::ArrayRef(lengths));
  auto fill = [&](auto makeValue) {
    std::vector<int64_t> values;
    for (unsigned d = 0; d < length; ++d)
      values.push_back(makeValue(d));
    return values;
  };
  if (chance(30)) // what another attribute leaves of the extents
    for (const AttrValue &attr : draft.attrs)
      if (auto *ints = std::get_if<std::vector<int64_t>>(&attr);
          ints && ints->size() == rank && chance(60)) {
        length = rank;
        return fill([&](unsigned d) { return shape[d] - (*ints)[d]; });
      }
  if (!first && chance(70))
    return std::vector<int64_t>(shape.begin(), shape.end());
  switch (random.below(11)) {
  case 9: // one or none
    length = rank;
    return fill([&](unsigned) { return int64_t(random.below(5) == 0); });
  case 10:
    length = rank;
    return fill([&](unsigned) -> int64_t { return chance(85) ? 1 : -1; });
  case 0: { // a permutation
    std::vector<int64_t> values = fill([](unsigned d) { return d; });
    for (unsigned i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[random.below(i)]);
    return values;
  }
  case 1:
  case 2:
  case 3:
    return makeShapeAttr(draft, shape);
  case 4: // at most the extents
    return fill([&](unsigned d) -> int64_t {
      int64_t extent = d < rank ? shape[d] : 1;
      return chance(30) || extent == 0
                 ? extent
                 : (chance(5) ? 0 : 1 + int64_t(random.below(extent)));
    });
  case 5:
    return fill([&](unsigned) { return int64_t(random.below(2)); });
  case 6:
    return fill([&](unsigned) { return int64_t(random.below(5)) - 2; });
  case 7:
    return fill([&](unsigned) { return pickExtent(draft); });
  default:
    return fill([&](unsigned) {
      return chance(60) ? 1 : 1 + int64_t(random.below(3));
    });
  }
}

std::vector<int64_t> OperandGenerator::makePads() {
  std::vector<int64_t> pads(4);
  for (int64_t &pad : pads)
    pad = int64_t(random.below(3));
  return pads;
}

double OperandGenerator::makeFloat(const EntryDraft &draft) {
  static const double values[] = {0.0, 1.0, -1.0, 0.5, 2.0, 1e-5, 6.0, 0.3};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (random.below(8)) {
  case 0:
  case 1: { // how an extent grows
    llvm::SmallVector<int64_t, 8> numbers;
    for (const AttrValue &attr : draft.attrs)
      if (auto *ints = std::get_if<std::vector<int64_t>>(&attr))
        numbers.append(ints->begin(), ints->end());
    const Type *first =
        draft.operands.empty() ? nullptr : draft.getType(spec, 0);
    if (numbers.empty() || !first || first->getRank() == 0)
      break;
    return double(pick(llvm::ArrayRef<int64_t>(numbers))) /
           double(std::max<int64_t>(pick(first->getShape()), 1));
  }
  case 2:
    return random.uniform(-2.0f, 2.0f);
  case 3:
    // Bounds of Clip; elsewhere a factor without end tells little.
    if (draft.info->scalarOp && chance(10))
      return chance(50) ? infinity : -infinity;
    return double(random.below(9)) - 4;
  }
  return pick(llvm::ArrayRef(values));
}

/// \p size integers of \p kind.
std::vector<int64_t> OperandGenerator::makeTable(ElemKind kind, unsigned size) {
  int64_t low = kind == ElemKind::Int8 ? -128 : 0;
  std::vector<int64_t> table;
  for (unsigned i = 0; i < size; ++i)
    table.push_back(low + int64_t(random.below(256)));
  return table;
}

/// Steps over the anchor's result and the values of the variadic operand, all
/// of one kind.
ScalarProgram OperandGenerator::makeProgram(const EntryDraft &draft) {
  ScalarProgram program;
  if (chance(60))
    return program;
  unsigned fixed = draft.info->operands.size() - 1;
  unsigned numInputs = 1 + unsigned(draft.operands.size()) - fixed;
  const Type *first = draft.operands.empty() ? nullptr : draft.getType(spec, 0);
  for (unsigned count = 1 + random.below(3); count > 0; --count) {
    ScalarStep step;
    step.op = ScalarOp(random.below(getScalarOpTable().size()));
    step.kind = first ? first->getKind() : ElemKind::Float;
    const ScalarOpInfo &info = getScalarOpInfo(step.op);
    for (unsigned i = 0; i < info.numArgs; ++i)
      step.args.push_back(random.below(numInputs + program.steps.size()));
    for (unsigned i = 0; i < info.params.size(); ++i)
      step.params.push_back(makeFloat(draft));
    if (info.tableSize)
      llvm::append_range(step.params, makeTable(step.kind, info.tableSize));
    program.steps.push_back(std::move(step));
  }
  return program;
}

void OperandGenerator::changeAttr(EntryDraft &draft, unsigned index) {
  const AttrInfo &info = draft.info->attrs[index];
  AttrValue &value = draft.attrs[index];
  switch (info.kind) {
  case AttrKind::Int:
    value = makeInt(draft);
    return;
  case AttrKind::Ints:
    if (draft.info->scalarOp && !draft.operands.empty()) {
      value = makeTable(draft.getType(spec, 0)->getKind(),
                        getScalarOpInfo(*draft.info->scalarOp).tableSize);
      return;
    }
    // Of windows that are in the padding entirely the maximum is -infinity.
    value = info.axes == AxisRole::ImagePads && chance(90) ? makePads()
                                                           : makeInts(draft);
    return;
  case AttrKind::Float: {
    double number = makeFloat(draft);
    // What is added to a divisor: one that is 0 or negative tells nothing.
    value = draft.info->has(OpTrait::HasPole) && chance(90)
                ? std::fabs(number) + 1e-3
                : number;
    return;
  }
  case AttrKind::Bool:
    value = chance(50);
    return;
  case AttrKind::String:
    value = info.allowed.empty() ? std::string() : pick(info.allowed).str();
    return;
  case AttrKind::Kind:
    value = pickKind();
    return;
  case AttrKind::Program:
    value = makeProgram(draft);
    return;
  case AttrKind::Body:  // a spec makes them (GraphSpec.h)
  case AttrKind::Types: // calls of functions, which there are none of
  case AttrKind::Values:
  case AttrKind::Custom: // of a back end's instructions
    return;
  }
}

void OperandGenerator::changeAttr(EntryDraft &draft, unsigned index,
                                  const RefusalHint &hint) {
  changeAttr(draft, index);
  if (auto *ints = std::get_if<std::vector<int64_t>>(&draft.attrs[index]);
      ints && hint.numValues)
    ints->resize(*hint.numValues, 1);
}
