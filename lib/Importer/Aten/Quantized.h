//===- Quantized.h - Operators on quantized tensors -------------*- C++ -*-===//
//
// Nodes have no quantized elements. A quantized tensor is integers with a scale
// and a zero point during import, and what an operator makes of it is composed
// of the nodes that dequantize and quantize.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_QUANTIZED_H
#define GLOWISH_LIB_IMPORTER_ATEN_QUANTIZED_H

#include "Aten/AtenOp.h"

namespace glowish::aten {

/// Registers the importer for quantized tensors of operators that have another
/// one for real tensors, as a static object, for all overloads of each name
/// ("relu").
class AtenQuantizedOperators {
public:
  AtenQuantizedOperators(AtenImporter importer,
                         std::initializer_list<llvm::StringLiteral> names);
};

/// Returns whether \p value, or an element of the list that it is, is a
/// quantized tensor, or the kind of one.
bool hasQuantized(const AtenValue &value);

/// Returns whether the operator \p name ("select") does the same with the
/// integers of a quantized tensor.
bool isOnIntegers(llvm::StringRef name);

/// The kind of the integers of quantized tensors with the number \p number of
/// c10::ScalarType; none of other numbers.
std::optional<ElemKind> getQuantizedKind(int64_t number);
/// The number of c10::ScalarType of quantized tensors with integers of \p kind.
int64_t getQuantizedNumber(ElemKind kind);

/// Returns the argument \p argument, which must be float.
llvm::Expected<NodeValue> readFloat(const AtenOp &op, llvm::StringRef argument);
/// Returns the argument \p argument, which must be quantized, with one scale.
llvm::Expected<AtenQuantized> readQuantized(const AtenOp &op,
                                            llvm::StringRef argument);

/// Returns the floats that \p x stands for.
NodeValue dequantize(NodeBuilder &b, const AtenQuantized &x);
/// Returns \p x with the scale and zero point of \p like, and integers of
/// \p kind: multiplied with the inverse of the scale and rounded, as PyTorch
/// has it.
AtenQuantized quantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                       const AtenQuantized &like);
/// Returns the same of \p x that an operator on quantized tensors computes:
/// rounded quotients, whose divisors the optimizer joins with other factors.
AtenQuantized requantize(NodeBuilder &b, NodeValue x, ElemKind kind,
                         const AtenQuantized &like);

/// Creates the nodes of \p op for \p arguments, some of which are quantized.
llvm::Expected<AtenValue::List> importQuantized(const RegisteredAtenOp &op,
                                                Function &function,
                                                llvm::StringRef name,
                                                AtenValue::List arguments,
                                                AtenContext &context);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_QUANTIZED_H
