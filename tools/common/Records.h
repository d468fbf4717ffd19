//===- Records.h - What processes send each other ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_RECORDS_H
#define GLOWISH_TOOLS_COMMON_RECORDS_H

#include "glowish/Distributed/ProcessGroup.h"
#include "llvm/ADT/SmallVector.h"

namespace glowish {

/// The elements from \p first on, \p count of them.
struct IndexRange {
  size_t first = 0, count = 0;
};

/// The share of this process of \p count things, which the processes of
/// \p group take one after the other; all without a group.
IndexRange getShare(const ProcessGroup *group, size_t count);

/// The strings of all processes in the order of their ranks, in the first one;
/// elsewhere nothing.
std::vector<std::string> gatherRecords(ProcessGroup &group,
                                       llvm::ArrayRef<std::string> records);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_RECORDS_H
