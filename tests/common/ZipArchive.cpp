//===- ZipArchive.cpp - Reads and writes ZIP archives ---------------------===//

#include "ZipArchive.h"
#include "llvm/Support/ErrorHandling.h"
#include <zip.h>

using namespace glowish;

ArchiveEntries glowish::readArchive(const std::string &path) {
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

std::string glowish::makeArchive(const ArchiveEntries &entries) {
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
