//===- Sums.cpp - Reductions, matmuls and windows in TOSA -----------------===//

#include "MLIR/Tosa/TosaWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

MlirValue TosaWriter::reduce(llvm::StringRef mode, const MlirValue &x,
                             IntsRef axes, bool keepDims) {
  Dims shape = getReducedShape(x.getShape(), axes, keepDims);
  if (x.type.getNumElements() == 0)
    return splat(x.type.withShape(shape), getReductionIdentity(mode));
  // Integers are compared as signed ones.
  if (isUnsignedKind(x.getKind()) && (mode == "max" || mode == "min"))
    return flipSign(reduce(mode, flipSign(x), axes, keepDims));
  MlirValue value = x;
  for (int64_t axis : axes) {
    Dims next(value.getShape());
    next[axis] = 1;
    value = tensorOp(("tosa.reduce_" + mode).str(), value,
                     value.type.withShape(next), formatTosaAxis(axis));
  }
  return reshape(value, shape);
}

MlirValue TosaWriter::matMul(const MlirValue &lhs, const MlirValue &rhs,
                             const Type &type) {
  return multiplyMatrices(lhs, rhs, type, "");
}

MlirValue TosaWriter::matMulBytes(const MlirValue &lhs, const MlirValue &rhs,
                                  int64_t lhsZero, int64_t rhsZero,
                                  const Type &type) {
  return multiplyMatrices(lhs, rhs, type,
                          " {quantization_info = #tosa.matmul_quant<a_zp = " +
                              llvm::Twine(lhsZero) +
                              ", b_zp = " + llvm::Twine(rhsZero) + ">}");
}

MlirValue TosaWriter::multiplyMatrices(const MlirValue &lhs,
                                       const MlirValue &rhs, const Type &type,
                                       const llvm::Twine &attributes) {
  if (type.getNumElements() == 0 || lhs.getShape().back() == 0)
    return splat(type, 0);
  DimsRef leading = type.getShape().drop_back(2);
  int64_t batch = countElements(leading);
  auto flatten = [&](const MlirValue &x) {
    Dims all(leading), flat = {batch};
    for (int64_t extent : x.getShape().take_back(2)) {
      all.push_back(extent);
      flat.push_back(extent);
    }
    return reshape(broadcast(x, all), flat);
  };
  MlirValue sums =
      tensorOp("tosa.matmul", {flatten(lhs), flatten(rhs)},
               type.withShape({batch, type.getShape().take_back(2)[0],
                               type.getShape().back()}),
               attributes);
  return reshape(sums, type.getShape());
}

//===- Windows ------------------------------------------------------------===//

/// One convolution for each group.
MlirValue TosaWriter::convolveGroups(const MlirConvolution &convolution,
                                     const Type &type) {
  DimsRef taps = convolution.filter.getShape();
  int64_t group = convolution.group, filters = taps[0] / group;
  auto take = [&](const MlirValue &x, unsigned axis, int64_t number,
                  int64_t size) {
    std::vector<int64_t> starts(x.getRank(), 0), sizes(x.getShape());
    std::vector<int64_t> steps(x.getRank(), 1);
    starts[axis] = number * size;
    sizes[axis] = size;
    return slice(x, starts, sizes, steps);
  };
  Dims shape(type.getShape());
  shape[3] = filters;
  MlirValues parts;
  for (int64_t i = 0; i < group; ++i) {
    MlirConvolution part = convolution;
    part.group = 1;
    part.input = take(convolution.input, 3, i, taps[3]);
    part.filter = take(convolution.filter, 0, i, filters);
    if (convolution.bias)
      part.bias = take(convolution.bias, 0, i, filters);
    parts.push_back(convolve(part, type.withShape(shape)));
  }
  return concat(parts, 3, type);
}

