//===- AttentionInteger.cpp - Attention of 8-bit integers -----------------===//
//
// Several elements lie side by side in a word of 32 bits, as many as the
// target's instruction for dot products multiplies in a lane:
//
//   keys     [keys, depth / elements]     packed once a task
//   panel    [depth / elements, queries]
//   weights  [keys / elements, queries]   in the place of the scores
//   values   [keys / elements, columns]   packed once a task
//
// Words that lack elements at the end are filled up with zeros.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/MatMul/Attention.h"
#include "Kernels/MatMul/AttentionBlocks.h"
#include "Kernels/MatMul/MicroKernel.h"
#include "Kernels/Math/DotInstrs.h"
#include <bit>

using namespace glowish;
using llvm::Value;

static constexpr ElemKind wordKind = ElemKind::Int32;

/// How many elements \p dot multiplies in a lane.
static int64_t countElementsPerWord(DotInstr dot) {
  switch (dot) {
  case DotInstr::None:
    return 1;
  case DotInstr::Pairs:
    return 2;
  case DotInstr::UnsignedQuads:
  case DotInstr::SignedQuads:
    return 4;
  case DotInstr::BFloat16Pairs:
    break;
  }
  llvm_unreachable("not an instruction for integers");
}

static int64_t divideUp(int64_t x, int64_t y) { return (x + y - 1) / y; }

bool glowish::fitsAttentionInteger(int64_t keys, int64_t depth, int64_t columns,
                                   const TargetDescription &own) {
  // The lowered form adds powers in another order.
  const TargetDescription &target = own.getSumTarget();
  // Sums of products of 8 bits and 9.
  if (depth > 32768)
    return false;
  int64_t lanes = target.getComputeLanes(wordKind);
  int64_t elements = countElementsPerWord(target.dot);
  int64_t width = AttentionBlocks::maxVectors * lanes;
  int64_t groups = divideUp(keys, elements);
  int64_t words = groups * elements * width +
                  (keys + width) * divideUp(depth, elements) +
                  groups * divideUp(columns, lanes) * lanes + keys;
  return words <= target.maxStackBytes / 2 / 4;
}

namespace {

/// How an operand's integers of 8 bits, \p from, become elements of words,
/// \p to: \p shift is taken from each. The elements have what is left of the
/// operand's zero point.
struct ElementForm {
  ElemKind from, to;
  int64_t shift = 0, zeroPoint = 0;
};

struct IntegerAttentionOperands {
  StridedOperand result, query, key, value, mask;
  EpilogueCode epilogue;
};

class AttentionIntegerEmitter final : public AttentionBlocks {
public:
  AttentionIntegerEmitter(KernelBuilder &b, const AttentionIntegerInstr &instr,
                          IntegerAttentionOperands operands,
                          AttentionBounds bounds);

private:
  using Indices = llvm::ArrayRef<Value *>;

  int64_t countBlocksPerTask(int64_t heads, int64_t blocks) const override;
  void allocateMore() override;
  void beginTask(Indices head) override;
  void packQueries(const Block &block) override;
  Values sumQueries(const Block &block);
  Values multiplyKeys(const Block &block, const Tiling &tiling,
                      Value *first) override;
  void emitSums(const Block &block) override;
  double getWeightOfOne() const override { return 1 / instr.getWeightScale(); }
  int64_t getPanelRows() const override { return depthWords; }
  /// valueSums are of all keys.
  bool skipsUnseenKeys() const override { return weightShift == 0; }
  int64_t getKeyGroup() const override { return elements; }

  ElementForm getForm(ElemKind from, int64_t zeroPoint, bool isUnsigned) const;
  Value *convert(Value *integers, const ElementForm &form);
  Value *loadWords(const StridedOperand &operand, const ElementForm &form,
                   Value *address, int64_t count);
  void forWords(llvm::function_ref<void(Value *, int64_t)> body);
  void packKeys(Indices head);
  Value *sumKey(Value *words);
  Values
  forKeyGroups(Values start,
               llvm::function_ref<Values(Value *, int64_t, Indices)> body);
  void packValues(Indices head);
  Value *joinValues(Value *corner, int64_t rows, unsigned active);
  Value *roundWeight(Value *weight);
  Value *countGroups(const Block &block);
  void roundWeights(const Block &block);
  void emitColumns(const Block &block, Value *column, unsigned vectors,
                   unsigned lastLanes);
  Value *getWords(Value *base, Value *row, int64_t rowWords) {
    return b.getElement(base, wordKind, row, rowWords);
  }
  /// \p byte in all elements of 8 bits.
  Value *fillWords(uint32_t byte) {
    return b.literal(wordKind, int32_t(byte * 0x01010101u), lanes);
  }

