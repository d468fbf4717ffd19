//===- Extents.h - Arithmetic on extents that runs decide -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_EXTENTS_H
#define GLOWISH_LIB_IMPORTER_ATEN_EXTENTS_H

#include "Aten/Value.h"
#include "llvm/Support/Error.h"

namespace glowish::aten {

/// Returns the result of Python's operator or function \p name, such as "add",
/// "lt" or "sym_max", for \p x and \p y, which are the same where it has one
/// argument: a bool, an int, or an expression. None if it isn't known.
std::optional<AtenValue> computeOfExtents(llvm::StringRef name, const Extent &x,
                                          const Extent &y,
                                          const SymbolRanges &symbols);

/// Returns the error that there is no such result for \p x and \p y, which are
/// descriptions of the arguments.
llvm::Error refuseExtents(llvm::StringRef x, llvm::StringRef y);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_EXTENTS_H
