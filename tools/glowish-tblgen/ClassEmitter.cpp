//===- ClassEmitter.cpp - Classes of nodes and instructions ---------------===//

#include "OpRecord.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tblgen {

namespace {

/// The words in which node and instruction classes differ.
struct Vocabulary {
  const char *base, *suffix, *kind, *draft, *value, *numOperands, *constructor,
      *forward;
};

const Vocabulary nodeWords = {
    "Node",
    "Node",
    "NodeKind",
    "NodeDraft",
    "NodeValue",
    "getNumOperands()",
    "NodeDraft draft, llvm::StringRef name, TypeList types",
    "std::move(draft), name, std::move(types)"};
const Vocabulary instrWords = {"Instruction",
                               "Instr",
                               "InstrKind",
                               "InstrDraft",
                               "Buffer *",
                               "getNumRecordOperands()",
                               "InstrDraft draft, llvm::StringRef name",
                               "std::move(draft), name"};

const Vocabulary &getWords(ClassKind kind) {
  return kind == ClassKind::Node ? nodeWords : instrWords;
}

} // namespace

void emitKinds(raw_ostream &os, ArrayRef<OpRecord> ops, ClassKind kind) {
  bool isNode = kind == ClassKind::Node;
  Section section(os, isNode ? "GET_NODE_LIST" : "GET_INSTR_LIST");
  // Lists of functions distinguish instructions that do nothing, and those that
  // execute other programs; for other lists they are instructions.
  const char *marker = "LIFETIME_MARKER", *control = "CONTROL_FLOW";
  if (!isNode)
    for (const char *macro : {marker, control})
      os << "#ifndef " << macro << "\n#define " << macro
         << "(NAME) INSTR(NAME)\n#endif\n";
  auto getMacro = [&](const OpRecord &op) {
    if (isNode)
      return "NODE";
    if (op.has("LifetimeMarker"))
      return marker;
    return op.isControlFlow() ? control : "INSTR";
  };
  for (const OpRecord &op : ops)
    os << getMacro(op) << "(" << op.name << ")\n";
  if (!isNode)
    for (const char *macro : {marker, control})
      os << "#undef " << macro << "\n";
  os << "#undef " << (isNode ? "NODE" : "INSTR") << "\n";
}

/// Parameters: fixed operands, required attributes, variadic operands,
/// attributes with defaults; variadic operands first where there are no
/// others.
static void emitDraft(raw_ostream &os, const OpRecord &op,
                      const Vocabulary &words, StringRef kind) {
  std::vector<std::string> params;
  std::string value = words.value;
  std::string list = "llvm::ArrayRef<" + value + "> ";
  size_t fixed = op.operands.size() - op.hasVariadic();
  std::string variadic = op.hasVariadic() ? op.operands.back().name : "";
  for (size_t i = 0; i < fixed; ++i)
    params.push_back(value + " " + op.operands[i].name);
  if (op.hasVariadic() && fixed == 0)
    params.push_back(list + variadic);
  for (const AttrRecord &attr : op.attrs)
    if (!attr.hasDefault())
      params.push_back(attr.getParameterType() + " " + attr.name);
  if (op.hasVariadic() && fixed != 0)
    params.push_back(list + variadic + " = {}");
  for (const AttrRecord &attr : op.attrs)
    if (attr.hasDefault())
      params.push_back(attr.getParameterType() + " " + attr.name + " = " +
                       attr.defaultValue);
  os << "  static " << words.draft << " draft(" << join(params, ", ")
     << ") {\n    " << words.draft << " d{" << kind << ", {";
  for (size_t i = 0; i < fixed; ++i)
    os << (i ? ", " : "") << op.operands[i].name;
  os << "}, {}};\n";
  if (op.hasVariadic())
    os << "    d.operands.append(" << variadic << ".begin(), " << variadic
       << ".end());\n";
  for (const AttrRecord &attr : op.attrs)
    os << "    appendAttr(d.attrs, " << attr.storage << "(" << attr.name
       << "));\n";
  os << "    return d;\n  }\n";
}

