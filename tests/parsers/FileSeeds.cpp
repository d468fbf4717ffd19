//===- FileSeeds.cpp - Seeds that are files of the tools ------------------===//

#include "parsers/FileSeeds.h"
#include "common/Jpeg.h"
#include "glowish/Optimizer/RangeProfile.h"
#include "glowish/Support/File.h"
#include "model-trainer/Checkpoint.h"
#include "parsers/Inputs.h"
#include <png.h>

using namespace glowish;
using namespace glowish::parsers;

ParserSeeds glowish::parsers::makeProfileSeeds() {
  RangeProfile profile;
  profile.model = "m";
  profile.checksum = 0x123456789abcdef0;
  Histogram histogram;
  histogram.add({-1.5f, 0.0f, 0.25f, 3.0f});
  profile.values.try_emplace("conv", histogram);
  profile.values.try_emplace("conv:1", histogram);
  profile.channels["conv:1"] = {{-1, -2}, {3, 4.5f}};
  profile.means["conv"] = {0.5f, -0.25f};
  profile.floatNodes = {"softmax", "a \"name\""};
  return {{"profile", writeRangeProfile(profile)}};
}

ParserSeeds glowish::parsers::makeCheckpointSeeds() {
  Checkpoint checkpoint;
  checkpoint.seed = 7;
  checkpoint.batchSize = 4;
  checkpoint.numSamples = 10;
  checkpoint.shuffles = true;
  checkpoint.step = 3;
  checkpoint.history.resize(2);
  checkpoint.history[1].accuracy = 0.5;
  for (ElemKind kind : {ElemKind::Float, ElemKind::Int64}) {
    Tensor value(Type(kind, {2, 3}));
    std::fill_n(static_cast<uint8_t *>(value.getBytes()),
                value.getSizeInBytes(), 1);
    checkpoint.variables.push_back({"w", std::move(value)});
  }
  std::string path = getWeightsFolder() + "/checkpoint";
  llvm::cantFail(writeCheckpoint(checkpoint, path));
  return {{"checkpoint", llvm::cantFail(readFile(path))->getBuffer().str()}};
}

//===- Images -------------------------------------------------------------===//

static constexpr unsigned width = 5, height = 3;

static std::vector<uint8_t> makePixels(unsigned numChannels) {
  std::vector<uint8_t> pixels(width * height * numChannels);
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = uint8_t(37 * i);
  return pixels;
}

static std::string makePng(png_uint_32 format) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = width;
  png.height = height;
  png.format = format;
  std::vector<uint8_t> pixels = makePixels(4), colours(3 * 256, 99);
  if (format & PNG_FORMAT_FLAG_COLORMAP) {
    png.colormap_entries = 256;
    png.format = PNG_FORMAT_RGB_COLORMAP;
  }
  std::string bytes(4096, '\0');
  png_alloc_size_t size = bytes.size();
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, pixels.data(), 0,
                                 colours.data()))
    llvm::report_fatal_error(png.message);
  bytes.resize(size);
  return bytes;
}

static std::string makeJpegSeed(unsigned numChannels, bool isProgressive) {
  return makeJpeg({.width = width,
                   .height = height,
                   .numChannels = numChannels,
                   .isProgressive = isProgressive,
                   .pixels = makePixels(numChannels)});
}

ParserSeeds glowish::parsers::makeImageSeeds() {
  return {{"grey.png", makePng(PNG_FORMAT_GRAY)},
          {"rgb.png", makePng(PNG_FORMAT_RGB)},
          {"rgba.png", makePng(PNG_FORMAT_RGBA)},
          {"palette.png", makePng(PNG_FORMAT_FLAG_COLORMAP)},
          {"grey.jpg", makeJpegSeed(1, false)},
          {"rgb.jpg", makeJpegSeed(3, false)},
          {"progressive.jpg", makeJpegSeed(3, true)},
          {"text.pgm", "P2\n# comment\n3 2\n15\n0 1 2\n13 14 15\n"},
          {"text.ppm", "P3 1 2 255 0 1 2 253 254 255"},
          {"binary.pgm", "P5 3 2 255\nabcdef"},
          {"wide.ppm", "P6 1 1 1000\nababab"}};
}