  const AttentionIntegerInstr &instr;
  IntegerAttentionOperands operands;
  DotInstr dot;
  /// Of a word.
  int64_t elements;
  /// Of a row of the panel and a key, and of a row of the values.
  int64_t depthWords, columnWords;
  ElementForm queryForm, keyForm, valueForm;
  /// What is taken from each weight, so that it fits its element.
  int64_t weightShift = 0;
  Value *keyWords = nullptr, *valueWords = nullptr;
  /// [keys]: what the sums of scores start with, where the queries' elements
  /// have a zero point.
  Value *keySums = nullptr;
  /// The same for the queries of a block, where the keys are shifted: without
  /// that, all scores of a query would be large, and floats round them more.
  Values querySums;
  /// [columns]: what the sums of the result start with, where weights are
  /// shifted.
  Value *valueSums = nullptr;
  /// [queries]: what is taken from these sums, where the values' elements have
  /// a zero point.
  Value *weightSums = nullptr;
};

} // namespace

AttentionIntegerEmitter::AttentionIntegerEmitter(
    KernelBuilder &b, const AttentionIntegerInstr &instr,
    IntegerAttentionOperands own, AttentionBounds bounds)
    : AttentionBlocks(b, AttentionShape::of(instr), own.mask, std::move(bounds),
                      ElemKind::Float, wordKind),
      instr(instr), operands(std::move(own)), dot(b.getTarget().dot),
      elements(countElementsPerWord(dot)),
      depthWords(divideUp(shape.depth, elements)),
      columnWords(divideUp(shape.columns, lanes) * lanes),
      queryForm(getForm(operands.query.kind, instr.getQueryZeroPoint(),
                        /*isUnsigned=*/false)),
      // A zero point of keys does not matter.
      keyForm(getForm(operands.key.kind, /*zeroPoint=*/0,
                      /*isUnsigned=*/dot == DotInstr::UnsignedQuads)),
      valueForm(getForm(operands.value.kind, instr.getValueZeroPoint(),
                        /*isUnsigned=*/false)) {
  if (dot == DotInstr::SignedQuads && instr.getMaxWeight() > 127)
    weightShift = 128;
}

/// What is packed for a head serves all its blocks; but threads share heads
/// where there are few.
int64_t AttentionIntegerEmitter::countBlocksPerTask(int64_t heads,
                                                    int64_t blocks) const {
  int64_t threads = b.getTarget().numThreads;
  if (threads == 1)
    return blocks;
  int64_t parts = std::clamp<int64_t>(divideUp(4 * threads, heads), 1, blocks);
  return divideUp(blocks, parts);
}

void AttentionIntegerEmitter::allocateMore() {
  int64_t groups = divideUp(shape.keys, elements);
  keyWords = b.allocate(wordKind, shape.keys * depthWords);
  valueWords = b.allocate(wordKind, groups * columnWords);
  if (queryForm.zeroPoint)
    keySums = b.allocate(wordKind, shape.keys);
  if (weightShift)
    valueSums = b.allocate(wordKind, columnWords);
  if (valueForm.zeroPoint)
    weightSums = b.allocate(wordKind, maxVectors * lanes);
}

void AttentionIntegerEmitter::beginTask(Indices head) {
  packKeys(head);
  packValues(head);
}

//===- Elements and words -------------------------------------------------===//

