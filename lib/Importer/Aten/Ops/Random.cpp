//===- Random.cpp - Random numbers ----------------------------------------===//
//
// A program states no seeds. Each operator has a key of its own
// (RandomValues.h), so that its values are the same in each run; they are not
// PyTorch's.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/RandomDraws.h"
#include "glowish/Graph/RandomValues.h"

using namespace glowish;
using namespace glowish::aten;

static NodeValue makeKey(AtenOp &op) {
  uint64_t number = ++op.getContext().numDraws;
  return op.uint64(getRandomKey(op.getName()) + number);
}

//===- Uniform and normal numbers -----------------------------------------===//

template <bool isNormal> static llvm::Error importRandom(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, op.newType(ElemKind::Float));
  ElemKind kind = type.getKind();
  if (!isFloatKind(kind))
    return makeError("the result's kind is {0}; accepted: float kinds",
                     getElemKindName(kind));
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, type.getShape()));
  RandomValues random(op, type.getShape(), makeKey(op));
  ElemKind drawn = getDrawnKind(kind);
  NodeValue value = isNormal ? random.normal(drawn) : random.uniform(drawn);
  return op.setResult(op.cast(value, kind));
}

/// Numbers in [from, to), of the shape of self.
static llvm::Error importUniform(AtenOp &op) {
  NodeValue like = op.tensor("self");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(double from, op.number("from"));
  GLOWISH_ASSIGN_OR_RETURN(double to, op.number("to"));
  RandomValues random(op, like.getShape(), makeKey(op));
  NodeValue value = random.uniform(getDrawnKind(like.getElemKind()));
  return op.setResult(
      op.cast(op.add(op.mul(value, to - from), from), like.getElemKind()));
}

//===- Integers -----------------------------------------------------------===//

static llvm::Error importIntegers(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, op.newType(ElemKind::Int64));
  int64_t low = op.has("low") ? op.integer("low") : 0,
          high = op.integer("high");
  // A double has that many bits.
  constexpr int64_t most = int64_t(1) << 53;
  if (low >= high || low < -most || high > most || high - low > most)
    return makeError("the integers are from {0} to below {1}; accepted: at "
                     "least one, and at most 2^53",
                     low, high);
  GLOWISH_RETURN_IF_ERROR(checkShape(type.getKind(), type.getShape()));
  RandomValues random(op, type.getShape(), makeKey(op));
  NodeValue value = random.uniform(ElemKind::Double);
  value = op.unary<FloorNode>(op.mul(value, double(high - low)));
  return op.setResult(op.cast(op.add(value, double(low)), type.getKind()));
}

//===- Choices ------------------------------------------------------------===//

/// 1 with the probability that self has, or that is stated, else 0.
static llvm::Error importBernoulli(AtenOp &op) {
  NodeValue x = op.tensor("self");
  bool hasProbability = op.has("p");
  if (!hasProbability)
    GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  ElemKind drawn = getDrawnKind(x.getElemKind());
  NodeValue probability =
      hasProbability ? op.operand("p", drawn) : op.cast(x, drawn);
  RandomValues random(op, x.getShape(), makeKey(op));
  return op.setResult(
      op.cast(op.less(random.uniform(drawn), probability), x.getElemKind()));
}

/// Class indices by their weights, [classes] or [batch, classes].
static llvm::Error importMultinomial(AtenOp &op) {
  NodeValue weights = op.tensor("self");
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  int64_t samples = op.integer("num_samples");
  DimsRef shape = weights.getShape();
  if (shape.empty() || shape.size() > 2 || shape.back() < 1 || samples < 1)
    return op.refuse("self", "[classes] or [batch, classes] with at least one "
                             "class, and at least one sample");
  if (samples > 1 && !op.flag("replacement"))
    return op.refuse("replacement", "true, or one sample");
  bool isBatch = shape.size() == 2;
  int64_t batch = isBatch ? shape[0] : 1;
  GLOWISH_RETURN_IF_ERROR(
      checkShape(ElemKind::Double, {batch, samples, shape.back()}));
  weights =
      op.reshape(op.cast(weights, ElemKind::Double), {batch, shape.back()});
  NodeValue drawn =
      drawClasses(op, weights, samples, makeKey(op), ElemKind::Int64);
  return op.setResult(isBatch ? drawn : op.reshape(drawn, {samples}));
}

//===- Registration -------------------------------------------------------===//

static AtenOperators
    choices({{importMultinomial,
              {"multinomial(Tensor self, int num_samples, bool "
               "replacement=False, *, Generator? generator=None) -> Tensor"}}},
            AtenOrder::RowMajor);
static AtenOperators ofSize({tensorOptions},
                            {{importRandom<false>, {"rand(int[] size, "}},
                             {importRandom<true>, {"randn(int[] size, "}},
                             {importIntegers,
                              {"randint(int high, int[] size, ",
                               "randint.low(int low, int high, int[] size, "}}},
                            AtenOrder::RowMajor);
static AtenOperators ofTensors(
    {{importUniform,
      {"uniform(Tensor self, float from=0, float to=1, *, Generator? "
       "generator=None) -> Tensor"}},
     {importBernoulli,
      {"bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
       "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> "
       "Tensor"}}},
    AtenOrder::Kept);
static AtenOperators
    likes({tensorOptionsWithFormat},
          {{importRandom<false>, {"rand_like(Tensor self, "}},
           {importRandom<true>, {"randn_like(Tensor self, "}},
           {importIntegers,
            {"randint_like(Tensor self, int high, ",
             "randint_like.low_dtype(Tensor self, int low, int high, "}}},
          AtenOrder::Kept);
