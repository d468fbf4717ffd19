//===- ScalarOpEmitter.cpp - Formulas of element-wise operators -----------===//

#include "OpRecord.h"

using namespace llvm;

namespace tblgen {

static void emitFormula(raw_ostream &os, const OpRecord &op) {
  std::vector<std::string> params = getParams(op);
  os << "/// " << op.summary << ".\nstruct " << op.name << " {\n"
     << "  static constexpr unsigned numArgs = " << op.operands.size()
     << ";\n  static constexpr unsigned numParams = "
     << params.size() + op.tableSize
     << ";\n  static constexpr auto kinds = ScalarOpInfo::Kinds::" << op.kinds
     << ";\n  static constexpr auto result = ScalarOpInfo::Result::"
     << op.resultKind << ";\n  static constexpr bool firstIsBool = "
     << (op.firstIsBool ? "true" : "false")
     << ";\n  template <class S> static auto eval(";
  for (size_t i = 0; i < op.operands.size(); ++i)
    os << (i ? ", " : "")
       << (op.firstIsBool && i == 0 ? "typename S::Bool " : "S ")
       << op.operands[i].name;
  os << ", [[maybe_unused]] llvm::ArrayRef<double> params = {}) {\n";
  for (size_t i = 0; i < params.size(); ++i)
    os << "    [[maybe_unused]] double " << params[i] << " = params[" << i
       << "];\n";
  if (op.tableSize)
    os << "    llvm::ArrayRef<double> table = params.drop_front("
       << params.size() << ");\n";
  os << "    return " << op.formula << ";\n  }\n};\n";
}

static void emitInfo(raw_ostream &os, const OpRecord &op) {
  os << "{" << quote(op.name) << ", " << op.operands.size() << ", "
     << (getParams(op).empty() ? "{}" : op.name + "Params") << ", "
     << op.tableSize << ", ScalarOpInfo::Kinds::" << op.kinds
     << ", ScalarOpInfo::Result::" << op.resultKind << ", "
     << (op.firstIsBool ? "true" : "false") << ", "
     << (op.isCommutative ? "true" : "false") << ", "
     << (op.has("FewInstructions") ? "true" : "false") << ", "
     << (op.has("HasPole") ? "true" : "false") << ", " << op.domainLow << ", "
     << op.domainHigh << "},\n";
}

void emitScalarOps(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  std::vector<const OpRecord *> ops;
  for (const OpRecord &node : nodes)
    if (node.isElementWise)
      ops.push_back(&node);
  {
    Section section(os, "GET_SCALAR_OP_LIST");
    for (const OpRecord *op : ops)
      os << "SCALAR_OP(" << op->name << ")\n";
    os << "#undef SCALAR_OP\n";
  }
  {
    Section section(os, "GET_SCALAR_FORMULAS");
    for (const OpRecord *op : ops)
      emitFormula(os, *op);
  }
  Section section(os, "GET_SCALAR_OP_TABLE");
  for (const OpRecord *op : ops) {
    std::vector<std::string> params = getParams(*op);
    if (params.empty())
      continue;
    os << "static const llvm::StringRef " << op->name << "Params[] = {";
    for (const std::string &param : params)
      os << quote(param) << ", ";
    os << "};\n";
  }
  os << "static const ScalarOpInfo scalarOpTable[] = {\n";
  for (const OpRecord *op : ops)
    emitInfo(os, *op);
  os << "};\n";
}

} // namespace tblgen
