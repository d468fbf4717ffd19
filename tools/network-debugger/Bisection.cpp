//===- Bisection.cpp - Bisects for the first divergence -------------------===//

#include "network-debugger/Bisection.h"
#include "glowish/Graph/Nodes.h"
#include <map>
#include <set>

using namespace glowish;

namespace {

/// A value of the reference that inputs have a part in.
struct Value {
  ValueName name;
  /// The positions of its node and of its last user.
  size_t position, lastUse;
};

/// A network as a sequence of nodes, and the places where it can be cut.
class Sequence {
public:
  /// The nodes and values of \p reference; it is cut where all values there
  /// are in \p tested.
  Sequence(Function &reference, Function &tested);

  size_t getNumCuts() const { return cuts.size(); }
  /// The cut without results.
  Cut getCut(size_t index) const {
    return {nodes[cuts[index]].first, nodes[cuts[index]].second, {}};
  }
  /// The values at a cut, in the order of their nodes.
  std::vector<ValueName> getValues(size_t index) const;
  const std::string &getKind(const ValueName &name) const {
    return kinds.at(name.node);
  }

private:
  void addValues(Function &function);
  void findCuts(const std::map<ValueName, Type> &known,
                const std::map<ValueName, Type> &own);

  /// Names and operators.
  std::vector<std::pair<std::string, std::string>> nodes;
  std::map<std::string, std::string> kinds;
  std::vector<Value> values;
  /// Positions of the last nodes before them.
  std::vector<size_t> cuts;
};

} // namespace

static std::map<ValueName, Type> findTypes(Function &function) {
  std::map<ValueName, Type> types;
  for (Node &node : function.getNodes())
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      types[getName(node.getResult(i))] = node.getType(i);
  return types;
}

Sequence::Sequence(Function &reference, Function &tested) {
  addValues(reference);
  findCuts(findTypes(tested), findTypes(reference));
}

void Sequence::addValues(Function &function) {
  llvm::DenseSet<NodeValue> constants = findConstantValues(function);
  llvm::DenseMap<const Node *, size_t> positions;
  for (Node &node : function.getNodes()) {
    if (llvm::isa<SaveNode>(node))
      continue;
    positions[&node] = nodes.size();
    nodes.push_back({node.getName().str(), node.getKindName().str()});
    kinds.insert(nodes.back());
  }
  llvm::DenseMap<NodeValue, size_t> lastUses;
  for (Node &node : function.getNodes()) {
    for (const Use &use : node.uses()) {
      size_t &lastUse = lastUses[use.get()];
      auto user = positions.find(use.getUser());
      // A Save is an output: of use to the end.
      lastUse = std::max(lastUse,
                         user == positions.end() ? nodes.size() : user->second);
    }
    for (unsigned i = 0; i < node.getNumResults(); ++i)
      if (NodeValue value = node.getResult(i);
          !constants.count(value) && lastUses.count(value))
        values.push_back(
            {getName(value), positions.lookup(&node), lastUses[value]});
  }
}

void Sequence::findCuts(const std::map<ValueName, Type> &known,
                        const std::map<ValueName, Type> &own) {
  // Of the values at a cut: what each node adds, how many there are, and how
  // many of them are unknown to the other side.
  std::vector<int64_t> numValues(nodes.size() + 1), numUnknown(numValues);
  for (const Value &value : values) {
    auto found = known.find(value.name);
    bool isKnown = found != known.end() && found->second == own.at(value.name);
    ++numValues[value.position];
    --numValues[value.lastUse];
    numUnknown[value.position] += !isKnown;
    numUnknown[value.lastUse] -= !isKnown;
  }
  int64_t count = 0, unknown = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    count += numValues[i];
    unknown += numUnknown[i];
    if (count && !unknown)
      cuts.push_back(i);
  }
}

std::vector<ValueName> Sequence::getValues(size_t index) const {
  std::vector<ValueName> found;
  for (const Value &value : values)
    if (value.position <= cuts[index] && cuts[index] < value.lastUse)
      found.push_back(value.name);
  return found;
}

