//===- TypeRuleEmitter.cpp - Typed views of operators ---------------------===//

#include "OpRecord.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tblgen {

static void emitOperandAccessor(raw_ostream &os, const OperandRecord &operand,
                                unsigned index, const char *side) {
  std::string name = capitalize(operand.name);
  if (operand.isVariadic) {
    os << "  unsigned getNum" << name << "() const { return OpView::getNum"
       << side << "s() - " << index << "; }\n  const Type &get" << name
       << "(unsigned i) const { return OpView::get" << side << "(" << index
       << " + i); }\n";
    return;
  }
  if (operand.isOptional)
    os << "  bool has" << name << "() const { return OpView::hasInput(" << index
       << "); }\n";
  os << "  const Type &get" << name << "() const { return OpView::get" << side
     << "(" << index << "); }\n";
}

static void emitView(raw_ostream &os, const OpRecord &op) {
  os << "/// " << op.summary << ".\nclass " << op.name
     << "View : public OpView {\npublic:\n  explicit " << op.name
     << "View(const OpView &op) : OpView(op) {}\n";
  unsigned in = 0, out = 0;
  for (const OperandRecord &operand : op.operands) {
    bool isIn = operand.role == "In" || operand.role == "InOut";
    if (isIn) {
      os << "  static constexpr unsigned " << operand.name << "Idx = " << in
         << ";\n";
      emitOperandAccessor(os, operand, in++, "Input");
    } else if (operand.role == "Out") {
      emitOperandAccessor(os, operand, out++, "Output");
    }
  }
  for (size_t i = 0; i < op.attrs.size(); ++i)
    os << "  " << op.attrs[i].accessor << " get" << capitalize(op.attrs[i].name)
       << "() const { return " << op.attrs[i].getValue(i) << "; }\n";
  os << "};\n";
}

static void emitViews(raw_ostream &os, ArrayRef<OpRecord> nodes,
                      ArrayRef<OpRecord> instrs) {
  Section section(os, "GET_OP_VIEWS");
  for (const OpRecord &node : nodes)
    if (!node.isElementWise)
      emitView(os, node);
  for (const OpRecord &instr : instrs)
    if (!instr.isFromNode)
      emitView(os, instr);
}

static void emitRuleList(raw_ostream &os, ArrayRef<OpRecord> nodes,
                         ArrayRef<OpRecord> instrs) {
  Section section(os, "GET_TYPE_RULE_LIST");
  std::vector<std::string> rules;
  auto add = [&](const OpRecord &op) {
    if (!is_contained(rules, op.typeRule))
      rules.push_back(op.typeRule);
  };
  for_each(nodes, add);
  for_each(instrs, add);
  for (const std::string &rule : rules)
    os << "TYPE_RULE(" << rule << ")\n";
  os << "#undef TYPE_RULE\n";
}

static void emitAxisRules(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  Section section(os, "GET_AXIS_RULE_LIST");
  std::vector<std::string> rules;
  for (const OpRecord &node : nodes)
    if (!node.axisRule.empty() && !is_contained(rules, node.axisRule))
      rules.push_back(node.axisRule);
  for (const std::string &rule : rules)
    os << "AXIS_RULE(" << rule << ")\n";
  os << "#undef AXIS_RULE\n";
}

void emitTypeRules(raw_ostream &os, ArrayRef<OpRecord> nodes,
                   ArrayRef<OpRecord> instrs) {
  emitViews(os, nodes, instrs);
  emitRuleList(os, nodes, instrs);
  emitAxisRules(os, nodes);
}

} // namespace tblgen
