//===- File.cpp - Reading and writing files -------------------------------===//

#include "glowish/Support/File.h"
#include "glowish/Support/BackgroundWork.h"
#include "glowish/Support/MemoryFile.h"
#include "glowish/Support/Task.h"
#include "glowish/Support/TemporaryName.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include <atomic>
#include <fcntl.h>
#include <unistd.h>

using namespace glowish;
namespace fs = llvm::sys::fs;

//===- Reading ------------------------------------------------------------===//

static bool isDevice(fs::file_type type) {
  return type == fs::file_type::block_file ||
         type == fs::file_type::character_file ||
         type == fs::file_type::socket_file;
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
glowish::readFile(llvm::StringRef path) {
  if (std::unique_ptr<llvm::MemoryBuffer> bytes = openMemoryFile(path))
    return bytes;
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return makeError("cannot read '{0}': {1}", path, code.message());
  if (fs::is_directory(status))
    return makeError("cannot read '{0}': it is a directory", path);
  if (isDevice(status.type()))
    return makeError("cannot read '{0}': it is a device", path);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '{0}': {1}", path,
                     buffer.getError().message());
  return std::move(*buffer);
}

//===- Writing ------------------------------------------------------------===//

static std::atomic<bool> handlesSignals = false;

void glowish::handleSignals() { handlesSignals = true; }

void glowish::removeOnSignals(llvm::StringRef path) {
  if (handlesSignals)
    llvm::sys::RemoveFileOnSignal(path);
}

static llvm::Error makeWriteError(llvm::StringRef path, std::error_code code) {
  return makeError("cannot write '{0}': {1}", path, code.message());
}

llvm::Error glowish::createDirectories(llvm::StringRef path) {
  if (path.empty())
    return makeError("cannot make a folder with an empty name");
  std::error_code code;
  bool isWanted = callInWaitingThread([&] {
    // Without permissions of its own, LLVM leaves other users out.
    code = fs::create_directories(path, /*IgnoreExisting=*/true,
                                  fs::perms::all_all);
  });
  if (!isWanted)
    return checkCancelled();
  if (code)
    return makeError("cannot make the folder '{0}': {1}", path, code.message());
  if (!fs::is_directory(path))
    return makeError("cannot make the folder '{0}': a file is in the way",
                     path);
  return llvm::Error::success();
}

/// Returns an unused name in the directory of \p path, as renaming is atomic
/// only within one file system. The name does not extend the file's own name,
/// which may already have the maximum length. fs::createUniqueFile is not used
/// because it replaces every '%' in the path by a random digit.
static std::string makeTemporaryPath(llvm::StringRef path) {
  llvm::SmallString<128> name(llvm::sys::path::parent_path(path));
  uint64_t random = uint64_t(llvm::sys::Process::GetRandomNumber()) << 32 |
                    llvm::sys::Process::GetRandomNumber();
  llvm::sys::path::append(name, makeTemporaryName(random));
  return name.str().str();
}

/// Calls \p create with new temporary names until one does not exist yet.
template <typename CreateFn>
static std::error_code createUnique(llvm::StringRef path, std::string &name,
                                    CreateFn create) {
  std::error_code code;
  for (unsigned attempt = 0; attempt < 16; ++attempt) {
    name = makeTemporaryPath(path);
    // Registered before the file exists, so that a signal in between leaves no
    // file behind.
    removeOnSignals(name);
    code = create(name);
    if (!code)
      return code;
    llvm::sys::DontRemoveFileOnSignal(name);
    if (code != std::errc::file_exists)
      break;
  }
  name.clear();
  return code;
}

static void removeTemporary(std::string &name) {
  if (name.empty())
    return;
  (void)fs::remove(name);
  llvm::sys::DontRemoveFileOnSignal(name);
  name.clear();
}

OutputFiles::~OutputFiles() { discard(); }

void OutputFiles::discard() {
  llvm::consumeError(closeStreams());
  for (const auto &file : files) {
    removeTemporary(file->temporary);
    removeTemporary(file->backup);
  }
  files.clear();
}

