//===- ZipArchive.h - Reads and writes ZIP archives -------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_ZIPARCHIVE_H
#define GLOWISH_TESTS_COMMON_ZIPARCHIVE_H

#include <string>
#include <utility>
#include <vector>

namespace glowish {

/// The entries of a ZIP archive: names and contents, in their order.
using ArchiveEntries = std::vector<std::pair<std::string, std::string>>;

/// Returns the entries of the file \p path; none where it is no archive.
ArchiveEntries readArchive(const std::string &path);

/// Returns the bytes of an archive of \p entries, with checksums that are
/// right: what is mutated in an entry gets past them. Empty without entries.
std::string makeArchive(const ArchiveEntries &entries);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_ZIPARCHIVE_H
