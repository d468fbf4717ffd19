//===- AttentionRows.cpp - Attention of few queries -----------------------===//

#include "Kernels/MatMul/AttentionRows.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/Math/EmittedScalar.h"
#include "Kernels/Math/LaneSums.h"

using namespace glowish;
using llvm::Value;

bool AttentionRows::accepts(KernelBuilder &b, const AttentionShape &shape,
                            const AttentionOperands &operands) {
  return b.getSumLanes(operands.query.kind) > 1 && shape.keys > 0 &&
         (operands.key.getInnerStride() == 1 || shape.depth <= 1) &&
         (operands.value.getInnerStride() == 1 || shape.columns <= 1);
}

/// The smallest divisor of \p number that is larger than \p divisor.
static int64_t findNextDivisor(int64_t number, int64_t divisor) {
  do
    ++divisor;
  while (number % divisor != 0);
  return divisor;
}

AttentionRows::AttentionRows(KernelBuilder &b, const AttentionShape &shape,
                             AttentionOperands operands, StridedOperand mask,
                             AttentionBounds bounds)
    : b(b), shape(shape), operands(std::move(operands)), mask(std::move(mask)),
      bounds(std::move(bounds)), elementKind(this->operands.query.kind),
      kind(getValueKind(elementKind)), lanes(b.getSumLanes(elementKind)),
      columnLanes(b.getRegisterLanes(kind)), numOuter(shape.batch.size()) {
  auto isShared = [&](size_t dim) {
    return shape.batch[dim] == 1 || (this->operands.key.strides[dim] == 0 &&
                                     this->operands.value.strides[dim] == 0);
  };
  while (numOuter > 0 && isShared(numOuter - 1))
    numShared *= shape.batch[--numOuter];
  auto round = [](int64_t extent, int64_t unit) {
    return (extent + unit - 1) / unit * unit;
  };
  depthWidth = round(shape.depth, lanes);
  scoreWidth = round(shape.keys, lanes);
  columnWidth = round(shape.columns, columnLanes);
  // Few groups are divided, so that no thread is without.
  int64_t heads = countElements(shape.batch);
  int64_t numThreads = b.getTarget().numThreads;
  while (numParts < numShared && heads / numShared * numParts < numThreads)
    numParts = findNextDivisor(numShared, numParts);
  // Half of what blocks have, of which there may be some in the same kernel.
  mostRows = std::min(std::min(shape.queries, mostQueries) * numShared,
                      int64_t(lanes));
}

void AttentionRows::allocate() {
  auto allocateRows = [&](llvm::Type *type, int64_t width) {
    return b.allocate(type, mostRows * width);
  };
  llvm::Type *type = b.getStorageTy(kind);
  queries = allocateRows(type, depthWidth);
  scores = allocateRows(type, scoreWidth);
  sums = allocateRows(type, columnWidth);
  factors = allocateRows(type, 1);
  if (mask.base)
    maskRows = allocateRows(b.getPtrTy(), 1);
}

//===- Rows ---------------------------------------------------------------===//

/// The number of the query of row \p row.
Value *AttentionRows::getQuery(const Pass &pass, Value *row) {
  return b.CreateUDiv(b.CreateNSWAdd(pass.first, row), b.index(numShared));
}

/// The indices of row \p row.
Values AttentionRows::getIndex(const Pass &pass, Value *row) {
  Value *member =
      b.CreateURem(b.CreateNSWAdd(pass.first, row), b.index(numShared));
  Values index(pass.group);
  index.append(b.splitIndex(member, DimsRef(shape.batch).drop_front(numOuter)));
  index.push_back(getQuery(pass, row));
  return index;
}

Value *AttentionRows::getFirst(const Pass &pass,
                               const StridedOperand &operand) {
  Values index(pass.group);
  index.resize(shape.batch.size(), b.index(0));
  return operand.getAddress(b, index);
}

