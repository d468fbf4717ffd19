//===- Decode.cpp - Functions in the form that is interpreted -------------===//

#include "Interpreter.h"
#include "glowish/Support/Error.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace glowish;
using namespace glowish::irinterp;
using llvm::cast;
using llvm::dyn_cast;

static std::string print(const llvm::Type &type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  type.print(os);
  return text;
}

llvm::Expected<const TypeLayout *> Interpreter::getLayout(llvm::Type *type) {
  std::unique_ptr<TypeLayout> &known = layouts[type];
  if (!known)
    known = std::make_unique<TypeLayout>(TypeLayout::of(type, layout));
  if (!known->isSupported)
    return llvm::make_error<Unsupported>("the type " + print(*type));
  return known.get();
}

//===- Constants ----------------------------------------------------------===//

llvm::Expected<uint64_t>
Interpreter::getGlobal(const llvm::GlobalVariable *global) {
  auto known = globals.find(global);
  if (known != globals.end())
    return known->second;
  if (!global->hasInitializer())
    return llvm::make_error<Unsupported>("a global variable from elsewhere");
  llvm::Type *type = global->getValueType();
  uint64_t size = layout.getTypeAllocSize(type);
  GLOWISH_ASSIGN_OR_RETURN(
      uint64_t address,
      memory.allocate(
          ("the constant @" + global->getName()).str(), size,
          layout.getValueOrABITypeAlignment(global->getAlign(), type).value()));
  globals[global] = address;
  GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *parts, getLayout(type));
  llvm::SmallVector<Lane, 8> lanes;
  GLOWISH_RETURN_IF_ERROR(evaluate(global->getInitializer(), lanes));
  std::vector<uint8_t> bytes(size);
  for (auto [part, offset, lane] :
       llvm::zip(parts->lanes, parts->offsets, lanes))
    std::memcpy(&bytes[offset], &lane.bits, part.getBytes());
  memory.initialize(address, bytes, !global->isConstant());
  return address;
}

llvm::Error Interpreter::evaluate(const llvm::Constant *constant,
                                  llvm::SmallVectorImpl<Lane> &lanes) {
  if (auto *integer = dyn_cast<llvm::ConstantInt>(constant)) {
    if (!integer->getType()->isVectorTy()) {
      lanes.push_back({integer->getValue().getRawData()[0], false});
      return llvm::Error::success();
    }
  }
  if (auto *number = dyn_cast<llvm::ConstantFP>(constant)) {
    lanes.push_back(
        {number->getValueAPF().bitcastToAPInt().getZExtValue(), false});
    return llvm::Error::success();
  }
  if (auto *global = dyn_cast<llvm::GlobalVariable>(constant)) {
    GLOWISH_ASSIGN_OR_RETURN(uint64_t address, getGlobal(global));
    lanes.push_back({address, false});
    return llvm::Error::success();
  }
  if (auto *address = dyn_cast<llvm::GEPOperator>(constant)) {
    llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    if (!address->accumulateConstantOffset(layout, offset))
      return llvm::make_error<Unsupported>("a constant address");
    GLOWISH_RETURN_IF_ERROR(
        evaluate(cast<llvm::Constant>(address->getPointerOperand()), lanes));
    lanes.back().bits += uint64_t(offset.getSExtValue());
    return llvm::Error::success();
  }
  GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type,
                           getLayout(constant->getType()));
  bool isUndefined = isa<llvm::UndefValue>(constant);
  if (isUndefined || constant->isNullValue()) {
    lanes.append(type->lanes.size(), {0, isUndefined});
    return llvm::Error::success();
  }
  if (isa<llvm::ConstantExpr, llvm::Function>(constant))
    return llvm::make_error<Unsupported>("a constant expression");
  uint64_t count =
      isa<llvm::StructType>(constant->getType())
          ? constant->getType()->getStructNumElements()
      : isa<llvm::ArrayType>(constant->getType())
          ? constant->getType()->getArrayNumElements()
          : cast<llvm::FixedVectorType>(constant->getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i)
    GLOWISH_RETURN_IF_ERROR(evaluate(constant->getAggregateElement(i), lanes));
  return llvm::Error::success();
}

//===- Instructions -------------------------------------------------------===//

