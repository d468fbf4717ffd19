//===- Netpbm.cpp - PPM and PGM files -------------------------------------===//

#include "common/Netpbm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

bool glowish::isNetpbm(llvm::StringRef bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' &&
         bytes[1] <= '7' && llvm::isSpace(bytes[2]);
}

namespace {
/// The rest of a file, and how its samples are written.
struct Samples {
  llvm::StringRef rest;
  bool isText = false;
  unsigned maximum = 255;
};
} // namespace

/// The number after white space and comments.
static llvm::Expected<unsigned> readNumber(llvm::StringRef &rest) {
  while (!(rest = rest.ltrim()).empty() && rest.front() == '#')
    rest = rest.drop_until([](char c) { return c == '\n'; });
  unsigned number = 0;
  if (rest.consumeInteger(10, number))
    return makeError("a malformed PPM or PGM image: a number is missing");
  return number;
}

static llvm::Expected<unsigned> readSample(Samples &samples) {
  if (samples.isText)
    return readNumber(samples.rest);
  size_t size = samples.maximum > 255 ? 2 : 1;
  if (samples.rest.size() < size)
    return makeError("a malformed PPM or PGM image: it ends too early");
  unsigned value = 0;
  for (char byte : samples.rest.take_front(size))
    value = value << 8 | uint8_t(byte);
  samples.rest = samples.rest.drop_front(size);
  return value;
}

/// Reads a sample as 8 bits.
static llvm::Expected<uint8_t> readScaled(Samples &samples) {
  GLOWISH_ASSIGN_OR_RETURN(unsigned value, readSample(samples));
  if (value > samples.maximum)
    return makeError("a malformed PPM or PGM image: a sample of {0}; "
                     "accepted: at most {1}",
                     value, samples.maximum);
  return uint8_t((value * 255 + samples.maximum / 2) / samples.maximum);
}

/// The grey of a colour, as JPEG has it (ITU-R BT.601).
static uint8_t getGrey(llvm::ArrayRef<uint8_t> colour) {
  return uint8_t((299 * colour[0] + 587 * colour[1] + 114 * colour[2] + 500) /
                 1000);
}

static llvm::Error readPixels(Samples &samples, unsigned numChannels,
                              Image &image) {
  uint8_t pixel[3] = {};
  for (size_t i = 0; i < image.pixels.size(); i += image.numChannels) {
    for (unsigned c = 0; c < numChannels; ++c) {
      GLOWISH_ASSIGN_OR_RETURN(pixel[c], readScaled(samples));
    }
    if (numChannels == 1)
      pixel[1] = pixel[2] = pixel[0];
    else if (image.numChannels == 1)
      pixel[0] = getGrey(pixel);
    std::copy_n(pixel, image.numChannels, image.pixels.begin() + i);
  }
  return llvm::Error::success();
}

llvm::Error glowish::readNetpbm(llvm::StringRef bytes, Image &image) {
  char kind = bytes[1];
  if (!llvm::StringRef("2356").contains(kind))
    return makeError("a Netpbm image of the kind P{0}; accepted: P2, P3, P5, "
                     "P6",
                     kind);
  Samples samples = {bytes.drop_front(2), kind == '2' || kind == '3'};
  GLOWISH_ASSIGN_OR_RETURN(image.width, readNumber(samples.rest));
  GLOWISH_ASSIGN_OR_RETURN(image.height, readNumber(samples.rest));
  GLOWISH_ASSIGN_OR_RETURN(samples.maximum, readNumber(samples.rest));
  if (!image.width || !image.height || !samples.maximum ||
      samples.maximum > 65535)
    return makeError("a malformed PPM or PGM image: {0} by {1} pixels of up to "
                     "{2}",
                     image.width, image.height, samples.maximum);
  // One white space ends the header.
  if (!samples.isText)
    samples.rest = samples.rest.drop_front(!samples.rest.empty());
  GLOWISH_RETURN_IF_ERROR(allocatePixels(image));
  return readPixels(samples, kind == '3' || kind == '6' ? 3 : 1, image);
}
