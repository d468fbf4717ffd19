//===- MemoryFile.cpp - Bytes in memory, read as a file -------------------===//

#include "glowish/Support/MemoryFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

using namespace glowish;

static constexpr llvm::StringLiteral prefix = "memory:";

namespace {

/// The files of the process, which any thread makes and reads.
struct Files {
  std::mutex mutex;
  uint64_t numMade = 0;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> byPath;
};

/// Bytes that other buffers have, too.
class SharedBuffer final : public llvm::MemoryBuffer {
public:
  explicit SharedBuffer(std::shared_ptr<llvm::MemoryBuffer> newBytes)
      : bytes(std::move(newBytes)) {
    init(bytes->getBufferStart(), bytes->getBufferEnd(),
         /*RequiresNullTerminator=*/false);
  }

  llvm::StringRef getBufferIdentifier() const override {
    return bytes->getBufferIdentifier();
  }
  BufferKind getBufferKind() const override { return MemoryBuffer_Malloc; }

private:
  std::shared_ptr<llvm::MemoryBuffer> bytes;
};

} // namespace

static Files &getFiles() {
  static Files files;
  return files;
}

MemoryFile::MemoryFile(llvm::StringRef bytes, llvm::StringRef name) {
  std::shared_ptr<llvm::WritableMemoryBuffer> copy =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), name,
                                                        llvm::Align(64));
  llvm::copy(bytes, copy->getBufferStart());
  Files &files = getFiles();
  std::lock_guard lock(files.mutex);
  path = (prefix + llvm::Twine(++files.numMade) + "/" + name).str();
  files.byPath[path] = std::move(copy);
}

MemoryFile::~MemoryFile() {
  Files &files = getFiles();
  std::lock_guard lock(files.mutex);
  files.byPath.erase(path);
}

std::unique_ptr<llvm::MemoryBuffer>
glowish::openMemoryFile(llvm::StringRef path) {
  if (!path.starts_with(prefix))
    return nullptr;
  Files &files = getFiles();
  std::lock_guard lock(files.mutex);
  auto found = files.byPath.find(path);
  return found == files.byPath.end()
             ? nullptr
             : std::make_unique<SharedBuffer>(found->second);
}

bool glowish::isMemoryFile(llvm::StringRef path) {
  return openMemoryFile(path) != nullptr;
}