MlirValue TosaWriter::convolve(const MlirConvolution &convolution,
                               const Type &type) {
  bool isOfBytes = convolution.input.getKind() == ElemKind::Int8 &&
                   type.getKind() == ElemKind::Int32;
  if (!isFloatKind(type.getKind()) && !isOfBytes)
    return refuseValue("convolution of " + getElemKindName(type.getKind()),
                       type);
  MlirValue filter = convolution.filter;
  DimsRef taps = filter.getShape();
  int64_t group = convolution.group, filters = taps[0] / group;
  MlirValue bias =
      convolution.bias ? convolution.bias : splat(type.withShape({taps[0]}), 0);
  if (type.getNumElements() == 0 || taps[3] == 0)
    return broadcast(bias, type.getShape());
  bool isDepthwise = group > 1 && taps[3] == 1;
  if (group > 1 && !isDepthwise)
    return convolveGroups(convolution, type);
  if (isDepthwise)
    filter = transpose(reshape(filter, {group, filters, taps[1], taps[2]}),
                       {2, 3, 0, 1});
  MlirValue input = padImages(convolution.input, convolution.pads,
                              double(convolution.inputZero));
  std::string zeros =
      isOfBytes
          ? llvm::formatv(", quantization_info = #tosa.conv_quant<input_zp "
                          "= {0}, weight_zp = {1}>",
                          convolution.inputZero, convolution.filterZero)
                .str()
          : "";
  return tensorOp(isDepthwise ? "tosa.depthwise_conv2d" : "tosa.conv2d",
                  {input, filter, bias}, type,
                  " {dilation = " + formatArray(convolution.dilations) +
                      ", pad = array<i64: 0, 0, 0, 0>, stride = " +
                      formatArray(convolution.strides) + zeros + "}");
}

/// A mean of all taps, times their number, is their sum.
MlirValue TosaWriter::pool(llvm::StringRef mode, const MlirValue &x,
                           const Windows &window, const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  if (llvm::any_of(window.dilations, [](int64_t d) { return d != 1; }))
    return refuseValue("pooling with dilations", type);
  bool isMax = mode == "max";
  if (isMax && isUnsignedKind(type.getKind())) {
    MlirValue flipped = flipSign(x);
    return flipSign(
        pool(mode, flipped, window, type.withKind(flipped.getKind())));
  }
  bool isDouble = type.getKind() == ElemKind::Double;
  if (isDouble || !(isMax || isFloatKind(type.getKind())))
    return refuseValue("pooling of " + getElemKindName(type.getKind()), type);
  MlirValue pooled =
      tensorOp(isMax ? "tosa.max_pool2d" : "tosa.avg_pool2d", x, type,
               llvm::Twine(" {") + (isMax ? "" : "acc_type = f32, ") +
                   "kernel = " + formatArray(window.kernels) +
                   ", pad = array<i64: 0, 0, 0, 0>, stride = " +
                   formatArray(window.strides) + "}");
  if (isMax)
    return pooled;
  double taps = double(window.kernels[0] * window.kernels[1]);
  return mapSame(type.getKind(), {pooled},
                 [&](auto elements) { return elements[0] * taps; });
}

//===- Branches -----------------------------------------------------------===//

MlirValues TosaWriter::writeBranches(const IfNode &node,
                                     const MlirValue &condition) {
  auto writeOne = [&](const std::shared_ptr<Body> &body) {
    region("tosa.yield", [&] { return writeBranch(node, body); });
  };
  MlirValues results =
      beginOp(node.getTypes(), "tosa.cond_if " + condition.name + " -> (" +
                                   getTensorTypes(node.getTypes()) + ") {");
  isInBranch = true;
  writeOne(node.getThenBody());
  line("} else {");
  writeOne(node.getElseBody());
  isInBranch = false;
  line("}");
  return results;
}

/// Computes both branches and selects: LLVM 19's tosa-to-scf converts no
/// cond_if inside of another one.
MlirValues TosaWriter::selectBranch(const IfNode &node,
                                    const MlirValue &condition) {
  MlirValues thens = writeBranch(node, node.getThenBody());
  MlirValues elses = writeBranch(node, node.getElseBody());
  MlirValues results;
  for (auto [ours, theirs] : llvm::zip_equal(thens, elses)) {
    Dims ones(size_t(ours.type.getRank()), 1);
    results.push_back(tensorOp(
        "tosa.select", {reshape(condition, ones), ours, theirs}, ours.type));
  }
  return results;
}

MlirValues TosaWriter::writeIf(const IfNode &node) {
  MlirValue condition = reshape(get(node.getCondition()), {});
  return isInBranch ? selectBranch(node, condition)
                    : writeBranches(node, condition);
}

static const MlirForm ifForm = [](TosaWriter &w, const IfNode &node) {
  return w.writeIf(node);
};
