//===- OpRecord.h - Operator records as plain data --------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_GLOWISH_TBLGEN_OPRECORD_H
#define GLOWISH_TOOLS_GLOWISH_TBLGEN_OPRECORD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Record.h"
#include <string>
#include <vector>

namespace tblgen {

struct OperandRecord {
  std::string name, doc, role;
  bool isOptional = false, isVariadic = false, isFused = false, hasAxes = false;
  bool isStrided = false, isInPlace = false, isPacked = false; // instructions
};

struct AttrRecord {
  std::string name, doc, kind, storage, accessor, customType, defaultValue,
      axes;
  std::vector<std::string> allowed;
  bool hasDefault() const { return !defaultValue.empty(); }
  /// The type of a parameter that takes the attribute: what the getter gives.
  const std::string &getParameterType() const { return accessor; }
  /// The expression of the getter for the attribute at position \p index.
  std::string getValue(size_t index) const;
};

/// One node or instruction.
struct OpRecord {
  /// "Convolution" for the instruction record ConvolutionInstr too.
  std::string name;
  std::string summary, description, source, typeRule, multiplyAdds;
  std::vector<OperandRecord> operands;
  std::vector<AttrRecord> attrs;
  std::vector<std::string> results, traits;

  /// \name Nodes
  /// @{
  std::string zeroGradient, noGradient, isExact, axisRule, extentRule;
  std::string filler;
  std::string irGeneration;
  std::vector<int64_t> fixedDims;
  bool hasCanonicalization = false, hasLowering = false;
  bool hasExtentLowering = false, tracesElements = false,
       hasVariableRoles = false, hasQuantizedWeights = false,
       movesQuantized = false, readsQuantized = false;
  /// When an instruction computes the node; empty if none does.
  std::string instrCondition;
  /// Whether that has an epilogue.
  bool takesEpilogue = false;
  /// @}

  /// \name Instructions
  /// @{
  bool isFromNode = false;
  std::string dialect;
  /// @}

  bool isElementWise = false;
  std::string formula, kinds, resultKind, onnx, tflite, domainLow, domainHigh;
  bool firstIsBool = false, isCommutative = false;
  int64_t tableSize = 0, onnxSince = 1;
  std::vector<std::string> gradients, caffe2, aten, defaults;

  /// Positions of the attribute of SegmentsAttr, of EpilogueAttr and of the
  /// first fused operand; -1 if there is none.
  int segmentsAttr = -1, epilogueAttr = -1, fusedOperand = -1;

  bool hasVariadic() const {
    return !operands.empty() && operands.back().isVariadic;
  }
  bool has(llvm::StringRef trait) const;
  /// Whether it is an instruction that executes other programs.
  bool isControlFlow() const;
};

/// A property of operators.
struct TraitRecord {
  std::string name, doc;
};

/// All records of a kind are in the order of the file.
std::vector<TraitRecord> readTraits(const llvm::RecordKeeper &records);
/// The Node records. Which instruction computes them is known if the file has
/// the Instr records.
std::vector<OpRecord> readNodes(const llvm::RecordKeeper &records);
/// The Instr records of \p dialect.
std::vector<OpRecord> readInstrs(const llvm::RecordKeeper &records,
                                 llvm::StringRef dialect);
/// Names of the nodes with a SupportsFor record.
std::vector<std::string> readSupports(const llvm::RecordKeeper &records);
/// Names of the instructions with a record of class \p className, which names
/// one: CountsOperationsOf, Replaces.
std::vector<std::string> readNamedInstrs(const llvm::RecordKeeper &records,
                                         llvm::StringRef className);

/// "strides" -> "Strides".
std::string capitalize(llvm::StringRef name);
/// \p text as a C++ string literal.
std::string quote(llvm::StringRef text);
/// The attributes that formulas take, in order: the Float ones.
std::vector<std::string> getParams(const OpRecord &op);
/// A record's description as lines without common indentation.
std::string unindent(llvm::StringRef text);

/// Opens `#ifdef NAME`, and closes it with an #undef, so that a file can be
/// included for one section at a time.
class Section {
public:
  Section(llvm::raw_ostream &os, llvm::StringRef name) : os(os), name(name) {
    os << "#ifdef " << name << "\n";
  }
  ~Section() { os << "#undef " << name << "\n#endif // " << name << "\n\n"; }

private:
  llvm::raw_ostream &os;
  llvm::StringRef name;
};

/// What a class is generated for.
enum class ClassKind { Node, Instr };

void emitTraits(llvm::raw_ostream &os, llvm::ArrayRef<TraitRecord> traits);
void emitScalarOps(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes);
void emitGradients(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes);
/// Typed views, and the names of type rules and axis rules.
void emitTypeRules(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes,
                   llvm::ArrayRef<OpRecord> instrs);
void emitKinds(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
               ClassKind kind);
/// Which nodes have which functions.
void emitNodeFunctions(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes);
/// Lists of what the back end \p dialect has functions of, for its instructions
/// and those of all back ends.
void emitSupports(llvm::raw_ostream &os, const llvm::RecordKeeper &records,
                  llvm::StringRef dialect);
/// \p dialect: of instructions of a back end.
void emitClasses(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
                 ClassKind kind, llvm::StringRef dialect);
void emitTable(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
               ClassKind kind);
void emitDocs(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes,
              llvm::ArrayRef<OpRecord> instrs);
/// The instructions of a back end alone.
void emitDialectDocs(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> instrs,
                     llvm::StringRef dialect);

} // namespace tblgen

#endif // GLOWISH_TOOLS_GLOWISH_TBLGEN_OPRECORD_H
