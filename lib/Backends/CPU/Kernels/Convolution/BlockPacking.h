//===- BlockPacking.h - Weights in blocks of output channels ----*- C++ -*-===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_BLOCKPACKING_H
#define GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_BLOCKPACKING_H

#include "Selection/FilterPacker.h"

namespace glowish {

/// The weights of \p source in blocks of \p block output channels, as
/// getPackedLayout says: a constant, or a buffer that instructions fill.
Buffer *packBlocks(const FilterSource &source, unsigned block);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_KERNELS_CONVOLUTION_BLOCKPACKING_H
