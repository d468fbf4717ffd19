//===- NBitsTiles.cpp - Tiles of matmuls with packed weights --------------===//

#include "Kernels/NBits/NBitsTiles.h"

using namespace glowish;
using llvm::Value;

NBitsTiles::NBitsTiles(KernelBuilder &b, const CPUMatMulNBitsInstr &instr,
                       const KernelOperands &operands)
    : b(b), layout{.depth = instr.getLhs()->getShape().back(),
                   .columns = instr.getResult()->getShape().back(),
                   .block = instr.getBlock(),
                   .kind = instr.getWeightKind(),
                   .isForIntegers = instr.getLhsScales() != nullptr},
      lhs(operands.getStrided(Instr::lhsIdx)),
      result(operands.getStrided(Instr::resultIdx)),
      epilogue(operands.getEpilogue(layout.isForIntegers ? ElemKind::Float
                                                         : lhs.kind)),
      weights(operands.getPointer(Instr::weightsIdx)),
      scales(operands.getPointer(Instr::scalesIdx)),
      zeroPoints(operands.getPointer(Instr::zeroPointsIdx)),
      lanes(b.getRegisterLanes(ElemKind::Float)),
      rows(operands.getExtents(Instr::resultIdx, 0,
                               instr.getResult()->getType().getRank() - 1)) {
  // Rows that all operands walk through alike are those of one matrix.
  std::vector<StridedOperand *> all = {&result, &lhs};
  if (layout.isForIntegers) {
    lhsScales = operands.getStrided(Instr::lhsScalesIdx);
    all.push_back(&lhsScales);
  }
  for (StridedOperand &operand : epilogue.fused)
    all.push_back(&operand);
  Dims inner;
  for (StridedOperand *operand : all) {
    inner.push_back(operand->strides.back());
    operand->strides.pop_back();
  }
  rows = joinDimensions(b, rows, all);
  for (auto [operand, stride] : llvm::zip(all, inner))
    operand->strides.push_back(stride);
  neededRows = rows.needed.back();
}

//===- Operands -----------------------------------------------------------===//

Value *NBitsTiles::getLhsAddress(Value *row, Value *k) {
  Values index = batch;
  index.append({row, k});
  return lhs.getAddress(b, index);
}

void NBitsTiles::prefetch(const RowTile &shape, Value *address, int64_t bytes) {
  if (!shape.isFew || int64_t(shape.vectors) * lanes < layout.panelColumns)
    return;
  // As measured: one row of bytes from the third cache of an Emerald Rapids
  // takes a fifth less time than with half of this, and as much with twice.
  constexpr int64_t line = 64, distance = 2048;
  for (int64_t at = 0; at < bytes; at += line)
    b.prefetch(b.getElement(address, ElemKind::Int8, distance + at));
}

Value *NBitsTiles::widenIntegers(Value *integers) {
  unsigned count = KernelBuilder::getLanes(integers);
  Value *wide = b.CreateIntCast(
      integers, KernelBuilder::getVectorTy(b.getInt32Ty(), count),
      layout.isSigned());
  return b.CreateSIToFP(wide, b.getComputeTy(ElemKind::Float, count));
}

Value *NBitsTiles::orderBytes(Value *words) {
  return b.getTarget().isBigEndian
             ? b.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, words)
             : words;
}

/// The number of the first parameter of block \p number.
Value *NBitsTiles::getParameters(const Columns &columns, Value *number) {
  return b.CreateNSWAdd(b.scaleIndex(number, columns.width), columns.inPanel);
}

Values NBitsTiles::loadScales(const Columns &columns, Value *number,
                              const RowTile &shape) {
  Value *address = b.getElement(columns.scales, ElemKind::Float,
                                getParameters(columns, number));
  prefetch(shape, address, 4 * columns.width);
  return b.loadVectors(ElemKind::Float, address, shape.vectors, lanes, lanes);
}

Values NBitsTiles::loadZeroPoints(const Columns &columns, Value *number,
                                  const RowTile &shape, int bias) {
  if (!zeroPoints)
    return bias ? Values(shape.vectors, splatLiteral(bias)) : Values();
  Value *address = b.getElement(columns.zeroPoints, ElemKind::Int8,
                                getParameters(columns, number));
  Values loaded;
  for (unsigned v = 0; v < shape.vectors; ++v) {
    Value *point = widenIntegers(
        b.loadElement(ElemKind::Int8, address, int64_t(v) * lanes, lanes));
    loaded.push_back(bias ? b.CreateFAdd(point, splatLiteral(bias)) : point);
  }
  return loaded;
}

