//===- NBitsMatMul.cpp - Matmuls with weights of 8 and 4 bits -------------===//
//
// Weights become floats when they are loaded. With one row or few, the time is
// that of reading them from memory: sums of a block of x * (weight - zero
// point) are multiplied by the scale at its end. With more rows a loaded weight
// is multiplied by its scale once, for all rows of a tile.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Epilogue.h"
#include "Kernels/KernelOperands.h"
#include "Kernels/NBits/NBitsLayout.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/TargetParser/Triple.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Rows by vectors of columns, whose sums are in registers.
struct RowTile {
  unsigned rows, vectors;
  /// Blocks are summed without their scale.
  bool scalesSums;
  /// Sums that are added at the end: a core adds to several at once.
  unsigned sets;

  unsigned countSums() const { return sets * rows * vectors; }
};

class NBitsMatMul {
public:
  NBitsMatMul(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
              const KernelOperands &operands);
  void emit();

private:
  using Instr = CPUMatMulNBitsInstr;

  /// The columns of a tile, and what is read for them.
  struct Columns {
    /// The first in the panel and of the result; those that have results.
    Value *inPanel, *inResult;
    unsigned used;
    /// The width of the panel, and where it begins.
    int64_t width;
    Value *weights, *scales, *zeroPoints;
  };
  /// The scales and zero points of a block, a vector each; or none.
  struct Parameters {
    Values scales, zeroPoints;
  };

  RowTile chooseTile(int64_t numRows) const;
  void emitRows(Value *group, int64_t panelColumns, Value *panel);
  void emitTiles(Value *group, int64_t panelColumns, Value *panel);
  void emitTile(Value *row, RowTile shape, int64_t panelColumns, Value *panel);
  void emitColumns(Value *row, const RowTile &shape, const Columns &columns);
  Values sumBlocks(Value *row, const RowTile &shape, const Columns &columns);
  Values sumBlock(Value *row, const RowTile &shape, const Columns &columns,
                  Value *number, int64_t numRows, Values sums);
  Values addBytes(Value *row, Value *k, const RowTile &shape,
                  const Columns &columns, const Parameters &parameters,
                  Value *offset, int64_t numRows, Values sums);
  Values addWords(Value *row, Value *k, const RowTile &shape,
                  const Columns &columns, const Parameters &parameters,
                  Value *offset, int64_t numRows, Values sums);
  /// Whether weights of 4 bits are numbers of a table in a register.
  bool looksUp() const;
  /// Whether weights stay where they are in their words: row i of a word is
  /// 16^i times as large, and x is divided by it instead. That is exact, as
  /// both are powers of two, and saves a shift of each vector.
  bool masksWords(const RowTile &shape) const {
    return shape.scalesSums && layout.hasWords() && !looksUp();
  }
  /// Whether zero points are taken from the sum of a block, and not from each
  /// weight: they are small in weights of 4 bits, so that little is lost.
  bool subtractsAtEnd(const RowTile &shape) const {
    return shape.scalesSums && layout.hasWords() &&
           (zeroPoints || (layout.isSigned() && masksWords(shape)));
  }
  void addStep(Value *row, Value *k, const RowTile &shape,
               const Parameters &parameters, Values weights, double factor,
               unsigned set, Values &sums);
  void prefetch(const RowTile &shape, Value *address, int64_t bytes);
  Parameters loadParameters(const Columns &columns, Value *number,
                            const RowTile &shape);
  Values scale(Values sums, const Parameters &parameters, const RowTile &shape,
               llvm::ArrayRef<Value *> totals);
  Value *widenIntegers(Value *integers);
  Value *takeFromWords(Value *words, unsigned row);
  Value *maskWords(Value *words, unsigned row);

  KernelBuilder &b;
  NBitsLayout layout;
  StridedOperand lhs, result;
  EpilogueCode epilogue;
  Value *weights, *scales, *zeroPoints;
  /// Lanes of a vector of floats.
  unsigned lanes;
  /// The dimensions of the rows; the last is that of a tile's rows.
  Dims rows;
  /// How many rows a run needs, an index; null for all.
  Value *neededRows = nullptr;
  RowTile tile;
  /// The indices of the dimensions of the rows in front of the last.
  Values batch;
};

} // namespace

