//===- ExternalData.h - External data of tensors ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// The external data files of a model. Each is memory-mapped on first use, and
/// stays mapped as long as a tensor borrows from it.
class ExternalData {
public:
  /// \p folder is the model's directory; empty if the model is not a file.
  explicit ExternalData(llvm::StringRef folder) : folder(folder.str()) {}

  /// Returns the tensor of \p type with the external data described by
  /// \p proto. It borrows the mapped bytes if their representation and
  /// alignment permit. It is an error if the location is outside the directory,
  /// also through a symbolic link, or not a regular file, or if the file is too
  /// short.
  llvm::Expected<std::shared_ptr<const Tensor>>
  read(const onnx::TensorProto &proto, const Type &type);

  /// Returns the real paths of the files that tensors anywhere in \p message
  /// name, one for each location, sorted by these. An error is one of read().
  llvm::Expected<std::vector<std::string>>
  listFiles(const google::protobuf::Message &message) const;

private:
  using File = std::shared_ptr<llvm::MemoryBuffer>;
  llvm::Expected<std::string> findFile(llvm::StringRef location) const;
  llvm::Expected<File> open(llvm::StringRef location);
  llvm::Error addFiles(const google::protobuf::Message &message,
                       std::map<std::string, std::string> &paths) const;

  std::string folder;
  /// By real paths.
  std::map<std::string, File> files;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