/// Begins row \p row.
void AttentionRows::packRow(const Pass &pass, Value *row) {
  Values index = getIndex(pass, row);
  Value *query = operands.query.getAddress(b, index);
  int64_t stride = operands.query.getInnerStride();
  b.forVectors(shape.depth, lanes, [&](Value *k, unsigned active) {
    Value *x =
        b.loadStrided(elementKind, b.getElement(query, elementKind, k, stride),
                      active, stride);
    x = b.CreateFMul(x, b.literal(kind, shape.scale, active));
    b.store(kind, b.padWithZeros(x, kind, lanes),
            getElement(queries, row, depthWidth, k));
  });
  b.forVectors(columnWidth, columnLanes, [&](Value *column, unsigned) {
    b.store(kind, b.literal(kind, 0, columnLanes),
            getElement(sums, row, columnWidth, column));
  });
  if (mask.base)
    b.CreateStore(mask.getAddress(b, index), getMaskPlace(row));
  // The last vector of scores may have lanes without a key. There may be none.
  Value *number = b.maxIndex(b.CreateNSWSub(pass.keys, b.index(1)), b.index(0));
  Value *last = b.scaleIndex(b.CreateUDiv(number, b.index(lanes)), lanes);
  b.store(kind, b.literal(kind, hiddenScore, lanes),
          getElement(scores, row, scoreWidth, last));
}

//===- Scores -------------------------------------------------------------===//

/// The scores of row \p row with \p numKeys keys at \p keys: vectors of as many
/// lanes as there are sums together.
Values AttentionRows::multiplyKeys(Value *row, Value *keys, int64_t numKeys) {
  int64_t rowStride = operands.key.strides[operands.key.strides.size() - 2];
  auto addVectors = [&](Value *k, unsigned active,
                        llvm::ArrayRef<Value *> carried) {
    Value *x = b.load(kind, getElement(queries, row, depthWidth, k), lanes);
    Values next;
    for (int64_t i = 0; i < numKeys; ++i) {
      Value *address = b.getElement(keys, elementKind,
                                    b.CreateNSWAdd(k, b.index(i * rowStride)));
      Value *y =
          b.padWithZeros(b.load(elementKind, address, active), kind, lanes);
      next.push_back(b.multiplyAdd(x, y, carried[i]));
    }
    return next;
  };
  int64_t whole = shape.depth / lanes;
  auto left = unsigned(shape.depth % lanes);
  Values keySums = b.forUnrolled(
      whole, /*unroll=*/4, Values(size_t(numKeys), b.literal(kind, 0, lanes)),
      [&](Value *i, llvm::ArrayRef<Value *> carried) {
        return addVectors(b.scaleIndex(i, lanes), lanes, carried);
      });
  if (left)
    keySums = addVectors(b.index(whole * lanes), left, keySums);
  Values results;
  for (int64_t first = 0; first < numKeys; first += lanes) {
    int64_t count = std::min<int64_t>(lanes, numKeys - first);
    Values part(keySums.begin() + first, keySums.begin() + first + count);
    part.resize(llvm::PowerOf2Ceil(uint64_t(count)), b.literal(kind, 0, lanes));
    results.push_back(b.takeLanes(sumLanes(b, part), unsigned(count)));
  }
  return results;
}

/// \p scores of row \p row with keys from \p key on.
Value *AttentionRows::maskScores(const Pass &pass, Value *scores, Value *row,
                                 Value *key) {
  unsigned count = KernelBuilder::getLanes(scores);
  if (mask.base) {
    Value *maskRow = b.CreateLoad(b.getPtrTy(), getMaskPlace(row));
    int64_t stride = mask.getInnerStride();
    Value *address = b.getElement(maskRow, mask.kind, key, stride);
    scores =
        b.CreateFAdd(scores, b.loadStrided(mask.kind, address, count, stride));
  }
  if (!hidesKeys())
    return scores;
  Value *end = bounds.keys ? bounds.keys : b.index(shape.keys);
  if (shape.causal)
    end = b.minIndex(end,
                     b.CreateNSWAdd(getQuery(pass, row),
                                    b.index(shape.keys - shape.queries + 1)));
  // Numbers of 32 bits fill as many lanes as floats.
  llvm::Type *type = b.getInt32Ty();
  Value *left = b.CreateSExtOrTrunc(b.CreateNSWSub(end, key), type);
  Value *isSeen =
      b.CreateICmpSLT(b.numberLanes(type, count), b.splat(left, count));
  return b.CreateSelect(isSeen, scores, b.literal(kind, hiddenScore, count));
}

