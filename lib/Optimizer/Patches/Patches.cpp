//===- Patches.cpp - The first layers in parts, for less memory -----------===//

#include "glowish/Optimizer/Patches.h"
#include "Util/PartialNodes.h"
#include "glowish/Optimizer/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <tuple>

using namespace glowish;

namespace {

/// A function whose nodes have numbers.
class NumberedNodes {
public:
  explicit NumberedNodes(Function &function) {
    for (Node &node : function.getNodes()) {
      numbers[&node] = nodes.size();
      nodes.push_back(&node);
    }
  }
  unsigned size() const { return nodes.size(); }
  Node &operator[](unsigned number) const { return *nodes[number]; }
  /// The number of a node; null for storage.
  std::optional<unsigned> find(const Node *node) const {
    auto found = numbers.find(node);
    if (found == numbers.end())
      return std::nullopt;
    return found->second;
  }

private:
  std::vector<Node *> nodes;
  llvm::DenseMap<const Node *, unsigned> numbers;
};

/// The range of every node that one patch computes.
class Patch {
public:
  Patch(const NumberedNodes &nodes, const PatchPlan &plan) : nodes(nodes) {
    end = plan.end;
    if (plan.begin)
      begin = *plan.begin + 1;
  }

  /// Finds what \p range of the last node need; false where that is not only
  /// range, but all of something.
  bool demand(AxisRange range) {
    needed[end] = range;
    for (unsigned i = end + 1; i-- > begin;) {
      auto found = needed.find(i);
      if (found == needed.end())
        continue;
      std::optional<OperandRanges> operands =
          getOperandRanges(nodes[i], found->second);
      if (!operands)
        return false;
      for (auto [k, operand] : llvm::enumerate(*operands))
        if (!demandOperand(nodes[i], k, operand))
          return false;
    }
    return true;
  }

  /// The range of each node, in the function's order.
  const std::map<unsigned, AxisRange> &getRanges() const { return needed; }

  /// Makes the nodes of the patch; returns that of the last one's.
  NodeValue build(Function &function) {
    llvm::DenseMap<unsigned, NodeValue> made;
    for (auto [i, range] : needed) {
      Node &node = nodes[i];
      OperandRanges wanted = *getOperandRanges(node, range);
      llvm::SmallVector<NodeValue, 4> operands = node.getOperands();
      for (auto [operand, part] : llvm::zip_equal(operands, wanted))
        if (part)
          operand = cut(function, operand, *part, made);
      made[i] =
          function.create(node.getName(), draftPart(node, range, operands))
              ->getResult();
    }
    return made[end];
  }

private:
  /// Whether the patch computes what \p value is.
  std::optional<unsigned> findInside(NodeValue value) const {
    std::optional<unsigned> number = nodes.find(value.node);
    if (number && *number < begin)
      return std::nullopt;
    return number;
  }

  bool demandOperand(const Node &node, unsigned index,
                     std::optional<AxisRange> range) {
    NodeValue value = node.getOperand(index);
    // Bands have known rows; lower-extents comes before.
    if (value && value.getType().hasExtents())
      return false;
    std::optional<unsigned> number = value ? findInside(value) : std::nullopt;
    if (!number)
      return true;
    if (!range)
      return false;
    auto [found, isNew] = needed.try_emplace(*number, *range);
    AxisRange &all = found->second;
    all.begin = std::min(all.begin, range->begin);
    all.end = std::max(all.end, range->end);
    return all.dim == range->dim;
  }

  /// \p range of \p value, of which the patch has made a part or nothing.
  NodeValue cut(Function &function, NodeValue value, AxisRange range,
                const llvm::DenseMap<unsigned, NodeValue> &made) {
    int64_t first = 0;
    NodeValue source = value;
    if (std::optional<unsigned> number = findInside(value)) {
      first = needed.at(*number).begin;
      source = made.lookup(*number);
    }
    std::vector<int64_t> starts(source.getType().getRank(), 0);
    std::vector<int64_t> sizes(source.getShape().begin(),
                               source.getShape().end());
    if (range.begin == first && range.size() == sizes[range.dim])
      return source;
    starts[range.dim] = range.begin - first;
    sizes[range.dim] = range.size();
    std::vector<int64_t> steps(starts.size(), 1);
    return function
        .create<SliceNode>(value.node->getName(), source, starts, sizes, steps)
        ->getResult();
  }

  const NumberedNodes &nodes;
  unsigned begin = 0, end;
  std::map<unsigned, AxisRange> needed;
};

} // namespace

/// AxisRange of the last node that patch \p number computes.
static AxisRange getPatchRange(const Node &end, const PatchPlan &plan,
                               unsigned number) {
  int64_t extent = end.getType().getShape()[1];
  return {1, extent * number / plan.count, extent * (number + 1) / plan.count};
}

//===- Finding ------------------------------------------------------------===//

/// The nodes whose result is all that later nodes need of what came before
/// them, images among them.
static std::vector<unsigned> findCuts(const NumberedNodes &nodes) {
  // The last node that reads the results of each node and of those before it.
  std::vector<unsigned> lastReader(nodes.size(), 0);
  for (unsigned i = 0; i < nodes.size(); ++i) {
    lastReader[i] = i;
    for (const Use &use : nodes[i].uses())
      if (std::optional<unsigned> reader = nodes.find(use.getUser()))
        lastReader[i] = std::max(lastReader[i], *reader);
  }
  std::vector<unsigned> cuts;
  unsigned reach = 0;
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const Node &node = nodes[i];
    if (reach <= i && lastReader[i] > i && node.getNumResults() == 1 &&
        node.getType().getRank() == 4)
      cuts.push_back(i);
    reach = std::max(reach, lastReader[i]);
  }
  return cuts;
}

