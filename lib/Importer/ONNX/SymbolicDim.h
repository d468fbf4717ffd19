//===- SymbolicDim.h - Symbolic dimensions ----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H
#define GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace glowish {

/// Evaluates the dim_param \p text: a symbol, or an expression of symbols as
/// written by exporters ("2*batch", "(height + 1)//2") with integers, + - * //
/// and parentheses; // rounds down. Returns nothing if a symbol is not in
/// \p symbols or the text is no such expression. A division by 0, a negative
/// result or an overflow is an error.
llvm::Expected<std::optional<int64_t>>
evaluateDim(llvm::StringRef text,
            const std::map<std::string, int64_t> &symbols);

/// Returns the distinct names in the expression \p text, in order, or \p text
/// if it is no expression.
std::vector<std::string> getDimSymbols(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H
