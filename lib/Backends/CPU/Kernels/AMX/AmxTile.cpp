//===- AmxTile.cpp - Tiles of int8 dot products in AMX --------------------===//

#include "Kernels/AMX/AmxTile.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;

/// The assignment of tile registers: one for the sums of each order, one for
/// each slice of the rows, and two for slices of the columns.
enum : unsigned { SumRegister = 0, RowRegister = 3, ColumnRegister = 6 };

void AmxTile::configure() {
  llvm::SmallVector<uint8_t, 64> bytes(64, 0);
  bytes[0] = 1;
  for (unsigned i = 0; i < 8; ++i) {
    bytes[16 + 2 * i] = 64;
    bytes[48 + i] = matrixRows;
  }
  llvm::Module *module = b.getFunction().getParent();
  llvm::StringRef name = "tile_configuration";
  llvm::GlobalVariable *global = module->getGlobalVariable(name, true);
  if (!global) {
    auto *data = llvm::ConstantDataArray::get(b.getContext(), bytes);
    global = new llvm::GlobalVariable(
        *module, data->getType(),
        /*isConstant=*/true, llvm::GlobalValue::InternalLinkage, data, name);
    global->setAlignment(llvm::Align(64));
  }
  call(llvm::Intrinsic::x86_ldtilecfg, {global});
}

void AmxTile::clearSums() {
  for (unsigned i = 0; i < numSlices; ++i)
    call(llvm::Intrinsic::x86_tilezero, {b.getInt8(SumRegister + i)});
}

void AmxTile::load(unsigned number, Slices slices, int64_t slice) {
  call(llvm::Intrinsic::x86_tileloadd64,
       {b.getInt8(number),
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slices.address,
                                     slice * slices.sliceBytes),
        b.getInt64(64)});
}

void AmxTile::multiply(Slices rows, Slices columns,
                       llvm::function_ref<void(int64_t)> meanwhile) {
  int64_t number = 0;
  for (int64_t columnSlice = 0; columnSlice < numSlices; ++columnSlice) {
    unsigned columnRegister = ColumnRegister + unsigned(columnSlice % 2);
    load(columnRegister, columns, columnSlice);
    for (int64_t slice = 0; slice + columnSlice < numSlices; ++slice) {
      unsigned rowRegister = RowRegister + unsigned(slice);
      if (columnSlice == 0)
        load(rowRegister, rows, slice);
      call(llvm::Intrinsic::x86_tdpbssd,
           {b.getInt8(uint8_t(SumRegister + slice + columnSlice)),
            b.getInt8(uint8_t(rowRegister)),
            b.getInt8(uint8_t(columnRegister))});
      meanwhile(number++);
    }
  }
}

void AmxTile::moveSums(llvm::Intrinsic::ID id, Value *sums) {
  for (int64_t order = 0; order < numSlices; ++order)
    call(id, {b.getInt8(uint8_t(SumRegister + order)),
              b.getElement(sums, ElemKind::Int8, order * registerBytes),
              b.getInt64(64)});
}

Value *AmxTile::addOrders(Value *sums, Value *row) {
  Value *place = b.addScaled(b.index(0), row, 64);
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  Value *total = nullptr;
  for (int64_t order = numSlices - 1; order >= 0; --order) {
    Value *sum = b.CreateAlignedLoad(
        intTy,
        b.getElement(sums, ElemKind::Int8,
                     b.CreateNSWAdd(place, b.index(order * registerBytes))),
        llvm::Align(64));
    sum = b.CreateSIToFP(sum, b.getComputeTy(ElemKind::Float, matrixColumns));
    double weight = double(int64_t(1) << (8 * (numSlices - 1 - order)));
    total = total ? b.multiplyAdd(
                        sum, b.literal(ElemKind::Float, weight, matrixColumns),
                        total)
                  : sum;
  }
  return total;
}
