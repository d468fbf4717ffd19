//===- Timing.h - Wall-clock time by phase ----------------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_TIMING_H
#define GLOWISH_SUPPORT_TIMING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace glowish {

/// Wall-clock seconds by phase, in the order in which phases were first
/// entered. At most one phase runs at a time. Each is logged when it ends.
class PhaseTimer {
public:
  PhaseTimer() = default;
  PhaseTimer(const PhaseTimer &) = delete;
  PhaseTimer &operator=(const PhaseTimer &) = delete;
  ~PhaseTimer() { end(); }

  struct Row {
    std::string name;
    double seconds = 0;
  };

  /// Ends the current phase and begins \p name, which continues an earlier
  /// phase of that name.
  void begin(llvm::StringRef name);
  /// Ends the current phase, if there is one.
  void end();
  /// Adds \p seconds measured elsewhere to the phase \p name.
  void add(llvm::StringRef name, double seconds);

  llvm::ArrayRef<Row> getRows() const { return rows; }
  double getTotal() const;
  /// Prints a table of names, seconds and percentages, and the total.
  void print(llvm::raw_ostream &os) const;

private:
  using Clock = std::chrono::steady_clock;
  size_t findRow(llvm::StringRef name);
  std::vector<Row> rows;
  Clock::time_point start;
  size_t current = 0;
  bool running = false;
};

/// Where phases are logged and \p timer is null: makes a timer that measures
/// them while it exists, and sets \p timer to it. Else returns null.
std::unique_ptr<PhaseTimer> makeTimerForLog(PhaseTimer *&timer);

} // namespace glowish

#endif // GLOWISH_SUPPORT_TIMING_H
