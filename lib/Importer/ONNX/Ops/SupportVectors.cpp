//===- SupportVectors.cpp - Import of support vector machines -------------===//
//
// SVMClassifier and SVMRegressor of ai.onnx.ml. What ONNX leaves open about
// labels and scores is as ONNX Runtime has it: svmclassifier.cc.
//
//===----------------------------------------------------------------------===//

#include "Common/OpenBody.h"
#include "Common/Positions.h"
#include "ONNX/Ops/MachineLearning.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

namespace {

/// The attributes that both operators of support vectors have.
struct SupportVectors {
  std::string kernel;
  double gamma = 0, offset = 0, degree = 0;
  /// [vectors, features].
  std::vector<double> vectors, coefficients, rho;

  static llvm::Expected<SupportVectors> read(OpContext &op);
  NodeValue compare(OpContext &op, NodeValue rows, int64_t numVectors) const;

private:
  NodeValue getDistances(OpContext &op, NodeValue rows,
                         int64_t numVectors) const;
};

} // namespace

llvm::Expected<SupportVectors> SupportVectors::read(OpContext &op) {
  SupportVectors s;
  s.kernel = op.getString("kernel_type", "LINEAR");
  s.vectors = op.getFloats("support_vectors");
  s.coefficients = op.getFloats("coefficients");
  s.rho = op.getFloats("rho");
  std::vector<double> parameters = op.getFloats("kernel_params");
  if (!llvm::is_contained({"LINEAR", "POLY", "RBF", "SIGMOID"}, s.kernel))
    return makeError("attribute 'kernel_type' is '{0}'; accepted: LINEAR, "
                     "POLY, RBF, SIGMOID",
                     s.kernel);
  if (!parameters.empty() && parameters.size() != 3)
    return makeError("attribute 'kernel_params' has {0} elements; accepted: 3, "
                     "gamma, coef0 and degree",
                     parameters.size());
  if (!parameters.empty()) {
    s.gamma = parameters[0];
    s.offset = parameters[1];
    s.degree = parameters[2];
  }
  if (s.rho.empty())
    return makeError("attribute 'rho' has no elements; accepted: one at least");
  return std::move(s);
}

/// Builds the squared distances of rows from vectors: sums in the order of the
/// features, or of matmuls of doubles, which keep what is left of
/// large squares.
NodeValue SupportVectors::getDistances(OpContext &op, NodeValue rows,
                                       int64_t numVectors) const {
  int64_t numFeatures = rows.getShape()[1];
  constexpr int64_t mostTerms = 64;
  if (numFeatures <= mostTerms) {
    NodeValue sum;
    for (int64_t f = 0; f < numFeatures; ++f) {
      NodeValue own =
          op.table(ElemKind::Float, {1, numVectors}, [&](DimsRef index) {
            return vectors[size_t(index[1] * numFeatures + f)];
          });
      NodeValue difference = op.sub(op.slice(rows, 1, f, 1), own);
      NodeValue square = op.mul(difference, difference);
      sum = sum ? op.add(sum, square) : square;
    }
    return sum;
  }
  NodeValue x = op.cast(rows, ElemKind::Double);
  NodeValue y =
      op.table(ElemKind::Double, {numFeatures, numVectors}, [&](DimsRef index) {
        return vectors[size_t(index[1] * numFeatures + index[0])];
      });
  NodeValue squares = op.add(op.reduce(op.mul(x, x), "sum", {1}, true),
                             op.reduce(op.mul(y, y), "sum", {0}, true));
  return op.cast(op.sub(squares, op.mul(op.matMul(x, y), 2)), ElemKind::Float);
}

/// Builds the kernel of each row and each vector, [rows, vectors].
NodeValue SupportVectors::compare(OpContext &op, NodeValue rows,
                                  int64_t numVectors) const {
  if (kernel == "RBF")
    return op.unary<ExpNode>(
        op.mul(getDistances(op, rows, numVectors), -gamma));
  NodeValue x = multiply(op, rows, vectors, numVectors);
  if (kernel == "LINEAR")
    return x;
  x = op.add(op.mul(x, gamma), offset);
  if (kernel == "SIGMOID")
    return op.unary<TanhNode>(x);
  return op.pow(x, degree);
}

