//===- DotInstrs.cpp - Dot products of small integers ---------------------===//

#include "Kernels/Math/DotInstrs.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsARM.h"
#include "llvm/IR/IntrinsicsWebAssembly.h"
#include "llvm/IR/IntrinsicsX86.h"

using namespace glowish;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

/// The instruction for registers of \p lanes lanes of 32 bits.
static Intrinsic::ID chooseByLanes(unsigned lanes, Intrinsic::ID of4,
                                   Intrinsic::ID of8, Intrinsic::ID of16) {
  assert((lanes == 4 || lanes == 8 || lanes == 16) && "a register of x86");
  return lanes == 16 ? of16 : lanes == 8 ? of8 : of4;
}

static Value *emitPairs(KernelBuilder &b, Value *sums, Value *x,
                        Value *weights) {
  unsigned lanes = KernelBuilder::getLanes(sums);
  if (b.getTarget().addsPairs)
    return b.CreateIntrinsic(chooseByLanes(lanes,
                                           Intrinsic::x86_avx512_vpdpwssd_128,
                                           Intrinsic::x86_avx512_vpdpwssd_256,
                                           Intrinsic::x86_avx512_vpdpwssd_512),
                             {}, {sums, x, weights});
  auto *pairs = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
  Intrinsic::ID multiply =
      b.getTarget().isWasm ? Intrinsic::wasm_dot
                           : chooseByLanes(lanes, Intrinsic::x86_sse2_pmadd_wd,
                                           Intrinsic::x86_avx2_pmadd_wd,
                                           Intrinsic::x86_avx512_pmaddw_d_512);
  Value *pairSums = b.CreateIntrinsic(
      multiply, {},
      {b.CreateBitCast(x, pairs), b.CreateBitCast(weights, pairs)});
  return b.CreateAdd(sums, pairSums);
}

static Value *emitBFloat16Pairs(KernelBuilder &b, Value *sums, Value *x,
                                Value *weights) {
  unsigned lanes = KernelBuilder::getLanes(sums);
  auto *pairs = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
  x = b.CreateBitCast(x, pairs);
  weights = b.CreateBitCast(weights, pairs);
  if (b.getTarget().isX86)
    return b.CreateIntrinsic(
        chooseByLanes(lanes, Intrinsic::x86_avx512bf16_dpbf16ps_128,
                      Intrinsic::x86_avx512bf16_dpbf16ps_256,
                      Intrinsic::x86_avx512bf16_dpbf16ps_512),
        {}, {sums, x, weights});
  return b.CreateIntrinsic(Intrinsic::aarch64_neon_bfdot,
                           {sums->getType(), pairs}, {sums, x, weights});
}

Value *glowish::emitDot(KernelBuilder &b, DotInstr dot, Value *sums, Value *x,
                        Value *weights) {
  unsigned lanes = KernelBuilder::getLanes(sums);
  switch (dot) {
  case DotInstr::None:
    break;
  case DotInstr::Pairs:
    return emitPairs(b, sums, x, weights);
  case DotInstr::UnsignedQuads:
    return b.CreateIntrinsic(chooseByLanes(lanes,
                                           Intrinsic::x86_avx512_vpdpbusd_128,
                                           Intrinsic::x86_avx512_vpdpbusd_256,
                                           Intrinsic::x86_avx512_vpdpbusd_512),
                             {}, {sums, x, weights});
  case DotInstr::SignedQuads: {
    auto *bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 4 * lanes);
    return b.CreateIntrinsic(
        Intrinsic::aarch64_neon_sdot, {sums->getType(), bytes},
        {sums, b.CreateBitCast(x, bytes), b.CreateBitCast(weights, bytes)});
  }
  case DotInstr::BFloat16Pairs:
    return emitBFloat16Pairs(b, sums, x, weights);
  }
  llvm_unreachable("the target has no such instruction");
}

Value *glowish::emitSmallMultiplyAdd(KernelBuilder &b, Value *sums, Value *x,
                                     Value *y) {
  unsigned lanes = KernelBuilder::getLanes(sums);
  // The upper halves of x and y are extensions of the lower ones. Without that
  // of x, a dot product of pairs is the product of the lower halves.
  bool isRegister = lanes > 1 && lanes == b.getRegisterLanes(ElemKind::Int32);
  if (!isRegister || b.getTarget().dot == DotInstr::None ||
      b.getTarget().dot == DotInstr::SignedQuads)
    return b.CreateAdd(b.CreateMul(x, y), sums);
  return emitPairs(
      b, sums, b.CreateAnd(x, llvm::ConstantInt::get(x->getType(), 0xffff)), y);
}

Value *glowish::emitWidenedPair(KernelBuilder &b, Value *word, bool isSigned,
                                Value *added) {
  if (!added)
    return b.CreateIntrinsic(
        isSigned ? Intrinsic::arm_sxtb16 : Intrinsic::arm_uxtb16, {}, {word});
  return b.CreateIntrinsic(isSigned ? Intrinsic::arm_sxtab16
                                    : Intrinsic::arm_uxtab16,
                           {}, {added, word});
}

Value *glowish::emitRotated(KernelBuilder &b, Value *word, unsigned bits) {
  return b.CreateIntrinsic(Intrinsic::fshr, {word->getType()},
                           {word, word, b.getInt32(bits)});
}

Value *glowish::emitDualMultiplyAdd(KernelBuilder &b, Value *sum, Value *x,
                                    Value *y) {
  return b.CreateIntrinsic(Intrinsic::arm_smlad, {}, {x, y, sum});
}

Value *glowish::emitHalfMultiplyAdd(KernelBuilder &b, Value *sum, Value *x,
                                    bool isUpperX, Value *y, bool isUpperY) {
  constexpr Intrinsic::ID instrs[2][2] = {
      {Intrinsic::arm_smlabb, Intrinsic::arm_smlabt},
      {Intrinsic::arm_smlatb, Intrinsic::arm_smlatt}};
  return b.CreateIntrinsic(instrs[isUpperX][isUpperY], {}, {x, y, sum});
}

Value *glowish::emitDotReduction(KernelBuilder &b, Value *sum, Value *x,
                                 Value *y) {
  // Fewer lanes are wider ones of a register.
  constexpr unsigned registerBits = 128;
  unsigned lanes = KernelBuilder::getLanes(x);
  auto *type =
      llvm::FixedVectorType::get(b.getIntNTy(registerBits / lanes), lanes);
  Value *isUnsigned = b.getInt32(0), *subtracts = b.getInt32(0),
        *exchanges = b.getInt32(0);
  return b.CreateIntrinsic(Intrinsic::arm_mve_vmldava, {type},
                           {isUnsigned, subtracts, exchanges, sum,
                            b.CreateSExtOrTrunc(x, type),
                            b.CreateSExtOrTrunc(y, type)});
}