/// Operations for an element of the node's result.
static double getWork(const Node &node) {
  const OpInfo &info = node.getInfo();
  if (!info.countMultiplyAdds)
    return 1;
  return 1 + double(info.countMultiplyAdds(NodeTypes(node).getView()));
}

/// The work of all patches of \p plan by that of the whole; null where it is
/// not possible.
static std::optional<double> getWork(const NumberedNodes &nodes,
                                     const PatchPlan &plan) {
  double whole = 0, parts = 0;
  auto add = [&](double &sum, unsigned i, int64_t range, unsigned dim) {
    const Type &type = nodes[i].getType();
    sum += getWork(nodes[i]) * double(type.getNumElements()) /
           double(type.getShape()[dim]) * double(range);
  };
  std::map<unsigned, unsigned> seen; // node, dimension
  for (unsigned number = 0; number < plan.count; ++number) {
    Patch patch(nodes, plan);
    if (!patch.demand(getPatchRange(nodes[plan.end], plan, number)))
      return std::nullopt;
    for (auto [i, range] : patch.getRanges()) {
      add(parts, i, range.size(), range.dim);
      seen[i] = range.dim;
    }
  }
  for (auto [i, dim] : seen)
    add(whole, i, nodes[i].getType().getShape()[dim], dim);
  return parts / whole;
}

std::vector<PatchPlan> glowish::findPatchPlans(Function &function,
                                               const Node &inside) {
  NumberedNodes nodes(function);
  unsigned number = *nodes.find(&inside);
  std::vector<unsigned> cuts = findCuts(nodes);
  std::vector<std::optional<unsigned>> begins = {std::nullopt};
  begins.insert(begins.end(), cuts.begin(), cuts.end());
  std::vector<PatchPlan> plans;
  for (unsigned end : cuts)
    for (std::optional<unsigned> begin : begins) {
      if (number > end || (begin && *begin >= number))
        break;
      int64_t extent = nodes[end].getType().getShape()[1];
      unsigned most = unsigned(std::min<int64_t>(maxPatches, extent));
      for (unsigned count = 2; count <= most; ++count) {
        PatchPlan plan{begin, end, count};
        std::optional<double> work = getWork(nodes, plan);
        if (!work)
          break;
        plan.work = *work;
        plans.push_back(plan);
      }
    }
  llvm::sort(plans, [](const PatchPlan &a, const PatchPlan &b) {
    return std::tie(a.work, a.end, a.begin, a.count) <
           std::tie(b.work, b.end, b.begin, b.count);
  });
  return plans;
}

//===- Rewriting ----------------------------------------------------------===//

void glowish::computeInPatches(Function &function, const PatchPlan &plan) {
  NumberedNodes nodes(function);
  Node &end = nodes[plan.end];
  InsertionGuard guard(function, &end);
  llvm::SmallVector<NodeValue, 8> patches;
  for (unsigned number = 0; number < plan.count; ++number) {
    Patch patch(nodes, plan);
    bool isPossible = patch.demand(getPatchRange(end, plan, number));
    assert(isPossible && "findPatchPlans found the plan");
    (void)isPossible;
    patches.push_back(patch.build(function));
  }
  NodeValue whole =
      function.create<ConcatNode>(end.getName(), patches, 1)->getResult();
  end.getResult().replaceAllUsesWith(whole);
  for (unsigned i = nodes.size(); i-- > 0;)
    if (isDead(nodes[i]))
      function.erase(&nodes[i]);
}

//===- The pass -----------------------------------------------------------===//

std::string PatchPlan::getArgument() const {
  std::string text = llvm::formatv("end={0};count={1}", end, count);
  return begin ? llvm::formatv("begin={0};{1}", *begin, text).str() : text;
}

/// Reads what PatchPlan::getArgument() writes, its parts in any order.
static llvm::Expected<PatchPlan> parsePlan(llvm::StringRef argument) {
  PatchPlan plan;
  llvm::SmallVector<llvm::StringRef, 4> parts;
  argument.split(parts, ';');
  llvm::StringSet<> seen;
  for (llvm::StringRef part : parts) {
    auto [key, text] = part.split('=');
    unsigned number = 0;
    bool isRead = !text.getAsInteger(10, number) && seen.insert(key).second;
    if (isRead && key == "begin")
      plan.begin = number;
    else if (isRead && key == "end")
      plan.end = number;
    else if (isRead && key == "count")
      plan.count = number;
    else
      return makeError("compute-in-patches<{0}>: '{1}'; accepted: "
                       "[begin=NODE;]end=NODE;count=N, each once, with the "
                       "numbers of nodes in the function's order, from 0",
                       argument, part);
  }
  if (!seen.count("end") || !seen.count("count"))
    return makeError("compute-in-patches<{0}>: accepted: "
                     "[begin=NODE;]end=NODE;count=N",
                     argument);
  return plan;
}

llvm::Expected<bool> glowish::computePatches(Function &function,
                                             const GraphPassContext &,
                                             llvm::StringRef argument) {
  GLOWISH_ASSIGN_OR_RETURN(PatchPlan plan, parsePlan(argument));
  NumberedNodes nodes(function);
  if (plan.end >= nodes.size())
    return makeError("compute-in-patches<{0}>: the function has {1} nodes",
                     argument, nodes.size());
  auto isMeant = [&](const PatchPlan &possible) {
    return possible.begin == plan.begin && possible.end == plan.end &&
           possible.count == plan.count;
  };
  if (llvm::none_of(findPatchPlans(function, nodes[plan.end]), isMeant))
    return makeError("compute-in-patches<{0}>: what is behind 'begin' up to "
                     "'end' can't be computed in so many bands of rows",
                     argument);
  computeInPatches(function, plan);
  return true;
}