static llvm::Error importSVMRegressor(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readFloatRows(op, input));
  GLOWISH_ASSIGN_OR_RETURN(SupportVectors s, SupportVectors::read(op));
  GLOWISH_ASSIGN_OR_RETURN(std::string transform, readTransform(op));
  int64_t numVectors = op.getInt("n_supports", 0);
  bool isOneClass = op.getInt("one_class", 0) != 0;
  if (transform != "NONE")
    return makeError("attribute 'post_transform' is '{0}'; accepted: NONE",
                     transform);
  if (numVectors < 0)
    return makeError("attribute 'n_supports' is {0}; accepted: 0 or more",
                     numVectors);
  NodeValue x = rows;
  if (numVectors) {
    GLOWISH_RETURN_IF_ERROR(checkCoefficients(
        "support_vectors", s.vectors.size(), numVectors, rows));
    GLOWISH_RETURN_IF_ERROR(checkSize("coefficients", s.coefficients.size(),
                                      size_t(numVectors), "vector"));
    x = s.compare(op, rows, numVectors);
  } else {
    GLOWISH_RETURN_IF_ERROR(
        checkCoefficients("coefficients", s.coefficients.size(), 1, rows));
  }
  NodeValue result =
      multiply(op, x, s.coefficients, 1,
               makeNumbers(op, ElemKind::Float, {1}, {s.rho[0]}));
  if (isOneClass)
    result = op.select(op.greater(result, 0), op.number(result, 1),
                       op.number(result, -1));
  return op.setOutput(0, result);
}

namespace {

/// Makes the outputs of an SVMClassifier.
class VectorClassifier {
public:
  VectorClassifier(OpContext &op, NodeValue rows, SupportVectors vectors,
                   ClassLabels labels, std::string transform)
      : op(op), rows(rows), vectors(std::move(vectors)),
        labels(std::move(labels)), transform(std::move(transform)),
        numClasses(int64_t(this->labels.size())),
        numPairs(numClasses * (numClasses - 1) / 2) {}

  llvm::Error importLinear();
  llvm::Error importPairs(llvm::ArrayRef<int64_t> vectorsPerClass);

private:
  llvm::Error checkPairs(llvm::ArrayRef<int64_t> vectorsPerClass);
  NodeValue scorePairs(llvm::ArrayRef<int64_t> vectorsPerClass);
  NodeValue countVotes(NodeValue scores);
  NodeValue makePairProbabilities(NodeValue scores);

  OpContext &op;
  NodeValue rows;
  SupportVectors vectors;
  ClassLabels labels;
  std::string transform;
  int64_t numClasses, numPairs;
  std::vector<double> probA, probB;
};

} // namespace

/// Without vectors, the coefficients are a linear classifier.
llvm::Error VectorClassifier::importLinear() {
  GLOWISH_RETURN_IF_ERROR(checkCoefficients(
      "coefficients", vectors.coefficients.size(), numClasses, rows));
  NodeValue rho = op.splat(ElemKind::Float, {numClasses}, vectors.rho[0]);
  NodeValue scores = multiply(op, rows, vectors.coefficients, numClasses, rho);
  NodeValue label = pickLargest(op, labels, scores);
  if (numClasses == 2 && !op.hasAttr("prob_a")) {
    bool arePositive =
        llvm::all_of(vectors.coefficients, [](double x) { return x >= 0; });
    NodeValue most = op.reduce(scores, "max", {1}, false);
    NodeValue isSecond =
        arePositive ? op.greaterOrEqual(most, 0.5) : op.greater(most, 0);
    label = op.select(isSecond, op.int64s({labels[1]}), label);
  }
  op.ignoreAttrs({"prob_a", "prob_b"});
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, label));
  return op.setOutput(1, transformScores(op, scores, transform));
}

