//===- Profile.h - Run times of instructions --------------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_PROFILE_H
#define GLOWISH_DRIVER_PROFILE_H

#include "glowish/Driver/Session.h"
#include "glowish/IR/Cost.h"

namespace glowish {

/// The instructions of a program with their costs and times.
struct Profile {
  struct Row {
    const Instruction *instr;
    Cost cost;
    /// The median over the runs.
    double seconds;
  };
  /// In the order of the program, without the marks of lifetimes.
  std::vector<Row> rows;
  /// The median of whole runs, and how many there were.
  double runSeconds = 0;
  unsigned numRuns = 0;
  /// Floating-point operations a second that the cores in use could do at most.
  double peakRate = 0;

  /// The sums over the rows.
  Cost getCost() const;
  double getSeconds() const;
};

/// Runs \p session, which was made with \p clock, \p numRuns times (at least
/// once) and takes the times of its instructions.
llvm::Expected<Profile> measureProfile(Session &session,
                                       const IRFunction &function,
                                       InstrClock &clock, unsigned numRuns,
                                       double peakRate);

/// A table of the instructions, the slowest first, and of the kinds of
/// instructions.
void printProfile(llvm::raw_ostream &os, const Profile &profile);

/// A JSON file in Chrome's trace event format (chrome://tracing, Perfetto):
/// one complete event ("ph": "X") an instruction in the order of the program,
/// each as long as its median and right behind the one before.
llvm::Error writeProfileTrace(const Profile &profile, llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_DRIVER_PROFILE_H
