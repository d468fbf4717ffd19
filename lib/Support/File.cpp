//===- File.cpp - Reading and writing files -------------------------------===//

#include "glowish/Support/File.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

using namespace glowish;
namespace fs = llvm::sys::fs;

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
glowish::readFile(llvm::StringRef path) {
  fs::file_status status;
  if (std::error_code code = fs::status(path, status))
    return makeError("cannot read '{0}': {1}", path, code.message());
  if (fs::is_directory(status))
    return makeError("cannot read '{0}': it is a directory", path);
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return makeError("cannot read '{0}': {1}", path,
                     buffer.getError().message());
  return std::move(*buffer);
}

llvm::Error glowish::createDirectories(llvm::StringRef path) {
  if (std::error_code code = fs::create_directories(path))
    return makeError("cannot make the folder '{0}': {1}", path,
                     code.message());
  if (!fs::is_directory(path))
    return makeError("cannot make the folder '{0}': a file is in the way",
                     path);
  return llvm::Error::success();
}

OutputFiles::~OutputFiles() { removeTemporaries(); }

void OutputFiles::removeTemporaries() {
  for (const auto &file : files) {
    if (file->stream) {
      file->stream->close();
      // An unread error would stop the process in the destructor.
      file->stream->clear_error();
    }
    fs::remove(file->temporary);
    llvm::sys::DontRemoveFileOnSignal(file->temporary);
  }
  files.clear();
}

llvm::Expected<llvm::raw_pwrite_stream &>
OutputFiles::add(llvm::StringRef path) {
  if (fs::is_directory(path))
    return makeError("cannot write '{0}': it is a directory", path);
  int descriptor = -1;
  llvm::SmallString<128> temporary;
  if (std::error_code code = fs::createUniqueFile(
          path + ".tmp%%%%%%", descriptor, temporary, fs::OF_None,
          fs::all_read | fs::owner_write))
    return makeError("cannot write '{0}': {1}", path, code.message());
  llvm::sys::RemoveFileOnSignal(temporary);
  auto file = std::make_unique<File>();
  file->path = path.str();
  file->temporary = temporary.str().str();
  file->stream = std::make_unique<llvm::raw_fd_ostream>(descriptor,
                                                        /*shouldClose=*/true);
  files.push_back(std::move(file));
  return *files.back()->stream;
}

llvm::Error OutputFiles::commit() {
  for (const auto &file : files) {
    file->stream->close();
    if (file->stream->has_error()) {
      std::error_code code = file->stream->error();
      file->stream->clear_error();
      return makeError("cannot write '{0}': {1}", file->path, code.message());
    }
    file->stream.reset();
  }
  for (size_t i = 0; i < files.size(); ++i) {
    File &file = *files[i];
    if (std::error_code code = fs::rename(file.temporary, file.path)) {
      for (size_t done = 0; done < i; ++done)
        fs::remove(files[done]->path);
      return makeError("cannot write '{0}': {1}", file.path, code.message());
    }
    llvm::sys::DontRemoveFileOnSignal(file.temporary);
  }
  files.clear();
  return llvm::Error::success();
}

llvm::Error glowish::writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  OutputFiles files;
  llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
  if (!stream)
    return stream.takeError();
  *stream << bytes;
  return files.commit();
}
