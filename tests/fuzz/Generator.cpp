//===- Generator.cpp - Random graphs from the records ---------------------===//

#include "Generator.h"
#include "OperandGenerator.h"
#include "Values.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

/// Makes a graph, or a body of a node of one.
class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed), generator(spec, random) {}
  /// Starts a body, inside \p depth - 1 others: \p parameters and nodes.
  Generator(uint64_t seed, unsigned depth, const TypeList &parameters);
  Generator(const Generator &) = delete;

  GraphSpec make(unsigned maxNodes);

private:
  void addNodes(unsigned maxNodes);
  bool chance(unsigned percent) { return random.below(100) < percent; }
  NodeKind pickKind();
  void changeWhatIsWrong(EntryDraft &draft, llvm::StringRef refusal);
  bool isSmall(const Entry &entry) const;
  bool isTrivial(const Entry &entry) const;
  bool tryAddNode(NodeKind kind);
  Entry makeStorage(const OpInfo &info, unsigned operand, const Type &type);
  ValueRef add(Entry entry);
  bool addInferred(Entry entry);

  bool tryAddControl(NodeKind kind);
  bool fillIf(Entry &entry);
  bool fillLoop(Entry &entry);
  ValueRef limitTrips(ValueRef trips, int64_t most);
  bool addBranches(Entry &entry);
  void pickCaptures(Entry &entry, unsigned most);
  ValueRef pickScalar(ElemKind kind);
  ValueRef makeComparison(ValueRef lhs, ElemKind kind);
  ValueRef findValue(const Type &type);
  ValueRef makeValue(const Type &type);
  ValueRef makeNext(ValueRef state);
  int pickState(ValueRef value);
  void pickOutputs();

  Random random;
  GraphSpec spec;
  OperandGenerator generator;
  unsigned nextName = 0;
  unsigned depth = 0;
};

} // namespace

llvm::ArrayRef<NodeKind> fuzz::getGeneratedKinds() {
  static const std::vector<NodeKind> kinds = [] {
    std::vector<NodeKind> kinds;
    for (auto [i, info] : llvm::enumerate(getNodeTable()))
      // What collective operators call is in the process of the fuzzer, but
      // not on other machines. No type has extents that a node could state.
      if ((!info.results.empty() || info.hasBodies()) &&
          !info.has(OpTrait::Collective) && !info.has(OpTrait::StatesExtents))
        kinds.push_back(NodeKind(i));
    return kinds;
  }();
  return kinds;
}

/// Element-wise operators of two operands.
static llvm::ArrayRef<NodeKind> getBinaryKinds() {
  static const std::vector<NodeKind> kinds = [] {
    std::vector<NodeKind> kinds;
    for (NodeKind kind : getGeneratedKinds())
      if (const OpInfo &info = getNodeInfo(kind);
          info.scalarOp && info.operands.size() == 2)
        kinds.push_back(kind);
    return kinds;
  }();
  return kinds;
}

/// Element-wise operators are many and alike: they are four of ten nodes.
NodeKind Generator::pickKind() {
  constexpr unsigned deepest = 2;
  bool wantsElementWise = chance(40);
  for (;;) {
    llvm::ArrayRef<NodeKind> kinds = getGeneratedKinds();
    NodeKind kind = kinds[random.below(kinds.size())];
    const OpInfo &info = getNodeInfo(kind);
    if (info.scalarOp.has_value() == wantsElementWise &&
        (!info.hasBodies() || depth < deepest))
      return kind;
  }
}

