//===- MatMul.cpp - Matrix multiplication and attention -------------------===//

#include "Common/MatMul.h"
#include "Aten/AtenOp.h"
#include "Common/AttentionHeads.h"
#include "Common/Einsum.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

static llvm::Error importMatMul(AtenOp &op) {
  const auto &arguments = op.getSchema().arguments;
  NodeValue x = op.tensor(arguments[0].name), y = op.tensor(arguments[1].name);
  if (x.getShape().empty() || y.getShape().empty())
    return op.refuse(arguments[0].name, "tensors with dimensions");
  return op.setResult(makeMatMul(op, x, y));
}

/// The value that \p value, three-dimensional, joins leading dimensions of.
static NodeValue getSplit(NodeValue value) {
  auto *reshape = value.getNodeAs<ReshapeNode>();
  if (!reshape)
    return {};
  NodeValue inner = reshape->getInput();
  DimsRef shape = inner.getShape();
  bool keepsMatrices =
      shape.size() > 3 && shape.take_back(2) == value.getShape().take_back(2);
  return keepsMatrices ? inner : NodeValue();
}

/// Exported programs have a matmul of more dimensions as one of matrices, whose
/// operands are reshaped before and whose result is after. That is undone, as
/// it separates the matmuls of attention.
static llvm::Error importBatchMatMul(AtenOp &op) {
  NodeValue x = op.tensor("self"), y = op.tensor("mat2");
  if (x.getShape().size() != 3 || y.getShape().size() != 3 ||
      x.getShape()[0] != y.getShape()[0])
    return op.refuse("mat2", "as many matrices as in 'self'");
  NodeValue left = getSplit(x), right = getSplit(y);
  if (left && right &&
      left.getShape().drop_back(2) == right.getShape().drop_back(2)) {
    Dims shape = {x.getShape()[0], x.getShape()[1], y.getShape()[2]};
    return op.setResult(op.reshape(op.matMul(left, right), shape));
  }
  return op.setResult(op.matMul(x, y));
}

/// beta * self + alpha * (x * y).
static llvm::Error importAddMatMul(AtenOp &op) {
  const auto &arguments = op.getSchema().arguments;
  NodeValue x = op.tensor(arguments[1].name), y = op.tensor(arguments[2].name);
  NodeValue matrix = makeMatMul(op, x, y);
  matrix = op.scale(matrix, "alpha");
  // With beta = 0 what is added may be NaN.
  const AtenValue &beta = op.get("beta");
  if (beta.isNumber() && beta.getNumber() == 0)
    return op.setResult(matrix);
  return op.setResult(op.add(matrix, op.scale(op.tensor("self"), "beta")));
}

/// input * weight^T + bias.
static llvm::Error importLinear(AtenOp &op) {
  NodeValue weight = op.tensor("weight");
  if (op.getRank("weight") > 2 || op.getRank("weight") < 1 ||
      op.getRank("input") < 1)
    return op.refuse("weight", "rank 1 or 2, and an input of rank 1 and more");
  if (op.getRank("weight") == 2)
    weight = op.transposeLast(weight);
  return op.setResult(
      makeFullyConnected(op, op.tensor("input"), weight,
                         op.isNone("bias") ? NodeValue() : op.tensor("bias")));
}

static llvm::Error importOuter(AtenOp &op) {
  ElemKind kind = op.promote({"self", "vec2"});
  NodeValue x = op.unsqueeze(op.operand("self", kind), 1),
            y = op.operand("vec2", kind);
  return op.setResult(kind == ElemKind::Bool ? op.logicalAnd(x, y)
                                             : op.mul(x, y));
}

static llvm::Error importEinsum(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, makeEinsum(op, op.text("equation"),
                                                        op.tensors("tensors")));
  return op.setResult(result);
}

static AtenOperators matmuls(
    {{importMatMul,
      {"matmul(Tensor self, Tensor other) -> Tensor",
       "mm(Tensor self, Tensor mat2) -> Tensor",
       "mv(Tensor self, Tensor vec) -> Tensor",
       "dot(Tensor self, Tensor tensor) -> Tensor",
       "linalg_matmul(Tensor self, Tensor other) -> Tensor"}},
     {importBatchMatMul, {"bmm(Tensor self, Tensor mat2) -> Tensor"}},
     {importAddMatMul,
      {"addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar "
       "alpha=1) -> Tensor",
       "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar "
       "alpha=1) -> Tensor",
       "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
       "Scalar alpha=1) -> Tensor"}},
     {importLinear,
      {"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"}}},
    AtenOrder::RowMajor);
