//===- Profile.h - Run times of instructions --------------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_PROFILE_H
#define GLOWISH_DRIVER_PROFILE_H

#include "glowish/Backends/MachineLimits.h"
#include "glowish/Driver/Session.h"
#include "glowish/IR/CacheTraffic.h"
#include "glowish/IR/Cost.h"
#include "glowish/IR/RunProgram.h"

namespace glowish {

/// The instructions of a program with their costs and times.
struct Profile {
  struct Row {
    const Instruction *instr;
    /// The instruction of `run`: its operands have the extents of the runs.
    const Instruction *inRun;
    /// The flops and bytes of `inRun`.
    Cost cost;
    /// The median over the runs.
    double seconds;
    /// With a roofline: the operations that the kernel does at least
    /// (Backend::countOperations), and the bytes that it moves by where they
    /// are.
    double operations = 0;
    BytesByLevel bytes = {};
    /// The least time: that of the operations at the peak, or of the bytes at
    /// the rate of a cache or of memory, whichever is longer.
    double rooflineSeconds = 0;
    /// What that time is of: 0 for the operations, 1 for what comes from the
    /// first cache or from farther, 2 from the second...
    unsigned bound = 0;
  };
  /// In the order of the program, without the marks of lifetimes.
  std::vector<Row> rows;
  /// The program with the extents of the runs, and the values of the symbols
  /// that they depend on.
  std::shared_ptr<const RunProgram> run;
  std::map<std::string, int64_t> symbols;
  /// The median of whole runs, and how many there were.
  double runSeconds = 0;
  unsigned numRuns = 0;
  /// Floating-point operations a second that the cores in use could do at most.
  double peakRate = 0;
  /// What the roofline was made with; null without one.
  std::optional<MachineLimits> limits;

  /// The sums over the rows.
  Cost getCost() const;
  double getSeconds() const;
  double getRooflineSeconds() const;
};

/// The order of the instructions of a table: the longest time first, or the
/// longest time beyond the roofline.
enum class ProfileOrder { Time, Excess };

/// Runs \p session, which was made of \p program with \p clock, \p numRuns
/// times (at least once) and takes the times of its instructions.
llvm::Expected<Profile> measureProfile(Session &session,
                                       const PlannedProgram &program,
                                       InstrClock &clock, unsigned numRuns,
                                       double peakRate);

/// Adds to \p profile, of \p program, the roofline on a machine of \p limits.
void addRoofline(Profile &profile, const PlannedProgram &program,
                 const MachineLimits &limits);

/// "L1", "L2"... or "memory", of the levels of \p limits.
std::string getLevelName(const MachineLimits &limits, size_t level);

/// A table of the instructions in \p order, and of the kinds of instructions,
/// the slowest first.
void printProfile(llvm::raw_ostream &os, const Profile &profile,
                  ProfileOrder order = ProfileOrder::Time);

/// A JSON file in Chrome's trace event format (chrome://tracing, Perfetto):
/// one complete event ("ph": "X") an instruction in the order of the program,
/// each as long as its median and right behind the one before. With a roofline
/// "otherData" has the limits.
llvm::Error writeProfileTrace(const Profile &profile, llvm::StringRef path);

} // namespace glowish

#endif // GLOWISH_DRIVER_PROFILE_H
