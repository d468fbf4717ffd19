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

/// The list `ONNX_ELEMENT_WISE(NAME, ONNX, SINCE, DEFAULTS...)`.
static void emitOnnxOperators(raw_ostream &os, ArrayRef<OpRecord> nodes) {
  Section section(os, "GET_ONNX_ELEMENT_WISE_LIST");
  for (const OpRecord &op : nodes) {
    if (op.onnx.empty())
      continue;
    os << "ONNX_ELEMENT_WISE(" << op.name << ", " << quote(op.onnx) << ", "
       << op.onnxSince;
    for (const std::string &value : op.onnxDefaults)
      os << ", " << value;
    os << ")\n";
  }
  os << "#undef ONNX_ELEMENT_WISE\n";
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
  emitOnnxOperators(os, nodes);
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
