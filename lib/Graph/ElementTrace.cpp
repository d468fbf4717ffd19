//===- ElementTrace.cpp - Sources of moved elements -----------------------===//

#include "glowish/Graph/ElementTrace.h"

using namespace glowish;

//===- Elements -----------------------------------------------------------===//

Element glowish::getElement(NodeValue value, DimsRef index) {
  int64_t position = 0;
  for (auto [stride, i] :
       llvm::zip_equal(getDenseStrides(value.getShape()), index))
    position += stride * i;
  return {value, position};
}

Dims glowish::getIndex(const Element &element) {
  Dims index;
  DimsRef shape = element.value.getShape();
  for (auto [stride, extent] : llvm::zip(getDenseStrides(shape), shape))
    index.push_back(element.position / stride % extent);
  return index;
}

Element glowish::getBroadcastElement(NodeValue value, DimsRef index) {
  Dims own(index.take_back(value.getShape().size()));
  for (unsigned d = 0; d < own.size(); ++d)
    if (value.getShape()[d] == 1)
      own[d] = 0;
  return getElement(value, own);
}

//===- Functions of nodes -------------------------------------------------===//
//
// traceNAME for the nodes whose record has TracesElements.

#define ELEMENT_TRACE(NAME)                                                    \
  static std::optional<Element> trace##NAME(NAME##Node &node,                  \
                                            const Element &element);
#define GET_ELEMENT_TRACE_LIST
#include "glowish/Graph/NodeFunctions.inc"

static std::optional<Element> traceDeclareExtents(DeclareExtentsNode &node,
                                                  const Element &element) {
  return Element{node.getInput(), element.position};
}

static std::optional<Element> traceReshape(ReshapeNode &node,
                                           const Element &element) {
  return Element{node.getInput(), element.position};
}

static std::optional<Element> traceBroadcast(BroadcastNode &node,
                                             const Element &element) {
  return getBroadcastElement(node.getInput(), getIndex(element));
}

static std::optional<Element> traceConcat(ConcatNode &node,
                                          const Element &element) {
  Dims index = getIndex(element);
  int64_t &position = index[node.getAxis()];
  llvm::SmallVector<NodeValue, 4> parts = node.getInputs();
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t extent = part.getShape()[node.getAxis()];
    bool isOpen = part.getType().getExtent(unsigned(node.getAxis()));
    // A run decides whether the element is in this part or in the next one.
    if (isOpen && i + 1 < parts.size())
      return std::nullopt;
    if (position < extent)
      return getElement(part, index);
    position -= extent;
  }
  return std::nullopt;
}

static std::optional<Element> traceSlice(SliceNode &node,
                                         const Element &element) {
  Dims index = getIndex(element);
  for (unsigned d = 0; d < index.size(); ++d)
    index[d] = node.getStarts()[d] + index[d] * node.getSteps()[d];
  return getElement(node.getInput(), index);
}

/// Returns whether a dimension of the extent \p extent has an element at
/// \p index in all runs of the module of \p node.
static bool isThere(const Extent &extent, int64_t index, const Node &node) {
  auto range = node.getParent()->getModule().getSymbols().getRange(extent);
  return range && index < range->low;
}

/// By constant indices.
static std::optional<Element> traceGather(GatherNode &node,
                                          const Element &element) {
  auto *indices = node.getIndices().getNodeAs<Constant>();
  if (!indices || node.getInput().getType().getNumElements() == 0)
    return std::nullopt;
  Dims index = getIndex(element);
  int64_t axis = node.getAxis();
  unsigned rank = node.getIndices().getShape().size();
  Element which =
      getElement(node.getIndices(), DimsRef(index).slice(axis, rank));
  int64_t extent = node.getInput().getShape()[axis];
  int64_t picked = indices->getTensor().getAsInt(which.position);
  // A run decides which element one from the end is, and where that is.
  const Extent *own = node.getInput().getType().getExtent(unsigned(axis));
  if (own && (picked < 0 || !isThere(*own, picked, node)))
    return std::nullopt;
  Dims source(DimsRef(index).take_front(axis));
  source.push_back(std::clamp<int64_t>(picked < 0 ? picked + extent : picked, 0,
                                       extent - 1));
  source.append(index.begin() + axis + rank, index.end());
  return getElement(node.getInput(), source);
}

std::optional<Element> glowish::traceElement(const Element &element) {
  switch (element.value.node->getKind()) {
#define ELEMENT_TRACE(NAME)                                                    \
  case NodeKind::NAME:                                                         \
    return trace##NAME(llvm::cast<NAME##Node>(*element.value.node), element);
#define GET_ELEMENT_TRACE_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    return std::nullopt;
  }
}
