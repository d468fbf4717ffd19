//===- VariantDispatch.cpp - Entry that selects a variant -----------------===//

#include "Target/VariantDispatch.h"
#include "ModuleEmitter.h"
#include "llvm/IR/IRBuilder.h"

using namespace glowish;
using llvm::Value;

llvm::Function *glowish::emitVariantDispatch(
    llvm::Module &module, const TargetDescription &target, llvm::StringRef name,
    llvm::ArrayRef<VariantEntry> entries) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  size_t numValues = entries[0].values.size();
  llvm::FunctionType *entryType = entries[0].entry->getFunctionType();
  llvm::SmallVector<llvm::Type *, 8> params(numValues, b.getInt64Ty());
  llvm::append_range(params, entryType->params());
  releaseName(module, name);
  llvm::Function *function = target.createFunction(
      module,
      llvm::FunctionType::get(entryType->getReturnType(), params, false),
      llvm::GlobalValue::ExternalLinkage, name);
  llvm::SmallVector<Value *, 4> args;
  for (llvm::Argument &arg : llvm::drop_begin(function->args(), numValues))
    args.push_back(&arg);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  for (const VariantEntry &variant : entries) {
    variant.entry->setLinkage(llvm::GlobalValue::InternalLinkage);
    Value *isMeant = b.getTrue();
    for (auto [i, value] : llvm::enumerate(variant.values))
      isMeant = b.CreateAnd(
          isMeant, b.CreateICmpEQ(function->getArg(i), b.getInt64(value)));
    auto *call = llvm::BasicBlock::Create(context, "call", function);
    auto *next = llvm::BasicBlock::Create(context, "next", function);
    b.CreateCondBr(isMeant, call, next);
    b.SetInsertPoint(call);
    b.CreateRet(b.CreateCall(variant.entry, args));
    b.SetInsertPoint(next);
  }
  b.CreateRet(b.getInt32(unsigned(EntryStatus::Dimension)));
  return function;
}

/// The input of \p function that states the extent of \p symbol.
static const Buffer *findStated(const IRFunction &function,
                                llvm::StringRef symbol) {
  for (const auto &buffer : function.getBuffers())
    if (const auto &range = buffer->getInputExtents().range)
      if (range->symbol == symbol)
        return buffer.get();
  llvm_unreachable("a program for single values of ranges has their inputs");
}

llvm::Function *glowish::emitStatedDispatch(llvm::Module &module,
                                            const TargetDescription &target,
                                            const Variant &variant,
                                            llvm::Function *own,
                                            llvm::Function *others) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Function *function = target.createFunction(
      module, own->getFunctionType(), llvm::GlobalValue::ExternalLinkage,
      own->getName() + ".select");
  llvm::SmallVector<Value *, 4> args;
  for (llvm::Argument &arg : function->args())
    args.push_back(&arg);
  auto *read = llvm::BasicBlock::Create(context, "read", function);
  auto *call = llvm::BasicBlock::Create(context, "call", function);
  auto *callOthers = llvm::BasicBlock::Create(context, "others", function);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function, read));
  // The entry of the others refuses what is null or not aligned.
  Value *mutables = function->getArg(1);
  Value *low = b.CreateAnd(
      b.CreatePtrToInt(mutables, module.getDataLayout().getIntPtrType(context)),
      variant.plan->alignment - 1);
  b.CreateCondBr(b.CreateAnd(b.CreateIsNotNull(mutables), b.CreateIsNull(low)),
                 read, callOthers);
  b.SetInsertPoint(read);
  Value *isMeant = b.getTrue();
  for (const SymbolValue &stated : variant.stated) {
    uint64_t offset =
        variant.plan->getOffset(findStated(*variant.function, stated.symbol));
    Value *extent = b.CreateLoad(
        b.getInt64Ty(),
        b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), mutables, offset));
    isMeant = b.CreateAnd(
        isMeant, b.CreateICmpEQ(extent, b.getInt64(uint64_t(stated.value))));
  }
  b.CreateCondBr(isMeant, call, callOthers);
  for (auto [block, entry] : {std::pair(call, own), {callOthers, others}}) {
    entry->setLinkage(llvm::GlobalValue::InternalLinkage);
    b.SetInsertPoint(block);
    b.CreateRet(b.CreateCall(entry, args));
  }
  return function;
}
