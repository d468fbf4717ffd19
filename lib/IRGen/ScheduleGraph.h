//===- ScheduleGraph.h - Dependences and sizes of nodes ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IRGEN_SCHEDULEGRAPH_H
#define GLOWISH_LIB_IRGEN_SCHEDULEGRAPH_H

#include "glowish/Graph/Nodes.h"

namespace glowish {

/// The nodes as numbers, with their dependences and the memory of each.
class ScheduleGraph {
public:
  static constexpr unsigned none = ~0u;

  /// \p isFused: element-wise nodes count as fused, or as computed in place, as
  /// the IR passes will do.
  explicit ScheduleGraph(llvm::ArrayRef<Node *> nodes, bool isFused = false);

  unsigned size() const { return nodes.size(); }
  /// The distinct nodes that a node uses, and those that use it.
  llvm::ArrayRef<unsigned> getSources(unsigned i) const { return sources[i]; }
  llvm::ArrayRef<unsigned> getUsers(unsigned i) const { return users[i]; }
  /// The node whose results node \p i's results are in: itself, or that of
  /// which it is a view; none if that is a weight.
  unsigned getStorage(unsigned i) const { return storage[i]; }
  /// Bytes of the storage that node \p i makes.
  int64_t getBytes(unsigned i) const { return bytes[i]; }
  int64_t getStorageBytes(unsigned i) const {
    return storage[i] == none ? 0 : bytes[storage[i]];
  }
  /// The distinct storages that a node reads, and the nodes that read one.
  llvm::ArrayRef<unsigned> getReads(unsigned i) const { return reads[i]; }
  llvm::ArrayRef<unsigned> getReaders(unsigned i) const { return readers[i]; }

  /// The node in whose result the IR passes let storage \p i lie: that of a
  /// concatenation whose part it is and that alone reads it, else \p i itself;
  /// none for what is written to an output.
  unsigned getPlace(unsigned i) const { return places[i]; }

  /// The largest sum of live bytes, and the first node of \p order at which it
  /// is reached.
  std::pair<uint64_t, unsigned> getPeak(llvm::ArrayRef<unsigned> order) const;

private:
  std::vector<Node *> nodes;
  std::vector<llvm::SmallVector<unsigned, 4>> sources, reads;
  std::vector<std::vector<unsigned>> users, readers;
  std::vector<unsigned> storage;
  std::vector<int64_t> bytes;
  std::vector<unsigned> places;

  void findPlaces(bool isFused);
  bool hasElementsOf(unsigned reader, unsigned i) const;
};

} // namespace glowish

#endif // GLOWISH_LIB_IRGEN_SCHEDULEGRAPH_H