/// The same of a record with segments. Parameters: operands, attributes.
static void emitSegmentedDraft(raw_ostream &os, const OpRecord &op,
                               const Vocabulary &words, StringRef kind) {
  std::vector<std::string> params, counts, appends;
  for (const OperandRecord &operand : op.operands) {
    std::string value = words.value;
    if (operand.isVariadic) {
      params.push_back("llvm::ArrayRef<" + value + "> " + operand.name);
      counts.push_back("int64_t(" + operand.name + ".size())");
      appends.push_back("d.operands.append(" + operand.name + ".begin(), " +
                        operand.name + ".end());");
    } else {
      params.push_back(value + " " + operand.name);
      counts.push_back("1");
      appends.push_back("d.operands.push_back(" + operand.name + ");");
    }
  }
  for (int i = 0; i < int(op.attrs.size()); ++i) {
    const AttrRecord &attr = op.attrs[i];
    if (i == op.segmentsAttr) {
      appends.push_back("appendAttr(d.attrs, std::vector<int64_t>{" +
                        join(counts, ", ") + "});");
      continue;
    }
    params.push_back(attr.getParameterType() + " " + attr.name);
    appends.push_back("appendAttr(d.attrs, " + attr.storage + "(" + attr.name +
                      "));");
  }
  os << "  static " << words.draft << " draft(" << join(params, ", ")
     << ") {\n    " << words.draft << " d{" << kind << ", {}, {}};\n    "
     << join(appends, "\n    ") << "\n    return d;\n  }\n";
}

static void emitSegments(raw_ostream &os, const OpRecord &op,
                         const Vocabulary &words) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const OperandRecord &operand = op.operands[i];
    std::string name = capitalize(operand.name);
    if (operand.isVariadic)
      os << "  llvm::ArrayRef<" << words.value << "> get" << name
         << "() const { return getSegment(" << i << "); }\n";
    else
      os << "  " << words.value << " get" << name
         << "() const { return getSegment(" << i << ").front(); }\n";
  }
}

static void emitOperands(raw_ostream &os, const OpRecord &op,
                         const Vocabulary &words) {
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const OperandRecord &operand = op.operands[i];
    std::string name = capitalize(operand.name);
    os << "  static constexpr unsigned " << operand.name << "Idx = " << i
       << ";\n";
    if (operand.isVariadic) {
      os << "  unsigned getNum" << name << "() const { return "
         << words.numOperands << " - " << i << "; }\n  llvm::SmallVector<"
         << words.value << ", 4> get" << name
         << "() const {\n    llvm::SmallVector<" << words.value
         << ", 4> values;\n    for (unsigned i = " << i << "; i < "
         << words.numOperands << "; ++i)\n"
         << "      values.push_back(getOperand(i));\n"
         << "    return values;\n  }\n";
      continue;
    }
    os << "  " << words.value << " get" << name
       << "() const { return getOperand(" << i << "); }\n";
  }
}

static void emitAttrs(raw_ostream &os, const OpRecord &op) {
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const AttrRecord &attr = op.attrs[i];
    std::string name = capitalize(attr.name);
    os << "  static constexpr unsigned " << attr.name << "Attr = " << i
       << ";\n  " << attr.accessor << " get" << name << "() const { return "
       << attr.getValue(i) << "; }\n  void set" << name << "("
       << attr.getParameterType() << " value) { setAttr(" << i << ", "
       << attr.storage << "(value)); }\n";
  }
}

static void emitClass(raw_ostream &os, const OpRecord &op,
                      const Vocabulary &words, StringRef dialect) {
  std::string name = op.name + words.suffix;
  std::string kind = dialect.empty() ? std::string(words.kind) + "::" + op.name
                                     : ("get" + dialect + "Kind(" + dialect +
                                        "InstrKind::" + op.name + ")")
                                           .str();
  os << "/// " << op.summary << ".\nclass " << name << " final : public "
     << words.base << " {\npublic:\n  " << name << "(" << words.constructor
     << ") : " << words.base << "(" << words.forward << ") {}\n";
  bool hasSegments = op.segmentsAttr >= 0;
  (hasSegments ? emitSegmentedDraft : emitDraft)(os, op, words, kind);
  os << "  static bool classof(const " << words.base
     << " *op) { return op->getKind() == " << kind << "; }\n";
  (hasSegments ? emitSegments : emitOperands)(os, op, words);
  emitAttrs(os, op);
  os << "};\n\n";
}

void emitClasses(raw_ostream &os, ArrayRef<OpRecord> ops, ClassKind kind,
                 StringRef dialect) {
  Section section(os, kind == ClassKind::Node ? "GET_NODE_CLASSES"
                                              : "GET_INSTR_CLASSES");
  for (const OpRecord &op : ops)
    emitClass(os, op, getWords(kind), dialect);
}

} // namespace tblgen
