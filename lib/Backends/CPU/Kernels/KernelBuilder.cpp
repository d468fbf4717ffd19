//===- KernelBuilder.cpp - Loops and vectors in LLVM IR -------------------===//

#include "Kernels/KernelBuilder.h"
#include "Kernels/Math/HalfPrecision.h"
#include "Kernels/Math/LowPrecision.h"
#include "glowish/Ops/Scalar.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsWebAssembly.h"
#include "llvm/IR/Module.h"

using namespace glowish;
using llvm::Value;

KernelBuilder::KernelBuilder(llvm::Function &function,
                             const TargetDescription &target)
    : IRBuilder(function.getContext()), function(function), target(target),
      indexTy(llvm::cast<llvm::IntegerType>(
          function.getParent()->getDataLayout().getIntPtrType(
              function.getContext()))) {
  if (function.empty())
    llvm::BasicBlock::Create(function.getContext(), "entry", &function);
  SetInsertPoint(&function.back());
  // a * b + c may become one instruction; nothing else may change results.
  llvm::FastMathFlags flags;
  flags.setAllowContract(!target.isReproducible);
  setFastMathFlags(flags);
}

llvm::Function *
KernelBuilder::getHelper(llvm::StringRef name, llvm::FunctionType *type,
                         llvm::function_ref<void(llvm::Function &)> emit) {
  llvm::Module &module = *function.getParent();
  std::string fullName = name.str() + target.suffix;
  if (llvm::Function *known = module.getFunction(fullName))
    return known;
  llvm::Function *helper = target.createFunction(
      module, type, llvm::GlobalValue::InternalLinkage, fullName);
  helper->addFnAttr(llvm::Attribute::NoInline);
  emit(*helper);
  return helper;
}

//===- Numbers ------------------------------------------------------------===//

Value *KernelBuilder::addScaled(Value *a, Value *b, int64_t factor) {
  if (factor == 0)
    return a;
  Value *scaled = factor == 1 ? b : CreateNSWMul(b, index(factor));
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(a))
    if (constant->isZero())
      return scaled;
  return CreateNSWAdd(a, scaled);
}

Values KernelBuilder::splitIndex(Value *number, llvm::ArrayRef<int64_t> shape) {
  Values indices(shape.size(), index(0));
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1)
      continue;
    indices[d] = CreateURem(number, index(shape[d]));
    number = CreateUDiv(number, index(shape[d]));
  }
  return indices;
}

Value *KernelBuilder::minIndex(Value *a, Value *b) {
  return CreateSelect(CreateICmpSLT(a, b), a, b);
}

Value *KernelBuilder::maxIndex(Value *a, Value *b) {
  return CreateSelect(CreateICmpSGT(a, b), a, b);
}

//===- Loops --------------------------------------------------------------===//

