//===- RunProgram.h - A program as one run has it ---------------*- C++ -*-===//

#ifndef GLOWISH_IR_RUNPROGRAM_H
#define GLOWISH_IR_RUNPROGRAM_H

#include "glowish/IR/MemoryPlan.h"
#include <map>
#include <string>

namespace glowish {

/// A program with the extents of one run, for what counts its work (getCost,
/// Backend::countOperations, countCacheTraffic): each operand is a view of what
/// is needed or exists of it. Bodies have their largest extents.
struct RunProgram {
  /// The instructions of the program but the marks of lifetimes.
  std::unique_ptr<IRFunction> function;
  /// The places of its buffers.
  MemoryPlan plan;
};

/// Returns \p function, which \p plan lays out, as a run has it in which the
/// symbols of its inputs have \p values. Of a symbol without a value the
/// largest extents count.
RunProgram makeRunProgram(const IRFunction &function, const MemoryPlan &plan,
                          const std::map<std::string, int64_t> &values);

} // namespace glowish

#endif // GLOWISH_IR_RUNPROGRAM_H
