//===- Jpeg.cpp - JPEG files of tests -------------------------------------===//

#include "common/Jpeg.h"
#include <cstdio>
#include <cstdlib>
// Needs what <cstdio> declares.
#include <jpeglib.h>

std::string glowish::makeJpeg(const JpegImage &image) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_width = image.width;
  info.image_height = image.height;
  info.input_components = int(image.numChannels);
  info.in_color_space = image.numChannels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (image.isProgressive)
    jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> pixels = image.pixels;
  while (info.next_scanline < image.height) {
    JSAMPROW row =
        &pixels[size_t(info.next_scanline) * image.width * image.numChannels];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string file(reinterpret_cast<char *>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return file;
}
