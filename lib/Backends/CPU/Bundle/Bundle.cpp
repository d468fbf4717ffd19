//===- Bundle.cpp - The files of a bundle ---------------------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "BundleFiles.h"
#include "Config.h"
#include "InferenceHeader.h"
#include "ModuleEmitter.h"
#include "Names.h"
#include "WebBundle.h"
#include "glowish/Backends/CPU/TargetSupport.h"

using namespace glowish;

/// The symbolic dimensions that select among the programs of \p variants.
static std::vector<BundleDim> getDims(const Variants &variants) {
  std::vector<BundleDim> dims;
  NameTable names;
  for (auto [i, symbol] : llvm::enumerate(variants.symbols)) {
    std::vector<int64_t> values;
    for (const Variant &variant : variants.programs)
      values.push_back(variant.values[i]);
    llvm::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    dims.push_back(makeBundleDim(symbol, std::move(values), names));
  }
  return dims;
}

static BundleFacts getFacts(const Variants &variants, const Weights &weights,
                            const BundleOptions &options, CPUBackend &backend) {
  BundleFacts facts{options,
                    getDims(variants),
                    {},
                    weights.getSize(),
                    variants.getMutableSize(),
                    variants.getActivationSize(),
                    variants.getAlignment(),
                    /*weightsChecksum=*/0,
                    backend.hasLevels()};
  facts.numThreads = backend.getTarget().numThreads;
  facts.boundedLoops = describeBoundedLoops(variants.programs);
  facts.functions = getBundleFunctions(
      variants.programs, backend.getTargetMachine().getTargetTriple());
  for (const Variant &variant : variants.programs) {
    // The others have its placeholders.
    if (!variant.isForWholeRanges())
      continue;
    std::string identifier =
        variant.entry.empty()
            ? ""
            : llvm::StringRef(legalizeName(variant.entry)).upper();
    for (auto [dim, value] : llvm::zip_equal(facts.dims, variant.values))
      identifier += (identifier.empty() ? "" : "_") + dim.identifier +
                    std::to_string(value);
    facts.programs.push_back(
        {identifier, variant.values, *variant.plan,
         variant.entry.empty() ? variants.getActivationSize(variant.values)
                               : variant.plan->activationSize,
         getBundleSymbols(*variant.function, *variant.plan),
         getBundleConstants(*variant.function, *variant.plan), variant.entry});
  }
  return facts;
}

/// Whether all programs of one entry have the same placeholders but for their
/// shapes: an output may have extents of its own with some values only.
static llvm::Error checkSymbols(const BundleFacts &facts) {
  if (facts.hasEntries())
    return llvm::Error::success();
  const BundleProgram &first = facts.programs.front();
  for (const BundleProgram &program : facts.programs)
    if (!std::equal(first.symbols.begin(), first.symbols.end(),
                    program.symbols.begin(), program.symbols.end(),
                    [](const BundleSymbol &a, const BundleSymbol &b) {
                      return a.modelName == b.modelName;
                    }))
      return makeError("the model has other outputs for {0} than for {1}; "
                       "accepted: values of symbols with which it has the same",
                       program.identifier, first.identifier);
  return llvm::Error::success();
}

/// Refuses what a bundle that has a pointer for each region of the activations
/// does not go with.
static llvm::Error checkArenaRegions(CPUBackend &backend,
                                     const Variants &variants,
                                     const BundleOptions &options) {
  if (variants.programs.front().plan->arenaRegions.empty())
    return llvm::Error::success();
  if (options.api == BundleApi::Dynamic)
    return makeError(
        "«memory-regions»: the configuration of the dynamic API has "
        "one region of activations; accepted: «bundle-api=static»");
  if (isForWeb(backend))
    return makeError(
        "«memory-regions»: a bundle for target '{0}' is a module "
        "that has one memory; accepted: «target=wasm32-wasi» for an "
        "object, or without regions",
        backend.getTargetMachine().getTargetTriple().str());
  if (variants.programs.size() > 1)
    return makeError("«memory-regions»: the bundle has {0} programs, each with "
                     "regions of its own; accepted: one value, or a range, of "
                     "each symbolic dimension",
                     variants.programs.size());
  return llvm::Error::success();
}

/// Refuses several entries where a module that JavaScript loads has one.
static llvm::Error checkEntries(CPUBackend &backend, const Variants &variants) {
  if (variants.hasEntries() && isForWeb(backend))
    return makeError("a bundle for target '{0}' is a module with one entry; "
                     "accepted: one function, or «target=wasm32-wasi» for an "
                     "object",
                     backend.getTargetMachine().getTargetTriple().str());
  return llvm::Error::success();
}

static llvm::Expected<BundleCode> makeCode(CPUBackend &backend,
                                           const Variants &variants,
                                           const Weights &weights,
                                           const BundleFacts &facts) {
  llvm::LLVMContext context;
  CodeSizes *sizes = facts.options.codeSizes;
  GLOWISH_ASSIGN_OR_RETURN(
      std::unique_ptr<llvm::Module> module,
      backend.emitModule(context, variants, facts.options.entryName,
                         /*form=*/{}, sizes ? &sizes->kernels : nullptr));
  if (facts.options.api == BundleApi::Dynamic)
    emitConfig(*module, facts);
  if (facts.options.weights == BundleWeights::Embed)
    emitBytes(*module, facts.options.networkName + "_weights",
              weights.getBytes(), facts.alignment);
  if (isForWeb(backend))
    prepareWebModule(backend, *module, facts);
  return generateCode(backend, *module, facts.options);
}

