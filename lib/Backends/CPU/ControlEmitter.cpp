//===- ControlEmitter.cpp - The code of branches and loops ----------------===//

#include "ModuleEmitter.h"
#include "glowish/Backends/RunErrors.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::Value;

//===- Bodies -------------------------------------------------------------===//

llvm::Function *ModuleEmitter::createBody(const IRFunction &body,
                                          bool hasStatus) {
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<Buffer *, 8> storage(body.getInputs());
  storage.append(body.getOutputs());
  // Constants, the arena, and the status.
  unsigned numArena = getNumArenaPointers();
  unsigned numOwn = 1 + numArena + hasStatus;
  std::vector<llvm::Type *> params(numOwn + storage.size(),
                                   llvm::PointerType::getUnqual(context));
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params,
                                       /*isVarArg=*/false);
  llvm::Function *function = target.createFunction(
      module, type, llvm::GlobalValue::InternalLinkage,
      llvm::formatv("body{0}{1}", numBodies++, target.suffix).str());
  llvm::IRBuilder<> builder(
      llvm::BasicBlock::Create(context, "entry", function));
  Frame frame = {.constants = function->getArg(0)};
  for (unsigned i = 0; i < numArena; ++i)
    frame.arena.push_back(function->getArg(1 + i));
  if (hasStatus)
    frame.status = function->getArg(1 + numArena);
  for (auto [i, buffer] : llvm::enumerate(storage))
    frame.bindings[buffer] = function->getArg(numOwn + i);
  createArgumentArray(builder, frame, body);
  emitInstrs(builder, frame, body, /*markTime=*/nullptr);
  builder.CreateRetVoid();
  return function;
}

void ModuleEmitter::callBody(llvm::IRBuilder<> &builder, const Frame &frame,
                             llvm::Function *function,
                             llvm::ArrayRef<Value *> addresses) {
  llvm::SmallVector<Value *, 8> args = {frame.constants};
  args.append(frame.arena.begin(), frame.arena.end());
  if (frame.status)
    args.push_back(frame.status);
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

//===- Branches -----------------------------------------------------------===//

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
  for (auto [block, body] : {std::pair(thenBlock, &instr.getThenBody()),
                             std::pair(elseBlock, &instr.getElseBody())}) {
    builder.SetInsertPoint(block);
    callBody(builder, frame,
             createBody(getIRFunction(*body), frame.status != nullptr),
             addresses);
    builder.CreateBr(end);
  }
  builder.SetInsertPoint(end);
}

//===- Loops --------------------------------------------------------------===//

static void copyBytes(llvm::IRBuilder<> &builder, Value *target, Value *source,
                      int64_t bytes) {
  if (bytes)
    builder.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1),
                         uint64_t(bytes));
}

namespace {

/// The parts of the code of a loop that need no more of the program than
/// addresses.
class LoopEmitter {
public:
  LoopEmitter(llvm::IRBuilder<> &builder, const LoopInstr &instr)
      : builder(builder), outputs(getIRFunction(instr.getBody()).getOutputs()),
        numStates(unsigned(instr.getNumStates())),
        mostTrips(builder.getInt64(instr.getMaxTripCount())),
        intPtr(builder.GetInsertBlock()
                   ->getModule()
                   ->getDataLayout()
                   .getIntPtrType(builder.getContext())) {}

  /// Of the loop's results.
  llvm::SmallVector<Value *, 8> results;
  /// Of the body's parameters.
  llvm::SmallVector<Value *, 8> parameters;
  /// Of the values that the body computes for the loop: condition and states.
  llvm::SmallVector<Value *, 8> next;

  int64_t getBytes(unsigned result) const {
    return outputs[1 + result]->getType().getSizeInBytes();
  }

  /// Begins with the block of the body, where its number and condition are
  /// stored; \p trips and \p first: null where the instruction has none.
  void begin(Value *trips, Value *first) {
    Value *bound = mostTrips;
    if (trips)
      bound = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, mostTrips,
                                            trips);
    llvm::BasicBlock *before = builder.GetInsertBlock();
    llvm::BasicBlock *header = createBlock(builder, "loop");
    llvm::BasicBlock *run = createBlock(builder, "iteration");
    end = createBlock(builder, "endloop");
    builder.CreateBr(header);
    builder.SetInsertPoint(header);
    number = builder.CreatePHI(builder.getInt64Ty(), 2);
    condition = builder.CreatePHI(builder.getInt1Ty(), 2);
    number->addIncoming(builder.getInt64(0), before);
    condition->addIncoming(first ? first : builder.getTrue(), before);
    builder.CreateCondBr(
        builder.CreateAnd(condition, builder.CreateICmpSLT(number, bound)), run,
        end);
    builder.SetInsertPoint(run);
    builder.CreateStore(number, parameters[0]);
    builder.CreateStore(builder.CreateZExt(condition, builder.getInt8Ty()),
                        parameters[1]);
  }

