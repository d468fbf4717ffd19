//===- MachineLearning.cpp - Scores and labels of ai.onnx.ml --------------===//
//
// ONNX says little about scores of classifiers; the importers follow ONNX
// Runtime: write_scores() of its ml_common.h.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/MachineLearning.h"
#include "Common/MatMul.h"
#include "glowish/Support/Escape.h"
#include <cmath>
#include <numeric>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Expected<NodeValue> onnximport::readRows(OpContext &op, NodeValue x,
                                               unsigned index) {
  int64_t rank = int64_t(x.getShape().size());
  ElemKind kind = x.getElemKind();
  if (rank < 1 || rank > 2 || !(isFloatKind(kind) || isIntegerKind(kind)))
    return makeError("input {0} is {1}; accepted: numbers of rank 1 or 2",
                     index, x.getType().str());
  GLOWISH_RETURN_IF_ERROR(
      refuseExtents(x, index, {rank - 1},
                    "it is the number of features; accepted: a constant"));
  if (rank == 1)
    x = op.reshape(x, {1, x.getShape()[0]});
  if (kind != ElemKind::Double)
    x = op.cast(x, ElemKind::Float);
  return op.finish(x);
}

llvm::Error onnximport::checkSize(llvm::StringRef name, size_t size,
                                  size_t expected, llvm::StringRef of) {
  if (size == expected)
    return llvm::Error::success();
  return makeError("attribute '{0}' has {1} elements; accepted: {2}, one for "
                   "each {3}",
                   name, size, expected, of);
}

NodeValue onnximport::makeNumbers(NodeBuilder &b, ElemKind kind, DimsRef shape,
                                  llvm::ArrayRef<double> values) {
  // The table asks for the elements in their order.
  const double *next = values.data();
  return b.table(kind, shape, [&](DimsRef) { return *next++; });
}

//===- Linear models ------------------------------------------------------===//

llvm::Expected<NodeValue> onnximport::readFloatRows(OpContext &op,
                                                    NodeValue x) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readRows(op, x));
  return op.finish(op.cast(rows, ElemKind::Float));
}

NodeValue onnximport::multiply(NodeBuilder &b, NodeValue rows,
                               llvm::ArrayRef<double> weights, int64_t columns,
                               NodeValue bias) {
  int64_t features = int64_t(weights.size()) / columns;
  NodeValue matrix =
      b.table(ElemKind::Float, {features, columns}, [&](DimsRef index) {
        return weights[size_t(index[1] * features + index[0])];
      });
  return makeFullyConnected(
      b, rows, matrix, bias ? bias : b.splat(ElemKind::Float, {columns}, 0));
}

llvm::Error onnximport::checkCoefficients(llvm::StringRef name, size_t count,
                                          int64_t rows, NodeValue x) {
  int64_t features = x.getShape()[1];
  if (rows > 0 && int64_t(count) / rows == features &&
      int64_t(count) % rows == 0)
    return llvm::Error::success();
  return makeError("attribute '{0}' has {1} elements; accepted: {2} for each "
                   "of the {3} features of input 0",
                   name, count, rows, features);
}

//===- Scores -------------------------------------------------------------===//

bool onnximport::isScoreTransform(llvm::StringRef name) {
  return llvm::is_contained(
      {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}, name);
}

llvm::Expected<std::string> onnximport::readTransform(OpContext &op) {
  std::string name = op.getString("post_transform", "NONE");
  if (isScoreTransform(name))
    return name;
  return makeError("attribute 'post_transform' is '{0}'; accepted: NONE, "
                   "SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT",
                   name);
}

/// Builds the softmax of the elements that are not 0, which the others do not
/// count in.
static NodeValue makeSoftmaxZero(NodeBuilder &b, NodeValue x) {
  constexpr double nearZero = 1e-7f;
  NodeValue most = b.reduce(x, "max", {1}, true);
  NodeValue isCounted =
      b.logicalOr(b.greater(x, nearZero), b.less(x, -nearZero));
  NodeValue power = b.unary<ExpNode>(b.sub(x, most));
  NodeValue sum =
      b.reduce(b.select(isCounted, power, b.number(x, 0)), "sum", {1}, true);
  NodeValue rest = b.mul(x, b.unary<ExpNode>(b.sub(0, most)));
  return b.div(b.select(isCounted, power, rest), sum);
}

