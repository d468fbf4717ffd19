//===- WinogradAlgorithm.cpp - The choice of Winograd convolutions --------===//

#include "Kernels/Winograd/Winograd.h"
#include "Selection/ConvolutionAlgorithm.h"
#include <cmath>

using namespace glowish;

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
    for (int64_t limit = 2; limit <= maxWinograd; limit += 2) {
      std::optional<WinogradSize> size = getWinogradSize(problem.shape, limit);
      if (!size)
        continue;
      WinogradBlocking blocking(problem.shape, *size, target);
      int64_t block = blocking.registers.vectors * target.getLanes(4);
      if (std::isfinite(blocking.cycles))
        candidates.push_back(
            {this, {size->height, size->width, block}, blocking.cycles});
    }
  }

  /// At each point a matmul adds in the order of the channels.
  std::optional<SumOrder> getSumOrder(Parameters parameters) const override {
    WinogradSize size = getSize(parameters);
    return SumOrder{size.height, size.width};
  }
  /// Filters are transformed at compile time only.
  double getPackingCycles() const override {
    return std::numeric_limits<double>::infinity();
  }
  llvm::SmallVector<int64_t, 3>
  getPackingKey(Parameters parameters) const override {
    return {parameters.begin(), parameters.end()};
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
  static WinogradSize getSize(Parameters parameters) {
    return {.height = parameters[0], .width = parameters[1]};
  }
  static unsigned getBlock(Parameters parameters) {
    return unsigned(parameters[2]);
  }
};

} // namespace

const ConvolutionAlgorithm &glowish::getWinogradAlgorithm() {
  static const WinogradAlgorithm algorithm;
  return algorithm;
}