/// Elements of 8 bits keep a zero point; wider ones have none.
ElementForm AttentionIntegerEmitter::getForm(ElemKind from, int64_t zeroPoint,
                                             bool isUnsigned) const {
  if (elements < 4)
    return {from, elements == 2 ? ElemKind::Int16 : wordKind, zeroPoint, 0};
  ElemKind to = isUnsigned ? ElemKind::UInt8 : ElemKind::Int8;
  int64_t shift = from == to ? 0 : isUnsigned ? -128 : 128;
  return {from, to, shift, zeroPoint - shift};
}

Value *AttentionIntegerEmitter::convert(Value *integers,
                                        const ElementForm &form) {
  llvm::Type *type = b.getComputeTy(form.to, KernelBuilder::getLanes(integers));
  integers = b.CreateIntCast(integers, type, isSignedIntegerKind(form.from));
  return b.CreateSub(integers, llvm::ConstantInt::getSigned(type, form.shift));
}

/// \p count integers of \p operand from \p address on as whole words.
Value *AttentionIntegerEmitter::loadWords(const StridedOperand &operand,
                                          const ElementForm &form,
                                          Value *address, int64_t count) {
  Value *integers = b.loadStrided(operand.kind, address, unsigned(count),
                                  operand.getInnerStride());
  Value *parts = convert(integers, form);
  if (count == 1)
    return b.CreateZExt(parts, b.getInt32Ty());
  int64_t words = divideUp(count, elements);
  llvm::SmallVector<int, 64> filled;
  for (int64_t i = 0; i < words * elements; ++i)
    filled.push_back(int(std::min(i, count)));
  parts = b.CreateShuffleVector(
      parts, llvm::Constant::getNullValue(parts->getType()), filled);
  return b.CreateBitCast(parts, b.getComputeTy(wordKind, unsigned(words)));
}

/// Calls \p body(first word, number of elements) for vectors of words of a row
/// of the depth, and then for the last word, if it lacks elements.
void AttentionIntegerEmitter::forWords(
    llvm::function_ref<void(Value *, int64_t)> body) {
  int64_t whole = shape.depth / elements;
  b.forVectors(whole, lanes, [&](Value *word, unsigned active) {
    body(word, active * elements);
  });
  if (int64_t left = shape.depth % elements)
    body(b.index(whole), left);
}

//===- Keys and values ----------------------------------------------------===//

void AttentionIntegerEmitter::packKeys(Indices head) {
  const StridedOperand &key = operands.key;
  int64_t rowStride = key.strides[key.strides.size() - 2];
  int64_t wordStride = elements * key.getInnerStride();
  Value *base = key.getAddress(b, head);
  Value *needed = bounds.keys ? bounds.keys : b.index(shape.keys);
  b.forLoop(needed, [&](Value *number) {
    Value *row = b.getElement(base, key.kind, number, rowStride);
    Value *words = getWords(keyWords, number, depthWords);
    forWords([&](Value *word, int64_t count) {
      Value *from = b.getElement(row, key.kind, word, wordStride);
      b.storeElement(wordKind, loadWords(key, keyForm, from, count), words,
                     word);
    });
    if (keySums)
      b.storeElement(
          wordKind,
          b.CreateMul(sumKey(words),
                      b.literal(wordKind, -double(queryForm.zeroPoint), 1)),
          keySums, number);
  });
}

/// The sum of the elements of a key.
Value *AttentionIntegerEmitter::sumKey(Value *words) {
  // Unsigned elements are on the left.
  Values sums = {b.literal(wordKind, 0, lanes)};
  auto add = [&](Value *sum, Value *word, unsigned active) {
    Value *loaded = b.loadElement(wordKind, words, word, active);
    if (active < lanes) {
      llvm::SmallVector<int, 16> filled;
      for (unsigned i = 0; i < lanes; ++i)
        filled.push_back(int(std::min(i, active)));
      loaded =
          active == 1
              ? b.CreateInsertElement(b.literal(wordKind, 0, lanes), loaded,
                                      uint64_t(0))
              : b.CreateShuffleVector(
                    loaded, llvm::Constant::getNullValue(loaded->getType()),
                    filled);
    }
    return emitDot(b, dot, sum, loaded, fillWords(1));
  };
  int64_t whole = depthWords / lanes * lanes;
  sums = b.forLoop(b.index(0), b.index(whole), lanes, sums,
                   [&](Value *word, Indices carried) -> Values {
                     return {add(carried[0], word, lanes)};
                   });
  if (whole < depthWords)
    sums[0] = add(sums[0], b.index(whole), unsigned(depthWords - whole));
  return b.reduceLanes(sums[0],
                       [&](Value *x, Value *y) { return b.CreateAdd(x, y); });
}

