//===- Reductions.cpp - Reductions and windows in linalg ------------------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

MlirValue LinalgWriter::reduce(llvm::StringRef mode, const MlirValue &x,
                               IntsRef axes, bool keepDims) {
  Loops loops = {.count = x.getRank()};
  Access in = {x, getLoopNames(loops.count)};
  Dims kept, all(x.getShape());
  std::vector<std::string> indices;
  for (unsigned d = 0; d < loops.count; ++d)
    if (llvm::is_contained(axes, int64_t(d))) {
      loops.reduced.push_back(d);
      all[d] = 1;
    } else {
      kept.push_back(all[d]);
      indices.push_back(in.indices[d]);
    }
  Access out = {fill(x.type.withShape(kept), getReductionIdentity(mode)),
                indices};
  MlirValue result = genericOne(loops, in, out, [&](auto elements, auto sums) {
    return combineElements(mode, sums[0], elements[0]);
  });
  return keepDims ? reshape(result, all) : result;
}

/// The index along \p axis beside the largest element. The loops run in order.
MlirValue LinalgWriter::argMax(const MlirValue &x, int64_t axis,
                               bool selectLast, const Type &type) {
  unsigned rank = x.getRank();
  Loops loops = {.count = rank, .reduced = {unsigned(axis)}};
  Access in = {x, getLoopNames(rank)};
  std::vector<std::string> indices = in.indices;
  indices.erase(indices.begin() + axis);
  Dims kept(x.getShape());
  kept.erase(kept.begin() + axis);
  Access largest = {fill(x.type.withShape(kept), 0), indices};
  Access place = {fill(Type(ElemKind::Int64, kept), -1), indices};
  MlirValue result =
      generic(loops, in, {largest, place}, [&](auto elements, auto outs) {
        const MlirScalar &element = elements[0], &best = outs[0];
        MlirScalar isBetter = best < element;
        if (selectLast)
          isBetter = best <= element;
        if (isFloatKind(element.kind)) {
          // NaN is greater than all numbers, and equal to NaN.
          MlirScalar isNaN = !(element == element);
          isBetter = isBetter || (selectLast ? isNaN : isNaN && best == best);
        }
        isBetter = isBetter || outs[1] < 0.0;
        MlirScalar i = fromIndex(loopIndex(unsigned(axis)));
        return std::vector<MlirScalar>{select(isBetter, element, best),
                                       select(isBetter, i, outs[1])};
      }).back();
  return reshape(result, type.getShape());
}

//===- Sums of products ---------------------------------------------------===//

MlirValue LinalgWriter::matMulGeneric(const MlirValue &lhs,
                                      const MlirValue &rhs, const Type &type) {
  unsigned rank = type.getRank();
  // The loops of the result, then that of the sums.
  std::string sum = "d" + std::to_string(rank);
  auto access = [&](const MlirValue &x) {
    Access access = {x, getLoopNames(x.getRank(), rank - x.getRank())};
    for (unsigned d = 0; d + 2 < x.getRank(); ++d)
      if (x.getShape()[d] != type.getDim(rank - x.getRank() + d))
        access.indices[d] = "0";
    return access;
  };
  Access left = access(lhs), right = access(rhs);
  left.indices.back() = sum;
  right.indices[rhs.getRank() - 2] = sum;
  Access out = {fill(type, 0), getLoopNames(rank)};
  return genericOne({.count = rank + 1, .reduced = {rank}}, {left, right}, out,
                    [&](auto elements, auto sums) {
                      return sums[0] +
                             castScalar(elements[0], type.getKind()) *
                                 castScalar(elements[1], type.getKind());
                    });
}

MlirValue LinalgWriter::matMul(const MlirValue &lhs, const MlirValue &rhs,
                               const Type &type) {
  unsigned rank = type.getRank();
  DimsRef leading = type.getShape().drop_back(2);
  bool isSame = lhs.getShape().drop_back(2) == leading &&
                rhs.getShape().drop_back(2) == leading;
  if (!isSame)
    return matMulGeneric(lhs, rhs, type);
  auto flatten = [&](const MlirValue &x) {
    Dims shape = {countElements(leading)};
    llvm::append_range(shape, x.getShape().take_back(2));
    return rank > 3 ? reshape(x, shape) : x;
  };
  MlirValue left = flatten(lhs), right = flatten(rhs);
  MlirValue start = flatten(fill(type, 0));
  llvm::StringRef name = rank == 2 ? "linalg.matmul" : "linalg.batch_matmul";
  MlirValue sums =
      op(start.type, name + " ins(" + formatOperands({left, right}) +
                         ") outs(" + formatOperands(start) + ") -> " +
                         getTensorType(start.type));
  return reshape(sums, type.getShape());
}

/// What sums of a convolution start with.
MlirValue LinalgWriter::startSums(const MlirValue &bias, const Type &type) {
  return bias ? broadcast(bias, type.getShape()) : fill(type, 0);
}

/// "{dilations = dense<[1, 1]> : tensor<2xi64>, strides = ...}".
static std::string formatSteps(IntsRef dilations, IntsRef strides) {
  return "{dilations = dense<[" + formatList(dilations) +
         "]> : tensor<2xi64>, strides = dense<[" + formatList(strides) +
         "]> : tensor<2xi64>}";
}

