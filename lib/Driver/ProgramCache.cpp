//===- ProgramCache.cpp - Compiled programs on disk -----------------------===//

#include "glowish/Driver/ProgramCache.h"
#include "ProgramImages.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include "glowish/Support/TemporaryName.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

/// What the names of the cache's own files end with, behind the key: no others
/// are removed.
static constexpr llvm::StringLiteral ending(".glowish-program");

llvm::Expected<std::unique_ptr<ProgramCache>>
ProgramCache::open(Options options) {
  GLOWISH_RETURN_IF_ERROR(createDirectories(options.folder));
  return std::unique_ptr<ProgramCache>(new ProgramCache(std::move(options)));
}

std::string ProgramCache::getPath(const KeyHasher::Digest &key) const {
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, llvm::toHex(key, /*LowerCase=*/true) + ending);
  return path.str().str();
}

/// Reads the file \p path and marks it as used; null where there is none. It is
/// not mapped: what is checked is what is run, whatever becomes of the file.
static std::shared_ptr<llvm::MemoryBuffer> readEntry(const std::string &path) {
  fs::file_status status;
  // Reading a pipe or a device might never end.
  if (fs::status(path, status) || !fs::is_regular_file(status))
    return nullptr;
  llvm::Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return nullptr;
  }
  auto close = llvm::make_scope_exit([&] { fs::closeFile(*file); });
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      *file, path, status.getSize(), /*RequiresNullTerminator=*/false,
      /*IsVolatile=*/true, llvm::Align(Tensor::alignment));
  if (!buffer)
    return nullptr;
  // Of others' files, or in a folder that can't be written, the time stays.
  (void)fs::setLastAccessAndModificationTime(*file,
                                             std::chrono::system_clock::now());
  return std::move(*buffer);
}

std::unique_ptr<ProgramImages>
ProgramCache::find(const KeyHasher::Digest &key) {
  std::unique_ptr<ProgramImages> images;
  std::string path = getPath(key);
  if (auto file = readEntry(path)) {
    images = readImages(std::move(file), key);
    if (!images)
      ++corrupt;
    GLOWISH_VLOG(1, "program cache: '{0}' {1}", path,
                 images ? "is taken" : "is corrupt");
  } else {
    GLOWISH_VLOG(1, "program cache: there is no '{0}'", path);
  }
  ++(images ? hits : misses);
  return images;
}

static llvm::Error writeEntry(llvm::StringRef path, const ProgramImages &images,
                              const KeyHasher::Digest &key) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
  if (!stream)
    return stream.takeError();
  writeImages(*stream, images, key);
  return files.commit();
}

void ProgramCache::warn(llvm::Error error) const {
  std::string message = llvm::toString(std::move(error));
  GLOWISH_WARN("program cache: {0}", message);
  if (options.warn)
    options.warn(message);
}

void ProgramCache::keep(const KeyHasher::Digest &key,
                        const ProgramImages &images) {
  uint64_t size = getFileSize(images);
  if (size > options.maxBytes)
    return warn(makeError("the programs are not kept: they have {0} bytes, and "
                          "the folder may have {1}",
                          size, options.maxBytes));
  std::string path = getPath(key);
  if (llvm::Error error = writeEntry(path, images, key))
    return warn(addContext(std::move(error), "the programs are not kept: "));
  GLOWISH_VLOG(1, "program cache: '{0}' is kept, {1}", path,
               formatExactBytes(size));
  if (llvm::Error error = prune(path))
    warn(std::move(error));
}

namespace {

struct KeptFile {
  llvm::sys::TimePoint<> lastUsed;
  std::string path;
  uint64_t size;
};

} // namespace

/// Whether a file called \p name, last written at \p time, is what is left of
/// a process that ended while it wrote.
static bool isAbandoned(llvm::StringRef name, llvm::sys::TimePoint<> time) {
  return isTemporaryName(name) &&
         std::chrono::system_clock::now() - time > std::chrono::hours(24);
}

/// Removes what is left of other processes, and those of the cache's files that
/// were used least recently until the rest has at most options.maxBytes; never
/// \p kept, which was just written.
llvm::Error ProgramCache::prune(llvm::StringRef kept) const {
  std::vector<KeptFile> files;
  uint64_t total = 0;
  std::error_code code;
  for (fs::directory_iterator file(options.folder, code), end;
       !code && file != end; file.increment(code)) {
    llvm::StringRef name = llvm::sys::path::filename(file->path());
    // Another process may have removed it.
    llvm::ErrorOr<fs::basic_file_status> status = file->status();
    if (!status || !fs::is_regular_file(*status))
      continue;
    llvm::sys::TimePoint<> time = status->getLastModificationTime();
    if (isAbandoned(name, time))
      (void)fs::remove(file->path());
    if (!name.ends_with(ending))
      continue;
    total += status->getSize();
    if (file->path() != kept)
      files.push_back({time, file->path(), status->getSize()});
  }
  if (code)
    return makeError("cannot read the folder '{0}': {1}", options.folder,
                     code.message());
  llvm::sort(files, [](const KeptFile &a, const KeptFile &b) {
    return std::tie(a.lastUsed, a.path) < std::tie(b.lastUsed, b.path);
  });
  for (const KeptFile &file : files) {
    if (total <= options.maxBytes)
      break;
    GLOWISH_VLOG(1, "program cache: '{0}' is removed, {1}", file.path,
                 formatExactBytes(file.size));
    if (std::error_code failed = fs::remove(file.path))
      return makeError("cannot remove '{0}': {1}", file.path, failed.message());
    total -= file.size;
  }
  return llvm::Error::success();
}
