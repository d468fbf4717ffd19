//===- Resize.cpp - Scaling of NHWC images --------------------------------===//

#include "Run.h"
#include <cmath>

using namespace glowish;
using namespace glowish::interpreter;

/// Where output coordinate \p out lies along a dimension of the input.
static double getSource(llvm::StringRef coordinates, int64_t out,
                        int64_t inSize, int64_t outSize, double scale) {
  if (coordinates == "asymmetric")
    return double(out) / scale;
  if (coordinates == "align_corners")
    return outSize == 1
               ? 0.0
               : double(out) * double(inSize - 1) / double(outSize - 1);
  if (coordinates == "pytorch_half_pixel" && outSize == 1)
    return 0.0;
  return (double(out) + 0.5) / scale - 0.5;
}

static int64_t getNearest(llvm::StringRef mode, double source, int64_t inSize) {
  double index = 0;
  if (mode == "floor")
    index = std::floor(source);
  else if (mode == "ceil")
    index = std::ceil(source);
  else if (mode == "round_prefer_floor")
    index = std::ceil(source - 0.5);
  else
    index = std::floor(source + 0.5);
  return std::clamp<int64_t>(int64_t(index), 0, inSize - 1);
}

namespace {
/// The two neighbours of a coordinate and the weight of the second.
struct Neighbours {
  int64_t low, high;
  double weight;
};
} // namespace

static Neighbours getNeighbours(double source, int64_t inSize) {
  source = std::clamp(source, 0.0, double(inSize - 1));
  int64_t low = int64_t(source);
  return {low, std::min(low + 1, inSize - 1), source - double(low)};
}

void interpreter::runResize(const Memory &memory, const ResizeInstr &instr) {
  DimsRef in = instr.getInput()->getShape();
  Tensor result(instr.getResult()->getType());
  DimsRef out = result.getType().getShape();
  auto source = [&](unsigned d, int64_t index) {
    return getSource(instr.getCoordinates(), index, in[d], out[d],
                     d == 1 ? instr.getScaleH() : instr.getScaleW());
  };
  dispatchNumberKind(result.getType().getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto pixels = getDense<const T>(memory, instr.getInput());
    size_t next = 0;
    forEachIndex(out, [&](DimsRef index) {
      auto at = [&](int64_t row, int64_t column) {
        return pixels[((index[0] * in[1] + row) * in[2] + column) * in[3] +
                      index[3]];
      };
      double y = source(1, index[1]), x = source(2, index[2]);
      if (instr.getMode() == "nearest") {
        result.data<T>()[next++] =
            at(getNearest(instr.getNearestMode(), y, in[1]),
               getNearest(instr.getNearestMode(), x, in[2]));
        return;
      }
      Neighbours v = getNeighbours(y, in[1]), h = getNeighbours(x, in[2]);
      double top = double(at(v.low, h.low)) * (1 - h.weight) +
                   double(at(v.low, h.high)) * h.weight;
      double bottom = double(at(v.high, h.low)) * (1 - h.weight) +
                      double(at(v.high, h.high)) * h.weight;
      result.data<T>()[next++] =
          T(ComputeType<T>(top * (1 - v.weight) + bottom * v.weight));
    });
  });
  scatterOperand(memory, instr.getResult(), result);
}
