//===- Convolution.cpp - Convolutions -------------------------------------===//

#include "ONNX/Extents.h"
#include "ONNX/Ops/NdPooling.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error checkSameRank(const Images &input, const Images &filter) {
  if (filter.isOneDimensional == input.isOneDimensional)
    return llvm::Error::success();
  return makeError("the filter has {0} and the input {1} spatial dimensions",
                   filter.isOneDimensional ? 1 : 2,
                   input.isOneDimensional ? 1 : 2);
}

/// The model's filter [OC, C / group, KH, KW] is permuted like an image.
llvm::Expected<Images> onnximport::makeConvolution(OpContext &op, Images input,
                                                   const Images &filter,
                                                   NodeValue bias) {
  GLOWISH_RETURN_IF_ERROR(checkSameRank(input, filter));
  GLOWISH_ASSIGN_OR_RETURN(ImageWindow window, readWindow(op, input, &filter));
  int64_t group = op.getInt("group", 1);
  GLOWISH_ASSIGN_OR_RETURN(
      input.value, op.create<ConvolutionNode>(input.value, filter.value, bias,
                                              window.strides, window.pads,
                                              window.dilations, group));
  return input;
}

llvm::Expected<Images> onnximport::makeConvolution(OpContext &op) {
  GLOWISH_ASSIGN_OR_RETURN(Images input, readImages(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readImages(op, 1));
  return makeConvolution(op, input, filter, op.input(2));
}

static llvm::Error importConv(OpContext &op, NodeValue value) {
  unsigned rank = value.getShape().size();
  if (rank < 3 || rank > 5)
    return op.refuseInput(0,
                          "rank 3, 4 or 5 (one to three spatial dimensions)");
  if (rank == 5)
    return op.setOutput(0, makeVolumeConv(op));
  GLOWISH_ASSIGN_OR_RETURN(Images result, makeConvolution(op));
  return setImages(op, result.value, result.isOneDimensional);
}

/// The model's filter [C, OC / group, KH, KW] is permuted like an image.
static llvm::Error importConvTranspose(OpContext &op, NodeValue value) {
  if (value.getShape().size() == 5)
    return importVolumeConvTranspose(op);
  GLOWISH_ASSIGN_OR_RETURN(Images input, readImages(op, 0));
  GLOWISH_ASSIGN_OR_RETURN(Images filter, readImages(op, 1));
  GLOWISH_RETURN_IF_ERROR(checkSameRank(input, filter));
  GLOWISH_ASSIGN_OR_RETURN(TransposedWindow window,
                           readTransposedWindow(op, input, filter));
  NodeValue bias = op.input(2);
  int64_t group = op.getInt("group", 1);
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue result,
      op.create<ConvTransposeNode>(input.value, filter.value, bias,
                                   window.strides, window.pads,
                                   window.outputPads, window.dilations, group));
  return setImages(op, result, input.isOneDimensional);
}

static OnnxOperator convTransposeOp("ConvTranspose", 1,
                                    withExtents<importConvTranspose>);
static OnnxOperator convOp("Conv", 1, withExtents<importConv>);
static OnnxOperatorNotes convNotes("Conv",
                                   {.limit = "1 to 3 spatial dimensions"});
static OnnxOperatorNotes
    convTransposeNotes("ConvTranspose", {.limit = "1 to 3 spatial dimensions"});
