//===- Archive.cpp - What kind of file PyTorch wrote ----------------------===//

#include "TorchScript/Archive.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

using namespace glowish;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

//===- ZIP archives -------------------------------------------------------===//

namespace {

/// Records of the ZIP format, each with its first bytes and its smallest size.
struct ZipRecord {
  llvm::StringLiteral signature;
  size_t size;
};

} // namespace

static constexpr ZipRecord fileRecord{"PK\3\4", 30}, entryRecord{"PK\1\2", 46},
    endRecord{"PK\5\6", 22}, wideEndRecord{"PK\6\6", 56},
    wideEndLocator{"PK\6\7", 20};

/// Whether \p record is at \p offset of \p bytes.
static bool has(llvm::StringRef bytes, uint64_t offset,
                const ZipRecord &record) {
  return offset <= bytes.size() && bytes.size() - offset >= record.size &&
         bytes.substr(offset).starts_with(record.signature);
}

namespace {

struct ZipDirectory {
  uint64_t count, offset;
};

} // namespace

/// Where the list of files is, by the record at the end.
static std::optional<ZipDirectory> findDirectory(llvm::StringRef bytes) {
  // A comment of up to 64 KiB may follow.
  size_t end = bytes.rfind(endRecord.signature);
  if (end == llvm::StringRef::npos || !has(bytes, end, endRecord))
    return std::nullopt;
  const char *record = bytes.data() + end;
  ZipDirectory directory{read16le(record + 10), read32le(record + 16)};
  if (end < wideEndLocator.size ||
      !has(bytes, end - wideEndLocator.size, wideEndLocator))
    return directory;
  uint64_t wide = read64le(record - wideEndLocator.size + 8);
  if (!has(bytes, wide, wideEndRecord))
    return std::nullopt;
  return ZipDirectory{read64le(bytes.data() + wide + 32),
                      read64le(bytes.data() + wide + 48)};
}

llvm::Expected<std::vector<llvm::StringRef>>
glowish::listArchive(llvm::StringRef bytes) {
  std::optional<ZipDirectory> directory = findDirectory(bytes);
  if (!directory)
    return makeError("its list of files is missing");
  std::vector<llvm::StringRef> names;
  uint64_t offset = directory->offset;
  for (uint64_t i = 0; i < directory->count; ++i) {
    if (!has(bytes, offset, entryRecord))
      return makeError("its list of files ends after {0} of {1}", i,
                       directory->count);
    const char *entry = bytes.data() + offset;
    uint64_t length = read16le(entry + 28), size = entryRecord.size + length +
                                                   read16le(entry + 30) +
                                                   read16le(entry + 32);
    if (bytes.size() - offset < size)
      return makeError("its list of files ends after {0} of {1}", i,
                       directory->count);
    names.push_back(bytes.substr(offset + entryRecord.size, length));
    offset += size;
  }
  return names;
}

//===- Files of PyTorch ---------------------------------------------------===//

/// What torch.save() began files with before PyTorch 1.6: a number of ten
/// bytes, as a pickle.
static constexpr llvm::StringLiteral oldPickle("\x80\2\x8a\n\x6c\xfc\x9c\x46"
                                               "\xf9\x20\x6a\xa8\x50\x19");

static bool isTar(llvm::StringRef bytes) {
  constexpr size_t offset = 257;
  return bytes.size() > offset && bytes.substr(offset).starts_with("ustar");
}

/// By the names in an archive of PyTorch, all of which are in one folder.
static TorchFile classifyNames(llvm::ArrayRef<llvm::StringRef> names) {
  auto any = [&](auto isNamed) {
    return llvm::any_of(names, [&](llvm::StringRef name) {
      return isNamed(name.split('/').second);
    });
  };
  if (any([](llvm::StringRef name) { return name == "model.json"; }))
    return TorchFile::OldTorchScript;
  if (any([](llvm::StringRef name) {
        return name == "archive_format" || name.starts_with("models/");
      }) ||
      llvm::is_contained(names, "serialized_exported_program.json"))
    return TorchFile::ExportedProgram;
  bool hasCode =
      any([](llvm::StringRef name) { return name.starts_with("code/"); });
  bool hasConstants =
      any([](llvm::StringRef name) { return name == "constants.pkl"; });
  if (hasCode && hasConstants)
    return TorchFile::TorchScript;
  if (any([](llvm::StringRef name) { return name == "data.pkl"; }))
    return TorchFile::Tensors;
  return TorchFile::Other;
}

TorchFile glowish::classifyTorchFile(llvm::StringRef bytes) {
  if (bytes.starts_with(oldPickle))
    return TorchFile::Pickle;
  if (isTar(bytes))
    return TorchFile::Tar;
  if (!bytes.starts_with(fileRecord.signature))
    return TorchFile::Other;
  auto names = listArchive(bytes);
  if (names)
    return classifyNames(*names);
  llvm::consumeError(names.takeError());
  return TorchFile::Malformed;
}
