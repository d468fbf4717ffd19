//===- Conversion.h - Conversions to element kinds --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_CONVERSION_H
#define GLOWISH_LIB_IMPORTER_ONNX_CONVERSION_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// The attributes `saturate` and `round_mode` of operators that convert. The
/// first is for float8, the second for float8e8m0; other kinds need neither.
struct Conversion {
  enum class Rounding { Up, Down, Nearest };

  bool saturates = true;
  Rounding rounding = Rounding::Up;
};

/// Reads the attributes that \p op has.
llvm::Expected<Conversion> readConversion(OpContext &op);

/// Returns \p x as elements of \p kind.
NodeValue convert(OpContext &op, NodeValue x, ElemKind kind,
                  const Conversion &conversion = {});

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_CONVERSION_H
