//===- Progress.h - A line that says what is going on ---------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_PROGRESS_H
#define GLOWISH_SUPPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <string>

namespace glowish {

/// One line on stderr, rewritten in place and cleared at the end; nothing at
/// all where stderr is no terminal. One at a time.
class Progress {
public:
  Progress() : Progress("", 0) {}
  /// Counts up to \p total steps (0: unknown) of \p label.
  Progress(llvm::StringRef label, uint64_t total);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { clear(); }

  /// Shows \p text now, for a change of phase.
  void show(const llvm::Twine &text);
  /// Counts \p count more steps; redraws at most ten times a second.
  void step(uint64_t count = 1);
  /// Takes the line away, before something else is printed.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  void draw(llvm::StringRef text);
  bool enabled;
  bool shown = false;
  std::string label;
  uint64_t total, done = 0;
  Clock::time_point nextDraw;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_PROGRESS_H
