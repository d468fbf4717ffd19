//===- TensorProtoFile.h - Tensors in .pb files -----------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_TENSORPROTOFILE_H
#define GLOWISH_IMPORTER_TENSORPROTOFILE_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// Reads a TensorProto file (.pb), the format of ONNX's test data.
llvm::Expected<Tensor> readTensorProto(llvm::StringRef path);

/// Reads a SequenceProto file of tensors (.pb), or an OptionalProto file whose
/// value is such a sequence.
llvm::Expected<std::vector<Tensor>> readSequenceProto(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_IMPORTER_TENSORPROTOFILE_H