  /// Where the body's results go.
  llvm::SmallVector<Value *, 8> getTargets() {
    llvm::SmallVector<Value *, 8> targets = next;
    for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
      targets.push_back(getScan(i));
    return targets;
  }

  /// Ends after the loop.
  void finish() {
    for (unsigned i = 0; i < numStates; ++i)
      copyBytes(builder, results[i], next[1 + i], getBytes(i));
    llvm::BasicBlock *run = builder.GetInsertBlock();
    number->addIncoming(builder.CreateAdd(number, builder.getInt64(1)), run);
    condition->addIncoming(loadBool(builder, next[0]), run);
    builder.CreateBr(condition->getParent());
    builder.SetInsertPoint(end);
    Value *left =
        builder.CreateTrunc(builder.CreateSub(mostTrips, number), intPtr);
    for (unsigned i = numStates; i + 1 < outputs.size(); ++i)
      builder.CreateMemSet(getScan(i), builder.getInt8(0),
                           builder.CreateMul(left, getSize(i)),
                           llvm::MaybeAlign(1));
    builder.CreateStore(number, results.back());
  }

  /// After finish(): whether the condition still holds and there are more
  /// \p trips than were made.
  Value *goesOn(Value *trips) {
    return builder.CreateAnd(condition,
                             builder.CreateICmpSGT(trips, mostTrips));
  }

private:
  Value *getSize(unsigned result) const {
    return llvm::ConstantInt::get(intPtr, getBytes(result));
  }
  /// The element of this repetition of a scan.
  Value *getScan(unsigned result) {
    Value *offset =
        builder.CreateMul(builder.CreateTrunc(number, intPtr), getSize(result));
    return builder.CreateGEP(builder.getInt8Ty(), results[result], offset);
  }

  llvm::IRBuilder<> &builder;
  llvm::SmallVector<Buffer *, 4> outputs;
  unsigned numStates;
  Value *mostTrips;
  llvm::Type *intPtr;
  llvm::PHINode *number = nullptr, *condition = nullptr;
  llvm::BasicBlock *end = nullptr;
};

} // namespace

void ModuleEmitter::emitLoop(llvm::IRBuilder<> &builder, const Frame &frame,
                             const LoopInstr &instr) {
  LoopEmitter loop(builder, instr);
  for (const Buffer *buffer : instr.getResults())
    loop.results.push_back(getAddress(builder, frame, buffer));
  // The plan places the storage of the loop itself, like activations.
  for (auto [i, buffer] : llvm::enumerate(getLoopStorage(instr))) {
    Value *address = getArenaAddress(builder, frame, buffer, /*offset=*/0);
    (i < 2 ? loop.parameters : loop.next).push_back(address);
  }
  for (auto [i, value] : llvm::enumerate(instr.getValues())) {
    Value *address = getAddress(builder, frame, value);
    if (int64_t(i) < instr.getNumStates()) {
      copyBytes(builder, loop.results[i], address, loop.getBytes(i));
      address = loop.results[i];
    }
    loop.parameters.push_back(address);
  }
  Value *trips = nullptr, *first = nullptr;
  if (const Buffer *buffer = instr.getTripCount())
    trips = builder.CreateLoad(builder.getInt64Ty(),
                               getAddress(builder, frame, buffer));
  if (const Buffer *buffer = instr.getCondition())
    first = loadBool(builder, getAddress(builder, frame, buffer));
  loop.begin(trips, first);
  llvm::SmallVector<Value *, 8> addresses = loop.parameters;
  addresses.append(loop.getTargets());
  callBody(builder, frame,
           createBody(getIRFunction(instr.getBody()), frame.status != nullptr),
           addresses);
  loop.finish();
  if (trips)
    emitFailure(builder, frame, loop.goesOn(trips), EntryStatus::TripCount,
                describeFailure(instr));
}
