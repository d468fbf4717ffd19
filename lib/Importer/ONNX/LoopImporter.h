//===- LoopImporter.h - Graphs that run again and again --------*- C++ -*-===//
//
// What Loop and Scan have in common. A loop is written out where the number of
// repetitions and all conditions are constants and that makes few nodes, or
// where it must be because a state changes its shape; else it is a Loop node.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H
#define GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H

#include "ONNX/Composer.h"
#include "ONNX/GraphScope.h"
#include <cmath>

namespace glowish {

/// A value of which each repetition gets an element (Scan).
struct ScanInput {
  NodeValue value;
  int64_t axis = 0;
  bool isReverse = false;
};

class LoopImporter {
public:
  /// The graph's inputs: with \p isCounted (Loop) its number and the condition,
  /// then states, elements of scan inputs. Its outputs: with \p isCounted the
  /// next condition, states, elements of scans.
  LoopImporter(OpContext &op, const onnx::GraphProto &graph, bool isCounted)
      : op(op), graph(graph), isCounted(isCounted) {}

  std::vector<NodeValue> states;
  std::vector<ScanInput> scanInputs;
  /// The number of repetitions, int64 with one element; null for no end.
  NodeValue tripCount;
  /// What bounds it, as far as that is known.
  double mostTrips = HUGE_VAL;
  /// Whether it begins, bool with one element; null for true.
  NodeValue condition;

  /// Returns the last states, and for each scan its elements along a new first
  /// dimension.
  llvm::Expected<std::vector<NodeValue>> import();
  /// How often the loop ran: an int64 scalar, or null where the scans have as
  /// many elements as their types say.
  NodeValue getCount() const { return count; }
  unsigned getNumScans() const {
    return graph.output_size() - states.size() - isCounted;
  }

private:
  using Values = std::vector<NodeValue>;

  llvm::Error checkSignature() const;
  llvm::Expected<Values> getElements(GraphScope &scope, NodeValue number);
  llvm::Expected<NodeValue>
  getElement(GraphScope &scope, const ScanInput &input, NodeValue number);
  /// Nothing where a condition is no constant or there are more than
  /// \p mostTrips repetitions.
  llvm::Expected<std::optional<Values>> writeOut(int64_t mostTrips);
  llvm::Expected<std::optional<Values>> writeOutTrips(int64_t mostTrips);
  llvm::Expected<Values> stackScans(std::vector<Values> trips);
  llvm::Expected<Values> makeLoop();
  llvm::Error importBody(BodyScope &scope);
  llvm::Expected<NodeValue> makeScalar(NodeValue value, ElemKind kind,
                                       llvm::StringRef what);
  llvm::Expected<int64_t> getMaxTripCount() const;
  int64_t countNodes() const;

  OpContext &op;
  const onnx::GraphProto &graph;
  bool isCounted;
  NodeValue count;
  /// Whether each repetition says that there is another.
  bool alwaysGoesOn = false;
};

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H
