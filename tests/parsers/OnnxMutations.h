//===- OnnxMutations.h - Mutations of ONNX models ---------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_PARSERS_ONNXMUTATIONS_H
#define GLOWISH_TESTS_PARSERS_ONNXMUTATIONS_H

#include "glowish/Support/Random.h"
#include <onnx/onnx_pb.h>

namespace glowish::parsers {

/// Changes \p model as a model: adds, repeats, removes and moves nodes, makes
/// them other operators, gives them attributes of ONNX's schemas, connects and
/// renames values, changes opsets, types, extents, the form of elements and
/// where they are. The result may be anything that protobuf can state.
void mutateModel(onnx::ModelProto &model, Random &random);

/// Adds nodes and initializers of \p other to \p model, with some of the values
/// connected.
void crossModels(onnx::ModelProto &model, const onnx::ModelProto &other,
                 Random &random);

} // namespace glowish::parsers

#endif // GLOWISH_TESTS_PARSERS_ONNXMUTATIONS_H
