//===- Archive.h - What kind of file PyTorch wrote --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ARCHIVE_H
#define GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ARCHIVE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace glowish {

/// The names in the ZIP archive \p bytes, of which only the list at its end is
/// read; an error if that is malformed.
llvm::Expected<std::vector<llvm::StringRef>> listArchive(llvm::StringRef bytes);

/// What PyTorch writes to files.
enum class TorchFile {
  /// None of the following.
  Other,
  TorchScript,
  /// TorchScript as PyTorch 1.0 to 1.3 wrote it.
  OldTorchScript,
  /// An ExportedProgram, which is another format's business.
  ExportedProgram,
  /// Tensors alone, as torch.save() writes them.
  Tensors,
  /// The same before PyTorch 1.6: a pickle.
  Pickle,
  /// The same before PyTorch 0.4: a tar archive.
  Tar,
  /// A ZIP archive whose list of files is malformed.
  Malformed,
};

TorchFile classifyTorchFile(llvm::StringRef bytes);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_TORCHSCRIPT_ARCHIVE_H
