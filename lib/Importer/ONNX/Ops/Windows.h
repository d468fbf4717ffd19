//===- Windows.h - Windows over any number of dimensions --------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_WINDOWS_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_WINDOWS_H

#include "ONNX/Composer.h"
#include "ONNX/Images.h"

namespace glowish {

/// What has no kernel of its own is composed of slices, one an element of the
/// window's edge: poolings over three dimensions, and with indices.

/// MaxPool, with its second output where that is wanted.
llvm::Error importWindowMax(OpContext &op);
/// AveragePool.
llvm::Error importWindowMean(OpContext &op);
/// Conv over three spatial dimensions: a sum of convolutions over two, one a
/// layer of the filter.
llvm::Error importVolumeConv(OpContext &op);
/// ConvTranspose over three, likewise.
llvm::Error importVolumeConvTranspose(OpContext &op);

} // namespace glowish

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_WINDOWS_H
