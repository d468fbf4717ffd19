//===- GraphInputs.h - Types of a model's inputs --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
#define GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H

#include "glowish/Importer/ONNX.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// The type of \p input: what the options state for it, or what the model
/// says, with its symbolic dimensions bound by the options. An unbound one is
/// an error that names the flags that bind it.
llvm::Expected<Type> resolveInputType(const onnx::ValueInfoProto &input,
                                      const ImportOptions &options);

/// The constant that the options bind \p input to, checked against the model's
/// type; null where there is none.
llvm::Expected<std::shared_ptr<const Tensor>>
resolveConstantInput(const onnx::ValueInfoProto &input,
                     const ImportOptions &options);

/// Whether all inputs that the options name are inputs of the model; \p names
/// has those, in order, without the weights.
llvm::Error checkInputNames(const std::vector<std::string> &names,
                            const ImportOptions &options);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_GRAPHINPUTS_H
