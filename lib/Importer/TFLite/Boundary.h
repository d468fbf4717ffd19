//===- Boundary.h - Inputs and outputs as the options ask for ---*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
#define GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H

#include "TFLite/TFLiteOp.h"
#include "glowish/Importer/TFLite.h"

namespace glowish::tflite {

/// Returns the kind of the placeholder of the input \p tensor.
ElemKind getInputKind(const TFLiteTensor &tensor, const TFLiteOptions &options);

/// Sets the value of \p tensor to the one that its input \p placeholder stands
/// for.
void setInput(Function &function, TFLiteTensor &tensor,
              Placeholder *placeholder);

/// Saves \p tensor to a new placeholder \p name.
void createOutput(Function &function, const TFLiteTensor &tensor,
                  llvm::StringRef name, const TFLiteOptions &options);

/// Creates the placeholder of \p variable, unless it has one, and returns its
/// value before a run. It holds the integers less their zero point, so that
/// zeros stand for 0.
NodeValue createVariable(Function &function, TFLiteVariable &variable);

/// Saves \p value to the placeholder of \p variable.
void saveVariable(Function &function, const TFLiteVariable &variable,
                  NodeValue value);

/// Returns whether zeros in the placeholder of \p variable stand for \p value,
/// its first one.
bool isZero(const TFLiteVariable &variable, NodeValue value);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
