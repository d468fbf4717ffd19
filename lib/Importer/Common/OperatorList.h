//===- OperatorList.h - Pages with operators --------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OPERATORLIST_H
#define GLOWISH_LIB_IMPORTER_COMMON_OPERATORLIST_H

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace glowish {

/// Prints a table of \p operators, each with a name and a limit, in Markdown.
template <typename List>
void printOperators(llvm::raw_ostream &os, const List &operators) {
  os << operators.size() << " operators.\n\n"
     << "| Operator | Limits |\n|---|---|\n";
  for (const auto &info : operators)
    os << llvm::formatv("| {0} | {1} |\n", info.name, info.limit);
}

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OPERATORLIST_H
