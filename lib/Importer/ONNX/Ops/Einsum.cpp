//===- Einsum.cpp - Einstein summation ------------------------------------===//

#include "Common/Einsum.h"
#include "ONNX/Extents.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importEinsum(OpContext &op) {
  std::string equation = op.getString("equation", "");
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < op.getNumInputs(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(i));
    inputs.push_back(input);
  }
  return op.setOutput(0, makeEinsum(op, equation, inputs));
}

static OnnxOperator einsumOp("Einsum", 12, withExtents<importEinsum>);
