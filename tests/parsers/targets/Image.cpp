//===- Image.cpp - PNG, JPEG and Netpbm images ----------------------------===//

#include "common/ImageFile.h"
#include "glowish/Support/MemoryFile.h"
#include "parsers/Fuzzing.h"
#include "parsers/Inputs.h"

using namespace glowish;
using namespace glowish::parsers;

/// A few bytes may be an image of many pixels: up to the limit of Image.cpp,
/// 200 MB. Only small ones are scaled.
GLOWISH_PARSER_FUZZER(image) {
  allowAllocations(size_t(256) << 20);
  MemoryFile file(input, "input");
  for (unsigned numChannels : {1, 3}) {
    auto image = accept(readImage(file.getPath(), numChannels));
    if (image && image->width && image->height &&
        image->pixels.size() < size_t(1) << 16)
      scaleImage(*image, 7, 5);
  }
}
