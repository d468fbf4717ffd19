//===- PredicateEmitter.cpp - Instructions that may be skipped ------------===//
//
// Instructions with a predicate are behind a branch: neighbours with the same
// one behind one branch.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelBuilder.h"
#include "ModuleEmitter.h"
#include "glowish/Support/Task.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::Value;

/// Returns the function that tells whether any of \p count bools, \p stride
/// bytes apart, is true: bool any(pointer).
llvm::Function *ModuleEmitter::getAny(int64_t count, int64_t stride) {
  std::string name =
      llvm::formatv("any{0}_{1}{2}", count, stride, target.suffix);
  if (llvm::Function *function = module.getFunction(name))
    return function;
  llvm::LLVMContext &context = module.getContext();
  auto *type = llvm::FunctionType::get(llvm::Type::getInt1Ty(context),
                                       {llvm::PointerType::getUnqual(context)},
                                       /*isVarArg=*/false);
  llvm::Function *function = target.createFunction(
      module, type, llvm::GlobalValue::InternalLinkage, name);
  function->addFnAttr(llvm::Attribute::NoInline);
  KernelBuilder b(*function, target);
  auto addFlag = [&](Value *i, llvm::ArrayRef<Value *> any) -> Values {
    Value *address =
        b.getElement(function->getArg(0), ElemKind::Bool, i, stride);
    return {b.CreateOr(any[0], b.CreateLoad(b.getInt8Ty(), address))};
  };
  Value *any = b.forLoop(count, {b.getInt8(0)}, addFlag)[0];
  b.CreateRet(b.CreateIsNotNull(any));
  return function;
}

/// Returns whether an element of \p predicate is true, an i1.
Value *ModuleEmitter::emitAny(llvm::IRBuilder<> &builder, const Frame &frame,
                              const Buffer &predicate) {
  Value *address = getAddress(builder, frame, &predicate);
  int64_t count = predicate.getType().getNumElements();
  if (count == 1)
    return builder.CreateIsNotNull(
        builder.CreateLoad(builder.getInt8Ty(), address));
  return builder.CreateCall(getAny(count, predicate.getInnerStride()), address);
}

/// Emits \p run, instructions with the same predicate or one without.
void ModuleEmitter::emitRun(llvm::IRBuilder<> &builder, const Frame &frame,
                            llvm::ArrayRef<const Instruction *> run) {
  llvm::BasicBlock *end = nullptr;
  if (const Buffer *predicate = run.front()->getPredicate()) {
    llvm::LLVMContext &context = builder.getContext();
    llvm::Function *function = builder.GetInsertBlock()->getParent();
    auto *needed = llvm::BasicBlock::Create(context, "needed", function);
    end = llvm::BasicBlock::Create(context, "skipped", function);
    builder.CreateCondBr(emitAny(builder, frame, *predicate), needed, end);
    builder.SetInsertPoint(needed);
  }
  for (const Instruction *instr : run)
    emitInstr(builder, frame, *instr);
  if (!end)
    return;
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
}

void ModuleEmitter::emitInstrs(llvm::IRBuilder<> &builder, const Frame &frame,
                               const IRFunction &function,
                               llvm::function_ref<void()> markTime) {
  std::vector<const Instruction *> instrs;
  for (const Instruction &instr : function.getInstrs())
    if (!instr.isLifetimeMarker())
      instrs.push_back(&instr);
  for (size_t first = 0; first < instrs.size() && !isCancelled();) {
    size_t end = first + 1;
    // Each instruction has a time of its own.
    while (!markTime && end < instrs.size() && instrs[first]->getPredicate() &&
           haveSamePredicate(*instrs[first], *instrs[end]))
      ++end;
    emitRun(builder, frame, llvm::ArrayRef(instrs).slice(first, end - first));
    if (markTime)
      markTime();
    first = end;
  }
}