/// The scores of row \p row with \p numKeys of \p keys, from number \p first
/// on.
void AttentionRows::emitTileScores(const Pass &pass, Value *keys, Value *row,
                                   Value *first, int64_t numKeys) {
  const StridedOperand &key = operands.key;
  int64_t rowStride = key.strides[shape.batch.size()];
  Value *tile = b.getElement(keys, elementKind, first, rowStride);
  int64_t done = 0;
  for (Value *part : multiplyKeys(row, tile, numKeys)) {
    Value *number = b.CreateNSWAdd(first, b.index(done));
    b.store(kind, maskScores(pass, part, row, number),
            getElement(scores, row, scoreWidth, number));
    done += KernelBuilder::getLanes(part);
  }
}

void AttentionRows::emitScores(const Pass &pass) {
  // Half the registers are sums.
  const TargetDescription &target = b.getTarget();
  unsigned perSum = std::max(1u, lanes / columnLanes);
  auto most = int64_t(llvm::bit_floor(target.numVectorRegisters / 2 / perSum));
  int64_t size = std::min(std::max<int64_t>(most, 1), shape.keys);
  Value *tiles = b.divideUp(pass.keys, size);
  Value *keys = getFirst(pass, operands.key);
  b.forLoop(tiles, [&](Value *tile) {
    // The last tile may begin earlier, so that it ends with the keys.
    Value *first =
        b.minIndex(b.scaleIndex(tile, size), b.index(shape.keys - size));
    forRows(pass,
            [&](Value *row) { emitTileScores(pass, keys, row, first, size); });
  });
}

/// e^(score - largest) in the place of the scores of row \p row, and its
/// factor.
void AttentionRows::emitSoftmax(const Pass &pass, Value *row) {
  auto forScores = [&](double start, auto combine) {
    Value *address = getElement(scores, row, scoreWidth, b.index(0));
    return b.forLoop(
        b.index(0), pass.keys, lanes, Values(1, b.literal(kind, start, lanes)),
        [&](Value *key, llvm::ArrayRef<Value *> carried) {
          return Values(1,
                        combine(carried[0], b.getElement(address, kind, key)));
        })[0];
  };
  auto getLarger = [&](Value *x, Value *y) {
    // NaN is in the sum of the powers in any case.
    return b.CreateSelect(b.CreateFCmpOLT(x, y), y, x);
  };
  Value *largest = forScores(hiddenScore, [&](Value *before, Value *address) {
    return getLarger(before, b.load(kind, address, lanes));
  });
  largest = clearMasked(b, kind, shape, b.reduceLanes(largest, getLarger));
  largest = b.splat(largest, lanes);
  Value *sum = forScores(0, [&](Value *before, Value *address) {
    Value *e =
        vectormath::exp(b, b.CreateFSub(b.load(kind, address, lanes), largest));
    b.store(kind, e, address);
    return b.CreateFAdd(before, e);
  });
  sum = b.reduceLanes(sum,
                      [&](Value *x, Value *y) { return b.CreateFAdd(x, y); });
  b.storeElement(kind, divideBySum(b, kind, 1, sum, shape, bounds), factors,
                 row);
}

//===- The result ---------------------------------------------------------===//

unsigned AttentionRows::getColumnVectors() const {
  // Beside the sums: an element of the row, and what it is multiplied with.
  int64_t most = b.getTarget().numVectorRegisters >= 32 ? 16 : 12;
  int64_t vectors = columnWidth / columnLanes;
  int64_t tiles = (vectors + most - 1) / most;
  return unsigned((vectors + tiles - 1) / tiles);
}

/// Adds \p count values, from number \p key on at \p values, times the scores
/// of row \p row to its sums.
void AttentionRows::addValues(Value *row, Value *key, Value *count,
                              Value *values) {
  const StridedOperand &value = operands.value;
  auto addColumns = [&](Value *column, unsigned vectors, unsigned lastLanes) {
    MicroKernel microKernel{kind,
                            columnLanes,
                            lastLanes,
                            /*pixels=*/1,
                            vectors,
                            /*pixelStride=*/scoreWidth,
                            /*rowStride=*/value.strides[shape.batch.size()],
                            /*isPadded=*/false,
                            /*stepStride=*/1,
                            value.getInnerStride()};
    microKernel.weightKind = elementKind;
    Value *place = getElement(sums, row, columnWidth, column);
    Values own = b.loadVectors(kind, place, vectors, columnLanes, columnLanes);
    Value *at =
        b.getElement(values, elementKind, column, value.getInnerStride());
    own = microKernel.accumulate(
        b, count, getElement(scores, row, scoreWidth, key), at, std::move(own));
    b.storeVectors(kind, own, place, columnLanes);
  };
  forColumnTiles(b, shape.columns, getColumnVectors(), columnLanes, addColumns);
}

