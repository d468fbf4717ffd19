//===- DataParallel.cpp - Training on several processes -------------------===//

#include "DataParallel.h"
#include <map>

using namespace glowish;

//===- Averages -----------------------------------------------------------===//

static bool isHalf(ElemKind kind) {
  return kind != ElemKind::Float && kind != ElemKind::Double;
}

/// The kind in which values of \p kind are averaged.
static ElemKind getAveragedKind(ElemKind kind) {
  return isHalf(kind) ? ElemKind::Float : kind;
}

NodeValue glowish::average(NodeBuilder &b, NodeValue value,
                           const TrainingProcesses &processes) {
  if (!value || processes.size == 1)
    return value;
  ElemKind kind = value.getElemKind();
  return b.cast(b.make<AllReduceNode>(b.cast(value, getAveragedKind(kind))),
                kind);
}

/// Averages those of \p gradients with the numbers \p members, which are of one
/// kind, as one tensor.
static void averageBucket(NodeBuilder &b, std::vector<NodeValue> &gradients,
                          llvm::ArrayRef<size_t> members) {
  std::vector<NodeValue> parts;
  for (size_t i : members) {
    NodeValue gradient = gradients[i];
    parts.push_back(
        b.reshape(b.cast(gradient, getAveragedKind(gradient.getElemKind())),
                  {gradient.getType().getNumElements()}));
  }
  NodeValue whole = parts.size() == 1 ? parts.front() : b.concat(parts, 0);
  if (!whole)
    return;
  NodeValue mean = b.make<AllReduceNode>(whole);
  int64_t start = 0;
  for (size_t i : members) {
    const Type &type = gradients[i].getType();
    NodeValue part = b.slice(mean, 0, start, type.getNumElements());
    start += type.getNumElements();
    gradients[i] = b.cast(b.reshape(part, type.getShape()), type.getKind());
  }
}

void glowish::averageGradients(NodeBuilder &b,
                               std::vector<NodeValue> &gradients,
                               const TrainingProcesses &processes) {
  if (processes.size == 1)
    return;
  for (ElemKind kind : {ElemKind::Float, ElemKind::Double}) {
    std::vector<size_t> members;
    uint64_t numBytes = 0;
    for (size_t i = gradients.size(); i-- > 0;) {
      const Type &type = gradients[i].getType();
      if (getAveragedKind(type.getKind()) != kind)
        continue;
      uint64_t more = uint64_t(type.getNumElements()) * getElemSize(kind);
      if (!members.empty() && numBytes + more > processes.bucketBytes) {
        averageBucket(b, gradients, members);
        members.clear();
        numBytes = 0;
      }
      members.push_back(i);
      numBytes += more;
    }
    if (!members.empty())
      averageBucket(b, gradients, members);
  }
}

//===- The samples of a process -------------------------------------------===//

namespace {

/// A dimension of a value in which the samples are, with the number of its
/// elements that each sample has next to each other: more than 1 where
/// dimensions have become one.
struct BatchPlace {
  unsigned dim = 0;
  int64_t inner = 1;
  auto operator<=>(const BatchPlace &) const = default;
};

/// Follows dimensions back to the inputs of the model.
class BatchFinder {
public:
  /// \p numSamples: the extent of the samples.
  explicit BatchFinder(int64_t numSamples) : numSamples(numSamples) {}
  /// Whether the samples are at \p place of \p value.
  bool isBatch(NodeValue value, BatchPlace place);

private:
  bool isBatchOfOperand(const Node &node, BatchPlace place);
  /// Whether \p extent indices at \p place are one or more whole batches.
  bool isWhole(int64_t extent, BatchPlace place) const {
    return extent % (numSamples * place.inner) == 0;
  }

  int64_t numSamples;
  std::map<std::pair<const Node *, BatchPlace>, bool> known;
};

} // namespace

