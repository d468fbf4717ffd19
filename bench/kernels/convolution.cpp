//===- convolution.cpp - Convolutions against oneDNN ----------------------===//
//
// The convolutions of ResNet-50 in float at batch 1, without bias or
// activation. Weights are constant. oneDNN chooses the algorithm and the
// formats of image, weights and result; they are reordered before the timing.
//
//===----------------------------------------------------------------------===//

#include "DnnlConvolution.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;
using namespace glowish::bench;

namespace {

/// The convolution in oneDNN.
class DnnlConvolution : DnnlComputation {
public:
  DnnlConvolution(const ConvolutionProblem &shape, Tensor &pixels,
                  Tensor &weights);
  void run() {
    execute(primitive, {{DNNL_ARG_SRC, source},
                        {DNNL_ARG_WEIGHTS, taps},
                        {DNNL_ARG_DST, destination}});
  }
  /// The result of the last run, as NHWC.
  std::vector<float> getResult() {
    return getElements(destination, output, Format::nhwc);
  }

private:
  dnnl::convolution_forward primitive;
  dnnl::memory source, taps, destination;
};

} // namespace

DnnlConvolution::DnnlConvolution(const ConvolutionProblem &shape,
                                 Tensor &pixels, Tensor &weights)
    : DnnlComputation(shape) {
  dnnl::convolution_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
       describe(image), describe(filter), describe(output), strides, pads,
       pads},
      engine);
  primitive = dnnl::convolution_forward(chosen);
  source = reorder(pixels, image, Format::nhwc, chosen.src_desc());
  taps = reorder(weights, filter, Format::ohwi, chosen.weights_desc());
  destination = dnnl::memory(chosen.dst_desc(), engine);
}

static NodeValue build(const ConvolutionProblem &shape, const Tensor &filter,
                       Module &module, Function &function, NodeValue input) {
  NodeValue weights(module.createConstant("filter", filter.clone()));
  std::vector<int64_t> strides(2, shape.stride), pads(4, shape.pad),
      dilations(2, 1);
  return function
      .create<ConvolutionNode>("conv", input, weights, NodeValue(), strides,
                               pads, dilations, /*group=*/1)
      ->getResult();
}

static constexpr ConvolutionProblem shapes[] = {
    {1, 224, 3, 64, 7, 2, 3, 1},    {1, 56, 64, 64, 1, 1, 0, 1},
    {1, 56, 64, 64, 3, 1, 1, 3},    {1, 56, 64, 256, 1, 1, 0, 4},
    {1, 56, 256, 64, 1, 1, 0, 2},   {1, 56, 256, 128, 1, 1, 0, 1},
    {1, 56, 128, 128, 3, 2, 1, 1},  {1, 56, 256, 512, 1, 2, 0, 1},
    {1, 28, 128, 512, 1, 1, 0, 4},  {1, 28, 512, 128, 1, 1, 0, 3},
    {1, 28, 128, 128, 3, 1, 1, 3},  {1, 28, 512, 256, 1, 1, 0, 1},
    {1, 28, 256, 256, 3, 2, 1, 1},  {1, 28, 512, 1024, 1, 2, 0, 1},
    {1, 14, 256, 1024, 1, 1, 0, 6}, {1, 14, 1024, 256, 1, 1, 0, 5},
    {1, 14, 256, 256, 3, 1, 1, 5},  {1, 14, 1024, 512, 1, 1, 0, 1},
    {1, 14, 512, 512, 3, 2, 1, 1},  {1, 14, 1024, 2048, 1, 2, 0, 1},
    {1, 7, 512, 2048, 1, 1, 0, 3},  {1, 7, 2048, 512, 1, 1, 0, 2},
    {1, 7, 512, 512, 3, 1, 1, 2},
};

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  return compareWithDnnl(
      *backend, shapes, [&](const ConvolutionProblem &shape) {
        Tensor image =
            makeRandom({1, shape.size, shape.size, shape.channels}, 1);
        Tensor filter = makeRandom(
            {shape.outChannels, shape.kernel, shape.kernel, shape.channels}, 2);
        auto own = std::make_shared<Kernel>(
            *backend, image, [&](Module &m, Function &f, NodeValue x) {
              return build(shape, filter, m, f, x);
            });
        auto other = std::make_shared<DnnlConvolution>(shape, image, filter);
        return std::pair(own, other);
      });
}
