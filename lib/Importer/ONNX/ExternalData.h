//===- ExternalData.h - External data of tensors ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
#define GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H

#include "glowish/Base/Tensor.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <onnx/onnx_pb.h>

namespace glowish::onnximport {

/// The directories in which a model's external data may be.
struct DataFolders {
  /// The model's directory; empty if the model is not a file.
  std::string own;
  /// Where the model is a symbolic link, the real path of the directory that it
  /// leads to. Caches have links to files that are named after their contents:
  /// `snapshots/REVISION/model.onnx` leads to `../../blobs/HASH`, and so do the
  /// model's data. Empty otherwise.
  std::string target;
  /// The model's own file, in which large weights are left (DetachedData.h);
  /// null where it has been copied.
  std::shared_ptr<llvm::MemoryBuffer> model;

  /// Returns those of the model \p path.
  static DataFolders of(llvm::StringRef path);
};

/// The external data files of a model. Each is memory-mapped on first use, and
/// stays mapped as long as a tensor has elements in it.
class ExternalData {
public:
  explicit ExternalData(DataFolders folders) : folders(std::move(folders)) {}

  /// Returns the tensor of \p type with the external data described by
  /// \p proto, which stay in the mapped file until they are needed. It is an
  /// error if the location is outside the model's directory, also through a
  /// symbolic link, unless that leads to a file beside the one that the model
  /// leads to; if it is not a regular file; or if the file is too short.
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

  DataFolders folders;
  /// By real paths.
  std::map<std::string, File> files;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_EXTERNALDATA_H