void NBitsTiles::store(Value *row, const RowTile &shape, const Columns &columns,
                       llvm::ArrayRef<Value *> sums) {
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

//===- Tiles --------------------------------------------------------------===//

void NBitsTiles::forColumns(
    int64_t panelColumns, Value *panel, RowTile shape,
    llvm::function_ref<void(const RowTile &, const Columns &)> body) {
  auto getPart = [&](Value *base, ElemKind kind, int64_t size) {
    return base ? b.getElement(base, kind, panel, size) : nullptr;
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
  auto emitAt = [&](Value *first, unsigned used) {
    columns.inPanel = first;
    columns.inResult = b.CreateNSWAdd(b.scaleIndex(panel, all), first);
    columns.used = used;
    shape.vectors = unsigned(llvm::divideCeil(used, lanes));
    body(shape, columns);
  };
  b.forVectors(panelColumns, shape.vectors * lanes, emitAt);
}

/// Rows \p row ... of \p panel, of which \p panelColumns columns have results.
void NBitsTiles::emitTile(Value *row, RowTile shape, int64_t panelColumns,
                          Value *panel) {
  beginTile(row, shape);
  forColumns(panelColumns, panel, shape,
             [&](const RowTile &part, const Columns &columns) {
               store(row, part, columns, computeTile(row, part, columns));
             });
}

void NBitsTiles::forTiles(const TileRange &range, RowTile shape,
                          TileBody body) {
  shape.rows = tile.rows;
  b.forLoop(range.first, range.end, 1, [&](Value *number) {
    body(b.scaleIndex(number, tile.rows), number, shape);
  });
  if (!range.left)
    return;
  shape.rows = unsigned(range.left);
  b.ifThen(range.hasLeft, [&] {
    body(b.index(rows.shape.back() - range.left), range.end, shape);
  });
}

void NBitsTiles::emitRange(const TileRange &range, int64_t panelColumns,
                           Value *panel) {
  forTiles(range, tile, [&](Value *row, Value *, const RowTile &shape) {
    emitTile(row, shape, panelColumns, panel);
  });
}

//===- Tasks --------------------------------------------------------------===//

/// The rows of \p group and of \p panel, of which \p panelColumns columns have
/// results. A run that needs few rows of many computes these as fast as a
/// matmul that has no more.
void NBitsTiles::emitRows(Value *group, int64_t panelColumns, Value *panel) {
  if (!neededRows || rows.shape.back() == 1)
    return emitTiles(group, panelColumns, panel);
  Value *isFirst = b.CreateICmpEQ(group, b.index(0));
  auto emitElse = [&](const RowTile &small, auto otherwise) {
    Value *suffices = b.CreateICmpSLE(neededRows, b.index(small.rows));
    b.ifThen(b.CreateAnd(suffices, isFirst),
             [&] { emitTile(b.index(0), small, panelColumns, panel); });
    b.ifThen(b.CreateNot(suffices), otherwise);
  };
  emitElse(chooseTile(1), [&] {
    RowTile small = chooseSmallTile();
    auto emitOthers = [&] { emitTiles(group, panelColumns, panel); };
    if (small.rows < tile.rows)
      emitElse(small, emitOthers);
    else
      emitOthers();
  });
}

/// The same in tiles of many rows; the last one may have more rows than needed.
void NBitsTiles::emitTiles(Value *group, int64_t panelColumns, Value *panel) {
  int64_t whole = rows.shape.back() / tile.rows;
  TileRange range = {.first = b.index(0),
                     .end = b.index(whole),
                     .left = rows.shape.back() % tile.rows,
                     .hasLeft = nullptr};
  if (whole >= tilesPerTask) {
    range.first = b.scaleIndex(group, tilesPerTask);
    range.end = b.minIndex(b.CreateNSWAdd(range.first, b.index(tilesPerTask)),
                           range.end);
  }
  if (neededRows)
    range.end = b.minIndex(range.end, b.divideUp(neededRows, tile.rows));
  if (range.left) {
    range.hasLeft = b.CreateICmpEQ(group, b.index(whole / tilesPerTask));
    if (neededRows)
      range.hasLeft =
          b.CreateAnd(range.hasLeft,
                      b.CreateICmpSGT(neededRows, b.index(whole * tile.rows)));
  }
  emitRange(range, panelColumns, panel);
}

void NBitsTiles::emit() {
  tile = chooseTile(rows.shape.back());
  tilesPerTask = std::max<int64_t>(1, rowsPerTask / tile.rows);
  prepare();
  int64_t tiles = int64_t(llvm::divideCeil(rows.shape.back(), tile.rows));
  int64_t groups = int64_t(llvm::divideCeil(tiles, tilesPerTask));
  int64_t panels = layout.getNumPanels();
  LoopExtents batches = rows.slice(0, rows.size() - 1);
  int64_t numRows = countElements(rows.shape);
  auto emitPanel = [&](Value *group, Value *panel, int64_t columns) {
    b.forEach(batches, [&](Value *number) {
      batch = b.splitIndex(number, batches.shape);
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
