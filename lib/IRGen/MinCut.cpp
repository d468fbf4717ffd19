//===- MinCut.cpp - The cheapest way to cut a graph in two ----------------===//

#include "MinCut.h"
#include <algorithm>

using namespace glowish;

static constexpr unsigned unseen = ~0u;

void MinCut::addEdge(unsigned from, unsigned to, int64_t capacity) {
  edges[from].push_back({to, unsigned(edges[to].size()), capacity});
  edges[to].push_back({from, unsigned(edges[from].size() - 1), 0});
}

/// The number of edges with capacity left from the source to each vertex.
bool MinCut::findLevels(unsigned source, unsigned sink) {
  level.assign(edges.size(), unseen);
  level[source] = 0;
  std::vector<unsigned> queue = {source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (const Edge &edge : edges[queue[i]])
      if (edge.left > 0 && level[edge.to] == unseen) {
        level[edge.to] = level[queue[i]] + 1;
        queue.push_back(edge.to);
      }
  return level[sink] != unseen;
}

/// Fills ways that go up a level with each edge until there are none.
void MinCut::push(unsigned source, unsigned sink) {
  std::vector<size_t> next(edges.size(), 0); // edges before it are useless
  std::vector<Edge *> way;
  for (unsigned at = source;;) {
    if (at == sink) {
      int64_t flow = unlimited;
      for (Edge *edge : way)
        flow = std::min(flow, edge->left);
      for (Edge *edge : way) {
        edge->left -= flow;
        edges[edge->to][edge->reverse].left += flow;
      }
      way.clear();
      at = source;
      continue;
    }
    while (next[at] < edges[at].size()) {
      const Edge &edge = edges[at][next[at]];
      if (edge.left > 0 && level[edge.to] == level[at] + 1)
        break;
      ++next[at];
    }
    if (next[at] < edges[at].size()) {
      way.push_back(&edges[at][next[at]]);
      at = way.back()->to;
    } else if (way.empty()) {
      return;
    } else {
      Edge *last = way.back();
      way.pop_back();
      at = edges[last->to][last->reverse].to;
      ++next[at];
    }
  }
}

std::vector<bool> MinCut::findSinkSide(unsigned source, unsigned sink) {
  while (findLevels(source, sink))
    push(source, sink);
  // From where the sink can still be reached.
  std::vector<bool> isOnSinkSide(edges.size(), false);
  isOnSinkSide[sink] = true;
  std::vector<unsigned> queue = {sink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (const Edge &edge : edges[queue[i]]) {
      const Edge &into = edges[edge.to][edge.reverse];
      if (into.left > 0 && !isOnSinkSide[edge.to]) {
        isOnSinkSide[edge.to] = true;
        queue.push_back(edge.to);
      }
    }
  return isOnSinkSide;
}
