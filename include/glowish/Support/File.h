//===- File.h - Reading and writing files ---------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_FILE_H
#define GLOWISH_SUPPORT_FILE_H

#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <vector>

namespace glowish {

/// The bytes of the file \p path, mapped where that pays; "-" is a name like
/// any other. A pipe is read to its end; a folder or a device, which may have
/// no end, is refused. An empty file gives an empty buffer.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Makes \p path and its parents.
llvm::Error createDirectories(llvm::StringRef path);

/// Several files that appear together or not at all. Each is written under a
/// temporary name in its folder and renamed by commit(); without commit, and
/// when the process is killed by a signal, nothing is left behind. What stands
/// at a path and is neither a file nor a folder (a device, a pipe) can't be
/// replaced and is written to directly.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// A stream to the file that will be \p path. It lives until commit().
  llvm::Expected<llvm::raw_pwrite_stream &> add(llvm::StringRef path);
  /// Closes and renames all files. An error (a full disk, a folder in the
  /// way) names the path; then files that stood there before still do.
  llvm::Error commit();

private:
  struct File {
    /// Where the file appears, links resolved; the user's spelling of it.
    std::string path, spelling;
    /// Empty for what is written to directly.
    std::string temporary;
    /// A second name of the file that stood at `path`, during commit().
    std::string backup;
    std::unique_ptr<llvm::raw_fd_ostream> stream;
  };
  llvm::Error closeStreams();
  llvm::Error renameAll();
  void discard();
  std::vector<std::unique_ptr<File>> files;
};

/// Writes one file through OutputFiles.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace glowish

#endif // GLOWISH_SUPPORT_FILE_H
