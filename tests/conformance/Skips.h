//===- Skips.h - Tests of what glowish does not do --------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_CONFORMANCE_SKIPS_H
#define GLOWISH_TESTS_CONFORMANCE_SKIPS_H

#include "llvm/ADT/StringRef.h"

namespace onnx {
class ModelProto;
}

namespace glowish {

/// A kind of tests that are not run.
struct SkipKind {
  llvm::StringLiteral name;
  llvm::StringLiteral reason;
};

/// The kind of \p model, by what it and its data need; null if it is to be run.
/// Looked for are element types, kinds of values and operators: never a test's
/// name. \p isWritten: it is to be written as ONNX, too.
const SkipKind *findSkip(const onnx::ModelProto &model, bool isWritten = false);

} // namespace glowish

#endif // GLOWISH_TESTS_CONFORMANCE_SKIPS_H
