//===- TableEmitter.cpp - OpInfo tables -----------------------------------===//

#include "OpRecord.h"

using namespace llvm;

namespace tblgen {

static const char *spell(bool value) { return value ? "true" : "false"; }

/// The static arrays that an entry of the table refers to.
static void emitArrays(raw_ostream &os, const OpRecord &op) {
  if (!op.operands.empty()) {
    os << "static const OperandInfo " << op.name << "Operands[] = {\n";
    for (const OperandRecord &operand : op.operands)
      os << "  {" << quote(operand.name) << ", OperandRole::" << operand.role
         << ", " << spell(operand.isOptional) << ", "
         << spell(operand.isVariadic) << ", " << spell(operand.isStrided)
         << ", " << spell(operand.isInPlace) << ", " << quote(operand.doc)
         << "},\n";
    os << "};\n";
  }
  if (!op.results.empty()) {
    os << "static const llvm::StringRef " << op.name << "Results[] = {";
    for (const std::string &result : op.results)
      os << quote(result) << ", ";
    os << "};\n";
  }
  for (const AttrRecord &attr : op.attrs) {
    if (attr.allowed.empty())
      continue;
    os << "static const llvm::StringRef " << op.name << "_" << attr.name
       << "Allowed[] = {";
    for (const std::string &value : attr.allowed)
      os << quote(value) << ", ";
    os << "};\n";
  }
  if (op.attrs.empty())
    return;
  os << "static const AttrInfo " << op.name << "Attrs[] = {\n";
  for (const AttrRecord &attr : op.attrs) {
    os << "  {" << quote(attr.name) << ", AttrKind::" << attr.kind << ", ";
    if (attr.hasDefault())
      os << "+[]() -> AttrValue { " << attr.storage
         << " value = " << attr.defaultValue << "; return value; }, ";
    else
      os << "nullptr, ";
    if (attr.allowed.empty())
      os << "{}, ";
    else
      os << op.name << "_" << attr.name << "Allowed, ";
    os << quote(attr.doc) << "},\n";
  }
  os << "};\n";
}

static void emitEntry(raw_ostream &os, const OpRecord &op) {
  auto array = [&](bool isEmpty, const char *suffix) {
    return isEmpty ? std::string("{}") : op.name + suffix;
  };
  os << "{" << quote(op.name) << ", " << quote(op.summary) << ", "
     << array(op.operands.empty(), "Operands") << ", "
     << array(op.results.empty(), "Results") << ", "
     << array(op.attrs.empty(), "Attrs") << ", " << op.typeRule << ", ";
  if (op.isElementWise)
    os << "ScalarOp::" << op.name;
  else
    os << "std::nullopt";
  if (!op.multiplyAdds.empty())
    os << ", +[](const OpView &view) -> int64_t { " << op.name
       << "View op(view); return " << op.multiplyAdds << "; }";
  else if (op.segmentsAttr >= 0)
    os << ", nullptr";
  if (op.segmentsAttr >= 0)
    os << ", " << op.segmentsAttr;
  os << "},\n";
}

void emitTable(raw_ostream &os, ArrayRef<OpRecord> ops, ClassKind kind) {
  bool isNode = kind == ClassKind::Node;
  {
    Section section(os, isNode ? "GET_NODE_ARRAYS" : "GET_INSTR_ARRAYS");
    for (const OpRecord &op : ops)
      emitArrays(os, op);
  }
  {
    Section section(os, isNode ? "GET_NODE_TABLE" : "GET_INSTR_TABLE");
    for (const OpRecord &op : ops)
      emitEntry(os, op);
  }
}

} // namespace tblgen
