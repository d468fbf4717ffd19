//===- CPUBackend.cpp - Native code through LLVM --------------------------===//

#include "glowish/Backends/CPU/CPUBackend.h"
#include "CodeGeneration.h"
#include "FunctionSizes.h"
#include "InstrEmitter.h"
#include "JIT.h"
#include "Kernels/MatMul/Attention.h"
#include "Kernels/NBits/NBitsLayout.h"
#include "Kernels/Normalization/GroupNormalization.h"
#include "ModuleEmitter.h"
#include "Passes.h"
#include "Selection/KernelSelection.h"
#include "Selection/SharedPackings.h"
#include "Target/HiddenConstants.h"
#include "Target/Multiversioning.h"
#include "Target/TargetSelection.h"
#include "Target/VariantDispatch.h"
#include "Tuning/TuningRecord.h"
#include "glowish/Backends/CPU/Bundle.h"
#include "glowish/Backends/RunErrors.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/File.h"
#include "glowish/Support/Log.h"
#include "glowish/Support/Numbers.h"
#include "glowish/Support/Task.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/FileSystem.h"

using namespace glowish;

static llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createMachine(const TargetOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(TargetSelection selection, selectTarget(options));
  llvm::TargetOptions llvmOptions;
  llvmOptions.FloatABIType = selection.floatABI;
  llvmOptions.MCOptions.ABIName = selection.abi;
  // memcpy, not ARM's __aeabi_memcpy, which only some C libraries have.
  llvmOptions.EABIVersion = llvm::EABI::GNU;
  // Formulas are computed as written, except that a * b + c may be fused.
  llvmOptions.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::string triple = selection.triple.str();
  CodeScope code(triple);
  std::unique_ptr<llvm::TargetMachine> machine(
      selection.target->createTargetMachine(
          triple, selection.cpu, selection.features, llvmOptions,
          selection.relocationModel, options.codeModel,
          options.testing.compilesQuickly ? llvm::CodeGenOptLevel::None
                                          : llvm::CodeGenOptLevel::Default));
  if (!machine)
    return makeError("«target={0}»: LLVM cannot generate code for it", triple);
  // With compilesQuickly, AArch64 would have an instruction selector that no
  // other code has, and that never ends with some vectors of three floats.
  machine->setGlobalISel(false);
  return machine;
}

CPUBackend::CPUBackend(std::unique_ptr<llvm::TargetMachine> machine,
                       std::vector<TargetDescription> levels,
                       const TargetOptions &options)
    : machine(std::move(machine)), levels(std::move(levels)), options(options) {
}

CPUBackend::~CPUBackend() = default;

llvm::Expected<std::unique_ptr<CPUBackend>>
CPUBackend::create(const TargetOptions &options) {
  std::vector<std::string> cpus = {options.cpu};
  if (llvm::StringRef(options.cpu).contains(',')) {
    GLOWISH_ASSIGN_OR_RETURN(cpus, parseLevels(options));
  }
  // The first machine is the lowest: what it makes runs wherever any level
  // does, and functions name their own.
  std::unique_ptr<llvm::TargetMachine> lowest;
  std::vector<TargetDescription> levels;
  for (const std::string &cpu : cpus) {
    TargetOptions own = options;
    own.cpu = cpu;
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine,
                             createMachine(own));
    llvm::Triple triple = machine->getTargetTriple();
    if (cpus.size() > 1 && triple.getArch() != llvm::Triple::x86_64)
      return makeError("«mcpu={0}»: several levels are for x86_64 targets, not "
                       "'{1}'",
                       options.cpu, triple.str());
    levels.push_back(TargetDescription::forMachine(*machine));
    levels.back().numThreads = options.numThreads;
    levels.back().roundsEachStep = options.roundsEachStep;
    if (options.testing.dividesSmallKernels)
      levels.back().minTaskOperations = 0;
    if (options.isReproducible)
      GLOWISH_RETURN_IF_ERROR(levels.back().makeReproducible());
    if (cpus.size() > 1)
      levels.back().suffix = getLevelSuffix(cpu);
    if (!lowest)
      lowest = std::move(machine);
  }
  // The levels share packed weights.
  for (TargetDescription &level : levels) {
    level.packedBits = levels.back().vectorBits;
    level.dot = levels.front().dot;
  }
  for (const TargetDescription &level : levels)
    GLOWISH_VLOG(1, "target: {0}, processor {1}, {2} threads",
                 lowest->getTargetTriple().str(),
                 level.cpu.empty() ? "generic" : level.cpu, level.numThreads);
  std::unique_ptr<CPUBackend> backend(
      new CPUBackend(std::move(lowest), std::move(levels), options));
  GLOWISH_RETURN_IF_ERROR(backend->readTuning());
  return backend;
}

