//===- ControlEmitter.cpp - The code of branches and loops ----------------===//

#include "ModuleEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::Value;

//===- Bodies ---------------------------------------------------------------===//

llvm::Function *ModuleEmitter::createBody(const IRFunction &body) {
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<Buffer *, 8> storage(body.getInputs());
  storage.append(body.getOutputs());
  std::vector<llvm::Type *> params(2 + storage.size(),
                                   llvm::PointerType::getUnqual(context));
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params,
                                       /*isVarArg=*/false);
  auto *function = llvm::Function::Create(
      type, llvm::GlobalValue::InternalLinkage,
      llvm::formatv("body{0}{1}", numBodies++, target.suffix).str(), module);
  target.addFunctionAttributes(*function);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  Frame frame{function->getArg(0), function->getArg(1)};
  for (auto [i, buffer] : llvm::enumerate(storage))
    frame.bindings[buffer] = function->getArg(2 + i);
  createPointerArray(builder, frame, body);
  for (const Instruction &instr : body.getInstrs())
    emitInstr(builder, frame, instr);
  builder.CreateRetVoid();
  return function;
}

void ModuleEmitter::callBody(llvm::IRBuilder<> &builder, const Frame &frame,
                             llvm::Function *function,
                             llvm::ArrayRef<Value *> addresses) {
  llvm::SmallVector<Value *, 8> args = {frame.constants, frame.activations};
  args.append(addresses.begin(), addresses.end());
  builder.CreateCall(function, args);
}

static llvm::BasicBlock *createBlock(llvm::IRBuilder<> &builder,
                                     const char *name) {
  return llvm::BasicBlock::Create(builder.getContext(), name,
                                  builder.GetInsertBlock()->getParent());
}

static Value *loadBool(llvm::IRBuilder<> &builder, Value *address) {
  return builder.CreateIsNotNull(
      builder.CreateLoad(builder.getInt8Ty(), address));
}

//===- Branches -------------------------------------------------------------===//

void ModuleEmitter::emitIf(llvm::IRBuilder<> &builder, const Frame &frame,
                           const IfInstr &instr) {
  llvm::SmallVector<Value *, 8> addresses;
  for (const Buffer *buffer : instr.getCaptures())
    addresses.push_back(getAddress(builder, frame, buffer));
  for (const Buffer *buffer : instr.getResults())
    addresses.push_back(getAddress(builder, frame, buffer));
  llvm::BasicBlock *thenBlock = createBlock(builder, "then");
  llvm::BasicBlock *elseBlock = createBlock(builder, "else");
  llvm::BasicBlock *end = createBlock(builder, "endif");
  builder.CreateCondBr(
      loadBool(builder, getAddress(builder, frame, instr.getCondition())),
      thenBlock, elseBlock);
  for (auto [block, body] :
       {std::pair(thenBlock, &instr.getThenBody()),
        std::pair(elseBlock, &instr.getElseBody())}) {
    builder.SetInsertPoint(block);
    callBody(builder, frame, createBody(getIRFunction(*body)), addresses);
    builder.CreateBr(end);
  }
  builder.SetInsertPoint(end);
}

//===- Loops ----------------------------------------------------------------===//

namespace {

/// What the code of a loop is made of.
struct LoopParts {
  llvm::SmallVector<Buffer *, 4> inputs, outputs;
  unsigned numStates;
  /// Addresses of the loop's results.
  llvm::SmallVector<Value *, 8> results;

  int64_t getBytes(unsigned result) const {
    return outputs[1 + result]->getType().getSizeInBytes();
  }
};

} // namespace

static void copyBytes(llvm::IRBuilder<> &builder, Value *target, Value *source,
                      int64_t bytes) {
  if (bytes)
    builder.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1),
                         uint64_t(bytes));
}

