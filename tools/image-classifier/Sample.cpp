//===- Sample.cpp - Files that a model classifies -------------------------===//

#include "image-classifier/Sample.h"
#include "common/TensorFile.h"
#include "glowish/Support/Error.h"
#include <cmath>

using namespace glowish;

llvm::Expected<SampleReader>
SampleReader::create(ParsedModel::StatedInput input,
                     std::optional<ImageShape> shape, SampleOptions options) {
  unsigned numChannels = shape ? shape->numChannels : 0;
  auto check = [&](llvm::StringRef name, size_t count) -> llvm::Error {
    if (count == 1 || (shape && count == numChannels))
      return llvm::Error::success();
    return makeError("-{0} has {1} numbers, the input '{2}' takes images of "
                     "{3} channels; accepted: one, or one for each channel",
                     name, count, input.name, numChannels);
  };
  GLOWISH_RETURN_IF_ERROR(check("mean", options.means.size()));
  GLOWISH_RETURN_IF_ERROR(check("stddev", options.stddevs.size()));
  SampleReader reader;
  for (std::optional<int64_t> extent : llvm::drop_begin(input.shape))
    reader.shape.push_back(*extent);
  reader.input = std::move(input);
  reader.images = shape;
  reader.options = std::move(options);
  return reader;
}

//===- Images -------------------------------------------------------------===//

/// The middle of \p image, which has at least that size.
static Image crop(const Image &image, unsigned width, unsigned height) {
  unsigned channels = image.numChannels;
  Image result = {width, height, channels, {}};
  size_t left = (image.width - width) / 2;
  size_t top = (image.height - height) / 2;
  for (size_t y = 0; y < height; ++y) {
    auto row =
        image.pixels.begin() + ((top + y) * image.width + left) * channels;
    result.pixels.insert(result.pixels.end(), row,
                         row + size_t(width) * channels);
  }
  return result;
}

/// The largest part in the middle with the proportions of \p shape.
static Image cropToProportions(const Image &image, const ImageShape &shape) {
  double factor = std::min(double(image.width) / shape.width,
                           double(image.height) / shape.height);
  auto round = [&](unsigned extent, unsigned limit) {
    return std::clamp(unsigned(std::lround(extent * factor)), 1u, limit);
  };
  return crop(image, round(shape.width, image.width),
              round(shape.height, image.height));
}

/// Scales \p image by one factor.
static llvm::Expected<Image> scaleShorterSide(const Image &image,
                                              unsigned side) {
  uint64_t shorter = std::min(image.width, image.height);
  uint64_t longer = std::max(image.width, image.height);
  uint64_t length = (longer * side + shorter / 2) / shorter;
  if (length > (1u << 16))
    return makeError("the image has {0} by {1} pixels; with a shorter side "
                     "of {2} it would have a longer one of {3}; accepted: "
                     "65536",
                     image.width, image.height, side, length);
  bool isWide = image.width > image.height;
  return scaleImage(image, isWide ? unsigned(length) : side,
                    isWide ? side : unsigned(length));
}

static llvm::Expected<Image> fit(Image image, const ImageShape &shape,
                                 const SampleOptions &options) {
  if (options.shorterSide) {
    GLOWISH_ASSIGN_OR_RETURN(image,
                             scaleShorterSide(image, options.shorterSide));
  }
  if (image.width == shape.width && image.height == shape.height)
    return image;
  bool isCrop = options.fit == ImageFit::Crop;
  if (options.fit == ImageFit::None ||
      (isCrop && (image.width < shape.width || image.height < shape.height)))
    return makeError("the image has {0} by {1} pixels, the input takes {2} "
                     "by {3}; {4}",
                     image.width, image.height, shape.width, shape.height,
                     isCrop ? "-image-fit=stretch and =cover take smaller ones"
                            : "-image-fit says how others are taken");
  if (isCrop)
    return crop(image, shape.width, shape.height);
  if (options.fit == ImageFit::Cover)
    image = cropToProportions(image, shape);
  return scaleImage(image, shape.width, shape.height);
}

/// Integers are rounded.
static void setElement(Tensor &batch, int64_t index, double value) {
  bool isFloat = isFloatKind(batch.getType().getKind());
  batch.setFromDouble(index, isFloat ? value : std::nearbyint(value));
}

llvm::Error SampleReader::setImage(Image image, Tensor &batch,
                                   int64_t first) const {
  GLOWISH_ASSIGN_OR_RETURN(image, fit(std::move(image), *images, options));
  unsigned channels = images->numChannels;
  double scale = (options.high - options.low) / 255;
  placePixels(*images, [&](size_t to, size_t from) {
    // Statistics are in the file's order of channels, before it is reversed.
    size_t channel = from % channels;
    if (options.isBGR)
      channel = channels - 1 - channel;
    double value = image.pixels[from - from % channels + channel];
    double mean = options.means[channel % options.means.size()];
    double stddev = options.stddevs[channel % options.stddevs.size()];
    setElement(batch, first + int64_t(to),
               (value - mean) / stddev * scale + options.low);
  });
  return llvm::Error::success();
}

//===- Arrays -------------------------------------------------------------===//

/// The extents without the first ones of 1, down to \p rank.
static DimsRef dropBatch(DimsRef shape, size_t rank) {
  while (shape.size() > rank && shape.front() == 1)
    shape = shape.drop_front();
  return shape;
}

