//===- Resize.cpp - Scaling of NHWC images --------------------------------===//

#include "Run.h"
#include "glowish/Ops/ResizeSource.h"

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runResize(const Memory &memory, const ResizeInstr &instr) {
  DimsRef in = instr.getInput()->getShape();
  Tensor result(instr.getResult()->getType());
  DimsRef out = result.getType().getShape();
  auto source = [&](unsigned d, int64_t index) {
    return getResizeSource(
        {.mode = instr.getMode(),
         .coordinates = instr.getCoordinates(),
         .nearestMode = instr.getNearestMode(),
         .from = in[d],
         .to = out[d],
         .scale = d == 1 ? instr.getScaleH() : instr.getScaleW()},
        index);
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
      ResizeSource v = source(1, index[1]), h = source(2, index[2]);
      if (instr.getMode() == "nearest") {
        result.data<T>()[next++] = at(v.low, h.low);
        return;
      }
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
