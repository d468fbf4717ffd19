//===- WindowDefinitions.cpp - Convolutions and pools --------------------===//

#include "Definitions.h"
#include "glowish/Base/ForEachIndex.h"

using namespace glowish;
using namespace glowish::proofs;

//===- Windows ------------------------------------------------------------===//

namespace {

/// A tap of a window: where it is in the kernel, and in the image.
struct Tap {
  int64_t kernelY, kernelX, y, x;
};

/// What positions of windows are made of.
struct WindowShape {
  llvm::ArrayRef<int64_t> kernels, strides, pads, dilations;
  int64_t height, width;
};

} // namespace

/// Calls \p fn with the taps of the window of result (\p y, \p x) within the
/// image.
static void forEachTap(const WindowShape &shape, int64_t y, int64_t x,
                       llvm::function_ref<void(const Tap &)> fn) {
  for (int64_t ky = 0; ky < shape.kernels[0]; ++ky)
    for (int64_t kx = 0; kx < shape.kernels[1]; ++kx) {
      int64_t inY =
          y * shape.strides[0] - shape.pads[0] + ky * shape.dilations[0];
      int64_t inX =
          x * shape.strides[1] - shape.pads[1] + kx * shape.dilations[1];
      if (inY >= 0 && inY < shape.height && inX >= 0 && inX < shape.width)
        fn({ky, kx, inY, inX});
    }
}

/// Convolution, and of integers with what \p getInput and \p getFilter make of
/// their elements.
template <typename T>
static SymbolicTensor convolve(Proof &proof, const T &node,
                               const SymbolicTensor &bias,
                               llvm::function_ref<Number(DimsRef)> getInput,
                               llvm::function_ref<Number(DimsRef)> getFilter) {
  SymbolicTensor result = {node.getType(), {}};
  DimsRef input = node.getInput().getShape();
  DimsRef filter = node.getFilter().getShape();
  WindowShape shape = {filter.slice(1, 2),  node.getStrides(), node.getPads(),
                       node.getDilations(), input[1],          input[2]};
  int64_t depth = filter[3], perGroup = filter[0] / node.getGroup();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Number total(proof, node.getType().getKind(), 0.0);
    forEachTap(shape, index[1], index[2], [&](const Tap &tap) {
      for (int64_t c = 0; c < depth; ++c)
        total = total + getInput({index[0], tap.y, tap.x,
                                  index[3] / perGroup * depth + c}) *
                            getFilter({index[3], tap.kernelY, tap.kernelX, c});
    });
    if (isPresent(bias))
      total = total + bias.getNumber(index[3]);
    result.elements.push_back(total);
  });
  return result;
}

static SymbolicTensor
defineConvolution(Proof &proof, const ConvolutionNode &node, Tensors operands) {
  return convolve(
      proof, node, operands[2],
      [&](DimsRef index) { return operands[0].getNumber(index); },
      [&](DimsRef index) { return operands[1].getNumber(index); });
}
static const NodeDefinition
    convolution(NodeKind::Convolution,
                defineAs<ConvolutionNode, defineConvolution>);

static SymbolicTensor
defineConvolutionInteger(Proof &proof, const ConvolutionIntegerNode &node,
                         Tensors operands) {
  return convolve(
      proof, node, operands[4],
      [&](DimsRef index) {
        return widen(operands[0], index, operands[2], {}, ElemKind::Int32);
      },
      [&](DimsRef index) {
        return widen(operands[1], index, operands[3], index.take_front(1),
                     ElemKind::Int32);
      });
}
static const NodeDefinition convolutionInteger(
    NodeKind::ConvolutionInteger,
    defineAs<ConvolutionIntegerNode, defineConvolutionInteger>);

static SymbolicTensor defineConvTranspose(Proof &proof,
                                          const ConvTransposeNode &node,
                                          Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  DimsRef input = operands[0].type.getShape();
  DimsRef filter = operands[1].type.getShape();
  int64_t depth = filter[3], perGroup = filter[0] / node.getGroup();
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Number total(proof, node.getType().getKind(), 0.0);
    forEachIndex(input, [&](DimsRef from) {
      int64_t c = from[3], group = c / perGroup;
      if (from[0] != index[0] || index[3] / depth != group)
        return;
      int64_t y = index[1] + node.getPads()[0] - from[1] * node.getStrides()[0];
      int64_t x = index[2] + node.getPads()[1] - from[2] * node.getStrides()[1];
      if (y < 0 || x < 0 || y % node.getDilations()[0] ||
          x % node.getDilations()[1])
        return;
      y /= node.getDilations()[0];
      x /= node.getDilations()[1];
      if (y < filter[1] && x < filter[2])
        total = total + operands[0].getNumber(from) *
                            operands[1].getNumber({c, y, x, index[3] % depth});
    });
    if (isPresent(operands[2]))
      total = total + operands[2].getNumber(index[3]);
    result.elements.push_back(total);
  });
  return result;
}
static const NodeDefinition
    convTranspose(NodeKind::ConvTranspose,
                  defineAs<ConvTransposeNode, defineConvTranspose>);

template <typename T> static WindowShape getWindow(const T &node) {
  DimsRef input = node.getInput().getShape();
  return {node.getKernels(),   node.getStrides(), node.getPads(),
          node.getDilations(), input[1],          input[2]};
}

static SymbolicTensor defineMaxPool(Proof &proof, const MaxPoolNode &node,
                                    Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    std::optional<Number> largest;
    forEachTap(getWindow(node), index[1], index[2], [&](const Tap &tap) {
      const Number &element =
          operands[0].getNumber({index[0], tap.y, tap.x, index[3]});
      largest = largest ? max(*largest, element) : element;
    });
    if (!largest)
      return proof.fail("a window without elements");
    result.elements.push_back(*largest);
  });
  return result;
}
static const NodeDefinition maxPool(NodeKind::MaxPool,
                                    defineAs<MaxPoolNode, defineMaxPool>);

static SymbolicTensor defineAvgPool(Proof &proof, const AvgPoolNode &node,
                                    Tensors operands) {
  SymbolicTensor result = {node.getType(), {}};
  WindowShape shape = getWindow(node);
  // Padding counts as far as the image with its pads, not beyond it.
  WindowShape padded = shape;
  int64_t zeros[] = {0, 0, 0, 0};
  padded.pads = zeros;
  padded.height += node.getPads()[0] + node.getPads()[2];
  padded.width += node.getPads()[1] + node.getPads()[3];
  forEachIndex(node.getType().getShape(), [&](DimsRef index) {
    Number total(proof, node.getType().getKind(), 0.0);
    int64_t count = 0, counted = 0;
    forEachTap(shape, index[1], index[2], [&](const Tap &tap) {
      total = total + operands[0].getNumber({index[0], tap.y, tap.x, index[3]});
      ++count;
    });
    forEachTap(padded, index[1], index[2], [&](const Tap &) { ++counted; });
    int64_t divisor = node.getCountIncludePads() ? counted : count;
    if (divisor == 0)
      return proof.fail("a window without elements");
    result.elements.push_back(total / double(divisor));
  });
  return result;
}
static const NodeDefinition avgPool(NodeKind::AvgPool,
                                    defineAs<AvgPoolNode, defineAvgPool>);
