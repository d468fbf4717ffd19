//===- Convolution.cpp - Gradients of convolutions ------------------------===//

#include "../GradientContext.h"
#include "glowish/Support/Error.h"

using namespace glowish;

/// Returns the adjoint of the input of \p node, a Convolution or
/// ConvolutionFilterGradient: a transposed convolution with the same filter.
template <typename Node>
static NodeValue differentiateImage(Node &node, NodeValue filter,
                                    NodeValue gradient, GradientContext &g) {
  if (!filter || !gradient)
    return {};
  DimsRef input = node.getInput().getShape();
  auto pads = node.getPads();
  // Input rows and columns beyond the last window have a zero gradient.
  std::vector<int64_t> rest;
  for (unsigned d = 0; d < 2; ++d) {
    int64_t reached = (gradient.getShape()[d + 1] - 1) * node.getStrides()[d] +
                      node.getDilations()[d] * (filter.getShape()[d + 1] - 1) +
                      1;
    rest.push_back(input[d + 1] + pads[d] + pads[d + 2] - reached);
  }
  return g.make<ConvTransposeNode>(gradient, filter, NodeValue(),
                                   node.getStrides(), pads, rest,
                                   node.getDilations(), node.getGroup());
}

void glowish::differentiateConvolution(ConvolutionNode &node,
                                       GradientContext &g) {
  NodeValue gradient = g.getGradient();
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx,
                 differentiateImage(node, node.getFilter(), gradient, g));
  if (g.needsGradient(node.filterIdx))
    g.accumulate(node.filterIdx,
                 g.make<ConvolutionFilterGradientNode>(
                     node.getInput(), gradient,
                     node.getFilter().getShape().slice(1, 2), node.getStrides(),
                     node.getPads(), node.getDilations(), node.getGroup()));
  if (node.getBias() && g.needsGradient(node.biasIdx))
    g.accumulate(node.biasIdx, g.sumToAxis(gradient, 3));
}

/// The node is bilinear in input and gradient; the adjoint of the result acts
/// as the filter.
void glowish::differentiateConvolutionFilterGradient(
    ConvolutionFilterGradientNode &node, GradientContext &g) {
  NodeValue filter = g.getGradient();
  if (g.needsGradient(node.gradientIdx))
    g.accumulate(node.gradientIdx,
                 g.make<ConvolutionNode>(node.getInput(), filter, NodeValue(),
                                         node.getStrides(), node.getPads(),
                                         node.getDilations(), node.getGroup()));
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx,
                 differentiateImage(node, filter, node.getGradient(), g));
}

namespace {
/// The adjoint of a ConvTranspose, cropped by output padding that only the bias
/// reaches, and the padding of the Convolution that computes its gradient.
struct TransposedWindow {
  NodeValue gradient;
  std::vector<int64_t> pads;
};
} // namespace

static TransposedWindow cutOutputPads(ConvTransposeNode &node,
                                      GradientContext &g) {
  TransposedWindow window = {g.getGradient(), node.getPads().vec()};
  for (unsigned d = 0; d < 2; ++d) {
    int64_t added = node.getOutputPads()[d];
    int64_t cut = std::max<int64_t>(added - window.pads[d + 2], 0);
    window.pads[d + 2] = std::max<int64_t>(window.pads[d + 2] - added, 0);
    if (cut && window.gradient)
      window.gradient = g.slice(window.gradient, d + 1, 0,
                                window.gradient.getShape()[d + 1] - cut);
  }
  return window;
}

void glowish::differentiateConvTranspose(ConvTransposeNode &node,
                                         GradientContext &g) {
  TransposedWindow window = cutOutputPads(node, g);
  if (g.needsGradient(node.inputIdx))
    g.accumulate(node.inputIdx, g.make<ConvolutionNode>(
                                    window.gradient, node.getFilter(),
                                    NodeValue(), node.getStrides(), window.pads,
                                    node.getDilations(), node.getGroup()));
  if (g.needsGradient(node.filterIdx))
    g.accumulate(node.filterIdx,
                 g.make<ConvolutionFilterGradientNode>(
                     window.gradient, node.getInput(),
                     node.getFilter().getShape().slice(1, 2), node.getStrides(),
                     window.pads, node.getDilations(), node.getGroup()));
  if (node.getBias() && g.needsGradient(node.biasIdx))
    g.accumulate(node.biasIdx, g.sumToAxis(g.getGradient(), 3));
}