llvm::Error
VectorClassifier::checkPairs(llvm::ArrayRef<int64_t> vectorsPerClass) {
  GLOWISH_RETURN_IF_ERROR(checkSize("vectors_per_class", vectorsPerClass.size(),
                                    labels.size(), "class"));
  int64_t numVectors = 0;
  for (int64_t count : vectorsPerClass) {
    if (count < 0 || count > INT32_MAX)
      return makeError("attribute 'vectors_per_class' has {0}; accepted: 0 or "
                       "more",
                       count);
    numVectors += count;
  }
  GLOWISH_RETURN_IF_ERROR(checkCoefficients(
      "support_vectors", vectors.vectors.size(), numVectors, rows));
  if (int64_t(vectors.coefficients.size()) != (numClasses - 1) * numVectors)
    return makeError("attribute 'coefficients' has {0} elements; accepted: {1} "
                     "for each of the {2} vectors",
                     vectors.coefficients.size(), numClasses - 1, numVectors);
  probA = op.getFloats("prob_a");
  probB = op.getFloats("prob_b");
  GLOWISH_RETURN_IF_ERROR(checkSize("rho", vectors.rho.size(), size_t(numPairs),
                                    "pair of classes"));
  if (!probA.empty() || !probB.empty()) {
    GLOWISH_RETURN_IF_ERROR(
        checkSize("prob_a", probA.size(), size_t(numPairs), "pair of classes"));
    GLOWISH_RETURN_IF_ERROR(
        checkSize("prob_b", probB.size(), size_t(numPairs), "pair of classes"));
  }
  return llvm::Error::success();
}

/// Builds the score of each pair of classes, [rows, pairs]. For each vector of
/// a class there is a coefficient for each other class.
NodeValue
VectorClassifier::scorePairs(llvm::ArrayRef<int64_t> vectorsPerClass) {
  std::vector<int64_t> classes;
  for (auto [index, count] : llvm::enumerate(vectorsPerClass))
    classes.insert(classes.end(), size_t(count), int64_t(index));
  int64_t numVectors = int64_t(classes.size());
  std::vector<double> weights(size_t(numPairs * numVectors), 0);
  int64_t pair = 0;
  for (int64_t i = 0; i < numClasses; ++i)
    for (int64_t j = i + 1; j < numClasses; ++j, ++pair)
      for (int64_t v = 0; v < numVectors; ++v)
        if (classes[size_t(v)] == i || classes[size_t(v)] == j)
          weights[size_t(pair * numVectors + v)] = vectors.coefficients[size_t(
              (classes[size_t(v)] == i ? j - 1 : i) * numVectors + v)];
  return multiply(op, vectors.compare(op, rows, numVectors), weights, numPairs,
                  makeNumbers(op, ElemKind::Float, {numPairs}, vectors.rho));
}

/// Builds how many pairs each class wins, [rows, classes].
NodeValue VectorClassifier::countVotes(NodeValue scores) {
  NodeValue isFirst = op.cast(op.greater(scores, 0), ElemKind::Float);
  std::vector<double> ofFirst(size_t(numClasses * numPairs), 0);
  std::vector<double> lost(size_t(numClasses), 0);
  int64_t pair = 0;
  for (int64_t i = 0; i < numClasses; ++i)
    for (int64_t j = i + 1; j < numClasses; ++j, ++pair) {
      ofFirst[size_t(i * numPairs + pair)] = 1;
      ofFirst[size_t(j * numPairs + pair)] = -1;
      ++lost[size_t(j)];
    }
  return multiply(op, isFirst, ofFirst, numClasses,
                  makeNumbers(op, ElemKind::Float, {numClasses}, lost));
}

/// Builds the probabilities of the pairs, that the first one is right.
NodeValue VectorClassifier::makePairProbabilities(NodeValue scores) {
  NodeValue a = makeNumbers(op, ElemKind::Float, {1, numPairs}, probA);
  NodeValue b = makeNumbers(op, ElemKind::Float, {1, numPairs}, probB);
  NodeValue x = op.add(op.mul(scores, a), b);
  return op.clip(op.unary<SigmoidNode>(op.sub(0, x)), 1e-7f, 1 - 1e-7f);
}