/// Words of \p rows rows of values, from \p corner on, for \p active columns.
Value *AttentionIntegerEmitter::joinValues(Value *corner, int64_t rows,
                                           unsigned active) {
  const StridedOperand &value = operands.value;
  int64_t rowStride = value.strides[value.strides.size() - 2];
  llvm::Type *type = b.getComputeTy(wordKind, active);
  Value *words = llvm::Constant::getNullValue(type);
  for (int64_t row = 0; row < rows; ++row) {
    Value *integers = b.loadStrided(
        value.kind, b.getElement(corner, value.kind, row * rowStride), active,
        value.getInnerStride());
    Value *part = b.CreateZExt(convert(integers, valueForm), type);
    words = b.CreateOr(words, b.CreateShl(part, uint64_t(row * 32 / elements)));
  }
  return words;
}

/// Calls \p body(group, its keys, values) for the groups that have a key that
/// is needed; the values are passed on.
Values AttentionIntegerEmitter::forKeyGroups(
    Values start, llvm::function_ref<Values(Value *, int64_t, Indices)> body) {
  if (!bounds.keys)
    return b.forGroups(shape.keys, elements, start, body);
  int64_t whole = shape.keys / elements, left = shape.keys % elements;
  Value *end = b.divideUp(bounds.keys, elements);
  auto emitFrom = [&](Value *low, Value *high, int64_t count, Values values) {
    return b.forLoop(low, high, 1, values, [&](Value *group, Indices carried) {
      return body(group, count, carried);
    });
  };
  Values values = emitFrom(b.index(0), b.minIndex(end, b.index(whole)),
                           elements, std::move(start));
  return left ? emitFrom(b.index(whole), end, left, std::move(values)) : values;
}

void AttentionIntegerEmitter::packValues(Indices head) {
  const StridedOperand &value = operands.value;
  int64_t rowStride = value.strides[value.strides.size() - 2];
  Value *base = value.getAddress(b, head);
  b.forVectors(shape.columns, lanes, [&](Value *column, unsigned active) {
    Value *top = b.getElement(base, value.kind, column, value.getInnerStride());
    auto pack = [&](Value *group, int64_t rows, Indices sums) -> Values {
      Value *corner =
          b.getElement(top, value.kind, group, elements * rowStride);
      Value *words = joinValues(corner, rows, active);
      b.storeElement(wordKind, words, getWords(valueWords, group, columnWords),
                     column);
      return {valueSums ? emitDot(b, dot, sums[0], b.widen(words, lanes),
                                  fillWords(1))
                        : sums[0]};
    };
    Values sums = forKeyGroups({b.literal(wordKind, 0, lanes)}, pack);
    if (valueSums)
      b.storeElement(
          wordKind,
          b.CreateMul(sums[0], b.literal(wordKind, double(weightShift), lanes)),
          valueSums, column);
  });
}

//===- Scores -------------------------------------------------------------===//

void AttentionIntegerEmitter::packQueries(const Block &block) {
  const StridedOperand &query = operands.query;
  int64_t rowStride = query.strides[query.strides.size() - 2];
  int64_t wordStride = elements * query.getInnerStride();
  Value *base = query.getAddress(b, block.getRow(b, b.index(0)));
  forWords([&](Value *word, int64_t count) {
    Value *corner = b.getElement(base, query.kind, word, wordStride);
    storePanel(block, word, unsigned(divideUp(count, elements)),
               [&](unsigned v, unsigned lane) {
                 Value *row = b.getElement(corner, query.kind,
                                           (v * lanes + lane) * rowStride);
                 return loadWords(query, queryForm, row, count);
               });
  });
  if (keyForm.shift)
    querySums = sumQueries(block);
}

