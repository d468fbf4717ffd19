//===- NBitsMatMul.cpp - Matmuls of floats and weights of 8 and 4 bits ----===//
//
// With one row or few, the time is that of reading weights from memory: they
// become floats in registers, and sums of a block of x * (weight - zero point)
// are multiplied by the scale at its end. With more rows a loaded weight is
// multiplied by its scale once, for all rows of a tile, and with more rows than
// a tile has once for all tiles of a task.
//
//===----------------------------------------------------------------------===//

#include "Kernels/NBits/NBitsMatMul.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace glowish;
using llvm::Value;

//===- Forms --------------------------------------------------------------===//

/// The vectors of tiles of many rows.
static constexpr unsigned columnVectors = 2;

/// Tiles of at most \p most of \p numRows rows, all of about as many.
static RowTile divideRows(int64_t numRows, int64_t most) {
  int64_t numTiles = int64_t(llvm::divideCeil(numRows, most));
  return {.rows = unsigned(llvm::divideCeil(numRows, numTiles)),
          .vectors = columnVectors};
}

/// Where reading weights takes the time, the vectors are as many as a panel
/// has, so that it is read in order, and with few vectors there are two sets.
/// Else there is one register for each sum, and some for the rest.
RowTile NBitsMatMul::chooseTile(int64_t numRows) const {
  const TargetDescription &target = b.getTarget();
  const TargetDescription &sumTarget = target.getSumTarget();
  bool hasMany = sumTarget.numVectorRegisters >= 32;
  if (numRows <= (hasMany ? 2 : 1)) {
    auto count = unsigned(numRows);
    auto panel = unsigned(layout.panelColumns);
    unsigned sets = count * panel * 32 < 8 * sumTarget.vectorBits ? 2 : 1;
    unsigned most = target.numVectorRegisters / 2 / (count * sets);
    return {.rows = count,
            .vectors = std::min(panel / lanes, most),
            .isFew = true,
            .sets = sets};
  }
  // Beside the sums: weights, and an element of a row, or a vector of each.
  unsigned registers = target.numVectorRegisters;
  RowTile shape = divideRows(numRows, target.hasMultiplyByLane
                                          ? (registers - 4) / 3
                                          : (registers - 4) / columnVectors);
  return unpacks(shape) && numRows > shape.rows
             ? shape
             : divideRows(numRows, chooseSmallTile().rows);
}

/// Weights stay in registers. With eight in all, a tile has one row all the
/// same.
RowTile NBitsMatMul::chooseSmallTile() const {
  unsigned registers =
      std::max(b.getTarget().numVectorRegisters, 8 + columnVectors);
  return {.rows = (registers - 8) / columnVectors, .vectors = columnVectors};
}

/// Whether weights of 4 bits are numbers of a table in a register: AVX-512 has
/// an instruction for it, which takes the four lowest bits.
bool NBitsMatMul::looksUp() const { return b.getTarget().isX86 && lanes == 16; }

/// Whether weights stay where they are in their words: row i of a word is 16^i
/// times as large, and x is divided by it instead. That is exact, as both are
/// powers of two, and saves a shift of each vector. Signed weights have their
/// bias then, which rounds otherwise.
bool NBitsMatMul::masksWords(const RowTile &shape) const {
  return shape.isFew && layout.hasWords() && !looksUp() &&
         !(b.getTarget().isReproducible && layout.isSigned());
}

/// Whether words are loaded for each of their rows: x86 masks them where they
/// are in memory, and sums need the registers.
bool NBitsMatMul::reloadsWords(const RowTile &shape) const {
  return masksWords(shape) && b.getTarget().isX86;
}

/// Whether zero points are taken from the sum of a block, and not from each
/// weight: they are small in weights of 4 bits, so that little is lost.
bool NBitsMatMul::subtractsAtEnd(const RowTile &shape) const {
  return shape.isFew && layout.hasWords() &&
         (zeroPoints || (layout.isSigned() && masksWords(shape)));
}

//===- Weights ------------------------------------------------------------===//

NBitsMatMul::Parameters NBitsMatMul::loadParameters(const Columns &columns,
                                                    Value *number,
                                                    const RowTile &shape) {
  Values loaded = loadScales(columns, number, shape);
  return {.scales = std::move(loaded),
          .zeroPoints =
              loadZeroPoints(columns, number, shape,
                             masksWords(shape) ? layout.getBias() : 0)};
}

