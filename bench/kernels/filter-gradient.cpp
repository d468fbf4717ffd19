//===- filter-gradient.cpp - Gradients of filters against oneDNN ----------===//
//
// The gradients of the filters of a ResNet-18 for pictures of 32 x 32 and of a
// LeNet for digits, in float at batch 32. oneDNN chooses the algorithm and the
// formats of image, gradient and result; they are reordered before the timing.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Report.h"
#include "glowish/Graph/Nodes.h"
#include <dnnl.hpp>

using namespace glowish;
using namespace glowish::bench;

namespace {

constexpr int64_t batch = 32;

/// Square images and filters; `count` of them are in the network.
struct Shape {
  int64_t size, channels, outChannels, kernel, stride, pad;
  unsigned count;

  int64_t getOutSize() const { return (size + 2 * pad - kernel) / stride + 1; }
  double getFlops() const {
    return 2.0 * batch * getOutSize() * getOutSize() * outChannels * channels *
           kernel * kernel;
  }
  std::string str() const {
    return llvm::formatv("{0}x{0}x{1} {2}x{2}/{3} {4}", size, channels, kernel,
                         stride, outChannels);
  }
};

/// The gradient in oneDNN.
class DnnlGradient {
public:
  DnnlGradient(const Shape &shape, Tensor &image, Tensor &gradient);
  void run() {
    primitive.execute(stream, {{DNNL_ARG_SRC, source},
                               {DNNL_ARG_DIFF_DST, difference},
                               {DNNL_ARG_DIFF_WEIGHTS, result}});
    stream.wait();
  }
  /// The result of the last run, as [OC, KH, KW, C].
  std::vector<float> getResult();

private:
  using Format = dnnl::memory::format_tag;
  static dnnl::memory::desc describe(dnnl::memory::dims dims, Format format) {
    return {dims, dnnl::memory::data_type::f32, format};
  }
  dnnl::memory reorder(dnnl::memory input, const dnnl::memory::desc &to) {
    dnnl::memory output(to, engine);
    dnnl::reorder(input, output).execute(stream, input, output);
    stream.wait();
    return output;
  }
  dnnl::memory reorder(Tensor &tensor, dnnl::memory::dims dims,
                       const dnnl::memory::desc &to) {
    return reorder(
        dnnl::memory(describe(dims, Format::nhwc), engine, tensor.getBytes()),
        to);
  }

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_backward_weights primitive;
  dnnl::memory::dims taps;
  dnnl::memory source, difference, result;
};

} // namespace

DnnlGradient::DnnlGradient(const Shape &shape, Tensor &image,
                           Tensor &gradient) {
  dnnl::memory::dims in = {batch, shape.channels, shape.size, shape.size};
  dnnl::memory::dims out = {batch, shape.outChannels, shape.getOutSize(),
                            shape.getOutSize()};
  dnnl::memory::dims strides(2, shape.stride), pads(2, shape.pad);
  taps = {shape.outChannels, shape.channels, shape.kernel, shape.kernel};
  auto algorithm = dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, describe(in, Format::any),
       describe(taps, Format::any), describe(out, Format::any), strides, pads,
       pads},
      engine);
  dnnl::convolution_backward_weights::primitive_desc chosen(
      {algorithm, describe(in, Format::any), describe(taps, Format::any),
       describe(out, Format::any), strides, pads, pads},
      engine, forward);
  primitive = dnnl::convolution_backward_weights(chosen);
  source = reorder(image, in, chosen.src_desc());
  difference = reorder(gradient, out, chosen.diff_dst_desc());
  result = dnnl::memory(chosen.diff_weights_desc(), engine);
}

std::vector<float> DnnlGradient::getResult() {
  dnnl::memory plain = reorder(result, describe(taps, Format::ohwi));
  auto *elements = static_cast<const float *>(plain.get_data_handle());
  return std::vector<float>(elements, elements + countElements(taps));
}

static NodeValue build(const Shape &shape, const Tensor &gradient,
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

static constexpr Shape shapes[] = {
    {32, 3, 64, 3, 1, 1, 1},    {32, 64, 64, 3, 1, 1, 4},
    {32, 64, 128, 3, 2, 1, 1},  {32, 64, 128, 1, 2, 0, 1},
    {16, 128, 128, 3, 1, 1, 3}, {16, 128, 256, 3, 2, 1, 1},
    {16, 128, 256, 1, 2, 0, 1}, {8, 256, 256, 3, 1, 1, 3},
    {8, 256, 512, 3, 2, 1, 1},  {8, 256, 512, 1, 2, 0, 1},
    {4, 512, 512, 3, 1, 1, 3},  {28, 1, 6, 5, 1, 2, 1},
    {14, 6, 16, 5, 1, 0, 1},
};

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  std::vector<Case> cases;
  for (const Shape &shape : shapes) {
    Tensor image =
        makeRandom({batch, shape.size, shape.size, shape.channels}, 1);
    int64_t outSize = shape.getOutSize();
    Tensor gradient =
        makeRandom({batch, outSize, outSize, shape.outChannels}, 2);
    auto own = std::make_shared<Kernel>(
        *backend, image, [&](Module &m, Function &f, NodeValue x) {
          return build(shape, gradient, m, f, x);
        });
    auto other = std::make_shared<DnnlGradient>(shape, image, gradient);
    own->run();
    other->run();
    if (!isClose(own->getResult(), other->getResult()))
      return reportError(
          makeError("{0}: glowish differs from oneDNN", shape.str()));
    cases.push_back({shape.str(), shape.getFlops(), shape.count,
                     own->getInstrKind().str(), [own] { own->run(); },
                     [other] { other->run(); }});
  }
  llvm::outs() << "size x size x channels, kernel / stride, output channels; "
                  "times in ms\n\n";
  return measureAndReport(*backend, "oneDNN", std::move(cases));
}
