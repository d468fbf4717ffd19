//===- StridedLayout.cpp - Offset and strides of views --------------------===//

#include "glowish/IR/StridedLayout.h"
#include "glowish/Base/CheckedInt.h"
#include "llvm/ADT/STLExtras.h"

using namespace glowish;

StridedLayout StridedLayout::of(const Buffer &buffer) {
  return {Dims(buffer.getShape()), buffer.getOffset(),
          Dims(buffer.getStrides())};
}

int64_t StridedLayout::getNumElements() const { return countElements(shape); }

bool StridedLayout::isDense() const {
  if (isEmpty())
    return true;
  Dims wanted = getDenseStrides(shape);
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != wanted[d])
      return false;
  return true;
}

bool StridedLayout::isInjective() const {
  if (isEmpty())
    return true;
  // Each stride steps over everything that the smaller ones reach.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> dims;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (shape[d] > 1)
      dims.push_back({std::abs(std::max(strides[d], -INT64_MAX)), shape[d]});
  llvm::sort(dims);
  CheckedInt reach = 0;
  for (auto [stride, extent] : dims) {
    if (!reach.isBetween(0, stride - 1))
      return false;
    reach += CheckedInt(stride) * (extent - 1);
  }
  return reach.get().has_value();
}

bool StridedLayout::isScattered() const {
  for (unsigned d = shape.size(); d-- > 0;)
    if (shape[d] != 1)
      return strides[d] != 1 && strides[d] != 0;
  return false;
}

std::optional<std::pair<int64_t, int64_t>> StridedLayout::getBounds() const {
  CheckedInt low = offset, high = offset;
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0)
      return std::nullopt;
    (strides[d] < 0 ? low : high) += CheckedInt(strides[d]) * (shape[d] - 1);
  }
  if (!low.get() || !high.get())
    return std::nullopt;
  return std::make_pair(*low.get(), *high.get());
}

bool glowish::isSame(const StridedLayout &a, const StridedLayout &b) {
  if (a.shape != b.shape)
    return false;
  if (a.isEmpty())
    return true;
  for (unsigned d = 0; d < a.shape.size(); ++d)
    if (a.shape[d] != 1 && a.strides[d] != b.strides[d])
      return false;
  return a.offset == b.offset;
}

//===- Disjointness -------------------------------------------------------===//

namespace {

/// The digits of a layout's elements in a mixed radix: element = sum of digit
/// times stride, each digit in a range.
class DigitRanges {
public:
  /// \p strides: descending, each a multiple of the next, the last 1. False
  /// when a digit's range crosses into the next digit.
  bool compute(const StridedLayout &layout, llvm::ArrayRef<int64_t> strides) {
    Dims steps(strides.size(), 0);
    int64_t offset = layout.offset;
    for (unsigned d = 0; d < layout.shape.size(); ++d) {
      int64_t stride = layout.strides[d], last = layout.shape[d] - 1;
      if (last == 0 || stride == 0)
        continue;
      if (stride < 0)
        offset += stride * last;
      steps[llvm::find(strides, std::abs(stride)) - strides.begin()] += last;
    }
    for (unsigned i = 0; i < strides.size(); ++i) {
      int64_t digit = offset / strides[i];
      offset %= strides[i];
      if (i > 0 && digit + steps[i] >= strides[i - 1] / strides[i])
        return false;
      ranges.push_back({digit, digit + steps[i]});
    }
    return true;
  }

  bool areDisjoint(const DigitRanges &other) const {
    for (auto [a, b] : llvm::zip_equal(ranges, other.ranges))
      if (a.second < b.first || b.second < a.first)
        return true;
    return false;
  }

private:
  llvm::SmallVector<std::pair<int64_t, int64_t>, 6> ranges;
};

} // namespace

bool glowish::areDisjoint(const StridedLayout &a, const StridedLayout &b) {
  if (a.isEmpty() || b.isEmpty())
    return true;
  auto x = a.getBounds(), y = b.getBounds();
  if (!x || !y || x->first < 0 || y->first < 0)
    return false;
  if (x->second < y->first || y->second < x->first)
    return true;
  Dims strides;
  for (const StridedLayout *layout : {&a, &b})
    for (unsigned d = 0; d < layout->shape.size(); ++d)
      if (layout->shape[d] > 1 && layout->strides[d] != 0)
        strides.push_back(std::abs(layout->strides[d]));
  strides.push_back(1);
  llvm::sort(strides, std::greater<int64_t>());
  strides.erase(llvm::unique(strides), strides.end());
  for (unsigned i = 1; i < strides.size(); ++i)
    if (strides[i - 1] % strides[i] != 0)
      return false;
  DigitRanges digitsOfA, digitsOfB;
  return digitsOfA.compute(a, strides) && digitsOfB.compute(b, strides) &&
         digitsOfA.areDisjoint(digitsOfB);
}

//===- Runs ---------------------------------------------------------------===//

namespace {

/// Runs of neighbours in the root: the lowest begins at \c first, and the
/// others are apart by \c dims, of which each has a stride and an extent; the
/// smallest stride is first.
struct Runs {
  int64_t first = 0, length = 1;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 6> dims = {};

  int64_t getCount() const {
    int64_t count = 1;
    for (auto [stride, extent] : dims)
      count *= extent;
    return count;
  }
};

} // namespace

