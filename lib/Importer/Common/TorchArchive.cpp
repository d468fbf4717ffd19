//===- TorchArchive.cpp - Archives that PyTorch writes --------------------===//

#include "Common/TorchArchive.h"
#include "Common/Messages.h"
#include "glowish/Support/File.h"
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

llvm::Error TorchArchive::checkAll() const {
  std::vector<char> buffer(1 << 20);
  zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    std::string name = zip_get_name(archive.get(), zip_uint64_t(i), 0);
    zip_file_t *file = zip_fopen_index(archive.get(), zip_uint64_t(i), 0);
    if (!file)
      return makeError("the entry {0} cannot be read: {1}", quote(name),
                       zip_strerror(archive.get()));
    zip_int64_t got;
    do
      got = zip_fread(file, buffer.data(), buffer.size());
    while (got > 0);
    std::string text = zip_file_strerror(file);
    zip_fclose(file);
    if (got < 0)
      return makeError("the entry {0} is corrupt: {1}", quote(name), text);
  }
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

//===- Files of PyTorch ---------------------------------------------------===//

/// What torch.save() began files with before PyTorch 1.6: a number of ten
/// bytes, as a pickle.
static constexpr llvm::StringLiteral oldPickle("\x80\2\x8a\n\x6c\xfc\x9c\x46"
                                               "\xf9\x20\x6a\xa8\x50\x19");

static bool isTar(llvm::StringRef bytes) {
  constexpr size_t offset = 257;
  return bytes.size() > offset && bytes.substr(offset).starts_with("ustar");
}

static TorchFile classify(const TorchArchive &archive) {
  if (archive.has("model.json"))
    return TorchFile::OldTorchScript;
  if (archive.has("archive_format") || !archive.list("models/").empty() ||
      archive.has("serialized_exported_program.json"))
    return TorchFile::ExportedProgram;
  if (archive.has("constants.pkl") && !archive.list("code/").empty())
    return TorchFile::TorchScript;
  return archive.has("data.pkl") ? TorchFile::Tensors : TorchFile::Other;
}

TorchFile glowish::classifyTorchFile(llvm::StringRef path) {
  auto buffer = readFile(path);
  if (!buffer) {
    llvm::consumeError(buffer.takeError());
    return TorchFile::Other;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.starts_with(oldPickle))
    return TorchFile::Pickle;
  if (isTar(bytes))
    return TorchFile::Tar;
  if (!bytes.starts_with("PK\3\4"))
    return TorchFile::Other;
  llvm::Expected<TorchArchive> archive = TorchArchive::open(path);
  if (archive)
    return classify(*archive);
  llvm::consumeError(archive.takeError());
  return TorchFile::Malformed;
}
