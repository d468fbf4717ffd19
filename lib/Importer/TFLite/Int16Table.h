//===- Int16Table.h - Functions of quantized int16 --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_INT16TABLE_H
#define GLOWISH_LIB_IMPORTER_TFLITE_INT16TABLE_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// Sets output 0 to \p function of what input 0 stands for, both int16 with one
/// scale and the zero point 0: by linear interpolation between 513 values.
llvm::Error setInt16Function(TFLiteOp &op,
                             llvm::function_ref<float(float)> function);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_INT16TABLE_H