NBitsMatMul::NBitsMatMul(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
                         const KernelOperands &operands)
    : b(b), layout{.depth = instr.getLhs()->getShape().back(),
                   .columns = instr.getResult()->getShape().back(),
                   .block = instr.getBlock(),
                   .kind = instr.getWeightKind()},
      lhs(operands.getStrided(Instr::lhsIdx)),
      result(operands.getStrided(Instr::resultIdx)),
      epilogue(operands.getEpilogue(instr.getLhs()->getType().getKind())),
      weights(operands.getPointer(Instr::weightsIdx)),
      scales(operands.getPointer(Instr::scalesIdx)),
      zeroPoints(operands.getPointer(Instr::zeroPointsIdx)),
      lanes(b.getRegisterLanes(ElemKind::Float)),
      rows(instr.getResult()->getShape().drop_back()) {
  // Rows that all operands walk through alike are those of one matrix.
  std::vector<StridedOperand *> all = {&result, &lhs};
  for (StridedOperand &operand : epilogue.fused)
    all.push_back(&operand);
  Dims inner;
  for (StridedOperand *operand : all) {
    inner.push_back(operand->strides.back());
    operand->strides.pop_back();
  }
  rows = joinDimensions(rows, all);
  for (auto [operand, stride] : llvm::zip(all, inner))
    operand->strides.push_back(stride);
  if (rows.size() == 1)
    neededRows = operands.getBound(b, Instr::resultIdx, 0,
                                   instr.getResult()->getType().getRank() - 1);
  tile = chooseTile(rows.back());
}

/// Where reading weights takes the time, the vectors are as many as a panel
/// has, so that it is read in order, and with few vectors there are two sets.
/// Else there is one register for each sum, and eight for the rest.
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
            .scalesSums = true,
            .sets = sets};
  }
  constexpr unsigned vectors = 2;
  int64_t most = (int64_t(target.numVectorRegisters) - 8) / vectors;
  // Tiles of about the same number of rows.
  int64_t numTiles = int64_t(llvm::divideCeil(numRows, most));
  return {.rows = unsigned(llvm::divideCeil(numRows, numTiles)),
          .vectors = vectors,
          .scalesSums = layout.getNumBlocks() <= 1,
          .sets = 1};
}

//===- Weights ------------------------------------------------------------===//

/// \p integers of fewer bits as floats.
Value *NBitsMatMul::widenIntegers(Value *integers) {
  unsigned count = KernelBuilder::getLanes(integers);
  Value *wide = b.CreateIntCast(
      integers, KernelBuilder::getVectorTy(b.getInt32Ty(), count),
      layout.isSigned());
  return b.CreateSIToFP(wide, b.getComputeTy(ElemKind::Float, count));
}

/// AVX-512 has an instruction for it, which takes the four lowest bits.
bool NBitsMatMul::looksUp() const {
  llvm::Triple triple(b.getFunction().getParent()->getTargetTriple());
  return triple.isX86() && lanes == 16;
}

/// Row \p row of \p words as floats.
Value *NBitsMatMul::takeFromWords(Value *words, unsigned row) {
  llvm::Type *type = words->getType();
  auto number = [&](uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  };
  if (looksUp()) {
    llvm::SmallVector<float, 16> numbers;
    for (int i = 0; i < 16; ++i)
      numbers.push_back(float(i - layout.getBias()));
    return b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
        {llvm::ConstantDataVector::get(b.getContext(), numbers),
         b.CreateLShr(words, number(4 * row))});
  }
  Value *value = b.CreateAnd(b.CreateLShr(words, number(4 * row)), number(15));
  if (layout.getBias())
    value = b.CreateSub(value, number(uint64_t(layout.getBias())));
  return b.CreateSIToFP(value, b.getComputeTy(ElemKind::Float, lanes));
}

/// The factor of what maskWords makes of row \p row; the last row is shifted,
/// or else it would be negative.
static double getMaskFactor(unsigned row) {
  return row + 1 < NBitsLayout::wordRows ? double(uint64_t(1) << (4 * row)) : 1;
}

