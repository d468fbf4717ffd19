//===- Sorting.cpp - TopK, CumSum and NonMaxSuppression in linalg ---------===//

#include "MLIR/Linalg/LinalgWriter.h"
#include "glowish/Ops/Boxes.h"
#include "glowish/Ops/Scalar.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;

/// The number of elements of each row of \p x that come before each element.
static MlirValue rankElements(LinalgWriter &w, const MlirValue &x,
                              bool largest) {
  unsigned rank = x.getRank();
  // The last two loops: the element, and the one it is compared with.
  std::vector<std::string> own = LinalgWriter::getLoopNames(rank), other = own;
  other.back() = "d" + std::to_string(rank);
  LinalgWriter::Access out = {w.splat(Type(ElemKind::Int64, x.getShape()), 0),
                              own};
  return w.genericOne(
      {.count = rank + 1, .reduced = {rank}}, {{x, own}, {x, other}}, out,
      [&](auto elements, auto ranks) {
        MlirScalar isEarlier =
            w.fromIndex(w.loopIndex(rank)) < w.fromIndex(w.loopIndex(rank - 1));
        MlirScalar isBefore =
            isRankedBefore(elements[1], elements[0], isEarlier, largest);
        return ranks[0] + w.castScalar(isBefore, ElemKind::Int64);
      });
}

/// The element of rank k is the k-th.
static const MlirForm topK = [](LinalgWriter &w, const TopKNode &node) {
  const Type &type = node.getType();
  MlirValue input = w.getWide(node.getInput());
  MlirValue start = w.splat(type, 0);
  if (type.getNumElements() == 0)
    return start;
  unsigned rank = type.getRank();
  MlirValue ranks = rankElements(w, input, node.getLargest());
  std::vector<std::string> all = LinalgWriter::getLoopNames(rank), own = all;
  own.back() = "d" + std::to_string(rank);
  return w.genericOne({.count = rank + 1, .reduced = {rank}},
                      LinalgWriter::Access{ranks, own}, {start, all},
                      [&](auto elements, auto outs) {
                        MlirScalar i = w.fromIndex(w.loopIndex(rank));
                        MlirScalar k = w.fromIndex(w.loopIndex(rank - 1));
                        return select(elements[0] == k, i, outs[0]);
                      });
};

//===- CumSum -------------------------------------------------------------===//

static const MlirForm cumSum = [](LinalgWriter &w, const CumSumNode &node) {
  const Type &type = node.getType();
  MlirValue x = w.getWide(node.getInput());
  int64_t axis = node.getAxis();
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  Dims one(type.getShape());
  one[axis] = 1;
  Type part = x.type.withShape(one);
  int64_t last = type.getDim(axis) - 1;
  auto addNext = [&](const LinalgWriter::Index &i, const MlirValues &carried) {
    MlirScalar place = w.fromIndex(i);
    if (node.getReverse())
      place = double(last) - place;
    std::vector<std::string> offsets(type.getRank(), "0");
    offsets[axis] = w.toIndex(place);
    std::vector<int64_t> steps(type.getRank(), 1);
    MlirValue next = w.op(
        part, "tensor.extract_slice " + x.name + "[" +
                  llvm::join(offsets, ", ") + "] [" + formatList(one) + "] [" +
                  formatList(steps) + "] : " + getTensorType(x.type) + " to " +
                  getTensorType(part));
    MlirValue sum = w.add(carried[1], next);
    const MlirValue &stored = node.getExclusive() ? carried[1] : sum;
    return MlirValues{w.insertSlice(stored, carried[0], offsets, one), sum};
  };
  return w
      .forLoop(w.index(last + 1), {w.splat(x.type, 0), w.splat(part, 0)},
               addNext)
      .front();
};

//===- NonMaxSuppression --------------------------------------------------===//

namespace {
/// The boxes of a NonMaxSuppression.
class Suppression {
public:
  Suppression(LinalgWriter &w, const NonMaxSuppressionNode &node)
      : w(w), node(node), boxes(w.get(node.getBoxes())),
        candidates(w.get(node.getCandidates())),
        threshold(w.extract(w.get(node.getThreshold()))) {}

