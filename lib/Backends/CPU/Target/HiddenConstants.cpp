//===- HiddenConstants.cpp - Constants that are miscompiled ---------------===//

#include "Target/HiddenConstants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace glowish;

/// The element of \p value, a constant vector of floats of which all are the
/// same; null if it is something else.
static llvm::ConstantFP *getSplat(llvm::Value *value) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant || !constant->getType()->isVectorTy())
    return nullptr;
  return llvm::dyn_cast_or_null<llvm::ConstantFP>(constant->getSplatValue());
}

static bool convertsIntegers(const llvm::Value *value) {
  return llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(value);
}

static bool makesIntegers(const llvm::User *user) {
  if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(user))
    return call->getIntrinsicID() == llvm::Intrinsic::fptosi_sat ||
           call->getIntrinsicID() == llvm::Intrinsic::fptoui_sat;
  return llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(user);
}

/// Whether operand \p index of \p instr is a constant that is to be hidden.
static bool isMiscompiled(const llvm::Instruction &instr, unsigned index) {
  llvm::ConstantFP *splat = getSplat(instr.getOperand(index));
  if (!splat || !splat->getType()->isFloatTy())
    return false;
  if (llvm::isa<llvm::FCmpInst>(instr))
    return splat->isZero();
  if (instr.getOpcode() != llvm::Instruction::FMul)
    return false;
  return splat->getValueAPF().getExactLog2Abs() != INT_MIN &&
         (convertsIntegers(instr.getOperand(1 - index)) ||
          llvm::any_of(instr.users(), makesIntegers));
}

/// \p splat as a register that nothing is known of.
static llvm::Value *hide(llvm::IRBuilder<> &b, llvm::Value *splat) {
  llvm::Type *type = b.getInt32Ty();
  auto *identity = llvm::FunctionType::get(type, {type}, /*isVarArg=*/false);
  llvm::Value *bits =
      b.CreateCall(llvm::InlineAsm::get(identity, /*AsmString=*/"", "=r,0",
                                        /*hasSideEffects=*/false),
                   {b.CreateBitCast(getSplat(splat), type)});
  auto *vector = llvm::cast<llvm::FixedVectorType>(splat->getType());
  return b.CreateVectorSplat(vector->getNumElements(),
                             b.CreateBitCast(bits, b.getFloatTy()));
}

void glowish::hideMVEConstants(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    llvm::DenseMap<llvm::Value *, llvm::Value *> hidden;
    llvm::IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instr : block)
        for (unsigned i = 0; i < instr.getNumOperands(); ++i)
          if (isMiscompiled(instr, i)) {
            llvm::Value *&value = hidden[instr.getOperand(i)];
            if (!value)
              value = hide(b, instr.getOperand(i));
            instr.setOperand(i, value);
          }
  }
}