llvm::Expected<Interpreter::Operand>
Interpreter::getOperand(const Code &code, const llvm::Value *value) {
  GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type, getLayout(value->getType()));
  Operand operand;
  operand.count = unsigned(type->lanes.size());
  auto *constant = dyn_cast<llvm::Constant>(value);
  if (!constant) {
    operand.slot = code.slots.lookup(value);
    return operand;
  }
  llvm::SmallVector<Lane, 8> lanes;
  GLOWISH_RETURN_IF_ERROR(evaluate(constant, lanes));
  constants.push_back(std::move(lanes));
  operand.constant = constants.back().data();
  return operand;
}

/// What a constant index adds is known, and so is the factor of others.
llvm::Error Interpreter::decodeAddress(Step &step, const Code &code,
                                       const llvm::GetElementPtrInst &instr) {
  GLOWISH_ASSIGN_OR_RETURN(Operand base,
                           getOperand(code, instr.getPointerOperand()));
  step.operands.push_back(base);
  for (auto at = llvm::gep_type_begin(instr), end = llvm::gep_type_end(instr);
       at != end; ++at) {
    auto *known = dyn_cast<llvm::ConstantInt>(at.getOperand());
    if (llvm::StructType *structure = at.getStructTypeOrNull()) {
      step.offset += layout.getStructLayout(structure)->getElementOffset(
          unsigned(known->getZExtValue()));
      continue;
    }
    uint64_t scale = at.getSequentialElementStride(layout);
    if (known && !known->getType()->isVectorTy()) {
      step.offset += uint64_t(known->getSExtValue()) * scale;
      continue;
    }
    if (layout.getTypeSizeInBits(at.getOperand()->getType()->getScalarType()) <
        layout.getIndexTypeSizeInBits(instr.getType()))
      return llvm::make_error<Unsupported>("a narrow index");
    GLOWISH_ASSIGN_OR_RETURN(Operand index, getOperand(code, at.getOperand()));
    step.operands.push_back(index);
    step.scales.push_back(scale);
  }
  return llvm::Error::success();
}

llvm::Error Interpreter::decode(Code &code, const llvm::Instruction &instr) {
  Block &block = code.blocks[instr.getParent()];
  auto &list = isa<llvm::PHINode>(instr) ? block.phis : block.steps;
  if (isa<llvm::DbgInfoIntrinsic>(instr))
    return llvm::Error::success();
  Step step;
  step.source = &instr;
  GLOWISH_ASSIGN_OR_RETURN(step.type, getLayout(instr.getType()));
  step.slot = code.slots.lookup(&instr);
  if (auto *address = dyn_cast<llvm::GetElementPtrInst>(&instr)) {
    GLOWISH_RETURN_IF_ERROR(decodeAddress(step, code, *address));
    list.push_back(std::move(step));
    return llvm::Error::success();
  }
  auto *call = dyn_cast<llvm::CallBase>(&instr);
  auto values = call ? llvm::make_range(call->arg_begin(), call->arg_end())
                     : llvm::make_range(instr.op_begin(), instr.op_end());
  for (const llvm::Use &value : values) {
    Operand operand;
    if (!isa<llvm::BasicBlock, llvm::MetadataAsValue>(value.get())) {
      GLOWISH_ASSIGN_OR_RETURN(operand, getOperand(code, value.get()));
    }
    step.operands.push_back(operand);
  }
  // The condition comes first, and what a branch leads to is no operand.
  if (isa<llvm::BranchInst, llvm::SwitchInst>(instr))
    step.operands.truncate(1);
  list.push_back(std::move(step));
  return llvm::Error::success();
}

llvm::Expected<const Interpreter::Code *>
Interpreter::getCode(const llvm::Function &function) {
  std::unique_ptr<Code> &code = codes[&function];
  if (code)
    return code.get();
  auto made = std::make_unique<Code>();
  auto place = [&](const llvm::Value &value) -> llvm::Error {
    GLOWISH_ASSIGN_OR_RETURN(const TypeLayout *type,
                             getLayout(value.getType()));
    made->slots[&value] = made->numSlots;
    made->numSlots += unsigned(type->lanes.size());
    return llvm::Error::success();
  };
  for (const llvm::Argument &argument : function.args())
    GLOWISH_RETURN_IF_ERROR(place(argument));
  for (const llvm::BasicBlock &block : function)
    for (const llvm::Instruction &instr : block)
      GLOWISH_RETURN_IF_ERROR(place(instr));
  for (const llvm::BasicBlock &block : function)
    for (const llvm::Instruction &instr : block)
      GLOWISH_RETURN_IF_ERROR(decode(*made, instr));
  code = std::move(made);
  return code.get();
}
