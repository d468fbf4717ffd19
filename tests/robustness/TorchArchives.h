//===- TorchArchives.h - Archives of PyTorch to mutate ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H
#define GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H

#include "common/ZipArchive.h"
#include "glowish/Support/Random.h"

namespace glowish::robustness {

/// Changes an entry of a TorchScript archive as what it is (code, a pickle, the
/// elements of a tensor), removes or renames it, or gives it the contents of
/// another.
void mutateEntries(ArchiveEntries &entries, Random &random);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_TORCHARCHIVES_H
