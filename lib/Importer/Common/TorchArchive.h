//===- TorchArchive.h - Archives that PyTorch writes ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_TORCHARCHIVE_H
#define GLOWISH_LIB_IMPORTER_COMMON_TORCHARCHIVE_H

#include "glowish/Base/Tensor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

struct zip;

namespace glowish {

class ZipSource;

/// Bytes in memory that \p owner keeps.
struct SharedBytes {
  llvm::ArrayRef<uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

/// The files of a ZIP archive, without the one top folder that PyTorch's
/// archives have.
class TorchArchive {
public:
  static llvm::Expected<TorchArchive> open(llvm::StringRef path);
  TorchArchive(TorchArchive &&);
  ~TorchArchive();

  bool has(llvm::StringRef name) const { return entries.contains(name); }
  /// The names that begin with \p prefix, sorted.
  std::vector<std::string> list(llvm::StringRef prefix) const;
  /// A text. An error if it is absent, corrupt or very large.
  llvm::Expected<std::string> readText(llvm::StringRef name) const;
  /// The size of an entry in bytes; an error if it is absent.
  llvm::Expected<uint64_t> getSize(llvm::StringRef name) const;
  /// An entry, whose checksum is compared: bytes of the mapped file where they
  /// are not compressed, as PyTorch writes them, else unpacked ones.
  llvm::Expected<SharedBytes> readBytes(llvm::StringRef name) const;
  /// An error if the checksum of an entry is not that of its bytes.
  llvm::Error checkAll() const;

private:
  struct Close {
    void operator()(zip *archive) const;
  };
  struct Entry {
    uint64_t index, size;
  };
  using Receiver = llvm::function_ref<void(llvm::ArrayRef<uint8_t>)>;
  TorchArchive();
  llvm::Expected<Entry> find(llvm::StringRef name) const;
  llvm::Error readPieces(Entry entry, Receiver receive) const;

  std::unique_ptr<ZipSource> source;
  std::unique_ptr<zip, Close> archive;
  llvm::StringMap<Entry> entries;
};

/// What PyTorch writes to files.
enum class TorchFile {
  /// None of the following.
  Other,
  TorchScript,
  /// TorchScript as PyTorch 1.0 to 1.3 wrote it.
  OldTorchScript,
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

/// Classifies the file \p path by its contents \p bytes: the first ones, and
/// the names in an archive.
TorchFile classifyTorchFile(llvm::StringRef path, llvm::StringRef bytes);

/// Whether \p path is a ZIP archive with all files \p names at its top or in
/// its one top folder.
bool hasZipEntries(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> names);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_TORCHARCHIVE_H
