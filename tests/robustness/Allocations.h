//===- Allocations.h - Intercepts memory allocations ------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_ALLOCATIONS_H
#define GLOWISH_TESTS_ROBUSTNESS_ALLOCATIONS_H

#include <cstddef>
#include <optional>

namespace glowish::robustness {

/// From now on an allocation of more than \p limit bytes ends the process with
/// \p exitCode, or aborts it where there is none, and says so on stderr. All
/// ways to allocate are seen, of all libraries: by the sanitizer's hooks, and
/// without one because malloc and its relatives are those of this program.
void limitAllocations(size_t limit, std::optional<int> exitCode = std::nullopt);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_ALLOCATIONS_H
