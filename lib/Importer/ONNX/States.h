//===- States.h - Outputs that the next run reads ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_STATES_H
#define GLOWISH_LIB_IMPORTER_ONNX_STATES_H

#include "ONNX/Extents.h"
#include "llvm/ADT/StringMap.h"

namespace glowish::onnximport {

/// The input of each output of \p graph that is a state by \p names. Returns an
/// error if names match nothing, or an input or output twice.
llvm::Expected<llvm::StringMap<std::string>>
matchStates(const onnx::GraphProto &graph, llvm::ArrayRef<StateNames> names);

/// Makes an output of \p input, too, to which \p value is saved. It gets the
/// larger of both extents in each dimension, or those of \p layout unless that
/// is null; those of the value must be the input's, or sums of extents that
/// runs state. Readers of the input get one of its new type by widenReaders().
llvm::Error makeState(GraphContext &graph, Placeholder &input, NodeValue value,
                      const PlaceholderLayout *layout);

/// Lets the readers of \p input, of type \p type before it became a state, read
/// the corner of the state, as the elements joined to it are written behind it.
void widenReaders(Function &function, Placeholder &input, const Type &type);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_STATES_H
