//===- ByteTable.h - Functions of quantized bytes ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_BYTETABLE_H
#define GLOWISH_LIB_IMPORTER_TFLITE_BYTETABLE_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The results for the bytes 0 ... 255 of an operator's input 0, int8 or uint8;
/// those of int8 -1 are the last.
using ByteTable = std::vector<int64_t>;

/// Sets output 0 to input 0, int8 or uint8 with one scale, looked up in
/// \p table.
llvm::Error setByteTable(TFLiteOp &op, llvm::Expected<ByteTable> table);

/// Sets output 0 to \p function of what input 0 stands for, in float, rounded
/// to the output's integers, halves away from zero.
llvm::Error setByteFunction(TFLiteOp &op,
                            llvm::function_ref<float(float)> function);

/// x * min(max(x + 3, 0), 6) / 6 of input 0 in fixed-point numbers.
llvm::Expected<ByteTable> tabulateHardSwish(const TFLiteOp &op);

/// 1 / sqrt(x) of input 0, int8, in fixed-point numbers: the largest number of
/// what is not above 0, where TensorFlow Lite fails if it is negative.
llvm::Expected<ByteTable> tabulateReciprocalRoot(const TFLiteOp &op);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_BYTETABLE_H
