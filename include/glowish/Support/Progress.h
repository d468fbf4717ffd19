//===- Progress.h - Progress line on the terminal ---------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_PROGRESS_H
#define GLOWISH_SUPPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <chrono>
#include <string>

namespace glowish {

/// A status line on stderr that is rewritten in place and cleared at the end.
/// Prints nothing if stderr is not a terminal. At most one may exist at a time.
class Progress {
public:
  Progress() : Progress("", 0) {}
  /// Counts \p label up to \p total steps (0: unknown).
  Progress(llvm::StringRef label, uint64_t total);
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { clear(); }

  /// Shows \p text immediately, for a change of phase.
  void show(const llvm::Twine &text);
  /// Advances the count by \p count; redraws at most ten times a second.
  void step(uint64_t count = 1);
  /// Erases the line, so that other output can be printed.
  void clear();
  /// The same of the one that shows a line, if there is one.
  static void clearShown();

private:
  using Clock = std::chrono::steady_clock;
  void draw(llvm::StringRef text);
  /// The one that shows a line.
  static Progress *shown;
  bool enabled;
  std::string label;
  uint64_t total, done = 0;
  Clock::time_point nextDraw;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_PROGRESS_H
