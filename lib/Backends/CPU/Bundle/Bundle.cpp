//===- Bundle.cpp - The files of a bundle ---------------------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "Config.h"
#include "Header.h"
#include "Weights.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"

using namespace glowish;

static constexpr llvm::StringLiteral threadsSource =
#include "glowish/glowish_threads.c.inc"
    ;
static constexpr llvm::StringLiteral threadsHeader =
#include "glowish/glowish_threads.h.inc"
    ;

namespace {

/// The files of one bundle on their way to its folder.
class BundleFiles {
public:
  explicit BundleFiles(const BundleOptions &options) : options(options) {}

  /// Adds NAME + \p suffix and lets \p print write it.
  template <typename PrintFn>
  llvm::Error add(llvm::StringRef suffix, PrintFn print) {
    return addFile(options.networkName + suffix.str(), print);
  }
  /// Adds the file \p name.
  template <typename PrintFn>
  llvm::Error addFile(llvm::StringRef name, PrintFn print) {
    llvm::SmallString<128> path(options.folder);
    llvm::sys::path::append(path, name);
    llvm::Expected<llvm::raw_pwrite_stream &> stream = files.add(path);
    if (!stream)
      return stream.takeError();
    print(*stream);
    return llvm::Error::success();
  }
  llvm::Error commit() { return files.commit(); }

private:
  const BundleOptions &options;
  OutputFiles files;
};

} // namespace

/// What tells the programs of \p variants apart.
static std::vector<BundleDim> getDims(const Variants &variants) {
  std::vector<BundleDim> dims;
  llvm::StringSet<> taken;
  for (auto [i, symbol] : llvm::enumerate(variants.symbols)) {
    dims.push_back({symbol, makeIdentifier(symbol, taken), {}});
    for (const Variant &variant : variants.programs)
      dims.back().values.push_back(variant.values[i]);
    std::vector<int64_t> &values = dims.back().values;
    llvm::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  return dims;
}

static BundleFacts getFacts(const Variants &variants, const Weights &weights,
                            const BundleOptions &options, bool hasLevels) {
  BundleFacts facts{options,
                    getDims(variants),
                    {},
                    weights.getSize(),
                    variants.getMutableSize(),
                    variants.getActivationSize(),
                    variants.getAlignment(),
                    weights.getChecksum(),
                    hasLevels};
  for (const Variant &variant : variants.programs) {
    std::string identifier;
    for (auto [dim, value] : llvm::zip_equal(facts.dims, variant.values))
      identifier += (identifier.empty() ? "" : "_") + dim.identifier +
                    std::to_string(value);
    facts.programs.push_back(
        {identifier, variant.values, *variant.plan,
         getBundleSymbols(*variant.function, *variant.plan)});
  }
  return facts;
}

/// Whether all programs have the same placeholders but for their shapes: an
/// output may have extents of its own with some values only.
static llvm::Error checkSymbols(const BundleFacts &facts) {
  const BundleProgram &first = facts.programs.front();
  for (const BundleProgram &program : facts.programs)
    if (!std::equal(first.symbols.begin(), first.symbols.end(),
                    program.symbols.begin(), program.symbols.end(),
                    [](const BundleSymbol &a, const BundleSymbol &b) {
                      return a.identifier == b.identifier;
                    }))
      return makeError("the model has other outputs for {0} than for {1}; "
                       "accepted: values of symbols with which it has the same",
                       program.identifier, first.identifier);
  return llvm::Error::success();
}

/// The bytes of the object file.
static llvm::Expected<llvm::SmallVector<char, 0>>
makeObject(CPUBackend &backend, const Variants &variants,
           const Weights &weights, const BundleFacts &facts) {
  llvm::LLVMContext context;
  GLOWISH_TRY(std::unique_ptr<llvm::Module> module,
              backend.emitModule(context, variants, facts.options.entryName));
  if (facts.options.api == BundleApi::Dynamic)
    emitConfig(*module, facts);
  if (facts.options.weights == BundleWeights::Embed)
    emitWeights(*module, facts, weights.getBytes());
  return backend.emitObject(*module);
}

llvm::Error glowish::writeBundle(CPUBackend &backend,
                                 const IRFunction &function,
                                 const MemoryPlan &plan,
                                 const BundleOptions &options) {
  return writeBundle(backend, Variants::single(function, plan), options);
}

llvm::Error glowish::writeBundle(CPUBackend &backend, const Variants &variants,
                                 const BundleOptions &options) {
  if (!backend.getTargetMachine().createDataLayout().isLittleEndian())
    return makeError("target '{0}' is big-endian; weights are written for "
                     "little-endian targets only",
                     backend.getTargetMachine().getTargetTriple().str());
  Weights weights(variants);
  BundleFacts facts =
      getFacts(variants, weights, options, backend.hasLevels());
  GLOWISH_CHECK(checkSymbols(facts));
  GLOWISH_TRY(auto object, makeObject(backend, variants, weights, facts));

  GLOWISH_CHECK(createDirectories(options.folder));
  BundleFiles files(options);
  auto writeBytes = [](llvm::raw_ostream &os, const void *data, size_t size) {
    os.write(static_cast<const char *>(data), size);
  };
  GLOWISH_CHECK(files.add(".o", [&](llvm::raw_ostream &os) {
    writeBytes(os, object.data(), object.size());
  }));
  GLOWISH_CHECK(files.add(
      ".h", [&](llvm::raw_ostream &os) { printBundleHeader(os, facts); }));
  if (backend.getTarget().numThreads > 1) {
    GLOWISH_CHECK(files.addFile("glowish_threads.c", [](llvm::raw_ostream &os) {
      os << threadsSource;
    }));
    GLOWISH_CHECK(files.addFile("glowish_threads.h", [](llvm::raw_ostream &os) {
      os << threadsHeader;
    }));
  }
  if (options.weights == BundleWeights::File) {
    GLOWISH_CHECK(files.add(".weights.bin", [&](llvm::raw_ostream &os) {
      weights.visit([&](llvm::ArrayRef<uint8_t> bytes) {
        writeBytes(os, bytes.data(), bytes.size());
      });
    }));
    if (options.api == BundleApi::Static)
      GLOWISH_CHECK(files.add(".weights.txt", [&](llvm::raw_ostream &os) {
        weights.printText(os);
      }));
  }
  return files.commit();
}
