//===- FlexAttention.h - Attention with graphs in attributes ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H
#define GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H

#include "llvm/Support/Error.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// Replaces the nodes FlexAttention (domain ai.onnx.preview) of \p model that
/// have a graph in 'score_mod' or 'prob_mod' by other operators and the nodes
/// of those graphs. An error names a graph of another form.
llvm::Error expandFlexAttention(onnx::ModelProto &model);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_FLEXATTENTION_H
