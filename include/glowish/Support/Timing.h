//===- Timing.h - Where the time of a run goes ----------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_TIMING_H
#define GLOWISH_SUPPORT_TIMING_H

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <string>
#include <vector>

namespace glowish {

/// Seconds by phase, in the order in which phases were first entered.
class PhaseTimer {
public:
  /// Ends the current phase and begins \p name.
  void begin(llvm::StringRef name) {
    end();
    rows.push_back({name.str(), 0.0});
    start = Clock::now();
    running = true;
  }
  void end() {
    if (running)
      rows.back().seconds +=
          std::chrono::duration<double>(Clock::now() - start).count();
    running = false;
  }

  void print(llvm::raw_ostream &os) const {
    double total = 0;
    for (const Row &row : rows)
      total += row.seconds;
    for (const Row &row : rows)
      os << llvm::formatv("{0,-16} {1,9:F3} s {2,5:F1} %\n", row.name,
                          row.seconds,
                          total > 0 ? 100 * row.seconds / total : 0.0);
    os << llvm::formatv("{0,-16} {1,9:F3} s\n", "total", total);
  }

private:
  using Clock = std::chrono::steady_clock;
  struct Row {
    std::string name;
    double seconds;
  };
  std::vector<Row> rows;
  Clock::time_point start;
  bool running = false;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_TIMING_H
