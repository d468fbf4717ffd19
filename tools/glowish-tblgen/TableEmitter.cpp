//===- TableEmitter.cpp - OpInfo tables -----------------------------------===//

#include "OpRecord.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tblgen {

static void emitOperandArray(raw_ostream &os, const OpRecord &op) {
  os << "static const OperandInfo " << op.name << "Operands[] = {\n";
  for (const OperandRecord &operand : op.operands) {
    os << "  {.name = " << quote(operand.name)
       << ", .role = OperandRole::" << operand.role;
    for (auto [flag, name] : {std::pair(operand.isOptional, "isOptional"),
                              std::pair(operand.isVariadic, "isVariadic"),
                              std::pair(operand.isFused, "isFused"),
                              std::pair(operand.hasAxes, "hasAxes"),
                              std::pair(operand.isStrided, "isStrided"),
                              std::pair(operand.isInPlace, "isInPlace"),
                              std::pair(operand.isPacked, "isPacked")})
      if (flag)
        os << ", ." << name << " = true";
    os << ", .doc = " << quote(operand.doc) << "},\n";
  }
  os << "};\n";
}

static void emitAttrArray(raw_ostream &os, const OpRecord &op) {
  for (const AttrRecord &attr : op.attrs) {
    if (attr.allowed.empty())
      continue;
    os << "static const llvm::StringRef " << op.name << "_" << attr.name
       << "Allowed[] = {";
    for (const std::string &value : attr.allowed)
      os << quote(value) << ", ";
    os << "};\n";
  }
  os << "static const AttrInfo " << op.name << "Attrs[] = {\n";
  for (const AttrRecord &attr : op.attrs) {
    os << "  {.name = " << quote(attr.name)
       << ", .kind = AttrKind::" << attr.kind;
    if (attr.hasDefault())
      os << ", .getDefault = +[]() -> AttrValue { " << attr.storage
         << " value = " << attr.defaultValue << "; return value; }";
    if (!attr.allowed.empty())
      os << ", .allowed = " << op.name << "_" << attr.name << "Allowed";
    if (attr.axes != "None")
      os << ", .axes = AxisRole::" << attr.axes;
    if (!attr.customType.empty())
      os << ", .customType = &" << attr.customType << "::attrType";
    os << ", .doc = " << quote(attr.doc) << "},\n";
  }
  os << "};\n";
}

/// The static arrays that an entry of the table refers to.
static void emitArrays(raw_ostream &os, const OpRecord &op) {
  if (!op.operands.empty())
    emitOperandArray(os, op);
  if (!op.results.empty()) {
    os << "static const llvm::StringRef " << op.name << "Results[] = {";
    for (const std::string &result : op.results)
      os << quote(result) << ", ";
    os << "};\n";
  }
  if (!op.attrs.empty())
    emitAttrArray(os, op);
  if (!op.fixedDims.empty())
    os << "static const int64_t " << op.name << "FixedDims[] = {"
       << join(map_range(op.fixedDims, [](int64_t d) { return itostr(d); }),
               ", ")
       << "};\n";
}

/// A function of the typed view that returns \p expression.
static std::string makeFunction(const OpRecord &op, StringRef type,
                                StringRef expression) {
  std::string view = op.isElementWise ? "OpView" : op.name + "View";
  return ("+[](const OpView &view) -> " + type + " { [[maybe_unused]] " + view +
          " op(view); return " + expression + "; }")
      .str();
}

static void emitEntry(raw_ostream &os, const OpRecord &op) {
  os << "{.name = " << quote(op.name) << ", .summary = " << quote(op.summary);
  for (auto [isThere, field, suffix] :
       {std::tuple(!op.operands.empty(), "operands", "Operands"),
        std::tuple(!op.results.empty(), "results", "Results"),
        std::tuple(!op.attrs.empty(), "attrs", "Attrs")})
    if (isThere)
      os << ", ." << field << " = " << op.name << suffix;
  os << ", .inferTypes = ";
  if (op.epilogueAttr >= 0)
    os << "inferWithEpilogue<" << op.typeRule << ", " << op.fusedOperand << ", "
       << op.epilogueAttr << ">";
  else
    os << op.typeRule;
  if (op.isElementWise)
    os << ", .scalarOp = ScalarOp::" << op.name;
  if (!op.multiplyAdds.empty())
    os << ", .countMultiplyAdds = "
       << makeFunction(op, "int64_t", op.multiplyAdds);
  std::vector<std::string> traits;
  for (const std::string &trait : op.traits)
    traits.push_back("OpTrait::" + trait);
  if (!traits.empty())
    os << ", .traits = {" << join(traits, ", ") << "}";
  for (auto [expression, field] : {std::pair(op.isExact, "isExact"),
                                   std::pair(op.irGeneration, "isIRGenerated"),
                                   std::pair(op.instrCondition, "isInstrFor")})
    if (!expression.empty())
      os << ", ." << field << " = " << makeFunction(op, "bool", expression);
  for (auto [function, field] : {std::pair(op.axisRule, "followAxis"),
                                 std::pair(op.extentRule, "inferExtents"),
                                 std::pair(op.filler, "findFiller")})
    if (!function.empty())
      os << ", ." << field << " = " << function;
  if (!op.fixedDims.empty())
    os << ", .fixedDims = " << op.name << "FixedDims";
  if (op.takesEpilogue)
    os << ", .takesEpilogue = true";
  for (auto [position, field] : {std::pair(op.segmentsAttr, "segmentsAttr"),
                                 std::pair(op.epilogueAttr, "epilogueAttr"),
                                 std::pair(op.fusedOperand, "fusedOperand")})
    if (position >= 0)
      os << ", ." << field << " = " << position;
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
