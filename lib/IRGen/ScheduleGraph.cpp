//===- ScheduleGraph.cpp - Dependences and sizes of nodes -----------------===//

#include "ScheduleGraph.h"
#include "llvm/ADT/DenseMap.h"

using namespace glowish;

/// Whether IRGen and the IR passes will make the result a view of the operand:
/// a reshape always, a slice where all users can read with strides.
static bool becomesView(const Node &node) {
  if (node.getInfo().has(OpTrait::View))
    return true;
  return llvm::isa<SliceNode>(node) &&
         llvm::all_of(node.uses(), [](const Use &use) {
           const Node &user = *use.getUser();
           return isElementWise(user) ||
                  user.getInfo().has(OpTrait::ReadsAnyStrides);
         });
}

ScheduleGraph::ScheduleGraph(llvm::ArrayRef<Node *> nodes, bool isFused)
    : nodes(nodes), sources(nodes.size()), reads(nodes.size()),
      users(nodes.size()), readers(nodes.size()), storage(nodes.size()),
      bytes(nodes.size(), 0) {
  llvm::DenseMap<const Node *, unsigned> numbers;
  for (unsigned i = 0; i < nodes.size(); ++i)
    numbers[nodes[i]] = i;
  // The last node that each was noted for as a source, and as a read.
  std::vector<unsigned> lastUser(nodes.size(), none);
  std::vector<unsigned> lastReader(nodes.size(), none);
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const Node &node = *nodes[i];
    for (NodeValue value : node.getReads()) {
      auto found = numbers.find(value.node);
      if (!value || found == numbers.end())
        continue;
      unsigned source = found->second;
      if (std::exchange(lastUser[source], i) != i) {
        sources[i].push_back(source);
        users[source].push_back(i);
      }
      unsigned read = storage[source];
      if (read != none && std::exchange(lastReader[read], i) != i) {
        reads[i].push_back(read);
        readers[read].push_back(i);
      }
    }
    if (becomesView(node)) {
      storage[i] = reads[i].empty() ? none : reads[i].front();
      continue;
    }
    storage[i] = i;
    for (const Type &type : node.getTypes())
      bytes[i] += type.getSizeInBytes();
  }
  findPlaces(isFused);
}

/// Whether node \p reader computes each element of its result of the one at the
/// same place in the result of node \p i, and in as many bytes.
bool ScheduleGraph::hasElementsOf(unsigned reader, unsigned i) const {
  return isElementWise(*nodes[reader]) && bytes[reader] == bytes[i] &&
         storage[reader] == reader;
}

void ScheduleGraph::findPlaces(bool isFused) {
  places.resize(size());
  // Readers come after what they read.
  for (unsigned i = size(); i-- > 0;) {
    places[i] = i;
    if (readers[i].size() != 1)
      continue;
    const Node &reader = *nodes[readers[i].front()];
    if (llvm::isa<SaveNode>(reader))
      places[i] = none;
    else if (llvm::isa<ConcatNode>(reader) ||
             (isFused && hasElementsOf(readers[i].front(), i)))
      places[i] = places[readers[i].front()];
  }
}

std::pair<uint64_t, unsigned>
ScheduleGraph::getPeak(llvm::ArrayRef<unsigned> order) const {
  std::vector<unsigned> waiting;
  waiting.reserve(readers.size());
  for (const auto &list : readers)
    waiting.push_back(list.size());
  std::vector<bool> isLive(size(), false);
  int64_t live = 0, peak = 0;
  unsigned peakNode = none;
  for (unsigned i : order) {
    unsigned place = places[i];
    if (place != none && !isLive[place]) {
      live += bytes[place];
      isLive[place] = true;
    }
    if (peakNode == none || live > peak) {
      peak = live;
      peakNode = i;
    }
    if (readers[i].empty() && place == i)
      live -= bytes[i];
    for (unsigned read : reads[i])
      if (--waiting[read] == 0 && places[read] == read)
        live -= bytes[read];
  }
  return {peak, peakNode};
}
