//===- DataParallel.cpp - Training on several processes -------------------===//

#include "DataParallel.h"
#include "llvm/ADT/DenseMap.h"

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

/// Follows dimensions back to the inputs of the model.
class BatchFinder {
public:
  /// Whether dimension \p dim of \p value is that of the samples.
  bool isBatch(NodeValue value, unsigned dim);

private:
  llvm::DenseMap<std::pair<Node *, unsigned>, bool> known;
};

} // namespace

bool BatchFinder::isBatch(NodeValue value, unsigned dim) {
  if (auto *placeholder = value.getNodeAs<Placeholder>())
    return placeholder->isInput() && !placeholder->isOutput() && dim == 0;
  if (value.result != 0)
    return false;
  auto [entry, isNew] = known.insert({{value.node, dim}, false});
  if (!isNew)
    return entry->second;
  std::optional<OperandAxes> axes = followAxis(*value.node, dim);
  bool found = false;
  for (unsigned i = 0; axes && i < axes->size() && !found; ++i)
    found = (*axes)[i] && value.node->getOperand(i) &&
            (*axes)[i]->isPointwise() &&
            isBatch(value.node->getOperand(i), (*axes)[i]->dim);
  if (found)
    known[{value.node, dim}] = true;
  return found;
}

std::optional<RandomValues::Part>
glowish::findPart(NodeValue value, const TrainingProcesses &processes) {
  DimsRef shape = value.getShape();
  if (processes.size == 1 || shape.empty())
    return std::nullopt;
  // Where samples and other dimensions have become one, they come first.
  unsigned batch = 0;
  BatchFinder finder;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (finder.isBatch(value, d)) {
      batch = d;
      break;
    }
  return RandomValues::Part{batch, processes.rank, processes.size};
}
