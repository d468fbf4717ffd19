//===- OperatorNotes.h - What operators do not do ---------------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_OPERATORNOTES_H
#define GLOWISH_IMPORTER_OPERATORNOTES_H

#include "llvm/ADT/StringRef.h"

namespace glowish {

/// What else there is to say of an ONNX operator, for the list of operators.
struct OperatorNotes {
  /// One line on what is not supported.
  llvm::StringLiteral limit = "";
  /// The last opset that has the operator; 0 for none.
  int until = 0;
};

/// Adds to a registration, in the same file: `static OnnxOperatorNotes
/// upsampleNotes("Upsample", {.until = 9});`.
class OnnxOperatorNotes {
public:
  OnnxOperatorNotes(llvm::StringRef name, OperatorNotes notes,
                    llvm::StringRef domain = "");
};

/// The notes on an operator, by its name as listOnnxOperators() has it; those
/// of an operator without notes say nothing.
OperatorNotes getOnnxOperatorNotes(llvm::StringRef fullName);

} // namespace glowish

#endif // GLOWISH_IMPORTER_OPERATORNOTES_H
