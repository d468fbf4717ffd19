//===- SharedHeads.cpp - Attention of heads that share their keys ---------===//
//
// Grouped-query attention as exporters write it repeats each head of keys and
// values for the heads of queries that share it. The repetition is a dimension
// of its own in front of a reshape: kept as that, it is a view, and with a
// single query none is needed.
//
//===----------------------------------------------------------------------===//

#include "Recognize/SharedHeads.h"

using namespace glowish;

namespace {
/// Heads [..., groups, 1, rows, columns] that are repeated to \p shape.
struct RepeatedHeads {
  NodeValue single;
  Dims shape;

  int64_t getGroups() const { return shape[shape.size() - 4]; }
  int64_t getRepeats() const { return shape[shape.size() - 3]; }
};
} // namespace

/// \p shape, of heads or of what broadcasts to them, with its dimension of
/// heads as two.
static Dims splitHeads(DimsRef shape, int64_t groups, int64_t repeats) {
  Dims split(shape);
  if (shape.size() < 3)
    return split;
  auto *heads = split.end() - 3;
  bool isOne = *heads == 1;
  *heads = isOne ? 1 : repeats;
  split.insert(split.end() - 3, isOne ? 1 : groups);
  return split;
}

/// The heads that \p heads [..., groups * repeats, rows, columns] repeats; null
/// if it does not.
static std::optional<RepeatedHeads> findRepeated(NodeValue heads) {
  auto *reshape = heads.getNodeAs<ReshapeNode>();
  auto *repeated =
      reshape ? reshape->getInput().getNodeAs<BroadcastNode>() : nullptr;
  unsigned rank = heads.getType().getRank() + 1;
  if (!repeated || repeated->getType().getRank() != rank)
    return std::nullopt;
  RepeatedHeads found{repeated->getInput(),
                      Dims(repeated->getType().getShape())};
  Dims single(found.shape);
  single[rank - 3] = 1;
  bool isRepeated =
      found.single.getShape() == DimsRef(single) &&
      heads.getShape()[rank - 4] == found.getGroups() * found.getRepeats();
  return isRepeated && found.getRepeats() > 1 ? std::optional(found)
                                              : std::nullopt;
}

/// The same of rows of which those that are not needed are replaced by a
/// number, alike in all heads: they are replaced before they are repeated.
static std::optional<RepeatedHeads> findFilled(NodeValue heads,
                                               RewriteContext &context) {
  auto *select = heads.getNodeAs<SelectNode>();
  if (!select)
    return findRepeated(heads);
  std::optional<RepeatedHeads> found = findRepeated(select->getX());
  DimsRef condition = select->getCondition().getShape();
  bool isAlike = condition.size() < 3 || condition[condition.size() - 3] == 1;
  if (!found || !isAlike || select->getX().getType() != heads.getType() ||
      select->getY().getType().getNumElements() != 1 ||
      select->getY().getType().getRank() > found->shape.size())
    return std::nullopt;
  NodeValue inside = context.reshape(
      select->getCondition(),
      splitHeads(condition, found->getGroups(), found->getRepeats()));
  found->single =
      context.create<SelectNode>(inside, found->single, select->getY());
  return found;
}

/// One query of each head: those of a group become the rows of a matrix.
static NodeValue attendInRows(AttentionNode &root, const RepeatedHeads &key,
                              const RepeatedHeads &value,
                              RewriteContext &context) {
  auto dropRepeats = [&](const RepeatedHeads &heads) {
    Dims shape(heads.shape);
    shape.erase(shape.end() - 3);
    return context.reshape(heads.single, shape);
  };
  Dims rows(root.getQuery().getShape());
  rows[rows.size() - 3] = key.getGroups();
  rows[rows.size() - 2] = key.getRepeats();
  // A single query attends to all keys.
  return context.create<AttentionNode>(context.reshape(root.getQuery(), rows),
                                       dropRepeats(key), dropRepeats(value),
                                       root.getMask(), root.getScale(),
                                       /*causal=*/false, root.getNanIfMasked());
}

/// A dimension of repeats in front of the queries: a broadcast of keys and
/// values.
static NodeValue attendInGroups(AttentionNode &root, const RepeatedHeads &key,
                                const RepeatedHeads &value,
                                RewriteContext &context) {
  auto split = [&](NodeValue operand) {
    return context.reshape(
        operand,
        splitHeads(operand.getShape(), key.getGroups(), key.getRepeats()));
  };
  auto repeat = [&](const RepeatedHeads &heads) {
    return NodeValue(context.create<BroadcastNode>(heads.single, heads.shape));
  };
  NodeValue mask = root.getMask();
  return context.create<AttentionNode>(split(root.getQuery()), repeat(key),
                                       repeat(value), mask ? split(mask) : mask,
                                       root.getScale(), root.getCausal(),
                                       root.getNanIfMasked());
}

NodeValue glowish::recognizeSharedHeads(AttentionNode &root,
                                        RewriteContext &context) {
  DimsRef shape = root.getType().getShape();
  if (shape.size() < 3)
    return {};
  std::optional<RepeatedHeads> key = findFilled(root.getKey(), context);
  std::optional<RepeatedHeads> value;
  if (key)
    value = findFilled(root.getValue(), context);
  if (!value || value->getGroups() != key->getGroups())
    return {};
  NodeValue mask = root.getMask();
  bool isMaskAlike = !mask || mask.getShape().size() < 3 ||
                     mask.getShape().drop_back(2).back() == 1;
  NodeValue result = shape[shape.size() - 2] == 1 && isMaskAlike
                         ? attendInRows(root, *key, *value, context)
                         : attendInGroups(root, *key, *value, context);
  return context.reshape(result, shape);
}
