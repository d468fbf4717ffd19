//===- Predicates.cpp - Predicates of random graphs -----------------------===//

#include "Predicates.h"
#include "glowish/Ops/Predicate.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Random.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- What needs a value -------------------------------------------------===//

namespace {

/// Operand `operand` of entry `user`.
struct Reader {
  int user;
  unsigned operand;
};

} // namespace

/// The operands that are results of \p entry; none if something else needs one,
/// an output or a node as its predicate.
static std::optional<std::vector<Reader>> findReaders(const GraphSpec &spec,
                                                      int entry) {
  for (const Output &output : spec.outputs)
    if (output.value.entry == entry)
      return std::nullopt;
  std::vector<Reader> readers;
  for (auto [user, each] : llvm::enumerate(spec.entries)) {
    if (each.predicate.entry == entry)
      return std::nullopt;
    for (auto [operand, value] : llvm::enumerate(each.operands))
      if (value.entry == entry)
        readers.push_back({int(user), unsigned(operand)});
  }
  return readers;
}

/// How many leading dimensions of \p shape \p predicate has a bool for.
static unsigned countRowDims(const Type &predicate, DimsRef shape) {
  int64_t rows = 1;
  unsigned dims = 0;
  while (predicate.getRank() != 0 && rows != predicate.getDim(0))
    rows *= shape[dims++];
  return dims;
}

/// Whether \p entry computes each row that \p predicate has a bool for of the
/// same row of operand \p operand.
static bool keepsRows(const GraphSpec &spec, const Entry &entry,
                      unsigned operand, const Type &predicate) {
  if (predicate.getRank() == 0)
    return true;
  const OpInfo &info = getNodeInfo(entry.kind);
  if (!info.followAxis || entry.types.size() != 1)
    return false;
  llvm::SmallVector<const Type *, 4> inputs;
  for (ValueRef value : entry.operands)
    inputs.push_back(value ? &spec.getType(value) : nullptr);
  OpView view(info, inputs, {}, entry.attrs);
  const Type &result = entry.types[0];
  if (!isPredicateOf(predicate, inputs[operand]->getShape()))
    return false;
  unsigned numDims = countRowDims(predicate, result.getShape());
  for (unsigned d = 0; d < numDims; ++d) {
    auto axes = info.followAxis(view, result, d);
    if (!axes || !(*axes)[operand] || (*axes)[operand]->dim != d ||
        !(*axes)[operand]->isPointwise() ||
        inputs[operand]->getDim(d) != result.getDim(d))
      return false;
  }
  return true;
}

/// The shape of a mask of \p predicate for values of \p shape.
static Dims getMaskShape(const Type &predicate, DimsRef shape) {
  if (predicate.getRank() == 0)
    return {};
  Dims mask(shape.size(), 1);
  unsigned numDims = countRowDims(predicate, shape);
  std::copy_n(shape.begin(), numDims, mask.begin());
  return mask;
}

/// Whether \p select takes its operand where \p predicate is true alone.
static bool isMasked(const GraphSpec &spec, const Entry &select,
                     ValueRef predicate) {
  ValueRef condition = select.operands[SelectNode::conditionIdx];
  DimsRef shape = spec.getType(select.operands[SelectNode::xIdx]).getShape();
  if (select.types[0].getShape() != shape)
    return false;
  const Entry &mask = spec.entries[condition.entry];
  if (mask.kind == NodeKind::Reshape)
    condition = mask.operands[0];
  return condition == predicate &&
         mask.types[0].getShape() ==
             DimsRef(getMaskShape(spec.getType(predicate), shape));
}

/// Whether \p reader needs the rows of \p predicate alone.
static bool heeds(const GraphSpec &spec, const Reader &reader,
                  ValueRef predicate) {
  const Entry &user = spec.entries[reader.user];
  if (user.kind == NodeKind::Select && reader.operand == SelectNode::xIdx &&
      isMasked(spec, user, predicate))
    return true;
  return user.predicate == predicate &&
         keepsRows(spec, user, reader.operand, spec.getType(predicate));
}

llvm::Error fuzz::checkPredicates(const GraphSpec &spec) {
  for (auto [i, entry] : llvm::enumerate(spec.entries)) {
    if (!entry.predicate)
      continue;
    auto readers = findReaders(spec, int(i));
    if (!readers || !llvm::all_of(*readers, [&](const Reader &reader) {
          return heeds(spec, reader, entry.predicate);
        }))
      return makeError("rows that a predicate leaves out are needed");
  }
  return llvm::Error::success();
}

//===- New predicates -----------------------------------------------------===//

namespace {

class PredicateAdder {
public:
  PredicateAdder(GraphSpec &spec, uint64_t seed) : spec(spec), random(seed) {}
  void run();

private:
  bool chance(unsigned percent) { return random.below(100) < percent; }
  void insert(int index, Entry entry);
  bool canBegin(const Entry &entry) const;
  Type pickType(DimsRef shape);
  ValueRef pickPredicate(int before, const Type &type);
  void begin(int index);
  void extend(int index);

  GraphSpec &spec;
  Random random;
  unsigned nextName = 9000;
};

} // namespace

