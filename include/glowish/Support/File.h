//===- File.h - Reading and writing files ---------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_FILE_H
#define GLOWISH_SUPPORT_FILE_H

#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <vector>

namespace glowish {

/// The bytes of the regular file \p path, mapped where that pays.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Makes \p path and its parents.
llvm::Error createDirectories(llvm::StringRef path);

/// Several files that appear together or not at all. Each is written under a
/// temporary name beside its own and renamed by commit(); without commit, and
/// when the process is killed by a signal, nothing is left behind.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  ~OutputFiles();

  /// A stream to the file that will be \p path. It lives as long as this.
  llvm::Expected<llvm::raw_pwrite_stream &> add(llvm::StringRef path);
  /// Closes and renames all files. An error (a full disk, a folder in the
  /// way) names the path.
  llvm::Error commit();

private:
  struct File {
    std::string path, temporary;
    std::unique_ptr<llvm::raw_fd_ostream> stream;
  };
  void removeTemporaries();
  std::vector<std::unique_ptr<File>> files;
};

/// Writes one file through OutputFiles.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace glowish

#endif // GLOWISH_SUPPORT_FILE_H
