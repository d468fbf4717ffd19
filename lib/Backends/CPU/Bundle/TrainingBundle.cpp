//===- TrainingBundle.cpp - Files of a training bundle --------------------===//

#include "BundleFiles.h"
#include "Config.h"
#include "ModuleEmitter.h"
#include "Names.h"
#include "TrainingHeader.h"
#include "WebBundle.h"
#include "glowish/Support/Checksum.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <set>

using namespace glowish;

/// The entries of a bundle: what their names end with.
static llvm::ArrayRef<const char *>
getEntries(const TrainingPrograms &programs) {
  static constexpr const char *whole[] = {"infer", "train_step"};
  static constexpr const char *parts[] = {"infer", "gradients", "update"};
  if (programs.steps.size() == 1)
    return whole;
  return parts;
}

/// \p programs in the order of their entries.
static Variants getAll(const TrainingPrograms &programs) {
  Variants all{{}, {programs.inference}};
  llvm::append_range(all.programs, programs.steps);
  for (auto [program, entry] :
       llvm::zip_equal(all.programs, getEntries(programs)))
    program.entry = entry;
  return all;
}

/// The symbols of \p program that it uses, and variables.
static std::vector<BundleSymbol>
getUsedSymbols(const Variant &program, const TrainingPrograms &programs) {
  std::set<std::string> used;
  for (const Instruction &instr : program.function->getInstrs())
    for (const Buffer *operand : instr.getOperands())
      if (operand && operand->getRoot()->getKind() == Buffer::Kind::Mutable)
        used.insert(operand->getRoot()->getModelName().str());
  std::vector<BundleSymbol> symbols =
      getBundleSymbols(*program.function, *program.plan);
  if (programs.steps.size() > 1)
    llvm::erase_if(symbols, [&](const BundleSymbol &symbol) {
      return !used.count(symbol.modelName) &&
             !programs.variables.count(symbol.modelName);
    });
  return symbols;
}

/// Refuses an inference whose placeholders lie over what the step keeps: those
/// in front of the solver's variables are larger than in the step then.
static llvm::Error checkStatesApart(const BundleProgram &inference,
                                    const BundleState &state) {
  for (const BundleSymbol &symbol : inference.symbols)
    for (const BundleState::Variable &variable : state.variables) {
      uint64_t end = symbol.offset + uint64_t(symbol.type.getSizeInBytes());
      if (symbol.modelName != variable.modelName &&
          symbol.offset < variable.offset + variable.bytes &&
          variable.offset < end)
        return makeError("inference has '{0}' where the training step keeps "
                         "'{1}'; accepted: a step whose inputs and outputs are "
                         "at least as large («train-define-symbol»)",
                         symbol.modelName, variable.modelName);
    }
  return llvm::Error::success();
}

/// The variables of \p step, the second program, and that those of the model
/// lie at the same place in the first.
static llvm::Expected<BundleState> makeState(const BundleProgram &inference,
                                             const BundleProgram &step,
                                             const TrainingPrograms &programs,
                                             uint64_t modelHash) {
  BundleState state;
  Checksum64 layout;
  auto add = [&](llvm::StringRef text) {
    layout.add(llvm::ArrayRef(text.bytes_begin(), text.size() + 1));
  };
  add(std::to_string(modelHash));
  for (const BundleSymbol &symbol : step.symbols) {
    if (!programs.variables.count(symbol.modelName))
      continue;
    state.variables.push_back({symbol.modelName, symbol.offset,
                               uint64_t(symbol.type.getSizeInBytes())});
    std::string text = symbol.modelName + " " + symbol.type.str();
    add(text);
  }
  for (const BundleSymbol &symbol : inference.symbols) {
    if (!programs.variables.count(symbol.modelName))
      continue;
    auto found = llvm::find_if(state.variables, [&](const auto &variable) {
      return variable.modelName == symbol.modelName;
    });
    if (found == state.variables.end() || found->offset != symbol.offset)
      return makeError("internal: the variable '{0}' has two places",
                       symbol.modelName);
  }
  GLOWISH_RETURN_IF_ERROR(checkStatesApart(inference, state));
  state.layout = layout.finish();
  return state;
}

/// The first values as NAME_save_state would write them on a machine with the
/// byte order \p order.
static std::vector<uint8_t> makeStateBytes(const BundleState &state,
                                           const TrainingPrograms &programs,
                                           llvm::endianness order) {
  std::vector<uint8_t> bytes(BundleState::headerSize), buffer;
  for (const BundleState::Variable &variable : state.variables)
    llvm::append_range(
        bytes,
        getBytesInOrder(*programs.variables.find(variable.modelName)->second,
                        order, buffer));
  llvm::ArrayRef<uint8_t> payload =
      llvm::ArrayRef(bytes).drop_front(BundleState::headerSize);
  uint64_t checksum = checksum64(payload);
  llvm::support::endian::write64le(bytes.data(), BundleState::magic);
  llvm::support::endian::write64le(bytes.data() + 8, state.layout);
  llvm::support::endian::write64le(bytes.data() + 16, checksum);
  return bytes;
}

