//===- Complex.h - Operators on complex tensors -----------------*- C++ -*-===//
//
// Nodes have real elements. A complex tensor is two of them during import, and
// what an operator makes of it is an operator on the parts.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_COMPLEX_H
#define GLOWISH_LIB_IMPORTER_ATEN_COMPLEX_H

#include "Aten/AtenOp.h"

namespace glowish::aten {

/// Registers the importer for complex tensors of operators that have another
/// one for real tensors, as a static object, for all overloads of each name
/// ("abs").
class AtenComplexOperators {
public:
  AtenComplexOperators(AtenImporter importer,
                       std::initializer_list<llvm::StringLiteral> names);
};

/// Returns whether \p value, or an element of the list that it is, is a complex
/// tensor, or the kind of one.
bool hasComplex(const AtenValue &value);

/// Returns whether the operator \p name ("select") does the same with both
/// parts of a complex tensor.
bool isPartwise(llvm::StringRef name);

/// Returns whether the argument \p name of such an operator is the same for
/// both parts, such as indices; of others that are real the imaginary part is
/// 0.
bool isOfBothParts(llvm::StringRef name);

/// The distance from the number of a float kind (c10::ScalarType) to that of
/// complex numbers with such parts; in exported programs' numbers, too.
inline constexpr int64_t complexKindDistance = 3;

/// Returns the kind of the parts of complex tensors with the number \p number
/// of c10::ScalarType; none of other numbers.
std::optional<ElemKind> getPartKind(int64_t number);

/// Returns the parts that the last dimension of \p pairs, 2, has.
ComplexParts splitPairs(NodeBuilder &b, NodeValue pairs);
/// Returns both parts of \p value along a new last dimension.
NodeValue joinPairs(NodeBuilder &b, ComplexParts value);

/// Returns the product of two values, either of which may be real.
ComplexParts multiply(NodeBuilder &b, ComplexParts x, ComplexParts y);

/// Creates the nodes of \p op for \p arguments, some of which are complex.
llvm::Expected<AtenValue::List> importComplex(const RegisteredAtenOp &op,
                                              Function &function,
                                              llvm::StringRef name,
                                              AtenValue::List arguments,
                                              AtenContext &context);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_COMPLEX_H
