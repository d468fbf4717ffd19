//===- Trees.cpp - Types of decision trees --------------------------------===//

#include "glowish/Ops/TypeRuleHelpers.h"
#include <numeric>

using namespace glowish;
using namespace glowish::typerules;
using llvm::Error;
using llvm::Twine;

/// Checks that the nodes that node \p node of \p op goes on to lie behind it,
/// so that each way ends at a leaf, and that it reads columns and rows that
/// exist.
static Error checkNode(const TreeEnsembleView &op, size_t node,
                       int64_t numLeaves) {
  int64_t feature = op.getFeatures()[node], child = op.getChildren()[node];
  int64_t numNodes = int64_t(op.getFeatures().size());
  int64_t numFeatures = op.getInput().getDim(1);
  if (feature < -1 || feature >= numFeatures)
    return op.attrError("features", "node " + Twine(node) + " has column " +
                                        Twine(feature) + " of " +
                                        Twine(numFeatures));
  if (feature == -1) {
    if (child >= 0 && child < numLeaves)
      return Error::success();
    return op.attrError("children", "leaf " + Twine(node) + " has row " +
                                        Twine(child) + " of " +
                                        Twine(numLeaves));
  }
  if (child > int64_t(node) && child < numNodes - 1)
    return Error::success();
  return op.attrError("children", "those of node " + Twine(node) + " are " +
                                      Twine(child) +
                                      " and the next one; expected two of " +
                                      Twine(numNodes) + " nodes behind it");
}

/// Checks the groups of trees, and returns how many trees they have.
static llvm::Expected<int64_t> countTrees(const TreeEnsembleView &op) {
  int64_t count = 0;
  for (int64_t size : op.getGroups()) {
    if (size < 0 || size > INT32_MAX)
      return op.attrError("groups", Twine(size) + " trees");
    count += size;
  }
  return count;
}

llvm::Expected<TypeList> glowish::inferTreeEnsemble(const OpView &view) {
  TreeEnsembleView op(view);
  const Type &input = op.getInput();
  if (input.getKind() != ElemKind::Float && input.getKind() != ElemKind::Double)
    return op.operandError(op.inputIdx, "expected float or double");
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.inputIdx, 2));
  GLOWISH_RETURN_IF_ERROR(checkRank(op, op.valuesIdx, 1));
  GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.valuesIdx, op.inputIdx));
  int64_t numLeaves = 1, width = 1;
  if (op.hasInput(op.weightsIdx)) {
    GLOWISH_RETURN_IF_ERROR(checkRank(op, op.weightsIdx, 2));
    GLOWISH_RETURN_IF_ERROR(checkSameKind(op, op.weightsIdx, op.inputIdx));
    numLeaves = op.getWeights().getDim(0);
    width = op.getWeights().getDim(1);
  }
  size_t numNodes = size_t(op.getValues().getDim(0));
  GLOWISH_RETURN_IF_ERROR(
      checkLength(op, "features", op.getFeatures(), numNodes));
  GLOWISH_RETURN_IF_ERROR(
      checkLength(op, "children", op.getChildren(), numNodes));
  if (numNodes > INT32_MAX || numLeaves > INT32_MAX)
    return op.operandError(op.valuesIdx, "expected fewer nodes");
  for (size_t node = 0; node < numNodes; ++node)
    GLOWISH_RETURN_IF_ERROR(checkNode(op, node, numLeaves));
  for (int64_t root : op.getRoots())
    if (root < 0 || root >= int64_t(numNodes))
      return op.attrError("roots",
                          Twine(root) + " is no node of " + Twine(numNodes));
  GLOWISH_ASSIGN_OR_RETURN(int64_t numTrees, countTrees(op));
  GLOWISH_RETURN_IF_ERROR(
      checkLength(op, "roots", op.getRoots(), size_t(numTrees)));
  return makeResult(input.getKind(),
                    {input.getDim(0), int64_t(op.getGroups().size()) * width});
}
