//===- filter-gradient.cpp - Gradients of filters against oneDNN ----------===//
//
// The gradients of the filters of a ResNet-18 for images of 32 x 32 and of a
// LeNet for digits, in float at batch 32. oneDNN chooses the algorithm and the
// formats of image, gradient and result; they are reordered before the timing.
//
//===----------------------------------------------------------------------===//

#include "DnnlConvolution.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;
using namespace glowish::bench;

namespace {

/// The gradient in oneDNN.
class DnnlGradient : DnnlComputation {
public:
  DnnlGradient(const LayerShape &shape, Tensor &pixels, Tensor &gradient);
  void run() {
    execute(primitive, {{DNNL_ARG_SRC, source},
                        {DNNL_ARG_DIFF_DST, difference},
                        {DNNL_ARG_DIFF_WEIGHTS, result}});
  }
  /// The result of the last run, as [OC, KH, KW, C].
  std::vector<float> getResult() {
    return getElements(result, filter, Format::ohwi);
  }

private:
  dnnl::convolution_backward_weights primitive;
  dnnl::memory source, difference, result;
};

} // namespace

DnnlGradient::DnnlGradient(const LayerShape &shape, Tensor &pixels,
                           Tensor &gradient)
    : DnnlComputation(shape) {
  auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, describe(image),
       describe(filter), describe(output), strides, pads, pads},
      engine);
  dnnl::convolution_backward_weights::primitive_desc chosen(
      {algorithm, describe(image), describe(filter), describe(output), strides,
       pads, pads},
      engine, forward);
  primitive = dnnl::convolution_backward_weights(chosen);
  source = reorder(pixels, image, Format::nhwc, chosen.src_desc());
  difference = reorder(gradient, output, Format::nhwc, chosen.diff_dst_desc());
  result = dnnl::memory(chosen.diff_weights_desc(), engine);
}

static NodeValue build(const LayerShape &shape, const Tensor &gradient,
                       Module &module, Function &function, NodeValue input) {
  NodeValue constant(module.createConstant("gradient", gradient.clone()));
  std::vector<int64_t> kernels(2, shape.kernel), strides(2, shape.stride),
      pads(4, shape.pad), dilations(2, 1);
  return function
      .create<ConvolutionFilterGradientNode>("result", input, constant, kernels,
                                             strides, pads, dilations,
                                             /*group=*/1)
      ->getResult();
}

static constexpr LayerShape shapes[] = {
    {32, 32, 3, 64, 3, 1, 1, 1},    {32, 32, 64, 64, 3, 1, 1, 4},
    {32, 32, 64, 128, 3, 2, 1, 1},  {32, 32, 64, 128, 1, 2, 0, 1},
    {32, 16, 128, 128, 3, 1, 1, 3}, {32, 16, 128, 256, 3, 2, 1, 1},
    {32, 16, 128, 256, 1, 2, 0, 1}, {32, 8, 256, 256, 3, 1, 1, 3},
    {32, 8, 256, 512, 3, 2, 1, 1},  {32, 8, 256, 512, 1, 2, 0, 1},
    {32, 4, 512, 512, 3, 1, 1, 3},  {32, 28, 1, 6, 5, 1, 2, 1},
    {32, 14, 6, 16, 5, 1, 0, 1},
};

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  return compareWithDnnl(*backend, shapes, [&](const LayerShape &shape) {
    int64_t batch = shape.batch, outSize = shape.getOutSize();
    Tensor image =
        makeRandom({batch, shape.size, shape.size, shape.channels}, 1);
    Tensor gradient =
        makeRandom({batch, outSize, outSize, shape.outChannels}, 2);
    auto own = std::make_shared<Kernel>(
        *backend, image, [&](Module &m, Function &f, NodeValue x) {
          return build(shape, gradient, m, f, x);
        });
    auto other = std::make_shared<DnnlGradient>(shape, image, gradient);
    return std::pair(own, other);
  });
}
