//===- MemoryFunctions.cpp - memcpy and its like without libc -------------===//

#include "MemoryFunctions.h"
#include "Kernels/KernelBuilder.h"

using namespace glowish;
using llvm::Value;

/// Bytes that are moved together: addresses need not be aligned.
static constexpr int64_t wordBytes = 8;

/// A definition of \p name, whose second argument is \p second.
static llvm::Function *createFunction(llvm::Module &module,
                                      const TargetDescription &target,
                                      llvm::StringRef name,
                                      llvm::Type *second) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  llvm::Type *size = module.getDataLayout().getIntPtrType(context);
  auto *type = llvm::FunctionType::get(pointer, {pointer, second, size}, false);
  auto *function = llvm::cast<llvm::Function>(
      module.getOrInsertFunction(name, type).getCallee());
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  target.addFunctionAttributes(*function);
  // Its loop is not to become a call of itself.
  function->addFnAttr("no-builtins");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock::Create(context, "entry", function);
  return function;
}

static Value *getByte(KernelBuilder &b, Value *base, Value *offset) {
  return b.CreateInBoundsGEP(b.getInt8Ty(), base, offset);
}

/// Calls \p body for the words of \p size bytes, and then for its last bytes:
/// with an offset and the bytes to move there.
static void
forWords(KernelBuilder &b, Value *size,
         llvm::function_ref<void(Value *offset, int64_t bytes)> body) {
  Value *whole = b.CreateAnd(size, b.index(-wordBytes));
  b.forLoop(b.index(0), whole, wordBytes,
            [&](Value *i) { body(i, wordBytes); });
  b.forLoop(whole, size, 1, [&](Value *i) { body(i, 1); });
}

/// Copies \p bytes bytes at \p offset.
static void copyPart(KernelBuilder &b, Value *to, Value *from, Value *offset,
                     int64_t bytes) {
  Value *part = b.CreateAlignedLoad(b.getIntNTy(unsigned(8 * bytes)),
                                    getByte(b, from, offset), llvm::Align(1));
  b.CreateAlignedStore(part, getByte(b, to, offset), llvm::Align(1));
}

static void emitForwards(KernelBuilder &b, Value *to, Value *from,
                         Value *size) {
  forWords(b, size, [&](Value *offset, int64_t bytes) {
    copyPart(b, to, from, offset, bytes);
  });
}

static void emitBackwards(KernelBuilder &b, Value *to, Value *from,
                          Value *size) {
  // The last bytes lie behind the words.
  Value *whole = b.CreateAnd(size, b.index(-wordBytes));
  b.forLoop(whole, size, 1, [&](Value *i) {
    Value *last = b.CreateNSWSub(b.CreateNSWAdd(size, whole), i);
    copyPart(b, to, from, b.CreateNSWSub(last, b.index(1)), 1);
  });
  b.forLoop(b.index(0), whole, wordBytes, [&](Value *i) {
    Value *last = b.CreateNSWSub(whole, i);
    copyPart(b, to, from, b.CreateNSWSub(last, b.index(wordBytes)), wordBytes);
  });
}

void glowish::defineMemoryFunctions(llvm::Module &module,
                                    const TargetDescription &target) {
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::getUnqual(context);
  auto define =
      [&](llvm::StringRef name, llvm::Type *second,
          llvm::function_ref<void(KernelBuilder &, Value *, Value *, Value *)>
              emit) {
        llvm::Function *function = createFunction(module, target, name, second);
        KernelBuilder b(*function, target);
        b.SetInsertPoint(&function->getEntryBlock());
        emit(b, function->getArg(0), function->getArg(1), function->getArg(2));
        b.CreateRet(function->getArg(0));
      };
  define("memcpy", pointer, emitForwards);
  define("memmove", pointer,
         [](KernelBuilder &b, Value *to, Value *from, Value *size) {
           // What lies behind its source is overwritten from its end on.
           b.ifThenElse(
               b.CreateICmpULT(from, to),
               [&] { emitBackwards(b, to, from, size); },
               [&] { emitForwards(b, to, from, size); });
         });
  define("memset", llvm::Type::getInt32Ty(context),
         [](KernelBuilder &b, Value *to, Value *byte, Value *size) {
           Value *word = b.CreateMul(
               b.CreateZExt(b.CreateTrunc(byte, b.getInt8Ty()), b.getInt64Ty()),
               b.getInt64(0x0101010101010101));
           forWords(b, size, [&](Value *offset, int64_t bytes) {
             b.CreateAlignedStore(
                 b.CreateTrunc(word, b.getIntNTy(unsigned(8 * bytes))),
                 getByte(b, to, offset), llvm::Align(1));
           });
         });
}
