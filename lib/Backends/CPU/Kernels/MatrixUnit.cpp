//===- MatrixUnit.cpp - Products of digits in matrix registers ------------===//

#include "MatrixUnit.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;

/// The registers and what is in them: the sums of each order, the digits of the
/// rows, and two of the columns.
enum : unsigned { SumRegister = 0, RowRegister = 3, ColumnRegister = 6 };

void MatrixUnit::configure() {
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

void MatrixUnit::clearSums() {
  for (unsigned i = 0; i < numDigits; ++i)
    call(llvm::Intrinsic::x86_tilezero, {b.getInt8(SumRegister + i)});
}

void MatrixUnit::load(unsigned number, Digits digits, int64_t digit) {
  call(llvm::Intrinsic::x86_tileloadd64,
       {b.getInt8(number),
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), digits.address,
                                     digit * digits.digitBytes),
        b.getInt64(64)});
}

void MatrixUnit::multiply(Digits rows, Digits columns,
                          llvm::function_ref<void(int64_t)> meanwhile) {
  int64_t number = 0;
  for (int64_t columnDigit = 0; columnDigit < numDigits; ++columnDigit) {
    unsigned columnRegister = ColumnRegister + unsigned(columnDigit % 2);
    load(columnRegister, columns, columnDigit);
    for (int64_t digit = 0; digit + columnDigit < numDigits; ++digit) {
      unsigned rowRegister = RowRegister + unsigned(digit);
      if (columnDigit == 0)
        load(rowRegister, rows, digit);
      call(llvm::Intrinsic::x86_tdpbssd,
           {b.getInt8(uint8_t(SumRegister + digit + columnDigit)),
            b.getInt8(uint8_t(rowRegister)),
            b.getInt8(uint8_t(columnRegister))});
      meanwhile(number++);
    }
  }
}

void MatrixUnit::moveSums(llvm::Intrinsic::ID id, Value *sums) {
  for (int64_t order = 0; order < numDigits; ++order)
    call(id, {b.getInt8(uint8_t(SumRegister + order)),
              b.getElement(sums, ElemKind::Int8, order * registerBytes),
              b.getInt64(64)});
}

Value *MatrixUnit::addOrders(Value *sums, Value *row) {
  Value *place = b.addScaled(b.index(0), row, 64);
  auto *intTy = llvm::FixedVectorType::get(b.getInt32Ty(), matrixColumns);
  Value *total = nullptr;
  for (int64_t order = numDigits - 1; order >= 0; --order) {
    Value *sum = b.CreateAlignedLoad(
        intTy,
        b.getElement(sums, ElemKind::Int8,
                     b.CreateNSWAdd(place, b.index(order * registerBytes))),
        llvm::Align(64));
    sum = b.CreateSIToFP(sum, b.getComputeTy(ElemKind::Float, matrixColumns));
    double weight = double(int64_t(1) << (8 * (numDigits - 1 - order)));
    total = total ? b.multiplyAdd(
                        sum, b.literal(ElemKind::Float, weight, matrixColumns),
                        total)
                  : sum;
  }
  return total;
}
