//===- FlexAttention.h - Expansion of FlexAttention -------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H
#define GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H

#include "llvm/Support/Error.h"
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// Decomposes the nodes FlexAttention (domain ai.onnx.preview) of \p model that
/// have a graph in 'score_mod' or 'prob_mod', with the nodes of these graphs
/// inlined. An error names an unsupported graph.
llvm::Error expandFlexAttention(onnx::ModelProto &model);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H
