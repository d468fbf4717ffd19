//===- ExternalData.h - Tensors in files beside the model -----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace glowish {

/// The files beside a model that hold its large tensors. Each is mapped once,
/// when a tensor first asks for it, and stays mapped as long as a tensor of it
/// lives.
class ExternalData {
public:
  /// \p folder: the model's; empty where the model is no file.
  explicit ExternalData(llvm::StringRef folder) : folder(folder.str()) {}

  /// The tensor of \p type whose contents \p proto says are elsewhere. It
  /// borrows the mapped bytes where they are elements as they stand. Errors:
  /// a location that is not in the folder, also by way of a link, or is not a
  /// plain file; bytes that the file does not have.
  llvm::Expected<std::shared_ptr<const Tensor>>
  read(const onnx::TensorProto &proto, const Type &type);

private:
  using File = std::shared_ptr<llvm::MemoryBuffer>;
  llvm::Expected<File> open(llvm::StringRef location);

  std::string folder;
  /// By their paths, links resolved.
  std::map<std::string, File> files;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
