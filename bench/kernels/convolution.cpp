//===- convolution.cpp - Convolutions against oneDNN ----------------------===//
//
// The convolutions of ResNet-50 in float at batch 1, without bias or
// activation. Weights are constant. oneDNN chooses the algorithm and the
// formats of image, weights and result; they are reordered before the timing.
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"
#include "Report.h"
#include "glowish/Graph/Nodes.h"
#include <dnnl.hpp>

using namespace glowish;
using namespace glowish::bench;

namespace {

/// Square images and filters; `count` of them are in ResNet-50.
struct Shape {
  int64_t size, channels, outChannels, kernel, stride;
  unsigned count;

  int64_t getPad() const { return kernel / 2; }
  int64_t getOutSize() const {
    return (size + 2 * getPad() - kernel) / stride + 1;
  }
  double getFlops() const {
    return 2.0 * getOutSize() * getOutSize() * outChannels * channels * kernel *
           kernel;
  }
  std::string str() const {
    return llvm::formatv("{0}x{0}x{1} {2}x{2}/{3} {4}", size, channels, kernel,
                         stride, outChannels);
  }
};

/// The convolution in oneDNN.
class DnnlConvolution {
public:
  DnnlConvolution(const Shape &shape, Tensor &image, Tensor &filter);
  void run() {
    primitive.execute(stream, {{DNNL_ARG_SRC, source},
                               {DNNL_ARG_WEIGHTS, weights},
                               {DNNL_ARG_DST, destination}});
    stream.wait();
  }
  /// The result of the last run, as NHWC.
  std::vector<float> getResult(const Shape &shape);

private:
  using Format = dnnl::memory::format_tag;
  static dnnl::memory::desc describe(dnnl::memory::dims dims, Format format) {
    return {dims, dnnl::memory::data_type::f32, format};
  }
  /// \p bytes, which lie as \p from says, in the format \p to.
  dnnl::memory reorder(void *bytes, const dnnl::memory::desc &from,
                       const dnnl::memory::desc &to);

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward primitive;
  dnnl::memory source, weights, destination;
};

} // namespace

dnnl::memory DnnlConvolution::reorder(void *bytes,
                                      const dnnl::memory::desc &from,
                                      const dnnl::memory::desc &to) {
  dnnl::memory input(from, engine, bytes), output(to, engine);
  dnnl::reorder(input, output).execute(stream, input, output);
  stream.wait();
  return output;
}

DnnlConvolution::DnnlConvolution(const Shape &shape, Tensor &image,
                                 Tensor &filter) {
  dnnl::memory::dims in = {1, shape.channels, shape.size, shape.size};
  dnnl::memory::dims taps = {shape.outChannels, shape.channels, shape.kernel,
                             shape.kernel};
  dnnl::memory::dims out = {1, shape.outChannels, shape.getOutSize(),
                            shape.getOutSize()};
  dnnl::memory::dims strides(2, shape.stride), pads(2, shape.getPad());
  dnnl::convolution_forward::desc description(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
      describe(in, Format::any), describe(taps, Format::any),
      describe(out, Format::any), strides, pads, pads);
  dnnl::convolution_forward::primitive_desc chosen(description, engine);
  primitive = dnnl::convolution_forward(chosen);
  source =
      reorder(image.getBytes(), describe(in, Format::nhwc), chosen.src_desc());
  weights = reorder(filter.getBytes(), describe(taps, Format::ohwi),
                    chosen.weights_desc());
  destination = dnnl::memory(chosen.dst_desc(), engine);
}

std::vector<float> DnnlConvolution::getResult(const Shape &shape) {
  dnnl::memory::dims out = {1, shape.outChannels, shape.getOutSize(),
                            shape.getOutSize()};
  dnnl::memory result =
      reorder(destination.get_data_handle(), destination.get_desc(),
              describe(out, Format::nhwc));
  auto *elements = static_cast<const float *>(result.get_data_handle());
  return std::vector<float>(elements, elements + countElements(out));
}

static NodeValue build(const Shape &shape, const Tensor &filter, Module &module,
                       Function &function, NodeValue input) {
  NodeValue weights(module.createConstant("filter", filter.clone()));
  std::vector<int64_t> strides(2, shape.stride), pads(4, shape.getPad()),
      dilations(2, 1);
  return function
      .create<ConvolutionNode>("conv", input, weights, NodeValue(), strides,
                               pads, dilations, /*group=*/1)
      ->getResult();
}

static constexpr Shape shapes[] = {
    {224, 3, 64, 7, 2, 1},    {56, 64, 64, 1, 1, 1},
    {56, 64, 64, 3, 1, 3},    {56, 64, 256, 1, 1, 4},
    {56, 256, 64, 1, 1, 2},   {56, 256, 128, 1, 1, 1},
    {56, 128, 128, 3, 2, 1},  {56, 256, 512, 1, 2, 1},
    {28, 128, 512, 1, 1, 4},  {28, 512, 128, 1, 1, 3},
    {28, 128, 128, 3, 1, 3},  {28, 512, 256, 1, 1, 1},
    {28, 256, 256, 3, 2, 1},  {28, 512, 1024, 1, 2, 1},
    {14, 256, 1024, 1, 1, 6}, {14, 1024, 256, 1, 1, 5},
    {14, 256, 256, 3, 1, 5},  {14, 1024, 512, 1, 1, 1},
    {14, 512, 512, 3, 2, 1},  {14, 1024, 2048, 1, 2, 1},
    {7, 512, 2048, 1, 1, 3},  {7, 2048, 512, 1, 1, 2},
    {7, 512, 512, 3, 1, 2},
};

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  std::vector<Case> cases;
  for (const Shape &shape : shapes) {
    Tensor image = makeRandom({1, shape.size, shape.size, shape.channels}, 1);
    Tensor filter = makeRandom(
        {shape.outChannels, shape.kernel, shape.kernel, shape.channels}, 2);
    auto own = std::make_shared<Kernel>(
        *backend, image, [&](Module &m, Function &f, NodeValue x) {
          return build(shape, filter, m, f, x);
        });
    auto other = std::make_shared<DnnlConvolution>(shape, image, filter);
    own->run();
    other->run();
    if (!isClose(own->getResult(), other->getResult(shape)))
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