/// Some values stay in the first cache while all rows take them.
void AttentionRows::emitSums(const Pass &pass) {
  int64_t rowBytes =
      std::max<int64_t>(shape.columns, 1) * int64_t(getElemSize(elementKind));
  constexpr int64_t chunkBytes = 16 << 10;
  int64_t chunk = std::max<int64_t>(chunkBytes / rowBytes, 4);
  int64_t rowStride = operands.value.strides[shape.batch.size()];
  Value *values = getFirst(pass, operands.value);
  b.forLoop(b.index(0), pass.keys, chunk, [&](Value *key) {
    Value *count = b.minIndex(b.CreateNSWSub(pass.keys, key), b.index(chunk));
    Value *first = b.getElement(values, elementKind, key, rowStride);
    forRows(pass, [&](Value *row) { addValues(row, key, count, first); });
  });
}

void AttentionRows::storeRow(const Pass &pass, Value *row) {
  const StridedOperand &result = operands.result;
  Value *address = result.getAddress(b, getIndex(pass, row));
  Value *factor = b.loadElement(kind, factors, row, 1);
  b.forVectors(shape.columns, columnLanes, [&](Value *column, unsigned active) {
    Value *sum =
        b.load(kind, getElement(sums, row, columnWidth, column), active);
    b.storeStrided(
        elementKind, b.CreateFMul(sum, b.splat(factor, active)),
        b.getElement(address, elementKind, column, result.getInnerStride()),
        result.getInnerStride());
  });
}

//===- Tasks --------------------------------------------------------------===//

void AttentionRows::emitPass(const Pass &pass) {
  forRows(pass, [&](Value *row) { packRow(pass, row); });
  emitScores(pass);
  forRows(pass, [&](Value *row) { emitSoftmax(pass, row); });
  emitSums(pass);
  forRows(pass, [&](Value *row) { storeRow(pass, row); });
}

/// Part \p part of the rows of the heads of \p group.
void AttentionRows::emitPart(llvm::ArrayRef<Value *> group, Value *part) {
  Value *needed = bounds.queries ? bounds.queries : b.index(shape.queries);
  Value *begin = b.index(0), *end = b.scaleIndex(needed, numShared);
  if (numParts > 1) {
    Value *share = b.divideUp(end, numParts);
    begin = b.CreateNSWMul(part, share);
    end = b.minIndex(b.CreateNSWAdd(begin, share), end);
  }
  b.forLoop(begin, end, mostRows, [&](Value *first) {
    Pass pass = {.group = Values(group),
                 .first = first,
                 .count =
                     b.minIndex(b.CreateNSWSub(end, first), b.index(mostRows)),
                 .keys = bounds.keys ? bounds.keys : b.index(shape.keys)};
    if (shape.causal) {
      Value *last = getQuery(pass, b.CreateNSWSub(pass.count, b.index(1)));
      Value *seen =
          b.CreateNSWAdd(last, b.index(shape.keys - shape.queries + 1));
      pass.keys = b.maxIndex(b.minIndex(pass.keys, seen), b.index(0));
    }
    emitPass(pass);
  });
}

void AttentionRows::emitTask(Value *task, int64_t count) {
  DimsRef outer = DimsRef(shape.batch).take_front(numOuter);
  // Those between have none: so threads share the rows as they do tasks.
  int64_t perPart = count / (countElements(outer) * numParts);
  Value *number = b.CreateUDiv(task, b.index(perPart));
  Value *isFirst =
      b.CreateICmpEQ(b.CreateURem(task, b.index(perPart)), b.index(0));
  b.ifThen(isFirst, [&] {
    Value *group = b.CreateUDiv(number, b.index(numParts));
    emitPart(b.splitIndex(group, outer),
             b.CreateURem(number, b.index(numParts)));
  });
}

void AttentionRows::emit() {
  allocate();
  int64_t heads = countElements(shape.batch);
  int64_t operations =
      2 * heads * shape.queries * shape.keys * (shape.depth + shape.columns);
  int64_t tasks = heads / numShared * numParts;
  LoopExtents extents = bounds.batch.slice(0, numOuter);
  extents.push_back(numParts);
  b.forTasks(extents, operations, [&](Value *task) { emitTask(task, tasks); });
}
