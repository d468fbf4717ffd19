//===- InnerOutputs.h - Intermediate results as outputs ---------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_INNEROUTPUTS_H
#define GLOWISH_DRIVER_INNEROUTPUTS_H

#include "glowish/Graph/Module.h"

namespace glowish {

/// A result of a node, and the output that has it after a run.
struct InnerOutput {
  NodeValue value;
  /// The output's name in the model.
  std::string placeholder;
};

/// \p base, lengthened until the name of no placeholder of \p module begins so.
std::string findFreePrefix(const Module &module, llvm::StringRef base);

/// Makes an output of each result \p isWanted of a node of \p function, bodies
/// left out, in the order of the nodes. The names of the outputs are new. Drops
/// predicates, as all rows of the results are outputs now.
std::vector<InnerOutput>
addInnerOutputs(Function &function,
                llvm::function_ref<bool(NodeValue value)> isWanted);

} // namespace glowish

#endif // GLOWISH_DRIVER_INNEROUTPUTS_H
