//===- MicrosoftRotary.h - Tables of rotary embeddings ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_MICROSOFTROTARY_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_MICROSOFTROTARY_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Rows of cosines and sines for tokens: [batch or 1, 1, tokens, pairs].
struct Angles {
  NodeValue cosines, sines;
};

/// Checks that inputs \p cosine and \p cosine + 1 are matrices with the cosines
/// and sines of up to \p maxPairs pairs.
llvm::Error checkCaches(OpContext &op, unsigned cosine, int64_t maxPairs);

/// Returns the rows of inputs \p cosine and \p cosine + 1 at \p positions
/// [batch or 1, length].
Angles gatherAngles(OpContext &op, unsigned cosine, NodeValue positions);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_MICROSOFTROTARY_H
