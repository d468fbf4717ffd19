//===- LoopTensors.h - Tensors that iterations hand on ----------*- C++ -*-===//
//
// A state of a loop that is a tensor is one of some places from outside, such
// as y[0] or y[1], or else of memory of its own, which an iteration made. A
// state of the node tells which one, and another one has the elements. Where
// that can't be followed, reads are right, and what may be the same memory is
// a group.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPTENSORS_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPTENSORS_H

#include "TorchScript/Exits.h"
#include <set>

namespace glowish::torchscript {

/// The states of one loop that are tensors. They are numbered in the order in
/// which they are in the loop's values.
class LoopTensors {
public:
  /// \p birth: when the loop began.
  LoopTensors(ScriptInterpreter &in, uint64_t birth) : in(in), birth(birth) {}

  /// Adds a tensor that is at \p place before the loop.
  void add(const ScriptPlaceRef &place) {
    tensors.push_back({.first = place, .places = {place}});
  }

  /// Adds a tensor that iterations append to a list: each of them makes one,
  /// which no iteration begins with. Returns its number.
  size_t addCollected() {
    tensors.push_back({.isUncertain = true});
    return tensors.size() - 1;
  }
  /// Begins an iteration, in which memory of its own stands for all that
  /// iterations made of tensor \p index.
  void enterCollected(size_t index);
  /// Returns the place, after the loop, of all that iterations made of tensor
  /// \p index: \p values, along dimension 0.
  ScriptPlaceRef takeCollected(size_t index, NodeValue values);
  /// Returns the values of tensor \p index before the loop: its elements and
  /// which place it is.
  llvm::Expected<std::vector<NodeValue>> getInitial(size_t index);

  /// Returns the place of tensor \p index in an iteration, or after the loop.
  /// \p next adds a parameter of a type, or returns the next result.
  llvm::Expected<ScriptPlaceRef>
  enter(size_t index, llvm::function_ref<NodeValue(const Type &)> next);

  /// A tensor at the end of an iteration.
  struct Yield {
    size_t index;
    ScriptPlaceRef place;
  };
  /// Finds where tensors are after an iteration. Returns whether these places
  /// were known already.
  llvm::Expected<bool> findPlaces(llvm::ArrayRef<Yield> yields);
  /// Returns the values of a tensor for the next iteration, in the order of
  /// getInitial().
  llvm::Expected<std::vector<NodeValue>> getNext(size_t index);

  /// Notes which of the tensors that were collected must not be read after the
  /// loop, as an iteration changed what may be the same memory.
  void noteConflicts();
  /// Joins the memory of all tensors that can't be followed with what it may
  /// be. Must be called when all of them have places.
  void joinUncertain();
  /// Notes that at least one iteration is executed: where the last one leaves a
  /// tensor is known if all of them leave it there.
  void setExecuted() { isExecuted = true; }

private:
  struct LoopTensor {
    ScriptPlaceRef first = {};
    /// Those from outside that it may be at. Any other is its own.
    std::vector<ScriptPlaceRef> places = {};
    /// Whether it can't be followed.
    bool isUncertain = false;
    bool isConflicting = false;
    /// Memory from outside, and other states, that it may share then.
    std::vector<std::shared_ptr<ScriptStorage>> sharedStorages = {};
    std::set<size_t> sharedTensors = {};
    /// Where it is in the iteration that is being imported, and the memory that
    /// is its own there.
    ScriptPlaceRef inside = {};
    std::shared_ptr<ScriptStorage> own = {};
    NodeValue which = {};
    /// Where it is after that.
    ScriptPlaceRef nextPlace = {};
    NodeValue nextWhich = {};
  };
  static constexpr int64_t ownNumber = -1;

  NodeValue getNumber(int64_t number);
  llvm::Expected<NodeValue> findNumber(size_t index,
                                       const ScriptPlaceRef &place);
  ScriptPlaceRef makeOuter(const ScriptPlaceRef &place);
  bool setUncertain(size_t index);
  bool findShared(llvm::ArrayRef<Yield> yields);

  ScriptInterpreter &in;
  uint64_t birth;
  std::vector<LoopTensor> tensors;
  bool isExecuted = false;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_LOOPTENSORS_H
