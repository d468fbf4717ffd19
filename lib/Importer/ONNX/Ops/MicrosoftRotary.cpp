//===- MicrosoftRotary.cpp - Rotary embedding of com.microsoft ------------===//

#include "ONNX/Ops/MicrosoftRotary.h"
#include "Common/AttentionHeads.h"
#include "ONNX/Extents.h"
#include "glowish/Importer/OperatorNotes.h"
#include <limits>

using namespace glowish;
using namespace glowish::onnximport;

llvm::Error onnximport::checkCaches(OpContext &op, unsigned cosine,
                                    int64_t maxPairs) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue cosines, op.getInput(cosine));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue sines, op.getInput(cosine + 1));
  DimsRef shape = cosines.getShape();
  bool isOpen = cosines.getType().hasExtents() || sines.getType().hasExtents();
  if (shape.size() != 2 || shape[1] > maxPairs || sines.getShape() != shape ||
      isOpen)
    return makeError("inputs {0} and {1} are {2} and {3}; accepted: [length, "
                     "up to {4}], which no run decides",
                     cosine, cosine + 1, cosines.getType().str(),
                     sines.getType().str(), maxPairs);
  return llvm::Error::success();
}

Angles onnximport::gatherAngles(OpContext &op, unsigned cosine,
                                NodeValue positions) {
  auto gather = [&](unsigned index) {
    return op.unsqueeze(op.gather(op.input(index), positions, 0), 1);
  };
  return {gather(cosine), gather(cosine + 1)};
}

/// Returns input 0 as heads: [batch, heads, length, size] or [batch, length,
/// heads * size], where the heads have twice as many elements as the cosines
/// unless an attribute states their number.
static llvm::Expected<NodeValue> readRotated(OpContext &op, int64_t pairs) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue input, op.getInput(0));
  int64_t numHeads = op.getInt("num_heads", 0);
  DimsRef shape = input.getShape();
  if (shape.size() == 4)
    return input;
  if (shape.size() != 3)
    return op.refuseInput(0, "rank 3 or 4");
  if (numHeads == 0 && pairs > 0)
    numHeads = shape[2] / (2 * pairs);
  return splitHeads(op, input, numHeads, "num_heads");
}

/// Returns input 1: a position for each token, or that of each row's first.
static llvm::Expected<NodeValue> readPositions(OpContext &op, DimsRef heads) {
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions, op.getInput(1));
  DimsRef shape = positions.getShape();
  if (shape.empty() || shape == DimsRef({1})) {
    NodeValue token = op.iota(positions.getElemKind(), 2, 1, heads[2]);
    return op.finish(op.add(token, op.reshape(positions, {1, 1})));
  }
  if (shape != DimsRef({heads[0], heads[2]}))
    return op.refuseInput(
        1, llvm::formatv("a scalar, [1] or [{0}, {1}]", heads[0], heads[2]));
  return positions;
}

static llvm::Error importMicrosoftRotary(OpContext &op) {
  // ONNX Runtime reads the attribute, but does not use it.
  op.ignoreAttrs({"scale"});
  int64_t packed = op.getInt("is_packed_batching", 0);
  if (packed != 0)
    return makeError("attribute 'is_packed_batching' is {0}; accepted: 0",
                     packed);
  int64_t interleaved = op.getInt("interleaved", 0);
  int64_t size = op.getInt("rotary_embedding_dim", 0);
  GLOWISH_RETURN_IF_ERROR(
      checkCaches(op, 2, std::numeric_limits<int64_t>::max()));
  int64_t pairs = op.peekInput(2).getShape()[1];
  GLOWISH_ASSIGN_OR_RETURN(NodeValue heads, readRotated(op, pairs));
  DimsRef shape = heads.getShape();
  if (2 * pairs != (size ? size : shape[3]) || 2 * pairs > shape[3])
    return makeError("inputs 2 and 3 have {0} columns; accepted: half of {1}",
                     pairs, size ? size : shape[3]);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue positions, readPositions(op, shape));
  Angles angles = gatherAngles(op, 2, positions);
  NodeValue result =
      rotateHeads(op, heads, angles.cosines, angles.sines, interleaved != 0);
  bool isFlat = op.peekInput(0).getShape().size() == 3;
  return op.setOutput(0, isFlat ? joinHeads(op, result) : result);
}

static OnnxOperator microsoftRotaryOp("RotaryEmbedding", 1,
                                      withExtents<importMicrosoftRotary>,
                                      microsoftDomain);
static OnnxOperatorNotes microsoftRotaryNotes("RotaryEmbedding",
                                              {.limit = "no "
                                                        "`is_packed_batching`"},
                                              microsoftDomain);
