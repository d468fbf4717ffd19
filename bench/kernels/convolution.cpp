//===- convolution.cpp - Convolutions against oneDNN ----------------------===//
//
// The convolutions of ResNet-50 in float at batch 1, without bias or
// activation. Weights are constant. oneDNN chooses the algorithm and the
// formats of image, weights and result; they are reordered before the timing.
//
//===----------------------------------------------------------------------===//

#include "DnnlConvolution.h"
#include "ResNet50.h"
#include "glowish/Graph/Nodes.h"

using namespace glowish;
using namespace glowish::bench;

namespace {

/// The convolution in oneDNN.
class DnnlConvolution : DnnlComputation {
public:
  DnnlConvolution(const LayerShape &shape, Tensor &pixels, Tensor &weights);
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

DnnlConvolution::DnnlConvolution(const LayerShape &shape, Tensor &pixels,
                                 Tensor &weights)
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

static NodeValue build(const LayerShape &shape, const Tensor &filter,
                       Module &module, Function &function, NodeValue input) {
  NodeValue weights(module.createConstant("filter", filter.clone()));
  std::vector<int64_t> strides(2, shape.stride), pads(4, shape.pad),
      dilations(2, 1);
  return function
      .create<ConvolutionNode>("conv", input, weights, NodeValue(), strides,
                               pads, dilations, /*group=*/1)
      ->getResult();
}

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  return compareWithDnnl(*backend, resNet50, [&](const LayerShape &shape) {
    Tensor image = makeRandom({1, shape.size, shape.size, shape.channels}, 1);
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
