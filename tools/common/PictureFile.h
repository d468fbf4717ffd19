//===- PictureFile.h - PNG, JPEG and Netpbm files ---------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_PICTUREFILE_H
#define GLOWISH_TOOLS_COMMON_PICTUREFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace glowish {

struct Picture {
  unsigned width = 0, height = 0;
  /// 1 for grey, 3 for red, green, blue.
  unsigned numChannels = 0;
  /// Row by row, the channels of a pixel together.
  std::vector<uint8_t> pixels;
};

/// Gives \p picture the pixels that its extents ask for; more of them than a
/// few hostile bytes should get are refused.
llvm::Error allocatePixels(Picture &picture);

/// Whether \p path ends as the names of pictures do: .png, .jpg, .jpeg, .ppm,
/// .pgm.
bool isPictureName(llvm::StringRef path);

/// Reads a PNG, JPEG, PPM or PGM file, whatever its name, as 8 bits a channel;
/// colours become grey, or grey colours, where \p numChannels says so. What is
/// transparent is black. The error names the file.
llvm::Expected<Picture> readPicture(llvm::StringRef path, unsigned numChannels);

/// \p picture in another size: each pixel is the mean of those near it,
/// weighted by a triangle as wide as two pixels of the smaller picture.
Picture scalePicture(const Picture &picture, unsigned width, unsigned height);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_PICTUREFILE_H
