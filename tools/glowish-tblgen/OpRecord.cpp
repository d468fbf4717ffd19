//===- OpRecord.cpp - Operator records as plain data ----------------------===//

#include "OpRecord.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/TableGen/Error.h"
#include <map>

using namespace llvm;

namespace tblgen {

std::string capitalize(StringRef name) {
  std::string text = name.str();
  text[0] = toUpper(text[0]);
  return text;
}

std::string quote(StringRef text) {
  std::string result;
  raw_string_ostream os(result);
  os << '"';
  os.write_escaped(text);
  os << '"';
  return result;
}

bool OpRecord::has(StringRef trait) const {
  return is_contained(traits, trait);
}

bool OpRecord::isControlFlow() const {
  return has("CallsFunction") || any_of(attrs, [](const AttrRecord &attr) {
           return attr.kind == "Body";
         });
}

std::string unindent(StringRef text) {
  SmallVector<StringRef> lines;
  text.trim().split(lines, '\n');
  for (StringRef &line : lines)
    line = line.trim();
  return join(lines, "\n");
}

std::vector<std::string> getParams(const OpRecord &op) {
  std::vector<std::string> params;
  for (const AttrRecord &attr : op.attrs)
    if (attr.kind == "Float")
      params.push_back(attr.name);
  return params;
}

std::string AttrRecord::getValue(size_t index) const {
  std::string value = "getAttr<" + storage + ">(" + std::to_string(index) + ")";
  return customType.empty() ? value : value + ".get<" + customType + ">()";
}

static AttrRecord readAttr(const Record *record) {
  const Record *kind = record->getValueAsDef("AttributeKind");
  AttrRecord attr;
  attr.name = record->getValueAsString("Name");
  attr.doc = record->getValueAsString("Doc");
  attr.kind = kind->getValueAsString("Enumerator");
  attr.storage = kind->getValueAsString("Storage");
  attr.accessor = kind->getValueAsString("Accessor");
  attr.customType = kind->getValueAsString("CustomType");
  attr.defaultValue = record->getValueAsString("Default");
  attr.axes = record->getValueAsDef("Axes")->getValueAsString("Enumerator");
  for (StringRef value : record->getValueAsListOfStrings("Allowed"))
    attr.allowed.push_back(value.str());
  return attr;
}

static OperandRecord readOperand(const Record *record) {
  OperandRecord operand;
  operand.name = record->getValueAsString("Name");
  operand.doc = record->getValueAsString("Doc");
  operand.role = record->getValueAsString("Role");
  operand.isOptional = record->getValueAsBit("IsOptional");
  operand.isVariadic = record->getValueAsBit("IsVariadic");
  operand.isFused = record->getValueAsBit("IsFused");
  operand.hasAxes = record->getValueAsBit("HasAxes");
  return operand;
}

static OpRecord readOp(const Record *record) {
  OpRecord op;
  op.name = record->getName();
  op.summary = record->getValueAsString("Summary");
  op.description = unindent(record->getValueAsString("Description"));
  op.source = record->getValueAsString("Source");
  op.typeRule = record->getValueAsString("TypeRule");
  op.multiplyAdds = record->getValueAsString("MultiplyAdds");
  for (const Record *operand : record->getValueAsListOfDefs("Operands"))
    op.operands.push_back(readOperand(operand));
  for (const Record *attr : record->getValueAsListOfDefs("Attributes"))
    op.attrs.push_back(readAttr(attr));
  for (const Record *trait : record->getValueAsListOfDefs("Traits"))
    op.traits.push_back(trait->getName().str());
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    if (op.attrs[i].name == "segments")
      op.segmentsAttr = int(i);
    if (op.attrs[i].name == "epilogue")
      op.epilogueAttr = int(i);
  }
  for (size_t i = 0; i < op.operands.size(); ++i)
    if (op.operands[i].isFused)
      op.fusedOperand = int(i);
  if ((op.epilogueAttr < 0) != (op.fusedOperand < 0))
    PrintFatalError(record->getLoc(),
                    "an epilogue needs fused operands, and the reverse");
  for (size_t i = 0; i + 1 < op.operands.size(); ++i)
    if (op.operands[i].isVariadic && op.segmentsAttr < 0)
      PrintFatalError(record->getLoc(),
                      "only the last operand can be variadic");
  return op;
}

/// Stops with an error unless the operators of the formats that \p op is
/// imported of can have its attributes.
static void checkImports(const Record *record, const OpRecord &op) {
  if (op.onnx.empty() && op.caffe2.empty() && op.tflite.empty() &&
      op.aten.empty())
    return;
  if (!all_of(op.attrs,
              [](const AttrRecord &attr) { return attr.kind == "Float"; }))
    PrintFatalError(record->getLoc(),
                    "operators of formats need attributes that are Floats");
  if (op.defaults.size() != op.attrs.size())
    PrintFatalError(record->getLoc(), "Defaults needs one for each attribute");
}

static std::vector<std::string> readStrings(const Record *record,
                                            StringRef field) {
  std::vector<std::string> values;
  for (StringRef value : record->getValueAsListOfStrings(field))
    values.push_back(value.str());
  return values;
}

