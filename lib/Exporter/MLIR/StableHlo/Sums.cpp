//===- Sums.cpp - Reductions, matmuls and windows in StableHLO ------------===//

#include "MLIR/StableHlo/StableHloWriter.h"
#include <cmath>

using namespace glowish;

/// The operation of a mode of Reduce.
static llvm::StringRef getHloReduction(llvm::StringRef mode) {
  if (mode == "max" || mode == "min")
    return mode == "max" ? "stablehlo.maximum" : "stablehlo.minimum";
  return mode == "prod" ? "stablehlo.multiply" : "stablehlo.add";
}

MlirValue StableHloWriter::reduce(llvm::StringRef mode, const MlirValue &x,
                                  IntsRef axes, bool keepDims) {
  double identity = getReductionIdentity(mode);
  Type type =
      x.type.withShape(getReducedShape(x.getShape(), axes, /*keepDims=*/false));
  Dims shape = getReducedShape(x.getShape(), axes, keepDims);
  if (x.type.getNumElements() == 0)
    return splat(x.type.withShape(shape), identity);
  MlirValue start = splat(Type(x.getKind(), {}), identity);
  MlirValue result =
      op(type, "stablehlo.reduce(" + x.name + " init: " + start.name +
                   ") applies " + getHloReduction(mode) +
                   " across dimensions = [" + formatList(axes) + "] : (" +
                   getHloType(x.type) + ", " + getHloType(start.type) +
                   ") -> " + getHloType(type));
  return reshape(result, shape);
}

/// Of two elements with their indices the one that comes first in the order of
/// ArgMax, whichever of them is the first operand.
static std::vector<MlirScalar> chooseLarger(llvm::ArrayRef<MlirScalar> pairs,
                                            bool selectLast) {
  const MlirScalar &x = pairs[0], &i = pairs[1], &y = pairs[2], &k = pairs[3];
  MlirScalar isBehind = selectLast ? i < k : k < i;
  MlirScalar isBetter = x < y || (x == y && isBehind);
  if (isFloatKind(x.kind)) {
    // NaN is greater than all numbers, and equal to NaN.
    MlirScalar isFirstNaN = !(x == x), isSecondNaN = !(y == y);
    isBetter = isBetter || (isSecondNaN && (!isFirstNaN || isBehind));
  }
  return {select(isBetter, y, x), select(isBetter, k, i)};
}

MlirValue StableHloWriter::argMax(const MlirValue &x, int64_t axis,
                                  bool selectLast, const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  constexpr ElemKind indexKind = ElemKind::Int64;
  // A start that each element comes before.
  MlirValue value = splat(Type(x.getKind(), {}), getReductionIdentity("max"));
  MlirValue index =
      splat(Type(indexKind, {}), selectLast ? -HUGE_VAL : HUGE_VAL);
  Type found =
      x.type.withShape(getReducedShape(x.getShape(), axis, /*keepDims=*/false));
  MlirValues results =
      computeOp("stablehlo.reduce",
                {x, iota(x.type.withKind(indexKind), axis), value, index},
                "dimensions = " + formatArray(axis),
                {x.getKind(), indexKind, x.getKind(), indexKind},
                [&](auto pairs) { return chooseLarger(pairs, selectLast); },
                {found, found.withKind(indexKind)});
  return reshape(results[1], type.getShape());
}

//===- Sums of products ---------------------------------------------------===//

MlirValue StableHloWriter::matMul(const MlirValue &lhs, const MlirValue &rhs,
                                  const Type &type) {
  if (type.getNumElements() == 0 || lhs.getShape().back() == 0)
    return splat(type, 0);
  // The rows of all matrices, where the other operand is one matrix.
  bool isBatched = rhs.getRank() > 2;
  DimsRef leading = type.getShape().drop_back(2);
  auto prepare = [&](const MlirValue &x) {
    Dims all(leading);
    llvm::append_range(all, x.getShape().take_back(2));
    return cast(isBatched ? broadcast(x, all) : x, type.getKind());
  };
  MlirValue left = prepare(lhs), right = prepare(rhs);
  std::vector<int64_t> batch;
  for (size_t d = 0; isBatched && d < leading.size(); ++d)
    batch.push_back(int64_t(d));
  std::string dims = formatList(batch);
  return tensorOp(
      "stablehlo.dot_general", {left, right}, type,
      (batch.empty() ? ""
                     : ", batching_dims = [" + dims + "] x [" + dims + "]") +
          ", contracting_dims = [" + std::to_string(left.getRank() - 1) +
          "] x [" + std::to_string(right.getRank() - 2) + "]");
}

//===- Windows ------------------------------------------------------------===//

MlirValue StableHloWriter::convolution(const MlirValue &lhs,
                                       const MlirValue &rhs,
                                       llvm::StringRef dimensions,
                                       const MlirConvolution &attributes,
                                       int64_t batchGroups, const Type &type) {
  IntsRef pads = attributes.pads;
  std::string text =
      llvm::formatv(
          " dim_numbers = {0}, window = {{stride = [{1}], pad = [[{2}, {3}], "
          "[{4}, {5}]], rhs_dilate = [{6}]} {{batch_group_count = {7} : i64, "
          "feature_group_count = {8} : i64}",
          dimensions, formatList(attributes.strides), pads[0], pads[2], pads[1],
          pads[3], formatList(attributes.dilations), batchGroups,
          attributes.group)
          .str();
  return op(type, "stablehlo.convolution(" + lhs.name + ", " + rhs.name + ")" +
                      text + " : (" + getHloType(lhs.type) + ", " +
                      getHloType(rhs.type) + ") -> " + getHloType(type));
}

MlirValue StableHloWriter::convolve(const MlirConvolution &attributes,
                                    const Type &type) {
  const MlirValue &bias = attributes.bias;
  bool isEmpty =
      type.getNumElements() == 0 || attributes.filter.getShape()[3] == 0;
  if (isEmpty)
    return bias ? broadcast(bias, type.getShape()) : splat(type, 0);
  MlirValue sums = convolution(cast(attributes.input, type.getKind()),
                               cast(attributes.filter, type.getKind()),
                               "[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]",
                               attributes, /*batchGroups=*/1, type);
  return bias ? add(sums, bias) : sums;
}

MlirValue StableHloWriter::pool(llvm::StringRef mode, const MlirValue &x,
                                const Windows &window, const Type &type) {
  if (type.getNumElements() == 0)
    return splat(type, 0);
  auto format = [](llvm::StringRef name, IntsRef values) {
    return (name + " = " + formatArray({1, values[0], values[1], 1})).str();
  };
  MlirValue start = splat(Type(x.getKind(), {}), getReductionIdentity(mode));
  return computeOp(
             "stablehlo.reduce_window", {x, start},
             format("window_dimensions", window.kernels) + ", " +
                 format("window_strides", window.strides) + ", " +
                 format("window_dilations", window.dilations),
             {x.getKind(), x.getKind()},
             [&](auto elements) -> std::vector<MlirScalar> {
               return {combineElements(mode, elements[0], elements[1])};
             },
             type)
      .front();
}
