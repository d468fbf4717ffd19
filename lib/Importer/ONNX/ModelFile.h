//===- ModelFile.h - Bytes to protobufs -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
#define GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H

#include "Common/ProtobufFile.h"
#include "ONNX/ExternalData.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// Parses a model, binary or protobuf text.
llvm::Expected<onnx::ModelProto> parseModelProto(llvm::StringRef bytes);

/// The element kind of an ONNX data type; an error names those without one.
llvm::Expected<ElemKind> getElemKind(int64_t dataType);

/// The contents that \p proto has itself; external data are an error.
llvm::Expected<Tensor> readOwnTensor(const onnx::TensorProto &proto);

/// The contents of \p proto; those that are elsewhere are found by \p external.
llvm::Expected<std::shared_ptr<const Tensor>>
readTensor(const onnx::TensorProto &proto, ExternalData &external);

/// The same of a sparse tensor (values, and their indices: one each into the
/// row-major elements or one a dimension), written out. Indices may come in
/// any order; two of the same element are an error.
llvm::Expected<std::shared_ptr<const Tensor>>
readSparseTensor(const onnx::SparseTensorProto &proto, ExternalData &external);

/// A tensor of \p type with a copy of the elements \p raw, little-endian.
llvm::Expected<Tensor> readRawTensor(const Type &type,
                                     llvm::ArrayRef<uint8_t> raw);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_MODELFILE_H
