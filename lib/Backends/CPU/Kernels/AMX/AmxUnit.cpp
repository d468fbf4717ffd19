//===- AmxUnit.cpp - Instructions of Intel AMX ----------------------------===//

#include "Kernels/AMX/AmxUnit.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

void AmxUnit::configure() {
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
  b.CreateIntrinsic(Intrinsic::x86_ldtilecfg, {}, {global});
}

void AmxUnit::release() {
  b.CreateIntrinsic(Intrinsic::x86_tilerelease, {}, {});
}

void AmxUnit::clear(unsigned number) {
  b.CreateIntrinsic(Intrinsic::x86_tilezero, {}, {b.getInt8(uint8_t(number))});
}

void AmxUnit::load(unsigned number, Value *address, int64_t strideBytes) {
  b.CreateIntrinsic(
      Intrinsic::x86_tileloadd64, {},
      {b.getInt8(uint8_t(number)), address, b.getInt64(uint64_t(strideBytes))});
}

void AmxUnit::store(unsigned number, Value *address, int64_t strideBytes) {
  b.CreateIntrinsic(
      Intrinsic::x86_tilestored64, {},
      {b.getInt8(uint8_t(number)), address, b.getInt64(uint64_t(strideBytes))});
}

static Intrinsic::ID getInstr(AmxUnit::Elements elements) {
  switch (elements) {
  case AmxUnit::Elements::SignedBytes:
    return Intrinsic::x86_tdpbssd;
  case AmxUnit::Elements::UnsignedBySignedBytes:
    return Intrinsic::x86_tdpbusd;
  case AmxUnit::Elements::BFloat16Pairs:
    return Intrinsic::x86_tdpbf16ps;
  }
  llvm_unreachable("all elements have an instruction");
}

void AmxUnit::multiply(Elements elements, unsigned sums, unsigned rows,
                       unsigned columns) {
  b.CreateIntrinsic(getInstr(elements), {},
                    {b.getInt8(uint8_t(sums)), b.getInt8(uint8_t(rows)),
                     b.getInt8(uint8_t(columns))});
}