/// Row \p row of \p words as floats.
Value *NBitsMatMul::takeFromWords(Value *words, unsigned row) {
  llvm::Type *type = words->getType();
  auto number = [&](uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  };
  unsigned shift = layout.getShift(row);
  if (looksUp()) {
    llvm::SmallVector<float, 16> numbers;
    for (int i = 0; i < 16; ++i)
      numbers.push_back(float(i - layout.getBias()));
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
        {llvm::ConstantDataVector::get(b.getContext(), numbers),
         b.CreateLShr(words, number(shift))});
  }
  Value *value = b.CreateAnd(b.CreateLShr(words, number(shift)), number(15));
  if (layout.getBias())
    value = b.CreateSub(value, number(uint64_t(layout.getBias())));
  return b.CreateSIToFP(value, b.getComputeTy(ElemKind::Float, lanes));
}

/// Whether row \p row is the one in the highest bits. It is shifted, or else it
/// would be negative.
static bool isHighest(unsigned shift) { return shift == 28; }

float NBitsMatMul::getFactor(unsigned row) const {
  unsigned shift = layout.getShift(row);
  return isHighest(shift) ? 1 : float(uint64_t(1) << shift);
}

/// Row \p row of \p words as floats, with the bias, times its factor.
Value *NBitsMatMul::maskWords(Value *words, unsigned row) {
  llvm::Type *type = words->getType();
  unsigned shift = layout.getShift(row);
  Value *value =
      isHighest(shift)
          ? b.CreateLShr(words, llvm::ConstantInt::get(type, shift))
          : b.CreateAnd(words,
                        llvm::ConstantInt::get(type, uint64_t(15) << shift));
  return b.CreateSIToFP(value, b.getComputeTy(ElemKind::Float, lanes));
}

Values NBitsMatMul::forBytes(const RowTile &shape, const Columns &columns,
                             const WeightRows &weightRows, Values sums,
                             Step step) {
  Value *offset = b.CreateNSWAdd(b.scaleIndex(weightRows.offset, columns.width),
                                 columns.inPanel);
  auto load = [&](Value *i, unsigned set, Values &current) {
    Value *address = b.getElement(columns.weights, ElemKind::Int8,
                                  b.addScaled(offset, i, columns.width));
    prefetch(shape, address, columns.width);
    Values taken;
    for (unsigned v = 0; v < shape.vectors; ++v)
      taken.push_back(widenIntegers(
          b.loadElement(ElemKind::Int8, address, int64_t(v) * lanes, lanes)));
    step(b.CreateNSWAdd(weightRows.k, i), std::move(taken), 1, set, current);
  };
  constexpr int64_t unroll = 4;
  int64_t whole = weightRows.count / unroll * unroll;
  sums = b.forLoop(b.index(0), b.index(whole), unroll, sums,
                   [&](Value *i, llvm::ArrayRef<Value *> carried) {
                     Values current(carried);
                     for (unsigned u = 0; u < unroll; ++u)
                       load(b.CreateNSWAdd(i, b.index(u)), u % shape.sets,
                            current);
                     return current;
                   });
  for (int64_t i = whole; i < weightRows.count; ++i)
    load(b.index(i), 0, sums);
  return sums;
}

Values NBitsMatMul::loadWords(Value *address, const RowTile &shape) {
  Values words;
  for (unsigned v = 0; v < shape.vectors; ++v) {
    Value *at = b.getElement(address, ElemKind::Int32, int64_t(v) * lanes);
    words.push_back(orderBytes(b.load(ElemKind::Int32, at, lanes)));
  }
  return words;
}

/// The same with weights in words.
Values NBitsMatMul::forWords(const RowTile &shape, const Columns &columns,
                             const WeightRows &weightRows, Values sums,
                             Step step) {
  int64_t wordRows = layout.getWordRows();
  Value *offset = b.addScaled(b.scaleIndex(weightRows.offset, columns.width),
                              columns.inPanel, 4);
  auto load = [&](Value *word, int64_t used, llvm::ArrayRef<Value *> carried) {
    Values current(carried);
    Value *address = b.getElement(columns.weights, ElemKind::Int8,
                                  b.addScaled(offset, word, 4 * columns.width));
    prefetch(shape, address, 4 * columns.width);
    Values words = loadWords(address, shape);
    Value *first = b.addScaled(weightRows.k, word, wordRows);
    for (unsigned i = 0; i < used; ++i) {
      bool isMasked = masksWords(shape);
      if (i > 0 && reloadsWords(shape)) {
        address = b.hideAddress(address);
        words = loadWords(address, shape);
      }
      Values taken;
      for (Value *value : words)
        taken.push_back(isMasked ? maskWords(value, i)
                                 : takeFromWords(value, i));
      step(b.CreateNSWAdd(first, b.index(i)), std::move(taken),
           isMasked ? getFactor(i) : 1, i % shape.sets, current);
    }
    return current;
  };
  return b.forGroups(weightRows.count, wordRows, sums, load);
}

