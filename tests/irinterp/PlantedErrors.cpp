//===- PlantedErrors.cpp - Wrong LLVM IR on purpose -----------------------===//

#include "PlantedErrors.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish::irinterp;
using llvm::dyn_cast;

/// i < n becomes i <= n.
static bool weakenComparison(llvm::Instruction &instr) {
  auto *test = dyn_cast<llvm::ICmpInst>(&instr);
  if (!test || test->isEquality())
    return false;
  test->setPredicate(test->isStrictPredicate() ? test->getNonStrictPredicate()
                                               : test->getStrictPredicate());
  return true;
}

/// i != n becomes i == n.
static bool invertEquality(llvm::Instruction &instr) {
  auto *test = dyn_cast<llvm::ICmpInst>(&instr);
  if (!test || !test->isEquality())
    return false;
  test->setPredicate(test->getInversePredicate());
  return true;
}

static bool moveAddress(llvm::Instruction &instr) {
  auto *address = dyn_cast<llvm::GetElementPtrInst>(&instr);
  if (!address)
    return false;
  llvm::Use &last = address->getOperandUse(address->getNumOperands() - 1);
  auto *index = dyn_cast<llvm::ConstantInt>(last.get());
  if (!index || index->isZero())
    return false;
  last.set(llvm::ConstantInt::get(index->getType(), index->getValue() + 1));
  return true;
}

static bool changeConstant(llvm::Instruction &instr) {
  if (instr.getOpcode() != llvm::Instruction::Add &&
      instr.getOpcode() != llvm::Instruction::Mul)
    return false;
  auto *number = dyn_cast<llvm::ConstantInt>(instr.getOperand(1));
  if (!number || number->getType()->isVectorTy())
    return false;
  instr.setOperand(
      1, llvm::ConstantInt::get(number->getType(), number->getValue() + 1));
  return true;
}

static bool swapOperands(llvm::Instruction &instr) {
  if (instr.getOpcode() != llvm::Instruction::FSub &&
      instr.getOpcode() != llvm::Instruction::Sub &&
      !isa<llvm::SelectInst>(instr))
    return false;
  unsigned first = isa<llvm::SelectInst>(instr);
  if (instr.getOperand(first) == instr.getOperand(first + 1))
    return false;
  instr.getOperandUse(first).swap(instr.getOperandUse(first + 1));
  return true;
}

static bool changeLane(llvm::Instruction &instr) {
  auto *shuffle = dyn_cast<llvm::ShuffleVectorInst>(&instr);
  if (!shuffle || shuffle->getShuffleMask()[0] < 0)
    return false;
  llvm::SmallVector<int> mask(shuffle->getShuffleMask());
  mask[0] = mask[0] ? 0 : 1;
  shuffle->setShuffleMask(mask);
  return true;
}

/// A store that writes nothing.
static bool dropStore(llvm::Instruction &instr) {
  if (!isa<llvm::StoreInst>(instr))
    return false;
  instr.eraseFromParent();
  return true;
}

llvm::ArrayRef<PlantedError> glowish::irinterp::getPlantedErrors() {
  static const PlantedError errors[] = {
      {"a comparison of order", weakenComparison},
      {"a comparison of equality", invertEquality},
      {"an address", moveAddress},
      {"a constant", changeConstant},
      {"the order of operands", swapOperands},
      {"a lane of a shuffle", changeLane},
      {"a store that is gone", dropStore},
  };
  return errors;
}

bool glowish::irinterp::plantError(llvm::Module &module,
                                   const PlantedError &error, unsigned number,
                                   std::string &place) {
  for (llvm::Function &function : module)
    for (llvm::BasicBlock &block : function)
      for (llvm::Instruction &instr : block) {
        std::string text;
        llvm::raw_string_ostream os(text);
        instr.print(os);
        // Asked of a copy, as planting changes the instruction.
        std::unique_ptr<llvm::Instruction, void (*)(llvm::Instruction *)> copy(
            instr.clone(),
            [](llvm::Instruction *each) { each->deleteValue(); });
        bool applies = isa<llvm::StoreInst>(instr)
                           ? error.plant == dropStore
                           : error.plant != dropStore && error.plant(*copy);
        if (!applies || number-- > 0)
          continue;
        place = function.getName().str() + ":" + text;
        return error.plant(instr);
      }
  return false;
}
