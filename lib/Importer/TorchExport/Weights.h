//===- Weights.h - Tensors of exported programs -----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_WEIGHTS_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_WEIGHTS_H

#include "Common/TorchArchive.h"
#include "TorchExport/Json.h"

namespace glowish::torchexport {

/// The element kind with the number \p number of the schema's ScalarType; an
/// error if tensors of the graph don't have it.
llvm::Expected<ElemKind> getExportedKind(int64_t number);
/// The kind of the parts of complex tensors with that number; none of others.
std::optional<ElemKind> getExportedPartKind(int64_t number);

/// The parameters, buffers and constants of a model, by their names.
class TorchWeights {
public:
  explicit TorchWeights(const TorchArchive &archive) : archive(archive) {}

  /// Reads the list of what is in the folder \p folder of the archive,
  /// "data/weights/" or "data/constants/". A list that is absent is empty.
  llvm::Error readConfig(llvm::StringRef folder, llvm::StringRef model);

  /// The tensor \p name, read on first use. A complex one has a further last
  /// dimension, of its two parts.
  llvm::Expected<std::shared_ptr<const Tensor>> get(llvm::StringRef name);

  /// Returns whether the tensor \p name, if there is one, is complex.
  bool isComplex(llvm::StringRef name) const;

private:
  struct Payload {
    std::string path;
    llvm::json::Object meta;
    bool isPickled;
    std::shared_ptr<const Tensor> tensor;
  };
  llvm::Expected<std::shared_ptr<const Tensor>>
  read(const Payload &payload) const;

  const TorchArchive &archive;
  llvm::StringMap<Payload> payloads;
};

} // namespace glowish::torchexport

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_WEIGHTS_H
