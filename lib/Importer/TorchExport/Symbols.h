//===- Symbols.h - Symbolic extents of exported programs --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H

#include "glowish/Base/Extent.h"

namespace glowish::torchexport {

/// Returns the extent that \p text states, which is what SymPy prints: "s0 +
/// 1", "Mod(s0, 2)", or in its other notation "Add(Symbol('s0', integer=True),
/// Integer(1))". None if it is neither, or no Extent. Symbols are taken to be
/// 0 or more, as sizes are.
std::optional<Extent> readSymbolicExtent(llvm::StringRef text);

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_SYMBOLS_H
