//===- Instrs.h - Instructions of the CPU back end --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_INSTRS_H
#define GLOWISH_LIB_BACKENDS_CPU_INSTRS_H

#include "Selection/ConvolutionCandidate.h"
#include "glowish/IR/Instrs.h"
#include "glowish/Ops/TypeRules.h"

namespace glowish {

/// The records of CPUInstrs.td in their order.
enum class CPUInstrKind : uint16_t {
#define INSTR(NAME) NAME,
#define GET_INSTR_LIST
#include "glowish/Backends/CPU/instr-kinds.inc"
};
InstrKind getCPUKind(CPUInstrKind kind);

#define GET_INSTR_CLASSES
#include "glowish/Backends/CPU/instr-classes.inc"

#define GET_OP_VIEWS
#include "glowish/Backends/CPU/type-rules.inc"

#define TYPE_RULE(FUNCTION) llvm::Expected<TypeList> FUNCTION(const OpView &op);
#define GET_TYPE_RULE_LIST
#include "glowish/Backends/CPU/type-rules.inc"

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_INSTRS_H
