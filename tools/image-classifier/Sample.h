//===- Sample.h - Files that a model classifies -----------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_IMAGE_CLASSIFIER_SAMPLE_H
#define GLOWISH_TOOLS_IMAGE_CLASSIFIER_SAMPLE_H

#include "common/ImageInput.h"

namespace glowish {

/// How an image of another size becomes one of the input's.
enum class ImageFit {
  /// It does not: an error.
  None,
  /// The whole image is scaled, each axis by its own factor.
  Stretch,
  /// The largest part in the middle that has the input's proportions is scaled.
  Cover,
  /// The middle is cut out, not scaled.
  Crop
};

/// How channels and pixels of files lie.
enum class ArrayLayout {
  /// As the shape of the array tells; if it could be both, as in the input.
  Found,
  AsInput,
  ChannelsFirst,
  ChannelsLast
};

struct SampleOptions {
  /// A pixel's channel p, 0 ... 255, becomes
  /// (p - mean) / stddev * (high - low) / 255 + low.
  double low = 0, high = 255;
  /// One, or one each for red, green and blue.
  std::vector<double> means = {0}, stddevs = {1};
  /// Blue comes first in the input.
  bool isBGR = true;
  ImageFit fit = ImageFit::None;
  /// Before that, images are scaled so that their shorter side has so many
  /// pixels; 0: they are not.
  unsigned shorterSide = 0;
  ArrayLayout arrayLayout = ArrayLayout::Found;
};

/// Reads files as samples of one input.
class SampleReader {
public:
  /// \p input: with all extents, the first that of a batch. \p shape: how it
  /// takes images; empty if it takes none. An error says that \p options has
  /// the wrong number of means.
  static llvm::Expected<SampleReader> create(ParsedModel::StatedInput input,
                                             std::optional<ImageShape> shape,
                                             SampleOptions options);

  /// Makes \p path sample \p index of \p batch. Images, and arrays (.npy,
  /// .pb) of 8-bit integers for an input that takes images, are pixels, int8
  /// beginning at -128; the elements of other arrays are taken as they are. An
  /// error names the file, what it has and what is accepted.
  llvm::Error read(llvm::StringRef path, Tensor &batch, int64_t index) const;

private:
  SampleReader() = default;
  llvm::Error readArray(llvm::StringRef path, Tensor &batch,
                        int64_t first) const;
  llvm::Error setImageArray(const Tensor &array, Tensor &batch,
                            int64_t first) const;
  llvm::Error setPlainArray(const Tensor &array, Tensor &batch,
                            int64_t first) const;
  llvm::Error setImage(Image image, Tensor &batch, int64_t first) const;

  ParsedModel::StatedInput input;
  /// Of a sample.
  Dims shape;
  std::optional<ImageShape> images;
  SampleOptions options;
};

} // namespace glowish

#endif // GLOWISH_TOOLS_IMAGE_CLASSIFIER_SAMPLE_H