/// Applies to \p taken weights what is not applied to sums.
void NBitsMatMul::applyParameters(const RowTile &shape,
                                  const Parameters &parameters, Values &taken) {
  for (unsigned v = 0; v < shape.vectors; ++v) {
    if (zeroPoints && !subtractsAtEnd(shape))
      taken[v] = b.CreateFSub(taken[v], parameters.zeroPoints[v]);
    if (!scalesSums(shape))
      taken[v] = b.CreateFMul(taken[v], parameters.scales[v]);
  }
}

void NBitsMatMul::prepare() {
  if (scalesRow())
    scaleRow();
  allocatePieces();
}

//===- One row ------------------------------------------------------------===//

/// Whether the elements of one row are divided by factors once for all columns.
/// The sums of its blocks are added in another order then.
bool NBitsMatMul::scalesRow() const {
  int64_t floats = layout.depth + layout.getNumBlocks();
  bool hasWholeWords = layout.block % layout.getWordRows() == 0;
  return masksWords(chooseTile(1)) && hasOneRow() &&
         !b.getTarget().isReproducible &&
         (hasWholeWords || layout.getNumBlocks() == 1) &&
         4 * floats <= b.getTarget().maxStackBytes / 2;
}

void NBitsMatMul::scaleRow() {
  scaledRow = b.allocate(ElemKind::Float, layout.depth);
  blockSums = b.allocate(ElemKind::Float, layout.getNumBlocks());
  b.forGroups(layout.depth, layout.block, [&](Value *number, int64_t count) {
    b.storeElement(ElemKind::Float, scaleBlock(number, count), blockSums,
                   number);
  });
}

/// Writes the first \p count elements of block \p number to scaledRow; the sum
/// of those of the row.
Value *NBitsMatMul::scaleBlock(Value *number, int64_t count) {
  auto wordRows = unsigned(layout.getWordRows());
  Value *first = b.scaleIndex(number, layout.block);
  auto getElementOf = [&](Value *word) {
    return b.addScaled(first, word, wordRows);
  };
  int64_t whole = count / wordRows;
  Values sums = b.forLoop(whole, {b.literal(ElemKind::Float, 0, wordRows)},
                          [&](Value *word, llvm::ArrayRef<Value *> carried) {
                            Value *x =
                                scaleElements(getElementOf(word), 0, wordRows);
                            return Values{b.CreateFAdd(carried[0], x)};
                          });
  Value *sum = b.reduceLanes(
      sums[0], [&](Value *one, Value *two) { return b.CreateFAdd(one, two); });
  for (unsigned i = 0; i < count % wordRows; ++i) {
    Value *k = b.CreateNSWAdd(getElementOf(b.index(whole)), b.index(i));
    sum = b.CreateFAdd(sum, scaleElements(k, i, 1));
  }
  return sum;
}

/// Writes elements \p k ... to scaledRow, which belong to \p count rows of a
/// word from \p row on; those of the row.
Value *NBitsMatMul::scaleElements(Value *k, unsigned row, unsigned count) {
  Value *x = b.loadStrided(lhs.kind, getLhsAddress(b.index(0), k), count,
                           lhs.getInnerStride());
  llvm::SmallVector<llvm::Constant *, 8> factors;
  for (unsigned i = 0; i < count; ++i)
    factors.push_back(
        llvm::ConstantFP::get(b.getFloatTy(), 1 / getFactor(row + i)));
  Value *factor = count == 1 ? factors[0] : llvm::ConstantVector::get(factors);
  b.storeElement(ElemKind::Float, b.CreateFMul(x, factor), scaledRow, k);
  return x;
}

//===- Weights in registers -----------------------------------------------===//

