//===- Convolution.cpp - 2-D convolution ----------------------------------===//

#include "Run.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace glowish;
using namespace glowish::interpreter;

namespace {

/// A convolution, block by block of numLanes output channels. \p inputZero is
/// subtracted from the elements of the input, and what lies outside of the
/// image has that value; \p filterZeros are subtracted from the filters of
/// their output channels.
template <typename InputT, typename FilterT, typename T, typename InstrT>
class Convolver {
  using Sum = SumType<T>;

public:
  Convolver(const InstrT &instr, const Memory &memory, InputT inputZero,
            llvm::ArrayRef<FilterT> filterZeros, llvm::MutableArrayRef<T> out,
            DimsRef outShape)
      : instr(instr), inShape(instr.getInput()->getShape()),
        filterShape(instr.getFilter()->getShape()), outShape(outShape),
        in(getDense<InputT>(memory, instr.getInput())),
        filterTensor(readOperand(memory, instr.getFilter())),
        bias(getOptional<T>(memory, instr.getBias())), inputZero(inputZero),
        filterZeros(filterZeros), out(out) {}

  void run() {
    int64_t outPerGroup = outShape[3] / instr.getGroup();
    // Where each group has one output channel, a block is several groups.
    if (outPerGroup == 1 && filterShape[3] == 1)
      return runBlocks</*IsDepthwise=*/true>(0, outShape[3]);
    for (int64_t group = 0; group < instr.getGroup(); ++group)
      runBlocks</*IsDepthwise=*/false>(group * outPerGroup,
                                       (group + 1) * outPerGroup);
  }

private:
  template <bool IsDepthwise> void runBlocks(int64_t channel, int64_t end) {
    for (; channel < end; channel += numLanes) {
      int64_t lanes = std::min(numLanes, end - channel);
      packWeights(channel, lanes);
      runBlock<IsDepthwise>(channel, lanes);
    }
  }

  /// Gives \p weights those of \p lanes channels, side by side; lanes beyond
  /// these keep zeros.
  void packWeights(int64_t channel, int64_t lanes) {
    auto filter = filterTensor.data<FilterT>();
    int64_t perChannel = filterShape[1] * filterShape[2] * filterShape[3];
    weights.assign(size_t(perChannel * numLanes), Sum(0));
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const FilterT *source = filter.data() + (channel + lane) * perChannel;
      Sum zero(getZeroPoint(filterZeros, channel + lane));
      for (int64_t i = 0; i < perChannel; ++i)
        weights[size_t(i * numLanes + lane)] = Sum(source[i]) - zero;
    }
  }

  template <bool IsDepthwise> void runBlock(int64_t channel, int64_t lanes) {
    int64_t outPerGroup = outShape[3] / instr.getGroup();
    int64_t firstInput = channel / outPerGroup * filterShape[3];
    for (int64_t n = 0; n < outShape[0]; ++n)
      for (int64_t y = 0; y < outShape[1]; ++y)
        for (int64_t x = 0; x < outShape[2]; ++x) {
          Sum sums[numLanes] = {};
          for (int64_t lane = 0; lane < lanes && !bias.empty(); ++lane)
            sums[lane] = Sum(bias[size_t(channel + lane)]);
          addTaps<IsDepthwise>(n, y, x, firstInput, lanes, sums);
          T *result = out.data() +
                      ((n * outShape[1] + y) * outShape[2] + x) * outShape[3] +
                      channel;
          for (int64_t lane = 0; lane < lanes; ++lane)
            result[lane] = T(ComputeType<T>(sums[lane]));
        }
  }

  template <bool IsDepthwise>
  void addTaps(int64_t n, int64_t y, int64_t x, int64_t firstInput,
               int64_t lanes, Sum (&sums)[numLanes]) {
    auto strides = instr.getStrides();
    auto pads = instr.getPads();
    auto dilations = instr.getDilations();
    int64_t depth = filterShape[3]; // input channels of a group
    for (int64_t kh = 0; kh < filterShape[1]; ++kh) {
      int64_t row = y * strides[0] - pads[0] + kh * dilations[0];
      if (row < 0 || row >= inShape[1])
        continue;
      for (int64_t kw = 0; kw < filterShape[2]; ++kw) {
        int64_t column = x * strides[1] - pads[1] + kw * dilations[1];
        if (column < 0 || column >= inShape[2])
          continue;
        const InputT *pixel =
            in.data() +
            ((n * inShape[1] + row) * inShape[2] + column) * inShape[3] +
            firstInput;
        const Sum *tap =
            weights.data() + (kh * filterShape[2] + kw) * depth * numLanes;
        if constexpr (IsDepthwise)
          addTapOfEach(pixel, tap, lanes, sums);
        else
          addTap(pixel, tap, depth, sums);
      }
    }
  }

  /// Adds the products of a pixel's \p depth elements.
  void addTap(const InputT *pixel, const Sum *tap, int64_t depth,
              Sum (&result)[numLanes]) {
    Sum sums[numLanes]; // a copy, which the compiler keeps in registers
    std::copy_n(result, numLanes, sums);
    for (int64_t c = 0; c < depth; ++c, tap += numLanes) {
      Sum element = Sum(pixel[c]) - Sum(inputZero);
      for (int64_t lane = 0; lane < numLanes; ++lane)
        sums[lane] += element * tap[lane];
    }
    std::copy_n(sums, numLanes, result);
  }

  /// The same where each lane is a group, of one element.
  void addTapOfEach(const InputT *pixel, const Sum *tap, int64_t lanes,
                    Sum (&sums)[numLanes]) {
    for (int64_t lane = 0; lane < lanes; ++lane)
      sums[lane] += (Sum(pixel[lane]) - Sum(inputZero)) * tap[lane];
  }

  const InstrT &instr;
  DimsRef inShape, filterShape, outShape;
  llvm::ArrayRef<InputT> in;
  const Tensor filterTensor;
  llvm::ArrayRef<T> bias;
  const InputT inputZero;
  llvm::ArrayRef<FilterT> filterZeros;
  llvm::MutableArrayRef<T> out;
  /// Of a block: tap by tap, input channel by input channel, lane by lane.
  std::vector<Sum> weights;
};

} // namespace

void interpreter::runConvolution(const Memory &memory,
                                 const ConvolutionInstr &instr) {
  const Type &type = instr.getInput()->getType();
  Tensor result(Type(type.getKind(), instr.getResult()->getShape()));
  dispatchNumberKind(type.getKind(), [&](auto zero) {
    using T = decltype(zero);
    Convolver<T, T, T, ConvolutionInstr>(
        instr, memory, T(), {}, result.data<T>(), result.getType().getShape())
        .run();
  });
  storeThroughEpilogue(memory, instr, std::move(result));
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
      Convolver<InputT, FilterT, int32_t, ConvolutionIntegerInstr>(
          instr, memory, zero,
          getOptional<FilterT>(memory, instr.getFilterZeroPoint()),
          result.data<int32_t>(), result.getType().getShape())
          .run();
    });
  });
  storeThroughEpilogue(memory, instr, std::move(result));
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
