//===- MemoryFile.h - Bytes in memory, read as a file -----------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_MEMORYFILE_H
#define GLOWISH_SUPPORT_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>

namespace glowish {

/// A copy of bytes that readFile() finds by a path while this exists, so that
/// what reads files needs no other way to read memory. Buffers that readFile()
/// returned keep the bytes.
class MemoryFile {
public:
  /// \p name ends the path, for what goes by the end of a file's name.
  MemoryFile(llvm::StringRef bytes, llvm::StringRef name);
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile();

  /// Returns `memory:NUMBER/NAME`, which no other MemoryFile of this process
  /// has.
  const std::string &getPath() const { return path; }

private:
  std::string path;
};

/// Returns whether \p path is that of a MemoryFile, which has no files beside
/// it.
bool isMemoryFile(llvm::StringRef path);

/// Returns the bytes of the MemoryFile \p path, at an address that is a
/// multiple of 64; null if there is none.
std::unique_ptr<llvm::MemoryBuffer> openMemoryFile(llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_SUPPORT_MEMORYFILE_H