/// Row \p row of \p words as floats, with the bias, times its factor.
Value *NBitsMatMul::maskWords(Value *words, unsigned row) {
  llvm::Type *type = words->getType();
  unsigned shift = 4 * row;
  Value *value = getMaskFactor(row) == 1
                     ? b.CreateLShr(words, llvm::ConstantInt::get(type, shift))
                     : words;
  if (row + 1 < NBitsLayout::wordRows)
    value =
        b.CreateAnd(value, llvm::ConstantInt::get(type, uint64_t(15) << shift));
  return b.CreateSIToFP(value, b.getComputeTy(ElemKind::Float, lanes));
}

/// Where a whole row of a panel of \p bytes is read from \p address on, and
/// that takes the time, begins to read those that follow some way behind.
void NBitsMatMul::prefetch(const RowTile &shape, Value *address,
                           int64_t bytes) {
  if (!shape.scalesSums || int64_t(shape.vectors) * lanes < layout.panelColumns)
    return;
  constexpr int64_t line = 64, distance = 2048;
  for (int64_t at = 0; at < bytes; at += line)
    b.prefetch(b.getElement(address, ElemKind::Int8, distance + at));
}

NBitsMatMul::Parameters NBitsMatMul::loadParameters(const Columns &columns,
                                                    Value *number,
                                                    const RowTile &shape) {
  Parameters parameters;
  Value *first = b.CreateNSWAdd(b.CreateNSWMul(number, b.index(columns.width)),
                                columns.inPanel);
  prefetch(shape, b.getElement(columns.scales, ElemKind::Float, first),
           4 * columns.width);
  for (unsigned v = 0; v < shape.vectors; ++v) {
    Value *at = b.CreateNSWAdd(first, b.index(int64_t(v) * lanes));
    parameters.scales.push_back(
        b.load(ElemKind::Float,
               b.getElement(columns.scales, ElemKind::Float, at), lanes));
    Value *bias = masksWords(shape) && layout.getBias()
                      ? b.literal(ElemKind::Float, layout.getBias(), lanes)
                      : nullptr;
    if (zeroPoints) {
      Value *point = widenIntegers(
          b.load(ElemKind::Int8,
                 b.getElement(columns.zeroPoints, ElemKind::Int8, at), lanes));
      parameters.zeroPoints.push_back(bias ? b.CreateFAdd(point, bias) : point);
    } else if (bias) {
      parameters.zeroPoints.push_back(bias);
    }
  }
  return parameters;
}

//===- Sums ---------------------------------------------------------------===//

/// Adds element \p k of each row times \p weights, which are \p factor times
/// too large, to \p set of the sums.
void NBitsMatMul::addStep(Value *row, Value *k, const RowTile &shape,
                          const Parameters &parameters, Values weights,
                          double factor, unsigned set, Values &sums) {
  for (unsigned v = 0; v < shape.vectors; ++v) {
    if (zeroPoints && !subtractsAtEnd(shape))
      weights[v] = b.CreateFSub(weights[v], parameters.zeroPoints[v]);
    if (!shape.scalesSums)
      weights[v] = b.CreateFMul(weights[v], parameters.scales[v]);
  }
  Values index = batch;
  for (unsigned r = 0; r < shape.rows; ++r) {
    index.resize(batch.size());
    index.append({b.CreateNSWAdd(row, b.index(r)), k});
    Value *x = b.splat(b.load(lhs.kind, lhs.getAddress(b, index), 1), lanes);
    if (subtractsAtEnd(shape)) {
      Value *&sum = sums[shape.countSums() + r];
      sum = b.CreateFAdd(sum, x);
    }
    if (factor != 1)
      x = b.CreateFMul(x, b.literal(ElemKind::Float, 1 / factor, lanes));
    for (unsigned v = 0; v < shape.vectors; ++v) {
      Value *&sum = sums[(set * shape.rows + r) * shape.vectors + v];
      sum = b.multiplyAdd(x, weights[v], sum);
    }
  }
}

