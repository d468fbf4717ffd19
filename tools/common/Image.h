//===- Image.h - Pixels -----------------------------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMAGE_H
#define GLOWISH_TOOLS_COMMON_IMAGE_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace glowish {

struct Image {
  unsigned width = 0, height = 0;
  /// 1 for grey, 3 for red, green, blue.
  unsigned numChannels = 0;
  /// Row by row, the channels of a pixel together.
  std::vector<uint8_t> pixels;
};

/// Allocates the pixels of \p image for its extents. An error where these are
/// so large that the file must be malformed.
llvm::Error allocatePixels(Image &image);

/// \p image in another size: each pixel is the mean of those near it,
/// weighted by a triangle as wide as two pixels of the smaller image.
Image scaleImage(const Image &image, unsigned width, unsigned height);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMAGE_H
