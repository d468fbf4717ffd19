//===- ImageInput.cpp - Inputs that take images ---------------------------===//

#include "common/ImageInput.h"
#include "glowish/Support/Error.h"

using namespace glowish;

llvm::Expected<ImageShape>
glowish::findImageShape(const ParsedModel::StatedInput &input,
                        std::optional<bool> channelsFirst) {
  auto isChannels = [&](size_t d) {
    bool isFirst = d == 1;
    return (input.shape[d] == 1 || input.shape[d] == 3) &&
           channelsFirst.value_or(isFirst) == isFirst;
  };
  bool isKnown = input.shape.size() == 4;
  for (size_t d = 1; d < 4 && isKnown; ++d)
    isKnown = input.shape[d].value_or(0) > 0;
  if (!isKnown || !(isChannels(1) || isChannels(3)))
    return makeError("the input '{0}' takes no images; accepted: rank 4, and "
                     "after the batch 1 or 3 channels, height and width, or "
                     "height, width and channels; -model-input states open "
                     "extents",
                     input.name);
  ImageShape shape;
  shape.channelsFirst = isChannels(1);
  size_t channels = shape.channelsFirst ? 1 : 3;
  size_t height = shape.channelsFirst ? 2 : 1;
  shape.numChannels = unsigned(*input.shape[channels]);
  shape.height = unsigned(*input.shape[height]);
  shape.width = unsigned(*input.shape[height + 1]);
  return shape;
}

void glowish::placePixels(
    const ImageShape &shape,
    llvm::function_ref<void(size_t to, size_t from)> set) {
  size_t channels = shape.numChannels;
  size_t plane = size_t(shape.height) * shape.width;
  for (size_t i = 0; i < plane * channels; ++i)
    set(shape.channelsFirst ? i % channels * plane + i / channels : i, i);
}
