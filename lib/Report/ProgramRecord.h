//===- ProgramRecord.h - A program's data for a report ----------*- C++ -*-===//

#ifndef GLOWISH_LIB_REPORT_PROGRAMRECORD_H
#define GLOWISH_LIB_REPORT_PROGRAMRECORD_H

#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Profile.h"
#include "glowish/IR/FusionRemarks.h"
#include <map>

namespace glowish {

/// One run of a pass on a function and its bodies.
struct PassRecord {
  std::string pass;
  Phase phase = Phase::Optimize;
  /// Whether the phase has come to its end and is known.
  bool isPlaced = false;
  /// Nodes or instructions, those of bodies included.
  size_t before = 0, after = 0;
  bool changed = false;
  double seconds = 0;
};

/// An input or output of the model.
struct StorageRecord {
  std::string name, type;
  uint64_t bytes;
  bool isInput, isOutput;
};

/// Nodes of one kind, when they were imported and in the last graph.
struct KindRecord {
  size_t imported = 0, last = 0;
};

/// A program that has a memory plan; its address does not change.
struct PlannedRecord {
  const IRFunction *function;
  const MemoryPlan *plan;
  const Backend *backend;
};

/// The data of a program that are recorded while it is compiled: the graph is
/// deleted before there is IR.
struct ProgramRecord {
  /// Which compilation this is the program of, while there are others.
  const Compilation *compilation;
  /// Distinguishes the elements of the page.
  size_t number;
  std::string title;
  /// Null where the compilation has not come to a plan.
  std::optional<PlannedRecord> planned;

  std::vector<StorageRecord> storage;
  size_t numConstants = 0;
  uint64_t constantElements = 0, constantBytes = 0;
  std::map<std::string, KindRecord> kinds;

  /// The phase that the last graph was the result of, and its markup.
  Phase graphPhase = Phase::Import;
  std::string graph;

  std::vector<PassRecord> passes;
  /// The effects on bodies of the pass that is running.
  PassRecord inner;
  /// Nodes or instructions after the last pass.
  size_t lastSize = 0;

  std::vector<NodeOfQuantizedWeights> quantizedWeights;
  std::vector<UnfusedLoopText> unfusedLoops;
  std::optional<Profile> profile;
};

} // namespace glowish

#endif // GLOWISH_LIB_REPORT_PROGRAMRECORD_H
