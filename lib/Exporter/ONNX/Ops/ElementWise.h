//===- ElementWise.h - Export of element-wise nodes -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_EXPORTER_ONNX_OPS_ELEMENTWISE_H
#define GLOWISH_LIB_EXPORTER_ONNX_OPS_ELEMENTWISE_H

#include "ONNX/GraphWriter.h"

namespace glowish {

/// Calls \p write with the operands of \p node in a common layout: that of the
/// first operand with the result's rank and a layout other than the identity.
/// The returned value is the result, in that layout.
void writeElementWise(
    GraphWriter &w, const Node &node,
    llvm::function_ref<OnnxValue(llvm::ArrayRef<OnnxValue>)> write);

/// Registers an element-wise kind: `static const ElementWiseExporter
/// add(NodeKind::Add, "Add");` if ONNX has the operator, with attributes of the
/// same names, which are Floats, otherwise with `OnnxValue write(GraphWriter
/// &w, const ClipNode &node, llvm::ArrayRef<OnnxValue> x)`, whose node states
/// the kind.
class ElementWiseExporter {
public:
  ElementWiseExporter(NodeKind kind, llvm::StringLiteral onnxOperator);
  template <typename T>
  ElementWiseExporter(OnnxValue (*write)(GraphWriter &w, const T &node,
                                         llvm::ArrayRef<OnnxValue> x))
      : exporter(kindOf<T>, NodeExporter::Function([write](GraphWriter &w,
                                                           const Node &node) {
                   writeElementWise(w, node, [&](llvm::ArrayRef<OnnxValue> x) {
                     return write(w, llvm::cast<T>(node), x);
                   });
                 })) {}

private:
  NodeExporter exporter;
};

} // namespace glowish

#endif // GLOWISH_LIB_EXPORTER_ONNX_OPS_ELEMENTWISE_H
