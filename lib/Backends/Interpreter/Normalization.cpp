//===- Normalization.cpp - Softmax and normalizations ---------------------===//

#include "Run.h"
#include <cmath>
#include <numeric>

using namespace glowish;
using namespace glowish::interpreter;

void interpreter::runLocalResponseNormalization(
    const Memory &memory, const LocalResponseNormalizationInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t channels = type.getShape().back();
  int64_t before = (instr.getSize() - 1) / 2;
  int64_t after = instr.getSize() - 1 - before;
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto in = getDense<const T>(memory, instr.getInput());
    auto out = getDense<T>(memory, instr.getResult());
    for (int64_t i = 0; i < int64_t(in.size()); ++i) {
      int64_t channel = i % channels;
      int64_t first = std::max<int64_t>(channel - before, 0);
      int64_t last = std::min<int64_t>(channel + after, channels - 1);
      double squares = 0;
      for (int64_t c = first; c <= last; ++c) {
        double x = double(in[i - channel + c]);
        squares += x * x;
      }
      double base = instr.getBias() +
                    instr.getAlpha() / double(instr.getSize()) * squares;
      out[i] =
          T(ComputeType<T>(double(in[i]) / std::pow(base, instr.getBeta())));
    }
  });
}

namespace {
/// The scale and the bias of a normalization, where it has them.
template <typename T> struct ScaleAndBias {
  llvm::ArrayRef<T> scale, bias;

  template <typename InstrT>
  ScaleAndBias(const Memory &memory, const InstrT &instr)
      : scale(getOptional<T>(memory, instr.getScale())),
        bias(getOptional<T>(memory, instr.getBias())) {}
  double apply(double y, int64_t i) const {
    return y * (scale.empty() ? 1 : double(scale[i])) +
           (bias.empty() ? 0 : double(bias[i]));
  }
};
} // namespace

/// Normalizes the elements of \p in that \p forElements(fn) calls fn(element,
/// parameter) for, \p count of them.
template <typename T, typename InstrT, typename ForElements>
static void normalize(const Memory &memory, const InstrT &instr,
                      llvm::ArrayRef<T> in, llvm::MutableArrayRef<T> out,
                      bool subtractsMean, double count,
                      ForElements forElements) {
  ScaleAndBias<T> parameters(memory, instr);
  double mean = 0, squares = 0;
  if (subtractsMean)
    forElements([&](int64_t i, int64_t) { mean += double(in[i]); });
  mean /= count;
  forElements([&](int64_t i, int64_t) {
    squares += (double(in[i]) - mean) * (double(in[i]) - mean);
  });
  double deviation = std::sqrt(squares / count + instr.getEpsilon());
  forElements([&](int64_t i, int64_t parameter) {
    double y = (double(in[i]) - mean) / deviation;
    out[i] = T(ComputeType<T>(parameters.apply(y, parameter)));
  });
}

void interpreter::runLayerNormalization(const Memory &memory,
                                        const LayerNormalizationInstr &instr) {
  const Type &type = instr.getInput()->getType();
  int64_t length = type.getShape().back();
  Tensor input = gatherOperand(memory, instr.getInput()), result(type);
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < type.getNumElements(); row += length)
      normalize<T>(memory, instr, input.data<T>(), result.data<T>(),
                   instr.getSubtractMean(), double(length), [&](auto fn) {
                     for (int64_t i = 0; i < length; ++i)
                       fn(row + i, i);
                   });
  });
  storeThroughEpilogue(memory, instr, std::move(result));
}

/// Along any dimension, in an order that does not depend on it: that passes
/// move the channels changes no bit.
void interpreter::runGroupNormalization(const Memory &memory,
                                        const GroupNormalizationInstr &instr) {
  const Type &type = instr.getInput()->getType();
  if (type.getNumElements() == 0)
    return;
  int64_t channels = type.getDim(instr.getAxis()), images = type.getDim(0);
  int64_t imageSize = type.getNumElements() / images;
  int64_t groups = instr.getGroups(), groupChannels = channels / groups;
  // Pixels before and after the channels.
  int64_t after =
      countElements(type.getShape().drop_front(instr.getAxis() + 1));
  int64_t before = imageSize / channels / after;
  Tensor input = gatherOperand(memory, instr.getInput()), result(type);
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t group = 0; group < images * groups; ++group) {
      int64_t firstChannel = group % groups * groupChannels;
      int64_t image = group / groups * imageSize;
      auto forElements = [&](auto fn) {
        for (int64_t i = 0; i < before; ++i)
          for (int64_t k = 0; k < after; ++k)
            for (int64_t c = firstChannel; c < firstChannel + groupChannels;
                 ++c)
              fn(image + (i * channels + c) * after + k, c);
      };
      normalize<T>(memory, instr, input.data<T>(), result.data<T>(),
                   /*subtractsMean=*/true,
                   double(before * after * groupChannels), forElements);
    }
  });
  storeThroughEpilogue(memory, instr, std::move(result));
}

void interpreter::runSoftmax(const Memory &memory, const SoftmaxInstr &instr) {
  const Type &type = instr.getInput()->getType();
  dispatchFloatKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    auto in = getDense<const T>(memory, instr.getInput());
    auto out = getDense<T>(memory, instr.getResult());
    int64_t whole = type.getShape().back();
    int64_t length =
        countNeeded(memory, instr, SoftmaxInstr::inputIdx, type.getRank() - 1);
    for (int64_t row = 0; row < int64_t(in.size()); row += whole) {
      // Subtracting the largest keeps the exponentials finite.
      double largest = -std::numeric_limits<double>::infinity();
      for (int64_t i = 0; i < length; ++i)
        largest = std::max(largest, double(in[row + i]));
      std::vector<double> exps(length);
      double sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += exps[i] = std::exp(double(in[row + i]) - largest);
      for (int64_t i = 0; i < length; ++i)
        out[row + i] = T(ComputeType<T>(exps[i] / sum));
    }
  });
}