//===- Restrictions -------------------------------------------------------===//
//
// supportsNAME for the nodes with a SupportsFor record in CPUInstrs.td.

using Levels = llvm::ArrayRef<TargetDescription>;

#define SUPPORTS(NAME)                                                         \
  static bool supports##NAME(const NAME##Node &node, Levels levels);
#define GET_SUPPORTS_LIST
#include "glowish/Backends/CPU/supports.inc"

/// The kernel keeps scores on the stack.
static bool supportsAttention(const AttentionNode &node, Levels levels) {
  DimsRef key = node.getKey().getShape();
  return llvm::all_of(levels, [&](const TargetDescription &level) {
    return fitsAttention(key[key.size() - 2], key.back(),
                         node.getType().getKind(), level);
  });
}

/// It also keeps keys and values there.
static bool supportsAttentionInteger(const AttentionIntegerNode &node,
                                     Levels levels) {
  DimsRef key = node.getKey().getShape();
  return llvm::all_of(levels, [&](const TargetDescription &level) {
    return fitsAttentionInteger(key[key.size() - 2], key.back(),
                                node.getType().getShape().back(), level);
  });
}

/// The channels are the last dimension, and the kernel keeps statistics on the
/// stack.
static bool supportsGroupNormalization(const GroupNormalizationNode &node,
                                       Levels levels) {
  const Type &type = node.getInput().getType();
  int64_t channels = type.getDim(node.getAxis());
  return node.getAxis() + 1 == int64_t(type.getRank()) &&
         llvm::all_of(levels, [&](const TargetDescription &level) {
           return fitsGroupNormalization(channels / node.getGroups(),
                                         type.getKind(), level);
         });
}

/// Weights are packed at compile time.
static bool supportsMatMulNBits(const MatMulNBitsNode &node, Levels) {
  auto isConstant = [](NodeValue operand) {
    return !operand || llvm::isa<Constant>(operand.node);
  };
  bool fits =
      !node.getLhsScales() ||
      NBitsLayout::takesIntegers(node.getRhs().getShape()[0], node.getBlock());
  return fits && isConstant(node.getRhs()) && isConstant(node.getScales()) &&
         isConstant(node.getZeroPoints());
}

static bool isRestricted(const Node &node, Levels levels) {
  switch (node.getKind()) {
#define SUPPORTS(NAME)                                                         \
  case NodeKind::NAME:                                                         \
    return !supports##NAME(llvm::cast<NAME##Node>(node), levels);
#define GET_SUPPORTS_LIST
#include "glowish/Backends/CPU/supports.inc"
  default:
    return false;
  }
}

/// Kernels that only move elements, and bodies, take quantized kinds.
static bool supportsQuantized(const Node &node) {
  const OpInfo &info = node.getInfo();
  return info.has(OpTrait::DynamicDataMovement) || info.hasBodies();
}

bool CPUBackend::isSupported(const Node &node) const {
  if (node.getNumResults() == 0)
    return true;
  if (isQuantizedKind(node.getType().getKind()) && !supportsQuantized(node))
    return false;
  return isElementWise(node) || (hasInstr(node) && !isRestricted(node, levels));
}

llvm::Error CPUBackend::readTuning() {
  const std::string &path = options.tuningFile;
  if (path.empty())
    return llvm::Error::success();
  tuning = std::make_unique<TuningRecord>();
  if (options.tune && !llvm::sys::fs::exists(path))
    return llvm::Error::success();
  auto text = readFile(path);
  if (!text)
    return addContext(text.takeError(), "«tuning-file»: ");
  GLOWISH_ASSIGN_OR_RETURN(*tuning,
                           TuningRecord::parse((*text)->getBuffer(), path));
  GLOWISH_VLOG(1, "tuning file '{0}': {1} choices", path, tuning->size());
  return llvm::Error::success();
}

