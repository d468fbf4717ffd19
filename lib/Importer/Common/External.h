//===- External.h - Import of external operators ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_EXTERNAL_H
#define GLOWISH_LIB_IMPORTER_COMMON_EXTERNAL_H

#include "glowish/Graph/Module.h"
#include "glowish/Importer/ImportOptions.h"
#include "glowish/Plugin/ExternalOperator.h"

namespace glowish {

/// The external operator \p name of \p domain that \p options declare, or null.
/// It takes the place of one that glowish knows.
const ExternalOperator *findExternalOperator(const ImportOptions &options,
                                             llvm::StringRef domain,
                                             llvm::StringRef name);

/// Creates the nodes of \p op, named \p name, at the insertion point of
/// \p function: a call, or what the operator is composed of. \p inputs: null
/// where one is absent. Returns at least \p numResults results.
llvm::Expected<llvm::SmallVector<NodeValue, 4>>
importExternalOperator(const ExternalOperator &op, Function &function,
                       llvm::StringRef name, llvm::ArrayRef<NodeValue> inputs,
                       NamedValues attributes, unsigned numResults);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_EXTERNAL_H