//===- Looking at a cut ---------------------------------------------------===//

namespace {

/// A cut, and the first value that is bad there.
struct Probe {
  Cut cut;
  std::optional<LayerResult> first;
  Tensor expected, actual;
};

} // namespace

/// The network of \p side up to the values \p wanted.
static llvm::Expected<std::unique_ptr<InnerRun>>
compileUpTo(const Side &side, const std::set<ValueName> &wanted) {
  GLOWISH_ASSIGN_OR_RETURN(ImportedSide imported, importSide(side));
  eraseSaves(imported.graph.getFunction());
  return InnerRun::create(std::move(imported), [&](NodeValue value) {
    return wanted.count(getName(value)) > 0;
  });
}

static std::map<ValueName, Tensor> getTensors(const InnerRun &run) {
  std::map<ValueName, Tensor> tensors;
  for (auto [i, name] : llvm::enumerate(run.getNames()))
    tensors[name] = run.getTensor(i);
  return tensors;
}

static llvm::Expected<Probe> probe(const Side &reference, const Side &tested,
                                   const Sequence &sequence, size_t index,
                                   const ComparisonOptions &options) {
  std::vector<ValueName> names = sequence.getValues(index);
  std::set<ValueName> wanted(names.begin(), names.end());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<InnerRun> own,
                           compileUpTo(reference, wanted));
  GLOWISH_RETURN_IF_ERROR(options.fillInputs(own->getSession()));
  GLOWISH_RETURN_IF_ERROR(own->getSession().run());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<InnerRun> other,
                           compileUpTo(tested, wanted));
  GLOWISH_RETURN_IF_ERROR(other->getSession().copyInputs(own->getSession()));
  GLOWISH_RETURN_IF_ERROR(other->getSession().run());
  std::map<ValueName, Tensor> expected = getTensors(*own);
  std::map<ValueName, Tensor> actual = getTensors(*other);
  Probe result;
  result.cut = sequence.getCut(index);
  for (const ValueName &name : names) {
    result.cut.results.push_back(makeLayerResult(
        name, sequence.getKind(name), expected[name], actual[name], options));
    if (!result.cut.results.back().isBad || result.first)
      continue;
    result.first = result.cut.results.back();
    result.expected = expected[name].clone();
    result.actual = actual[name].clone();
  }
  return result;
}

static llvm::Expected<Sequence> makeSequence(const Side &reference,
                                             const Side &tested) {
  GLOWISH_ASSIGN_OR_RETURN(ImportedSide own, importSide(reference));
  GLOWISH_ASSIGN_OR_RETURN(ImportedSide other, importSide(tested));
  return Sequence(own.graph.getFunction(), other.graph.getFunction());
}

llvm::Expected<std::optional<LayerResult>>
glowish::bisectLayers(const Side &reference, const Side &tested,
                      const ComparisonOptions &options,
                      llvm::function_ref<void(const Cut &)> onCut) {
  GLOWISH_ASSIGN_OR_RETURN(Sequence sequence, makeSequence(reference, tested));
  if (!sequence.getNumCuts())
    return makeNothingInCommonError();
  // The warnings of the importer have been printed.
  Side quietReference = reference, quietTested = tested;
  quietReference.importOptions.isRepeated = true;
  quietTested.importOptions.isRepeated = true;
  // All cuts before `low` agree, `high` is bad.
  size_t low = 0, high = sequence.getNumCuts() - 1;
  GLOWISH_ASSIGN_OR_RETURN(
      Probe bad, probe(quietReference, quietTested, sequence, high, options));
  onCut(bad.cut);
  if (!bad.first)
    return std::nullopt;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    GLOWISH_ASSIGN_OR_RETURN(Probe next, probe(quietReference, quietTested,
                                               sequence, middle, options));
    onCut(next.cut);
    if (next.first) {
      high = middle;
      bad = std::move(next);
    } else {
      low = middle + 1;
    }
  }
  if (options.visit)
    GLOWISH_RETURN_IF_ERROR(
        options.visit(*bad.first, bad.expected, bad.actual));
  return bad.first;
}