/// The operand or attribute that \p refusal names, mostly; the fault may be
/// that of what it is compared with.
void Generator::changeWhatIsWrong(EntryDraft &draft, llvm::StringRef refusal) {
  const OpInfo &info = *draft.info;
  if (info.isVariadic() && chance(10))
    return generator.changeCount(draft);
  if (chance(70)) {
    RefusalHint hint = readHint(refusal);
    for (auto [i, attr] : llvm::enumerate(info.attrs))
      if (refusal.contains(("attribute '" + attr.name + "'").str()))
        return generator.changeAttr(draft, i, hint);
    for (unsigned i = 0; i < draft.operands.size(); ++i) {
      const OperandInfo &operand = info.getOperandInfo(i);
      std::string name = operand.name.str();
      if (operand.isVariadic)
        name += "[" + std::to_string(i + 1 - info.operands.size()) + "]";
      // Often an attribute does not fit to it.
      if (refusal.contains("operand '" + name + "'") &&
          (draft.attrs.empty() || chance(50))) {
        if (!chance(70) || !generator.changeToExpected(draft, i, hint))
          generator.changeOperand(draft, i);
        return;
      }
    }
  }
  unsigned count = draft.operands.size() + draft.attrs.size();
  if (count == 0)
    return;
  unsigned which = random.below(count);
  if (which < draft.operands.size())
    generator.changeOperand(draft, which);
  else
    generator.changeAttr(draft, which - draft.operands.size());
}

/// Interpreting it takes well under a second.
bool Generator::isSmall(const Entry &entry) const {
  constexpr int64_t maxElements = 6000, maxMultiplyAdds = 300000;
  for (const Type &type : entry.types)
    if (type.getNumElements() > maxElements)
      return false;
  const OpInfo &info = getNodeInfo(entry.kind);
  llvm::SmallVector<const Type *, 4> inputs;
  for (ValueRef operand : entry.operands) {
    inputs.push_back(operand ? &spec.getType(operand) : nullptr);
    if (!operand)
      continue;
    bool isConstantOfBody =
        depth > 0 && spec.entries[operand.entry].kind == NodeKind::Constant;
    if (inputs.back()->getNumElements() >
        (isConstantOfBody ? mostPrinted : maxElements))
      return false;
  }
  if (!info.countMultiplyAdds || entry.types[0].getNumElements() == 0)
    return true;
  return info.countMultiplyAdds(OpView(info, inputs, {}, entry.attrs)) *
             entry.types[0].getNumElements() <=
         maxMultiplyAdds;
}

/// Whether \p info is a function that is not defined for all numbers.
static const ScalarOpInfo *getPartialFunction(const OpInfo &info) {
  if (!info.scalarOp)
    return nullptr;
  const ScalarOpInfo &scalar = getScalarOpInfo(*info.scalarOp);
  return std::isfinite(scalar.domainLow) || std::isfinite(scalar.domainHigh)
             ? &scalar
             : nullptr;
}

static bool isDivisor(const OpInfo &info, unsigned operand) {
  return info.scalarOp && getScalarOpInfo(*info.scalarOp).hasPole &&
         operand + 1 == info.operands.size();
}

Entry Generator::makeStorage(const OpInfo &info, unsigned operand,
                             const Type &type) {
  static const char *const names[] = {"unit",     "unit",  "unit",  "unit",
                                      "positive", "whole", "whole", "wide"};
  Entry entry;
  entry.kind = depth > 0 || chance(operand == 0 ? 8 : 35)
                   ? NodeKind::Constant
                   : NodeKind::Placeholder;
  entry.types = {type};
  entry.name = names[random.below(std::size(names))];
  // Few elements tell as much, and what sums are over is not compared.
  constexpr int64_t mostSpecial = 64;
  if (type.getNumElements() <= mostSpecial && chance(1))
    entry.name = "special";
  // Infinities and NaN, mostly: they tell nothing.
  else if (const ScalarOpInfo *function = getPartialFunction(info);
           function && chance(97))
    entry.name = function->domainLow >= 1   ? "large"
                 : function->domainLow >= 0 ? "positive"
                                            : "unit";
  else if (isDivisor(info, operand) && chance(80))
    entry.name = "positive";
  // A negative one has no square root, and NaN everywhere tells nothing.
  if (info.getOperandInfo(operand).name == "variance")
    entry.name = "positive";
  entry.name += std::to_string(++nextName);
  return entry;
}

/// A scalar, or nothing, of operands that have more to tell.
bool Generator::isTrivial(const Entry &entry) const {
  auto getLargest = [](auto &&types) {
    int64_t largest = 0;
    for (const Type &type : types)
      largest = std::max(largest, type.getNumElements());
    return largest;
  };
  TypeList inputs;
  for (ValueRef operand : entry.operands)
    if (operand)
      inputs.push_back(spec.getType(operand));
  int64_t results = getLargest(entry.types);
  return results == 0 || (results < 4 && getLargest(inputs) > results) ||
         (results == 1 && entry.operands.empty());
}

