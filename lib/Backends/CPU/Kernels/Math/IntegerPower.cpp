//===- IntegerPower.cpp - Powers of integers ------------------------------===//

#include "Kernels/Math/IntegerPower.h"
#include "llvm/ADT/Twine.h"

using namespace glowish;
using llvm::Value;

namespace {

/// Emits the function of x and y.
class PowerEmitter {
public:
  PowerEmitter(llvm::Function &function, const TargetDescription &target,
               bool isSigned)
      : b(function, target), function(function), x(function.getArg(0)),
        y(function.getArg(1)), isSigned(isSigned) {}

  void emit();

private:
  llvm::Constant *number(int64_t value) {
    return llvm::ConstantInt::get(x->getType(), uint64_t(value), true);
  }
  Value *isBitSet(Value *rest) {
    return b.CreateICmpNE(b.CreateAnd(rest, number(1)), number(0));
  }
  /// Emits a bool: whether a lane of \p rest is not 0.
  Value *isAnyLeft(Value *rest) {
    Value *bits =
        KernelBuilder::getLanes(rest) == 1 ? rest : b.CreateOrReduce(rest);
    return b.CreateICmpNE(bits, llvm::Constant::getNullValue(bits->getType()));
  }
  Value *multiplyUp(Value *exponent);
  Value *chooseByBase();

  KernelBuilder b;
  llvm::Function &function;
  Value *x, *y;
  bool isSigned;
};

} // namespace

/// Emits x^exponent: squares of x, one a bit of \p exponent, until none is
/// left.
Value *PowerEmitter::multiplyUp(Value *exponent) {
  llvm::BasicBlock *entry = b.GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(b.getContext(), "bit", &function);
  auto *done = llvm::BasicBlock::Create(b.getContext(), "done", &function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode *result = b.CreatePHI(x->getType(), 2);
  llvm::PHINode *square = b.CreatePHI(x->getType(), 2);
  llvm::PHINode *rest = b.CreatePHI(x->getType(), 2);
  Value *next =
      b.CreateSelect(isBitSet(rest), b.CreateMul(result, square), result);
  Value *nextRest = b.CreateLShr(rest, 1);
  result->addIncoming(number(1), entry);
  result->addIncoming(next, loop);
  square->addIncoming(x, entry);
  square->addIncoming(b.CreateMul(square, square), loop);
  rest->addIncoming(exponent, entry);
  rest->addIncoming(nextRest, loop);
  b.CreateCondBr(isAnyLeft(nextRest), loop, done);
  b.SetInsertPoint(done);
  return next;
}

/// Emits x^y for y < 0.
Value *PowerEmitter::chooseByBase() {
  Value *ofMinusOne = b.CreateSelect(isBitSet(y), number(-1), number(1));
  Value *result =
      b.CreateSelect(b.CreateICmpEQ(x, number(-1)), ofMinusOne, number(0));
  return b.CreateSelect(b.CreateICmpEQ(x, number(1)), number(1), result);
}

void PowerEmitter::emit() {
  if (!isSigned) {
    b.CreateRet(multiplyUp(y));
    return;
  }
  Value *isNegative = b.CreateICmpSLT(y, number(0));
  Value *power = multiplyUp(b.CreateSelect(isNegative, number(0), y));
  b.CreateRet(b.CreateSelect(isNegative, chooseByBase(), power));
}

Value *glowish::emitIntegerPower(KernelBuilder &b, Value *x, Value *y,
                                 bool isSigned) {
  llvm::Type *type = x->getType();
  std::string name = ("glowish.power." + llvm::Twine(isSigned ? "i" : "u") +
                      llvm::Twine(type->getScalarSizeInBits()) + "x" +
                      llvm::Twine(KernelBuilder::getLanes(x)))
                         .str();
  llvm::Function *power = b.getHelper(
      name, llvm::FunctionType::get(type, {type, type}, /*isVarArg=*/false),
      [&](llvm::Function &function) {
        PowerEmitter(function, b.getTarget(), isSigned).emit();
      });
  return b.CreateCall(power, {x, y});
}
