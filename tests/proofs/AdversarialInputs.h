//===- AdversarialInputs.h - Numbers that break rewrites --------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PROOFS_ADVERSARIALINPUTS_H
#define GLOWISH_TESTS_PROOFS_ADVERSARIALINPUTS_H

#include "glowish/Graph/Module.h"
#include "glowish/Support/Pass.h"

namespace glowish::proofs {

/// Whether interpretBoth() sees all that \p module computes: element-wise nodes
/// of one input of at least 256 bytes.
bool isExhaustible(const Module &module);

/// Interprets two modules, before and after \p what, on the same inputs: of an
/// exact change zeros of both signs, infinities, NaN, subnormal numbers, the
/// ends of integers, all bytes, and moderate numbers; else the moderate ones
/// alone. Inputs that are called "finite..." have moderate ones. The error says
/// how an output changed by more than \p exactness lets it.
llvm::Error interpretBoth(Module &before, Module &after, llvm::StringRef what,
                          Exactness exactness);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_ADVERSARIALINPUTS_H