const ConvolutionCandidate *
CPUBackend::findRecorded(const TuningKey &key,
                         llvm::ArrayRef<ConvolutionCandidate> ranked) const {
  if (!tuning)
    return nullptr;
  const auto *entry = tuning->find(
      getTuningTarget(machine->getTargetTriple(), getTarget()), key);
  if (!entry)
    return nullptr;
  const auto *found = llvm::find_if(ranked, [&](const auto &candidate) {
    return candidate == entry->candidate;
  });
  return found == ranked.end() ? nullptr : found;
}

std::set<TuningKey> CPUBackend::findUntuned(const IRFunction &function) const {
  int64_t winograd = int64_t(options.winograd);
  std::set<TuningKey> untuned;
  visitProblems(
      function, [&](const ConvolutionProblem &problem, const Buffer &) {
        TuningKey key(problem, winograd);
        auto candidates = rankCandidates(problem, getTarget(), winograd);
        if (!candidates.empty() && !findRecorded(key, candidates))
          untuned.insert(key);
      });
  return untuned;
}

/// The candidates for a problem.
struct CPUBackend::Candidates {
  /// All of them, the fastest first.
  std::vector<ConvolutionCandidate> ranked;
  /// Those of them that may be taken, and why not others.
  std::vector<ConvolutionCandidate> accepted;
  llvm::StringRef reason;

  /// \p candidate, which is accepted, and the others.
  ConvolutionChoice choose(const ConvolutionCandidate &candidate) {
    llvm::StringRef why = reason;
    if (why.empty() && candidate != ranked.front())
      why = "as other programs pack the same weights";
    ConvolutionChoice choice = {candidate, std::move(ranked), why};
    llvm::erase_if(choice.others, [&](const ConvolutionCandidate &other) {
      return other == candidate;
    });
    return choice;
  }
};

CPUBackend::Candidates
CPUBackend::getCandidates(const ConvolutionProblem &problem) const {
  int64_t winograd = int64_t(options.winograd);
  Candidates candidates;
  std::vector<ConvolutionCandidate> &ranked = candidates.ranked;
  ranked = rankCandidates(problem, getTarget(), winograd);
  if (const ConvolutionCandidate *recorded =
          findRecorded(TuningKey(problem, winograd), ranked)) {
    candidates.accepted = {*recorded};
    candidates.reason = "as the tuning file says";
  } else if (options.testing.choiceRank > 0 && !ranked.empty()) {
    candidates.accepted = {ranked[std::min<size_t>(options.testing.choiceRank,
                                                   ranked.size() - 1)]};
    candidates.reason = "as a test asks";
  } else {
    candidates.accepted = ranked;
  }
  return candidates;
}

llvm::Expected<std::unique_ptr<SharedChoices>>
CPUBackend::chooseTogether(llvm::ArrayRef<const IRFunction *> functions) {
  auto packings = std::make_unique<SharedPackings>(options.packsWeightsOnce);
  unsigned program = 0;
  auto collect = [&](const ConvolutionProblem &problem, const Buffer &filter) {
    packings->collect(filter.getTensor(), getCandidates(problem).accepted);
  };
  auto add = [&](ConvolutionProblem problem, const Buffer &filter) {
    problem.ofOthers = packings->getCollected(filter.getTensor());
    Candidates candidates = getCandidates(problem);
    if (!candidates.accepted.empty())
      packings->add(program, filter, problem.shape, candidates.accepted);
  };
  for (const IRFunction *function : functions)
    forEachFunction(*function, [&](const IRFunction &each) {
      visitProblems(each, collect);
    });
  for (const IRFunction *function : functions) {
    forEachFunction(*function,
                    [&](const IRFunction &each) { visitProblems(each, add); });
    ++program;
  }
  packings->decide();
  return packings;
}

std::vector<std::pair<std::string, std::string>>
CPUBackend::getTargetFacts() const {
  return {{"target", getTargetMachine().getTargetTriple().str()},
          {"processor", getTarget().cpu},
          {"threads", std::to_string(getTarget().numThreads)}};
}

Pipeline CPUBackend::getIRPipeline() const { return getCPUPipeline(); }