/// That \p second has its placeholders where \p first has them.
static llvm::Error checkPlaces(const BundleProgram &first,
                               const BundleProgram &second) {
  for (const BundleSymbol &symbol : second.symbols)
    for (const BundleSymbol &other : first.symbols)
      if (other.modelName == symbol.modelName && other.offset != symbol.offset)
        return makeError("internal: '{0}' has two places", symbol.modelName);
  return llvm::Error::success();
}

/// All programs in one object.
static llvm::Expected<BundleCode>
makeCode(CPUBackend &backend, const Variants &programs, const Weights &weights,
         llvm::ArrayRef<uint8_t> state, const BundleFacts &facts) {
  llvm::LLVMContext context;
  const std::string &name = facts.options.networkName;
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                           backend.emitModule(context, programs, name));
  if (facts.options.weights == BundleWeights::Embed) {
    emitBytes(*module, name + "_weights", weights.getBytes(), facts.alignment);
    emitBytes(*module, name + "_state", state, facts.alignment);
  }
  return generateCode(backend, *module, facts.options);
}

llvm::Error glowish::writeTrainingBundle(CPUBackend &backend,
                                         const TrainingPrograms &programs,
                                         const BundleOptions &options) {
  if (options.api != BundleApi::Static)
    return makeError("a bundle that learns has no dynamic API; accepted: "
                     "«bundle-api=static»");
  if (isForWeb(backend))
    return makeError("a bundle that learns is an object, which target '{0}' "
                     "has none of; accepted: «target=wasm32-wasi»",
                     backend.getTargetMachine().getTargetTriple().str());
  GLOWISH_RETURN_IF_ERROR(checkBundleNames(options));
  Variants all = getAll(programs);
  llvm::endianness order = getByteOrder(backend);
  Weights weights(all, order);
  BundleFacts facts{options,
                    {},
                    {},
                    weights.getSize(),
                    all.getMutableSize(),
                    all.getActivationSize(),
                    all.getAlignment(),
                    weights.getChecksum(),
                    backend.hasLevels()};
  facts.boundedLoops = describeBoundedLoops(all.programs);
  facts.functions = getBundleFunctions(
      all.programs, backend.getTargetMachine().getTargetTriple());
  GLOWISH_RETURN_IF_ERROR(checkTarget(backend, facts));
  for (auto [program, entry] :
       llvm::zip_equal(all.programs, getEntries(programs)))
    facts.programs.push_back(
        {llvm::StringRef(entry).upper(),
         {},
         *program.plan,
         program.plan->activationSize,
         getUsedSymbols(program, programs),
         getBundleConstants(*program.function, *program.plan)});
  GLOWISH_RETURN_IF_ERROR(
      chooseTrainingIdentifiers(facts, getEntries(programs)));
  GLOWISH_RETURN_IF_ERROR(
      checkPlaces(facts.programs[1], facts.programs.back()));
  GLOWISH_ASSIGN_OR_RETURN(BundleState state,
                           makeState(facts.programs[0], facts.programs[1],
                                     programs, options.modelHash));
  for (auto [name, start] :
       llvm::zip(programs.trained, programs.gradientStarts))
    state.gradients.push_back({name, start});
  std::vector<uint8_t> bytes = makeStateBytes(state, programs, order);
  GLOWISH_ASSIGN_OR_RETURN(BundleCode code,
                           makeCode(backend, all, weights, bytes, facts));

  GLOWISH_RETURN_IF_ERROR(createDirectories(options.folder));
  BundleFiles files(options);
  GLOWISH_RETURN_IF_ERROR(files.addCode(code));
  GLOWISH_RETURN_IF_ERROR(files.add(".h", [&](llvm::raw_ostream &os) {
    printTrainingHeader(os, facts, state);
  }));
  GLOWISH_RETURN_IF_ERROR(addFunctions(files, facts));
  GLOWISH_RETURN_IF_ERROR(files.addThreads(backend.getTarget()));
  GLOWISH_RETURN_IF_ERROR(files.addWeights(weights));
  if (options.weights != BundleWeights::Embed) {
    GLOWISH_RETURN_IF_ERROR(files.add(".state.bin", [&](llvm::raw_ostream &os) {
      os << llvm::toStringRef(bytes);
    }));
  }
  return files.commit();
}
