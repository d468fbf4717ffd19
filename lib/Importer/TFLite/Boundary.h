//===- Boundary.h - Inputs and outputs as the options ask for ---*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
#define GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H

#include "TFLite/TFLiteOp.h"
#include "glowish/Importer/TFLite.h"

namespace glowish::tflite {

/// The kind of the placeholder of the input \p tensor.
ElemKind getInputKind(const TFLiteTensor &tensor, const TFLiteOptions &options);

/// Sets the value of \p tensor to what is computed of \p placeholder, its
/// input.
void setInput(Function &function, TFLiteTensor &tensor,
              Placeholder *placeholder);

/// Saves \p tensor to a new placeholder \p name.
void createOutput(Function &function, const TFLiteTensor &tensor,
                  llvm::StringRef name, const TFLiteOptions &options);

/// Creates the placeholder of \p variable, unless it has one, and returns its
/// value before a run.
/// It holds the integers less their zero point, so that zeros stand for 0.
NodeValue createVariable(Function &function, TFLiteVariable &variable);

/// Saves \p value to the placeholder of \p variable.
void saveVariable(Function &function, const TFLiteVariable &variable,
                  NodeValue value);

/// Whether \p value, the first one of \p variable, is what zeros in its
/// placeholder stand for.
bool isZero(const TFLiteVariable &variable, NodeValue value);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
