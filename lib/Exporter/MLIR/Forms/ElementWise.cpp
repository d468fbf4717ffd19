//===- ElementWise.cpp - Element-wise nodes as MLIR -----------------------===//

#include "MLIR/Writer.h"

using namespace glowish;

static void writeElementWise(MlirWriter &w, const Node &node) {
  MlirValues operands;
  for (NodeValue operand : node.getOperands())
    operands.push_back(w.get(operand));
  ScalarStep step = makeScalarStep(node);
  const Type &type = node.getType();
  w.setResult(node, w.map(type.getKind(), type.getShape(), operands,
                          [&](llvm::ArrayRef<MlirScalar> elements) {
                            return applyStep(step, elements);
                          }));
}

static std::vector<MlirForm> makeElementWiseForms() {
  std::vector<MlirForm> forms;
  for (const OpInfo &info : getNodeTable())
    if (info.scalarOp)
      forms.emplace_back(*findNodeKind(info.name), allMlirDialects,
                         MlirForm::Function(writeElementWise), nullptr);
  return forms;
}
static const std::vector<MlirForm> elementWiseForms = makeElementWiseForms();