Values KernelBuilder::forLoop(Value *low, Value *high, int64_t step,
                              llvm::ArrayRef<Value *> start, CarryBody body) {
  auto *constLow = llvm::dyn_cast<llvm::ConstantInt>(low);
  auto *constHigh = llvm::dyn_cast<llvm::ConstantInt>(high);
  bool isKnown = constLow && constHigh;
  if (isKnown) {
    int64_t first = constLow->getSExtValue(), end = constHigh->getSExtValue();
    if (first >= end)
      return Values(start);
    if (first + step >= end)
      return body(low, start);
  }
  llvm::LLVMContext &context = getContext();
  auto *before = GetInsertBlock();
  auto *loop = llvm::BasicBlock::Create(context, "loop", &function);
  auto *after = llvm::BasicBlock::Create(context, "after", &function);
  if (isKnown)
    CreateBr(loop);
  else
    CreateCondBr(CreateICmpSLT(low, high), loop, after);

  SetInsertPoint(loop);
  auto *counter = CreatePHI(indexTy, 2, "i");
  counter->addIncoming(low, before);
  Values carried;
  for (Value *value : start) {
    auto *phi = CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  Values next = body(counter, carried);
  auto *last = GetInsertBlock();
  Value *incremented = CreateNSWAdd(counter, index(step));
  CreateCondBr(CreateICmpSLT(incremented, high), loop, after);
  counter->addIncoming(incremented, last);
  for (size_t i = 0; i < next.size(); ++i)
    llvm::cast<llvm::PHINode>(carried[i])->addIncoming(next[i], last);

  SetInsertPoint(after);
  Values results;
  for (size_t i = 0; i < next.size(); ++i) {
    auto *phi = CreatePHI(next[i]->getType(), 2);
    if (!isKnown)
      phi->addIncoming(start[i], before);
    phi->addIncoming(next[i], last);
    results.push_back(phi);
  }
  return results;
}

void KernelBuilder::forLoop(Value *low, Value *high, int64_t step,
                            LoopBody body) {
  forLoop(low, high, step, {}, [&](Value *i, llvm::ArrayRef<Value *>) {
    body(i);
    return Values();
  });
}

Values KernelBuilder::forUnrolled(int64_t count, int64_t unroll,
                                  llvm::ArrayRef<Value *> start,
                                  CarryBody body) {
  int64_t rounded = count / unroll * unroll;
  Values values = forLoop(index(0), index(rounded), unroll, start,
                          [&](Value *i, llvm::ArrayRef<Value *> carried) {
                            Values current(carried);
                            for (int64_t u = 0; u < unroll; ++u)
                              current =
                                  body(CreateNSWAdd(i, index(u)), current);
                            return current;
                          });
  for (int64_t i = rounded; i < count; ++i)
    values = body(index(i), values);
  return values;
}

void KernelBuilder::forVectors(int64_t count, unsigned lanes,
                               llvm::function_ref<void(Value *, unsigned)> body,
                               Value *needed) {
  int64_t whole = count / lanes * lanes;
  forLoop(index(0), needed ? minIndex(needed, index(whole)) : index(whole),
          lanes, [&](Value *i) { body(i, lanes); });
  if (count == whole)
    return;
  auto emitRest = [&] { body(index(whole), unsigned(count - whole)); };
  if (!needed)
    return emitRest();
  ifThen(CreateICmpSGT(needed, index(whole)), emitRest);
}

Values KernelBuilder::forGroups(
    int64_t count, int64_t size, llvm::ArrayRef<Value *> start,
    llvm::function_ref<Values(Value *, int64_t, llvm::ArrayRef<Value *>)>
        body) {
  int64_t whole = count / size, left = count % size;
  Values values =
      forLoop(whole, start, [&](Value *group, llvm::ArrayRef<Value *> carried) {
        return body(group, size, carried);
      });
  return left ? body(index(whole), left, values) : values;
}

void KernelBuilder::forGroups(int64_t count, int64_t size,
                              llvm::function_ref<void(Value *, int64_t)> body) {
  forGroups(count, size, {},
            [&](Value *group, int64_t used, llvm::ArrayRef<Value *>) {
              body(group, used);
              return Values();
            });
}

void KernelBuilder::ifThen(Value *condition, llvm::function_ref<void()> body) {
  auto *then = llvm::BasicBlock::Create(getContext(), "then", &function);
  auto *after = llvm::BasicBlock::Create(getContext(), "after", &function);
  CreateCondBr(condition, then, after);
  SetInsertPoint(then);
  body();
  CreateBr(after);
  SetInsertPoint(after);
}

void KernelBuilder::ifThenElse(Value *condition,
                               llvm::function_ref<void()> body,
                               llvm::function_ref<void()> otherwise) {
  ifThen(condition, body);
  ifThen(CreateNot(condition), otherwise);
}

//===- Tasks --------------------------------------------------------------===//

/// Returns number * needed / count, so that threads share the needed tasks as
/// they share all; the number itself, but no more than \p needed, where the
/// target has no instruction that divides the product of both.
Value *KernelBuilder::shareNeeded(Value *number, int64_t count, Value *needed) {
  llvm::Type *type = getInt64Ty();
  if (indexTy->getBitWidth() < 64) {
    // Both factors are at most the count.
    if (count > UINT16_MAX)
      return minIndex(number, needed);
    type = indexTy;
  }
  Value *scaled = CreateMul(CreateZExt(number, type), CreateZExt(needed, type));
  return CreateTrunc(
      CreateUDiv(scaled, llvm::ConstantInt::get(type, uint64_t(count))),
      indexTy);
}

void KernelBuilder::forTasks(int64_t count, int64_t operations, LoopBody body,
                             Value *needed) {
  if (!areShared(count, operations))
    return forLoop(index(0), needed ? needed : index(count), 1, body);
  assert(numTasks == 1 && "a second loop of tasks");
  numTasks = count;
  Value *begin = taskBegin, *end = taskEnd;
  taskBegin = taskEnd = nullptr;
  if (needed) {
    begin = shareNeeded(begin, count, needed);
    end = shareNeeded(end, count, needed);
  }
  forLoop(begin, end, 1, body);
}

void KernelBuilder::forElementTasks(
    int64_t count, llvm::function_ref<void(Value *, int64_t)> body,
    Value *needed) {
  constexpr int64_t chunk = 4096;
  int64_t whole = count / chunk, left = count % chunk;
  if (whole == 0)
    return body(index(0), left);
  if (needed)
    needed = divideUp(needed, chunk);
  auto emitTask = [&](Value *task) {
    Value *first = scaleIndex(task, chunk);
    if (!left)
      return body(first, chunk);
    ifThenElse(
        CreateICmpULT(task, index(whole)), [&] { body(first, chunk); },
        [&] { body(first, left); });
  };
  forTasks(whole + (left ? 1 : 0), 8 * count, emitTask, needed);
}

//===- Elements -----------------------------------------------------------===//

llvm::Type *KernelBuilder::getStorageTy(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float:
    return getFloatTy();
  case ElemKind::Double:
    return getDoubleTy();
  default:
    return getIntNTy(getElemSize(kind) * 8);
  }
}

