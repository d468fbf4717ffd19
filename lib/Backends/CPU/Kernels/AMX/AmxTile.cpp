//===- AmxTile.cpp - Tiles of int8 dot products in AMX --------------------===//

#include "Kernels/AMX/AmxTile.h"

using namespace glowish;
using llvm::Value;

/// The assignment of tile registers: one for the sums of each order, one for
/// each slice of the rows, and two for slices of the columns.
enum : unsigned { SumRegister = 0, RowRegister = 3, ColumnRegister = 6 };

void AmxTile::clearSums() {
  for (unsigned order = 0; order < numSlices; ++order)
    clear(SumRegister + order);
}

void AmxTile::loadSlice(unsigned number, Slices slices, int64_t slice) {
  load(number,
       b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slices.address,
                                    slice * slices.sliceBytes),
       64);
}

void AmxTile::multiply(Slices rows, Slices columns,
                       llvm::function_ref<void(int64_t)> meanwhile) {
  int64_t number = 0;
  for (int64_t columnSlice = 0; columnSlice < numSlices; ++columnSlice) {
    unsigned columnRegister = ColumnRegister + unsigned(columnSlice % 2);
    loadSlice(columnRegister, columns, columnSlice);
    for (int64_t slice = 0; slice + columnSlice < numSlices; ++slice) {
      unsigned rowRegister = RowRegister + unsigned(slice);
      if (columnSlice == 0)
        loadSlice(rowRegister, rows, slice);
      AmxUnit::multiply(Elements::SignedBytes,
                        unsigned(SumRegister + slice + columnSlice),
                        rowRegister, columnRegister);
      meanwhile(number++);
    }
  }
}

void AmxTile::loadSums(Value *sums) {
  for (int64_t order = 0; order < numSlices; ++order)
    load(SumRegister + unsigned(order),
         b.getElement(sums, ElemKind::Int8, order * registerBytes), 64);
}

void AmxTile::storeSums(Value *sums) {
  for (int64_t order = 0; order < numSlices; ++order)
    store(SumRegister + unsigned(order),
          b.getElement(sums, ElemKind::Int8, order * registerBytes), 64);
}

Value *AmxTile::addOrders(Value *sums, Value *row) {
  Value *place = b.scaleIndex(row, 64);
  Value *total = nullptr;
  for (int64_t order = numSlices - 1; order >= 0; --order) {
    Value *sum = loadRow(
        b, b.getElement(sums, ElemKind::Int8,
                        b.CreateNSWAdd(place, b.index(order * registerBytes))));
    sum = b.CreateSIToFP(sum, b.getComputeTy(ElemKind::Float, matrixColumns));
    double weight = double(int64_t(1) << (8 * (numSlices - 1 - order)));
    total = total ? b.multiplyAdd(
                        sum, b.literal(ElemKind::Float, weight, matrixColumns),
                        total)
                  : sum;
  }
  return total;
}
