//===- Suppression.cpp - NonMaxSuppression in StableHLO -------------------===//

#include "MLIR/StableHlo/StableHloWriter.h"
#include "glowish/Ops/Boxes.h"
#include "glowish/Ops/Scalar.h"

using namespace glowish;

namespace {

/// A loop over the candidates: each is compared with all others of its row,
/// which is one of a class of a batch.
class Suppression {
public:
  Suppression(StableHloWriter &w, const NonMaxSuppressionNode &node);

  MlirValue write();

private:
  /// Of the candidates, their boxes, [rows, candidates, 4].
  MlirValue gatherBoxes();
  /// Of boxes [rows, N, 4] the four sides, [rows, N, 1] each.
  MlirValues getSides(const MlirValue &boxes);
  /// Whether candidate \p number of each row overlaps with one of \p kept.
  MlirValue findOverlaps(const MlirValue &number, const MlirValue &kept);
  MlirValue keepCandidates();
  /// The numbers of those that are kept, and -1 behind them.
  MlirValue takeFirst(const MlirValue &kept);

  StableHloWriter &w;
  const NonMaxSuppressionNode &node;
  int64_t rows, length;
  MlirValue candidates, isBox, boxes, zero;
  MlirValues sides;
};

} // namespace

Suppression::Suppression(StableHloWriter &w, const NonMaxSuppressionNode &node)
    : w(w), node(node) {
  DimsRef shape = node.getCandidates().getShape();
  rows = shape[0] * shape[1];
  length = shape[2];
}

MlirValue Suppression::gatherBoxes() {
  MlirValue all = w.get(node.getBoxes()), numbers = w.get(node.getCandidates());
  int64_t batches = all.getShape()[0], count = all.getShape()[1];
  MlirValue firsts =
      w.table(ElemKind::Int64, {batches, 1, 1},
              [&](int64_t batch) { return double(batch * count); });
  MlirValue places =
      w.mapSame(ElemKind::Int64, {numbers, firsts}, [&](auto elements) {
        MlirScalar inside = max(min(elements[0], double(count - 1)), 0.0);
        return inside + elements[1];
      });
  return w.gather(w.reshape(all, {batches * count, 4}),
                  w.reshape(places, {rows, length}), 0,
                  all.type.withShape({rows, length, 4}));
}

MlirValues Suppression::getSides(const MlirValue &boxes) {
  const int64_t sizes[] = {rows, boxes.getShape()[1], 1}, steps[] = {1, 1, 1};
  MlirValues result;
  for (int64_t side = 0; side < 4; ++side)
    result.push_back(w.slice(boxes, {0, 0, side}, sizes, steps));
  return result;
}

MlirValue Suppression::findOverlaps(const MlirValue &number,
                                    const MlirValue &kept) {
  MlirValues operands = sides;
  llvm::append_range(operands, getSides(w.dynamicSlice(
                                   boxes, {zero, number, zero}, {rows, 1, 4})));
  operands.push_back(w.reshape(w.get(node.getThreshold()), {}));
  operands.push_back(w.reshape(kept, {rows, length, 1}));
  MlirValue found = w.mapSame(ElemKind::Int32, operands, [](auto elements) {
    Box<MlirScalar> box = {elements[0], elements[1], elements[2], elements[3]};
    Box<MlirScalar> other = {elements[4], elements[5], elements[6],
                             elements[7]};
    return elements[9] && elements[8] < getOverlap(other, box);
  });
  return w.reshape(w.reduce("max", found, 1, /*keepDims=*/false), {rows, 1});
}

MlirValue Suppression::keepCandidates() {
  MlirValue none = w.splat(isBox.type, 0);
  return w
      .whileLoop(
          {zero, none},
          [&](const MlirValues &carried) {
            return w.mapSame(ElemKind::Bool, carried[0], [&](auto elements) {
              return elements[0] < double(length);
            });
          },
          [&](const MlirValues &carried) -> MlirValues {
            const MlirValue &number = carried[0], &kept = carried[1];
            MlirValue overlaps = findOverlaps(number, kept);
            MlirValue own = w.dynamicSlice(isBox, {zero, number}, {rows, 1});
            MlirValue keeps =
                w.mapSame(ElemKind::Bool, {own, overlaps}, [](auto elements) {
                  return elements[0] && elements[1] == 0.0;
                });
            MlirValue next =
                w.mapSame(ElemKind::Int64, number,
                          [](auto elements) { return elements[0] + 1.0; });
            return {next, w.dynamicUpdateSlice(kept, keeps, {zero, number})};
          })
      .back();
}

MlirValue Suppression::takeFirst(const MlirValue &kept) {
  MlirValue numbers =
      w.mapSame(ElemKind::Int64, {kept, candidates}, [](auto elements) {
        return select(elements[0], elements[1], elements[1].like(-1));
      });
  auto isBefore =
      [](llvm::ArrayRef<MlirScalar> pairs) -> std::vector<MlirScalar> {
    return {pairs[0] >= 0.0 && pairs[1] < 0.0};
  };
  MlirValue sorted =
      w.computeOp("stablehlo.sort", numbers,
                  "dimension = 1 : i64, is_stable = true",
                  {ElemKind::Int64, ElemKind::Int64}, isBefore, numbers.type)
          .front();
  return w.pad(sorted, {0, 0, 0, node.getCount() - length}, -1);
}

MlirValue Suppression::write() {
  const Type &type = node.getType();
  bool hasNone = type.getNumElements() == 0 || rows * length == 0 ||
                 node.getBoxes().getShape()[1] == 0;
  if (hasNone)
    return w.splat(type, -1);
  zero = w.splat(Type(ElemKind::Int64, {}), 0);
  boxes = gatherBoxes();
  sides = getSides(boxes);
  candidates = w.reshape(w.get(node.getCandidates()), {rows, length});
  int64_t count = node.getBoxes().getShape()[1];
  isBox = w.mapSame(ElemKind::Bool, candidates, [&](auto elements) {
    return elements[0] >= 0.0 && elements[0] < double(count);
  });
  return w.reshape(takeFirst(keepCandidates()), type.getShape());
}

static MlirValue writeHloSuppression(StableHloWriter &w,
                                     const NonMaxSuppressionNode &node) {
  return Suppression(w, node).write();
}
static const MlirForm suppression = writeHloSuppression;
