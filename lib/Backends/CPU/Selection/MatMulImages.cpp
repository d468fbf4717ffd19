//===- MatMulImages.cpp - Matmuls as convolutions -------------------------===//

#include "Selection/MatMulImages.h"

using namespace glowish;

bool glowish::hasOneRow(const Buffer &result) {
  return result.getShape().drop_back().back() == 1;
}

ImageLayout glowish::getImageLayout(const Buffer *buffer, bool isSingleRow) {
  unsigned rank = buffer->getType().getRank();
  Dims shape(4 - rank, 1), strides(4 - rank, 0);
  llvm::append_range(shape, buffer->getShape());
  llvm::append_range(strides, buffer->getStrides());
  if (isSingleRow)
    for (Dims *dims : {&shape, &strides})
      std::rotate(dims->begin(), dims->begin() + 2, dims->begin() + 3);
  return {shape, strides};
}

Buffer *glowish::viewAsImage(IRFunction &function, Buffer *buffer,
                             bool isSingleRow) {
  if (buffer->getType().getRank() == 4 && !isSingleRow)
    return buffer;
  auto [shape, strides] = getImageLayout(buffer, isSingleRow);
  return function.createView(buffer->getName(), buffer,
                             buffer->getType().withShape(shape),
                             buffer->getOffset(), strides);
}
