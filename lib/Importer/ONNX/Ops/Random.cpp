//===- Random.cpp - Random numbers ----------------------------------------===//
//
// The operator's seed is the key of its random values (Graph/RandomValues.h).
//
//===----------------------------------------------------------------------===//

#include "Common/RandomDraws.h"
#include "Indexing.h"
#include "ONNX/Extents.h"
#include "ONNX/ModelFile.h"
#include "glowish/Graph/RandomValues.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Keys and kinds -----------------------------------------------------===//

/// Returns the bits of attribute 'seed', a float, or an integer for Dropout.
/// The default is a checksum of the node's name: nodes differ, runs do not.
static llvm::Expected<uint64_t> readKey(const OpContext &op) {
  const onnx::AttributeProto *seed = op.findAttr("seed");
  if (!seed)
    return getRandomKey(op.getNodeName());
  if (seed->type() == onnx::AttributeProto::INT)
    return uint64_t(seed->i());
  double number = op.getFloat("seed", 0);
  return uint64_t(llvm::bit_cast<uint32_t>(float(number)));
}

/// Returns attribute 'dtype', or \p kind if it is absent.
static llvm::Expected<ElemKind> readKind(OpContext &op, ElemKind kind) {
  if (!op.hasAttr("dtype"))
    return kind;
  int64_t type = op.getInt("dtype", 0);
  return getElemKind(type);
}

//===- Extents ------------------------------------------------------------===//

/// Returns an error if a run decides an extent of \p like, but for the first:
/// elements are numbered, by all other extents.
static llvm::Error checkNumbers(NodeValue like) {
  for (unsigned d = 1; d < like.getShape().size(); ++d)
    if (like.getType().getExtent(d))
      return makeError("a run decides the extent of dimension {0} of input 0; "
                       "accepted: that of the first dimension",
                       d);
  return llvm::Error::success();
}

/// Returns \p value, which has the bounds of \p like, with its extents.
static NodeValue declareLike(OpContext &op, NodeValue value, NodeValue like) {
  return value ? op.declareExtents(value,
                                   like.getType().withKind(value.getElemKind()))
               : value;
}

//===- RandomUniform, RandomNormal and their Like forms -------------------===//

static llvm::Expected<NodeValue> makeDistribution(OpContext &op, DimsRef shape,
                                                  ElemKind defaultKind,
                                                  bool isNormal) {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op, defaultKind));
  if (!isFloatKind(kind))
    return makeError("the result's kind is {0}; accepted: float kinds",
                     getElemKindName(kind));
  double first = op.getFloat(isNormal ? "mean" : "low", 0);
  double second = op.getFloat(isNormal ? "scale" : "high", 1);
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, shape));
  GLOWISH_ASSIGN_OR_RETURN(uint64_t key, readKey(op));
  RandomValues random(op, shape, op.uint64(key));
  ElemKind drawn = getDrawnKind(kind);
  NodeValue value = isNormal ? random.normal(drawn) : random.uniform(drawn);
  double scale = isNormal ? second : second - first;
  return op.finish(op.cast(op.add(op.mul(value, scale), first), kind));
}

template <bool isNormal> static llvm::Error importRandom(OpContext &op) {
  if (!op.hasAttr("shape"))
    return makeError("attribute 'shape' is missing");
  std::vector<int64_t> shape = op.getInts("shape", {});
  return op.setOutput(0,
                      makeDistribution(op, shape, ElemKind::Float, isNormal));
}

template <bool isNormal>
static llvm::Error importRandomLike(OpContext &op, NodeValue like) {
  GLOWISH_RETURN_IF_ERROR(checkNumbers(like));
  GLOWISH_ASSIGN_OR_RETURN(
      NodeValue value,
      makeDistribution(op, like.getShape(), like.getElemKind(), isNormal));
  return op.setOutput(0, declareLike(op, value, like));
}

//===- Bernoulli and Multinomial ------------------------------------------===//

/// 1 with the probability given by the input, else 0.
static llvm::Error importBernoulli(OpContext &op, NodeValue probability) {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind,
                           readKind(op, probability.getElemKind()));
  GLOWISH_ASSIGN_OR_RETURN(uint64_t key, readKey(op));
  if (!isFloatKind(probability.getElemKind()))
    return op.refuseInput(0, "a float kind");
  GLOWISH_RETURN_IF_ERROR(checkNumbers(probability));
  RandomValues random(op, probability.getShape(), op.uint64(key));
  ElemKind drawn = getDrawnKind(probability.getElemKind());
  return op.setOutput(
      0, op.cast(op.less(random.uniform(drawn), op.cast(probability, drawn)),
                 kind));
}