/// Inserts \p entry in front of entry \p index.
void PredicateAdder::insert(int index, Entry entry) {
  auto shift = [&](ValueRef &value) {
    if (value.entry >= index)
      ++value.entry;
  };
  for (Entry &each : spec.entries) {
    for (ValueRef &operand : each.operands)
      shift(operand);
    shift(each.predicate);
  }
  for (Output &output : spec.outputs) {
    shift(output.value);
    output.state += output.state >= index;
  }
  spec.entries.insert(spec.entries.begin() + index, std::move(entry));
}

bool PredicateAdder::canBegin(const Entry &entry) const {
  return !entry.isStorage() && !entry.predicate && entry.types.size() == 1 &&
         takesPredicate(getNodeInfo(entry.kind)) &&
         !entry.types[0].isQuantized() && entry.types[0].getNumElements() > 0 &&
         !isLowPrecisionKind(entry.types[0].getKind());
}

/// bool<>, or a bool for each index of one or more leading dimensions.
Type PredicateAdder::pickType(DimsRef shape) {
  if (shape.empty() || chance(25))
    return Type(ElemKind::Bool, {});
  int64_t rows = 1;
  unsigned numDims = chance(70) ? 1 : 1 + unsigned(random.below(shape.size()));
  for (int64_t extent : shape.take_front(numDims))
    rows *= extent;
  return Type(ElemKind::Bool, {rows});
}

/// A value of \p type in front of entry \p before, or a new input.
ValueRef PredicateAdder::pickPredicate(int before, const Type &type) {
  for (int i = 0; i < before && chance(70); ++i)
    if (spec.entries[i].types.size() == 1 && spec.entries[i].types[0] == type &&
        !spec.entries[i].predicate)
      return {i, 0};
  Entry input;
  input.types = {type};
  input.name = "whole" + std::to_string(nextName++);
  insert(0, std::move(input));
  return {0, 0};
}

/// Puts a Select behind entry \p index, and gives it the predicate.
void PredicateAdder::begin(int index) {
  Type result = spec.entries[index].types[0];
  size_t numBefore = spec.entries.size();
  ValueRef predicate = pickPredicate(index, pickType(result.getShape()));
  index += int(spec.entries.size() - numBefore);
  const Type type = spec.getType(predicate);

  Entry zero;
  zero.kind = NodeKind::Splat;
  zero.attrs = {result.getKind(), std::vector<int64_t>(), 0.0};
  zero.types = {Type(result.getKind(), {})};
  insert(index, std::move(zero));
  ValueRef zeros = {index++, 0};
  ValueRef condition = predicate;
  if (Dims shape = getMaskShape(type, result.getShape());
      shape.size() != type.getRank()) {
    Entry mask;
    mask.kind = NodeKind::Reshape;
    mask.operands = {predicate};
    mask.attrs = {std::vector<int64_t>(shape.begin(), shape.end())};
    mask.types = {Type(ElemKind::Bool, shape)};
    insert(index, std::move(mask));
    condition = {index++, 0};
  }
  Entry select;
  select.kind = NodeKind::Select;
  select.operands = {condition, {index, 0}, zeros};
  select.attrs = getDefaultAttrs(getNodeInfo(NodeKind::Select));
  select.types = {result};
  insert(index + 1, std::move(select));
  for (auto [i, entry] : llvm::enumerate(spec.entries))
    if (int(i) > index + 1)
      for (ValueRef &operand : entry.operands)
        if (operand.entry == index)
          operand.entry = index + 1;
  for (Output &output : spec.outputs)
    if (output.value.entry == index)
      output.value.entry = index + 1;
  spec.entries[index].predicate = predicate;
  extend(index);
}

/// Gives the predicate of entry \p index to entries in front of it.
void PredicateAdder::extend(int index) {
  ValueRef predicate = spec.entries[index].predicate;
  for (ValueRef operand : spec.entries[index].operands) {
    if (!operand || operand.entry <= predicate.entry)
      continue;
    Entry &source = spec.entries[operand.entry];
    if (!canBegin(source) || source.kind == NodeKind::Select || chance(20) ||
        !isPredicateOf(spec.getType(predicate), source.types[0].getShape()))
      continue;
    auto readers = findReaders(spec, operand.entry);
    if (!readers || !llvm::all_of(*readers, [&](const Reader &reader) {
          return heeds(spec, reader, predicate);
        }))
      continue;
    source.predicate = predicate;
    extend(operand.entry);
  }
}

void PredicateAdder::run() {
  constexpr unsigned mostSelects = 3;
  for (unsigned count = 1 + unsigned(random.below(mostSelects)); count > 0;
       --count) {
    std::vector<int> found;
    for (auto [i, entry] : llvm::enumerate(spec.entries))
      if (canBegin(entry) && entry.kind != NodeKind::Select)
        found.push_back(int(i));
    if (found.empty())
      return;
    begin(found[random.below(found.size())]);
  }
}

void fuzz::addPredicates(GraphSpec &spec, uint64_t seed) {
  PredicateAdder(spec, seed).run();
}
