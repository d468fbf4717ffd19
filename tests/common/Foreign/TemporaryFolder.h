//===- TemporaryFolder.h - A folder for a program's files -------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_FOREIGN_TEMPORARYFOLDER_H
#define GLOWISH_TESTS_COMMON_FOREIGN_TEMPORARYFOLDER_H

#include "glowish/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <unistd.h>

namespace glowish {

/// A new folder, removed with its files by the process that made it.
class TemporaryFolder {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFolder>> create() {
    llvm::SmallString<128> path;
    if (std::error_code code =
            llvm::sys::fs::createUniqueDirectory("glowish-test", path))
      return makeError("cannot create a folder: {0}", code.message());
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(path));
  }
  ~TemporaryFolder() {
    if (owner == getpid())
      llvm::sys::fs::remove_directories(path);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  /// Removes the files in it.
  void empty() const {
    if (owner != getpid())
      return;
    llvm::sys::fs::remove_directories(path);
    llvm::sys::fs::create_directory(path);
  }
  llvm::StringRef getPath() const { return path; }
  std::string getFile(llvm::StringRef name) const {
    return (path + "/" + name).str();
  }

private:
  explicit TemporaryFolder(llvm::StringRef path)
      : path(path), owner(getpid()) {}
  llvm::SmallString<128> path;
  pid_t owner;
};

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_FOREIGN_TEMPORARYFOLDER_H
