//===- CacheTraffic.h - Where operands lie ----------------------*- C++ -*-===//

#ifndef GLOWISH_IR_CACHETRAFFIC_H
#define GLOWISH_IR_CACHETRAFFIC_H

#include "glowish/IR/MemoryPlan.h"

namespace glowish {

/// Bytes by where they are: in each cache, the smallest first, and in memory.
using BytesByLevel = llvm::SmallVector<double, 4>;

/// The bytes that each instruction of \p function but the marks of lifetimes
/// moves, by where they are when it begins, in a run that follows another run.
/// \p caches: the sizes of the caches in bytes, the smallest first.
///
/// Each element of an operand is moved once, whatever the kernel does; of what
/// a Gather picks from, as many as it picks. A cache of N bytes is taken to
/// hold the N bytes that were used last (LRU, fully associative): a block whose
/// reuse distance, the bytes of other blocks that were used since, is below N.
/// Where a block is used twice by an instruction, the second use finds it in
/// the first cache. Of an instruction with bodies only the operands count.
std::vector<BytesByLevel> countCacheTraffic(const IRFunction &function,
                                            const MemoryPlan &plan,
                                            llvm::ArrayRef<uint64_t> caches);

} // namespace glowish

#endif // GLOWISH_IR_CACHETRAFFIC_H
