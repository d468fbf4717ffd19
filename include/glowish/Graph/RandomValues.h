//===- RandomValues.h - Random tensors --------------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_RANDOMVALUES_H
#define GLOWISH_GRAPH_RANDOMVALUES_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Creates random tensors of one shape. Element i is a function of i and of the
/// key. Without state, all runs, threads and back ends agree on every bit, and
/// the loop that reads a tensor can compute it.
class RandomValues {
public:
  /// One of `count` equal parts of a larger tensor along dimension `axis`, in
  /// each `extent` indices of the tensor that follow each other: all of them,
  /// or fewer where the larger one has the other parts in between.
  struct Part {
    unsigned axis = 0;
    int64_t index = 0, count = 1, extent = 0;
    /// The index in the larger tensor.
    int64_t locate(int64_t own) const {
      return (own / extent * count + index) * extent + own % extent;
    }
  };

  /// \p key is a uint64 scalar, constant or computed. With \p part, elements
  /// are those of the larger tensor.
  RandomValues(NodeBuilder &builder, DimsRef shape, NodeValue key,
               std::optional<Part> part = std::nullopt)
      : c(builder), shape(shape), key(key), part(part) {}

  /// Uniform in [0, 1), float or double: multiples of 2^-24 or 2^-53.
  NodeValue uniform(ElemKind kind);
  /// Normal with mean 0 and variance 1, float or double, by G. Box and M.
  /// Muller, A Note on the Generation of Random Normal Deviates, 1958.
  NodeValue normal(ElemKind kind);

private:
  NodeValue bits(uint64_t stream, uint64_t numStreams);
  NodeValue upper(NodeValue value, unsigned count) {
    return value ? c.make<ShiftRightNode>(value, c.number(value, 64 - count))
                 : value;
  }

  NodeBuilder &c;
  Dims shape;
  NodeValue key;
  std::optional<Part> part;
};

} // namespace glowish

#endif // GLOWISH_GRAPH_RANDOMVALUES_H
