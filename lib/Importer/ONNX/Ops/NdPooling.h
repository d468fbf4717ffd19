//===- NdPooling.h - Pooling and convolution in N dimensions ----*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_NDPOOLING_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_NDPOOLING_H

#include "ONNX/Images.h"
#include "ONNX/OpContext.h"

namespace glowish::onnximport {

/// Poolings over three dimensions, or with indices, are composed of one slice
/// per element along a window dimension; 3-D convolutions of 2-D ones.

/// Imports MaxPool, with its second output if that is used.
llvm::Error importWindowMax(OpContext &op);
/// Imports AveragePool.
llvm::Error importWindowMean(OpContext &op);
/// Builds Conv over three spatial dimensions of inputs 0, 1 and 2: a sum of 2-D
/// convolutions, one per layer of the filter.
llvm::Expected<NodeValue> makeVolumeConv(OpContext &op);
/// Imports ConvTranspose over three spatial dimensions likewise.
llvm::Error importVolumeConvTranspose(OpContext &op);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_NDPOOLING_H
