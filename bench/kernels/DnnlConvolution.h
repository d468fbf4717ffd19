//===- DnnlConvolution.h - Convolutions in oneDNN ---------------*- C++ -*-===//

#ifndef GLOWISH_BENCH_KERNELS_DNNLCONVOLUTION_H
#define GLOWISH_BENCH_KERNELS_DNNLCONVOLUTION_H

#include "Kernel.h"
#include "Report.h"
#include <dnnl.hpp>

namespace glowish::bench {

/// A convolution of square images, square filters and equal pads on all sides;
/// `count` of them are in the network that it is from.
struct LayerShape {
  int64_t batch, size, channels, outChannels, kernel, stride, pad;
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

/// A primitive of oneDNN, with its operands; it chooses algorithm and formats.
class DnnlComputation {
protected:
  using Dims = dnnl::memory::dims;
  using Format = dnnl::memory::format_tag;

  explicit DnnlComputation(const LayerShape &s)
      : image{s.batch, s.channels, s.size, s.size},
        filter{s.outChannels, s.channels, s.kernel, s.kernel},
        output{s.batch, s.outChannels, s.getOutSize(), s.getOutSize()},
        strides(2, s.stride), pads(2, s.pad) {}

  static dnnl::memory::desc describe(const Dims &dims,
                                     Format format = Format::any) {
    return {dims, dnnl::memory::data_type::f32, format};
  }
  dnnl::memory reorder(dnnl::memory from, const dnnl::memory::desc &to) {
    dnnl::memory result(to, engine);
    dnnl::reorder(from, result).execute(stream, from, result);
    stream.wait();
    return result;
  }
  /// \p tensor, which lies as \p format says, as a primitive wants it.
  dnnl::memory reorder(Tensor &tensor, const Dims &dims, Format format,
                       const dnnl::memory::desc &to) {
    return reorder(
        dnnl::memory(describe(dims, format), engine, tensor.getBytes()), to);
  }
  /// The elements of \p from in the plain \p format.
  std::vector<float> getElements(const dnnl::memory &from, const Dims &dims,
                                 Format format) {
    dnnl::memory plain = reorder(from, describe(dims, format));
    auto *elements = static_cast<const float *>(plain.get_data_handle());
    return std::vector<float>(elements, elements + countElements(dims));
  }
  void execute(const dnnl::primitive &primitive,
               const std::unordered_map<int, dnnl::memory> &arguments) {
    primitive.execute(stream, arguments);
    stream.wait();
  }

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  Dims image, filter, output, strides, pads;
};

/// Runs glowish's and oneDNN's kernels for each of \p shapes side by side, and
/// prints a table. \p make: both, of which the second is a DnnlComputation with
/// run() and getResult().
template <typename Make>
int compareWithDnnl(CPUBackend &backend, llvm::ArrayRef<LayerShape> shapes,
                    Make make) {
  std::vector<Case> cases;
  for (const LayerShape &shape : shapes) {
    auto [own, other] = make(shape);
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
  return measureAndReport(backend, "oneDNN", std::move(cases));
}

} // namespace glowish::bench

#endif // GLOWISH_BENCH_KERNELS_DNNLCONVOLUTION_H