/// Whether a function that is not defined for all numbers has an operand that
/// is a result.
static bool mayLeaveDomain(const EntryDraft &draft) {
  return getPartialFunction(*draft.info) &&
         llvm::any_of(draft.operands, [](const OperandDraft &operand) {
           return operand.existing && !operand.storage;
         });
}

bool Generator::tryAddNode(NodeKind kind) {
  constexpr unsigned numStarts = 50, numChanges = 60;
  const OpInfo &info = getNodeInfo(kind);
  if (info.hasBodies())
    return tryAddControl(kind);
  for (unsigned start = 0; start < numStarts; ++start) {
    EntryDraft draft = generator.start(info);
    for (unsigned change = 0; change < numChanges; ++change) {
      // Storage is added to the spec to see whether the node fits, and taken
      // out again.
      size_t numBefore = spec.entries.size();
      Entry entry;
      entry.kind = kind;
      entry.attrs = draft.attrs;
      for (auto [i, operand] : llvm::enumerate(draft.operands)) {
        if (operand.storage) {
          spec.entries.push_back(makeStorage(info, i, *operand.storage));
          entry.operands.push_back({int(spec.entries.size()) - 1, 0});
        } else {
          entry.operands.push_back(operand.existing);
        }
      }
      llvm::Expected<TypeList> types = inferEntry(spec, entry);
      if (types) {
        entry.types = *types;
        // Those are the easiest to find.
        if (isSmall(entry) && (!isTrivial(entry) || chance(3)) &&
            (!mayLeaveDomain(draft) || chance(20))) {
          spec.entries.push_back(std::move(entry));
          return true;
        }
      }
      spec.entries.resize(numBefore);
      if (types)
        break;
      changeWhatIsWrong(draft, llvm::toString(types.takeError()));
    }
  }
  return false;
}

/// An input that \p value could be the next state of.
int Generator::pickState(ValueRef value) {
  std::vector<int> states;
  for (auto [i, entry] : llvm::enumerate(spec.entries))
    if (entry.kind == NodeKind::Placeholder &&
        entry.types[0] == spec.getType(value))
      states.push_back(int(i));
  return states.empty() || !chance(20) ? -1
                                       : states[random.below(states.size())];
}

/// Values that have no uses, and now and then some that have, or an input.
void Generator::pickOutputs() {
  std::vector<bool> used(spec.entries.size());
  for (const Entry &entry : spec.entries)
    for (ValueRef operand : entry.operands)
      if (operand)
        used[operand.entry] = true;
  for (size_t i = 0; i < spec.entries.size(); ++i) {
    const Entry &entry = spec.entries[i];
    if (used[i] && !chance(entry.isStorage() ? 1 : 10))
      continue;
    for (unsigned result = 0; result < entry.types.size(); ++result) {
      ValueRef value = {int(i), result};
      spec.outputs.push_back({value, pickState(value)});
      if (chance(3))
        spec.outputs.push_back({value});
    }
  }
}

void Generator::addNodes(unsigned maxNodes) {
  unsigned wanted = 1 + random.below(maxNodes);
  for (unsigned count = 0; count < wanted;)
    count += tryAddNode(pickKind());
}

GraphSpec Generator::make(unsigned maxNodes) {
  addNodes(maxNodes);
  pickOutputs();
  spec.dropUnused();
  return std::move(spec);
}

//===- Control flow -------------------------------------------------------===//

Generator::Generator(uint64_t seed, unsigned depth, const TypeList &parameters)
    : random(seed), generator(spec, random), depth(depth) {
  spec.numParameters = parameters.size();
  for (const Type &type : parameters) {
    Entry entry;
    entry.types = {type};
    entry.name = "parameter";
    spec.entries.push_back(std::move(entry));
  }
  constexpr unsigned maxNodes = 3;
  addNodes(maxNodes);
}

ValueRef Generator::add(Entry entry) {
  spec.entries.push_back(std::move(entry));
  return {int(spec.entries.size()) - 1, 0};
}

