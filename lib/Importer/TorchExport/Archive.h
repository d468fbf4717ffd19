//===- Archive.h - Archives of exported programs ----------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARCHIVE_H
#define GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARCHIVE_H

#include "glowish/Base/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

struct zip;

namespace glowish {

/// The files of a ZIP archive, without the one top folder that PyTorch's
/// archives have.
class TorchArchive {
public:
  static llvm::Expected<TorchArchive> open(llvm::StringRef path);

  bool has(llvm::StringRef name) const { return entries.contains(name); }
  /// The names that begin with \p prefix, sorted.
  std::vector<std::string> list(llvm::StringRef prefix) const;
  /// A text. An error if it is absent, corrupt or very large.
  llvm::Expected<std::string> readText(llvm::StringRef name) const;
  /// The size of an entry in bytes; an error if it is absent.
  llvm::Expected<uint64_t> getSize(llvm::StringRef name) const;
  /// Reads an entry of \p size bytes to \p target, and checks its checksum.
  llvm::Error read(llvm::StringRef name, void *target, uint64_t size) const;

private:
  struct Close {
    void operator()(zip *archive) const;
  };
  struct Entry {
    uint64_t index, size;
  };
  TorchArchive() = default;
  llvm::Expected<Entry> find(llvm::StringRef name) const;

  std::unique_ptr<zip, Close> archive;
  llvm::StringMap<Entry> entries;
};

/// Whether the file \p path is an archive with the entry \p name below its top
/// folder, or one that begins like it if \p name ends with '/'.
bool hasArchiveEntry(llvm::StringRef path, llvm::StringRef name);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_TORCHEXPORT_ARCHIVE_H