void ModuleEmitter::emitLoop(llvm::IRBuilder<> &builder, const Frame &frame,
                             const LoopInstr &instr) {
  const IRFunction &body = getIRFunction(instr.getBody());
  LoopParts parts{body.getInputs(), body.getOutputs(),
                  unsigned(instr.getNumStates()), {}};
  for (const Buffer *buffer : instr.getResults())
    parts.results.push_back(getAddress(builder, frame, buffer));
  // What the loop keeps itself is placed by the plan, as activations are.
  Frame own = frame;
  for (const Buffer *buffer : getLoopStorage(instr))
    own.bindings[buffer] = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), frame.activations, plan->getOffset(buffer));
  llvm::SmallVector<Value *, 8> addresses = {
      own.bindings[parts.inputs[0]], own.bindings[parts.inputs[1]]};
  for (auto [i, value] : llvm::enumerate(instr.getValues())) {
    Value *address = getAddress(builder, frame, value);
    if (i < parts.numStates) {
      copyBytes(builder, parts.results[i], address, parts.getBytes(i));
      address = parts.results[i];
    }
    addresses.push_back(address);
  }

  llvm::Type *i64 = builder.getInt64Ty();
  llvm::Type *intPtr = module.getDataLayout().getIntPtrType(i64->getContext());
  Value *most = builder.getInt64(instr.getMaxTripCount());
  Value *bound = most;
  if (const Buffer *trips = instr.getTripCount())
    bound = builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, most,
        builder.CreateLoad(i64, getAddress(builder, frame, trips)));
  Value *first = builder.getTrue();
  if (const Buffer *condition = instr.getCondition())
    first = loadBool(builder, getAddress(builder, frame, condition));
  auto getScan = [&](unsigned result, Value *number) {
    Value *offset = builder.CreateMul(
        builder.CreateTrunc(number, intPtr),
        llvm::ConstantInt::get(intPtr, parts.getBytes(result)));
    return builder.CreateGEP(builder.getInt8Ty(), parts.results[result],
                             offset);
  };

  llvm::BasicBlock *before = builder.GetInsertBlock();
  llvm::BasicBlock *header = createBlock(builder, "loop");
  llvm::BasicBlock *run = createBlock(builder, "iteration");
  llvm::BasicBlock *end = createBlock(builder, "endloop");
  builder.CreateBr(header);
  builder.SetInsertPoint(header);
  llvm::PHINode *number = builder.CreatePHI(i64, 2);
  llvm::PHINode *condition = builder.CreatePHI(builder.getInt1Ty(), 2);
  number->addIncoming(builder.getInt64(0), before);
  condition->addIncoming(first, before);
  builder.CreateCondBr(
      builder.CreateAnd(condition, builder.CreateICmpSLT(number, bound)), run,
      end);

  builder.SetInsertPoint(run);
  builder.CreateStore(number, addresses[0]);
  builder.CreateStore(builder.CreateZExt(condition, builder.getInt8Ty()),
                      addresses[1]);
  for (unsigned i = 0; i < parts.outputs.size(); ++i)
    addresses.push_back(i <= parts.numStates ? own.bindings[parts.outputs[i]]
                                             : getScan(i - 1, number));
  callBody(builder, frame, createBody(body), addresses);
  for (unsigned i = 0; i < parts.numStates; ++i)
    copyBytes(builder, parts.results[i], own.bindings[parts.outputs[1 + i]],
              parts.getBytes(i));
  number->addIncoming(builder.CreateAdd(number, builder.getInt64(1)), run);
  condition->addIncoming(
      loadBool(builder, own.bindings[parts.outputs[0]]), run);
  builder.CreateBr(header);

  builder.SetInsertPoint(end);
  for (unsigned i = parts.numStates; i + 1 < parts.outputs.size(); ++i) {
    Value *left = builder.CreateTrunc(builder.CreateSub(most, number), intPtr);
    builder.CreateMemSet(
        getScan(i, number), builder.getInt8(0),
        builder.CreateMul(
            left, llvm::ConstantInt::get(intPtr, parts.getBytes(i))),
        llvm::MaybeAlign(1));
  }
  builder.CreateStore(number, parts.results.back());
}