static OpRecord readNode(const Record *record) {
  OpRecord op = readOp(record);
  for (StringRef result : record->getValueAsListOfStrings("Results"))
    op.results.push_back(result.str());
  op.zeroGradient = record->getValueAsString("ZeroGradient");
  op.noGradient = record->getValueAsString("NoGradient");
  op.isExact = record->getValueAsString("IsExact");
  op.axisRule = record->getValueAsString("AxisRule");
  op.extentRule = record->getValueAsString("ExtentRule");
  op.filler = record->getValueAsString("Filler");
  op.irGeneration = record->getValueAsString("IRGeneration");
  op.fixedDims = record->getValueAsListOfInts("FixedDims");
  op.hasCanonicalization = record->getValueAsBit("HasCanonicalization");
  op.hasLowering = record->getValueAsBit("HasLowering");
  op.hasExtentLowering = record->getValueAsBit("HasExtentLowering");
  op.tracesElements = record->getValueAsBit("TracesElements");
  op.hasVariableRoles = record->getValueAsBit("HasVariableRoles");
  op.hasQuantizedWeights = record->getValueAsBit("HasQuantizedWeights");
  op.movesQuantized = record->getValueAsBit("MovesQuantized");
  op.readsQuantized = record->getValueAsBit("ReadsQuantized");
  if (!record->isSubClassOf("ElementWise"))
    return op;
  op.isElementWise = true;
  op.formula = record->getValueAsString("Formula");
  op.kinds = record->getValueAsDef("Kinds")->getValueAsString("Predicate");
  op.resultKind = record->getValueAsString("ResultKind");
  op.firstIsBool = record->getValueAsBit("FirstIsBool");
  op.isCommutative = record->getValueAsBit("IsCommutative");
  op.tableSize = record->getValueAsInt("TableSize");
  op.onnx = record->getValueAsString("Onnx");
  op.onnxSince = record->getValueAsInt("OnnxSince");
  op.caffe2 = readStrings(record, "Caffe2");
  op.tflite = record->getValueAsString("TFLite");
  op.aten = readStrings(record, "Aten");
  op.defaults = readStrings(record, "Defaults");
  checkImports(record, op);
  op.domainLow = record->getValueAsString("DomainLow");
  op.domainHigh = record->getValueAsString("DomainHigh");
  op.gradients = readStrings(record, "Gradients");
  if (!op.gradients.empty() && op.gradients.size() != op.operands.size())
    PrintFatalError(record->getLoc(), "Gradients needs one for each operand");
  return op;
}

static OpRecord readInstr(const Record *record) {
  OpRecord op = readOp(record);
  StringRef name = op.name;
  if (name.consume_back("Instr"))
    op.name = name.str();
  op.isFromNode = record->isSubClassOf("InstrFor");
  op.dialect = record->getValueAsString("Dialect");
  auto mark = [&](StringRef field, bool OperandRecord::*member) {
    for (StringRef wanted : record->getValueAsListOfStrings(field)) {
      auto found = find_if(op.operands, [&](const OperandRecord &operand) {
        return operand.name == wanted;
      });
      if (found == op.operands.end())
        PrintFatalError(record->getLoc(),
                        field + " names no operand: " + wanted);
      (*found).*member = true;
    }
  };
  mark("Strided", &OperandRecord::isStrided);
  mark("InPlace", &OperandRecord::isInPlace);
  mark("Packed", &OperandRecord::isPacked);
  return op;
}

/// The records derived from \p className in the order of the file.
static std::vector<const Record *> inFileOrder(const RecordKeeper &records,
                                               StringRef className) {
  std::vector<const Record *> found;
  for (const Record *record : records.getAllDerivedDefinitions(className))
    found.push_back(record);
  sort(found, [](const Record *a, const Record *b) {
    return a->getID() < b->getID();
  });
  return found;
}

std::vector<TraitRecord> readTraits(const RecordKeeper &records) {
  std::vector<TraitRecord> traits;
  for (const Record *record : inFileOrder(records, "Trait"))
    traits.push_back(
        {record->getName().str(), record->getValueAsString("Doc").str()});
  return traits;
}

std::vector<OpRecord> readNodes(const RecordKeeper &records) {
  std::vector<OpRecord> nodes;
  std::map<StringRef, size_t> numbers;
  for (const Record *record : inFileOrder(records, "Node")) {
    numbers[record->getName()] = nodes.size();
    nodes.push_back(readNode(record));
  }
  if (!records.getClass("InstrFor"))
    return nodes;
  for (const Record *record : inFileOrder(records, "InstrFor")) {
    OpRecord &node =
        nodes[numbers.at(record->getValueAsDef("FromNode")->getName())];
    node.instrCondition = record->getValueAsString("Requires");
    node.takesEpilogue = record->isSubClassOf("AnchorFor");
  }
  return nodes;
}

std::vector<OpRecord> readInstrs(const RecordKeeper &records,
                                 StringRef dialect) {
  std::vector<OpRecord> instrs;
  for (const Record *record : inFileOrder(records, "Instr"))
    if (record->getValueAsString("Dialect") == dialect)
      instrs.push_back(readInstr(record));
  return instrs;
}

std::vector<std::string> readSupports(const RecordKeeper &records) {
  std::vector<std::string> nodes;
  for (const Record *record : inFileOrder(records, "SupportsFor"))
    nodes.push_back(record->getValueAsDef("Instruction")
                        ->getValueAsDef("FromNode")
                        ->getName()
                        .str());
  return nodes;
}

std::vector<std::string> readNamedInstrs(const RecordKeeper &records,
                                         StringRef className) {
  std::vector<std::string> instrs;
  for (const Record *record : inFileOrder(records, className))
    instrs.push_back(readInstr(record->getValueAsDef("Instruction")).name);
  return instrs;
}

} // namespace tblgen
