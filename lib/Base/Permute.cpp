//===- Permute.cpp - Permute the dimensions of a tensor -------------------===//

#include "glowish/Base/Permute.h"
#include "glowish/Base/TensorSource.h"
#include "glowish/Support/Task.h"
#include <algorithm>

using namespace glowish;

namespace {

/// A dimension of the result.
struct Axis {
  int64_t extent = 1;
  /// Elements of the source, and of the result, between its indices.
  int64_t from = 0, to = 0;
};

} // namespace

/// Rows and columns of a part of a matrix that the caches hold: 16 of 4 bytes
/// are a line.
static constexpr int64_t tileExtent = 16;

/// Copies the elements, of type \p T, of a matrix, in tiles where neighbours in
/// the result are apart in the source: each line of the source is then read
/// once. Stops where the task is cancelled.
template <typename T>
static void copyMatrix(const T *from, T *to, const Axis &rows,
                       const Axis &columns) {
  int64_t tileColumns = columns.from == 1 ? columns.extent : tileExtent;
  for (int64_t row = 0; row < rows.extent; row += tileExtent) {
    int64_t endRow = std::min(row + tileExtent, rows.extent);
    if (isCancelled())
      return;
    for (int64_t column = 0; column < columns.extent; column += tileColumns) {
      int64_t endColumn = std::min(column + tileColumns, columns.extent);
      for (int64_t r = row; r < endRow; ++r)
        for (int64_t c = column; c < endColumn; ++c)
          to[r * rows.to + c * columns.to] =
              from[r * rows.from + c * columns.from];
    }
  }
}

/// Copies the elements, of type \p T, of \p source to \p target: matrices of
/// the last two of \p axes, for each index of the others.
template <typename T>
static void copyElements(const void *source, void *target,
                         llvm::ArrayRef<Axis> axes) {
  auto *from = static_cast<const T *>(source);
  auto *to = static_cast<T *>(target);
  llvm::ArrayRef<Axis> outer = axes.drop_back(2);
  Dims index(outer.size(), 0);
  while (!isCancelled()) {
    copyMatrix(from, to, axes[outer.size()], axes.back());
    size_t d = outer.size();
    for (; d > 0; --d) {
      const Axis &axis = outer[d - 1];
      from += axis.from;
      to += axis.to;
      if (++index[d - 1] < axis.extent)
        break;
      from -= axis.from * axis.extent;
      to -= axis.to * axis.extent;
      index[d - 1] = 0;
    }
    if (d == 0)
      return;
  }
}

Tensor glowish::permute(const Tensor &tensor,
                        llvm::ArrayRef<int64_t> permutation) {
  const Type &type = tensor.getType();
  Dims shape;
  for (int64_t axis : permutation)
    shape.push_back(type.getDim(axis));
  if (auto *stored = llvm::dyn_cast_or_null<StoredElements>(tensor.getSource()))
    if (auto source = stored->permute(type.getShape(), permutation))
      return Tensor::defer(type.withShape(shape), std::move(source));
  Tensor result(type.withShape(shape));
  if (type.getNumElements() == 0)
    return result;
  Dims from = getDenseStrides(type.getShape()), to = getDenseStrides(shape);
  std::vector<Axis> axes;
  for (auto [d, axis] : llvm::enumerate(permutation))
    axes.push_back({shape[d], from[axis], to[d]});
  // The rows of the matrices are neighbours in the source, and the columns in
  // the result; there may be no two such dimensions.
  if (!axes.empty()) {
    auto last = axes.end() - 1;
    auto rows = std::find_if(axes.begin(), last,
                             [](const Axis &axis) { return axis.from == 1; });
    if (rows != last)
      std::rotate(rows, rows + 1, last);
  }
  axes.insert(axes.begin(), axes.size() < 2 ? 2 - axes.size() : 0, Axis());
  auto run = [&](auto element) {
    copyElements<decltype(element)>(tensor.getBytes(), result.getBytes(), axes);
  };
  switch (getElemSize(type.getKind())) {
  case 1:
    run(uint8_t());
    break;
  case 2:
    run(uint16_t());
    break;
  case 4:
    run(uint32_t());
    break;
  case 8:
    run(uint64_t());
    break;
  default:
    llvm_unreachable("elements have 1, 2, 4 or 8 bytes");
  }
  return result;
}