/// Adds \p entry if it is well-typed.
bool Generator::addInferred(Entry entry) {
  llvm::Expected<TypeList> types = inferEntry(spec, entry);
  if (!types) {
    llvm::consumeError(types.takeError());
    return false;
  }
  entry.types = *types;
  if (!isSmall(entry))
    return false;
  add(std::move(entry));
  return true;
}

/// A value of \p type that is there, or none.
ValueRef Generator::findValue(const Type &type) {
  std::vector<ValueRef> found;
  for (int i = 0; i < int(spec.entries.size()); ++i)
    for (unsigned r = 0; r < spec.entries[i].types.size(); ++r)
      if (spec.entries[i].types[r] == type)
        found.push_back({i, r});
  return found.empty() ? ValueRef() : found[random.below(found.size())];
}

/// lhs < some input or constant, both scalars of \p kind.
ValueRef Generator::makeComparison(ValueRef lhs, ElemKind kind) {
  Entry less;
  less.kind = NodeKind::Less;
  const OpInfo &info = getNodeInfo(less.kind);
  Type type(kind, {});
  less.operands = {lhs, add(makeStorage(info, 1, type))};
  less.attrs = getDefaultAttrs(info);
  less.types = {Type(ElemKind::Bool, {})};
  return add(std::move(less));
}

/// Decides or counts: an input, a comparison, a constant, or a scalar that is
/// there.
ValueRef Generator::pickScalar(ElemKind kind) {
  const OpInfo &info = getNodeInfo(NodeKind::Less);
  if (ValueRef found = findValue(Type(kind, {})); found && chance(40))
    return found;
  if (kind == ElemKind::Bool && chance(50)) {
    ValueRef lhs = findValue(Type(ElemKind::Float, {}));
    if (!lhs || chance(50))
      lhs = add(makeStorage(info, 0, Type(ElemKind::Float, {})));
    return makeComparison(lhs, ElemKind::Float);
  }
  return add(makeStorage(info, 0, Type(kind, {})));
}

/// Values of any types for a body.
void Generator::pickCaptures(Entry &entry, unsigned most) {
  const OpInfo &info = getNodeInfo(entry.kind);
  unsigned last = info.operands.size() - 1;
  EntryDraft draft = {&info, {}, entry.attrs};
  draft.operands.resize(last);
  for (unsigned count = 1 + random.below(most); count > 0; --count) {
    draft.operands.emplace_back();
    unsigned index = draft.operands.size() - 1;
    generator.changeOperand(draft, index);
    const OperandDraft &operand = draft.operands[index];
    entry.operands.push_back(
        operand.storage ? add(makeStorage(info, index, *operand.storage))
                        : operand.existing);
  }
}

/// A value of \p type, made if there is none.
ValueRef Generator::makeValue(const Type &type) {
  if (ValueRef found = findValue(type))
    return found;
  if (type.getNumElements() <= mostPrinted) {
    Entry constant = makeStorage(getNodeInfo(NodeKind::Neg), 0, type);
    return add(std::move(constant));
  }
  Entry splat;
  splat.kind = NodeKind::Splat;
  DimsRef shape = type.getShape();
  splat.attrs = {type.getKind(),
                 std::vector<int64_t>(shape.begin(), shape.end()),
                 double(random.below(3))};
  if (!addInferred(std::move(splat)))
    return {};
  return {int(spec.entries.size()) - 1, 0};
}

/// The two bodies of an If: the second has results of the types of the first's.
bool Generator::addBranches(Entry &entry) {
  TypeList parameters = getParameters(spec, entry);
  Generator first(random.next(), depth + 1, parameters);
  Generator second(random.next(), depth + 1, parameters);
  for (unsigned count = 1 + random.below(2); count > 0; --count) {
    // Results of nodes, mostly.
    size_t numEntries = first.spec.entries.size();
    size_t index = chance(10) ? random.below(numEntries)
                              : numEntries - 1 - random.below(2);
    const Entry &source = first.spec.entries[index];
    ValueRef value = {int(index), unsigned(random.below(source.types.size()))};
    ValueRef other = second.makeValue(first.spec.getType(value));
    if (!other)
      return false;
    first.spec.outputs.push_back({value});
    second.spec.outputs.push_back({other});
  }
  if (chance(50))
    std::swap(first.spec, second.spec);
  for (Generator *body : {&first, &second}) {
    body->spec.dropUnused();
    entry.bodies.push_back(std::move(body->spec));
  }
  return true;
}