llvm::Type *KernelBuilder::getComputeTy(ElemKind kind) {
  if (kind == ElemKind::Bool)
    return getInt1Ty();
  return getStorageTy(getValueKind(kind));
}

llvm::Type *KernelBuilder::getVectorTy(llvm::Type *element, unsigned lanes) {
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes);
}

unsigned KernelBuilder::getLanes(Value *value) {
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type ? type->getNumElements() : 1;
}

unsigned KernelBuilder::getSumLanes(ElemKind kind) const {
  return target.getSumTarget().getComputeLanes(kind);
}

unsigned KernelBuilder::getRegisterLanes(ElemKind kind) {
  // bool is computed beside the numbers that it is compared from.
  unsigned bytes = kind == ElemKind::Bool
                       ? 4
                       : getComputeTy(kind)->getPrimitiveSizeInBits() / 8;
  return target.getLanes(std::max(bytes, 4u));
}

Value *KernelBuilder::getElement(Value *base, ElemKind kind, Value *index) {
  return CreateInBoundsGEP(getStorageTy(kind), base, index);
}

Value *KernelBuilder::fromStorage(ElemKind kind, Value *value) {
  switch (kind) {
  case ElemKind::Bool:
    return CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  case ElemKind::Float16:
    return floatFromFloat16(*this, value, target.hasFloat16);
  case ElemKind::BFloat16:
    return floatFromBFloat16(*this, value);
  default:
    return dispatchElemKind(kind, [&](auto zero) -> Value * {
      using T = decltype(zero);
      if constexpr (isLowFloat<T>)
        return floatFromLowFloat(*this, value, T::format);
      else
        return value;
    });
  }
}

Value *KernelBuilder::toStorage(ElemKind kind, Value *value) {
  switch (kind) {
  case ElemKind::Bool:
    return CreateZExt(value, getVectorTy(getInt8Ty(), getLanes(value)));
  case ElemKind::Float16:
    return float16FromFloat(*this, value, target.hasFloat16);
  case ElemKind::BFloat16:
    return bfloat16FromFloat(*this, value);
  default:
    return dispatchElemKind(kind, [&](auto zero) -> Value * {
      using T = decltype(zero);
      if constexpr (isLowFloat<T>)
        return lowFloatFromFloat(*this, value, T::format);
      else if constexpr (isLowInt<T>)
        return keepLowBits(*this, value, T::width, T::lowest < 0);
      else
        return value;
    });
  }
}

