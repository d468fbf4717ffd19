//===- int8.cpp - Convolutions of bytes against oneDNN --------------------===//
//
// The convolutions of ResNet-50 at batch 1 as a quantized network has them, and
// a matmul of 1024 x 1024 matrices as one: uint8 times constant int8, sums of
// int32, a factor for each output channel, and uint8 again. oneDNN chooses the
// algorithm and the formats of image, weights and result; they are reordered
// before the timing.
//
//===----------------------------------------------------------------------===//

#include "DnnlConvolution.h"
#include "ResNet50.h"
#include "glowish/Graph/NodeBuilder.h"
#include "glowish/Support/Random.h"

using namespace glowish;
using namespace glowish::bench;

/// bench/dot_peak.c: GOP/s of one core, and those of its vectors.
extern "C" double measureDotPeak(void);
extern "C" double measureVectorDotPeak(void);

namespace {

/// What both programs compute with.
struct Operands {
  explicit Operands(const LayerShape &shape);

  Tensor image, filter;
  /// Of the output channels.
  std::vector<float> factors;
};

/// The convolution in glowish.
class OwnConvolution {
public:
  OwnConvolution(CPUBackend &backend, const LayerShape &shape,
                 const Operands &operands)
      : kernel(backend, operands.image,
               [&](Module &module, Function &function, NodeValue input) {
                 return build(shape, operands, module, function, input);
               }) {}
  void run() { kernel.run(); }
  llvm::StringRef getInstrKind() { return kernel.getInstrKind(); }
  std::vector<uint8_t> getResult() const {
    return kernel.getResult().data<uint8_t>().vec();
  }

private:
  static NodeValue build(const LayerShape &shape, const Operands &operands,
                         Module &module, Function &function, NodeValue input);
  Kernel kernel;
};

/// The same in oneDNN.
class DnnlIntegerConvolution : DnnlComputation {
public:
  DnnlIntegerConvolution(const LayerShape &shape, Operands &operands);
  void run() {
    execute(primitive, {{DNNL_ARG_SRC, source},
                        {DNNL_ARG_WEIGHTS, taps},
                        {DNNL_ARG_DST, destination}});
  }
  /// The result of the last run, as NHWC.
  std::vector<uint8_t> getResult() {
    dnnl::memory plain = reorder(
        destination, {output, dnnl::memory::data_type::u8, Format::nhwc});
    auto *elements = static_cast<const uint8_t *>(plain.get_data_handle());
    return std::vector<uint8_t>(elements, elements + countElements(output));
  }

private:
  dnnl::convolution_forward primitive;
  dnnl::memory source, taps, destination;
};

} // namespace

Operands::Operands(const LayerShape &s)
    : image(Type(ElemKind::UInt8, {s.batch, s.size, s.size, s.channels})),
      filter(Type(ElemKind::Int8,
                  {s.outChannels, s.kernel, s.kernel, s.channels})) {
  Random random(1);
  for (uint8_t &element : image.data<uint8_t>())
    element = uint8_t(random.below(256));
  for (int8_t &element : filter.data<int8_t>())
    element = int8_t(int(random.below(255)) - 127);
  // Sums have about the deviation sqrt(taps) * 148 * 74.
  double taps = double(s.channels * s.kernel * s.kernel);
  for (int64_t i = 0; i < s.outChannels; ++i)
    factors.push_back(float((0.5 + random.uniform(0, 1)) * 60 /
                            (std::sqrt(taps) * 148 * 74)));
}

NodeValue OwnConvolution::build(const LayerShape &shape,
                                const Operands &operands, Module &module,
                                Function &function, NodeValue input) {
  NodeBuilder b(function, "conv");
  NodeValue filter(module.createConstant("filter", operands.filter.clone()));
  Tensor factors = Tensor::fromValues<float>(
      Type(ElemKind::Float, {shape.outChannels}), operands.factors);
  std::vector<int64_t> strides(2, shape.stride), pads(4, shape.pad),
      dilations(2, 1);
  NodeValue y = b.make<ConvolutionIntegerNode>(
      input, filter, NodeValue(), NodeValue(), NodeValue(), strides, pads,
      dilations, /*group=*/1);
  y = b.make<CastNode>(y, ElemKind::Float);
  y = b.make<MulNode>(y, b.createConstant(std::move(factors)));
  y = b.make<RoundNode>(y);
  return b.make<CastNode>(y, ElemKind::UInt8);
}

DnnlIntegerConvolution::DnnlIntegerConvolution(const LayerShape &shape,
                                               Operands &operands)
    : DnnlComputation(shape) {
  using Kind = dnnl::memory::data_type;
  auto any = [](const Dims &dims, Kind kind) {
    return dnnl::memory::desc(dims, kind, Format::any);
  };
  dnnl::primitive_attr attributes;
  attributes.set_output_scales(/*mask=*/1 << 1, operands.factors);
  dnnl::convolution_forward::primitive_desc chosen(
      {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
       any(image, Kind::u8), any(filter, Kind::s8), any(output, Kind::u8),
       strides, pads, pads},
      attributes, engine);
  primitive = dnnl::convolution_forward(chosen);
  auto take = [&](Tensor &tensor, const Dims &dims, Kind kind, Format format,
                  const dnnl::memory::desc &to) {
    return reorder(
        dnnl::memory({dims, kind, format}, engine, tensor.getBytes()), to);
  };
  source =
      take(operands.image, image, Kind::u8, Format::nhwc, chosen.src_desc());
  taps = take(operands.filter, filter, Kind::s8, Format::ohwi,
              chosen.weights_desc());
  destination = dnnl::memory(chosen.dst_desc(), engine);
}

int main(int argc, char **argv) {
  std::unique_ptr<CPUBackend> backend = initialize(argc, argv);
  std::vector<LayerShape> shapes = {{1, 32, 1024, 1024, 1, 1, 0, 0}};
  llvm::append_range(shapes, resNet50);
  std::vector<Case> cases;
  for (const LayerShape &shape : shapes) {
    Operands operands(shape);
    auto own = std::make_shared<OwnConvolution>(*backend, shape, operands);
    auto other = std::make_shared<DnnlIntegerConvolution>(shape, operands);
    own->run();
    other->run();
    if (own->getResult() != other->getResult())
      return reportError(
          makeError("{0}: glowish differs from oneDNN", shape.str()));
    cases.push_back({shape.str(), shape.getFlops(), shape.count,
                     own->getInstrKind().str(), [own] { own->run(); },
                     [other] { other->run(); }});
  }
  llvm::outs() << "size x size x channels, kernel / stride, output channels; "
                  "times in ms\n\n";
  // -mattr=-amx-int8 compares the vectors of both, with DNNL_MAX_CPU_ISA.
  auto *measurePeak = backend->getTarget().hasMatrixInt8 ? measureDotPeak
                                                         : measureVectorDotPeak;
  return measureAndReport(
      "peak of 8-bit integers", [&] { return 1e9 * measurePeak(); }, "oneDNN",
      std::move(cases));
}
