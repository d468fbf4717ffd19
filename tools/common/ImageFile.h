//===- ImageFile.h - PNG, JPEG and Netpbm files -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMAGEFILE_H
#define GLOWISH_TOOLS_COMMON_IMAGEFILE_H

#include "llvm/ADT/StringRef.h"
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

/// Gives \p image the pixels that its extents ask for; more of them than a
/// few hostile bytes should get are refused.
llvm::Error allocatePixels(Image &image);

/// Whether \p path ends as the names of images do: .png, .jpg, .jpeg, .ppm,
/// .pgm.
bool isImageName(llvm::StringRef path);

/// Reads a PNG, JPEG, PPM or PGM file, whatever its name, as 8 bits a channel;
/// colours become grey, or grey colours, where \p numChannels says so. What is
/// transparent is black. The error names the file.
llvm::Expected<Image> readImage(llvm::StringRef path, unsigned numChannels);

/// \p image in another size: each pixel is the mean of those near it,
/// weighted by a triangle as wide as two pixels of the smaller image.
Image scaleImage(const Image &image, unsigned width, unsigned height);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMAGEFILE_H