/// Adds \p numRows rows of weights, from element \p k of the rows and \p offset
/// of the panel on.
Values NBitsMatMul::addBytes(Value *row, Value *k, const RowTile &shape,
                             const Columns &columns,
                             const Parameters &parameters, Value *offset,
                             int64_t numRows, Values sums) {
  auto step = [&](Value *i, unsigned set, Values &current) {
    Value *address =
        b.getElement(columns.weights, ElemKind::Int8,
                     b.CreateNSWAdd(b.CreateNSWAdd(offset, columns.inPanel),
                                    b.CreateNSWMul(i, b.index(columns.width))));
    prefetch(shape, address, columns.width);
    Values loaded;
    for (unsigned v = 0; v < shape.vectors; ++v)
      loaded.push_back(widenIntegers(b.load(
          ElemKind::Int8,
          b.getElement(address, ElemKind::Int8, int64_t(v) * lanes), lanes)));
    addStep(row, b.CreateNSWAdd(k, i), shape, parameters, loaded, 1, set,
            current);
  };
  constexpr int64_t unroll = 4;
  int64_t whole = numRows / unroll * unroll;
  sums = b.forLoop(b.index(0), b.index(whole), unroll, sums,
                   [&](Value *i, llvm::ArrayRef<Value *> carried) {
                     Values current(carried);
                     for (unsigned u = 0; u < unroll; ++u)
                       step(b.CreateNSWAdd(i, b.index(u)), u % shape.sets,
                            current);
                     return current;
                   });
  for (int64_t i = whole; i < numRows; ++i)
    step(b.index(i), 0, sums);
  return sums;
}

/// The same with weights in words.
Values NBitsMatMul::addWords(Value *row, Value *k, const RowTile &shape,
                             const Columns &columns,
                             const Parameters &parameters, Value *offset,
                             int64_t numRows, Values sums) {
  constexpr int64_t wordRows = NBitsLayout::wordRows;
  auto step = [&](Value *word, int64_t used, Values &current) {
    Value *address = b.getElement(
        columns.weights, ElemKind::Int8,
        b.CreateNSWAdd(
            offset,
            b.CreateNSWAdd(b.CreateNSWMul(columns.inPanel, b.index(4)),
                           b.CreateNSWMul(word, b.index(4 * columns.width)))));
    prefetch(shape, address, 4 * columns.width);
    Values words;
    for (unsigned v = 0; v < shape.vectors; ++v) {
      Value *at = b.getElement(address, ElemKind::Int32, int64_t(v) * lanes);
      words.push_back(b.load(ElemKind::Int32, at, lanes));
    }
    Value *first = b.CreateNSWAdd(k, b.CreateNSWMul(word, b.index(wordRows)));
    for (unsigned i = 0; i < used; ++i) {
      Values taken;
      for (Value *value : words)
        taken.push_back(masksWords(shape) ? maskWords(value, i)
                                          : takeFromWords(value, i));
      addStep(row, b.CreateNSWAdd(first, b.index(i)), shape, parameters, taken,
              masksWords(shape) ? getMaskFactor(i) : 1, i % shape.sets,
              current);
    }
  };
  int64_t whole = numRows / wordRows;
  sums = b.forLoop(b.index(0), b.index(whole), 1, sums,
                   [&](Value *word, llvm::ArrayRef<Value *> carried) {
                     Values current(carried);
                     step(word, wordRows, current);
                     return current;
                   });
  if (numRows % wordRows)
    step(b.index(whole), numRows % wordRows, sums);
  return sums;
}