bool Generator::fillIf(Entry &entry) {
  constexpr unsigned mostCaptures = 3;
  entry.operands = {pickScalar(ElemKind::Bool)};
  pickCaptures(entry, mostCaptures);
  return addBranches(entry);
}

/// What \p state is in the next run: made of it, another value, or the same.
ValueRef Generator::makeNext(ValueRef state) {
  Type type = spec.getType(state);
  if (chance(50)) {
    llvm::ArrayRef<NodeKind> kinds = getBinaryKinds();
    Entry step;
    step.kind = kinds[random.below(kinds.size())];
    step.operands = {state, findValue(type)};
    step.attrs = getDefaultAttrs(getNodeInfo(step.kind));
    if (addInferred(std::move(step))) {
      ValueRef result = {int(spec.entries.size()) - 1, 0};
      if (spec.getType(result) == type)
        return result;
    }
  }
  return findValue(type);
}

/// The smaller of \p trips and \p most: a run with more is an error.
ValueRef Generator::limitTrips(ValueRef trips, int64_t most) {
  Entry splat;
  splat.kind = NodeKind::Splat;
  splat.attrs = {ElemKind::Int64, std::vector<int64_t>(), double(most)};
  if (!addInferred(std::move(splat)))
    return {};
  Entry smaller;
  smaller.kind = NodeKind::Min;
  smaller.operands = {trips, {int(spec.entries.size()) - 1, 0}};
  smaller.attrs = getDefaultAttrs(getNodeInfo(smaller.kind));
  if (!addInferred(std::move(smaller)))
    return {};
  return {int(spec.entries.size()) - 1, 0};
}

bool Generator::fillLoop(Entry &entry) {
  constexpr unsigned mostValues = 4, mostScans = 2, mostTrips = 4;
  constexpr int64_t maxScanned = 2000;
  entry.operands = {chance(60) ? pickScalar(ElemKind::Int64) : ValueRef(),
                    chance(40) ? pickScalar(ElemKind::Bool) : ValueRef()};
  pickCaptures(entry, mostValues);
  unsigned numStates = random.below(entry.operands.size() - 1);
  entry.attrs[1] = int64_t(numStates);
  int64_t most = random.below(mostTrips + 1);
  entry.attrs[2] = most;
  if (entry.operands[0])
    entry.operands[0] = limitTrips(entry.operands[0], most);

  Generator body(random.next(), depth + 1, getParameters(spec, entry));
  ValueRef number = {0, 0}, condition = {1, 0};
  if (chance(50))
    condition = chance(50) ? body.makeComparison(number, ElemKind::Int64)
                           : body.pickScalar(ElemKind::Bool);
  std::vector<Output> outputs = {{condition}};
  for (unsigned i = 0; i < numStates; ++i)
    outputs.push_back({body.makeNext({int(2 + i), 0})});
  for (unsigned count = random.below(mostScans + 1); count > 0; --count) {
    size_t index = body.spec.entries.size() - 1 - random.below(3);
    const Entry &source = body.spec.entries[index];
    ValueRef value = {int(index), unsigned(random.below(source.types.size()))};
    if (body.spec.getType(value).getNumElements() <= maxScanned)
      outputs.push_back({value});
  }
  body.spec.outputs = std::move(outputs);
  body.spec.dropUnused();
  entry.bodies.push_back(std::move(body.spec));
  return true;
}

bool Generator::tryAddControl(NodeKind kind) {
  constexpr unsigned numStarts = 5;
  for (unsigned start = 0; start < numStarts; ++start) {
    size_t numBefore = spec.entries.size();
    Entry entry;
    entry.kind = kind;
    entry.attrs = getDefaultAttrs(getNodeInfo(kind));
    bool isFilled = kind == NodeKind::Loop ? fillLoop(entry) : fillIf(entry);
    if (isFilled && addInferred(std::move(entry)))
      return true;
    spec.entries.resize(numBefore);
  }
  return false;
}

GraphSpec fuzz::makePlan(uint64_t seed, unsigned maxNodes) {
  return Generator(seed).make(maxNodes);
}
