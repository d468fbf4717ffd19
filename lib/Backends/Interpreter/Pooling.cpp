//===- Pooling.cpp - Windows over NHWC images -----------------------------===//

#include "Run.h"

using namespace glowish;
using namespace glowish::interpreter;

namespace {

/// The window of one output pixel: calls fn(row, column) for each tap inside
/// the image and returns the number of all taps that are not beyond the
/// padding.
struct Window {
  DimsRef inShape;
  llvm::ArrayRef<int64_t> kernels, strides, pads, dilations;

  template <typename Fn> int64_t forEachTap(DimsRef out, Fn &&fn) const {
    int64_t taps = 0;
    for (int64_t kh = 0; kh < kernels[0]; ++kh)
      for (int64_t kw = 0; kw < kernels[1]; ++kw) {
        int64_t row = out[1] * strides[0] - pads[0] + kh * dilations[0];
        int64_t column = out[2] * strides[1] - pads[1] + kw * dilations[1];
        ++taps;
        if (row >= 0 && row < inShape[1] && column >= 0 && column < inShape[2])
          fn(row, column);
      }
    return taps;
  }
};

} // namespace

template <typename Instr>
static Window getWindow(const Instr &instr, const Buffer *image) {
  return {image->getShape(), instr.getKernels(), instr.getStrides(),
          instr.getPads(), instr.getDilations()};
}

static int64_t getElement(DimsRef shape, DimsRef out, int64_t row,
                          int64_t column) {
  return ((out[0] * shape[1] + row) * shape[2] + column) * shape[3] + out[3];
}

void interpreter::runMaxPool(const Memory &memory, const MaxPoolInstr &instr) {
  Window window = getWindow(instr, instr.getInput());
  Tensor result(instr.getResult()->getType());
  dispatchNumberKind(result.getType().getKind(), [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    auto in = getDense<const T>(memory, instr.getInput());
    size_t next = 0;
    forEachIndex(result.getType().getShape(), [&](DimsRef out) {
      // A window that lies in the padding as a whole gives the lowest value.
      C best = std::numeric_limits<C>::has_infinity
                   ? -std::numeric_limits<C>::infinity()
                   : std::numeric_limits<C>::lowest();
      window.forEachTap(out, [&](int64_t row, int64_t column) {
        C value = C(in[getElement(window.inShape, out, row, column)]);
        if (value > best || value != value)
          best = value;
      });
      result.data<T>()[next++] = T(best);
    });
  });
  scatterOperand(memory, instr.getResult(), result);
}

void interpreter::runAvgPool(const Memory &memory, const AvgPoolInstr &instr) {
  Window window = getWindow(instr, instr.getInput());
  Tensor result(instr.getResult()->getType());
  dispatchFloatKind(result.getType().getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto in = getDense<const T>(memory, instr.getInput());
    size_t next = 0;
    forEachIndex(result.getType().getShape(), [&](DimsRef out) {
      double sum = 0;
      int64_t inside = 0;
      int64_t taps = window.forEachTap(out, [&](int64_t row, int64_t column) {
        sum += double(in[getElement(window.inShape, out, row, column)]);
        ++inside;
      });
      // The mean of an empty window is 0, as of one that is all padding.
      int64_t divisor = instr.getCountIncludePads() ? taps : inside;
      double mean = divisor ? sum / double(divisor) : 0.0;
      result.data<T>()[next++] = T(ComputeType<T>(mean));
    });
  });
  scatterOperand(memory, instr.getResult(), result);
}

/// Stores \p sums as the elements of \p result.
template <typename T>
static void storeSums(llvm::ArrayRef<double> sums,
                      llvm::MutableArrayRef<T> result) {
  for (auto [element, sum] : llvm::zip_equal(result, sums))
    element = T(ComputeType<T>(sum));
}

void interpreter::runMaxPoolGradient(const Memory &memory,
                                     const MaxPoolGradientInstr &instr) {
  Window window = getWindow(instr, instr.getInput());
  dispatchFloatKind(instr.getResult()->getType().getKind(), [&](auto zero) {
    using T = decltype(zero);
    using C = ComputeType<T>;
    auto in = getDense<const T>(memory, instr.getInput());
    auto gradient = getDense<const T>(memory, instr.getGradient());
    std::vector<double> sums(in.size());
    size_t next = 0;
    forEachIndex(instr.getGradient()->getShape(), [&](DimsRef out) {
      std::optional<int64_t> largest;
      window.forEachTap(out, [&](int64_t row, int64_t column) {
        int64_t element = getElement(window.inShape, out, row, column);
        C value = C(in[element]), best = largest ? C(in[*largest]) : value;
        if (!largest || value > best || (value != value && best == best))
          largest = element;
      });
      double share = double(gradient[next++]);
      if (largest)
        sums[*largest] += share;
    });
    storeSums<T>(sums, getDense<T>(memory, instr.getResult()));
  });
}

void interpreter::runAvgPoolGradient(const Memory &memory,
                                     const AvgPoolGradientInstr &instr) {
  Window window = getWindow(instr, instr.getResult());
  dispatchFloatKind(instr.getResult()->getType().getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto gradient = getDense<const T>(memory, instr.getGradient());
    std::vector<double> sums(instr.getResult()->getType().getNumElements());
    size_t next = 0;
    forEachIndex(instr.getGradient()->getShape(), [&](DimsRef out) {
      int64_t inside = 0;
      int64_t taps =
          window.forEachTap(out, [&](int64_t, int64_t) { ++inside; });
      int64_t divisor = instr.getCountIncludePads() ? taps : inside;
      double share = double(gradient[next++]) / double(divisor);
      window.forEachTap(out, [&](int64_t row, int64_t column) {
        sums[getElement(window.inShape, out, row, column)] += share;
      });
    });
    storeSums<T>(sums, getDense<T>(memory, instr.getResult()));
  });
}
