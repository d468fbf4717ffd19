//===- WinogradAlgorithm.cpp - The choice of Winograd convolutions --------===//

#include "Kernels/Winograd/Winograd.h"
#include "Kernels/Winograd/WinogradTransform.h"
#include "Selection/ConvolutionAlgorithm.h"
#include "Selection/Operations.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <utility>

using namespace glowish;

/// Counts the operations of one transform of vectors by \p matrix.
static double countTransform(const TransformMatrix &matrix,
                             const TargetDescription &target) {
  std::vector<ElemKind> kinds(matrix.getColumns(), ElemKind::Float);
  return countEmitted(kinds, target, [&](KernelBuilder &b, const Values &in) {
    return matrix.apply(b, in);
  });
}

namespace {

class WinogradAlgorithm final : public ConvolutionAlgorithm {
public:
  WinogradAlgorithm()
      : ConvolutionAlgorithm("winograd", "HEIGHTxWIDTH BLOCK") {}

  /// Filters at the points take up to four times the memory.
  void
  addCandidates(const ConvolutionProblem &problem,
                const TargetDescription &target, int64_t maxWinograd,
                std::vector<ConvolutionCandidate> &candidates) const override {
    if (problem.kind != ElemKind::Float || target.vectorBits == 0 ||
        !target.isHosted)
      return;
    std::optional<WinogradSize> small, large;
    for (int64_t limit = 2; limit <= maxWinograd; limit += 2) {
      small = std::exchange(large, getWinogradSize(problem.shape, limit));
      if (large)
        addCandidate(problem, target, {*large}, candidates);
    }
    // Small tiles have few filters to read for an image, large ones few
    // multiplications for many: between them is what loses little either way.
    if (problem.mostImages > 1 && small && large &&
        small->height < large->height && small->width < large->width)
      addCandidate(problem, target, {{large->height, small->width}},
                   candidates);
    if (large)
      addOfOthers(problem, target, *large, candidates);
  }

  /// At each point a matmul adds in the order of the channels.
  std::optional<SumOrder> getSumOrder(Parameters parameters) const override {
    WinogradSize size = getSize(parameters);
    return SumOrder{size.height, size.width};
  }
  /// Each tile is transformed once, multiplied at its points, and transformed
  /// back once.
  std::optional<double>
  countOperations(const ConvolutionShape &shape, Parameters parameters,
                  const TargetDescription &target) const override {
    auto [height, width] = getSize(parameters);
    WinogradTransform vertical{unsigned(height), unsigned(shape.kernelH)};
    WinogradTransform horizontal{unsigned(width), unsigned(shape.kernelW)};
    double pointsH = vertical.getPoints(), pointsW = horizontal.getPoints();
    double forward = pointsW * countTransform(vertical.input, target) +
                     pointsH * countTransform(horizontal.input, target);
    double backward =
        pointsW * countTransform(vertical.toOutput, target) +
        double(height) * countTransform(horizontal.toOutput, target);
    double tiles = double(shape.batch) *
                   double(llvm::divideCeil(shape.outHeight, height)) *
                   double(llvm::divideCeil(shape.outWidth, width));
    double channels = double(shape.channels);
    double outChannels = double(shape.outChannels);
    return tiles * (2 * pointsH * pointsW * channels * outChannels +
                    forward * channels + backward * outChannels);
  }
  /// Filters are transformed at compile time only.
  double getPackingCycles() const override {
    return std::numeric_limits<double>::infinity();
  }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters.begin(), parameters.end()};
  }

  double getPackedRatio(const ConvolutionShape &shape, Parameters parameters,
                        ElemKind) const override {
    return double(countPackedWinograd(shape, getSize(parameters),
                                      getBlock(parameters))) /
           double(shape.getTaps() * shape.outChannels);
  }
  PackedFilter pack(const FilterSource &source,
                    Parameters parameters) const override {
    WinogradSize size = getSize(parameters);
    unsigned block = getBlock(parameters);
    std::vector<int64_t> key = source.getKey();
    llvm::append_range(key, parameters);
    return {source.createPacked(
        Type(ElemKind::Float, {countPackedWinograd(source.shape, size, block)}),
        "winograd", key,
        [size, block, shape = source.shape,
         strides = source.strides](const Tensor &filter, uint8_t *to) {
          const Tensor own = filter.borrowOrMake();
          packWinograd(shape, size, block, own.data<float>().data(),
                       DimsRef(strides).drop_front(),
                       reinterpret_cast<float *>(to));
        })};
  }

  void emit(KernelBuilder &b, const ConvolutionShape &shape,
            Parameters parameters,
            ConvolutionOperands operands) const override {
    emitWinograd(b, shape, getSize(parameters), getBlock(parameters),
                 std::move(operands));
  }

private:
  /// How filters are packed: in blocks of so many output channels, or 0 for as
  /// many as are best.
  struct Packing {
    WinogradSize size;
    unsigned block = 0;
  };

  void addCandidate(const ConvolutionProblem &problem,
                    const TargetDescription &target, Packing packing,
                    std::vector<ConvolutionCandidate> &candidates) const {
    const ConvolutionShape &shape = problem.shape;
    auto [size, block] = packing;
    WinogradBlocking blocking(shape, size, target, block);
    if (!std::isfinite(blocking.cycles))
      return;
    if (block == 0)
      block = blocking.registers.vectors * unsigned(target.getLanes(4));
    double cycles = blocking.cycles, price = blocking.getFilterPrice(shape);
    // The filters of some of the images are those of all.
    if (problem.mostImages) {
      double rest = 1 - double(shape.batch) / double(problem.mostImages);
      cycles -= price * rest;
      price -= price * rest;
    }
    candidates.push_back({.algorithm = this,
                          .parameters = {size.height, size.width, block},
                          .cycles = cycles,
                          .sizePrice = price});
  }

  /// Adds the candidates with the packings of other programs, with tiles of at
  /// most \p large.
  void addOfOthers(const ConvolutionProblem &problem,
                   const TargetDescription &target, WinogradSize large,
                   std::vector<ConvolutionCandidate> &candidates) const {
    for (const ConvolutionCandidate &other : problem.ofOthers) {
      if (other.algorithm != this || llvm::is_contained(candidates, other))
        continue;
      WinogradSize size = getSize(other.parameters);
      if (size.height <= large.height && size.width <= large.width)
        addCandidate(problem, target, {size, getBlock(other.parameters)},
                     candidates);
    }
  }
  static WinogradSize getSize(Parameters parameters) {
    return {.height = parameters[0], .width = parameters[1]};
  }
  static unsigned getBlock(Parameters parameters) {
    return unsigned(parameters[2]);
  }
};

} // namespace

static const WinogradAlgorithm winograd;