void NBitsMatMul::addStep(Value *row, Value *k, const RowTile &shape,
                          llvm::ArrayRef<Value *> taken, float factor,
                          unsigned set, Values &sums) {
  for (unsigned r = 0; r < shape.rows; ++r) {
    Value *x =
        hasScaledRow(shape)
            ? b.loadElement(ElemKind::Float, scaledRow, k, 1)
            : b.load(lhs.kind,
                     getLhsAddress(b.CreateNSWAdd(row, b.index(r)), k), 1);
    x = b.splat(x, lanes);
    if (sumsRows(shape)) {
      Value *&sum = sums[shape.countSums() + r];
      sum = b.CreateFAdd(sum, x);
    }
    if (factor != 1 && !hasScaledRow(shape))
      x = b.CreateFMul(x, splatLiteral(1 / factor));
    for (unsigned v = 0; v < shape.vectors; ++v) {
      Value *&sum = sums[(set * shape.rows + r) * shape.vectors + v];
      sum = b.multiplyAdd(x, taken[v], sum);
    }
  }
}

/// The sets of \p sums of block \p number together, less what zero points add
/// to them, times the scales, plus \p totals, if there are any.
Values NBitsMatMul::scale(Values sums, const Parameters &parameters,
                          const RowTile &shape, Value *number,
                          llvm::ArrayRef<Value *> totals) {
  unsigned count = shape.rows * shape.vectors;
  for (unsigned set = 1; set < shape.sets; ++set)
    for (unsigned i = 0; i < count; ++i)
      sums[i] = b.CreateFAdd(sums[i], sums[set * count + i]);
  if (subtractsAtEnd(shape) && hasScaledRow(shape)) {
    Value *at = b.getElement(blockSums, ElemKind::Float, number);
    sums.push_back(b.splat(b.load(ElemKind::Float, at, 1), lanes));
  }
  if (subtractsAtEnd(shape))
    for (unsigned i = 0; i < count; ++i)
      sums[i] = b.CreateFSub(
          sums[i], b.CreateFMul(sums[shape.countSums() + i / shape.vectors],
                                parameters.zeroPoints[i % shape.vectors]));
  sums.resize(count);
  for (unsigned i = 0; i < count; ++i) {
    Value *factor = parameters.scales[i % shape.vectors];
    sums[i] = totals.empty() ? b.CreateFMul(sums[i], factor)
                             : b.multiplyAdd(sums[i], factor, totals[i]);
  }
  return sums;
}

/// \p sums, totals of all blocks before, plus block \p number of \p numRows
/// rows.
Values NBitsMatMul::sumBlock(Value *row, const RowTile &shape,
                             const Columns &columns, Value *number,
                             int64_t numRows, Values sums) {
  // Loaded behind the loop where that doesn't use them: it needs the registers.
  bool isForSums = scalesSums(shape) && (subtractsAtEnd(shape) || !zeroPoints);
  Parameters parameters;
  if (!isForSums)
    parameters = loadParameters(columns, number, shape);
  WeightRows weightRows = {
      .k = b.scaleIndex(number, layout.block),
      .offset = b.scaleIndex(number, layout.getBlockBytes(layout.block)),
      .count = numRows};
  auto add = [&](Values start) {
    return forWeights(shape, columns, weightRows, std::move(start),
                      [&](Value *k, Values taken, float factor, unsigned set,
                          Values &current) {
                        applyParameters(shape, parameters, taken);
                        addStep(row, k, shape, taken, factor, set, current);
                      });
  };
  if (!scalesSums(shape))
    return add(std::move(sums));
  // Behind the sums, those of the elements of each row.
  Values own(shape.countSums() + (sumsRows(shape) ? shape.rows : 0),
             splatLiteral(0));
  own = add(std::move(own));
  if (isForSums)
    parameters = loadParameters(columns, number, shape);
  return scale(std::move(own), parameters, shape, number, sums);
}

Values NBitsMatMul::computeTile(Value *row, const RowTile &shape,
                                const Columns &columns) {
  if (layout.getNumBlocks() == 1)
    return sumBlock(row, shape, columns, b.index(0), layout.depth, Values());
  Values zeros(shape.rows * shape.vectors, splatLiteral(0));
  return b.forGroups(
      layout.depth, layout.block, zeros,
      [&](Value *number, int64_t rows, llvm::ArrayRef<Value *> carried) {
        return sumBlock(row, shape, columns, number, rows, Values(carried));
      });
}

//===- Instructions -------------------------------------------------------===//

void glowish::emitCPUMatMulNBits(KernelBuilder &b,
                                 const CPUMatMulNBitsInstr &instr,
                                 const KernelOperands &operands) {
  if (instr.getLhsScales())
    return emitIntegerMatMulNBits(b, instr, operands);
  NBitsMatMul(b, instr, operands).emit();
}
