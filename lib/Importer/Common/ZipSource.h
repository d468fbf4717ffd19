//===- ZipSource.h - Where libzip reads an archive --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_COMMON_ZIPSOURCE_H
#define GLOWISH_LIB_IMPORTER_COMMON_ZIPSOURCE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <zip.h>

namespace glowish {

/// A mapped file from which libzip reads an archive, which must not outlive it.
/// libzip does not tell where an entry lies in the file; what it reads does.
class ZipSource {
public:
  explicit ZipSource(std::shared_ptr<llvm::MemoryBuffer> file);
  ZipSource(const ZipSource &) = delete;
  ZipSource &operator=(const ZipSource &) = delete;
  ~ZipSource();

  const std::shared_ptr<llvm::MemoryBuffer> &getFile() const { return file; }
  /// Opens the archive, once. The caller discards it.
  llvm::Expected<zip_t *> open();
  /// The bytes from where the last read began to the end of the file.
  llvm::StringRef getLastRead() const {
    return file->getBuffer().substr(lastRead);
  }

private:
  static zip_int64_t answer(void *source, void *data, zip_uint64_t size,
                            zip_source_cmd_t command);
  zip_int64_t read(void *data, zip_uint64_t size);
  zip_int64_t seek(void *data, zip_uint64_t size);
  zip_int64_t describe(void *data, zip_uint64_t size);

  std::shared_ptr<llvm::MemoryBuffer> file;
  size_t position = 0, lastRead = 0;
  zip_error_t error;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_COMMON_ZIPSOURCE_H
