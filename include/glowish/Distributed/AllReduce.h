//===- AllReduce.h - What programs call to average --------------*- C++ -*-===//

#ifndef GLOWISH_DISTRIBUTED_ALLREDUCE_H
#define GLOWISH_DISTRIBUTED_ALLREDUCE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace glowish {

inline constexpr llvm::StringLiteral startAllReduceName =
                                         "glowish_start_all_reduce",
                                     finishAllReduceName =
                                         "glowish_finish_all_reduce";

} // namespace glowish

/// \name What the instructions of AllReduce call
/// They average over the group of this process, and do nothing where it is in
/// none.
/// @{
extern "C" {

/// Begins to replace the \p count elements at \p data, of the element kind
/// \p kind, by their means over the processes of the group.
void glowish_start_all_reduce(void *data, int64_t count, int32_t kind);
/// Returns when the elements at \p data, with which a reduction has begun, are
/// replaced.
void glowish_finish_all_reduce(void *data);
}
/// @}

#endif // GLOWISH_DISTRIBUTED_ALLREDUCE_H
