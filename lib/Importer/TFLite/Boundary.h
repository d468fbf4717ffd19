//===- Boundary.h - Inputs and outputs as the options ask for ---*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
#define GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H

#include "TFLite/TFLiteOp.h"

namespace glowish {

/// The kind of the placeholder of the input \p tensor.
ElemKind getInputKind(const TFLiteTensor &tensor, const TFLiteOptions &options);

/// Creates the placeholder of the input \p tensor, with the extents \p shape,
/// and sets the tensor's value to what is computed of it.
void createInput(Function &function, TFLiteTensor &tensor, DimsRef shape,
                 const TFLiteOptions &options);

/// Saves \p tensor to a new placeholder \p name.
void createOutput(Function &function, const TFLiteTensor &tensor,
                  llvm::StringRef name, const TFLiteOptions &options);

/// Creates the placeholder of the variable \p tensor. It holds the integers
/// less their zero point, so that zeros stand for 0.
void createVariable(Function &function, TFLiteTensor &tensor);

/// Saves the last value of \p tensor, a variable, unless it never changed.
void saveVariable(Function &function, const TFLiteTensor &tensor);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_TFLITE_BOUNDARY_H
