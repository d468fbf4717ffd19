//===- Generator.cpp - Random graphs from the records ---------------------===//

#include "Generator.h"
#include "Proposals.h"
#include "Values.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed), proposals(plan, random) {}

  Plan make(unsigned maxNodes);

private:
  bool chance(unsigned percent) { return random.below(100) < percent; }
  NodeKind pickKind();
  void changeWhatIsWrong(EntryDraft &draft, llvm::StringRef refusal);
  bool isSmall(const Entry &entry) const;
  bool isTrivial(const Entry &entry) const;
  bool tryAddNode(NodeKind kind);
  Entry makeStorage(const OpInfo &info, unsigned operand, const Type &type);
  int pickState(ValueRef value);
  void pickOutputs();

  Random random;
  Plan plan;
  Proposals proposals;
  unsigned nextName = 0;
};

} // namespace

llvm::ArrayRef<NodeKind> fuzz::getGeneratedKinds() {
  static const std::vector<NodeKind> kinds = [] {
    std::vector<NodeKind> kinds;
    for (auto [i, info] : llvm::enumerate(getNodeTable()))
      if (!info.results.empty())
        kinds.push_back(NodeKind(i));
    return kinds;
  }();
  return kinds;
}

/// Element-wise operators are many and alike: they are four of ten nodes.
NodeKind Generator::pickKind() {
  bool wantsElementWise = chance(40);
  for (;;) {
    llvm::ArrayRef<NodeKind> kinds = getGeneratedKinds();
    NodeKind kind = kinds[random.below(kinds.size())];
    if (getNodeInfo(kind).scalarOp.has_value() == wantsElementWise)
      return kind;
  }
}

/// The operand or attribute that \p refusal names, mostly; the fault may be
/// that of what it is compared with.
void Generator::changeWhatIsWrong(EntryDraft &draft, llvm::StringRef refusal) {
  const OpInfo &info = *draft.info;
  if (info.isVariadic() && chance(10))
    return proposals.changeCount(draft);
  if (chance(70)) {
    for (auto [i, attr] : llvm::enumerate(info.attrs))
      if (refusal.contains(("attribute '" + attr.name + "'").str()))
        return proposals.changeAttr(draft, i);
    for (unsigned i = 0; i < draft.operands.size(); ++i) {
      const OperandInfo &operand = info.getOperandInfo(i);
      std::string name = operand.name.str();
      if (operand.isVariadic)
        name += "[" + std::to_string(i + 1 - info.operands.size()) + "]";
      // Often an attribute does not fit to it.
      if (refusal.contains("operand '" + name + "'") &&
          (draft.attrs.empty() || chance(50)))
        return proposals.changeOperand(draft, i);
    }
  }
  unsigned count = draft.operands.size() + draft.attrs.size();
  if (count == 0)
    return;
  unsigned which = random.below(count);
  if (which < draft.operands.size())
    proposals.changeOperand(draft, which);
  else
    proposals.changeAttr(draft, which - draft.operands.size());
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
    inputs.push_back(operand ? &plan.getType(operand) : nullptr);
    if (operand && inputs.back()->getNumElements() > maxElements)
      return false;
  }
  if (!info.countMultiplyAdds || entry.types[0].getNumElements() == 0)
    return true;
  return info.countMultiplyAdds(OpView(info, inputs, {}, entry.attrs)) *
             entry.types[0].getNumElements() <=
         maxMultiplyAdds;
}

Entry Generator::makeStorage(const OpInfo &info, unsigned operand,
                             const Type &type) {
  static const char *const names[] = {"unit",     "unit",  "unit",  "unit",
                                      "positive", "whole", "whole", "wide"};
  Entry entry;
  entry.kind = chance(operand == 0 ? 8 : 35) ? NodeKind::Constant
                                             : NodeKind::Placeholder;
  entry.types = {type};
  entry.name = names[random.below(std::size(names))];
  if (chance(3))
    entry.name = "special";
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
      inputs.push_back(plan.getType(operand));
  int64_t results = getLargest(entry.types);
  return results == 0 || (results < 4 && getLargest(inputs) > results) ||
         (results == 1 && entry.operands.empty());
}

bool Generator::tryAddNode(NodeKind kind) {
  constexpr unsigned numStarts = 25, numChanges = 60;
  const OpInfo &info = getNodeInfo(kind);
  for (unsigned start = 0; start < numStarts; ++start) {
    EntryDraft draft = proposals.start(info);
    for (unsigned change = 0; change < numChanges; ++change) {
      // Storage is added to the plan to see whether the node fits, and taken
      // out again.
      size_t numBefore = plan.entries.size();
      Entry entry;
      entry.kind = kind;
      entry.attrs = draft.attrs;
      for (auto [i, operand] : llvm::enumerate(draft.operands)) {
        if (operand.storage) {
          plan.entries.push_back(makeStorage(info, i, *operand.storage));
          entry.operands.push_back({int(plan.entries.size()) - 1, 0});
        } else {
          entry.operands.push_back(operand.existing);
        }
      }
      llvm::Expected<TypeList> types = inferEntry(plan, entry);
      if (types) {
        entry.types = *types;
        // Those are the easiest to find.
        if (isSmall(entry) && (!isTrivial(entry) || chance(15))) {
          plan.entries.push_back(std::move(entry));
          return true;
        }
      }
      plan.entries.resize(numBefore);
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
  for (auto [i, entry] : llvm::enumerate(plan.entries))
    if (entry.kind == NodeKind::Placeholder &&
        entry.types[0] == plan.getType(value))
      states.push_back(int(i));
  return states.empty() || !chance(20) ? -1
                                       : states[random.below(states.size())];
}

/// What nobody reads, and now and then what others read too, or an input.
void Generator::pickOutputs() {
  std::vector<bool> used(plan.entries.size());
  for (const Entry &entry : plan.entries)
    for (ValueRef operand : entry.operands)
      if (operand)
        used[operand.entry] = true;
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const Entry &entry = plan.entries[i];
    if (used[i] && !chance(entry.isStorage() ? 1 : 10))
      continue;
    for (unsigned result = 0; result < entry.types.size(); ++result) {
      ValueRef value = {int(i), result};
      plan.outputs.push_back({value, pickState(value)});
      if (chance(3))
        plan.outputs.push_back({value});
    }
  }
}

Plan Generator::make(unsigned maxNodes) {
  unsigned wanted = 1 + random.below(maxNodes);
  for (unsigned count = 0; count < wanted;)
    count += tryAddNode(pickKind());
  pickOutputs();
  plan.dropUnused();
  return std::move(plan);
}

Plan fuzz::makePlan(uint64_t seed, unsigned maxNodes) {
  return Generator(seed).make(maxNodes);
}
