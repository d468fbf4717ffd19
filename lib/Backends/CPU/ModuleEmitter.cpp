//===- ModuleEmitter.cpp - From IR instructions to LLVM IR ----------------===//

#include "ModuleEmitter.h"
#include "InstrEmitter.h"
#include "Instrs.h"
#include "Selection/KernelSelection.h"
#include "glowish/IR/FindInstr.h"
#include "glowish/Ops/TextForm.h"
#include "glowish/Support/Task.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;

void glowish::releaseName(llvm::Module &module, llvm::StringRef name) {
  llvm::Function *function = module.getFunction(name);
  if (function && function->hasLocalLinkage())
    function->setName(name + ".internal");
}

/// The operands that a kernel gets pointers to.
static llvm::SmallVector<Buffer *, 4> getPresent(const Instruction &instr) {
  llvm::SmallVector<Buffer *, 4> present;
  for (Buffer *buffer : instr.getOperands())
    if (buffer)
      present.push_back(buffer);
  return present;
}

/// Whether operand \p index shares its root with another operand, so that the
/// kernel must not assume that they don't overlap.
static bool isShared(llvm::ArrayRef<Buffer *> present, unsigned index) {
  for (unsigned i = 0; i < present.size(); ++i)
    if (i != index && present[i]->getRoot() == present[index]->getRoot())
      return true;
  return false;
}

/// Everything that the code of an instruction depends on: kind, attributes,
/// operands' types and strides, which operands are absent or shared, which
/// loops have bounds. Offsets and the bounds themselves are not part of it.
static std::string getKey(const Instruction &instr, bool keepsRoundings) {
  std::string key;
  llvm::raw_string_ostream os(key);
  os << instr.getKindName() << (keepsRoundings ? " rounded" : "");
  for (const Buffer *buffer : instr.getOperands()) {
    if (!buffer) {
      os << " none";
      continue;
    }
    os << ' ' << buffer->getType();
    if (!buffer->isDense()) {
      os << " strides ";
      llvm::interleave(buffer->getStrides(), os, ",");
    }
  }
  llvm::SmallVector<Buffer *, 4> present = getPresent(instr);
  for (unsigned i = 0; i < present.size(); ++i)
    os << (isShared(present, i) ? 's' : '-');
  if (instr.getPredicate())
    os << " predicate";
  for (const LoopBound &bound : instr.getLoopBounds())
    os << " bound " << bound.operand << ' ' << bound.dim;
  printAttrs(os, instr.getInfo(), instr.getAttrs(),
             instr.getNumProgramInputs());
  return key;
}

ModuleEmitter::Kernel ModuleEmitter::createKernel(const Instruction &instr) {
  llvm::LLVMContext &context = module.getContext();
  llvm::SmallVector<Buffer *, 4> present = getPresent(instr);
  std::vector<llvm::Type *> params(present.size(),
                                   llvm::PointerType::getUnqual(context));
  size_t numBounds = instr.getLoopBounds().size();
  params.insert(params.end(), numBounds + (hasThreads() ? 2 : 0), getIndexTy());
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), params,
                                       /*isVarArg=*/false);
  std::string name = llvm::formatv("k{0}_{1}{2}", kernels.size(),
                                   instr.getKindName(), target.suffix);
  llvm::Function *function = target.createFunction(
      module, type, llvm::GlobalValue::InternalLinkage, name);
  function->addFnAttr(llvm::Attribute::NoInline);
  for (unsigned i = 0; i < present.size(); ++i) {
    if (!isShared(present, i))
      function->addParamAttr(i, llvm::Attribute::NoAlias);
    function->addParamAttr(i, llvm::Attribute::NonNull);
  }
  Kernel kernel;
  kernel.function = function;
  kernel.numTasks = emitInstruction(instr, *function, target, keepsRoundings);
  if (kernel.numTasks > 1)
    kernel.taskFunction =
        createTaskFunction(function, present.size(), numBounds);
  return kernel;
}

llvm::Function *ModuleEmitter::createTaskFunction(llvm::Function *kernel,
                                                  unsigned numPointers,
                                                  unsigned numBounds) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  llvm::Type *i64 = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {pointer, i64, i64}, false);
  llvm::Function *task =
      target.createFunction(module, type, llvm::GlobalValue::InternalLinkage,
                            kernel->getName() + "_tasks");
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", task));
  llvm::SmallVector<llvm::Value *, 8> args;
  for (unsigned i = 0; i < numPointers + numBounds; ++i)
    args.push_back(builder.CreateLoad(
        i < numPointers ? pointer : getIndexTy(),
        builder.CreateConstInBoundsGEP1_64(pointer, task->getArg(0), i)));
  for (unsigned i = 1; i < 3; ++i)
    args.push_back(builder.CreateTrunc(task->getArg(i), getIndexTy()));
  builder.CreateCall(kernel, args);
  builder.CreateRetVoid();
  return task;
}

