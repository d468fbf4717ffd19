//===- LinearModels.cpp - Import of linear models -------------------------===//
//
// LinearClassifier and LinearRegressor of ai.onnx.ml. What ONNX leaves open
// about labels and scores is as ONNX Runtime has it.
//
//===----------------------------------------------------------------------===//

#include "ONNX/Ops/MachineLearning.h"
#include "glowish/Importer/OperatorNotes.h"

using namespace glowish;
using namespace glowish::onnximport;

static llvm::Error importLinearRegressor(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readFloatRows(op, input));
  GLOWISH_ASSIGN_OR_RETURN(std::string transform, readTransform(op));
  std::vector<double> coefficients = op.getFloats("coefficients");
  std::vector<double> intercepts = op.getFloats("intercepts");
  int64_t targets = op.getInt("targets", 1);
  GLOWISH_RETURN_IF_ERROR(
      checkCoefficients("coefficients", coefficients.size(), targets, rows));
  if (intercepts.empty())
    intercepts.assign(size_t(targets), 0);
  GLOWISH_RETURN_IF_ERROR(
      checkSize("intercepts", intercepts.size(), size_t(targets), "target"));
  NodeValue result =
      multiply(op, rows, coefficients, targets,
               makeNumbers(op, ElemKind::Float, {targets}, intercepts));
  return op.setOutput(0, transformTargets(op, result, transform));
}

static llvm::Error importLinearClassifier(OpContext &op, NodeValue input) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue rows, readFloatRows(op, input));
  GLOWISH_ASSIGN_OR_RETURN(ClassLabels labels,
                           readLabels(op, "classlabels_ints"));
  GLOWISH_ASSIGN_OR_RETURN(std::string transform, readTransform(op));
  std::vector<double> coefficients = op.getFloats("coefficients");
  std::vector<double> intercepts = op.getFloats("intercepts");
  // Whether there is one classifier for each class is in the other attributes.
  op.ignoreAttrs({"multi_class"});
  int64_t features = std::max<int64_t>(rows.getShape()[1], 1);
  if (intercepts.empty())
    intercepts.assign(coefficients.size() / size_t(features), 0);
  int64_t numScores = int64_t(intercepts.size());
  GLOWISH_RETURN_IF_ERROR(
      checkCoefficients("coefficients", coefficients.size(), numScores, rows));
  NodeValue scores =
      multiply(op, rows, coefficients, numScores,
               makeNumbers(op, ElemKind::Float, {numScores}, intercepts));
  if (numScores > 1) {
    GLOWISH_RETURN_IF_ERROR(
        checkSize("intercepts", intercepts.size(), labels.size(), "class"));
    GLOWISH_RETURN_IF_ERROR(op.setOutput(0, pickLargest(op, labels, scores)));
    return op.setOutput(1, transformScores(op, scores, transform));
  }
  if (labels.size() != 2)
    return makeError("there are {0} classes and one score; accepted: two "
                     "classes, or a score for each",
                     labels.size());
  if (transform == "PROBIT")
    return makeError("attribute 'post_transform' is 'PROBIT' for two classes "
                     "with one score; accepted: the others");
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, pickLabel(op, op.greater(scores, 0), labels[1], labels[0])));
  return op.setOutput(
      1, addSecondClass(op, scores, /*isProbability=*/true, transform));
}

static OnnxOperator linearRegressorOp("LinearRegressor", 1,
                                      withExtents<importLinearRegressor>,
                                      machineLearningDomain);
static OnnxOperator linearClassifierOp("LinearClassifier", 1,
                                       withExtents<importLinearClassifier>,
                                       machineLearningDomain);

static OnnxOperatorNotes linearClassifierNotes("LinearClassifier",
                                               {.limit = stringLabelsLimit},
                                               machineLearningDomain);