namespace {

/// Finds the probabilities of classes that fit those of their pairs by LIBSVM's
/// iteration (Wu, Lin and Weng, Probability Estimates for Multi-class
/// Classification by Pairwise Coupling, 2004; algorithm 2).
class PairwiseCoupling {
public:
  PairwiseCoupling(OpContext &b, int64_t numClasses)
      : b(b), numClasses(numClasses) {}

  /// Builds the probabilities of \p pairs, [rows, pairs].
  NodeValue build(NodeValue pairs);

private:
  NodeValue makeMatrix(NodeValue pairs);
  /// Builds the result of an iteration of \p p, [rows, classes]. Sets \p isOpen
  /// to whether each row is changed by it.
  NodeValue step(NodeBuilder &in, NodeValue matrix, NodeValue p,
                 NodeValue &isOpen) const;

  OpContext &b;
  int64_t numClasses;
};

} // namespace

/// Builds the matrices Q of the rows, [rows, classes * classes]: the element of
/// classes i and j is -r[j, i] * r[i, j], where r[i, j] is the probability of i
/// in the pair of both, and that of i and i the sum of all r[j, i]^2.
NodeValue PairwiseCoupling::makeMatrix(NodeValue pairs) {
  auto place = [&](int64_t i, int64_t j) { return i * numClasses + j; };
  std::vector<NodeValue> r(size_t(numClasses * numClasses)), columns(r.size());
  int64_t pair = 0;
  for (int64_t i = 0; i < numClasses; ++i)
    for (int64_t j = i + 1; j < numClasses; ++j, ++pair) {
      r[place(i, j)] = b.slice(pairs, 1, pair, 1);
      r[place(j, i)] = b.sub(1, r[place(i, j)]);
    }
  for (int64_t i = 0; i < numClasses; ++i)
    for (int64_t j = 0; j < numClasses; ++j) {
      if (i == j)
        continue;
      NodeValue square = b.mul(r[place(j, i)], r[place(j, i)]);
      NodeValue &own = columns[place(i, i)];
      own = own ? b.add(own, square) : square;
      columns[place(i, j)] = b.sub(0, b.mul(r[place(j, i)], r[place(i, j)]));
    }
  return b.concat(columns, 1);
}

NodeValue PairwiseCoupling::step(NodeBuilder &in, NodeValue matrix, NodeValue p,
                                 NodeValue &isOpen) const {
  auto takeRow = [&](int64_t i) {
    return in.slice(matrix, 1, i * numClasses, numClasses);
  };
  auto sum = [&](NodeValue x) { return in.reduce(x, "sum", {1}, true); };
  std::vector<NodeValue> rowSums;
  for (int64_t i = 0; i < numClasses; ++i)
    rowSums.push_back(sum(in.mul(takeRow(i), p)));
  NodeValue qp = in.concat(rowSums, 1);
  NodeValue pqp = sum(in.mul(p, qp));
  NodeValue error =
      in.reduce(in.unary<AbsNode>(in.sub(qp, pqp)), "max", {1}, true);
  isOpen = in.greaterOrEqual(error, 0.005f / double(numClasses));
  NodeValue next = p;
  for (int64_t i = 0; i < numClasses; ++i) {
    NodeValue own = in.slice(takeRow(i), 1, i, 1);
    NodeValue ownSum = in.slice(qp, 1, i, 1);
    NodeValue change = in.div(in.sub(pqp, ownSum), own);
    NodeValue scale = in.add(change, 1);
    NodeValue isClass =
        in.table(ElemKind::Float, {1, numClasses},
                 [&](DimsRef index) { return double(index[1] == i); });
    next = in.div(in.add(next, in.mul(change, isClass)), scale);
    NodeValue square =
        in.mul(change, in.add(in.mul(change, own), in.mul(ownSum, 2)));
    pqp = in.div(in.div(in.add(pqp, square), scale), scale);
    qp = in.div(in.add(qp, in.mul(change, takeRow(i))), scale);
  }
  return in.select(isOpen, next, p);
}