static bool isPixelKind(ElemKind kind) {
  return kind == ElemKind::UInt8 || kind == ElemKind::Int8;
}

/// Everything becomes a float; integers become integers.
static llvm::Error checkKind(const Tensor &array, ElemKind kind,
                             llvm::StringRef input) {
  if (isFloatKind(kind) || !isFloatKind(array.getType().getKind()))
    return llvm::Error::success();
  return makeError("the array has elements of {0}; the input '{1}' takes "
                   "integers ({2})",
                   getElemKindName(array.getType().getKind()), input,
                   getElemKindName(kind));
}

/// Whether the channels of \p shape, of rank 3, come first.
static llvm::Expected<bool>
hasChannelsFirst(DimsRef shape, const ImageShape &images, ArrayLayout layout) {
  bool canBeFirst = shape[0] == int64_t(images.numChannels);
  bool canBeLast = shape[2] == int64_t(images.numChannels);
  bool isFirst = layout == ArrayLayout::ChannelsFirst ||
                 (layout != ArrayLayout::ChannelsLast && images.channelsFirst);
  if (layout == ArrayLayout::Found && canBeFirst != canBeLast)
    isFirst = canBeFirst;
  if (isFirst ? canBeFirst : canBeLast)
    return isFirst;
  return makeError("the array is {0}; the input takes images of {1} "
                   "channels{2}",
                   formatShape(shape), images.numChannels,
                   layout == ArrayLayout::Found
                       ? ", as the first or the last dimension"
                   : isFirst ? ", here as the first dimension"
                             : ", here as the last dimension");
}

/// Where the channel of a pixel at \p index of an image is in an array.
static size_t getArrayIndex(size_t index, const ImageShape &array) {
  if (!array.channelsFirst)
    return index;
  return index % array.numChannels * (size_t(array.height) * array.width) +
         index / array.numChannels;
}

/// The 8-bit integers of \p array as pixels.
static Image makeImage(const Tensor &array, const ImageShape &shape) {
  Image image = {shape.width, shape.height, shape.numChannels, {}};
  int64_t offset = array.getType().getKind() == ElemKind::Int8 ? 128 : 0;
  image.pixels.resize(size_t(array.getNumElements()));
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] =
        uint8_t(array.getAsInt(int64_t(getArrayIndex(i, shape))) + offset);
  return image;
}

llvm::Error SampleReader::setImageArray(const Tensor &array, Tensor &batch,
                                        int64_t first) const {
  Dims extents(dropBatch(array.getType().getShape(), 3));
  if (extents.size() == 2 && images->numChannels == 1)
    extents.insert(images->channelsFirst ? extents.begin() : extents.end(), 1);
  bool isImage = extents.size() == 3 && array.getNumElements() > 0;
  for (int64_t extent : extents)
    isImage &= extent < (1 << 16);
  if (!isImage)
    return makeError("the array is {0}; accepted: an image",
                     formatShape(array.getType().getShape()));
  ImageShape lies = *images;
  GLOWISH_ASSIGN_OR_RETURN(
      lies.channelsFirst,
      hasChannelsFirst(extents, *images, options.arrayLayout));
  lies.height = unsigned(extents[lies.channelsFirst ? 1 : 0]);
  lies.width = unsigned(extents[lies.channelsFirst ? 2 : 1]);
  if (isPixelKind(array.getType().getKind()))
    return setImage(makeImage(array, lies), batch, first);
  if (lies.width != images->width || lies.height != images->height)
    return makeError("the array has {0} by {1} pixels, the input takes {2} by "
                     "{3}; only arrays of uint8 and int8 are scaled",
                     lies.width, lies.height, images->width, images->height);
  placePixels(*images, [&](size_t to, size_t from) {
    setElement(batch, first + int64_t(to),
               array.getAsDouble(int64_t(getArrayIndex(from, lies))));
  });
  return llvm::Error::success();
}

llvm::Error SampleReader::setPlainArray(const Tensor &array, Tensor &batch,
                                        int64_t first) const {
  DimsRef given = array.getType().getShape();
  if (dropBatch(given, 0) != dropBatch(shape, 0))
    return makeError("the array is {0}; the input '{1}' takes {2}",
                     formatShape(given), input.name, formatShape(shape));
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    setElement(batch, first + i, array.getAsDouble(i));
  return llvm::Error::success();
}

llvm::Error SampleReader::readArray(llvm::StringRef path, Tensor &batch,
                                    int64_t first) const {
  GLOWISH_ASSIGN_OR_RETURN(Tensor array, readTensorFile(path));
  auto set = [&]() -> llvm::Error {
    GLOWISH_RETURN_IF_ERROR(checkKind(array, input.kind, input.name));
    return images ? setImageArray(array, batch, first)
                  : setPlainArray(array, batch, first);
  };
  return addContext(set(), "'" + path + "': ");
}

llvm::Error SampleReader::read(llvm::StringRef path, Tensor &batch,
                               int64_t index) const {
  int64_t first = index * countElements(shape);
  if (path.ends_with(".npy") || path.ends_with(".pb"))
    return readArray(path, batch, first);
  if (!images)
    return makeError("'{0}': the input '{1}' takes no images; accepted: "
                     "arrays (.npy, .pb) of {2}",
                     path, input.name, formatShape(shape));
  GLOWISH_ASSIGN_OR_RETURN(Image image, readImage(path, images->numChannels));
  return addContext(setImage(std::move(image), batch, first),
                    "'" + path + "': ");
}