llvm::Any CPUBackend::getPassInput(const SharedChoices *choices) const {
  const auto *packings = static_cast<const SharedPackings *>(choices);
  auto choose = [this, packings](
                    ConvolutionProblem problem,
                    const Buffer &filter) -> std::optional<ConvolutionChoice> {
    if (packings)
      problem.ofOthers = packings->getCollected(filter.getTensor());
    Candidates candidates = getCandidates(problem);
    if (candidates.accepted.empty())
      return std::nullopt;
    return candidates.choose(
        packings ? packings->choose(filter.getTensor(), candidates.accepted)
                 : candidates.accepted.front());
  };
  return CPUPassInput{.target = &getTarget(), .choose = choose};
}

llvm::Expected<std::unique_ptr<llvm::Module>>
CPUBackend::emitModule(llvm::LLVMContext &context, const IRFunction &function,
                       const MemoryPlan &plan, llvm::StringRef entryName,
                       EntryForm form) {
  return emitModule(context, Variants::single(function, plan), entryName, form);
}

/// The code of \p programs, which have one entry, and what picks one.
static llvm::Function *emitEntry(ModuleEmitter &emitter, llvm::Module &module,
                                 const TargetDescription &target,
                                 const Variants &variants,
                                 const std::string &name, EntryForm form) {
  if (variants.programs.size() == 1) {
    const Variant &only = variants.programs.front();
    return emitter.emit(*only.function, *only.plan, name, form);
  }
  // Each program for single values of ranges gets an entry in front of those
  // before it that have the same values.
  std::vector<VariantEntry> entries;
  for (auto [i, variant] : llvm::enumerate(variants.programs)) {
    llvm::Function *entry =
        emitter.emit(*variant.function, *variant.plan,
                     ("variant." + llvm::Twine(i) + target.suffix).str(), form);
    auto known = llvm::find_if(entries, [&](const VariantEntry &other) {
      return other.values == llvm::ArrayRef(variant.values);
    });
    if (known == entries.end())
      entries.push_back({variant.values, entry});
    else
      known->entry =
          emitStatedDispatch(module, target, variant, entry, known->entry);
  }
  if (!variants.symbols.empty())
    return emitVariantDispatch(module, target, name, entries);
  releaseName(module, name);
  entries.front().entry->setName(name);
  return entries.front().entry;
}

/// Programs with one entry.
struct EntryPrograms {
  std::string name;
  Variants variants;
};

/// The entries of \p variants: one, \p name, or one for each program.
static std::vector<EntryPrograms> getEntries(const Variants &variants,
                                             llvm::StringRef name) {
  if (!variants.hasEntries())
    return {{name.str(), variants}};
  std::vector<EntryPrograms> entries;
  for (const Variant &program : variants.programs)
    entries.push_back(
        {getEntryName(name, program.entry), Variants{{}, {program}}});
  return entries;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
CPUBackend::emitModule(llvm::LLVMContext &context, const Variants &variants,
                       llvm::StringRef entryName, EntryForm form,
                       KernelNames *kernels) {
  for (const Variant &variant : variants.programs)
    GLOWISH_RETURN_IF_ERROR(checkReplaced(*variant.function));
  auto module = std::make_unique<llvm::Module>(entryName, context);
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  std::vector<EntryPrograms> all = getEntries(variants, entryName);
  std::vector<std::vector<LevelEntry>> entries(all.size());
  for (const TargetDescription &level : levels) {
    if (!options.testing.onlyLevel.empty() &&
        level.cpu != options.testing.onlyLevel)
      continue;
    ModuleEmitter emitter(*module, level, kernels);
    for (auto [programs, own] : llvm::zip_equal(all, entries))
      own.push_back(
          {level.cpu, emitEntry(emitter, *module, level, programs.variants,
                                programs.name + level.suffix, form)});
  }
  GLOWISH_RETURN_IF_ERROR(checkCancelled());
  for (auto [programs, own] : llvm::zip_equal(all, entries)) {
    assert(!own.empty() && "the only level is none of the levels");
    if (own.size() > 1)
      emitDispatch(*module, programs.name, own);
    else
      own[0].entry->setName(programs.name);
  }
  std::string message;
  llvm::raw_string_ostream os(message);
  if (llvm::verifyModule(*module, &os))
    return makeError("internal: the generated LLVM IR is wrong: {0}", message);
  return module;
}

/// What systems ask of every function.
static void addSystemAttributes(llvm::Module &module) {
  llvm::Triple triple(module.getTargetTriple());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    // Windows finds callers by tables: debuggers, profilers and exceptions of
    // what the bundle is called from need them.
    if (triple.isOSWindows())
      function.setUWTableKind(llvm::UWTableKind::Default);
    // On Apple's arm64 the frame pointer always leads to a frame record.
    if (triple.isOSDarwin() && triple.isAArch64())
      function.addFnAttr("frame-pointer", "non-leaf");
  }
}

