//===- GradientEmitter.cpp - Gradients of nodes ---------------------------===//

#include "OpRecord.h"

using namespace llvm;

namespace tblgen {

static void emitFormulas(raw_ostream &os, const OpRecord &op) {
  os << "/// The adjoint of operand I of " << op.name << ".\nstruct " << op.name
     << " {\n  template <unsigned I, class S> static S eval(";
  for (size_t i = 0; i < op.operands.size(); ++i)
    os << (op.firstIsBool && i == 0 ? "typename S::Bool " : "S ")
       << op.operands[i].name << ", ";
  os << "S result, S gradient";
  for (const std::string &param : getParams(op))
    os << ", double " << param;
  os << ") {\n";
  for (size_t i = 0; i < op.gradients.size(); ++i)
    os << "    if constexpr (I == " << i << ")\n      return "
       << (op.gradients[i].empty() ? "S()" : op.gradients[i]) << ";\n";
  os << "  }\n};\n";
}

void emitGradients(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  {
    Section section(os, "GET_GRADIENT_FORMULAS");
    for (const OpRecord &node : nodes)
      if (!node.gradients.empty())
        emitFormulas(os, node);
  }
  Section section(os, "GET_GRADIENT_LIST");
  for (const OpRecord &node : nodes) {
    if (!node.noGradient.empty())
      os << "NO_GRADIENT(" << node.name << ", " << quote(node.noGradient)
         << ")\n";
    else if (!node.zeroGradient.empty())
      os << "ZERO_GRADIENT(" << node.name << ", " << quote(node.zeroGradient)
         << ")\n";
    else
      os << (node.gradients.empty() ? "NODE_GRADIENT(" : "FORMULA_GRADIENT(")
         << node.name << ")\n";
  }
  os << "#undef NO_GRADIENT\n#undef ZERO_GRADIENT\n#undef NODE_GRADIENT\n"
        "#undef FORMULA_GRADIENT\n";
}

} // namespace tblgen
