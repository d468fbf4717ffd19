//===- OperatorProbe.h - Element types that operators take ------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_OPERATORPROBE_H
#define GLOWISH_TESTS_CONFORMANCE_OPERATORPROBE_H

#include "NodeTest.h"

namespace glowish {

/// A test of ONNX's whose model is one node, to be run with its inputs in other
/// element types.
struct OperatorProbe {
  const NodeTest *test;
  TestData data;
  /// The inputs that must be constants: none of them can be left out.
  std::set<std::string> constants = {};
  /// The names of other inputs, those of the same element type together.
  std::vector<std::vector<std::string>> groups = {};
};

/// The operator of a model of one node, without graphs in it; "" of others.
std::string getOnlyOperator(const NodeTest &test);

/// Finds out what probe.constants are. An error says why the test does not pass
/// on the interpreter.
llvm::Expected<std::set<std::string>> findConstants(const OperatorProbe &probe);

/// Fills probe.groups.
void groupInputs(OperatorProbe &probe);

/// On which back ends the operator takes \p kind for the inputs of a group.
struct ProbeResult {
  bool onInterpreter = false;
  /// It runs there, and its outputs are those of the interpreter.
  bool onCPU = false;
};

ProbeResult tryKind(const OperatorProbe &probe, unsigned group, ElemKind kind);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_OPERATORPROBE_H
