//===- ModelFile.h - Parsing of models and tensors --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
#define GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H

#include "Common/ProtobufFile.h"
#include "ONNX/ExternalData.h"
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// Parses a model, binary or protobuf text.
llvm::Expected<onnx::ModelProto> parseModelProto(llvm::StringRef bytes);

/// Returns the element kind of an ONNX data type; an error names unsupported
/// ones.
llvm::Expected<ElemKind> getElemKind(int64_t dataType);

/// Reads the tensor \p proto, which must not have external data.
llvm::Expected<Tensor> readOwnTensor(const onnx::TensorProto &proto);

/// Reads the tensor \p proto; \p external resolves external data.
llvm::Expected<std::shared_ptr<const Tensor>>
readTensor(const onnx::TensorProto &proto, ExternalData &external);

/// Reads a sparse tensor (values and their indices, either row-major positions
/// or one index per dimension) as a dense one. Indices may be in any order;
/// duplicates are an error.
llvm::Expected<std::shared_ptr<const Tensor>>
readSparseTensor(const onnx::SparseTensorProto &proto, ExternalData &external);

/// Returns a tensor of \p type with a copy of the elements \p raw,
/// little-endian and packed (Base/Packing.h).
llvm::Expected<Tensor> readRawTensor(const Type &type,
                                     llvm::ArrayRef<uint8_t> raw);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