Value *KernelBuilder::load(ElemKind kind, Value *address, unsigned lanes) {
  llvm::Align align(getElemSize(kind));
  Value *value =
      CreateAlignedLoad(getVectorTy(getStorageTy(kind), lanes), address, align);
  return fromStorage(kind, value);
}

Value *KernelBuilder::loadStrided(ElemKind kind, Value *address, unsigned lanes,
                                  int64_t stride) {
  if (lanes == 1 || stride == 1)
    return load(kind, address, lanes);
  if (stride == 0)
    return splat(load(kind, address, 1), lanes);
  Value *vector = llvm::PoisonValue::get(
      llvm::FixedVectorType::get(getStorageTy(kind), lanes));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    Value *element = CreateAlignedLoad(
        getStorageTy(kind), getElement(address, kind, int64_t(lane) * stride),
        llvm::Align(getElemSize(kind)));
    vector = CreateInsertElement(vector, element, lane);
  }
  return fromStorage(kind, vector);
}

void KernelBuilder::store(ElemKind kind, Value *value, Value *address) {
  CreateAlignedStore(toStorage(kind, value), address,
                     llvm::Align(getElemSize(kind)));
}

void KernelBuilder::storeStrided(ElemKind kind, Value *value, Value *address,
                                 int64_t stride) {
  unsigned lanes = getLanes(value);
  if (lanes == 1 || stride == 1)
    return store(kind, value, address);
  Value *vector = toStorage(kind, value);
  for (unsigned lane = 0; lane < lanes; ++lane)
    CreateAlignedStore(CreateExtractElement(vector, lane),
                       getElement(address, kind, int64_t(lane) * stride),
                       llvm::Align(getElemSize(kind)));
}

Values KernelBuilder::loadVectors(ElemKind kind, Value *address, int64_t count,
                                  unsigned lanes, int64_t stride) {
  Values vectors;
  for (int64_t v = 0; v < count; ++v)
    vectors.push_back(loadElement(kind, address, v * stride, lanes));
  return vectors;
}

void KernelBuilder::storeVectors(ElemKind kind, llvm::ArrayRef<Value *> vectors,
                                 Value *address, int64_t stride) {
  for (auto [v, vector] : llvm::enumerate(vectors))
    storeElement(kind, vector, address, int64_t(v) * stride);
}

void KernelBuilder::storeInterleaved(ElemKind kind,
                                     llvm::ArrayRef<Value *> vectors,
                                     Value *address) {
  unsigned lanes = getLanes(vectors.front());
  Values stored;
  for (Value *vector : vectors)
    stored.push_back(widen(toStorage(kind, vector), std::max(lanes, 2u)));
  unsigned width = getLanes(stored.front());
  llvm::SmallVector<int, 64> mask;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned number = 0; number < vectors.size(); ++number)
      mask.push_back(int(number * width + lane));
  CreateAlignedStore(CreateShuffleVector(joinLanes(stored, width), mask),
                     address, llvm::Align(getElemSize(kind)));
}

/// Returns one constant of the module for all tables of \p entries.
llvm::GlobalVariable *KernelBuilder::createTable(llvm::Constant *entries) {
  llvm::Module &module = *function.getParent();
  for (llvm::GlobalVariable &global : module.globals())
    if (global.hasPrivateLinkage() && global.isConstant() &&
        global.hasGlobalUnnamedAddr() && global.hasInitializer() &&
        global.getInitializer() == entries)
      return &global;
  auto *global =
      new llvm::GlobalVariable(module, entries->getType(), /*isConstant=*/true,
                               llvm::GlobalValue::PrivateLinkage, entries);
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return global;
}