/// Draws 'sample_size' classes for each row of unnormalized log-probabilities.
static llvm::Error importMultinomial(OpContext &op, NodeValue logits) {
  int64_t samples = op.getInt("sample_size", 1);
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(op, ElemKind::Int32));
  GLOWISH_ASSIGN_OR_RETURN(uint64_t key, readKey(op));
  GLOWISH_RETURN_IF_ERROR(checkNumbers(logits));
  DimsRef shape = logits.getShape();
  if (shape.size() != 2 || !isFloatKind(logits.getElemKind()) || shape[1] < 1)
    return op.refuseInput(
        0, "a float kind and [batch, classes] with at least one class");
  if (samples < 0 || !isIntegerKind(kind))
    return makeError("sample_size is {0} and the result's kind {1}; accepted: "
                     "at least 0 and an integer kind",
                     samples, getElemKindName(kind));
  int64_t batch = shape[0], classes = shape[1];
  GLOWISH_RETURN_IF_ERROR(
      checkShape(ElemKind::Double, {batch, samples, classes}));
  NodeValue x = op.cast(logits, ElemKind::Double);
  NodeValue weights =
      op.unary<ExpNode>(op.sub(x, op.reduce(x, "max", {1}, true)));
  return op.setOutput(0,
                      drawClasses(op, weights, samples, op.uint64(key), kind));
}

//===- Dropout ------------------------------------------------------------===//

/// Keeps elements with probability 1 - ratio, divided by 1 - ratio.
static llvm::Error importTrainingDropout(OpContext &op, NodeValue input) {
  GLOWISH_RETURN_IF_ERROR(checkNumbers(input));
  GLOWISH_ASSIGN_OR_RETURN(uint64_t key, readKey(op));
  RandomValues random(op, input.getShape(), op.uint64(key));
  ElemKind drawn = getDrawnKind(input.getElemKind());
  NodeValue ratio = op.input(1);
  if (ratio && ratio.getType().getNumElements() != 1)
    return op.refuseInput(1, "one element");
  ratio = ratio ? op.cast(op.reshape(ratio, {}), drawn) : op.scalar(drawn, 0.5);
  NodeValue kept =
      op.greaterOrEqual(declareLike(op, random.uniform(drawn), input), ratio);
  NodeValue scaled = op.div(op.cast(input, drawn), op.sub(1, ratio));
  NodeValue zero = op.scalar(drawn, 0);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(
      0, op.cast(op.select(kept, scaled, zero), input.getElemKind())));
  return op.wantsOutput(1) ? op.setOutput(1, kept) : llvm::Error::success();
}

/// A Dropout node, for models that are imported for training.
static llvm::Error importTrainableDropout(OpContext &op, NodeValue input) {
  double ratio = op.getFloat("ratio", 0.5);
  if (op.hasInput(1)) {
    GLOWISH_ASSIGN_OR_RETURN(ratio, op.getConstantNumber(1));
  }
  op.ignoreAttrs({"seed", "is_test"});
  op.ignoreInput(2);
  if (op.wantsOutput(1))
    return makeError("output 1, the mask, is used; accepted for training: a "
                     "Dropout with one output");
  return op.setOutput(0, op.create<DropoutNode>(input, ratio));
}

/// In inference, the input, and a mask of true.
static llvm::Error importDropout(OpContext &op, NodeValue input) {
  if (op.isTraining())
    return importTrainableDropout(op, input);
  if (op.hasInput(2)) {
    GLOWISH_ASSIGN_OR_RETURN(double training, op.getConstantNumber(2));
    if (training)
      return importTrainingDropout(op, input);
  }
  op.ignoreAttrs({"ratio", "seed", "is_test"});
  op.ignoreInput(1);
  GLOWISH_RETURN_IF_ERROR(op.setOutput(0, input));
  if (!op.wantsOutput(1))
    return llvm::Error::success();
  op.nameAfterOutput(1);
  ElemKind kind = op.getOpset() >= 10 ? ElemKind::Bool : input.getElemKind();
  NodeValue mask = op.splat(kind, input.getShape(), 1);
  return op.setOutput(1, declareLike(op, mask, input));
}

static OnnxOperator randomUniformOp("RandomUniform", 1, importRandom<false>);
static OnnxOperator randomNormalOp("RandomNormal", 1, importRandom<true>);
static OnnxOperator randomUniformLikeOp("RandomUniformLike", 1,
                                        withExtents<importRandomLike<false>>);
static OnnxOperator randomNormalLikeOp("RandomNormalLike", 1,
                                       withExtents<importRandomLike<true>>);
static OnnxOperator bernoulliOp("Bernoulli", 15, withExtents<importBernoulli>);
static OnnxOperator multinomialOp("Multinomial", 7,
                                  withExtents<importMultinomial>);
static OnnxOperator dropoutOp("Dropout", 1, withExtents<importDropout>);