llvm::endianness glowish::getByteOrder(CPUBackend &backend) {
  return backend.getTargetMachine().createDataLayout().isBigEndian()
             ? llvm::endianness::big
             : llvm::endianness::little;
}

llvm::Error glowish::checkTarget(CPUBackend &backend,
                                 const BundleFacts &facts) {
  llvm::TargetMachine &machine = backend.getTargetMachine();
  llvm::DataLayout layout = machine.createDataLayout();
  std::string triple = machine.getTargetTriple().str();
  // Addresses are computed in signed numbers, and linkers place what small
  // code refers to within as much.
  constexpr uint64_t most = (uint64_t(1) << 31) - 1;
  if (facts.options.weights == BundleWeights::Embed &&
      machine.getCodeModel() < llvm::CodeModel::Medium &&
      facts.constantSize > most)
    return makeError("the network has {0} bytes of weights; accepted with "
                     "«weights=embed»: at most {1}; «weights=file» writes them "
                     "to a file",
                     facts.constantSize, most);
  if (layout.getPointerSizeInBits() > 32)
    return llvm::Error::success();
  for (auto [what, size] : {std::pair("weights", facts.constantSize),
                            std::pair("inputs and outputs", facts.mutableSize),
                            std::pair("activations", facts.activationSize)})
    if (size > most)
      return makeError("the network has {0} bytes of {1}; accepted for the "
                       "32-bit target '{2}': at most {3}",
                       size, what, triple, most);
  return isForWeb(backend) ? checkWebMemory(facts) : llvm::Error::success();
}

llvm::Error glowish::writeBundle(CPUBackend &backend,
                                 const IRFunction &function,
                                 const MemoryPlan &plan,
                                 const BundleOptions &options) {
  return writeBundle(backend, Variants::single(function, plan), options);
}

llvm::Error glowish::writeBundle(CPUBackend &backend, const Variants &variants,
                                 const BundleOptions &options) {
  GLOWISH_RETURN_IF_ERROR(checkBundleNames(options));
  GLOWISH_RETURN_IF_ERROR(checkEntries(backend, variants));
  GLOWISH_RETURN_IF_ERROR(checkArenaRegions(backend, variants, options));
  if (isForWeb(backend))
    GLOWISH_RETURN_IF_ERROR(checkWebOptions(backend, options));
  Weights weights(variants, getByteOrder(backend));
  BundleFacts facts = getFacts(variants, weights, options, backend);
  GLOWISH_RETURN_IF_ERROR(checkTarget(backend, facts));
  if (isForWeb(backend))
    GLOWISH_RETURN_IF_ERROR(checkWebFunctions(facts));
  GLOWISH_RETURN_IF_ERROR(checkSymbols(facts));
  GLOWISH_RETURN_IF_ERROR(facts.hasEntries() ? chooseFunctionIdentifiers(facts)
                                             : chooseIdentifiers(facts));
  // Otherwise the checksum is in the header alone, and is computed as the
  // weights are written: they are made only once.
  if (options.api == BundleApi::Dynamic || isForWeb(backend))
    facts.weightsChecksum = weights.getChecksum();
  GLOWISH_ASSIGN_OR_RETURN(BundleCode code,
                           makeCode(backend, variants, weights, facts));
  if (isForWeb(backend))
    return writeWebFiles(code, weights, facts);

  GLOWISH_RETURN_IF_ERROR(createDirectories(options.folder));
  BundleFiles files(options);
  GLOWISH_RETURN_IF_ERROR(files.addCode(code));
  GLOWISH_RETURN_IF_ERROR(files.addWeights(weights));
  facts.weightsChecksum = weights.getChecksum();
  GLOWISH_RETURN_IF_ERROR(files.add(
      ".h", [&](llvm::raw_ostream &os) { printBundleHeader(os, facts); }));
  GLOWISH_RETURN_IF_ERROR(addFunctions(files, facts));
  GLOWISH_RETURN_IF_ERROR(files.addThreads(backend.getTarget()));
  return files.commit();
}

namespace {

class CPUBundleWriter : public BundleWriter {
public:
  explicit CPUBundleWriter(CPUBackend &backend) : backend(backend) {}

  std::string getWarning() const override {
    return getTargetWarning(backend.getTargetMachine().getTargetTriple());
  }
  llvm::Error write(const Variants &variants,
                    const BundleOptions &options) override {
    return writeBundle(backend, variants, options);
  }
  llvm::Error writeTraining(const TrainingPrograms &programs,
                            const BundleOptions &options) override {
    return writeTrainingBundle(backend, programs, options);
  }
  llvm::Error printCode(const Variants &programs,
                        llvm::StringRef entryName) override {
    llvm::LLVMContext context;
    GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> module,
                             backend.emitModule(context, programs, entryName));
    return backend.emitObject(*module).takeError();
  }

private:
  CPUBackend &backend;
};

} // namespace

std::unique_ptr<BundleWriter> CPUBackend::createBundleWriter() {
  return std::make_unique<CPUBundleWriter>(*this);
}
