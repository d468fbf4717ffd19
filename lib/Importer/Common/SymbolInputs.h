//===- SymbolInputs.h - Inputs with extents that runs decide ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_SYMBOLINPUTS_H
#define GLOWISH_LIB_IMPORTER_COMMON_SYMBOLINPUTS_H

#include "glowish/Base/InputExtents.h"
#include "glowish/Graph/Module.h"

namespace glowish {

/// The name and type of an input of a module that is imported.
struct InputOfType {
  llvm::StringRef name;
  const Type &type;
  /// Whether it is an output, too.
  bool isOutput = false;
};

/// Creates the input \p name, int64<>, by which runs state the symbol of
/// \p range.
Placeholder *createSymbol(Module &module, const std::string &name,
                          SymbolRange range);

/// Creates the placeholder of \p input and, before it, the inputs int64<> that
/// state the symbols in its type that nothing states yet. \p ranges: those of
/// the symbols. \p names: those of the model's inputs, which no other has.
Placeholder *createInput(Module &module, const InputOfType &input,
                         const SymbolRanges &ranges,
                         llvm::ArrayRef<std::string> names);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_SYMBOLINPUTS_H