/// \p given: pointers and bounds. \p argumentArray: storage for as many of them
/// as any kernel takes.
void ModuleEmitter::callKernel(llvm::IRBuilder<> &builder, const Kernel &kernel,
                               llvm::ArrayRef<llvm::Value *> given,
                               llvm::Value *argumentArray) {
  if (!kernel.taskFunction) {
    llvm::SmallVector<llvm::Value *, 8> args(given);
    if (hasThreads())
      for (uint64_t task : {0, 1})
        args.push_back(llvm::ConstantInt::get(getIndexTy(), task));
    builder.CreateCall(kernel.function, args);
    return;
  }
  for (auto [i, value] : llvm::enumerate(given))
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(
                                   builder.getPtrTy(), argumentArray, i));
  llvm::FunctionCallee parallelFor = module.getOrInsertFunction(
      parallelForName, builder.getVoidTy(), builder.getPtrTy(),
      builder.getPtrTy(), builder.getInt64Ty());
  builder.CreateCall(parallelFor, {kernel.taskFunction, argumentArray,
                                   builder.getInt64(kernel.numTasks)});
}

const ModuleEmitter::Kernel &
ModuleEmitter::getKernel(const Instruction &instr) {
  Kernel &kernel = kernels[getKey(instr, keepsRoundings)];
  if (!kernel.function)
    kernel = createKernel(instr);
  return kernel;
}

void ModuleEmitter::recordKernel(const Instruction &instr,
                                 const Kernel &kernel) {
  if (!kernelNames)
    return;
  for (const llvm::Function *function : {kernel.function, kernel.taskFunction})
    if (function)
      (*kernelNames)[&instr].push_back(function->getName().str());
}

llvm::Function *ModuleEmitter::createEntry(llvm::StringRef name,
                                           EntryForm form) {
  llvm::LLVMContext &context = module.getContext();
  unsigned numRegions = 2 + getNumArenaPointers();
  std::vector<llvm::Type *> params(numRegions + form.bindsPlaceholders +
                                       form.isTimed,
                                   llvm::PointerType::getUnqual(context));
  auto *type = llvm::FunctionType::get(llvm::Type::getInt32Ty(context), params,
                                       /*isVarArg=*/false);
  llvm::Function *entry = target.createFunction(
      module, type, llvm::GlobalValue::ExternalLinkage, name);
  entry->getArg(0)->setName("constantWeight");
  entry->getArg(1)->setName("mutableWeight");
  if (plan->arenaRegions.empty())
    entry->getArg(2)->setName("activations");
  for (auto [i, region] : llvm::enumerate(plan->arenaRegions))
    entry->getArg(2 + i)->setName(region.name);
  return entry;
}

ModuleEmitter::Frame ModuleEmitter::getFrame(llvm::Function *entry) const {
  Frame frame = {.constants = entry->getArg(0), .mutables = entry->getArg(1)};
  for (unsigned i = 0; i < getNumArenaPointers(); ++i)
    frame.arena.push_back(entry->getArg(2 + i));
  return frame;
}

void ModuleEmitter::bindPlaceholders(llvm::IRBuilder<> &builder, Frame &frame,
                                     llvm::Function &entry,
                                     const IRFunction &function) {
  llvm::SmallVector<const Buffer *> placeholders;
  for (const auto &buffer : function.getBuffers())
    if (buffer->getKind() == Buffer::Kind::Mutable)
      placeholders.push_back(buffer.get());
  llvm::Type *pointer = builder.getPtrTy();
  // Stands for a table that is not given.
  auto *type = llvm::ArrayType::get(pointer, placeholders.size());
  auto *unbound = new llvm::GlobalVariable(
      module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
      llvm::Constant::getNullValue(type), "unbound");
  llvm::Value *given = entry.getArg(2 + getNumArenaPointers());
  llvm::Value *table =
      builder.CreateSelect(builder.CreateIsNull(given), unbound, given);
  for (auto [i, buffer] : llvm::enumerate(placeholders)) {
    if (!isBindable(*buffer) || plan->isInArena(buffer))
      continue;
    llvm::Value *bound = builder.CreateLoad(
        pointer, builder.CreateConstInBoundsGEP1_64(pointer, table, i));
    frame.bindings[buffer] = builder.CreateSelect(
        builder.CreateIsNull(bound), getAddress(builder, frame, buffer), bound);
  }
}

