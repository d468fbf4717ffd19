//===- MachineLearning.h - Operators of ai.onnx.ml --------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ONNX_OPS_MACHINELEARNING_H
#define GLOWISH_LIB_IMPORTER_ONNX_OPS_MACHINELEARNING_H

#include "ONNX/Extents.h"

namespace glowish::onnximport {

/// Returns input \p index, \p x, as [rows, features]: a vector is one row.
/// Numbers that are not double become float.
llvm::Expected<NodeValue> readRows(OpContext &op, NodeValue x,
                                   unsigned index = 0);
/// Returns an error unless attribute \p name has \p size elements, one for each
/// \p of.
llvm::Error checkSize(llvm::StringRef name, size_t size, size_t expected,
                      llvm::StringRef of);
/// Builds the constant of \p kind and \p shape with \p values.
NodeValue makeNumbers(NodeBuilder &b, ElemKind kind, DimsRef shape,
                      llvm::ArrayRef<double> values);
/// Builds the bool value of whether an element of \p x is NaN.
inline NodeValue isNaN(NodeBuilder &b, NodeValue x) {
  return x ? b.unary<NotNode>(b.equal(x, x)) : x;
}

//===- Linear models ------------------------------------------------------===//

/// Returns input 0, \p x, as [rows, features] of floats.
llvm::Expected<NodeValue> readFloatRows(OpContext &op, NodeValue x);
/// Builds \p rows times the transpose of \p weights, [columns, features], plus
/// \p bias, which may be null.
NodeValue multiply(NodeBuilder &b, NodeValue rows,
                   llvm::ArrayRef<double> weights, int64_t columns,
                   NodeValue bias = {});
/// Returns an error unless \p count elements of attribute \p name are \p rows
/// rows of the features of \p x.
llvm::Error checkCoefficients(llvm::StringRef name, size_t count, int64_t rows,
                              NodeValue x);

//===- Scores and labels --------------------------------------------------===//

/// The names of the transforms of scores.
bool isScoreTransform(llvm::StringRef name);
/// Returns attribute `post_transform`, the name of a transform of scores.
llvm::Expected<std::string> readTransform(OpContext &op);
/// Builds the transform \p name of each row of \p scores, [rows, classes].
NodeValue transformScores(NodeBuilder &b, NodeValue scores,
                          llvm::StringRef name);
/// Builds the same of \p targets, [rows, targets]. As in ONNX Runtime, a single
/// one is transformed by PROBIT only.
inline NodeValue transformTargets(NodeBuilder &b, NodeValue targets,
                                  llvm::StringRef name) {
  bool isSingle = targets && targets.getShape()[1] == 1;
  return isSingle && name != "PROBIT" ? targets
                                      : transformScores(b, targets, name);
}
/// Builds the scores of two classes of \p score, [rows, 1], that of the second
/// one: those of LOGISTIC for that transform, else 1 - score and score where
/// \p isProbability, and -score and score otherwise.
NodeValue addSecondClass(NodeBuilder &b, NodeValue score, bool isProbability,
                         llvm::StringRef transform);

/// The limit of classifiers in the list of operators.
inline constexpr llvm::StringLiteral stringLabelsLimit =
    "labels that are strings become their indices";
/// The labels of the classes of a classifier. Of strings they are the indices.
using ClassLabels = std::vector<int64_t>;
/// Reads the labels from attribute \p ints or `classlabels_strings`; warns of
/// strings.
llvm::Expected<ClassLabels> readLabels(OpContext &op, llvm::StringRef ints);
/// Builds the label of each index of \p indices, an int64.
NodeValue pickLabels(NodeBuilder &b, const ClassLabels &labels,
                     NodeValue indices);
/// Builds the label of the largest of each row of \p scores.
NodeValue pickLargest(NodeBuilder &b, const ClassLabels &labels,
                      NodeValue scores);
/// Builds one of two labels for each element of \p condition, [rows, 1].
NodeValue pickLabel(NodeBuilder &b, NodeValue condition, int64_t whenTrue,
                    int64_t whenFalse);

} // namespace glowish::onnximport

#endif // GLOWISH_LIB_IMPORTER_ONNX_OPS_MACHINELEARNING_H
