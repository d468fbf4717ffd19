//===- Memory.h - Tensors that share memory ---------------------*- C++ -*-===//
//
// The graph has values, which never change; programs have tensors, which
// operators change, and which share memory. The place of a tensor's elements is
// a storage or a view of another place, and each write makes a new value of the
// storage: the next read of any of its places computes that from it. Where data
// decides which one of two places it is, a read selects one of two values, and
// a write changes one of both, by the condition. Where it depends on the order
// of elements in memory whether a tensor shares another one's, that order is
// followed as far as it is known, and the program is refused where it isn't.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MEMORY_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MEMORY_H

#include "Common/OpenBody.h"
#include "TorchScript/Values.h"

namespace glowish::torchscript {

/// A function that is being imported: the main one, or a body in another scope.
struct ScriptScope {
  Function &function;
  /// Null for the main function.
  OpenBody *body = nullptr;
  ScriptScope *outer = nullptr;
};

using ScriptTensorRef = std::shared_ptr<ScriptTensor>;

/// A view of a part of a tensor along one dimension.
struct ScriptPart {
  int64_t axis;
  /// The first index, which is known or computed.
  int64_t known = 0;
  NodeValue computed = {};
  /// None for one index, whose dimension the view doesn't have.
  std::optional<int64_t> size = {};
};

/// The tensors of a program.
class TensorMemory {
public:
  TensorMemory(aten::AtenContext &aten, ScriptJournal &journal)
      : aten(aten), journal(journal) {}

  /// The scope that nodes are created in.
  ScriptScope *scope = nullptr;
  /// Names nodes that reads and writes create.
  std::string nodeName = "view";

  uint64_t tick() { return ++clock; }
  uint64_t now() const { return clock; }

  /// The function that \p value is in; null for the model's placeholders and
  /// for constants.
  static const Function *getFunctionOf(NodeValue value);
  /// \p value, of this scope or one around it, in this one.
  NodeValue enter(NodeValue value) { return enter(value, *scope); }

  /// A tensor with memory of its own.
  ScriptTensorRef create(NodeValue value, const ScriptLayout &layout);
  ScriptTensorRef create(NodeValue value, std::optional<Dims> strides);
  /// One in row-major order.
  ScriptTensorRef createDense(NodeValue value) {
    return create(value, aten::getRowMajorStrides(value.getShape()));
  }
  /// The tensor that \p view makes of \p base, now with \p value.
  ScriptTensorRef createView(ScriptPlaceRef base, ScriptView view,
                             NodeValue value);
  /// Creates a tensor at \p place.
  ScriptTensorRef createAt(ScriptPlaceRef place);
  /// Returns the place that is \p then where \p condition, a bool of this
  /// scope, is true, else \p other, of the same type. \p value: its elements,
  /// if they are known. With too many ways to storages it is one that can only
  /// be read.
  llvm::Expected<ScriptPlaceRef> choose(NodeValue condition,
                                        const ScriptPlaceRef &then,
                                        const ScriptPlaceRef &other,
                                        NodeValue value);
  /// Returns the part of its base that \p place is; none if it isn't one.
  static std::optional<ScriptPart> findPart(const ScriptPlace &place);
  /// Makes the place of element \p index along dimension \p axis of \p base,
  /// which is read when it is needed.
  ScriptPlaceRef makePart(const ScriptPlaceRef &base, int64_t axis,
                          int64_t index);
  /// Returns whether two places are the same one, whatever data there is.
  static bool areSame(const ScriptPlaceRef &x, const ScriptPlaceRef &y);
  /// Joins the storages of \p place and \p other to a group, of which it isn't
  /// known whether they are the same memory.
  void join(const ScriptPlace &place, const ScriptPlace &other);
  void join(llvm::ArrayRef<std::shared_ptr<ScriptStorage>> storages);
  /// Makes the place that as_strided() makes of the memory of \p place. Without
  /// \p offset it begins where \p place does.
  llvm::Expected<ScriptPlaceRef>
  makeStrided(const ScriptPlaceRef &place, const std::vector<int64_t> &size,
              const std::vector<int64_t> &strides,
              std::optional<int64_t> offset);

  llvm::Expected<NodeValue> read(const ScriptPlaceRef &place);
  /// Replaces the elements by \p value, of the same type.
  llvm::Error write(const ScriptPlaceRef &place, NodeValue value);
  /// Sets all elements of a storage, without a tensor.
  void assign(const std::shared_ptr<ScriptStorage> &storage, NodeValue value);

  /// Notes that other memory was written, which may be that of \p storage, so
  /// that its elements aren't known.
  void setConflicting(const std::shared_ptr<ScriptStorage> &storage) {
    journal.save(storage);
    storage->isConflicting = true;
  }

  /// Returns the value of \p make; folds nodes of constants.
  llvm::Expected<NodeValue>
  fold(llvm::function_ref<NodeValue(NodeBuilder &)> make);

  /// Returns \p view of \p base, in this scope.
  llvm::Expected<NodeValue> apply(const ScriptView &view, NodeValue base);

  //===- Order of elements --------------------------------------------------//

  /// The strides of a tensor; none if they aren't known. That of a dimension
  /// with one index may be unknownStride.
  llvm::Expected<std::optional<Dims>> getStrides(const ScriptPlace &place);
  static constexpr int64_t unknownStride = -1;

  aten::AtenContext &getAten() { return aten; }
  /// Returns when one of the storages of \p place was last written.
  static uint64_t getVersion(const ScriptPlace &place);

private:
  NodeValue enter(NodeValue value, ScriptScope &inside);
  aten::AtenValue enter(const aten::AtenValue &value);
  llvm::Expected<std::optional<ScriptView>>
  chooseIndex(NodeValue condition, const ScriptPlace &then,
              const ScriptPlace &other);
  llvm::Error check(const ScriptPlace &place) const;
  llvm::Error settle(const ScriptPlaceRef &place);
  llvm::Expected<NodeValue> readAgain(const ScriptPlace &place);
  void writeStorage(const std::shared_ptr<ScriptStorage> &storage,
                    NodeValue value);
  llvm::Error writeChoice(const ScriptPlace &place, NodeValue value);
  llvm::Expected<NodeValue> replace(const ScriptView &view, NodeValue old,
                                    NodeValue value);
  llvm::Expected<NodeValue> replaceMapped(NodeValue old, NodeValue value,
                                          llvm::ArrayRef<int64_t> places);
  llvm::Expected<std::vector<int64_t>> findPlaces(const ScriptView &view,
                                                  NodeValue base);
  llvm::Expected<NodeValue> trace(const ScriptPlace &place);
  llvm::Expected<std::optional<bool>> isShared(const ScriptPlace &place);
  llvm::Expected<std::optional<Dims>> resolve(ScriptStorage &storage);

  aten::AtenContext &aten;
  ScriptJournal &journal;
  uint64_t clock = 0;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MEMORY_H