void ModuleEmitter::emitChecks(llvm::Function *entry,
                               const IRFunction &function) {
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", entry));
  llvm::Type *intPtr = getIndexTy();
  llvm::SmallVector<uint64_t, 4> sizes = {plan->constantSize,
                                          plan->mutableSize};
  for (const ArenaRegion &region : plan->arenaRegions)
    sizes.push_back(region.size);
  if (plan->arenaRegions.empty())
    sizes.push_back(plan->activationSize);
  auto returnIf = [&](llvm::Value *condition, EntryStatus status) {
    auto *fail = llvm::BasicBlock::Create(context, "fail", entry);
    auto *next = llvm::BasicBlock::Create(context, "next", entry);
    builder.CreateCondBr(condition, fail, next);
    builder.SetInsertPoint(fail);
    builder.CreateRet(builder.getInt32(unsigned(status)));
    builder.SetInsertPoint(next);
  };
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size == 0)
      continue;
    llvm::Value *address = builder.CreatePtrToInt(entry->getArg(i), intPtr);
    llvm::Value *zero = llvm::ConstantInt::get(intPtr, 0);
    returnIf(builder.CreateICmpEQ(address, zero), EntryStatus::Null);
    llvm::Value *low = builder.CreateAnd(
        address, llvm::ConstantInt::get(intPtr, plan->alignment - 1));
    returnIf(builder.CreateICmpNE(low, zero), EntryStatus::Alignment);
  }
  Frame frame = getFrame(entry);
  for (const auto &buffer : function.getBuffers())
    if (const auto &range = buffer->getInputExtents().range) {
      llvm::Value *extent = builder.CreateLoad(
          builder.getInt64Ty(), getAddress(builder, frame, buffer.get()));
      auto [low, high] = range->bounds;
      // A negative number is large without its sign.
      returnIf(builder.CreateICmpUGT(
                   builder.CreateSub(extent, builder.getInt64(low)),
                   builder.getInt64(high - low)),
               EntryStatus::Dimension);
    }
  readSymbols(builder, frame, function);
  for (const auto &buffer : function.getBuffers())
    for (const auto &[a, b] : buffer->getInputExtents().required)
      returnIf(builder.CreateICmpNE(emitExtent(builder, frame, a),
                                    emitExtent(builder, frame, b)),
               EntryStatus::Dimension);
}

/// Requests the permission to use AMX tile data from Linux: system call
/// arch_prctl (158) with ARCH_REQ_XCOMP_PERM (0x1023) and XTILEDATA (18), which
/// may be repeated.
static void requestMatrixRegisters(llvm::Function *entry) {
  llvm::LLVMContext &context = entry->getContext();
  llvm::IRBuilder<> builder(&entry->back());
  llvm::Type *i64 = builder.getInt64Ty();
  auto *type = llvm::FunctionType::get(i64, {i64, i64, i64}, false);
  auto *call = llvm::InlineAsm::get(
      type, "syscall",
      "={rax},{rax},{rdi},{rsi},~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},"
      "~{flags}",
      /*hasSideEffects=*/true);
  llvm::Value *status =
      builder.CreateCall(call, {builder.getInt64(158), builder.getInt64(0x1023),
                                builder.getInt64(18)});
  auto *fail = llvm::BasicBlock::Create(context, "refused", entry);
  auto *next = llvm::BasicBlock::Create(context, "granted", entry);
  builder.CreateCondBr(builder.CreateIsNull(status), next, fail);
  builder.SetInsertPoint(fail);
  builder.CreateRet(builder.getInt32(unsigned(EntryStatus::Processor)));
  builder.SetInsertPoint(next);
}

llvm::Value *ModuleEmitter::getAddress(llvm::IRBuilder<> &builder,
                                       const Frame &frame,
                                       const Buffer *buffer) const {
  const Buffer *root = buffer->getRoot();
  uint64_t offset =
      buffer->getOffset() * getElemSize(root->getType().getKind());
  llvm::Value *base = frame.bindings.lookup(root);
  if (!base && plan->isInArena(root))
    return getArenaAddress(builder, frame, root, offset);
  if (!base) {
    base = root->getKind() == Buffer::Kind::Constant ? frame.constants
                                                     : frame.mutables;
    offset += plan->getOffset(root);
  }
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
}

llvm::Value *ModuleEmitter::getArenaAddress(llvm::IRBuilder<> &builder,
                                            const Frame &frame,
                                            const Buffer *root,
                                            uint64_t offset) const {
  ArenaPlace place = plan->getArenaPlace(root);
  return builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), frame.arena[place.region], place.offset + offset);
}