/// What is at \p place of the result of a reshape in its operand of shape
/// \p from: it has as many elements behind it. Dimensions of 1 have the same.
static llvm::SmallVector<BatchPlace, 2> findReshaped(DimsRef from, DimsRef to,
                                                     BatchPlace place) {
  int64_t behind = place.inner * countElements(to.drop_front(place.dim + 1));
  llvm::SmallVector<BatchPlace, 2> places;
  int64_t own = 1;
  for (unsigned d = from.size(); d-- > 0; own *= from[d])
    if (behind >= own && behind % own == 0 &&
        (behind < own * from[d] || (from[d] == 1 && behind == own)))
      places.push_back({d, behind / own});
  return places;
}

bool BatchFinder::isBatchOfOperand(const Node &node, BatchPlace place) {
  if (node.getInfo().has(OpTrait::View))
    return llvm::any_of(
        findReshaped(node.getOperand(0).getShape(), node.getType().getShape(),
                     place),
        [&](BatchPlace from) { return isBatch(node.getOperand(0), from); });
  // The dimensions of the indices are in the place of the axis.
  if (auto *gather = llvm::dyn_cast<GatherNode>(&node)) {
    int64_t dim = int64_t(place.dim) - gather->getAxis();
    return dim >= 0 && dim < int64_t(gather->getIndices().getShape().size()) &&
           isBatch(gather->getIndices(), {unsigned(dim), place.inner});
  }
  // Parts of whole batches: the steps of a sequence.
  if (auto *slice = llvm::dyn_cast<SliceNode>(&node))
    return slice->getSteps()[place.dim] == 1 &&
           isWhole(slice->getStarts()[place.dim], place) &&
           isWhole(slice->getSizes()[place.dim], place) &&
           isBatch(slice->getInput(), place);
  if (auto *concat = llvm::dyn_cast<ConcatNode>(&node))
    return llvm::any_of(concat->getInputs(), [&](NodeValue part) {
      return isWhole(part.getShape()[place.dim], place) && isBatch(part, place);
    });
  std::optional<OperandAxes> axes = followAxis(node, place.dim);
  for (unsigned i = 0; axes && i < axes->size(); ++i)
    if ((*axes)[i] && node.getOperand(i) && (*axes)[i]->isPointwise() &&
        isBatch(node.getOperand(i), {(*axes)[i]->dim, place.inner}))
      return true;
  return false;
}

bool BatchFinder::isBatch(NodeValue value, BatchPlace place) {
  if (auto *placeholder = value.getNodeAs<Placeholder>())
    return placeholder->isInput() && !placeholder->isOutput() &&
           place == BatchPlace();
  if (value.result != 0 || llvm::isa<Constant>(value.node))
    return false;
  std::pair<const Node *, BatchPlace> key = {value.node, place};
  auto [entry, isNew] = known.insert({key, false});
  if (!isNew)
    return entry->second;
  bool found = isBatchOfOperand(*value.node, place);
  known[key] = found;
  return found;
}

/// The number of samples: the first dimension of the model's inputs.
static int64_t findNumSamples(Module &module) {
  for (const auto &placeholder : module.getPlaceholders())
    if (placeholder->isInput() && !placeholder->isOutput() &&
        !placeholder->getType().getShape().empty())
      return placeholder->getType().getShape().front();
  return 1;
}

std::optional<RandomValues::Part>
glowish::findPart(NodeValue value, const TrainingProcesses &processes) {
  DimsRef shape = value.getShape();
  if (processes.size == 1 || shape.empty())
    return std::nullopt;
  int64_t numSamples = std::max<int64_t>(
      findNumSamples(value.node->getParent()->getModule()), 1);
  BatchFinder finder(numSamples);
  for (unsigned d = 0; d < shape.size(); ++d) {
    int64_t most = shape[d] % numSamples ? 0 : shape[d] / numSamples;
    for (int64_t inner = 1; inner <= most; ++inner)
      if (most % inner == 0 && finder.isBatch(value, {d, inner}))
        return RandomValues::Part{d, processes.rank, processes.size,
                                  numSamples * inner};
  }
  // What cannot be followed has the samples first.
  return RandomValues::Part{0, processes.rank, processes.size, shape.front()};
}