  /// Loops over batches, classes and candidates.
  MlirValue write();

private:
  MlirValues visit(const LinalgWriter::Index &batch,
                   const LinalgWriter::Index &row, const LinalgWriter::Index &i,
                   const MlirValues &carried);
  MlirScalar overlapsPicked(const LinalgWriter::Index &batch,
                            const LinalgWriter::Index &row,
                            const MlirScalar &number,
                            const MlirValues &carried);
  Box<MlirScalar> getBox(const LinalgWriter::Index &batch,
                         const MlirScalar &number);

  LinalgWriter &w;
  const NonMaxSuppressionNode &node;
  MlirValue boxes, candidates;
  MlirScalar threshold;
};
} // namespace

Box<MlirScalar> Suppression::getBox(const LinalgWriter::Index &batch,
                                    const MlirScalar &number) {
  LinalgWriter::Index place = w.toIndex(number);
  auto side = [&](int64_t i) {
    return w.extract(boxes, {batch, place, w.index(i)});
  };
  return {side(0), side(1), side(2), side(3)};
}

/// Whether box \p number overlaps with one of those of the row that were
/// picked: carried are all that were picked, and how many of this row.
MlirScalar Suppression::overlapsPicked(const LinalgWriter::Index &batch,
                                       const LinalgWriter::Index &row,
                                       const MlirScalar &number,
                                       const MlirValues &carried) {
  Box<MlirScalar> box = getBox(batch, number);
  MlirValue none = w.fromScalar(w.scalar(ElemKind::Bool, 0));
  auto compare = [&](const LinalgWriter::Index &k, const MlirValues &found) {
    MlirScalar other = w.extract(carried[0], {row, k});
    MlirScalar overlap = getOverlap(box, getBox(batch, other));
    return MlirValues{w.fromScalar(w.extract(found[0]) || threshold < overlap)};
  };
  LinalgWriter::Index count = w.toIndex(w.extract(carried[1]));
  return w.extract(w.forLoop(count, none, compare).front());
}

MlirValues Suppression::visit(const LinalgWriter::Index &batch,
                              const LinalgWriter::Index &row,
                              const LinalgWriter::Index &i,
                              const MlirValues &carried) {
  MlirScalar number = w.extract(candidates, {row, i});
  MlirScalar count = w.extract(carried[1]);
  MlirScalar isBox = number >= 0.0 && number < double(boxes.getShape()[1]) &&
                     count < double(node.getCount());
  std::vector<Type> types = {carried[0].type, carried[1].type};
  auto keep = [&]() -> MlirValues { return carried; };
  auto pick = [&]() -> MlirValues {
    MlirValue value = w.reshape(w.fromScalar(number), {1, 1});
    MlirValue picked =
        w.insertSlice(value, carried[0], {row, w.toIndex(count)}, {1, 1});
    return {picked, w.fromScalar(count + 1.0)};
  };
  auto test = [&]() -> MlirValues {
    MlirScalar overlaps = overlapsPicked(batch, row, number, carried);
    return w.ifElse(overlaps, types, keep, pick);
  };
  return w.ifElse(isBox, types, test, keep);
}

MlirValue Suppression::write() {
  const Type &type = node.getType();
  // A copy: candidates will have another shape.
  Dims shape(candidates.getShape());
  Type flat(ElemKind::Int64, {shape[0] * shape[1], node.getCount()});
  MlirValue start = w.splat(flat, -1);
  if (type.getNumElements() == 0 || candidates.type.getNumElements() == 0 ||
      boxes.type.getNumElements() == 0)
    return w.reshape(start, type.getShape());
  candidates = w.reshape(candidates, {shape[0] * shape[1], shape[2]});
  auto forRow = [&](const LinalgWriter::Index &row, const MlirValues &picked) {
    MlirScalar number = w.fromIndex(row);
    LinalgWriter::Index batch =
        w.toIndex(number / number.like(double(shape[1])));
    MlirValue count = w.fromScalar(w.scalar(ElemKind::Int64, 0));
    auto forCandidate = [&](const LinalgWriter::Index &i,
                            const MlirValues &carried) {
      return visit(batch, row, i, carried);
    };
    MlirValues results =
        w.forLoop(w.index(shape[2]), {picked[0], count}, forCandidate);
    return MlirValues{results[0]};
  };
  MlirValue picked = w.forLoop(w.index(flat.getDim(0)), start, forRow).front();
  return w.reshape(picked, type.getShape());
}

static MlirValue writeNonMaxSuppression(LinalgWriter &w,
                                        const NonMaxSuppressionNode &node) {
  return Suppression(w, node).write();
}
static const MlirForm suppression = writeNonMaxSuppression;
