//===- AtenMatMuls.cpp - Operators that multiply and add as ATen's --------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

static AtenArg transposeMatrix(AtenBuilder &b, const AtenArg &x) {
  AtenTensorType type = b.getType(x);
  std::swap(type.dims[0], type.dims[1]);
  return b.call("t", {x}, type);
}

static bool translateMatMul(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0), y = b.getInput(node, 1);
  unsigned rankX = node.getRank(0), rankY = node.getRank(1);
  bool isBatch = rankX == 3 && rankY == 3 &&
                 node.getType(0).getLength(0) == node.getType(1).getLength(0);
  if (rankX == 2 && rankY == 1 && b.chance(node, 50, 2))
    b.finish(node, "mv", {x, y});
  else if (rankX == 1 && rankY == 1 && b.chance(node, 50, 2))
    b.finish(node, "dot", {x, y});
  else if (rankX == 2 && rankY == 2 && b.chance(node, 20, 2))
    b.finish(node, "einsum", {"ij,jk->ik", AtenArg::List{x, y}});
  else if (isBatch && b.chance(node, 20, 2))
    b.finish(node, "einsum", {"bij,bjk->bik", AtenArg::List{x, y}});
  else if (rankY == 2 && rankX >= 2 && b.chance(node, 40))
    b.finish(node, "linear", {x, transposeMatrix(b, y)});
  else if (rankX == 2 && rankY == 2 && b.chance(node, 60, 1))
    b.finish(node, "mm", {x, y});
  else if (isBatch && b.chance(node, 60, 1))
    b.finish(node, "bmm", {x, y});
  else
    b.finish(node, "matmul", {x, y});
  return true;
}

static bool translateGemm(AtenBuilder &b, const FormNode &node) {
  if (node.hasAttr("alpha") || node.hasAttr("beta"))
    return false;
  AtenArg x = b.getInput(node, 0), y = b.getInput(node, 1);
  if (node.getInt("transA", 0))
    x = transposeMatrix(b, x);
  bool isTransposed = node.getInt("transB", 0) != 0;
  bool isVector = node.hasInput(2) && node.getRank(2) == 1;
  if ((!node.hasInput(2) || isVector) && isTransposed && b.chance(node, 60)) {
    AtenArg bias = isVector ? b.getInput(node, 2) : AtenArg();
    b.finish(node, "linear", {x, y, bias});
    return true;
  }
  if (isTransposed)
    y = transposeMatrix(b, y);
  if (node.hasInput(2))
    b.finish(node, "addmm", {b.getInput(node, 2), x, y});
  else
    b.finish(node, "mm", {x, y});
  return true;
}

static bool translateEinsum(AtenBuilder &b, const FormNode &node) {
  AtenArg::List operands;
  for (unsigned i = 0; i < node.getNumInputs(); ++i)
    operands.push_back(b.getInput(node, i));
  b.finish(node, "einsum", {node.getString("equation", "").c_str(), operands});
  return true;
}

//===- Attention ----------------------------------------------------------===//

/// Whether \p node has attributes but for is_causal.
static bool hasOtherAttrs(const FormNode &node) {
  return llvm::any_of(node.proto.attribute(), [](const auto &attr) {
    return attr.name() != "is_causal";
  });
}

static bool translateAttention(AtenBuilder &b, const FormNode &node) {
  // libtorch 1.13 has another one.
  if (b.isScript() || hasOtherAttrs(node) || node.getRank(0) != 4 ||
      node.hasInput(4) || node.getNumOutputs() != 1)
    return false;
  // PyTorch takes either.
  bool isCausal = node.getInt("is_causal", 0) != 0;
  if (isCausal && node.hasInput(3))
    return false;
  AtenArg::List arguments;
  for (unsigned i = 0; i < 4; ++i)
    arguments.push_back(node.hasInput(i) ? b.getInput(node, i) : AtenArg());
  arguments.insert(arguments.end(), {0.0, isCausal});
  AtenNamed named;
  if (node.getType(0).getLength(1) != node.getType(1).getLength(1))
    named.push_back({"enable_gqa", true});
  b.finish(node, "scaled_dot_product_attention", arguments, named);
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenMatMuls() {
  static const AtenTranslation translations[] = {
      {"MatMul", translateMatMul},
      {"Gemm", translateGemm},
      {"Einsum", translateEinsum},
      {"Attention", translateAttention}};
  return translations;
}
