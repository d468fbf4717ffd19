//===- NBitsUnpacked.cpp - Tiles of weights that are unpacked -------------===//
//
// With more rows than a tile has, pieces of the weights become floats on the
// stack, once for all tiles of a task.
//
//===----------------------------------------------------------------------===//

#include "Kernels/NBits/NBitsMatMul.h"

using namespace glowish;
using llvm::Value;

/// As many as the first cache holds, whole blocks where these are shorter.
int64_t NBitsMatMul::getPieceRows() const {
  constexpr int64_t most = 256;
  return layout.block < most ? most / layout.block * layout.block : most;
}

/// Whether the stack has space for that.
bool NBitsMatMul::unpacks(const RowTile &shape) const {
  int64_t floats = getPieceRows() * int64_t(shape.vectors) * int64_t(lanes) +
                   rowsPerTask * NBitsLayout::panelColumns;
  return 4 * floats <= b.getTarget().maxStackBytes;
}

void NBitsMatMul::allocatePieces() {
  if (tile.isFew || rows.shape.back() <= tile.rows || !unpacks(tile))
    return;
  unpacked = b.allocate(ElemKind::Float, getPieceRows() * tile.vectors * lanes);
  tileSums = b.allocate(ElemKind::Float,
                        tilesPerTask * tile.rows * NBitsLayout::panelColumns);
}

MicroKernel NBitsMatMul::getMicroKernel(const RowTile &shape) const {
  MicroKernel kernel = {.kind = ElemKind::Float,
                        .lanes = lanes,
                        .lastLanes = lanes,
                        .pixels = shape.rows,
                        .vectors = shape.vectors,
                        .pixelStride = lhs.strides[rows.size() - 1],
                        .rowStride = int64_t(shape.vectors) * lanes,
                        .isPadded = true,
                        .stepStride = lhs.getInnerStride()};
  kernel.takesLanes = b.getTarget().hasMultiplyByLane && kernel.stepStride == 1;
  kernel.inputKind = lhs.kind;
  return kernel;
}

/// Writes \p numRows rows of block \p number, from \p inBlock on, to \p to.
void NBitsMatMul::unpackRows(const RowTile &shape, const Columns &columns,
                             Value *number, Value *inBlock, int64_t numRows,
                             Value *to) {
  Parameters parameters = loadParameters(columns, number, shape);
  Value *bytes = inBlock;
  if (layout.hasWords())
    bytes =
        b.scaleIndex(b.CreateUDiv(inBlock, b.index(layout.getWordRows())), 4);
  Value *block = b.scaleIndex(number, layout.getBlockBytes(layout.block));
  WeightRows weightRows = {.k = b.index(0),
                           .offset = b.CreateNSWAdd(block, bytes),
                           .count = numRows};
  forWeights(shape, columns, weightRows, Values(),
             [&](Value *k, Values taken, double, unsigned, Values &) {
               applyParameters(shape, parameters, taken);
               int64_t width = int64_t(shape.vectors) * lanes;
               Value *row = b.getElement(to, ElemKind::Float, k, width);
               b.storeVectors(ElemKind::Float, taken, row, lanes);
             });
}

/// Calls \p body for each tile of \p range, with the place of its sums.
void NBitsMatMul::forSums(const TileRange &range, const RowTile &shape,
                          const Columns &columns, TileBody body) {
  int64_t tileFloats = int64_t(tile.rows) * NBitsLayout::panelColumns;
  Value *inTile = b.scaleIndex(columns.inPanel, tile.rows);
  forTiles(range, shape, [&](Value *row, Value *number, const RowTile &part) {
    Value *first =
        b.scaleIndex(b.CreateNSWSub(number, range.first), tileFloats);
    body(row,
         b.getElement(tileSums, ElemKind::Float, b.CreateNSWAdd(first, inTile)),
         part);
  });
}

/// Adds \p numRows rows of weights to the sums of all tiles: from \p inBlock of
/// block \p number on, which is its beginning where there are several blocks.
void NBitsMatMul::addPiece(const TileRange &range, const RowTile &shape,
                           const Columns &columns, Value *number,
                           Value *inBlock, int64_t numRows) {
  int64_t width = int64_t(shape.vectors) * lanes, block = layout.block;
  if (numRows < block) {
    unpackRows(shape, columns, number, inBlock, numRows, unpacked);
  } else {
    b.forGroups(numRows, block, [&](Value *i, int64_t count) {
      unpackRows(shape, columns, b.CreateNSWAdd(number, i), b.index(0), count,
                 b.getElement(unpacked, ElemKind::Float, i, block * width));
    });
  }
  Value *k = b.CreateNSWAdd(b.scaleIndex(number, block), inBlock);
  forSums(range, shape, columns,
          [&](Value *row, Value *place, const RowTile &part) {
            Values sums = b.loadVectors(ElemKind::Float, place,
                                        part.countSums(), lanes, lanes);
            sums = getMicroKernel(part).accumulate(b, {0, part.rows}, numRows,
                                                   getLhsAddress(row, k),
                                                   unpacked, std::move(sums));
            b.storeVectors(ElemKind::Float, sums, place, lanes);
          });
}

/// Calls \p body with the pieces of rows of weights: the block and the row in
/// it where a piece begins, and its rows.
void NBitsMatMul::forPieces(
    llvm::function_ref<void(Value *number, Value *inBlock, int64_t numRows)>
        body) {
  int64_t piece = getPieceRows(), block = layout.block;
  if (block <= piece)
    return b.forGroups(layout.depth, piece, [&](Value *i, int64_t numRows) {
      body(b.scaleIndex(i, piece / block), b.index(0), numRows);
    });
  b.forGroups(layout.depth, block, [&](Value *number, int64_t blockRows) {
    b.forGroups(blockRows, piece, [&](Value *i, int64_t numRows) {
      body(number, b.scaleIndex(i, piece), numRows);
    });
  });
}

/// Stores the sums of the tiles of \p range.
void NBitsMatMul::finishTiles(const TileRange &range, const RowTile &shape,
                              const Columns &columns) {
  Values factors;
  if (scalesSums(shape))
    factors = loadScales(columns, b.index(0), shape);
  forSums(range, shape, columns,
          [&](Value *row, Value *place, const RowTile &part) {
            Values sums = b.loadVectors(ElemKind::Float, place,
                                        part.countSums(), lanes, lanes);
            for (unsigned i = 0; i < sums.size() && !factors.empty(); ++i)
              sums[i] = b.CreateFMul(sums[i], factors[i % part.vectors]);
            store(row, part, columns, sums);
          });
}

/// Pieces of all columns of a panel, so that it is read in order.
void NBitsMatMul::emitRange(const TileRange &range, int64_t panelColumns,
                            Value *panel) {
  if (!unpacked)
    return NBitsTiles::emitRange(range, panelColumns, panel);
  auto forStrips =
      [&](llvm::function_ref<void(const RowTile &, const Columns &)> body) {
        forColumns(panelColumns, panel, tile, body);
      };
  forStrips([&](const RowTile &shape, const Columns &columns) {
    forSums(range, shape, columns,
            [&](Value *, Value *place, const RowTile &part) {
              b.storeVectors(ElemKind::Float,
                             Values(part.countSums(), splatLiteral(0)), place,
                             lanes);
            });
  });
  forPieces([&](Value *number, Value *inBlock, int64_t numRows) {
    forStrips([&](const RowTile &shape, const Columns &columns) {
      addPiece(range, shape, columns, number, inBlock, numRows);
    });
  });
  forStrips([&](const RowTile &shape, const Columns &columns) {
    finishTiles(range, shape, columns);
  });
}
