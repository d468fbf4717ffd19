//===- OpRecord.h - Operator records as plain data ------------*- C++ -*-===//

#ifndef GLOWISH_TBLGEN_OPRECORD_H
#define GLOWISH_TBLGEN_OPRECORD_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Record.h"
#include <string>
#include <vector>

namespace tblgen {

struct OperandRecord {
  std::string name, doc, role;
  bool isOptional, isVariadic, isStrided, isInPlace;
};

struct AttrRecord {
  std::string name, doc, kind, storage, accessor, defaultValue;
  std::vector<std::string> allowed;
  bool hasDefault() const { return !defaultValue.empty(); }
  /// The type of a parameter that takes the attribute: what the getter gives.
  const std::string &getParameterType() const { return accessor; }
};

/// One node or instruction.
struct OpRecord {
  /// "Convolution" for the instruction record ConvolutionInstr too.
  std::string name;
  std::string summary, description, source, typeRule, multiplyAdds;
  std::vector<OperandRecord> operands;
  std::vector<AttrRecord> attrs;
  std::vector<std::string> results;
  std::string zeroGradient, noGradient; // nodes
  bool isFromNode = false;              // instructions

  bool isElementWise = false;
  std::string formula, kinds, resultKind;
  bool firstIsBool = false, isCommutative = false;
  std::vector<std::string> gradients;

  /// Position of the attribute of SegmentsAttr; -1 where there is none.
  int segmentsAttr = -1;

  bool hasVariadic() const {
    return !operands.empty() && operands.back().isVariadic;
  }
};

/// The Node records in the order of the file.
std::vector<OpRecord> readNodes(const llvm::RecordKeeper &records);
/// The Instr records in the order of the file.
std::vector<OpRecord> readInstrs(const llvm::RecordKeeper &records);

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

void emitScalarOps(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes);
void emitGradients(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes);
void emitTypeRules(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes,
                   llvm::ArrayRef<OpRecord> instrs);
void emitKinds(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
               ClassKind kind);
void emitClasses(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
                 ClassKind kind);
void emitTable(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> ops,
               ClassKind kind);
void emitDocs(llvm::raw_ostream &os, llvm::ArrayRef<OpRecord> nodes,
              llvm::ArrayRef<OpRecord> instrs);

} // namespace tblgen

#endif // GLOWISH_TBLGEN_OPRECORD_H
