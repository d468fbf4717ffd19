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

/// Emits a list of macros \p macro, one for each function that \p rule of the
/// records names.
static void emitRules(raw_ostream &os, ArrayRef<OpRecord> nodes,
                      StringRef macro, std::string OpRecord::*rule) {
  std::string guard = ("GET_" + macro + "_LIST").str();
  Section section(os, guard);
  std::vector<std::string> rules;
  for (const OpRecord &node : nodes)
    if (!(node.*rule).empty() && !is_contained(rules, node.*rule))
      rules.push_back(node.*rule);
  for (const std::string &each : rules)
    os << macro << "(" << each << ")\n";
  os << "#undef " << macro << "\n";
}

void emitTypeRules(raw_ostream &os, ArrayRef<OpRecord> nodes,
                   ArrayRef<OpRecord> instrs) {
  emitViews(os, nodes, instrs);
  emitRuleList(os, nodes, instrs);
  emitRules(os, nodes, "AXIS_RULE", &OpRecord::axisRule);
  emitRules(os, nodes, "EXTENT_RULE", &OpRecord::extentRule);
  emitRules(os, nodes, "FILLER", &OpRecord::filler);
}

} // namespace tblgen
