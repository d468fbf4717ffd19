//===- Indexing.cpp - Elements at computed places in TOSA -----------------===//
//
// TOSA neither sorts nor loops over elements: what these nodes compute is
// composed of operations on whole tensors.
//
//===----------------------------------------------------------------------===//

#include "MLIR/Tosa/TosaWriter.h"

using namespace glowish;

/// 0, 1, ... of int32 along dimension \p axis of \p rank, the others of
/// extent 1.
static MlirValue makeIndices(TosaWriter &w, unsigned rank, int64_t axis,
                             int64_t count) {
  Dims shape(rank, 1);
  shape[axis] = count;
  return w.table(ElemKind::Int32, shape, [](int64_t i) { return double(i); });
}

//===- DynamicUpdateSlice -------------------------------------------------===//

/// Each element of the result is gathered from the update, and then chosen
/// where the update lies.
static MlirValue writeTosaUpdateSlice(TosaWriter &w,
                                      const DynamicUpdateSliceNode &node) {
  MlirValue input = w.get(node.getInput()), update = w.get(node.getUpdate());
  int64_t axis = node.getAxis(), length = update.getShape()[axis];
  if (update.type.getNumElements() == 0)
    return input;
  unsigned rank = input.getRank();
  int64_t extent = input.getShape()[axis];
  MlirValue start = w.reshape(w.get(node.getStart()), {});
  start = w.map(ElemKind::Int32, {}, {start}, [&](auto elements) {
    return max(min(elements[0], double(extent - length)), 0.0);
  });
  MlirValue places =
      w.mapSame(ElemKind::Int32, {makeIndices(w, rank, axis, extent), start},
                [](auto elements) { return elements[0] - elements[1]; });
  MlirValue isInside = w.mapSame(ElemKind::Bool, {places}, [&](auto elements) {
    return elements[0] >= 0.0 && elements[0] < double(length);
  });
  // A gather takes those below 0 from the end; they are not chosen.
  MlirValue moved = w.gather(update, w.reshape(places, {extent}), axis,
                             update.type.withShape(input.getShape()));
  return w.mapElements(input.getKind(), input.getShape(),
                       {isInside, moved, input}, [](auto elements) {
                         return select(elements[0], elements[1], elements[2]);
                       });
}
static const MlirForm updateSlice = writeTosaUpdateSlice;

//===- TopK ---------------------------------------------------------------===//

/// The number of elements of its row that come before each one, by comparing
/// all pairs; then the element of rank k is the k-th.
static const MlirForm topK = [](TosaWriter &w, const TopKNode &node) {
  const Type &type = node.getType();
  if (type.getNumElements() == 0)
    return w.splat(type, 0);
  MlirValue x = w.getWide(node.getInput());
  unsigned rank = x.getRank();
  int64_t length = x.getShape().back();
  Dims asColumn(x.getShape()), asRow(x.getShape());
  asColumn.push_back(1);
  asRow.insert(asRow.end() - 1, 1);
  MlirValue isBefore = w.mapSame(ElemKind::Int32,
                                 {w.reshape(x, asColumn), w.reshape(x, asRow),
                                  makeIndices(w, rank + 1, rank - 1, length),
                                  makeIndices(w, rank + 1, rank, length)},
                                 [&](auto elements) {
                                   MlirScalar before = isRankedBefore(
                                       elements[1], elements[0],
                                       /*isEarlier=*/elements[3] < elements[2],
                                       node.getLargest());
                                   return w.castScalar(before, ElemKind::Int32);
                                 });
  MlirValue ranks =
      w.reduce("sum", isBefore, int64_t(rank), /*keepDims=*/false);
  MlirValue chosen =
      w.mapSame(ElemKind::Int32,
                {w.reshape(ranks, asRow),
                 makeIndices(w, rank + 1, rank - 1, node.getCount()),
                 makeIndices(w, rank + 1, rank, length)},
                [](auto elements) {
                  return select(elements[0] == elements[1], elements[2],
                                elements[2].like(0));
                });
  return w.reduce("sum", chosen, int64_t(rank), /*keepDims=*/false);
};
