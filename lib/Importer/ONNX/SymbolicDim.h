//===- SymbolicDim.h - Dimensions that a model names ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H
#define GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace glowish {

/// The extent that the dim_param \p text stands for: the value of the symbol
/// with this name, or of an expression of symbols as exporters write them
/// ("2*batch", "(height + 1)//2"): integers, + - * //, parentheses; // rounds
/// down. Nothing where a symbol has no value in \p symbols or the text is no
/// such expression; an error where there is no number: a division by 0, a
/// result below 0 or beyond 64 bits.
llvm::Expected<std::optional<int64_t>>
evaluateDim(llvm::StringRef text,
            const std::map<std::string, int64_t> &symbols);

/// The names in the expression \p text, each once, in order; \p text itself
/// where it is no expression.
std::vector<std::string> getDimSymbols(llvm::StringRef text);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_SYMBOLICDIM_H
