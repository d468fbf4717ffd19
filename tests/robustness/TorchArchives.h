//===- TorchArchives.h - Archives of PyTorch to mutate ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H
#define GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H

#include "glowish/Support/Random.h"
#include <string>
#include <vector>

namespace glowish::robustness {

/// The entries of a ZIP archive: names and contents, in their order.
using ArchiveEntries = std::vector<std::pair<std::string, std::string>>;

/// Those of the file \p path; none where it is no archive.
ArchiveEntries readArchive(const std::string &path);

/// The bytes of an archive of \p entries, with checksums that are right: what
/// is mutated in an entry gets past them. Empty without entries.
std::string makeArchive(const ArchiveEntries &entries);

/// Changes an entry of a TorchScript archive as what it is (code, a pickle, the
/// elements of a tensor), removes or renames it, or gives it the contents of
/// another.
void mutateEntries(ArchiveEntries &entries, Random &random);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H
