//===- Resize.cpp - Types of image scaling --------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"
#include <cmath>

using namespace glowish;
using namespace glowish::typerules;
using llvm::Error;

/// The scale that a model states is used to find source pixels, beside the
/// ratio of the sizes: floor and round make them differ by less than a pixel.
/// One that is off further would point far outside the image.
static Error checkScale(const OpView &op, llvm::StringRef name, double scale,
                        int64_t from, int64_t to) {
  double scaled = double(from) * scale;
  double tolerance = 1 + 1e-6 * double(to);
  // Written so that a NaN is refused.
  if (scaled >= 0.49 && std::fabs(scaled - double(to)) <= tolerance)
    return Error::success();
  return op.attrError(name, formatDouble(scale) + " does not take " +
                                llvm::Twine(from) + " to " + llvm::Twine(to));
}

llvm::Expected<TypeList> glowish::inferResize(const OpView &view) {
  ResizeView op(view);
  if (op.getMode() == "linear")
    GLOWISH_RETURN_IF_ERROR(checkFloat(op, op.inputIdx));
  else
    GLOWISH_RETURN_IF_ERROR(checkNumber(op, op.inputIdx));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 4));
  const Type &input = op.getInput();
  if (input.getDim(1) == 0 || input.getDim(2) == 0)
    return op.operandError(op.inputIdx, "the images have no pixels");
  GLOWISH_RETURN_IF_ERROR(checkValues(op, "sizes", op.getSizes(), 2, 1));
  int64_t height = op.getSizes()[0], width = op.getSizes()[1];
  GLOWISH_RETURN_IF_ERROR(
      checkScale(op, "scaleH", op.getScaleH(), input.getDim(1), height));
  GLOWISH_RETURN_IF_ERROR(
      checkScale(op, "scaleW", op.getScaleW(), input.getDim(2), width));
  return makeResult(input.getKind(),
                    {input.getDim(0), height, width, input.getDim(3)});
}
