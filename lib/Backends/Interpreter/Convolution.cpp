//===- Convolution.cpp - 2-D convolution ----------------------------------===//

#include "Run.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using namespace glowish::interpreter;

/// \p instr: any convolution. What lies outside of the image has the value
/// \p zero, which every element of the input is less; the filter's elements are
/// less \p filterZero, of their output channel.
template <typename InputT, typename FilterT, typename T, typename InstrT>
static void convolve(const InstrT &instr, const Memory &memory, InputT zero,
                     llvm::ArrayRef<FilterT> filterZeros,
                     llvm::MutableArrayRef<T> out, DimsRef outShape) {
  DimsRef inShape = instr.getInput()->getShape();
  DimsRef filterShape = instr.getFilter()->getShape();
  auto in = getDense<const InputT>(memory, instr.getInput());
  const Tensor filterTensor = readOperand(memory, instr.getFilter());
  auto filter = filterTensor.data<FilterT>();
  const T *bias = instr.getBias()
                      ? getDense<const T>(memory, instr.getBias()).data()
                      : nullptr;
  int64_t height = inShape[1], width = inShape[2], channels = inShape[3];
  int64_t kernelH = filterShape[1], kernelW = filterShape[2];
  int64_t depth = filterShape[3]; // input channels of a group
  int64_t outPerGroup = outShape[3] / instr.getGroup();
  auto strides = instr.getStrides();
  auto pads = instr.getPads();
  auto dilations = instr.getDilations();

  size_t next = 0;
  forEachIndex(outShape, [&](DimsRef index) {
    int64_t channel = index[3];
    int64_t firstChannel = channel / outPerGroup * depth;
    SumType<T> filterZero(
        filterZeros.empty()
            ? FilterT()
            : filterZeros[filterZeros.size() == 1 ? 0 : size_t(channel)]);
    SumType<T> sum = bias ? SumType<T>(bias[channel]) : SumType<T>(0);
    for (int64_t kh = 0; kh < kernelH; ++kh) {
      int64_t row = index[1] * strides[0] - pads[0] + kh * dilations[0];
      if (row < 0 || row >= height)
        continue;
      for (int64_t kw = 0; kw < kernelW; ++kw) {
        int64_t column = index[2] * strides[1] - pads[1] + kw * dilations[1];
        if (column < 0 || column >= width)
          continue;
        const InputT *pixel =
            in.data() +
            ((index[0] * height + row) * width + column) * channels +
            firstChannel;
        const FilterT *weights =
            filter.data() + ((channel * kernelH + kh) * kernelW + kw) * depth;
        for (int64_t c = 0; c < depth; ++c)
          sum += (SumType<T>(pixel[c]) - SumType<T>(zero)) *
                 (SumType<T>(weights[c]) - filterZero);
      }
    }
    out[next++] = T(ComputeType<T>(sum));
  });
}

void interpreter::runConvolution(const Memory &memory,
                                 const ConvolutionInstr &instr) {
  const Type &type = instr.getInput()->getType();
  Tensor result(Type(type.getKind(), instr.getResult()->getShape()));
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    convolve<T, T>(instr, memory, T(), {}, result.data<T>(),
                   result.getType().getShape());
  });
  storeThroughEpilogue(memory, instr.getResult(), std::move(result),
                       instr.getEpilogue(), instr.getFused());
}

void interpreter::runConvolutionInteger(const Memory &memory,
                                        const ConvolutionIntegerInstr &instr) {
  Tensor result(Type(ElemKind::Int32, instr.getResult()->getShape()));
  const Buffer *zeroPoint = instr.getZeroPoint();
  dispatchByteKind(instr.getInput()->getType().getKind(), [&](auto input) {
    using InputT = decltype(input);
    InputT zero = zeroPoint ? getDense<const InputT>(memory, zeroPoint)[0] : 0;
    dispatchByteKind(instr.getFilter()->getType().getKind(), [&](auto filter) {
      using FilterT = decltype(filter);
      convolve<InputT, FilterT>(
          instr, memory, zero,
          getOptional<FilterT>(memory, instr.getFilterZeroPoint()),
          result.data<int32_t>(), result.getType().getShape());
    });
  });
  storeThroughEpilogue(memory, instr.getResult(), std::move(result),
                       instr.getEpilogue(), instr.getFused());
}

/// The output positions along one side whose tap \p tap is in the image.
static llvm::iota_range<int64_t> getPositions(int64_t count, int64_t extent,
                                              int64_t tap, int64_t stride,
                                              int64_t pad) {
  // The bounds of position * stride - pad + tap.
  int64_t first = llvm::divideCeil(std::max<int64_t>(0, pad - tap), stride);
  int64_t last = extent - 1 + pad - tap;
  int64_t end = last < 0 ? 0 : std::min(count, last / stride + 1);
  return llvm::seq(std::min(first, end), end);
}

template <typename T>
static void differentiateFilter(const ConvolutionFilterGradientInstr &instr,
                                const Memory &memory) {
  DimsRef in = instr.getInput()->getShape();
  DimsRef out = instr.getGradient()->getShape();
  auto input = getDense<const T>(memory, instr.getInput());
  auto gradient = getDense<const T>(memory, instr.getGradient());
  auto result = getDense<T>(memory, instr.getResult());
  DimsRef shape = instr.getResult()->getShape();
  auto strides = instr.getStrides();
  auto pads = instr.getPads();
  auto dilations = instr.getDilations();
  int64_t outPerGroup = out[3] / instr.getGroup();

  size_t next = 0;
  forEachIndex(shape, [&](DimsRef index) {
    int64_t tapY = index[1] * dilations[0], tapX = index[2] * dilations[1];
    int64_t channel = index[0] / outPerGroup * shape[3] + index[3];
    double sum = 0;
    for (int64_t n = 0; n < in[0]; ++n)
      for (int64_t y : getPositions(out[1], in[1], tapY, strides[0], pads[0]))
        for (int64_t x :
             getPositions(out[2], in[2], tapX, strides[1], pads[1])) {
          int64_t row = y * strides[0] - pads[0] + tapY;
          int64_t column = x * strides[1] - pads[1] + tapX;
          sum += double(input[((n * in[1] + row) * in[2] + column) * in[3] +
                              channel]) *
                 double(gradient[((n * out[1] + y) * out[2] + x) * out[3] +
                                 index[0]]);
        }
    result[next++] = T(ComputeType<T>(sum));
  });
}

void interpreter::runConvolutionFilterGradient(
    const Memory &memory, const ConvolutionFilterGradientInstr &instr) {
  dispatchFloatKind(instr.getResult()->getType().getKind(), [&](auto zero) {
    differentiateFilter<decltype(zero)>(instr, memory);
  });
}