void ModuleEmitter::readSymbols(llvm::IRBuilder<> &builder, Frame &frame,
                                const IRFunction &function) const {
  for (const auto &buffer : function.getBuffers())
    if (const auto &range = buffer->getInputExtents().range)
      frame.symbols[range->symbol] = builder.CreateTrunc(
          builder.CreateLoad(builder.getInt64Ty(),
                             getAddress(builder, frame, buffer.get())),
          getIndexTy());
}

namespace {
/// Emits the arithmetic of extents (Extent::compute).
struct ExtentEmitter {
  llvm::IRBuilder<> &builder;
  const llvm::StringMap<llvm::Value *> &symbols;
  llvm::Type *type;

  llvm::Value *getConstant(int64_t number) {
    return llvm::ConstantInt::getSigned(type, number);
  }
  llvm::Value *getSymbol(llvm::StringRef name) { return symbols.lookup(name); }
  llvm::Value *add(llvm::Value *x, llvm::Value *y) {
    return builder.CreateAdd(x, y);
  }
  llvm::Value *multiply(llvm::Value *x, llvm::Value *y) {
    return builder.CreateMul(x, y);
  }
  /// Rounds down: LLVM's division rounds towards 0.
  llvm::Value *divideDown(llvm::Value *x, int64_t divisor) {
    llvm::Value *rest = builder.CreateSRem(x, getConstant(divisor));
    llvm::Value *isBelow = builder.CreateICmpSLT(rest, getConstant(0));
    llvm::Value *quotient = builder.CreateSDiv(x, getConstant(divisor));
    return builder.CreateSub(quotient, builder.CreateZExt(isBelow, type));
  }
};
} // namespace

llvm::Value *ModuleEmitter::emitExtent(llvm::IRBuilder<> &builder,
                                       const Frame &frame,
                                       const Extent &extent) const {
  ExtentEmitter emitter = {builder, frame.symbols, getIndexTy()};
  return extent.compute(emitter);
}

void ModuleEmitter::createArgumentArray(llvm::IRBuilder<> &builder,
                                        Frame &frame,
                                        const IRFunction &function) const {
  if (!hasThreads())
    return;
  size_t most = 1;
  for (const Instruction &instr : function.getInstrs())
    most =
        std::max(most, getPresent(instr).size() + instr.getLoopBounds().size());
  frame.argumentArray =
      builder.CreateAlloca(llvm::ArrayType::get(builder.getPtrTy(), most));
}

void ModuleEmitter::emitInstr(llvm::IRBuilder<> &builder, const Frame &frame,
                              const Instruction &instr) {
  if (instr.isLifetimeMarker())
    return;
  if (auto *branch = llvm::dyn_cast<IfInstr>(&instr))
    return emitIf(builder, frame, *branch);
  if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
    return emitLoop(builder, frame, *loop);
  if (auto *call = llvm::dyn_cast<ExternalCallInstr>(&instr))
    return emitExternalCall(builder, frame, *call);
  if (instr.getInfo().has(OpTrait::Collective))
    return emitCollective(builder, frame, instr);
  llvm::SmallVector<llvm::Value *, 4> args;
  for (Buffer *buffer : getPresent(instr))
    args.push_back(getAddress(builder, frame, buffer));
  for (const LoopBound &bound : instr.getLoopBounds())
    args.push_back(emitExtent(builder, frame, bound.extent));
  const Kernel &kernel = getKernel(instr);
  recordKernel(instr, kernel);
  callKernel(builder, kernel, args, frame.argumentArray);
}

/// Whether the code of \p function or of a body inside it may use matrix
/// registers.
static bool usesMatrixRegisters(const IRFunction &function,
                                const TargetDescription &target) {
  return findInstr(function, [&](const Instruction &instr) {
    if (auto *convolution = llvm::dyn_cast<CPUConvolutionInstr>(&instr))
      return convolution->getAlgorithm().algorithm->usesMatrixRegisters();
    return llvm::isa<ConvolutionFilterGradientInstr>(instr) &&
           target.hasMatrixInt8;
  });
}

std::vector<const LoopInstr *>
glowish::getBoundedLoops(const IRFunction &function) {
  std::vector<const LoopInstr *> loops;
  forEachFunction(function, [&](const IRFunction &each) {
    for (const Instruction &instr : each.getInstrs())
      if (auto *loop = llvm::dyn_cast<LoopInstr>(&instr))
        if (loop->getTripCount())
          loops.push_back(loop);
  });
  return loops;
}

