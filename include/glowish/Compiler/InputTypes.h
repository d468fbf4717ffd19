//===- InputTypes.h - Parses what is stated of inputs -----------*- C++ -*-===//

#ifndef GLOWISH_COMPILER_INPUTTYPES_H
#define GLOWISH_COMPILER_INPUTTYPES_H

#include "glowish/Importer/ImportOptions.h"

namespace glowish {

/// Returns a type as -model-input has it: `float,[1,3,224,224]`; with scale and
/// offset where it is quantized, `int8q,0.5,3,[8]`. Glow's names of fused rows
/// (FusedRows.h) are uint8. Dimensions may be expressions of the symbols that
/// \p options give values or ranges: `float,[batch,3,2*n]`.
llvm::Expected<Type> parseInputType(llvm::StringRef text,
                                    const ImportOptions &options = {});

/// What -model-input has been given, `name,type,[dims]` each, goes to
/// \p options; an error shows the form.
llvm::Error readInputTypes(llvm::ArrayRef<std::string> texts,
                           ImportOptions &options);

/// Adds those of -constant-input, `name,number` or `name,"text"` each.
llvm::Error readConstantInputs(llvm::ArrayRef<std::string> texts,
                               ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_COMPILER_INPUTTYPES_H
