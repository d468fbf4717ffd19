//===- Image.cpp - Pixels -------------------------------------------------===//

#include "common/Image.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace glowish;

/// A limit above any sample, as a few malformed bytes may state any extents.
static constexpr uint64_t maxPixels = uint64_t(1) << 26;

llvm::Error glowish::allocatePixels(Image &image) {
  if (uint64_t(image.width) * image.height > maxPixels)
    return makeError("the image has {0} by {1} pixels; accepted: {2} in all",
                     image.width, image.height, maxPixels);
  image.pixels.resize(size_t(image.width) * image.height * image.numChannels);
  return llvm::Error::success();
}

namespace {
/// The weights of the pixels first ... in one of the new image.
struct Window {
  unsigned first = 0;
  std::vector<double> weights;
};
} // namespace

static std::vector<Window> makeWindows(unsigned from, unsigned to) {
  double ratio = double(from) / to, radius = std::max(ratio, 1.0);
  std::vector<Window> windows(to);
  for (unsigned i = 0; i < to; ++i) {
    double centre = (i + 0.5) * ratio - 0.5;
    int first = std::max(0, int(std::ceil(centre - radius)));
    int last = std::min(int(from) - 1, int(std::floor(centre + radius)));
    windows[i].first = unsigned(first);
    double sum = 0;
    for (int j = first; j <= last; ++j) {
      windows[i].weights.push_back(
          std::max(0.0, 1 - std::abs(j - centre) / radius));
      sum += windows[i].weights.back();
    }
    for (double &weight : windows[i].weights)
      weight /= sum;
  }
  return windows;
}

Image glowish::scaleImage(const Image &image, unsigned width, unsigned height) {
  unsigned channels = image.numChannels;
  size_t pitch = size_t(width) * channels;
  std::vector<Window> columns = makeWindows(image.width, width);
  std::vector<Window> rows = makeWindows(image.height, height);
  std::vector<double> narrow(pitch * image.height);
  for (size_t i = 0; i < narrow.size(); ++i) {
    size_t y = i / pitch, x = i % pitch / channels, c = i % channels;
    for (auto [k, weight] : llvm::enumerate(columns[x].weights))
      narrow[i] +=
          weight *
          image.pixels[(y * image.width + columns[x].first + k) * channels + c];
  }
  Image result = {width, height, channels, {}};
  result.pixels.resize(pitch * height);
  for (size_t i = 0; i < result.pixels.size(); ++i) {
    const Window &window = rows[i / pitch];
    double sum = 0;
    for (auto [k, weight] : llvm::enumerate(window.weights))
      sum += weight * narrow[(window.first + k) * pitch + i % pitch];
    result.pixels[i] = uint8_t(std::lround(std::clamp(sum, 0.0, 255.0)));
  }
  return result;
}
