//===- Multiversioning.cpp - One module for several levels of x86-64 ------===//

#include "Target/Multiversioning.h"
#include "ModuleEmitter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

using namespace glowish;
using llvm::Value;

namespace {

/// The bits of CPUID and XGETBV that a level requires beyond those of the level
/// below it.
struct Level {
  llvm::StringLiteral name;
  uint32_t leaf1ECX, leaf7EBX, extendedECX;
  /// Registers that the system saves, in XCR0.
  uint32_t savedState;
};

constexpr uint32_t bits() { return 0; }
template <typename... Rest> constexpr uint32_t bits(int first, Rest... rest) {
  return (1u << first) | bits(rest...);
}

constexpr Level levels[] = {
    {"x86-64", 0, 0, 0, 0},
    // SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF.
    {"x86-64-v2", bits(0, 9, 13, 19, 20, 23), 0, bits(0), 0},
    // FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; XMM, YMM.
    {"x86-64-v3", bits(12, 22, 27, 28, 29), bits(3, 5, 8), bits(5), bits(1, 2)},
    // AVX512F, DQ, CD, BW, VL; masks, ZMM and its upper 16 registers.
    {"x86-64-v4", 0, bits(16, 17, 28, 30, 31), 0, bits(5, 6, 7)},
};

const Level *findLevel(llvm::StringRef name) {
  const Level *found = llvm::find_if(
      levels, [&](const Level &level) { return level.name == name; });
  return found == std::end(levels) ? nullptr : found;
}

/// Makes the functions that choose among entries.
class DispatchEmitter {
public:
  DispatchEmitter(llvm::Module &module, llvm::FunctionType *entryType)
      : module(module), entryType(entryType), b(module.getContext()) {}

  llvm::Function *emitSelect(llvm::StringRef name,
                             llvm::ArrayRef<LevelEntry> entries);
  void emitEntry(llvm::StringRef name, llvm::Function *select);

private:
  /// The results of CPUID and XGETBV, with the fields of Level.
  struct Facts {
    Value *leaf1ECX, *leaf7EBX, *extendedECX, *savedState;
  };

  llvm::Function *createFunction(llvm::FunctionType *type,
                                 const llvm::Twine &name,
                                 llvm::GlobalValue::LinkageTypes linkage);
  llvm::Function *emitRefusal();
  Facts readFacts(llvm::Function *function);
  Value *callCPUID(uint32_t leaf, unsigned reg);
  Value *hasAll(Value *flags, uint32_t mask) {
    return b.CreateICmpEQ(b.CreateAnd(flags, b.getInt32(mask)),
                          b.getInt32(mask));
  }

  llvm::Module &module;
  llvm::FunctionType *entryType;
  llvm::IRBuilder<> b;
};

} // namespace

llvm::Expected<std::vector<std::string>>
glowish::parseLevels(const TargetOptions &options) {
  llvm::SmallVector<llvm::StringRef, 4> names;
  llvm::StringRef(options.cpu).split(names, ',');
  for (llvm::StringRef name : names) {
    if (!findLevel(name))
      return makeError("«mcpu={0}»: '{1}' cannot be one of several; x86-64, "
                       "x86-64-v2, x86-64-v3 and x86-64-v4 can",
                       options.cpu, name);
    if (llvm::count(names, name) > 1)
      return makeError("«mcpu={0}»: '{1}' is there twice", options.cpu, name);
  }
  if (!options.attributes.empty())
    return makeError("«mattr» does not go with several levels in «mcpu={0}»: "
                     "which of them a processor has is not looked up",
                     options.cpu);
  std::vector<std::string> sorted;
  for (const Level &level : levels)
    if (llvm::is_contained(names, level.name))
      sorted.push_back(level.name.str());
  return sorted;
}

std::string glowish::getLevelSuffix(llvm::StringRef level) {
  return "_v" + std::to_string(findLevel(level) - levels + 1);
}

llvm::Function *
DispatchEmitter::createFunction(llvm::FunctionType *type,
                                const llvm::Twine &name,
                                llvm::GlobalValue::LinkageTypes linkage) {
  if (linkage == llvm::GlobalValue::ExternalLinkage)
    releaseName(module, name.str());
  auto *function = llvm::Function::Create(type, linkage, name, module);
  function->addFnAttr("target-cpu", levels[0].name);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(
      llvm::BasicBlock::Create(module.getContext(), "entry", function));
  return function;
}

