//===- Symbols.h - Symbolic extents of exported programs --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H

#include "glowish/Base/DimExpression.h"

namespace glowish::torchexport {

/// A symbolic extent as DimExpression has it. \p text is what SymPy prints:
/// "s0 + 1", or in its other notation "Add(Symbol('s0', integer=True),
/// Integer(1))". Nothing if it is neither, or has other functions than
/// addition, multiplication and division.
std::optional<std::string> readSymbolicExtent(llvm::StringRef text);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H
