//===- Embeddings.cpp - Quantized tables of Gather ------------------------===//
//
// The integers of the chosen rows are gathered, and their scales and zero
// points; only what is gathered is converted to floats. Integers of 4 bits lie
// side by side in bytes: in memory each would have a byte of its own otherwise.
//
//===----------------------------------------------------------------------===//

#include "Quantize/Selection.h"
#include "Quantize/WeightBlocks.h"
#include "Util/ConstantTensors.h"
#include "Util/Dequantization.h"
#include "Util/NodeTrial.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Graph/PackedRows.h"
#include "glowish/Graph/RepeatedBlocks.h"
#include <map>

using namespace glowish;

namespace {

/// The constants that a quantized table has become.
struct QuantizedTable {
  NodeValue integers = {}, scales = {};
  /// Null for those of signed integers of 8 bits, which are 0.
  NodeValue zeroPoints = {};
  Type type;
  int64_t block = 0;
  double error = 0;
};

} // namespace

/// \p integers, which are not negative, as uint8: in memory each has a byte
/// already.
static Tensor getBytes(const Tensor &integers) {
  return Tensor::fromValues<uint8_t>(
      integers.getType().withKind(ElemKind::UInt8), integers.getByteRange());
}

static QuantizedTable quantizeTable(NodeBuilder &b, const Tensor &table,
                                    const WeightQuantization &quantization) {
  BlockedWeights blocks = quantizeBlocks(table, /*axis=*/1, quantization);
  QuantizedTable result = {.type = blocks.integers.getType(),
                           .block = blocks.block,
                           .error = blocks.error};
  IntegerRange range(quantization.kind);
  bool isPacked = getElemBits(quantization.kind) == 4;
  if (!range.isSigned)
    result.zeroPoints = b.createConstant(getBytes(blocks.zeroPoints));
  else if (isPacked)
    result.zeroPoints = b.scalar(ElemKind::Int32, -range.least);
  if (isPacked)
    blocks.integers = packRows(blocks.integers,
                               range.isSigned ? -range.least : 0, /*bits=*/4);
  result.integers = b.createConstant(std::move(blocks.integers));
  result.scales = b.createConstant(std::move(blocks.scales));
  return result;
}

/// The floats of the rows of \p table at \p indices.
static NodeValue gatherRows(NodeBuilder &b, const QuantizedTable &table,
                            NodeValue indices) {
  auto gather = [&](NodeValue from) { return b.gather(from, indices, 0); };
  auto axis = unsigned(indices.getShape().size());
  int64_t columns = table.type.getDim(1);
  auto repeat = [&](NodeValue parameters) {
    return repeatBlocks(b.getFunction(), b.getName(), gather(parameters), axis,
                        columns, table.block);
  };
  Dequantization rows = {.integer = gather(table.integers)};
  if (getElemBits(table.type.getKind()) == 4)
    rows.integer = unpackRows(b, rows.integer, /*bits=*/4, columns);
  if (table.zeroPoints)
    rows.zeroPoint = table.zeroPoints.getShape().empty()
                         ? table.zeroPoints
                         : repeat(table.zeroPoints);
  rows.scale = repeat(table.scales);
  return composeDequantization(b.getFunction(), b.getName(), rows);
}

/// The table of \p gather that is to be quantized; null if there is none. Of
/// constant indices the result is a constant, too.
static const Tensor *findTable(const GatherNode &gather) {
  const Tensor *table = getConstantTensor(gather.getInput());
  bool isTable =
      table && gather.getAxis() == 0 && table->getType().getRank() == 2 &&
      table->getType().getKind() == ElemKind::Float &&
      table->getNumElements() != 0 && !isConstantOrSplat(gather.getIndices());
  return isTable && isFinite(*table) ? table : nullptr;
}

std::vector<NodeOfQuantizedWeights>
glowish::quantizeEmbeddings(Function &function,
                            const WeightQuantization &quantization,
                            const std::set<NodeKind> &keptKinds) {
  std::vector<GatherNode *> gathers;
  if (!keptKinds.count(NodeKind::Gather))
    for (Node &node : function.getNodes())
      if (auto *gather = llvm::dyn_cast<GatherNode>(&node))
        gathers.push_back(gather);
  // Of tables that several nodes read.
  std::map<const Tensor *, QuantizedTable> made;
  std::vector<NodeOfQuantizedWeights> result;
  for (GatherNode *gather : gathers) {
    const Tensor *table = findTable(*gather);
    if (!table)
      continue;
    NodeTrial trial(function, *gather);
    NodeBuilder b(function, gather->getInput().node->getName());
    QuantizedTable &quantized = made[table];
    if (!quantized.integers)
      quantized = quantizeTable(b, *table, quantization);
    NodeValue rows = gatherRows(b, quantized, gather->getIndices());
    if (!trial.allows(gather->getResult(), rows)) {
      logFloat(*gather, "the extents of its indices allow no reshape");
      continue;
    }
    trial.keep();
    gather->getResult().replaceAllUsesWith(rows);
    result.push_back({gather->getName().str(), gather->getKind(),
                      quantized.type, quantized.block, quantized.error});
  }
  return result;
}