static AtenOperators outers({{importOuter,
                              {"outer(Tensor self, Tensor vec2) -> Tensor",
                               "ger(Tensor self, Tensor vec2) -> Tensor"}}});
static AtenOperators einsum({{importEinsum,
                              {"einsum(str equation, Tensor[] tensors, *, "
                               "int[]? path=None) -> Tensor"}}},
                            AtenOrder::Unknown);

//===- Attention ----------------------------------------------------------===//

/// \p value as [batch, heads, length, size].
static NodeValue withHeads(AtenOp &op, NodeValue value) {
  DimsRef shape = value.getShape();
  Dims full(shape);
  if (full.size() == 4)
    return value;
  int64_t outer = countElements(shape.drop_back(2));
  return op.reshape(value, {outer, 1, shape[shape.size() - 2], shape.back()});
}

/// A mask of bools tells which keys a query attends to; another one is added.
static NodeValue readMask(AtenOp &op, DimsRef outer) {
  NodeValue mask = op.tensor("attn_mask");
  NodeValue query = op.tensor("query");
  if (!mask)
    return mask;
  if (mask.getElemKind() == ElemKind::Bool)
    mask = op.select(mask, op.number(query, 0), op.number(query, -INFINITY));
  if (outer.size() == 2 || !mask || mask.getShape().size() <= 2)
    return mask;
  // The leading dimensions were joined.
  DimsRef own = mask.getShape();
  Dims wide(outer);
  wide.append(own.end() - 2, own.end());
  return withHeads(op, op.broadcast(mask, wide));
}

static llvm::Error importAttention(AtenOp &op) {
  int64_t rank = op.getRank("query");
  if (rank < 2 || op.getRank("key") != rank || op.getRank("value") != rank)
    return op.refuse("query", "query, key and value of one rank, 2 and more");
  DimsRef shape = op.getShape("query");
  Heads heads{.query = withHeads(op, op.tensor("query")),
              .key = withHeads(op, op.tensor("key")),
              .value = withHeads(op, op.tensor("value"))};
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  if (heads.key.getShape()[1] != heads.query.getShape()[1]) {
    int64_t count = heads.query.getShape()[1];
    GLOWISH_ASSIGN_OR_RETURN(heads.key, repeatHeads(op, heads.key, count));
    GLOWISH_ASSIGN_OR_RETURN(heads.value, repeatHeads(op, heads.value, count));
  }
  Scoring scoring;
  scoring.scale = op.isStated("scale") ? op.number("scale", 1)
                                       : 1 / std::sqrt(double(shape.back()));
  scoring.isCausal = op.flag("is_causal");
  if (op.isStated("attn_mask"))
    scoring.mask = readMask(op, shape.drop_back(2));
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_ASSIGN_OR_RETURN(NodeValue result, attend(op, heads, scoring));
  Dims full(shape);
  full.back() = op.getShape("value").back();
  return op.setResult(op.reshape(result, full));
}

static AtenOperators attention(
    {{importAttention,
      {"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
       "Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
       "float? scale=None, bool enable_gqa=False) -> Tensor",
       "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, "
       "Tensor value, float dropout_p=0.0, bool is_causal=False, *, Tensor? "
       "attn_mask=None, float? scale=None) -> (Tensor output, Tensor "
       "logsumexp)",
       "_scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
       "Tensor? attn_mask=None, float dropout_p=0.0, bool "
       "need_attn_weights=False, bool is_causal=False) -> (Tensor, Tensor)",
       "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor "
       "value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
       "is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool "
       "enable_gqa=False) -> (Tensor, Tensor)"}}},
    AtenOrder::Unknown);

//===- Similarity ---------------------------------------------------------===//

static llvm::Error importCosineSimilarity(AtenOp &op) {
  NodeValue x = op.tensor("x1"), y = op.tensor("x2");
  double eps = op.number("eps", 1e-8);
  NodeValue dots = op.mul(x, y);
  if (!dots)
    return op.setResult(dots);
  x = op.broadcast(x, dots.getShape());
  y = op.broadcast(y, dots.getShape());
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis,
                           op.axis("dim", int64_t(dots.getShape().size())));
  auto sum = [&](NodeValue value) {
    return op.reduce(value, "sum", {axis}, /*keepDims=*/false);
  };
  auto norm = [&](NodeValue value) {
    return op.max(op.unary<SqrtNode>(sum(op.mul(value, value))), eps);
  };
  return op.setResult(op.div(sum(dots), op.mul(norm(x), norm(y))));
}

static AtenOperators
    similarity({{importCosineSimilarity,
                 {"cosine_similarity(Tensor x1, Tensor x2, int dim=1, "
                  "float eps=1e-08) -> Tensor"}}});
