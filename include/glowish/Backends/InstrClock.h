//===- InstrClock.h - When the instructions of a run ended ------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_INSTRCLOCK_H
#define GLOWISH_BACKENDS_INSTRCLOCK_H

#include "llvm/ADT/ArrayRef.h"
#include <chrono>
#include <vector>

namespace glowish {

/// Takes the time between the instructions of a program that was compiled with
/// it: mark 0 is when the first one begins, mark i + 1 when instruction i
/// ends. Marks of a lifetime are no instructions here.
class InstrClock {
public:
  using Time = std::chrono::steady_clock::time_point;

  void mark() { marks.push_back(std::chrono::steady_clock::now()); }
  /// Forgets the marks of earlier runs.
  void clear() { marks.clear(); }
  llvm::ArrayRef<Time> getMarks() const { return marks; }

private:
  std::vector<Time> marks;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_INSTRCLOCK_H
