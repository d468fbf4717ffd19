//===- ImageInput.h - Inputs that take images -------------------*- C++ -*-===//

#ifndef GLOWISH_TOOLS_COMMON_IMAGEINPUT_H
#define GLOWISH_TOOLS_COMMON_IMAGEINPUT_H

#include "common/ImageFile.h"
#include "glowish/Importer/ParsedModel.h"

namespace glowish {

/// How a model's input takes images.
struct ImageShape {
  unsigned numChannels = 0, height = 0, width = 0;
  bool channelsFirst = true;
};

/// [batch, channels, height, width] or [batch, height, width, channels]; where
/// \p input could be both, the first. \p channelsFirst: which one, if that is
/// known. The error says what is accepted.
llvm::Expected<ImageShape>
findImageShape(const ParsedModel::StatedInput &input,
               std::optional<bool> channelsFirst = std::nullopt);

/// Calls \p set with the place in a sample of \p shape, and in the pixels of a
/// image, of each channel of each pixel.
void placePixels(const ImageShape &shape,
                 llvm::function_ref<void(size_t to, size_t from)> set);

} // namespace glowish

#endif // GLOWISH_TOOLS_COMMON_IMAGEINPUT_H
