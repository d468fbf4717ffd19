//===- MinCut.h - The cheapest way to cut a graph in two --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_MINCUT_H
#define GLOWISH_LIB_IRGEN_MINCUT_H

#include <cstdint>
#include <vector>

namespace glowish {

/// A directed graph with capacities. Dinic, Algorithm for solution of a problem
/// of maximum flow in networks with power estimation, 1970.
class MinCut {
public:
  static constexpr int64_t unlimited = INT64_MAX / 4;

  explicit MinCut(unsigned numVertices) : edges(numVertices) {}
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// Of the cuts with the least capacity between \p source and \p sink, the one
  /// nearest to the sink: whether each vertex is on the sink's side. At least
  /// one way from source to sink is limited.
  std::vector<bool> findSinkSide(unsigned source, unsigned sink);

private:
  struct Edge {
    unsigned to;
    unsigned reverse; // its position among those of `to`
    int64_t left;
  };
  bool findLevels(unsigned source, unsigned sink);
  void push(unsigned source, unsigned sink);

  std::vector<std::vector<Edge>> edges;
  std::vector<unsigned> level;
};

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_MINCUT_H
