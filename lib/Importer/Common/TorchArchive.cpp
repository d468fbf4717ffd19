//===- TorchArchive.cpp - Archives that PyTorch writes --------------------===//

#include "Common/TorchArchive.h"
#include "Common/Messages.h"
#include "Common/ZipSource.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

/// Texts above are no graphs: a small archive can unpack to any size.
static constexpr uint64_t maxTextBytes = uint64_t(1) << 28;

void TorchArchive::Close::operator()(zip *archive) const {
  zip_discard(archive);
}

TorchArchive::TorchArchive() = default;
TorchArchive::TorchArchive(TorchArchive &&) = default;
TorchArchive::~TorchArchive() = default;

llvm::Expected<TorchArchive> TorchArchive::open(llvm::StringRef path) {
  TorchArchive result;
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<llvm::MemoryBuffer> file,
                           readFile(path));
  result.source = std::make_unique<ZipSource>(std::move(file));
  GLOWISH_ASSIGN_OR_RETURN(zip_t *archive, result.source->open());
  result.archive.reset(archive);
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

/// Gives the bytes of \p entry to \p receive, a piece at a time. An error if
/// they are corrupt; libzip compares the checksum at the end.
llvm::Error TorchArchive::readPieces(Entry entry, Receiver receive) const {
  std::string name = quote(zip_get_name(archive.get(), entry.index, 0));
  zip_file_t *file = zip_fopen_index(archive.get(), entry.index, 0);
  if (!file)
    return makeError("the entry {0} cannot be read: {1}", name,
                     zip_strerror(archive.get()));
  std::vector<uint8_t> piece(std::min<uint64_t>(entry.size + 1, 1 << 20));
  uint64_t rest = entry.size;
  zip_int64_t count;
  // Compressed bytes may unpack to more than the archive says.
  while ((count = zip_fread(file, piece.data(), piece.size())) > 0 &&
         uint64_t(count) <= rest) {
    receive(llvm::ArrayRef(piece.data(), size_t(count)));
    rest -= uint64_t(count);
  }
  std::string text = zip_file_strerror(file);
  zip_fclose(file);
  if (count < 0)
    return makeError("the entry {0} is corrupt: {1}", name, text);
  if (count > 0 || rest > 0)
    return makeError("the entry {0} is corrupt: it has not the {1} bytes that "
                     "the archive states",
                     name, entry.size);
  return llvm::Error::success();
}

llvm::Expected<SharedBytes>
TorchArchive::readBytes(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(Entry entry, find(name));
  zip_stat_t stat;
  if (zip_stat_index(archive.get(), entry.index, 0, &stat) == 0 &&
      (stat.valid & ZIP_STAT_COMP_METHOD) && stat.comp_method == ZIP_CM_STORE) {
    llvm::ArrayRef<uint8_t> mapped;
    uint64_t done = 0;
    bool isMapped = true;
    GLOWISH_RETURN_IF_ERROR(
        readPieces(entry, [&](llvm::ArrayRef<uint8_t> piece) {
          if (done == 0)
            mapped = llvm::arrayRefFromStringRef(source->getLastRead())
                         .take_front(entry.size);
          isMapped = isMapped && mapped.size() == entry.size &&
                     mapped.slice(done, piece.size()) == piece;
          done += piece.size();
        }));
    if (isMapped)
      return SharedBytes{mapped, source->getFile()};
  }
  auto copy =
      std::make_shared<Tensor>(Type(ElemKind::UInt8, {int64_t(entry.size)}));
  auto *end = static_cast<uint8_t *>(copy->getBytes());
  GLOWISH_RETURN_IF_ERROR(
      readPieces(entry, [&](auto piece) { end = llvm::copy(piece, end); }));
  return SharedBytes{copy->getByteRange(), copy};
}

llvm::Error TorchArchive::checkAll() const {
  for (const auto &entry : entries)
    GLOWISH_RETURN_IF_ERROR(readPieces(entry.second, [](auto) {}));
  return llvm::Error::success();
}

llvm::Expected<std::string> TorchArchive::readText(llvm::StringRef name) const {
  GLOWISH_ASSIGN_OR_RETURN(Entry entry, find(name));
  if (entry.size > maxTextBytes)
    return makeError("the entry {0} unpacks to {1} bytes; accepted: at most "
                     "{2}",
                     quote(name), entry.size, maxTextBytes);
  std::string text;
  GLOWISH_RETURN_IF_ERROR(readPieces(
      entry, [&](auto piece) { text.append(piece.begin(), piece.end()); }));
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

bool glowish::hasZipEntries(llvm::StringRef path,
                            llvm::ArrayRef<llvm::StringRef> names) {
  llvm::Expected<TorchArchive> archive = TorchArchive::open(path);
  if (archive)
    return llvm::all_of(
        names, [&](llvm::StringRef name) { return archive->has(name); });
  llvm::consumeError(archive.takeError());
  return false;
}

TorchFile glowish::classifyTorchFile(llvm::StringRef path,
                                     llvm::StringRef bytes) {
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