/// The sets of \p sums together, less what zero points add to them, times the
/// scales, plus \p totals, if there are any.
Values NBitsMatMul::scale(Values sums, const Parameters &parameters,
                          const RowTile &shape,
                          llvm::ArrayRef<Value *> totals) {
  unsigned count = shape.rows * shape.vectors;
  for (unsigned set = 1; set < shape.sets; ++set)
    for (unsigned i = 0; i < count; ++i)
      sums[i] = b.CreateFAdd(sums[i], sums[set * count + i]);
  if (subtractsAtEnd(shape))
    for (unsigned i = 0; i < count; ++i)
      sums[i] = b.CreateFSub(
          sums[i], b.CreateFMul(sums[shape.countSums() + i / shape.vectors],
                                parameters.zeroPoints[i % shape.vectors]));
  sums.resize(count);
  if (shape.scalesSums)
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
  Parameters parameters = loadParameters(columns, number, shape);
  Value *k = b.CreateNSWMul(number, b.index(layout.block));
  Value *offset = b.CreateNSWMul(
      number, b.index(layout.getBlockBytes(layout.block) * columns.width));
  auto add = [&](Values start) {
    return layout.hasWords() ? addWords(row, k, shape, columns, parameters,
                                        offset, numRows, std::move(start))
                             : addBytes(row, k, shape, columns, parameters,
                                        offset, numRows, std::move(start));
  };
  if (!shape.scalesSums)
    return add(std::move(sums));
  // Behind the sums, those of the elements of each row.
  Values own(shape.countSums() + (subtractsAtEnd(shape) ? shape.rows : 0),
             b.literal(ElemKind::Float, 0, lanes));
  return scale(add(std::move(own)), parameters, shape, sums);
}

Values NBitsMatMul::sumBlocks(Value *row, const RowTile &shape,
                              const Columns &columns) {
  int64_t numBlocks = layout.getNumBlocks();
  Values zeros(shape.rows * shape.vectors,
               b.literal(ElemKind::Float, 0, lanes));
  if (numBlocks == 1)
    return sumBlock(row, shape, columns, b.index(0), layout.depth,
                    shape.scalesSums ? Values() : zeros);
  int64_t whole = layout.depth / layout.block;
  Values sums = b.forLoop(b.index(0), b.index(whole), 1, zeros,
                          [&](Value *number, llvm::ArrayRef<Value *> carried) {
                            return sumBlock(row, shape, columns, number,
                                            layout.block, Values(carried));
                          });
  if (whole < numBlocks)
    sums = sumBlock(row, shape, columns, b.index(whole),
                    layout.depth % layout.block, std::move(sums));
  return sums;
}

//===- Tiles --------------------------------------------------------------===//

void NBitsMatMul::emitColumns(Value *row, const RowTile &shape,
                              const Columns &columns) {
  Values sums = sumBlocks(row, shape, columns);
  for (unsigned r = 0; r < shape.rows; ++r)
    for (unsigned v = 0; v < shape.vectors; ++v) {
      Values index = batch;
      index.append(
          {b.CreateNSWAdd(row, b.index(r)),
           b.CreateNSWAdd(columns.inResult, b.index(int64_t(v) * lanes))});
      unsigned used = std::min(lanes, columns.used - v * lanes);
      storeResult(b, result, epilogue, index, sums[r * shape.vectors + v],
                  used);
    }
}

/// Rows \p row ... of \p panel, of which \p panelColumns columns have results.
void NBitsMatMul::emitTile(Value *row, RowTile shape, int64_t panelColumns,
                           Value *panel) {
  auto getPart = [&](Value *base, ElemKind kind, int64_t size) {
    return base ? b.getElement(base, kind, b.CreateNSWMul(panel, b.index(size)))
                : nullptr;
  };
  int64_t all = NBitsLayout::panelColumns;
  int64_t numParameters = all * layout.getNumBlocks();
  Columns columns = {
      .inPanel = nullptr,
      .inResult = nullptr,
      .used = 0,
      .width = NBitsLayout::getPanelWidth(panelColumns),
      .weights =
          getPart(weights, ElemKind::Int8, all * layout.getColumnBytes()),
      .scales = getPart(scales, ElemKind::Float, numParameters),
      .zeroPoints = getPart(zeroPoints, ElemKind::Int8, numParameters)};
  auto emitAt = [&](Value *first, int64_t used) {
    columns.inPanel = first;
    columns.inResult =
        b.CreateNSWAdd(b.CreateNSWMul(panel, b.index(all)), first);
    columns.used = unsigned(used);
    shape.vectors = unsigned(llvm::divideCeil(used, lanes));
    emitColumns(row, shape, columns);
  };
  int64_t step = int64_t(shape.vectors) * lanes;
  int64_t whole = panelColumns / step * step;
  b.forLoop(b.index(0), b.index(whole), step,
            [&](Value *first) { emitAt(first, step); });
  if (whole < panelColumns)
    emitAt(b.index(whole), panelColumns - whole);
}