/// The index of the pixel that loop \p tap of a window reads, whose position is
/// loop \p position.
static std::string formatPixel(unsigned position, int64_t stride, unsigned tap,
                               int64_t dilation) {
  return llvm::formatv("d{0} * {1} + d{2} * {3}", position, stride, tap,
                       dilation)
      .str();
}

/// Sums over windows with loops over images, pixels, groups and filters; taps
/// and channels. \p start has a dimension for groups.
MlirValue LinalgWriter::convolveGroups(const MlirConvolution &convolution,
                                       const MlirValue &input,
                                       const MlirValue &start) {
  IntsRef strides = convolution.strides, dilations = convolution.dilations;
  DimsRef in = input.getShape(), out = start.getShape();
  DimsRef taps = convolution.filter.getShape();
  int64_t group = out[3], filters = out[4], depth = taps[3];
  Access images = {reshape(input, {in[0], in[1], in[2], group, depth}),
                   {"d0", formatPixel(1, strides[0], 5, dilations[0]),
                    formatPixel(2, strides[1], 6, dilations[1]), "d3", "d7"}};
  Access filter = {
      reshape(convolution.filter, {group, filters, taps[1], taps[2], depth}),
      {"d3", "d4", "d5", "d6", "d7"}};
  return genericOne({.count = 8, .reduced = {5, 6, 7}}, {images, filter},
                    {start, getLoopNames(5)}, [&](auto elements, auto sums) {
                      ElemKind kind = start.getKind();
                      return sums[0] + castScalar(elements[0], kind) *
                                           castScalar(elements[1], kind);
                    });
}

MlirValue LinalgWriter::convolve(const MlirConvolution &convolution,
                                 const Type &type) {
  MlirValue start = startSums(convolution.bias, type);
  MlirValue filter = convolution.filter;
  DimsRef taps = filter.getShape(), out = type.getShape();
  if (type.getNumElements() == 0 || taps[3] == 0)
    return start;
  MlirValue input = padImages(convolution.input, convolution.pads, 0);
  int64_t group = convolution.group;
  bool isDepthwise = group > 1 && taps[3] == 1 && taps[0] == group;
  if (group > 1 && !isDepthwise) {
    start = reshape(start, {out[0], out[1], out[2], group, taps[0] / group});
    return reshape(convolveGroups(convolution, input, start), out);
  }
  if (isDepthwise)
    filter = transpose(reshape(filter, {taps[0], taps[1], taps[2]}), {1, 2, 0});
  return op(type, "linalg." +
                      llvm::Twine(isDepthwise ? "depthwise_conv_2d_nhwc_hwc"
                                              : "conv_2d_nhwc_fhwc") +
                      " " +
                      formatSteps(convolution.dilations, convolution.strides) +
                      " ins(" + formatOperands({input, filter}) + ") outs(" +
                      formatOperands(start) + ") -> " + getTensorType(type));
}

MlirValue LinalgWriter::pool(llvm::StringRef mode, const MlirValue &x,
                             const Windows &window, const Type &type) {
  MlirValue start = fill(type, getReductionIdentity(mode));
  if (type.getNumElements() == 0)
    return start;
  // Of which the shape alone counts.
  MlirValue shape = empty(x.type.withShape(window.kernels));
  bool isUnsignedMax = mode == "max" && isUnsignedKind(x.getKind());
  llvm::StringRef suffix = isUnsignedMax ? "_unsigned" : "";
  return op(type, "linalg.pooling_nhwc_" + mode + suffix + " " +
                      formatSteps(window.dilations, window.strides) + " ins(" +
                      formatOperands({x, shape}) + ") outs(" +
                      formatOperands(start) + ") -> " + getTensorType(type));
}

//===- Gradients ----------------------------------------------------------===//

static MlirValue
writeConvolutionFilterGradient(LinalgWriter &w,
                               const ConvolutionFilterGradientNode &node) {
  const Type &type = node.getType();
  MlirValue gradient = w.getWide(node.getGradient());
  DimsRef in = node.getInput().getShape(), out = gradient.getShape();
  int64_t group = node.getGroup(), filters = out[3] / group;
  int64_t depth = type.getDim(3);
  // Rows at the end that no window reaches would not matter.
  MlirValue input = w.padImages(w.getWide(node.getInput()), node.getPads(), 0);
  input = w.reshape(
      input, {in[0], input.getShape()[1], input.getShape()[2], group, depth});
  gradient = w.reshape(gradient, {out[0], out[1], out[2], group, filters});
  // Groups, filters, taps, channels; images, pixels.
  LinalgWriter::Access inAccess = {
      input,
      {"d5", formatPixel(6, node.getStrides()[0], 2, node.getDilations()[0]),
       formatPixel(7, node.getStrides()[1], 3, node.getDilations()[1]), "d0",
       "d4"}};
  LinalgWriter::Access gradientAccess = {gradient,
                                         {"d5", "d6", "d7", "d0", "d1"}};
  Type grouped(gradient.getKind(),
               {group, filters, type.getDim(1), type.getDim(2), depth});
  LinalgWriter::Access result = {w.splat(grouped, 0),
                                 LinalgWriter::getLoopNames(5)};
  MlirValue sums = w.genericOne({.count = 8, .reduced = {5, 6, 7}},
                                {inAccess, gradientAccess}, result,
                                [](auto elements, auto sums) {
                                  return sums[0] + elements[0] * elements[1];
                                });
  return w.reshape(sums, type.getShape());
}
static const MlirForm filterGradient = writeConvolutionFilterGradient;