/// Those of \p layout, which is not empty.
static Runs divideIntoRuns(const StridedLayout &layout) {
  Runs runs = {.first = layout.offset};
  for (unsigned d = 0; d < layout.shape.size(); ++d) {
    int64_t stride = layout.strides[d], extent = layout.shape[d];
    if (stride < 0)
      runs.first += stride * (extent - 1);
    if (stride != 0 && extent > 1)
      runs.dims.push_back({std::abs(stride), extent});
  }
  llvm::sort(runs.dims);
  auto outer = runs.dims.begin();
  for (; outer != runs.dims.end() && outer->first == runs.length; ++outer)
    runs.length *= outer->second;
  runs.dims.erase(runs.dims.begin(), outer);
  return runs;
}

int64_t glowish::countRuns(const StridedLayout &layout) {
  return layout.isEmpty() ? 0 : divideIntoRuns(layout).getCount();
}

void glowish::forEachRun(
    const StridedLayout &layout,
    llvm::function_ref<void(int64_t first, int64_t count)> visit,
    int64_t maxRuns) {
  if (layout.isEmpty())
    return;
  Runs runs = divideIntoRuns(layout);
  int64_t count = std::min(runs.getCount(), maxRuns);
  for (int64_t number = 0; number < count; ++number) {
    int64_t start = runs.first, rest = number;
    for (auto [stride, extent] : runs.dims) {
      start += rest % extent * stride;
      rest /= extent;
    }
    visit(start, runs.length);
  }
}

//===- Composition --------------------------------------------------------===//

namespace {

/// Neighbouring dimensions of a layout that are one: no index but 0, or the
/// outer stride is where the inner dimension ends.
struct Axis {
  int64_t extent;
  int64_t stride;    // in the root
  int64_t rowStride; // in the row-major numbers of the layout's indices
};

} // namespace

static llvm::SmallVector<Axis, 4> collapse(const StridedLayout &layout) {
  llvm::SmallVector<Axis, 4> axes; // innermost first
  int64_t rowStride = 1;
  for (unsigned d = layout.shape.size(); d-- > 0;) {
    int64_t extent = layout.shape[d], stride = layout.strides[d];
    if (extent == 1)
      continue;
    if (!axes.empty() && stride == axes.back().extent * axes.back().stride)
      axes.back().extent *= extent;
    else
      axes.push_back({extent, stride, rowStride});
    rowStride *= extent;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

std::optional<StridedLayout> glowish::compose(const StridedLayout &inner,
                                              const StridedLayout &outer) {
  StridedLayout result = StridedLayout::dense(outer.shape);
  if (outer.isEmpty())
    return result;
  llvm::SmallVector<Axis, 4> axes = collapse(inner);
  // The index of outer's first element along each axis of inner, and the
  // lowest and highest index that any element has.
  Dims low, high;
  int64_t rest = outer.offset;
  result.offset = inner.offset;
  for (const Axis &axis : axes) {
    low.push_back(rest / axis.rowStride);
    rest %= axis.rowStride;
    result.offset += low.back() * axis.stride;
  }
  high = low;
  for (unsigned d = 0; d < outer.shape.size(); ++d) {
    int64_t last = outer.shape[d] - 1;
    if (last == 0)
      continue; // keeps its dense stride: it doesn't matter
    int64_t step = std::abs(outer.strides[d]);
    int64_t sign = outer.strides[d] < 0 ? -1 : 1;
    result.strides[d] = 0;
    for (auto [i, axis] : llvm::enumerate(axes)) {
      int64_t steps = step / axis.rowStride;
      step %= axis.rowStride;
      result.strides[d] += sign * steps * axis.stride;
      (sign < 0 ? low[i] : high[i]) += sign * steps * last;
    }
  }
  // An index that leaves its axis continues in the next one, which is no
  // constant stride.
  for (auto [i, axis] : llvm::enumerate(axes))
    if (low[i] < 0 || high[i] >= axis.extent)
      return std::nullopt;
  return result;
}

StridedLayout glowish::broadcastTo(const StridedLayout &layout, DimsRef shape) {
  StridedLayout result = StridedLayout::dense(shape);
  if (result.isEmpty())
    return result;
  result.offset = layout.offset;
  unsigned missing = shape.size() - layout.shape.size();
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (d >= missing && layout.shape[d - missing] == shape[d])
      result.strides[d] = layout.strides[d - missing];
    else
      result.strides[d] = 0;
  }
  return result;
}

//===- Views --------------------------------------------------------------===//

bool glowish::isWholeRoot(const Buffer &buffer) {
  return buffer.isDense() && buffer.getOffset() == 0 &&
         buffer.getType().getNumElements() ==
             buffer.getRoot()->getType().getNumElements();
}

Buffer *glowish::getView(IRFunction &function, llvm::StringRef name,
                         Buffer *root, const Type &type,
                         const StridedLayout &layout) {
  assert(!root->isView() && type.getShape() == DimsRef(layout.shape));
  if (type == root->getType() && layout.offset == 0 && layout.isDense())
    return root;
  // A dimension of extent 1 gets the stride with which it would go on from the
  // next one, so that views that are the same look the same.
  Dims strides = layout.strides;
  for (unsigned d = strides.size(); d-- > 0;)
    if (layout.shape[d] == 1)
      strides[d] =
          d + 1 == strides.size() ? 1 : strides[d + 1] * layout.shape[d + 1];
  return function.createView(name, root, type, layout.offset, strides);
}
