//===- ModelFile.h - Bytes to protobufs -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
#define GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H

#include "glowish/Base/Tensor.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// Parses a model, binary or protobuf text.
llvm::Expected<onnx::ModelProto> parseModelProto(llvm::StringRef bytes);

/// The element kind of an ONNX data type; an error names those without one.
llvm::Expected<ElemKind> getElemKind(int64_t dataType);

/// The contents of \p proto. External data are read from files beside the
/// model: \p folder, empty where there is none.
llvm::Expected<Tensor> readTensor(const onnx::TensorProto &proto,
                                  llvm::StringRef folder);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
