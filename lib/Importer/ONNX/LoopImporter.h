//===- LoopImporter.h - Import of Loop and Scan -----------------*- C++ -*-===//
//
// Common parts of Loop and Scan. A loop is unrolled if trip count and
// conditions are constants and the result is small, or if it has to be because
// a state changes its shape; otherwise it becomes a Loop node.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H
#define GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H

#include "ONNX/GraphScope.h"
#include "ONNX/OpContext.h"
#include <cmath>

namespace glowish::onnximport {

/// An input of which each iteration gets one slice (Scan).
struct ScanInput {
  NodeValue value;
  int64_t axis = 0;
  bool isReverse = false;
};

class LoopImporter {
public:
  /// The inputs of \p graph are the iteration number and the condition (if
  /// \p isCounted, for Loop), the states, and slices of scan inputs. Its
  /// outputs are the next condition (if \p isCounted), the states, and elements
  /// of scan outputs.
  LoopImporter(OpContext &op, const onnx::GraphProto &graph, bool isCounted)
      : op(op), graph(graph), isCounted(isCounted) {}

  /// Sequences are accepted if the loop can be unrolled.
  std::vector<GraphValue> states;
  std::vector<ScanInput> scanInputs;
  /// The trip count, int64 with one element; null if there is none.
  NodeValue tripCount;
  /// Known upper bound of the trip count.
  double mostTrips = HUGE_VAL;
  /// The initial condition, bool with one element; null for true.
  NodeValue condition;

  /// Returns the final states and the scan outputs, stacked along a new first
  /// dimension.
  llvm::Expected<std::vector<GraphValue>> import();
  /// Returns the number of iterations, an int64 scalar, or null if the scan
  /// outputs are known to have their full extents.
  NodeValue getCount() const { return count; }
  unsigned getNumScans() const {
    return graph.output_size() - states.size() - isCounted;
  }

private:
  using Values = std::vector<NodeValue>;
  using GraphValues = std::vector<GraphValue>;

  llvm::Error checkSignature() const;
  bool hasSequences() const;
  llvm::Expected<Values> getElements(GraphScope &scope, NodeValue number);
  llvm::Expected<NodeValue>
  getElement(GraphScope &scope, const ScanInput &input, NodeValue number);
  /// Unrolls the loop, unless a condition is not constant or there are more
  /// than \p mostTrips iterations.
  llvm::Expected<std::optional<GraphValues>> unroll(int64_t mostTrips);
  llvm::Expected<std::optional<GraphValues>>
  unrollIterations(int64_t mostTrips);
  llvm::Expected<GraphValues> getIterationInputs(NodeValue index);
  llvm::Expected<Values> stackScans(std::vector<Values> trips);
  llvm::Expected<GraphValues> makeLoop();
  llvm::Error importBody(BodyScope &scope);
  llvm::Expected<NodeValue> makeScalar(NodeValue value, ElemKind kind,
                                       llvm::StringRef what);
  llvm::Expected<int64_t> getMaxTripCount() const;
  int64_t countNodes() const;

  OpContext &op;
  const onnx::GraphProto &graph;
  bool isCounted;
  NodeValue count;
  /// Whether the condition computed by the body is always true.
  bool alwaysContinues = false;
};

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_LOOPIMPORTER_H
