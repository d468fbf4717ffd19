//===- TypeRules.h - Typed views and type rules of operators ----*- C++ -*-===//
//
// For each record NAME, glowish-tblgen writes a class NAMEView, an OpView with
// accessors named after the operands and attributes. Each type rule that a
// record names is declared here and defined in lib/Ops/TypeRules/, in the file
// of the operator's family.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_TYPERULES_H
#define GLOWISH_OPS_TYPERULES_H

#include "glowish/Ops/OpInfo.h"

namespace glowish {

#define GET_OP_VIEWS
#include "glowish/Ops/TypeRules.inc"

/// \name Axis rules
/// The functions of OpInfo::followAxis, defined in lib/Ops/AxisRules.cpp.
/// @{
#define AXIS_RULE(FUNCTION)                                                    \
  std::optional<OperandAxes> FUNCTION(const OpView &op, const Type &result,    \
                                      unsigned dim);
#define GET_AXIS_RULE_LIST
#include "glowish/Ops/TypeRules.inc"
/// @}

/// Whether the Reduce \p op selects elements or sums integers.
bool isExactReduction(const OpView &op);

/// \name Type rules
/// Each returns one type a result, or an error about an operand or attribute.
/// @{
#define TYPE_RULE(FUNCTION) llvm::Expected<TypeList> FUNCTION(const OpView &op);
#define GET_TYPE_RULE_LIST
#include "glowish/Ops/TypeRules.inc"
/// @}

/// The type \p result of an instruction after its epilogue, which has the last
/// word on the element kind. \p fusedOperand, \p epilogueAttr: those of OpInfo.
llvm::Expected<TypeList> applyEpilogue(const OpView &op, TypeList result,
                                       unsigned fusedOperand,
                                       unsigned epilogueAttr);

/// The type rule of an instruction with an epilogue: \p rule, applied
/// without the epilogue, and the rule of the epilogue.
template <llvm::Expected<TypeList> (*rule)(const OpView &op),
          unsigned fusedOperand, unsigned epilogueAttr>
llvm::Expected<TypeList> inferWithEpilogue(const OpView &op) {
  llvm::Expected<TypeList> result = rule(op);
  if (!result)
    return result;
  return applyEpilogue(op, std::move(*result), fusedOperand, epilogueAttr);
}

} // namespace glowish

#endif // GLOWISH_OPS_TYPERULES_H
