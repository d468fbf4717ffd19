//===- Jpeg.h - JPEG files of tests -----------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_COMMON_JPEG_H
#define GLOWISH_TESTS_COMMON_JPEG_H

#include <cstdint>
#include <string>
#include <vector>

namespace glowish {

/// An image to be written as a JPEG file.
struct JpegImage {
  unsigned width = 0, height = 0;
  /// 1 for grey, 3 for red, green, blue.
  unsigned numChannels = 3;
  bool isProgressive = false;
  /// Row by row, the channels of a pixel together.
  std::vector<uint8_t> pixels;
};

/// The bytes of the file.
std::string makeJpeg(const JpegImage &image);

} // namespace glowish

#endif // GLOWISH_TESTS_COMMON_JPEG_H
