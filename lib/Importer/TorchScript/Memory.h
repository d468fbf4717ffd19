//===- Memory.h - Tensors that share memory ---------------------*- C++ -*-===//
//
// The graph has values, which never change; programs have tensors, which
// operators change, and which share memory. Each tensor is a storage or a view
// of another tensor, and each write makes a new value of the storage: the next
// read of any of its tensors computes that from it. Where it depends on the
// order of elements in memory whether a tensor shares another one's, that order
// is followed as far as it is known, and the program is refused where it isn't.
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
  ScriptTensorRef createView(ScriptTensorRef base, ScriptView view,
                             NodeValue value);
  /// A tensor of which it isn't known which of \p others' memory it shares, if
  /// any.
  ScriptTensorRef createUncertain(NodeValue value, std::optional<Dims> strides,
                                  llvm::ArrayRef<ScriptTensorRef> others);
  /// The tensor that as_strided() makes of \p tensor's memory. Without
  /// \p offset it begins where \p tensor does.
  llvm::Expected<ScriptTensorRef> createStrided(const ScriptTensorRef &tensor,
                                                std::vector<int64_t> size,
                                                std::vector<int64_t> strides,
                                                std::optional<int64_t> offset);

  llvm::Expected<NodeValue> read(const ScriptTensorRef &tensor);
  /// Replaces the elements by \p value, of the same type.
  llvm::Error write(const ScriptTensorRef &tensor, NodeValue value);
  /// Sets all elements of a storage, without a tensor.
  void assign(const std::shared_ptr<ScriptStorage> &storage, NodeValue value);

  /// What \p make returns; nodes of constants are folded.
  llvm::Expected<NodeValue>
  fold(llvm::function_ref<NodeValue(NodeBuilder &)> make);

  /// What \p view of \p base is, in this scope.
  llvm::Expected<NodeValue> apply(const ScriptView &view, NodeValue base);

  //===- Order of elements --------------------------------------------------//

  /// The strides of a tensor; none if they aren't known. That of a dimension
  /// with one index may be unknownStride.
  llvm::Expected<std::optional<Dims>> getStrides(const ScriptTensor &tensor);
  static constexpr int64_t unknownStride = -1;

  aten::AtenContext &getAten() { return aten; }

private:
  NodeValue enter(NodeValue value, ScriptScope &inside);
  aten::AtenValue enter(const aten::AtenValue &value);
  llvm::Error check(const ScriptStorage &storage) const;
  llvm::Error settle(const ScriptTensorRef &tensor);
  llvm::Expected<NodeValue> replace(const ScriptView &view, NodeValue old,
                                    NodeValue value);
  llvm::Expected<NodeValue> replaceMapped(NodeValue old, NodeValue value,
                                          llvm::ArrayRef<int64_t> places);
  llvm::Expected<std::vector<int64_t>> findPlaces(const ScriptView &view,
                                                  NodeValue base);
  llvm::Expected<NodeValue> trace(const ScriptTensor &tensor);
  llvm::Expected<std::optional<bool>> isShared(const ScriptTensor &tensor);
  llvm::Expected<std::optional<Dims>> resolve(ScriptStorage &storage);

  aten::AtenContext &aten;
  ScriptJournal &journal;
  uint64_t clock = 0;
};

} // namespace glowish::torchscript

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_MEMORY_H
