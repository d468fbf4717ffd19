//===- ImageFile.h - PNG, JPEG and Netpbm files -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMAGEFILE_H
#define GLOWISH_TOOLS_COMMON_IMAGEFILE_H

#include "common/Image.h"
#include "llvm/ADT/StringRef.h"

namespace glowish {

/// Whether \p path ends as the names of images do: .png, .jpg, .jpeg, .ppm,
/// .pgm.
bool isImageName(llvm::StringRef path);

/// Reads a PNG, JPEG, PPM or PGM file, whatever its name, as 8 bits a channel;
/// colours become grey, or grey colours, where \p numChannels says so. What is
/// transparent is black. The error names the file.
llvm::Expected<Image> readImage(llvm::StringRef path, unsigned numChannels);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMAGEFILE_H
