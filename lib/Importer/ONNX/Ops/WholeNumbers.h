//===- WholeNumbers.h - Integers that are stored as floats ------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_WHOLENUMBERS_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_WHOLENUMBERS_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Returns the constant input \p index as a list of integers. Opset 1 has sizes
/// and counts of the element kind of the tensor that they are for, so floats
/// are accepted if they are integers.
llvm::Expected<std::vector<int64_t>> readWholeNumbers(const OpContext &op,
                                                      unsigned index);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_WHOLENUMBERS_H
