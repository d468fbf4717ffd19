//===- TensorFile.h - Tensors in files --------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_TENSORFILE_H
#define GLOWISH_TOOLS_COMMON_TENSORFILE_H

#include "glowish/Base/Tensor.h"

namespace glowish {

/// Reads a .npy file or a TensorProto (.pb). Elements keep their kind.
llvm::Expected<Tensor> readTensorFile(llvm::StringRef path);
/// The bytes of \p tensor as the .npy file \p path; bfloat16 and quantized
/// kinds are refused, as the format has no name for them.
llvm::Expected<std::string> encodeNpy(llvm::StringRef path,
                                      const Tensor &tensor);
/// Writes \p tensor as .npy, with the same errors.
llvm::Error writeNpyFile(llvm::StringRef path, const Tensor &tensor);

/// The name of a tensor as a file name: what a path could misread becomes '_'.
std::string getFileName(llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_TENSORFILE_H
