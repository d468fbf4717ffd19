//===- TileProduct.cpp - The innermost loop of products -------------------===//

#include "TileProduct.h"

using namespace glowish;
using llvm::Value;

Values TileProduct::getZeros(KernelBuilder &b) const {
  return Values(pixels * vectors, b.literal(kind, 0, lanes));
}

Values TileProduct::accumulate(KernelBuilder &b, PixelRange range,
                               int64_t length, Value *x, Value *weights,
                               Values sums, Prefetch prefetch) const {
  unsigned unroll = pixels * vectors > 12 ? 2 : 4;
  return b.forUnrolled(
      length, unroll, sums, [&](Value *k, llvm::ArrayRef<Value *> carried) {
        Values current(carried), columns;
        for (int64_t byte = 0; byte < prefetch.bytesPerStep; byte += 64)
          b.prefetch(b.CreateConstInBoundsGEP1_64(
              b.getInt8Ty(),
              b.CreateInBoundsGEP(
                  b.getInt8Ty(), prefetch.address,
                  b.addScaled(b.index(0), k, prefetch.bytesPerStep)),
              byte));
        Value *row =
            b.getElement(weights, kind, b.addScaled(b.index(0), k, rowStride));
        for (unsigned v = 0; v < vectors; ++v) {
          Value *address = b.getElement(row, kind, int64_t(v * lanes));
          unsigned there = isPadded ? lanes : getLanes(v);
          columns.push_back(b.widen(b.load(kind, address, there), lanes));
        }
        Value *element = b.getElement(x, kind, k);
        for (unsigned p = range.first; p < range.end; ++p) {
          Value *factor = b.splat(
              b.load(kind, b.getElement(element, kind, p * pixelStride), 1),
              lanes);
          for (unsigned v = 0; v < vectors; ++v) {
            Value *&sum = current[p * vectors + v];
            sum = b.multiplyAdd(factor, columns[v], sum);
          }
        }
        return current;
      });
}
