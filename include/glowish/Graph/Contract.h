//===- Contract.h - What front ends deliver ---------------------*- C++ -*-===//

#ifndef GLOWISH_GRAPH_CONTRACT_H
#define GLOWISH_GRAPH_CONTRACT_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// Checks what every front end delivers and what all that comes after may rely
/// on (docs/contract.md): beyond verify(), that the functions define what the
/// model's interface says, and nothing else. The error names placeholder or
/// node.
llvm::Error verifyContract(const Module &module);

} // namespace glowish

#endif // GLOWISH_GRAPH_CONTRACT_H
