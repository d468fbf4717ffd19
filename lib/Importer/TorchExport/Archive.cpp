//===- Archive.cpp - Archives of exported programs ------------------------===//

#include "TorchExport/Archive.h"
#include "Common/Messages.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include <zip.h>

using namespace glowish;

/// Texts above are no graphs: a small archive can unpack to any size.
static constexpr uint64_t maxTextBytes = uint64_t(1) << 28;

void TorchArchive::Close::operator()(zip *archive) const {
  zip_discard(archive);
}

llvm::Expected<TorchArchive> TorchArchive::open(llvm::StringRef path) {
  TorchArchive result;
  int code = 0;
  result.archive.reset(zip_open(path.str().c_str(), ZIP_RDONLY, &code));
  if (!result.archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return makeError("it is no ZIP archive that can be read: {0}", text);
  }
  zip_int64_t count = zip_get_num_entries(result.archive.get(), 0);
  for (zip_uint64_t i = 0; i < zip_uint64_t(std::max<zip_int64_t>(count, 0));
       ++i) {
    zip_stat_t stat;
    if (zip_stat_index(result.archive.get(), i, 0, &stat) != 0 ||
        !(stat.valid & ZIP_STAT_NAME) || !(stat.valid & ZIP_STAT_SIZE))
      return makeError("entry {0} of the archive is corrupt", i);
    llvm::StringRef name = stat.name;
    // Older archives have no top folder.
    llvm::StringRef below = name.split('/').second;
    llvm::StringRef top = name.split('/').first;
    bool isBare =
        top == "models" || top == "data" || top == "extra" || below.empty();
    result.entries.try_emplace(isBare ? name : below, Entry{i, stat.size});
  }
  return result;
}

std::vector<std::string> TorchArchive::list(llvm::StringRef prefix) const {
  std::vector<std::string> names;
  for (const auto &entry : entries)
    if (entry.getKey().starts_with(prefix))
      names.push_back(entry.getKey().str());
  llvm::sort(names);
  return names;
}

llvm::Expected<TorchArchive::Entry>
TorchArchive::find(llvm::StringRef name) const {
  auto found = entries.find(name);
  if (found == entries.end())
    return makeError("the archive has no entry {0}", quote(name));
  return found->second;
}

llvm::Expected<uint64_t> TorchArchive::getSize(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(Entry entry, find(name));
  return entry.size;
}

llvm::Error TorchArchive::read(llvm::StringRef name, void *target,
                               uint64_t size) const {
  GLOWISH_ASSIGN_OR_RETURN(Entry entry, find(name));
  if (entry.size != size)
    return makeError("the entry {0} has {1} bytes; expected are {2}",
                     quote(name), entry.size, size);
  zip_file_t *file = zip_fopen_index(archive.get(), entry.index, 0);
  if (!file)
    return makeError("the entry {0} cannot be read: {1}", quote(name),
                     zip_strerror(archive.get()));
  zip_int64_t got = size ? zip_fread(file, target, size) : 0;
  // The checksum is compared at the end.
  char beyond;
  zip_int64_t rest =
      got == zip_int64_t(size) ? zip_fread(file, &beyond, 1) : -1;
  std::string text = zip_file_strerror(file);
  zip_fclose(file);
  if (rest != 0)
    return makeError("the entry {0} is corrupt: {1}", quote(name), text);
  return llvm::Error::success();
}

llvm::Expected<std::string> TorchArchive::readText(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(uint64_t size, getSize(name));
  if (size > maxTextBytes)
    return makeError("the entry {0} unpacks to {1} bytes; accepted: at most "
                     "{2}",
                     quote(name), size, maxTextBytes);
  std::string text(size, '\0');
  GLOWISH_RETURN_IF_ERROR(read(name, text.data(), size));
  return text;
}

bool glowish::hasArchiveEntry(llvm::StringRef path, llvm::StringRef name) {
  // Only regular files are opened to see what they are.
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) ||
      status.type() != llvm::sys::fs::file_type::regular_file)
    return false;
  auto file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file) {
    llvm::consumeError(file.takeError());
    return false;
  }
  char start[4] = {};
  auto count = llvm::sys::fs::readNativeFile(*file, start);
  llvm::sys::fs::closeFile(*file);
  if (!count) {
    llvm::consumeError(count.takeError());
    return false;
  }
  if (llvm::StringRef(start, *count) != "PK\3\4")
    return false;
  llvm::Expected<TorchArchive> archive = TorchArchive::open(path);
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return false;
  }
  return name.ends_with("/") ? !archive->list(name).empty()
                             : archive->has(name);
}