/// The sums of the queries' elements times the shift of the keys.
Values AttentionIntegerEmitter::sumQueries(const Block &block) {
  Values sums(block.vectors, b.literal(wordKind, 0, lanes));
  sums = b.forLoop(depthWords, sums, [&](Value *word, Indices carried) {
    Values next(carried);
    for (unsigned v = 0; v < block.vectors; ++v) {
      Value *address = b.getElement(getWords(panel, word, block.width),
                                    wordKind, int64_t(v) * lanes);
      next[v] = emitDot(b, dot, next[v], fillWords(1),
                        b.load(wordKind, address, lanes));
    }
    return next;
  });
  double shift = double(keyForm.shift);
  double zeros = shift * double(queryForm.zeroPoint * shape.depth);
  for (Value *&sum : sums)
    sum = b.CreateSub(b.CreateMul(sum, b.literal(wordKind, shift, lanes)),
                      b.literal(wordKind, zeros, lanes));
  return sums;
}

Values AttentionIntegerEmitter::multiplyKeys(const Block &block,
                                             const Tiling &tiling,
                                             Value *first) {
  MicroKernel microKernel{.kind = wordKind,
                          .lanes = lanes,
                          .lastLanes = lanes,
                          .pixels = unsigned(tiling.size),
                          .vectors = block.vectors,
                          .pixelStride = depthWords,
                          .rowStride = block.width,
                          .isPadded = true,
                          .dot = dot};
  Values sums = microKernel.getZeros(b);
  for (unsigned p = 0; p < microKernel.pixels; ++p)
    for (unsigned v = 0; v < block.vectors; ++v) {
      Value *&sum = sums[p * block.vectors + v];
      if (keyForm.shift)
        sum = querySums[v];
      if (!keySums)
        continue;
      Value *number = b.CreateNSWAdd(first, b.index(p));
      Value *start = b.loadElement(wordKind, keySums, number, 1);
      sum = b.CreateAdd(sum, b.splat(start, lanes));
    }
  sums = microKernel.accumulate(b, {0, microKernel.pixels}, depthWords,
                                getWords(keyWords, first, depthWords), panel,
                                std::move(sums));
  for (Value *&sum : sums)
    sum = b.CreateFMul(b.CreateSIToFP(sum, b.getComputeTy(kind, lanes)),
                       b.literal(kind, shape.scale, lanes));
  return sums;
}

//===- Weights ------------------------------------------------------------===//

/// \p weight, in units of weightScale, as an integer.
Value *AttentionIntegerEmitter::roundWeight(Value *weight) {
  Value *zero = b.literal(kind, 0, lanes);
  Value *most = b.literal(kind, double(instr.getMaxWeight()), lanes);
  // Comparisons with NaN are false.
  weight = b.CreateSelect(b.CreateFCmpOGT(weight, zero), weight, zero);
  weight = b.CreateSelect(b.CreateFCmpOLT(weight, most), weight, most);
  // A float of this size has units in its last place: the addition rounds, and
  // leaves the integer in the low bits.
  constexpr double large = 0x1.8p23;
  Value *sum = b.CreateFAdd(weight, b.literal(kind, large, lanes));
  llvm::Type *type = b.getComputeTy(wordKind, lanes);
  return b.CreateSub(
      b.CreateBitCast(sum, type),
      b.literal(wordKind, std::bit_cast<int32_t>(float(large)), lanes));
}

Value *AttentionIntegerEmitter::countGroups(const Block &block) {
  return b.divideUp(block.keys, elements);
}

