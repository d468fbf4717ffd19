//===- FunctionSizes.h - Sizes of functions in an object --------*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_FUNCTIONSIZES_H
#define GLOWISH_LIB_BACKENDS_CPU_FUNCTIONSIZES_H

#include "glowish/Backends/CodeSizes.h"

namespace glowish {

/// Fills in the functions of \p object and its size.
llvm::Error readFunctionSizes(llvm::ArrayRef<char> object, CodeSizes &sizes);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_FUNCTIONSIZES_H
