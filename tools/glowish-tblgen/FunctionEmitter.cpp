//===- FunctionEmitter.cpp - Lists of operators' functions ----------------===//
//
// Each section is a list of macro calls, from which the layer that defines the
// functions makes their declarations and a table. A missing definition is then
// an error of the linker.
//
//===----------------------------------------------------------------------===//

#include "OpRecord.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace tblgen {

/// The list `MACRO(NAME)` of the records that \p has selects.
static void emitList(raw_ostream &os, ArrayRef<OpRecord> ops, StringRef macro,
                     function_ref<bool(const OpRecord &)> has) {
  std::string name = ("GET_" + macro + "_LIST").str();
  Section section(os, name);
  for (const OpRecord &op : ops)
    if (has(op))
      os << macro << "(" << op.name << ")\n";
  os << "#undef " << macro << "\n";
}

/// The list `FORMAT_ELEMENT_WISE(NAME, OPERATOR, MORE..., DEFAULTS...)` of the
/// operators of a format, named by \p getNames, that nodes are imported of.
static void
emitImports(raw_ostream &os, ArrayRef<OpRecord> nodes, StringRef format,
            function_ref<std::vector<std::string>(const OpRecord &)> getNames,
            function_ref<std::string(const OpRecord &)> getMore) {
  std::string macro = (format + "_ELEMENT_WISE").str();
  std::string guard = "GET_" + macro + "_LIST";
  Section section(os, guard);
  for (const OpRecord &op : nodes)
    for (const std::string &name : getNames(op)) {
      os << macro << "(" << op.name << ", " << quote(name) << ", "
         << getMore(op);
      for (const std::string &value : op.defaults)
        os << ", " << value;
      os << ")\n";
    }
  os << "#undef " << macro << "\n";
}

static std::vector<std::string> makeList(const std::string &name) {
  return name.empty() ? std::vector<std::string>() : std::vector{name};
}

static void emitFormats(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  auto getCount = [](const OpRecord &op) {
    return std::to_string(op.operands.size());
  };
  auto getCountAndKinds = [](const OpRecord &op) {
    return std::to_string(op.operands.size()) + ", " + quote(op.kinds);
  };
  emitImports(
      os, nodes, "ONNX", [](const OpRecord &op) { return makeList(op.onnx); },
      [](const OpRecord &op) { return std::to_string(op.onnxSince); });
  emitImports(
      os, nodes, "CAFFE2", [](const OpRecord &op) { return op.caffe2; },
      getCount);
  emitImports(
      os, nodes, "TFLITE",
      [](const OpRecord &op) { return makeList(op.tflite); }, getCountAndKinds);
  emitImports(
      os, nodes, "ATEN", [](const OpRecord &op) { return op.aten; },
      getCountAndKinds);
}

void emitNodeFunctions(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  emitList(os, nodes, "CANONICALIZATION",
           [](const OpRecord &op) { return op.hasCanonicalization; });
  emitList(os, nodes, "LOWERING",
           [](const OpRecord &op) { return op.hasLowering; });
  emitList(os, nodes, "EXTENT_LOWERING",
           [](const OpRecord &op) { return op.hasExtentLowering; });
  emitList(os, nodes, "IR_GENERATION",
           [](const OpRecord &op) { return !op.irGeneration.empty(); });
  emitList(os, nodes, "INSTR_FOR", [](const OpRecord &op) {
    return !op.instrCondition.empty() && op.irGeneration.empty();
  });
  emitList(os, nodes, "ELEMENT_TRACE",
           [](const OpRecord &op) { return op.tracesElements; });
  emitList(os, nodes, "VARIABLE_ROLES",
           [](const OpRecord &op) { return op.hasVariableRoles; });
  emitList(os, nodes, "QUANTIZED_WEIGHTS",
           [](const OpRecord &op) { return op.hasQuantizedWeights; });
  emitList(os, nodes, "MOVES_QUANTIZED",
           [](const OpRecord &op) { return op.movesQuantized; });
  emitList(os, nodes, "READS_QUANTIZED",
           [](const OpRecord &op) { return op.readsQuantized; });
  emitFormats(os, nodes);
}

static void emitNames(raw_ostream &os, ArrayRef<std::string> names,
                      StringRef macro) {
  std::string name = ("GET_" + macro + "_LIST").str();
  Section section(os, name);
  for (const std::string &each : names)
    os << macro << "(" << each << ")\n";
  os << "#undef " << macro << "\n";
}

/// The list `EMITTER(NAME, KIND)` of the instructions that code is generated
/// of.
static void emitEmitters(raw_ostream &os, const RecordKeeper &records,
                         ArrayRef<std::string> replaced, StringRef dialect) {
  Section section(os, "GET_EMITTER_LIST");
  for (const OpRecord &op : readInstrs(records, /*dialect=*/""))
    if (!op.has("LifetimeMarker") && !op.isControlFlow() &&
        !is_contained(replaced, op.name))
      os << "EMITTER(" << op.name << ", InstrKind::" << op.name << ")\n";
  for (const OpRecord &op : readInstrs(records, dialect))
    os << "EMITTER(" << op.name << ", get" << dialect << "Kind(" << dialect
       << "InstrKind::" << op.name << "))\n";
  os << "#undef EMITTER\n";
}

void emitSupports(raw_ostream &os, const RecordKeeper &records,
                  StringRef dialect) {
  emitNames(os, readSupports(records), "SUPPORTS");
  emitNames(os, readNamedInstrs(records, "CountsOperationsOf"),
            "COUNTS_OPERATIONS");
  std::vector<std::string> replaced = readNamedInstrs(records, "Replaces");
  emitNames(os, replaced, "REPLACED");
  emitEmitters(os, records, replaced, dialect);
}

void emitTraits(raw_ostream &os, ArrayRef<TraitRecord> traits) {
  for (const TraitRecord &trait : traits)
    os << "/// The operator " << trait.doc << ".\n" << trait.name << ",\n";
}

} // namespace tblgen
