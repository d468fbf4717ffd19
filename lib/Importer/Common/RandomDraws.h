//===- RandomDraws.h - Draws of what random operators have ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_RANDOMDRAWS_H
#define GLOWISH_LIB_IMPORTER_COMMON_RANDOMDRAWS_H

#include "glowish/Graph/NodeBuilder.h"

namespace glowish {

/// Returns the key of the random values of the operator \p name, which states
/// no seed: operators differ, runs do not.
uint64_t getRandomKey(llvm::StringRef name);

/// Returns the kind that random values of \p kind, a float kind, are computed
/// in: float16 and bfloat16 are computed as floats.
ElemKind getDrawnKind(ElemKind kind);

/// Returns \p samples class indices for each row of \p weights, double, [batch,
/// classes] with at least one class: [batch, samples], of \p kind. A class is
/// drawn with a probability proportional to its weight, each time anew.
NodeValue drawClasses(NodeBuilder &b, NodeValue weights, int64_t samples,
                      NodeValue key, ElemKind kind);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_RANDOMDRAWS_H
