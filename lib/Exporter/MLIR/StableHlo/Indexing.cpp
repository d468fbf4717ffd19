//===- Indexing.cpp - Elements at computed places in StableHLO ------------===//

#include "MLIR/StableHlo/StableHloWriter.h"

using namespace glowish;

//===- Scatter and DynamicUpdateSlice -------------------------------------===//

/// What is out of range is left out by stablehlo.scatter too.
static MlirValue writeHloScatter(StableHloWriter &w, const ScatterNode &node) {
  const Type &type = node.getType();
  ElemKind kind = type.getKind();
  MlirValue input = w.get(node.getInput()), indices = w.get(node.getIndices());
  MlirValue updates = w.get(node.getUpdates());
  if (type.getNumElements() == 0 || updates.type.getNumElements() == 0)
    return input;
  MlirValue rows = w.mapSame(indices.getKind(), indices, [&](auto elements) {
    return countFromStart(elements[0], type.getDim(0));
  });
  bool replaces = node.getMode() == "replace";
  auto combine =
      [&](llvm::ArrayRef<MlirScalar> elements) -> std::vector<MlirScalar> {
    if (replaces)
      return {elements[1]};
    return {
        convertScalar(combineElements(node.getMode(), loadScalar(elements[0]),
                                      loadScalar(elements[1])),
                      kind)};
  };
  return w
      .computeOp("stablehlo.scatter", {input, rows, updates},
                 "scatter_dimension_numbers = #stablehlo.scatter<"
                 "update_window_dims = [1], inserted_window_dims = [0], "
                 "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>",
                 {input.getKind(), input.getKind()}, combine, input.type)
      .front();
}
static const MlirForm scatter = writeHloScatter;

/// It clamps where the update begins.
static MlirValue writeHloUpdateSlice(StableHloWriter &w,
                                     const DynamicUpdateSliceNode &node) {
  MlirValue input = w.get(node.getInput()), update = w.get(node.getUpdate());
  if (update.type.getNumElements() == 0)
    return input;
  MlirValue start = w.reshape(w.get(node.getStart()), {});
  MlirValues starts(input.getRank(), w.splat(start.type, 0));
  starts[node.getAxis()] = start;
  return w.dynamicUpdateSlice(input, update, starts);
}
static const MlirForm updateSlice = writeHloUpdateSlice;

//===- TopK ---------------------------------------------------------------===//

static const MlirForm topK = [](StableHloWriter &w, const TopKNode &node) {
  const Type &type = node.getType();
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  MlirValue x = w.getWide(node.getInput());
  int64_t last = x.getRank() - 1;
  Type indexType = x.type.withKind(ElemKind::Int64);
  auto isBefore =
      [&](llvm::ArrayRef<MlirScalar> pairs) -> std::vector<MlirScalar> {
    return {isRankedBefore(pairs[0], pairs[1],
                           /*isEarlier=*/pairs[2] < pairs[3],
                           node.getLargest())};
  };
  MlirValues sorted = w.computeOp(
      "stablehlo.sort", {x, w.iota(indexType, last)},
      "dimension = " + llvm::Twine(last) + " : i64, is_stable = true",
      {x.getKind(), x.getKind(), ElemKind::Int64, ElemKind::Int64}, isBefore,
      {x.type, indexType});
  std::vector<int64_t> starts(x.getRank(), 0), steps(x.getRank(), 1);
  return w.slice(sorted[1], starts, type.getShape(), steps);
};
