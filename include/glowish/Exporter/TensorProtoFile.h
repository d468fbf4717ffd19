//===- TensorProtoFile.h - Tensors for .pb files ----------------*- C++ -*-===//

#ifndef GLOWISH_EXPORTER_TENSORPROTOFILE_H
#define GLOWISH_EXPORTER_TENSORPROTOFILE_H

#include "glowish/Base/Tensor.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace glowish {

/// Returns the bytes of a SequenceProto \p name with \p tensors, the format in
/// which ONNX's test data have sequences.
std::string writeSequenceProto(llvm::StringRef name,
                               llvm::ArrayRef<Tensor> tensors);

} // namespace glowish

#endif // GLOWISH_EXPORTER_TENSORPROTOFILE_H
