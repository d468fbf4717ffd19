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
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(entryType->getReturnType(), params, false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  target.addFunctionAttributes(*function);
  function->addFnAttr(llvm::Attribute::NoUnwind);
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
