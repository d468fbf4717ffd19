//===- OperatorNotes.h - Limitations of imported operators ------*- C++ -*-===//

#ifndef GLOWISH_IMPORTER_OPERATORNOTES_H
#define GLOWISH_IMPORTER_OPERATORNOTES_H

#include "llvm/ADT/StringRef.h"

namespace glowish {

/// Notes on an ONNX operator for the generated list of operators.
struct OperatorNotes {
  /// One-line description of what is not supported.
  llvm::StringLiteral limit = "";
  /// The last opset that contains the operator; 0 if it has not been removed.
  int until = 0;
};

/// Registers notes, in the file that registers the operator: `static
/// OnnxOperatorNotes upsampleNotes("Upsample", {.until = 9});`.
class OnnxOperatorNotes {
public:
  OnnxOperatorNotes(llvm::StringRef name, OperatorNotes notes,
                    llvm::StringRef domain = "");
};

/// Returns the notes on the operator \p fullName, as named by
/// listOnnxOperators(), or empty notes.
OperatorNotes getOnnxOperatorNotes(llvm::StringRef fullName);

} // namespace glowish

#endif // GLOWISH_IMPORTER_OPERATORNOTES_H