bool glowish::hasExternalCalls(const IRFunction &function) {
  return findInstr(function, [](const Instruction &instr) {
    return instr.getInfo().has(OpTrait::CallsFunction);
  });
}

/// Whether input \p index of the scalar program of \p instr may be a float.
static bool mayBeFloat(const Instruction &instr, unsigned index) {
  int fused = instr.getInfo().fusedOperand;
  // Value 0 of an epilogue is the element before it.
  if (fused >= 0 && index == 0)
    return true;
  unsigned operand = fused < 0 ? index + 1 : fused + index - 1;
  return isFloatKind(instr.getOperand(operand)->getType().getKind());
}

/// Whether a step of \p program, of \p instr, converts a float to an integer or
/// to a kind of low precision.
static bool hasConvertingStep(const Instruction &instr,
                              const ScalarProgram &program) {
  unsigned numInputs = instr.getNumProgramInputs();
  return llvm::any_of(program.steps, [&](const ScalarStep &step) {
    return (isIntegerKind(step.kind) || isLowPrecisionKind(step.kind)) &&
           llvm::any_of(step.args, [&](unsigned arg) {
             return arg < numInputs
                        ? mayBeFloat(instr, arg)
                        : isFloatKind(program.steps[arg - numInputs].kind);
           });
  });
}

bool glowish::convertsToIntegers(const IRFunction &function) {
  return findInstr(function, [](const Instruction &instr) {
    return llvm::any_of(instr.getAttrs(), [&](const AttrValue &attr) {
      auto *program = std::get_if<ScalarProgram>(&attr);
      return program && hasConvertingStep(instr, *program);
    });
  });
}

llvm::Value *ModuleEmitter::createStatus(llvm::Function &entry,
                                         const IRFunction &function) {
  if (getBoundedLoops(function).empty() && !hasExternalCalls(function))
    return nullptr;
  llvm::BasicBlock &first = entry.getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.begin());
  llvm::Value *status = builder.CreateAlloca(builder.getInt32Ty());
  builder.CreateStore(builder.getInt32(unsigned(EntryStatus::Success)), status);
  return status;
}

void ModuleEmitter::emitFailure(llvm::IRBuilder<> &builder, const Frame &frame,
                                llvm::Value *hasFailed, EntryStatus status,
                                std::string message) {
  llvm::Value *before = builder.CreateLoad(builder.getInt32Ty(), frame.status);
  unsigned code = unsigned(status);
  if (namesFailures) {
    failureMessages.push_back(std::move(message));
    code |= unsigned(failureMessages.size()) << failureNumberShift;
    hasFailed = builder.CreateAnd(hasFailed, builder.CreateIsNull(before));
  }
  builder.CreateStore(
      builder.CreateSelect(hasFailed, builder.getInt32(code), before),
      frame.status);
}

void ModuleEmitter::emitFailureMessages() {
  std::string text;
  for (const std::string &message : failureMessages) {
    text += message;
    text += '\0';
  }
  auto *array = llvm::ConstantDataArray::getString(module.getContext(), text);
  new llvm::GlobalVariable(module, array->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, array,
                           failureMessagesName);
}

llvm::Function *ModuleEmitter::emit(const IRFunction &function,
                                    const MemoryPlan &memoryPlan,
                                    llvm::StringRef entryName, EntryForm form) {
  plan = &memoryPlan;
  namesFailures = form.namesFailures;
  keepsRoundings = convertsToIntegers(function);
  llvm::Function *entry = createEntry(entryName, form);
  emitChecks(entry, function);
  if (usesMatrixRegisters(function, target))
    requestMatrixRegisters(entry);
  llvm::IRBuilder<> builder(&entry->back());
  Frame frame = getFrame(entry);
  if (form.bindsPlaceholders)
    bindPlaceholders(builder, frame, *entry, function);
  readSymbols(builder, frame, function);
  frame.status = createStatus(*entry, function);
  createArgumentArray(builder, frame, function);
  auto markTime = [&] {
    llvm::Argument *clock = &*std::prev(entry->arg_end());
    auto mark = module.getOrInsertFunction(markName, builder.getVoidTy(),
                                           clock->getType());
    builder.CreateCall(mark, clock);
  };
  if (form.isTimed)
    markTime();
  emitInstrs(builder, frame, function,
             form.isTimed ? llvm::function_ref<void()>(markTime) : nullptr);
  llvm::Value *success = builder.getInt32(unsigned(EntryStatus::Success));
  builder.CreateRet(frame.status
                        ? builder.CreateLoad(builder.getInt32Ty(), frame.status)
                        : success);
  if (namesFailures)
    emitFailureMessages();
  return entry;
}
