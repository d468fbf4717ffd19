//===- Convolution.cpp - Convolutions -------------------------------------===//

#include "Caffe2/Images.h"
#include "Common/ProtobufFile.h"

using namespace glowish;
using namespace glowish::caffe2;

static constexpr llvm::StringLiteral twoDimensions = "2 spatial dimensions";

/// Whether \p filter has the kernel sizes of \p window, if given, at dimension
/// \p kernel, and \p numChannels, if known, at dimension \p channel.
static bool fits(DimsRef filter, const ImageWindow &window, unsigned kernel,
                 unsigned channel, std::optional<int64_t> numChannels) {
  for (unsigned d = 0; d < 2; ++d)
    if (window.kernels[d] && window.kernels[d] != filter[kernel + d])
      return false;
  return !numChannels || *numChannels == filter[channel];
}

/// Returns input 1, a filter, in the graph's layout. In NHWC Caffe2 has the
/// channels last; Glow's models have them in dimension 1 even then, which is
/// assumed if Caffe2's layout does not fit. \p numChannels is implied by the
/// other inputs, if known.
static llvm::Expected<NodeValue>
readFilter(NetOp &op, bool isNHWC, std::optional<int64_t> numChannels) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(1, 4));
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readPlainWindow(op));
  DimsRef shape = op.input(1).getShape();
  bool fitsLast = fits(shape, window, 1, 3, numChannels);
  bool fitsFirst = fits(shape, window, 2, 1, numChannels);
  bool isSame = shape[1] == 1 && shape[2] == 1 && shape[3] == 1;
  if (isNHWC && fitsLast && fitsFirst && !isSame)
    GLOWISH_RETURN_IF_ERROR(op.warn(
        llvm::formatv("the filter {0}, {1}, of {2} with order NHWC is taken "
                      "for one with the channels last; they could be dimension "
                      "1 as well",
                      quote(op.getInputName(1)), op.input(1).getType().str(),
                      op.getType())
            .str()));
  return op.finish(toNHWC(op, op.input(1), isNHWC && (fitsLast || !fitsFirst)));
}

/// The filter is [OC, C / group, KH, KW], or [OC, KH, KW, C / group] in NHWC.
template <bool hasRelu> static llvm::Error importConv(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  int64_t group = op.getInt("group", 1);
  std::optional<int64_t> numChannels;
  if (group > 0)
    numChannels = images.getShape()[3] / group;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter,
                           readFilter(op, isNHWC, numChannels));
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op, images, filter));
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

/// The filter is [C, OC / group, KH, KW], or [C, KH, KW, OC / group] in NHWC.
static llvm::Error importConvTranspose(NetOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkRank(0, 4));
  GLOWISH_ASSIGN_OR_RETURN(bool isNHWC, op.isNHWC());
  NodeValue images = toNHWC(op, op.input(0), isNHWC);
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  int64_t group = op.getInt("group", 1);
  std::optional<int64_t> numChannels;
  if (NodeValue known = op.input(2); known && group > 0)
    numChannels = known.getType().getNumElements() / group;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue filter,
                           readFilter(op, isNHWC, numChannels));
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readPlainWindow(op));
  GLOWISH_RETURN_IF_ERROR(takeKernels(window, filter));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> added,
                           readPair(op, "adj", "adjs", 0, 0));
  op.ignoreArgs({"no_bias"});
  NodeValue bias;
  // group * channels must not overflow; the type rule refuses such groups.
  if (op.hasInput(2))
    bias = group > 0 && group <= maxWindowValue &&
                   filter.getShape()[3] <= maxWindowValue
               ? op.weight(2, {filter.getShape()[3] * group})
               : op.input(2);
  NodeValue result =
      op.make<ConvTransposeNode>(images, filter, bias, window.strides,
                                 window.pads, added, window.dilations, group);
  return op.setOutput(0, fromNHWC(op, result, isNHWC));
}

static constexpr NetOpTraits convTraits{.inputs = {2, 3},
                                        .firstWeight = 1,
                                        .firstImplied = 2,
                                        .limit = twoDimensions};

static const Caffe2Operators operators = {
    {"Conv", importConv<false>, convTraits},
    {"ConvRelu", importConv<true>, convTraits},
    {"ConvTranspose", importConvTranspose, convTraits}};
