//===- DataSet.cpp - Samples to learn from --------------------------------===//

#include "model-trainer/DataSet.h"
#include "glowish/Base/CheckedInt.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Random.h"
#include <numeric>

using namespace glowish;

/// Whether an element of kind \p from can become one of kind \p to: to a float
/// everything can, to an integer an integer.
static bool isConvertible(ElemKind from, ElemKind to) {
  return isFloatKind(to) || !isFloatKind(from);
}

llvm::Error glowish::checkSamples(const SampleArray &array, const Type &type,
                                  int64_t batchSize, bool sameShape) {
  DimsRef shape = type.getShape();
  ElemKind kind = array.values.getType().getKind();
  if (shape.empty() || shape.front() % batchSize)
    return makeError("'{0}' is {1}; accepted: a first dimension of -batch-size "
                     "({2})",
                     array.name, type.str(), batchSize);
  bool fits = sameShape
                  ? array.getSampleShape() == shape.drop_front() &&
                        shape.front() == batchSize
                  : (CheckedInt(array.getSampleSize()) * batchSize).get() ==
                        type.getNumElements();
  if (!fits || !isConvertible(kind, type.getKind()))
    return makeError("'{0}' has samples of {1}; '{2}' is {3} for a batch of "
                     "{4}",
                     array.origin, Type(kind, array.getSampleShape()).str(),
                     array.name, type.str(), batchSize);
  return llvm::Error::success();
}

/// Converts the sample at element \p from to elements at \p to.
static void convertSample(const SampleArray &array, int64_t from, Tensor &batch,
                          int64_t to) {
  int64_t size = array.getSampleSize();
  if (!isFloatKind(batch.getType().getKind())) {
    for (int64_t i = 0; i < size; ++i)
      batch.setFromDouble(to + i, double(array.values.getAsInt(from + i)));
    return;
  }
  int64_t inner = countElements(array.getSampleShape().drop_front(
      array.means.size() > 1 ? array.channelAxis + 1
                             : array.getSampleShape().size()));
  for (int64_t i = 0; i < size; ++i) {
    double mean = array.means[size_t(i / inner) % array.means.size()];
    batch.setFromDouble(to + i, (array.values.getAsDouble(from + i) - mean) *
                                    array.scale);
  }
}

void glowish::copySamples(const SampleArray &array,
                          llvm::ArrayRef<int64_t> rows, Tensor &batch) {
  ElemKind kind = array.values.getType().getKind();
  int64_t size = array.getSampleSize();
  bool isPlain = kind == batch.getType().getKind() && array.scale == 1 &&
                 array.means == std::vector<double>{0};
  int64_t bytes = size * getElemSize(kind);
  auto *to = static_cast<uint8_t *>(batch.getBytes());
  const uint8_t *from = array.values.getByteRange().data();
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (isPlain)
      std::copy_n(from + row * bytes, bytes, to + int64_t(i) * bytes);
    else
      convertSample(array, row * size, batch, int64_t(i) * size);
  }
}

std::vector<int64_t> glowish::shuffleSamples(int64_t count, uint64_t seed,
                                             uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  // The epoch's own sequence, which no other epoch has to be drawn for.
  Random random(Random(seed).next() ^ Random(~epoch).next());
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[size_t(i)], order[random.below(uint64_t(i) + 1)]);
  return order;
}

static SampleArray selectRows(const SampleArray &array,
                              llvm::ArrayRef<int64_t> rows) {
  SampleArray result = {array.name,  array.origin,      Tensor(),
                        array.means, array.channelAxis, array.scale};
  Dims shape(array.values.getType().getShape());
  shape.front() = int64_t(rows.size());
  result.values = Tensor(array.values.getType().withShape(shape));
  int64_t bytes =
      array.getSampleSize() * getElemSize(array.values.getType().getKind());
  auto *to = static_cast<uint8_t *>(result.values.getBytes());
  for (auto [i, row] : llvm::enumerate(rows))
    std::copy_n(array.values.getByteRange().data() + row * bytes, bytes,
                to + int64_t(i) * bytes);
  return result;
}

DataSet glowish::selectSamples(const DataSet &data,
                               llvm::ArrayRef<int64_t> rows) {
  DataSet result;
  for (const SampleArray &input : data.inputs)
    result.inputs.push_back(selectRows(input, rows));
  result.label = selectRows(data.label, rows);
  result.classes = data.classes;
  return result;
}