Value *KernelBuilder::loadIndex(ElemKind kind, Value *address) {
  Value *number = load(kind, address, 1);
  unsigned bits = number->getType()->getIntegerBitWidth();
  unsigned indexBits = indexTy->getIntegerBitWidth();
  if (bits > indexBits) {
    auto limit = [&](const llvm::APInt &value) {
      return llvm::ConstantInt::get(number->getType(), value.sext(bits));
    };
    number =
        CreateBinaryIntrinsic(llvm::Intrinsic::smax, number,
                              limit(llvm::APInt::getSignedMinValue(indexBits)));
    number =
        CreateBinaryIntrinsic(llvm::Intrinsic::smin, number,
                              limit(llvm::APInt::getSignedMaxValue(indexBits)));
  }
  return CreateSExtOrTrunc(number, indexTy);
}

Value *KernelBuilder::lookUp(llvm::GlobalVariable *table, Value *index) {
  llvm::Type *type = table->getValueType()->getArrayElementType();
  Value *entry = CreateLoad(type, CreateInBoundsGEP(type, table, index));
  return type->isIntegerTy() ? CreateSExtOrTrunc(entry, indexTy) : entry;
}

llvm::AllocaInst *KernelBuilder::allocateSlot(llvm::Type *type) {
  llvm::BasicBlock &entry = function.getEntryBlock();
  InsertPointGuard guard(*this);
  // A slot elsewhere would move the stack pointer, so that code needs another
  // register, and each round of a loop takes more of the stack.
  if (GetInsertBlock() != &entry)
    SetInsertPoint(&entry, entry.getFirstInsertionPt());
  return CreateAlloca(type);
}

Value *KernelBuilder::allocate(llvm::Type *type, int64_t count) {
  auto *place = allocateSlot(llvm::ArrayType::get(type, uint64_t(count)));
  place->setAlignment(llvm::Align(64));
  return place;
}

void KernelBuilder::prefetch(Value *address) {
  if (!target.hasPrefetch)
    return;
  CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                  {address, getInt32(0), getInt32(2), getInt32(1)});
}

Value *KernelBuilder::hideAddress(Value *address) {
  llvm::Type *type = address->getType();
  auto *identity = llvm::FunctionType::get(type, {type}, /*isVarArg=*/false);
  return CreateCall(llvm::InlineAsm::get(identity, /*AsmString=*/"", "=r,0",
                                         /*hasSideEffects=*/false),
                    {address});
}

Value *KernelBuilder::takeLanes(Value *value, unsigned lanes) {
  if (getLanes(value) == lanes)
    return value;
  if (lanes == 1)
    return CreateExtractElement(value, uint64_t(0));
  return CreateShuffleVector(value, llvm::createSequentialMask(0, lanes, 0));
}

Value *KernelBuilder::joinLanes(llvm::ArrayRef<Value *> values,
                                unsigned lanes) {
  unsigned count = unsigned(values.size()) * lanes;
  unsigned width = std::max(count, getLanes(values.front()));
  Value *joined = widen(values.front(), width);
  for (unsigned number = 1; number < values.size(); ++number) {
    unsigned low = number * lanes, high = low + lanes;
    llvm::SmallVector<int, 16> mask;
    for (unsigned i = 0; i < width; ++i)
      mask.push_back(i < low ? int(i) : i < high ? int(width + i - low) : -1);
    joined = CreateShuffleVector(joined, widen(values[number], width), mask);
  }
  return takeLanes(joined, count);
}

Value *KernelBuilder::widen(Value *value, unsigned lanes) {
  unsigned own = getLanes(value);
  if (own == lanes)
    return value;
  if (own == 1)
    return CreateInsertElement(
        llvm::PoisonValue::get(getVectorTy(value->getType(), lanes)), value,
        uint64_t(0));
  return CreateShuffleVector(value,
                             llvm::createSequentialMask(0, own, lanes - own));
}

Value *KernelBuilder::padWithZeros(Value *value, ElemKind kind,
                                   unsigned lanes) {
  unsigned own = getLanes(value);
  if (own == lanes)
    return value;
  llvm::SmallVector<int, 16> mask;
  for (unsigned i = 0; i < lanes; ++i)
    mask.push_back(int(i < own ? i : lanes + i));
  return CreateShuffleVector(widen(value, lanes), literal(kind, 0, lanes),
                             mask);
}

