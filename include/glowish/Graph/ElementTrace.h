//===- ElementTrace.h - Sources of moved elements ---------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_ELEMENTTRACE_H
#define GLOWISH_GRAPH_ELEMENTTRACE_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// An element of a value.
struct Element {
  NodeValue value;
  /// In row-major order.
  int64_t position = 0;
};

/// Returns the element at \p index of \p value.
Element getElement(NodeValue value, DimsRef index);
/// Returns the index of \p element.
Dims getIndex(const Element &element);
/// Returns the element of \p value at \p index of the shape to which it
/// broadcasts.
Element getBroadcastElement(NodeValue value, DimsRef index);

/// Returns the operand's element that \p element, an element of a node's
/// result, is; null if the node does not move elements or moves them by an
/// index that is not constant.
std::optional<Element> traceElement(const Element &element);

} // namespace glowish

#endif // GLOWISH_GRAPH_ELEMENTTRACE_H
