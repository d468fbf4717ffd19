//===- Outputs.h - Outputs of modules that are imported ---------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_OUTPUTS_H
#define GLOWISH_LIB_IMPORTER_COMMON_OUTPUTS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// \p name, followed by \p suffix, and by that and a number, until no
/// placeholder of \p module has it.
std::string getUniqueModelName(const Module &module, llvm::StringRef name,
                               llvm::StringRef suffix);

/// Creates the output \p name, which no placeholder has, and saves \p value to
/// it. If a run decides extents of it, the output has their bounds, and another
/// one, `NAME.extents`, all extents (Placeholder::getExtents).
void createOutput(Function &function, const std::string &name, NodeValue value);
/// Creates the output \p name of \p value, and the output \p extentsName of all
/// extents of it, also where no run decides one. \p b computes lengths.
llvm::Error createOutput(NodeBuilder &b, const std::string &name,
                         NodeValue value, const std::string &extentsName);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_OUTPUTS_H