/// Register \p reg (EAX, EBX, ECX, EDX) of subleaf 0 of \p leaf.
Value *DispatchEmitter::callCPUID(uint32_t leaf, unsigned reg) {
  llvm::Type *i32 = b.getInt32Ty();
  auto *result = llvm::StructType::get(i32, i32, i32, i32);
  auto *type = llvm::FunctionType::get(result, {i32, i32}, false);
  auto *code = llvm::InlineAsm::get(
      type, "cpuid", "={ax},={bx},={cx},={dx},0,2,~{dirflag},~{fpsr},~{flags}",
      /*hasSideEffects=*/false);
  return b.CreateExtractValue(
      b.CreateCall(code, {b.getInt32(leaf), b.getInt32(0)}), reg);
}

DispatchEmitter::Facts DispatchEmitter::readFacts(llvm::Function *function) {
  enum { EAX, EBX, ECX };
  Facts facts;
  Value *zero = b.getInt32(0);
  Value *hasLeaf7 = b.CreateICmpUGE(callCPUID(0, EAX), b.getInt32(7));
  facts.leaf1ECX = callCPUID(1, ECX);
  facts.leaf7EBX = b.CreateSelect(hasLeaf7, callCPUID(7, EBX), zero);
  facts.extendedECX = callCPUID(0x80000001, ECX);
  // XGETBV is there only where the system has switched it on (OSXSAVE).
  Value *hasState = hasAll(facts.leaf1ECX, bits(27));
  auto *before = b.GetInsertBlock();
  auto *read = llvm::BasicBlock::Create(module.getContext(), "read", function);
  auto *after =
      llvm::BasicBlock::Create(module.getContext(), "after", function);
  b.CreateCondBr(hasState, read, after);
  b.SetInsertPoint(read);
  llvm::Type *i32 = b.getInt32Ty();
  auto *type = llvm::FunctionType::get(i32, {i32}, false);
  auto *code = llvm::InlineAsm::get(
      type, "xgetbv", "={ax},{cx},~{dx},~{dirflag},~{fpsr},~{flags}",
      /*hasSideEffects=*/true);
  Value *state = b.CreateCall(code, {zero});
  b.CreateBr(after);
  b.SetInsertPoint(after);
  auto *phi = b.CreatePHI(i32, 2);
  phi->addIncoming(zero, before);
  phi->addIncoming(state, read);
  facts.savedState = phi;
  return facts;
}

/// An entry for processors below all levels.
llvm::Function *DispatchEmitter::emitRefusal() {
  llvm::Function *refuse =
      createFunction(entryType, "refuse", llvm::GlobalValue::InternalLinkage);
  b.CreateRet(b.getInt32(unsigned(EntryStatus::Processor)));
  return refuse;
}

llvm::Function *
DispatchEmitter::emitSelect(llvm::StringRef name,
                            llvm::ArrayRef<LevelEntry> entries) {
  Value *chosen = emitRefusal();
  auto *type = llvm::FunctionType::get(b.getPtrTy(), false);
  llvm::Function *select = createFunction(type, name + "_select",
                                          llvm::GlobalValue::ExternalLinkage);
  select->addFnAttr(llvm::Attribute::NoInline);
  Facts facts = readFacts(select);
  Value *isReached = b.getTrue();
  const Level *level = levels;
  for (const LevelEntry &entry : entries) {
    for (const Level *end = findLevel(entry.level); level <= end; ++level)
      for (auto [flags, mask] :
           {std::pair(facts.leaf1ECX, level->leaf1ECX),
            std::pair(facts.leaf7EBX, level->leaf7EBX),
            std::pair(facts.extendedECX, level->extendedECX),
            std::pair(facts.savedState, level->savedState)})
        isReached = b.CreateAnd(isReached, hasAll(flags, mask));
    chosen = b.CreateSelect(isReached, entry.entry, chosen);
  }
  b.CreateRet(chosen);
  return select;
}

void DispatchEmitter::emitEntry(llvm::StringRef name, llvm::Function *select) {
  llvm::Function *entry =
      createFunction(entryType, name, llvm::GlobalValue::ExternalLinkage);
  Value *chosen = b.CreateCall(select);
  llvm::SmallVector<Value *, 4> args;
  for (llvm::Argument &arg : entry->args())
    args.push_back(&arg);
  llvm::CallInst *call = b.CreateCall(entryType, chosen, args);
  call->setTailCall();
  b.CreateRet(call);
}

void glowish::emitDispatch(llvm::Module &module, llvm::StringRef name,
                           llvm::ArrayRef<LevelEntry> entries) {
  for (const LevelEntry &entry : entries)
    entry.entry->setLinkage(llvm::GlobalValue::InternalLinkage);
  DispatchEmitter emitter(module, entries[0].entry->getFunctionType());
  emitter.emitEntry(name, emitter.emitSelect(name, entries));
}