/// Builds sqrt(2) times the approximate inverse of erf(2 * x - 1).
static NodeValue makeProbit(NodeBuilder &b, NodeValue x) {
  constexpr double a = 0.147f;
  NodeValue y = b.sub(b.mul(x, 2), 1);
  NodeValue sign = b.select(b.less(y, 0), b.number(y, -1), b.number(y, 1));
  NodeValue log = b.unary<LogNode>(b.mul(b.sub(1, y), b.add(1, y)));
  NodeValue v = b.add(b.mul(log, 0.5), 2 / (float(M_PI) * a));
  NodeValue root = b.unary<SqrtNode>(b.sub(b.mul(v, v), b.mul(log, 1 / a)));
  return b.mul(b.mul(sign, b.unary<SqrtNode>(b.sub(root, v))), M_SQRT2);
}

NodeValue onnximport::transformScores(NodeBuilder &b, NodeValue scores,
                                      llvm::StringRef name) {
  if (!scores || name == "NONE")
    return scores;
  ElemKind kind = scores.getElemKind();
  NodeValue x = b.cast(scores, ElemKind::Float);
  if (name == "SOFTMAX")
    x = b.make<SoftmaxNode>(x, 1);
  else if (name == "SOFTMAX_ZERO")
    x = makeSoftmaxZero(b, x);
  else if (name == "LOGISTIC")
    x = b.unary<SigmoidNode>(x);
  else
    x = makeProbit(b, x);
  return b.cast(x, kind);
}

NodeValue onnximport::addSecondClass(NodeBuilder &b, NodeValue score,
                                     bool isProbability,
                                     llvm::StringRef transform) {
  if (isProbability && transform != "LOGISTIC")
    return b.concat({b.sub(1, score), score}, 1);
  NodeValue both = b.concat({b.sub(0, score), score}, 1);
  return transform == "LOGISTIC" ? transformScores(b, both, transform) : both;
}

//===- Labels -------------------------------------------------------------===//

llvm::Expected<ClassLabels> onnximport::readLabels(OpContext &op,
                                                   llvm::StringRef ints) {
  ClassLabels labels = op.getInts(ints, {});
  std::vector<std::string> names = op.getStrings("classlabels_strings");
  if (labels.empty() == names.empty())
    return makeError("attributes '{0}' and 'classlabels_strings' have {1} and "
                     "{2} labels; accepted: those of one of them",
                     ints, labels.size(), names.size());
  if (names.empty())
    return labels;
  labels.resize(names.size());
  std::iota(labels.begin(), labels.end(), 0);
  // An output that is not used is no label of anything.
  if (!op.wantsOutput(0))
    return labels;
  GLOWISH_RETURN_IF_ERROR(op.warn(
      "output " + quote(op.getOutputName(0)) +
      " is the index of the class, int64, as there are no strings: 0 is " +
      quote(names.front()) + ", " + std::to_string(names.size() - 1) + " is " +
      quote(names.back())));
  op.setClassNames(0, std::move(names));
  return labels;
}

NodeValue onnximport::pickLabels(NodeBuilder &b, const ClassLabels &labels,
                                 NodeValue indices) {
  bool areIndices = true;
  for (auto [i, label] : llvm::enumerate(labels))
    areIndices &= label == int64_t(i);
  return areIndices ? indices : b.gather(b.int64s(labels), indices, 0);
}

NodeValue onnximport::pickLargest(NodeBuilder &b, const ClassLabels &labels,
                                  NodeValue scores) {
  if (!scores)
    return scores;
  return pickLabels(b, labels,
                    b.make<ArgMaxNode>(scores, /*axis=*/1, /*keepDims=*/false,
                                       /*selectLast=*/false));
}

NodeValue onnximport::pickLabel(NodeBuilder &b, NodeValue condition,
                                int64_t whenTrue, int64_t whenFalse) {
  NodeValue label =
      b.select(condition, b.int64s({whenTrue}), b.int64s({whenFalse}));
  return label ? b.reshape(label, {label.getShape()[0]}) : label;
}
