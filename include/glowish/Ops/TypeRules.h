//===- TypeRules.h - Typed views and type rules of operators --*- C++ -*-===//
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

/// \name Type rules
/// Each returns one type a result, or an error about an operand or attribute.
/// @{
#define TYPE_RULE(FUNCTION) llvm::Expected<TypeList> FUNCTION(const OpView &op);
#define GET_TYPE_RULE_LIST
#include "glowish/Ops/TypeRules.inc"
/// @}

} // namespace glowish

#endif // GLOWISH_OPS_TYPERULES_H
