//===- OperatorFlags.h - Flags that bring operators -------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_OPERATORFLAGS_H
#define GLOWISH_TOOLS_COMMON_OPERATORFLAGS_H

#include "glowish/Plugin/ExternalOperator.h"

namespace glowish {

/// The operators of -operators and -external; null where neither is given.
/// Loads the libraries at the first call.
llvm::Expected<std::shared_ptr<const ExternalOperators>> readOperatorFlags();

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_OPERATORFLAGS_H
