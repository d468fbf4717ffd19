//===- SigmoidTable.h - Sigmoid and tanh of int16 ---------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_TFLITE_SIGMOIDTABLE_H
#define GLOWISH_LIB_IMPORTER_TFLITE_SIGMOIDTABLE_H

#include "TFLite/TFLiteOp.h"

namespace glowish::tflite {

/// The logistic function and the hyperbolic tangent of int16, by linear
/// interpolation between 256 values of the logistic function in steps of 1/24.
/// Arguments and results are int32; results have 15 bits behind the point.
class SigmoidTable {
public:
  explicit SigmoidTable(TFLiteOp &op);

  /// Of \p x with 12 bits behind the point.
  NodeValue sigmoid(NodeValue x);
  /// Of \p x in units of 2^\p power.
  NodeValue tanh(NodeValue x, int power);

private:
  /// The table between entries: of \p magnitude, in 2^-\p bits of their
  /// distance, with as many bits more than the entries; \p most beyond the end.
  NodeValue interpolate(NodeValue magnitude, int bits, double most);

  TFLiteOp &op;
  NodeValue entries;
};

} // namespace glowish::tflite

#endif // GLOWISH_LIB_IMPORTER_TFLITE_SIGMOIDTABLE_H
