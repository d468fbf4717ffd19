//===- TorchArchives.cpp - Archives of PyTorch to mutate ------------------===//

#include "TorchArchives.h"
#include "Mutations.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>
#include <zip.h>

using namespace glowish;
using namespace glowish::robustness;

ArchiveEntries glowish::robustness::readArchive(const std::string &path) {
  ArchiveEntries entries;
  zip_t *archive = zip_open(path.c_str(), ZIP_RDONLY, nullptr);
  if (!archive)
    return entries;
  zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_file_t *file = zip_fopen_index(archive, zip_uint64_t(i), 0);
    if (!file || zip_stat_index(archive, zip_uint64_t(i), 0, &stat))
      continue;
    std::string bytes(stat.size, '\0');
    if (zip_fread(file, bytes.data(), stat.size) == zip_int64_t(stat.size))
      entries.emplace_back(stat.name, std::move(bytes));
    zip_fclose(file);
  }
  zip_discard(archive);
  return entries;
}

/// Adds \p entries to \p archive. They outlive it.
static void addEntries(zip_t *archive, const ArchiveEntries &entries) {
  for (const auto &[name, bytes] : entries) {
    zip_source_t *source =
        zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    zip_int64_t index =
        zip_file_add(archive, name.c_str(), source, ZIP_FL_OVERWRITE);
    if (index < 0) {
      // Mutations of names make some that no archive can have.
      zip_source_free(source);
      continue;
    }
    zip_set_file_compression(archive, zip_uint64_t(index), ZIP_CM_STORE, 0);
    // The same mutation gives the same file.
    zip_file_set_mtime(archive, zip_uint64_t(index), 0, 0);
  }
}

std::string glowish::robustness::makeArchive(const ArchiveEntries &entries) {
  zip_source_t *target =
      zip_source_buffer_create(nullptr, 0, 0, /*error=*/nullptr);
  zip_t *archive =
      target ? zip_open_from_source(target, ZIP_TRUNCATE, nullptr) : nullptr;
  if (!archive)
    llvm::report_fatal_error("libzip cannot make an archive");
  zip_source_keep(target);
  addEntries(archive, entries);
  std::string bytes;
  zip_stat_t stat;
  // An archive without entries is no file.
  if (zip_close(archive) == 0 && zip_source_stat(target, &stat) == 0 &&
      zip_source_open(target) == 0) {
    bytes.resize(stat.size);
    zip_source_read(target, bytes.data(), bytes.size());
    zip_source_close(target);
  }
  zip_source_free(target);
  return bytes;
}

/// Alters a number of a pickle: an operand of BININT1, BININT2, BININT or of a
/// length. Sizes, strides and offsets of tensors are among them.
static void mutatePickle(std::string &bytes, Random &random) {
  constexpr llvm::StringLiteral opcodes = "KMJX";
  constexpr size_t sizes[] = {1, 2, 4, 4};
  constexpr int32_t numbers[] = {0,   1,   -1,      2,       3,        7,
                                 255, 256, 1 << 20, 1 << 30, INT32_MAX};
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t i = 0; i < bytes.size(); ++i)
    if (size_t k = opcodes.find(bytes[i]); k != llvm::StringRef::npos)
      if (i + 1 + sizes[k] <= bytes.size())
        places.emplace_back(i + 1, sizes[k]);
  if (places.empty() || random.below(3) == 0)
    return mutateBytes(bytes, random);
  auto [at, size] = places[random.below(places.size())];
  int32_t number = numbers[random.below(std::size(numbers))];
  if (random.below(2))
    number = int32_t(uint8_t(bytes[at])) + int32_t(random.below(5)) - 2;
  std::memcpy(&bytes[at], &number, size);
}

/// Changes the contents of the entry \p name.
static void mutateContents(llvm::StringRef name, std::string &bytes,
                           Random &random) {
  if (name.ends_with(".py") || name.ends_with("version"))
    mutateText(bytes, random);
  else if (name.ends_with(".pkl"))
    mutatePickle(bytes, random);
  else if (random.below(2))
    bytes.resize(random.below(2 * bytes.size() + 2));
  else
    mutateBytes(bytes, random);
}

void glowish::robustness::mutateEntries(ArchiveEntries &entries,
                                        Random &random) {
  if (entries.empty())
    return;
  size_t i = random.below(entries.size());
  // Code is what most of the reader is for.
  for (size_t k = 0;
       k < 2 && !llvm::StringRef(entries[i].first).ends_with(".py"); ++k)
    i = random.below(entries.size());
  auto &[name, bytes] = entries[i];
  size_t other = random.below(entries.size());
  switch (random.below(16)) {
  case 0:
    entries.erase(entries.begin() + i);
    return;
  case 1:
    name = random.below(2) ? entries[other].first + "x" : name + "/x";
    return;
  case 2:
    bytes = entries[other].second;
    return;
  default:
    mutateContents(name, bytes, random);
  }
}