Value *KernelBuilder::mapParts(Value *value, unsigned lanes,
                               llvm::function_ref<Value *(Value *)> function) {
  unsigned total = getLanes(value);
  if (total <= lanes)
    return takeLanes(function(widen(value, lanes)), total);
  Values parts;
  for (unsigned first = 0; first < total; first += lanes) {
    unsigned count = std::min(lanes, total - first);
    parts.push_back(function(CreateShuffleVector(
        value, llvm::createSequentialMask(first, count, lanes - count))));
  }
  return takeLanes(joinLanes(parts, lanes), total);
}

Value *KernelBuilder::splat(Value *scalar, unsigned lanes) {
  return lanes == 1 ? scalar : CreateVectorSplat(lanes, scalar);
}

Value *KernelBuilder::numberLanes(llvm::Type *type, unsigned lanes) {
  return lanes == 1 ? llvm::ConstantInt::get(type, 0)
                    : CreateStepVector(getVectorTy(type, lanes));
}

Value *KernelBuilder::literal(ElemKind kind, double value, unsigned lanes) {
  llvm::Type *type = getComputeTy(kind, lanes);
  if (type->isFPOrFPVectorTy())
    return llvm::ConstantFP::get(type, value);
  return dispatchElemKind(getValueKind(kind), [&](auto zero) -> Value * {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>)
      return llvm::ConstantInt::get(type, uint64_t(Num<T>::convert(value)),
                                    std::is_signed_v<T>);
    else
      llvm_unreachable("computed in float");
  });
}

Value *KernelBuilder::multiplyAdd(Value *a, Value *b, Value *c) {
  if (!a->getType()->isFPOrFPVectorTy())
    return CreateAdd(CreateMul(a, b), c);
  if (target.hasFMA && hasArithmetic(a))
    return CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  if (target.hasRelaxedMultiplyAdd &&
      a->getType()->getPrimitiveSizeInBits() == target.vectorBits)
    return CreateIntrinsic(llvm::Intrinsic::wasm_relaxed_madd, {a->getType()},
                           {a, b, c});
  return CreateFAdd(CreateFMul(a, b), c);
}

static bool isSigned(ElemKind kind) { return isSignedIntegerKind(kind); }

Value *KernelBuilder::maximum(ElemKind kind, Value *a, Value *b) {
  if (!a->getType()->isFPOrFPVectorTy())
    return CreateSelect(
        isSigned(kind) ? CreateICmpSLT(a, b) : CreateICmpULT(a, b), b, a);
  // a unless b is larger or NaN.
  return CreateSelect(CreateOr(CreateFCmpOLT(a, b), CreateFCmpUNO(b, b)), b, a);
}

Value *KernelBuilder::minimum(ElemKind kind, Value *a, Value *b) {
  if (!a->getType()->isFPOrFPVectorTy())
    return CreateSelect(
        isSigned(kind) ? CreateICmpSLT(b, a) : CreateICmpULT(b, a), b, a);
  return CreateSelect(CreateOr(CreateFCmpOLT(b, a), CreateFCmpUNO(b, b)), b, a);
}

Value *KernelBuilder::reduceLanes(
    Value *value, llvm::function_ref<Value *(Value *, Value *)> combine) {
  unsigned lanes = getLanes(value);
  while (lanes > 1 && lanes % 2 == 0) {
    lanes /= 2;
    Value *high = lanes == 1
                      ? CreateExtractElement(value, 1)
                      : CreateShuffleVector(
                            value, llvm::createSequentialMask(lanes, lanes, 0));
    value = combine(takeLanes(value, lanes), high);
  }
  if (lanes == 1)
    return value;
  Value *result = CreateExtractElement(value, uint64_t(0));
  for (unsigned i = 1; i < lanes; ++i)
    result = combine(result, CreateExtractElement(value, i));
  return result;
}
