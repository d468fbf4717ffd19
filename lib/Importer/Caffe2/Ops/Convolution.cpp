//===- Convolution.cpp - Convolutions -------------------------------------===//

#include "Caffe2/Images.h"

using namespace glowish;

static constexpr llvm::StringLiteral twoDimensions = "2 spatial dimensions";

/// Whether \p filter has a kernel of the size that \p window states, if it
/// does, in the dimensions \p first and the next.
static bool fitsKernel(const NetWindow &window, DimsRef filter,
                       unsigned first) {
  for (unsigned d = 0; d < 2; ++d)
    if (window.kernels[d] && window.kernels[d] != filter[first + d])
      return false;
  return true;
}

/// Input 1, a filter, as the graph has it. With NHWC its channels are last;
/// Glow's models have them behind the first dimension there, too, which is seen
/// where the kernel does not fit otherwise.
static llvm::Expected<NodeValue> readFilter(NetOp &op, bool isNHWC) {
  GLOWISH_CHECK(op.checkRank(1, 4));
  GLOWISH_TRY(NetWindow window, readPlainWindow(op));
  DimsRef shape = op.input(1).getShape();
  isNHWC =
      isNHWC && (fitsKernel(window, shape, 1) || !fitsKernel(window, shape, 2));
  return op.finish(toNHWC(op, op.input(1), isNHWC));
}

/// Inputs 0 and 1: images and a filter [OC, C / group, KH, KW], or, with NHWC,
/// [OC, KH, KW, C / group].
template <bool hasRelu> static llvm::Error importConv(NetOp &op) {
  GLOWISH_CHECK(op.checkRank(0, 4));
  GLOWISH_TRY(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_TRY(NodeValue filter, readFilter(op, isNHWC));
  GLOWISH_CHECK(op.takeError());
  GLOWISH_TRY(NetWindow window, readWindow(op, images, filter));
  int64_t group = op.getInt("group", 1);
  op.ignoreArgs({"no_bias"});
  NodeValue bias;
  if (op.hasInput(2))
    bias = op.weight(2, {filter.getShape()[0]});
  NodeValue result =
      op.make<ConvolutionNode>(images, filter, bias, window.strides,
                               window.pads, window.dilations, group);
  if (hasRelu)
    result = op.unary<ReluNode>(result);
  return op.setOutput(0, fromNHWC(op, result, isNHWC));
}

/// The filter is [C, OC / group, KH, KW], or, with NHWC, [C, KH, KW, OC /
/// group].
static llvm::Error importConvTranspose(NetOp &op) {
  GLOWISH_CHECK(op.checkRank(0, 4));
  GLOWISH_TRY(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_TRY(NodeValue filter, readFilter(op, isNHWC));
  GLOWISH_CHECK(op.takeError());
  GLOWISH_TRY(NetWindow window, readPlainWindow(op));
  GLOWISH_CHECK(takeKernels(window, filter));
  GLOWISH_TRY(std::vector<int64_t> added, readPair(op, "adj", "adjs", 0, 0));
  int64_t group = op.getInt("group", 1);
  op.ignoreArgs({"no_bias"});
  NodeValue bias;
  // A product of hostile numbers is refused with the group by the type rule.
  if (op.hasInput(2))
    bias = group > 0 && group <= maxWindowValue &&
                   filter.getShape()[3] <= maxWindowValue
               ? op.weight(2, {filter.getShape()[3] * group})
               : op.optionalInput(2);
  NodeValue result =
      op.make<ConvTransposeNode>(images, filter, bias, window.strides,
                                 window.pads, added, window.dilations, group);
  return op.setOutput(0, fromNHWC(op, result, isNHWC));
}

static constexpr NetOpTraits convTraits{.minInputs = 2,
                                        .maxInputs = 3,
                                        .firstWeight = 1,
                                        .firstImplied = 2,
                                        .limit = twoDimensions};
static Caffe2Operator convOp("Conv", importConv<false>, convTraits);
static Caffe2Operator convReluOp("ConvRelu", importConv<true>, convTraits);
static Caffe2Operator convTransposeOp("ConvTranspose", importConvTranspose,
                                      convTraits);
