//===- MutationPass.cpp - All mutants of a file in one object -------------===//
//
// A plugin of clang that puts all mutants of a source file into its object,
// each switched on by its id when the program runs (mutant schemata). A
// function gets a clone that has its mutants; the function jumps there only
// where one of these is switched on, or when mutants that tests reach are
// recorded. So the tests of a mutant run at the speed of the compiler without
// mutants.
//
// Its settings are environment variables. GLOWISH_MUTATION_ROOT: the folder of
// the sources. GLOWISH_MUTATION_FOLDERS: folders below it whose files are
// mutated, with colons between. GLOWISH_MUTATION_TABLE: the file for the table
// of mutants: id, file, line, column, kind, change and function, with tabs
// between.
//
//===----------------------------------------------------------------------===//

#include "MutationRuntime.h"
#include "Mutations.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;
using namespace mutation;

static StringRef getSetting(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

//===- Sources ------------------------------------------------------------===//

namespace {

/// The files that are mutated, and their lines.
class Sources {
public:
  Sources() { getSetting("GLOWISH_MUTATION_FOLDERS").split(folders, ':'); }

  /// The path of \p file below the root if it is to be mutated.
  std::optional<StringRef> find(const DIFile *file);
  /// Whether the source has an assertion at a place, whose code is not mutated.
  bool isAssertion(StringRef file, unsigned line, unsigned column);

private:
  const std::vector<std::string> &getLines(StringRef file);

  SmallVector<StringRef> folders;
  DenseMap<const DIFile *, std::optional<std::string>> paths;
  StringMap<std::vector<std::string>> lines;
};

} // namespace

std::optional<StringRef> Sources::find(const DIFile *file) {
  auto [entry, isNew] = paths.try_emplace(file);
  if (isNew) {
    SmallString<256> path(file->getFilename());
    // A prefix map may have made paths relative to the root.
    sys::fs::make_absolute(sys::path::is_absolute(file->getDirectory())
                               ? file->getDirectory()
                               : getSetting("GLOWISH_MUTATION_ROOT"),
                           path);
    sys::path::remove_dots(path, true);
    StringRef relative = path;
    if (relative.consume_front(getSetting("GLOWISH_MUTATION_ROOT")) &&
        relative.consume_front("/"))
      for (StringRef folder : folders)
        if (relative.starts_with(folder) &&
            relative.drop_front(folder.size()).starts_with("/"))
          entry->second = relative.str();
  }
  if (!entry->second)
    return std::nullopt;
  return StringRef(*entry->second);
}

const std::vector<std::string> &Sources::getLines(StringRef file) {
  auto [entry, isNew] = lines.try_emplace(file);
  if (isNew) {
    SmallString<256> path(getSetting("GLOWISH_MUTATION_ROOT"));
    sys::path::append(path, file);
    if (auto buffer = MemoryBuffer::getFile(path))
      for (line_iterator line(**buffer, false); !line.is_at_eof(); ++line)
        entry->second.push_back(line->str());
  }
  return entry->second;
}

bool Sources::isAssertion(StringRef file, unsigned line, unsigned column) {
  const std::vector<std::string> &text = getLines(file);
  if (line == 0 || line > text.size() || column == 0 ||
      column > text[line - 1].size())
    return false;
  StringRef rest = StringRef(text[line - 1]).drop_front(column - 1);
  return rest.starts_with("assert(") || rest.starts_with("llvm_unreachable");
}

//===- The mutants of a module --------------------------------------------===//

namespace {

/// What the object tells the runtime of its mutants, and the table.
class ModuleMutator {
public:
  explicit ModuleMutator(Module &module);

  bool run();

private:
  struct Placed {
    Mutation mutation;
    unsigned number;
  };

  std::vector<Placed> findMutants(Function &clone, StringRef name);
  unsigned getNumber(const Mutation &mutation, StringRef file, StringRef name);
  void mutate(Function &function, std::vector<Placed> &mutants);
  void addDispatch(Function &function, Function &clone, unsigned number);
  void changeResult(ArrayRef<Placed *> mutants);
  void changeOperand(const Placed &mutant);
  void removeCall(const Placed &mutant);
  Value *isActive(IRBuilder<> &builder, unsigned number);
  void record(IRBuilder<> &builder, unsigned number, Value *differs);
  void registerUnit();
  GlobalVariable *makeArray(Constant *values, const Twine &name, bool constant);

  Module &module;
  LLVMContext &context;
  Type *int8, *int32, *int64;
  PointerType *pointer;
  Sources sources;
  /// By number.
  MapVector<uint64_t, std::string> table;
  /// Numbers of mutants, and of the functions that they are in.
  std::vector<uint32_t> places;
  unsigned functionCount = 0;
  GlobalVariable *active, *coverage, *usesClone;
};

} // namespace

ModuleMutator::ModuleMutator(Module &module)
    : module(module), context(module.getContext()),
      int8(Type::getInt8Ty(context)), int32(Type::getInt32Ty(context)),
      int64(Type::getInt64Ty(context)), pointer(PointerType::get(context, 0)) {
  auto declare = [&](Type *type, Constant *value, const char *name) {
    return new GlobalVariable(module, type, false, GlobalValue::InternalLinkage,
                              value, name);
  };
  active = declare(int32, ConstantInt::getSigned(int32, -1), "mutation.active");
  coverage =
      declare(pointer, ConstantPointerNull::get(pointer), "mutation.coverage");
  // Its size is known at the end.
  auto *type = ArrayType::get(int8, 1 << 16);
  usesClone =
      declare(type, ConstantAggregateZero::get(type), "mutation.clones");
}

/// The number in this object of a mutant; equal ones of one place in the
/// source, as those of instances of a template, have one.
unsigned ModuleMutator::getNumber(const Mutation &mutation, StringRef file,
                                  StringRef name) {
  const DebugLoc &place = mutation.instr->getDebugLoc();
  std::string row =
      (file + "\t" + Twine(place.getLine()) + "\t" + Twine(place.getCol()) +
       "\t" + mutation.kind + "\t" + mutation.detail)
          .str();
  uint64_t id = xxh3_64bits(row);
  auto [entry, isNew] = table.insert({id, ""});
  if (isNew)
    entry->second = row + "\t" + demangle(name);
  return entry - table.begin();
}

std::vector<ModuleMutator::Placed> ModuleMutator::findMutants(Function &clone,
                                                              StringRef name) {
  std::vector<Placed> result;
  for (Instruction &instr : instructions(clone)) {
    const DebugLoc &place = instr.getDebugLoc();
    if (!place || place.getLine() == 0 || place->getInlinedAt())
      continue;
    std::optional<StringRef> file = sources.find(place->getFile());
    if (!file || sources.isAssertion(*file, place.getLine(), place.getCol()))
      continue;
    for (Mutation &mutation : listMutations(instr)) {
      unsigned number = getNumber(mutation, *file, name);
      result.push_back({std::move(mutation), number});
    }
  }
  return result;
}

bool ModuleMutator::run() {
  std::vector<Function *> functions;
  for (Function &function : module)
    if (!isLeftAlone(function))
      functions.push_back(&function);
  for (Function *function : functions) {
    ValueToValueMapTy map;
    Function *clone = CloneFunction(function, map);
    std::vector<Placed> mutants = findMutants(*clone, function->getName());
    if (mutants.empty()) {
      clone->eraseFromParent();
      continue;
    }
    std::string name = (function->getName() + ".mutants").str();
    clone->setName(name);
    clone->setLinkage(GlobalValue::InternalLinkage);
    clone->setVisibility(GlobalValue::DefaultVisibility);
    clone->setDSOLocal(true);
    clone->setComdat(nullptr);
    clone->removeFnAttr(Attribute::InlineHint);
    // It is rarely run, and the code of thousands of mutants takes long to
    // optimize.
    clone->addFnAttr(Attribute::NoInline);
    clone->addFnAttr(Attribute::OptimizeNone);
    for (const Placed &each : mutants) {
      places.push_back(each.number);
      places.push_back(functionCount);
    }
    mutate(*clone, mutants);
    addDispatch(*function, *clone, functionCount++);
  }
  if (functionCount > 0)
    registerUnit();
  return functionCount > 0;
}

//===- Changes ------------------------------------------------------------===//

void ModuleMutator::mutate(Function &clone, std::vector<Placed> &mutants) {
  MapVector<Instruction *, std::vector<Placed *>> results;
  for (Placed &each : mutants)
    if (each.mutation.form == Mutation::Operand)
      changeOperand(each);
    else if (each.mutation.form == Mutation::Result)
      results[each.mutation.instr].push_back(&each);
  for (auto &[instr, changes] : results)
    changeResult(changes);
  // These end blocks.
  for (Placed &each : mutants)
    if (each.mutation.form == Mutation::Removal)
      removeCall(each);
  stripDebugInfo(clone);
}

Value *ModuleMutator::isActive(IRBuilder<> &builder, unsigned number) {
  return builder.CreateICmpEQ(builder.CreateLoad(int32, active),
                              builder.getInt32(number));
}

/// Notes that the mutant \p number is executed, and makes a difference where \p
/// differs holds.
void ModuleMutator::record(IRBuilder<> &builder, unsigned number,
                           Value *differs) {
  Value *place = builder.CreateConstGEP1_64(
      int8, builder.CreateLoad(pointer, coverage), number);
  Value *old = builder.CreateLoad(int8, place);
  Value *state =
      builder.CreateSelect(differs, builder.getInt8(executed | differing),
                           builder.getInt8(executed));
  builder.CreateStore(builder.CreateOr(old, state), place);
}

static Value *isDifferent(IRBuilder<> &builder, Value *one, Value *other) {
  // Which of two objects is the smaller one is not told by their addresses.
  if (one->getType()->isPointerTy())
    return builder.getTrue();
  if (one->getType()->isFloatingPointTy())
    return builder.CreateFCmpUNE(one, other);
  return builder.CreateICmpNE(one, other);
}

void ModuleMutator::changeOperand(const Placed &mutant) {
  Instruction *instr = mutant.mutation.instr;
  unsigned operand = mutant.mutation.operand;
  // Another mutant may have changed it already: then that is the original here,
  // which differs only where that one is active.
  Value *original = instr->getOperand(operand);
  IRBuilder<> builder(instr);
  Value *changed =
      builder.CreateFreeze(mutant.mutation.make(builder, original));
  record(builder, mutant.number, isDifferent(builder, original, changed));
  instr->setOperand(operand,
                    builder.CreateSelect(isActive(builder, mutant.number),
                                         changed, original));
}

void ModuleMutator::changeResult(ArrayRef<Placed *> mutants) {
  Instruction *instr = mutants.front()->mutation.instr;
  SmallVector<Use *> uses;
  for (Use &use : instr->uses())
    uses.push_back(&use);
  IRBuilder<> builder(instr->getNextNode());
  Value *result = instr;
  for (const Placed *mutant : mutants) {
    Value *changed =
        builder.CreateFreeze(mutant->mutation.make(builder, instr));
    record(builder, mutant->number, isDifferent(builder, instr, changed));
    result = builder.CreateSelect(isActive(builder, mutant->number), changed,
                                  result);
  }
  for (Use *use : uses)
    use->set(result);
}

void ModuleMutator::removeCall(const Placed &mutant) {
  Instruction *call = mutant.mutation.instr;
  BasicBlock *before = call->getParent();
  BasicBlock *after = SplitBlock(before, call->getNextNode());
  BasicBlock *body = SplitBlock(before, call);
  Instruction *end = before->getTerminator();
  IRBuilder<> builder(end);
  record(builder, mutant.number, builder.getTrue());
  builder.CreateCondBr(isActive(builder, mutant.number), after, body);
  end->eraseFromParent();
}

/// Has \p function jump to \p clone where a mutant in it is active.
void ModuleMutator::addDispatch(Function &function, Function &clone,
                                unsigned number) {
  BasicBlock &entry = function.getEntryBlock();
  // Variables stay in the first block, where they have places in the frame.
  BasicBlock::iterator first = entry.begin();
  while (isa<AllocaInst>(*first) && cast<AllocaInst>(*first).isStaticAlloca())
    ++first;
  BasicBlock *body = entry.splitBasicBlock(first, "body");
  BasicBlock *jump = BasicBlock::Create(context, "mutants", &function, body);
  entry.getTerminator()->eraseFromParent();
  IRBuilder<> builder(&entry);
  Value *place = builder.CreateConstGEP1_64(int8, usesClone, number);
  Value *isCloned =
      builder.CreateICmpNE(builder.CreateLoad(int8, place), builder.getInt8(0));
  builder.CreateCondBr(isCloned, jump, body);

  builder.SetInsertPoint(jump);
  SmallVector<Value *> args;
  for (Argument &arg : function.args())
    args.push_back(&arg);
  CallInst *call = builder.CreateCall(&clone, args);
  // A variable number of arguments is passed on by a tail call alone; LLVM 19
  // makes wrong code of one with arguments that are copied (byval).
  if (function.isVarArg())
    call->setTailCallKind(CallInst::TCK_MustTail);
  call->setCallingConv(function.getCallingConv());
  call->setAttributes(AttributeList::get(
      context, AttributeSet(), function.getAttributes().getRetAttrs(), [&] {
        SmallVector<AttributeSet> sets;
        for (unsigned k = 0, e = function.arg_size(); k != e; ++k)
          sets.push_back(function.getAttributes().getParamAttrs(k));
        return sets;
      }()));
  if (function.getReturnType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

//===- The unit -----------------------------------------------------------===//

GlobalVariable *ModuleMutator::makeArray(Constant *values, const Twine &name,
                                         bool constant) {
  return new GlobalVariable(module, values->getType(), constant,
                            GlobalValue::InternalLinkage, values, name);
}

/// Writes a mutation::Unit (MutationRuntime.h) that is registered when the
/// library is loaded, before all else that it does then.
void ModuleMutator::registerUnit() {
  SmallVector<uint64_t> ids;
  for (auto &[id, row] : table)
    ids.push_back(id);
  auto *idArray =
      makeArray(ConstantDataArray::get(context, ids), "mutation.ids", true);
  auto *placeArray =
      makeArray(ConstantDataArray::get(context, ArrayRef<uint32_t>(places)),
                "mutation.places", true);
  auto *type = ArrayType::get(int8, ids.size());
  auto *unused =
      makeArray(ConstantAggregateZero::get(type), "mutation.unrecorded", false);
  coverage->setInitializer(unused);
  if (functionCount > (1 << 16))
    report_fatal_error("mutation: a file has more than 65536 functions");

  auto count = [&](size_t value) { return ConstantInt::get(int64, value); };
  std::vector<Constant *> fields = {
      count(xxh3_64bits(module.getSourceFileName())),
      count(ids.size()),
      idArray,
      count(places.size() / 2),
      placeArray,
      count(functionCount),
      usesClone,
      active,
      coverage};
  auto *unit =
      makeArray(ConstantStruct::getAnon(fields), "mutation.unit", false);
  FunctionCallee runtime = module.getOrInsertFunction(
      "glowish_mutation_register", Type::getVoidTy(context), pointer);
  auto *function = Function::Create(
      FunctionType::get(Type::getVoidTy(context), false),
      GlobalValue::InternalLinkage, "mutation.register", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  builder.CreateCall(runtime, {unit});
  builder.CreateRetVoid();
  appendToGlobalCtors(module, function, 0);

  std::error_code error;
  raw_fd_ostream out(getSetting("GLOWISH_MUTATION_TABLE"), error);
  if (error)
    report_fatal_error("mutation: cannot write the table of mutants, "
                       "GLOWISH_MUTATION_TABLE: " +
                       Twine(error.message()));
  out << "unit\t" << utohexstr(xxh3_64bits(module.getSourceFileName()), true)
      << "\n";
  for (auto &[id, row] : table)
    out << utohexstr(id, true) << "\t" << row << "\n";
}

namespace {

struct MutationPass : PassInfoMixin<MutationPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    if (getSetting("GLOWISH_MUTATION_ROOT").empty())
      report_fatal_error("mutation: GLOWISH_MUTATION_ROOT is not set");
    bool changed = ModuleMutator(module).run();
    // The table has the places, and objects are linked faster without them.
    changed |= StripDebugInfo(module);
    if (verifyModule(module, &errs()))
      report_fatal_error("mutation: the code with mutants is malformed");
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "glowish-mutation", "1",
          [](PassBuilder &builder) {
            builder.registerPipelineStartEPCallback(
                [](ModulePassManager &passes, OptimizationLevel) {
                  passes.addPass(MutationPass());
                });
          }};
}