/// Words of weights in the place of the scores, and `weightSums`.
void AttentionIntegerEmitter::roundWeights(const Block &block) {
  for (int64_t key = shape.keys; key < getScoreRows(); ++key)
    for (unsigned v = 0; v < block.vectors; ++v)
      b.store(kind, b.literal(kind, 0, lanes),
              getScore(block, b.index(key), v * lanes));
  Values vectorFactors =
      b.loadVectors(kind, factors, block.vectors, lanes, lanes);
  Values sums = b.forLoop(
      countGroups(block), Values(block.vectors, b.literal(wordKind, 0, lanes)),
      [&](Value *group, Indices carried) {
        Values next(carried);
        for (unsigned v = 0; v < block.vectors; ++v) {
          Value *words = b.literal(wordKind, 0, lanes);
          for (int64_t i = 0; i < elements; ++i) {
            Value *key = b.addScaled(b.index(i), group, elements);
            Value *e = b.load(kind, getScore(block, key, v * lanes), lanes);
            Value *weight = roundWeight(b.CreateFMul(e, vectorFactors[v]));
            next[v] = b.CreateAdd(next[v], weight);
            words = b.CreateOr(
                words, b.CreateShl(weight, uint64_t(i * 32 / elements)));
          }
          // A difference of 128, modulo 256.
          if (weightShift)
            words = b.CreateXor(words, fillWords(128));
          b.store(wordKind, words, getScore(block, group, v * lanes));
        }
        return next;
      });
  if (weightSums)
    for (unsigned v = 0; v < block.vectors; ++v)
      b.storeElement(
          wordKind,
          b.CreateMul(sums[v],
                      b.literal(wordKind, double(valueForm.zeroPoint), lanes)),
          weightSums, int64_t(v) * lanes);
}

//===- The result ---------------------------------------------------------===//

void AttentionIntegerEmitter::emitColumns(const Block &block, Value *column,
                                          unsigned vectors,
                                          unsigned lastLanes) {
  Tiling tiling = splitEvenly(block.count, maxPixels);
  MicroKernel microKernel{.kind = wordKind,
                          .lanes = lanes,
                          .lastLanes = lastLanes,
                          .pixels = unsigned(tiling.size),
                          .vectors = vectors,
                          .pixelStride = 1,
                          .rowStride = columnWords,
                          .isPadded = true,
                          .stepStride = block.width,
                          .dot = dot};
  b.forLoop(tiling.countNeeded(b, block.needed), [&](Value *tile) {
    Value *query = tiling.getFirst(b, tile);
    Values sums = microKernel.getZeros(b);
    if (valueSums)
      for (auto [i, sum] : llvm::enumerate(sums))
        sum = b.loadElement(
            wordKind, valueSums,
            b.CreateNSWAdd(column, b.index(i % vectors * lanes)), lanes);
    sums = microKernel.accumulate(
        b, countGroups(block), b.getElement(scores, wordKind, query),
        b.getElement(valueWords, wordKind, column), std::move(sums));
    for (unsigned p = 0; p < microKernel.pixels; ++p) {
      Value *number = b.CreateNSWAdd(query, b.index(p));
      Values index = block.getRow(b, number);
      index.push_back(nullptr);
      for (unsigned v = 0; v < vectors; ++v) {
        Value *sum = sums[p * vectors + v];
        if (weightSums)
          sum = b.CreateSub(
              sum,
              b.splat(b.loadElement(wordKind, weightSums, number, 1), lanes));
        index.back() = b.CreateNSWAdd(column, b.index(int64_t(v) * lanes));
        storeResult(b, operands.result, operands.epilogue, index, sum,
                    microKernel.getLanes(v));
      }
    }
  });
}

void AttentionIntegerEmitter::emitSums(const Block &block) {
  roundWeights(block);
  auto emitFrom = [&](Value *column, unsigned vectors, unsigned lastLanes) {
    emitColumns(block, column, vectors, lastLanes);
  };
  forColumnTiles(b, shape.columns, maxVectors, lanes, emitFrom);
}

void glowish::emitAttentionInteger(KernelBuilder &b,
                                   const AttentionIntegerInstr &instr,
                                   const KernelOperands &operands) {
  using Instr = AttentionIntegerInstr;
  StridedOperand result = operands.getStrided(Instr::resultIdx);
  StridedOperand mask =
      broadcastMask(instr.getMask(), operands.getPointer(Instr::maskIdx),
                    result.strides.size());
  AttentionIntegerEmitter(b, instr,
                          {.result = result,
                           .query = operands.getStrided(Instr::queryIdx),
                           .key = operands.getStrided(Instr::keyIdx),
                           .value = operands.getStrided(Instr::valueIdx),
                           .mask = mask,
                           .epilogue = operands.getEpilogue(wordKind)},
                          AttentionBounds::of(instr, operands))
      .emit();
}
