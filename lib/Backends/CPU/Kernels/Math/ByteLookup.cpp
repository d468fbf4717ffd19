//===- ByteLookup.cpp - Functions of bytes by tables ----------------------===//

#include "Kernels/Math/ByteLookup.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace glowish;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

/// Entries \p first, first + 1, ... of \p table as a vector.
template <typename T>
static Value *getEntries(KernelBuilder &b, llvm::ArrayRef<T> table,
                         unsigned first, unsigned count) {
  return llvm::ConstantDataVector::get(b.getContext(),
                                       table.slice(first, count));
}

static Value *splatByte(KernelBuilder &b, Value *like, uint8_t byte) {
  return llvm::ConstantInt::get(like->getType(), byte);
}

/// 64 bytes by VBMI's vpermi2b, which looks 7 bits up in two registers.
static Value *lookUpBytes(KernelBuilder &b, Value *x,
                          llvm::ArrayRef<uint8_t> table) {
  auto lookUpHalf = [&](unsigned first) {
    return b.CreateIntrinsic(Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                             {getEntries(b, table, first, 64), x,
                              getEntries(b, table, first + 64, 64)});
  };
  Value *isHigh = b.CreateICmpSLT(x, splatByte(b, x, 0));
  return b.CreateSelect(isHigh, lookUpHalf(128), lookUpHalf(0));
}

/// 32 bytes by AVX-512's vpermi2w, which looks 6 bits up in two registers of
/// words: a word has two entries of the table.
static Value *lookUpWords(KernelBuilder &b, Value *x,
                          llvm::ArrayRef<uint8_t> table) {
  llvm::SmallVector<uint16_t, 128> words;
  for (unsigned i = 0; i < table.size(); i += 2)
    words.push_back(uint16_t(table[i] | table[i + 1] << 8));
  auto lookUpHalf = [&](unsigned first, Value *index) {
    return b.CreateIntrinsic(
        Intrinsic::x86_avx512_vpermi2var_hi_512, {},
        {getEntries(b, llvm::ArrayRef<uint16_t>(words), first, 32), index,
         getEntries(b, llvm::ArrayRef<uint16_t>(words), first + 32, 32)});
  };
  Value *wide =
      b.CreateZExt(x, llvm::FixedVectorType::get(b.getInt16Ty(),
                                                 KernelBuilder::getLanes(x)));
  auto splat = [&](uint16_t value) {
    return llvm::ConstantInt::get(wide->getType(), value);
  };
  Value *index = b.CreateLShr(wide, splat(1));
  Value *isHigh = b.CreateICmpUGE(wide, splat(128));
  Value *word =
      b.CreateSelect(isHigh, lookUpHalf(64, index), lookUpHalf(0, index));
  Value *bits = b.CreateShl(b.CreateAnd(wide, splat(1)), splat(3));
  return b.CreateTrunc(b.CreateLShr(word, bits), x->getType());
}

/// 16 bytes by NEON's tbl and tbx, which look 6 bits up in four registers, and
/// give 0, or leave what is there, for other bytes.
static Value *lookUpBy64(KernelBuilder &b, Value *x,
                         llvm::ArrayRef<uint8_t> table) {
  Value *result = nullptr;
  for (unsigned first = 0; first < table.size(); first += 64) {
    Values operands;
    if (result)
      operands.push_back(result);
    for (unsigned part = 0; part < 64; part += 16)
      operands.push_back(getEntries(b, table, first + part, 16));
    operands.push_back(b.CreateSub(x, splatByte(b, x, first)));
    result = b.CreateIntrinsic(result ? Intrinsic::aarch64_neon_tbx4
                                      : Intrinsic::aarch64_neon_tbl4,
                               {x->getType()}, operands);
  }
  return result;
}

/// One byte by one.
static Value *lookUpOne(KernelBuilder &b, Value *x,
                        llvm::ArrayRef<uint8_t> table) {
  return b.CreateTrunc(b.lookUp(table, b.CreateZExt(x, b.getIndexTy())),
                       b.getInt8Ty());
}

Value *glowish::emitByteLookup(KernelBuilder &b, Value *x,
                               llvm::ArrayRef<uint8_t> table) {
  assert(table.size() == 256 && "an entry for each byte");
  unsigned lanes = KernelBuilder::getLanes(x);
  if (lanes == 1)
    return lookUpOne(b, x, table);
  using Lookup = Value *(*)(KernelBuilder &, Value *, llvm::ArrayRef<uint8_t>);
  auto byInstr = [&](unsigned most, Lookup lookUp) {
    return b.mapParts(x, most,
                      [&](Value *part) { return lookUp(b, part, table); });
  };
  switch (b.getTarget().lookup) {
  case LookupInstr::Bytes128:
    return byInstr(64, lookUpBytes);
  case LookupInstr::Words64:
    return byInstr(32, lookUpWords);
  case LookupInstr::Bytes64:
    return byInstr(16, lookUpBy64);
  case LookupInstr::None:
    break;
  }
  Value *result = llvm::PoisonValue::get(x->getType());
  for (unsigned i = 0; i < lanes; ++i)
    result = b.CreateInsertElement(
        result, lookUpOne(b, b.CreateExtractElement(x, i), table), i);
  return result;
}
