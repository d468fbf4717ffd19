//===- ExternalCallEmitter.cpp - Calls of external functions --------------===//
//
// What glowish_call.h declares, as constants and on the stack: only the
// addresses of the operands are stored in a run. And calls of the functions
// that average over processes.
//
//===----------------------------------------------------------------------===//

#include "ModuleEmitter.h"
#include "glowish/Backends/RunErrors.h"
#include "glowish/Distributed/AllReduce.h"
#include "glowish/Plugin/ExternalFunction.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The structures of glowish_call.h, and constants of them.
class CallConstants {
public:
  explicit CallConstants(llvm::Module &module)
      : module(module), context(module.getContext()),
        pointer(llvm::PointerType::getUnqual(context)),
        i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)) {
    tensor = llvm::StructType::get(context, {pointer, pointer, i32, i32});
    attribute = llvm::StructType::get(
        context, {pointer, pointer, pointer, pointer, i64, i32, i32});
    call = llvm::StructType::get(context,
                                 {pointer, pointer, pointer, i32, i32, i32});
  }

  llvm::Constant *makeExtents(DimsRef shape) {
    return makeGlobal(llvm::ConstantDataArray::get(
        context,
        llvm::ArrayRef(reinterpret_cast<const uint64_t *>(shape.data()),
                       shape.size())));
  }
  llvm::Constant *makeAttributes(const NamedValues &values) {
    std::vector<llvm::Constant *> list;
    for (const NamedValue &value : values)
      list.push_back(makeAttribute(value));
    return makeGlobal(llvm::ConstantArray::get(
        llvm::ArrayType::get(attribute, list.size()), list));
  }

  llvm::StructType *tensor, *attribute, *call;

private:
  llvm::Constant *makeGlobal(llvm::Constant *value) {
    auto *global = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, "call");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }
  llvm::Constant *makeString(llvm::StringRef text) {
    return makeGlobal(llvm::ConstantDataArray::getString(context, text));
  }
  llvm::Constant *makeElements(llvm::ArrayRef<int64_t> elements) {
    return makeExtents(elements);
  }
  llvm::Constant *makeElements(llvm::ArrayRef<double> elements) {
    return makeGlobal(llvm::ConstantDataArray::get(context, elements));
  }
  llvm::Constant *makeElements(llvm::ArrayRef<std::string> elements) {
    std::vector<llvm::Constant *> list;
    for (const std::string &element : elements)
      list.push_back(makeString(element));
    return makeGlobal(llvm::ConstantArray::get(
        llvm::ArrayType::get(pointer, list.size()), list));
  }
  llvm::Constant *makeAttribute(const NamedValue &value);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::Type *pointer, *i32, *i64;
};

/// GLOWISH_INTS, GLOWISH_FLOATS or GLOWISH_STRINGS.
template <typename Element>
constexpr int listType = std::is_same_v<Element, int64_t>  ? GLOWISH_INTS
                         : std::is_same_v<Element, double> ? GLOWISH_FLOATS
                                                           : GLOWISH_STRINGS;

} // namespace

llvm::Constant *CallConstants::makeAttribute(const NamedValue &value) {
  return visitElements(
      value.content, [&](auto elements, bool isList) -> llvm::Constant * {
        using Element = typename decltype(elements)::value_type;
        constexpr int type = listType<Element>;
        llvm::Constant *none = llvm::ConstantPointerNull::get(
            llvm::PointerType::getUnqual(context));
        llvm::Constant *lists[] = {none, none, none};
        lists[type] = makeElements(elements);
        return llvm::ConstantStruct::get(
            attribute, makeString(value.name), lists[GLOWISH_INTS],
            lists[GLOWISH_FLOATS], lists[GLOWISH_STRINGS],
            llvm::ConstantInt::get(i64, elements.size()),
            llvm::ConstantInt::get(i32, type),
            llvm::ConstantInt::get(i32, isList));
      });
}

/// Memory for a \p type on the stack, taken once: that of a loop would grow
/// with each iteration.
static Value *allocate(llvm::IRBuilder<> &builder, llvm::Type *type) {
  llvm::BasicBlock &first =
      builder.GetInsertBlock()->getParent()->getEntryBlock();
  return llvm::IRBuilder<>(&first, first.begin()).CreateAlloca(type);
}

/// Stores \p values to the fields of the structure \p type at \p address.
static void storeFields(llvm::IRBuilder<> &builder, llvm::StructType *type,
                        Value *address, llvm::ArrayRef<Value *> values) {
  for (auto [i, value] : llvm::enumerate(values))
    builder.CreateStore(value, builder.CreateStructGEP(type, address, i));
}

llvm::Value *ModuleEmitter::emitTensors(llvm::IRBuilder<> &builder,
                                        const Frame &frame,
                                        llvm::ArrayRef<Buffer *> buffers) {
  CallConstants constants(module);
  Value *tensors =
      allocate(builder, llvm::ArrayType::get(constants.tensor, buffers.size()));
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    Value *data = llvm::ConstantPointerNull::get(builder.getPtrTy());
    DimsRef shape;
    int kind = GLOWISH_ABSENT;
    if (buffer) {
      data = getAddress(builder, frame, buffer);
      shape = buffer->getShape();
      kind = int(buffer->getType().getKind());
    }
    storeFields(
        builder, constants.tensor,
        builder.CreateConstInBoundsGEP1_64(constants.tensor, tensors, i),
        {data, constants.makeExtents(shape), builder.getInt32(shape.size()),
         builder.getInt32(kind)});
  }
  return tensors;
}

void ModuleEmitter::emitExternalCall(llvm::IRBuilder<> &builder,
                                     const Frame &frame,
                                     const ExternalCallInstr &instr) {
  CallConstants constants(module);
  llvm::SmallVector<Buffer *, 4> inputs =
      insertAbsent(instr.getInputs(), instr.getAbsent());
  llvm::ArrayRef<Buffer *> results = instr.getResults();
  const NamedValues &values = instr.getValues();
  Value *call = allocate(builder, constants.call);
  storeFields(
      builder, constants.call, call,
      {emitTensors(builder, frame, inputs),
       emitTensors(builder, frame, results), constants.makeAttributes(values),
       builder.getInt32(inputs.size()), builder.getInt32(results.size()),
       builder.getInt32(values.size())});
  llvm::FunctionCallee function = module.getOrInsertFunction(
      instr.getFunction(), builder.getInt32Ty(), builder.getPtrTy());
  Value *failed = builder.CreateIsNotNull(builder.CreateCall(function, {call}));
  emitFailure(builder, frame, failed, EntryStatus::Function,
              describeFailure(instr));
}

void ModuleEmitter::emitCollective(llvm::IRBuilder<> &builder,
                                   const Frame &frame,
                                   const Instruction &instr) {
  const Type &type = instr.getOperand(0)->getType();
  Value *address = getAddress(builder, frame, instr.getOperand(0));
  if (!llvm::isa<StartAllReduceInstr>(instr)) {
    builder.CreateCall(module.getOrInsertFunction(finishAllReduceName,
                                                  builder.getVoidTy(),
                                                  builder.getPtrTy()),
                       {address});
    return;
  }
  llvm::FunctionCallee start = module.getOrInsertFunction(
      startAllReduceName, builder.getVoidTy(), builder.getPtrTy(),
      builder.getInt64Ty(), builder.getInt32Ty());
  builder.CreateCall(start, {address, builder.getInt64(type.getNumElements()),
                             builder.getInt32(unsigned(type.getKind()))});
}
