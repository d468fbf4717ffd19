//===- File.h - Reading and writing files -----------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_FILE_H
#define GLOWISH_SUPPORT_FILE_H

#include "glowish/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <vector>

namespace glowish {

/// Reads the file \p path, memory-mapped where that is faster; "-" does not
/// mean stdin. A pipe is read to its end. Directories and devices are refused:
/// reading a device might never end. An empty file gives an empty buffer.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readFile(llvm::StringRef path);

/// Creates the directory \p path and its parents.
llvm::Error createDirectories(llvm::StringRef path);

/// Lets signals that end the process remove temporary files first, by handlers
/// of LLVM's. For programs of ours: the handlers of an application that uses
/// the library are its own affair.
void handleSignals();
/// Makes \p path one of these files, until
/// llvm::sys::DontRemoveFileOnSignal().
void removeOnSignals(llvm::StringRef path);

/// A set of output files that appear together or not at all. Each file is
/// written under a temporary name in its directory and renamed by commit().
/// Without commit(), or when a signal kills the process (handleSignals()), the
/// temporaries are removed. An existing device or pipe cannot be replaced and
/// is written to directly.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Returns the stream to write the file \p path to, valid until commit().
  llvm::Expected<llvm::raw_pwrite_stream &> add(llvm::StringRef path);
  /// Closes and renames all files. On an error (the disk is full, \p path is a
  /// directory) the message names the path and the previous files are kept.
  llvm::Error commit();

private:
  struct File {
    /// The final path with symbolic links resolved, and as the user wrote it.
    std::string path, spelling;
    /// The temporary file; empty if `path` is written to directly.
    std::string temporary;
    /// A hard link to the previous file at `path`, during commit().
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