llvm::Expected<llvm::raw_pwrite_stream &>
OutputFiles::add(llvm::StringRef path) {
  auto file = std::make_unique<File>();
  file->path = file->spelling = path.str();
  fs::file_status status;
  if (path.empty())
    return makeError("cannot write a file with an empty name");
  // If \p path does not exist, creating the temporary file reports the error.
  bool exists = !fs::status(path, status);
  if (exists && fs::is_directory(status))
    return makeError("cannot write '{0}': it is a directory", path);
  int descriptor = -1;
  std::error_code code;
  if (exists && !fs::is_regular_file(status)) {
    code = fs::openFileForWrite(path, descriptor, fs::CD_OpenExisting);
  } else {
    // Renaming onto a symbolic link would replace the link, not its target.
    llvm::SmallString<128> real;
    if (exists && fs::is_symlink_file(path) && !fs::real_path(path, real))
      file->path = real.str().str();
    code =
        createUnique(file->path, file->temporary, [&](const std::string &name) {
          return fs::openFileForWrite(name, descriptor, fs::CD_CreateNew);
        });
  }
  if (code)
    return makeWriteError(path, code);
  file->stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                        /*shouldClose=*/true);
  // Weights take many megabytes; the default buffer needs too many system
  // calls.
  file->stream->SetBufferSize(1 << 20);
  files.push_back(std::move(file));
  return *files.back()->stream;
}

/// Closes all open streams and returns the first error of any stream.
llvm::Error OutputFiles::closeStreams() {
  llvm::Error first = llvm::Error::success();
  for (const auto &file : files) {
    if (!file->stream)
      continue;
    file->stream->close();
    std::error_code code = file->stream->error();
    // A stream that is destroyed with an unchecked error aborts the process.
    file->stream->clear_error();
    file->stream.reset();
    if (!code)
      continue;
    if (first)
      continue;
    first = makeWriteError(file->spelling, code);
  }
  return first;
}

/// Renames all temporary files, or restores every path.
llvm::Error OutputFiles::renameAll() {
  std::vector<File *> renamed;
  for (const auto &owner : files) {
    File &file = *owner;
    if (file.temporary.empty())
      continue;
    // A rename that fails does not touch its target, so the last file needs no
    // backup. Without hard links (some file systems) there is no backup: a
    // failure then removes the new file, so that old and new files are not
    // mixed.
    if (&owner != &files.back() && fs::exists(file.path))
      (void)createUnique(file.path, file.backup, [&](const std::string &name) {
        return fs::create_hard_link(file.path, name);
      });
    if (std::error_code code = fs::rename(file.temporary, file.path)) {
      for (File *done : llvm::reverse(renamed)) {
        if (done->backup.empty() || fs::rename(done->backup, done->path))
          (void)fs::remove(done->path);
      }
      return makeWriteError(file.spelling, code);
    }
    llvm::sys::DontRemoveFileOnSignal(file.temporary);
    file.temporary.clear();
    renamed.push_back(&file);
  }
  return llvm::Error::success();
}

/// Renaming \p file over \p replaced waits until the file system has begun to
/// write the one and has freed the other: tenths of a second for hundreds of
/// megabytes. Begins the first, and returns a descriptor that puts the second
/// off until it is closed; -1 where nothing is replaced.
static int prepareReplacing(const std::string &file,
                            const std::string &replaced) {
  int held = -1;
#ifdef __linux__
  held = ::open(replaced.c_str(), O_PATH | O_CLOEXEC);
  int written = held < 0 ? -1 : ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (written >= 0) {
    (void)::sync_file_range(written, 0, 0, SYNC_FILE_RANGE_WRITE);
    ::close(written);
  }
#endif
  return held;
}

llvm::Error OutputFiles::commit() {
  llvm::Error error = closeStreams();
  llvm::SmallVector<int, 4> held;
  for (const auto &file : files)
    if (!error && !file->temporary.empty())
      held.push_back(prepareReplacing(file->temporary, file->path));
  auto release = llvm::make_scope_exit([&] {
    for (int descriptor : held)
      if (descriptor >= 0)
        ::close(descriptor);
  });
  if (!error && !callInWaitingThread([&] { error = renameAll(); }))
    error = checkCancelled();
  discard();
  return error;
}

llvm::Error glowish::writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
  if (!stream)
    return stream.takeError();
  *stream << bytes;
  return files.commit();
}
