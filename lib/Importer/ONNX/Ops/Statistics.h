//===- Statistics.h - Training form of BatchNormalization -------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_STATISTICS_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_STATISTICS_H

#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Imports BatchNormalization-14 with training_mode = 1, which uses the
/// statistics of the batch; outputs 1 and 2 are the running statistics.
llvm::Error importTrainingBatchNormalization(OpContext &op);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_STATISTICS_H
