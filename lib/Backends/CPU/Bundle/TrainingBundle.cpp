//===- TrainingBundle.cpp - Files of a training bundle --------------------===//

#include "BundleFiles.h"
#include "Config.h"
#include "ModuleEmitter.h"
#include "Names.h"
#include "TrainingHeader.h"
#include "WebBundle.h"
#include "glowish/Support/Checksum.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Endian.h"

using namespace glowish;

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
  state.layout = layout.finish();
  return state;
}

/// The first values as NAME_save_state would write them.
static std::vector<uint8_t> makeStateBytes(const BundleState &state,
                                           const TrainingPrograms &programs) {
  std::vector<uint8_t> bytes(BundleState::headerSize);
  for (const BundleState::Variable &variable : state.variables)
    llvm::append_range(
        bytes,
        programs.variables.find(variable.modelName)->second->getByteRange());
  llvm::ArrayRef<uint8_t> payload =
      llvm::ArrayRef(bytes).drop_front(BundleState::headerSize);
  uint64_t checksum = checksum64(payload);
  llvm::support::endian::write64le(bytes.data(), BundleState::magic);
  llvm::support::endian::write64le(bytes.data() + 8, state.layout);
  llvm::support::endian::write64le(bytes.data() + 16, checksum);
  return bytes;
}

/// Both programs in one object.
static llvm::Expected<BundleCode> makeCode(CPUBackend &backend,
                                           const TrainingPrograms &programs,
                                           const Weights &weights,
                                           llvm::ArrayRef<uint8_t> state,
                                           const BundleFacts &facts) {
  llvm::LLVMContext context;
  const std::string &name = facts.options.networkName;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<llvm::Module> module,
      backend.emitModule(context, *programs.inference.function,
                         *programs.inference.plan, name + "_infer"));
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> step,
                           backend.emitModule(context, *programs.step.function,
                                              *programs.step.plan,
                                              name + "_train_step"));
  if (llvm::Linker::linkModules(*module, std::move(step)))
    return makeError("internal: the two programs do not link");
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
                     "-bundle-api=static");
  if (isForWeb(backend))
    return makeError("a bundle that learns is an object, which target '{0}' "
                     "has none of; accepted: -target=wasm32-wasi",
                     backend.getTargetMachine().getTargetTriple().str());
  GLOWISH_RETURN_IF_ERROR(checkBundleNames(options));
  Variants both{{}, {programs.inference, programs.step}};
  Weights weights(both);
  BundleFacts facts{options,
                    {},
                    {},
                    weights.getSize(),
                    both.getMutableSize(),
                    both.getActivationSize(),
                    both.getAlignment(),
                    weights.getChecksum(),
                    backend.hasLevels()};
  facts.hasBoundedLoops = hasBoundedLoops(*programs.inference.function) ||
                          hasBoundedLoops(*programs.step.function);
  facts.functions = getBundleFunctions(
      both.programs, backend.getTargetMachine().getTargetTriple());
  GLOWISH_RETURN_IF_ERROR(checkTarget(backend, facts));
  const char *identifiers[] = {"INFER", "TRAIN_STEP"};
  for (auto [program, identifier] : llvm::zip_equal(both.programs, identifiers))
    facts.programs.push_back(
        {identifier,
         {},
         *program.plan,
         program.plan->activationSize,
         getBundleSymbols(*program.function, *program.plan),
         getBundleConstants(*program.function, *program.plan)});
  GLOWISH_RETURN_IF_ERROR(chooseTrainingIdentifiers(facts));
  GLOWISH_ASSIGN_OR_RETURN(BundleState state,
                           makeState(facts.programs[0], facts.programs[1],
                                     programs, options.modelHash));
  std::vector<uint8_t> bytes = makeStateBytes(state, programs);
  GLOWISH_ASSIGN_OR_RETURN(BundleCode code,
                           makeCode(backend, programs, weights, bytes, facts));

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
