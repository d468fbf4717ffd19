//===- Signal.h - Integers of signals ---------------------------*- C++ -*-===//
//
// TensorFlow Lite Micro has custom operators that make features of sound, in
// integers (Ops/Signal.cpp, Ops/SignalFft.cpp). These are their common steps.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SIGNAL_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SIGNAL_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The int32 \p x / 2^bits, rounded down; \p bits from 0 to 31.
NodeValue shiftRight(TFLiteOp &op, NodeValue x, int64_t bits);

/// How many bits each of \p x needs, integers from 0 to 2^\p most - 1: int32, 0
/// for 0.
NodeValue countBits(TFLiteOp &op, NodeValue x, int64_t most);

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SIGNAL_H