/// Tiles of a group of rows share a task.
static constexpr int64_t tilesPerTask = 8;

/// The rows of \p group and of \p panel, of which \p panelColumns columns have
/// results. A run that needs one row of many computes it as fast as a matmul of
/// one row.
void NBitsMatMul::emitRows(Value *group, int64_t panelColumns, Value *panel) {
  if (!neededRows || rows.back() == 1)
    return emitTiles(group, panelColumns, panel);
  Value *isOne = b.CreateICmpEQ(neededRows, b.index(1));
  Value *isFirst = b.CreateICmpEQ(group, b.index(0));
  b.ifThen(b.CreateAnd(isOne, isFirst),
           [&] { emitTile(b.index(0), chooseTile(1), panelColumns, panel); });
  b.ifThen(b.CreateNot(isOne), [&] { emitTiles(group, panelColumns, panel); });
}

/// The same in tiles of many rows; the last one may have more rows than needed.
void NBitsMatMul::emitTiles(Value *group, int64_t panelColumns, Value *panel) {
  int64_t whole = rows.back() / tile.rows, left = rows.back() % tile.rows;
  Value *first = b.CreateNSWMul(group, b.index(tilesPerTask));
  Value *end = b.CreateNSWAdd(first, b.index(tilesPerTask));
  if (whole + (left ? 1 : 0) <= tilesPerTask) {
    first = b.index(0);
    end = b.index(whole);
  }
  end = b.minIndex(end, b.index(whole));
  if (neededRows)
    end = b.minIndex(
        end, b.CreateUDiv(b.CreateNSWAdd(neededRows, b.index(tile.rows - 1)),
                          b.index(tile.rows)));
  b.forLoop(first, end, 1, [&](Value *number) {
    emitTile(b.CreateNSWMul(number, b.index(tile.rows)), tile, panelColumns,
             panel);
  });
  if (!left)
    return;
  RowTile last = tile;
  last.rows = unsigned(left);
  Value *row = b.index(whole * tile.rows);
  Value *isHere = b.CreateICmpEQ(group, b.index(whole / tilesPerTask));
  if (neededRows)
    isHere = b.CreateAnd(isHere, b.CreateICmpSGT(neededRows, row));
  b.ifThen(isHere, [&] { emitTile(row, last, panelColumns, panel); });
}

void NBitsMatMul::emit() {
  int64_t tiles = int64_t(llvm::divideCeil(rows.back(), tile.rows));
  int64_t groups = int64_t(llvm::divideCeil(tiles, tilesPerTask));
  int64_t panels = layout.getNumPanels();
  int64_t batches = countElements(DimsRef(rows).drop_back());
  int64_t numRows = countElements(rows);
  auto emitPanel = [&](Value *group, Value *panel, int64_t columns) {
    b.forLoop(batches, [&](Value *number) {
      batch = b.splitIndex(number, DimsRef(rows).drop_back());
      emitRows(group, columns, panel);
    });
  };
  int64_t last = layout.getPanelColumns(panels - 1);
  bool isWhole = last == NBitsLayout::panelColumns;
  b.forTasks(panels * groups, 2 * numRows * layout.depth * layout.columns,
             [&](Value *task) {
               Values parts = b.splitIndex(task, {panels, groups});
               if (panels == 1 || isWhole)
                 return emitPanel(parts[1], parts[0], last);
               Value *isLast = b.CreateICmpEQ(parts[0], b.index(panels - 1));
               b.ifThen(b.CreateNot(isLast), [&] {
                 emitPanel(parts[1], parts[0], NBitsLayout::panelColumns);
               });
               b.ifThen(isLast, [&] { emitPanel(parts[1], parts[0], last); });
             });
}

void glowish::emitCPUMatMulNBits(KernelBuilder &b,
                                 const CPUMatMulNBitsInstr &instr,
                                 const KernelOperands &operands) {
  NBitsMatMul(b, instr, operands).emit();
}

void glowish::emitMatMulNBits(KernelBuilder &, const MatMulNBitsInstr &,
                              const KernelOperands &) {
  llvm_unreachable("kernel selection replaces these matmuls");
}