NodeValue PairwiseCoupling::build(NodeValue pairs) {
  if (!pairs)
    return pairs;
  std::optional<Extent> numRows = findExtent(pairs, 0);
  NodeValue matrix = makeMatrix(b.dropExtents(pairs));
  int64_t rows = pairs.getShape()[0];
  NodeValue start =
      b.splat(ElemKind::Float, {rows, numClasses}, 1 / double(numClasses));
  if (!matrix || !start || rows == 0)
    return start;
  OpenBody loop(b.getFunction().getModule(), "body");
  loop.addParameter("iteration", Type(ElemKind::Int64, {}));
  loop.addParameter("condition", Type(ElemKind::Bool, {}));
  NodeValue p = loop.addParameter("p", start.getType());
  NodeValue captured = loop.enter(matrix);
  NodeBuilder inside(loop.getFunction(), b.getName());
  NodeValue isOpen;
  NodeValue next = step(inside, captured, p, isOpen);
  NodeValue isAnyOpen = inside.greater(
      inside.reduce(inside.cast(isOpen, ElemKind::Int32), "max", {0, 1},
                    /*keepDims=*/false),
      0);
  if (inside.hasFailed())
    return b.keep(inside.takeError());
  loop.getFunction().addResult("next", isAnyOpen);
  loop.getFunction().addResult("next", next);
  std::vector<NodeValue> values{start};
  llvm::append_range(values, loop.getCaptures());
  constexpr int64_t maxTripCount = 100;
  NodeValue found = b.make<LoopNode>(
      b.scalar(ElemKind::Int64, double(maxTripCount)), NodeValue(),
      loop.getAttr(), /*numStates=*/1, maxTripCount, values);
  return restateExtents(b, found, {numRows, {}});
}

llvm::Error
VectorClassifier::importPairs(llvm::ArrayRef<int64_t> vectorsPerClass) {
  GLOWISH_RETURN_IF_ERROR(checkPairs(vectorsPerClass));
  NodeValue scores = scorePairs(vectorsPerClass);
  GLOWISH_RETURN_IF_ERROR(
      op.setOutput(0, pickLargest(op, labels, countVotes(scores))));
  if (!probA.empty()) {
    NodeValue probabilities =
        PairwiseCoupling(op, numClasses).build(makePairProbabilities(scores));
    return op.setOutput(1, transformScores(op, probabilities, transform));
  }
  if (numClasses > 2)
    return op.setOutput(1, transformScores(op, scores, transform));
  if (transform == "PROBIT")
    return makeError("attribute 'post_transform' is 'PROBIT' for two classes "
                     "with one score; accepted: the others");
  return op.setOutput(1, addSecondClass(op, scores,
                                        /*isProbability=*/transform != "NONE",
                                        transform));
}

static llvm::Error importSVMClassifier(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readFloatRows(op, input));
  GLOWISH_ASSIGN_OR_RETURN(ClassLabels labels,
                           readLabels(op, "classlabels_ints"));
  GLOWISH_ASSIGN_OR_RETURN(std::string transform, readTransform(op));
  GLOWISH_ASSIGN_OR_RETURN(SupportVectors vectors, SupportVectors::read(op));
  std::vector<int64_t> vectorsPerClass = op.getInts("vectors_per_class", {});
  if (labels.size() < 2 || labels.size() > 65535)
    return makeError("there are {0} classes; accepted: 2 to 65535",
                     labels.size());
  VectorClassifier classifier(op, rows, std::move(vectors), std::move(labels),
                              std::move(transform));
  bool isLinear =
      llvm::all_of(vectorsPerClass, [](int64_t count) { return count == 0; });
  return isLinear ? classifier.importLinear()
                  : classifier.importPairs(vectorsPerClass);
}

static OnnxOperator svmRegressorOp("SVMRegressor", 1,
                                   withExtents<importSVMRegressor>,
                                   machineLearningDomain);
static OnnxOperator svmClassifierOp("SVMClassifier", 1,
                                    withExtents<importSVMClassifier>,
                                    machineLearningDomain);

static OnnxOperatorNotes svmClassifierNotes("SVMClassifier",
                                            {.limit = stringLabelsLimit},
                                            machineLearningDomain);