/// Whether vectors of floats are those of MVE.
static bool hasFloatMVE(const llvm::TargetMachine &machine) {
  const llvm::Triple &triple = machine.getTargetTriple();
  return (triple.isARM() || triple.isThumb()) &&
         machine.getMCSubtargetInfo()->checkFeatures("+mve.fp");
}

/// A module that the same code is generated of: registers depend on the order
/// of uses, which CloneModule would change.
static llvm::Expected<std::unique_ptr<llvm::Module>>
copyModule(const llvm::Module &module) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream os(bitcode);
  llvm::WriteBitcodeToFile(module, os, /*ShouldPreserveUseListOrder=*/true);
  return llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(os.str(), module.getName()), module.getContext());
}

static void logSizes(llvm::ArrayRef<char> object) {
  if (!GLOWISH_IS_LOGGED(1))
    return;
  CodeSizes sizes;
  if (llvm::Error error = readFunctionSizes(object, sizes)) {
    llvm::consumeError(std::move(error));
    return;
  }
  uint64_t code = 0;
  for (const auto &[name, size] : sizes.functions)
    code += size;
  GLOWISH_VLOG(1, "code: {0} in {1} functions, in an object of {2}",
               formatExactBytes(code), sizes.functions.size(),
               formatExactBytes(object.size()));
  for (const auto &[name, size] : sizes.functions)
    GLOWISH_VLOG(3, "code: {0} bytes of {1}", size, name);
}

llvm::Expected<llvm::SmallVector<char, 0>>
CPUBackend::emitObject(llvm::Module &module,
                       llvm::SmallVectorImpl<char> *assembly) {
  addSystemAttributes(module);
  if (!options.testing.compilesQuickly)
    GLOWISH_RETURN_IF_ERROR(optimizeModule(module, *machine));
  if (hasFloatMVE(*machine))
    hideMVEConstants(module);
  if (options.dumpsLLVM)
    module.print(llvm::errs(), nullptr);
  if (options.dumpsAssembly || assembly) {
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> copy,
                             copyModule(module));
    llvm::SmallVector<char, 0> text;
    GLOWISH_RETURN_IF_ERROR(
        emitCode(*copy, *machine, llvm::CodeGenFileType::AssemblyFile, text));
    if (options.dumpsAssembly)
      llvm::errs() << llvm::StringRef(text.data(), text.size());
    if (assembly)
      *assembly = std::move(text);
  }
  llvm::SmallVector<char, 0> object;
  GLOWISH_RETURN_IF_ERROR(
      emitCode(module, *machine, llvm::CodeGenFileType::ObjectFile, object));
  logSizes(object);
  return object;
}

llvm::Expected<llvm::SmallVector<char, 0>>
CPUBackend::emitLocalObject(const IRFunction &function, const MemoryPlan &plan,
                            bool isTimed) {
  llvm::LLVMContext context;
  GLOWISH_RETURN_IF_ERROR(checkExternalFunctions(function));
  // An Executable is given one arena.
  MemoryPlan ofOneArena = plan;
  ofOneArena.arenaRegions.clear();
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                           emitModule(context, function, ofOneArena,
                                      jitEntryName,
                                      {.bindsPlaceholders = true,
                                       .isTimed = isTimed,
                                       .namesFailures = true}));
  return emitObject(*module);
}

llvm::Expected<std::unique_ptr<Executable>>
CPUBackend::compile(const IRFunction &function, const MemoryPlan &plan,
                    InstrClock *clock) {
  GLOWISH_ASSIGN_OR_RETURN(
      auto object,
      emitLocalObject(function, plan, /*isTimed=*/clock != nullptr));
  return loadProgram(object, clock, getParallelFor(getTarget().numThreads));
}
