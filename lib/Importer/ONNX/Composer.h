//===- Composer.h - Decomposition of operators ------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H
#define GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H

#include "ONNX/OpContext.h"
#include "glowish/Graph/NodeBuilder.h"

namespace glowish::onnximport {

/// Builds the decomposition of an operator by nested expressions:
/// `c.mul(c.sub(x, mean), scale)`.
class Composer final : public NodeBuilder {
public:
  explicit Composer(OpContext &op)
      : NodeBuilder(op.getFunction(), op.getNodeName()), op(op) {}

  /// Returns \p value, or null after keeping its error.
  using NodeBuilder::keep;
  /// Sets output \p index of the operator.
  llvm::Error setOutput(unsigned index, NodeValue value) {
    return op.setOutput(index, finish(value));
  }
  NodeValue createConstant(Tensor tensor) override {
    return op.createConstant(std::move(tensor));
  }

private:
  llvm::Expected<NodeValue> create(NodeDraft draft) override {
    return op.createDraft(std::move(draft));
  }
  llvm::Error checkConstant(const Type &type) override {
    return op.checkBudget(type.getSizeInBytes());
  }

  OpContext &op;
};

/// Returns the single integer of input \p index, which must be a constant.
llvm::Expected<int64_t> readConstantInt(const OpContext &op, unsigned index);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_COMPOSER_H
