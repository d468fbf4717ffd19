//===- Bundle.cpp - The files of a bundle ---------------------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "Config.h"
#include "Header.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"

using namespace glowish;

static constexpr llvm::StringLiteral threadsSource =
#include "glowish/glowish_threads.c.inc"
    ;
static constexpr llvm::StringLiteral threadsHeader =
#include "glowish/glowish_threads.h.inc"
    ;

/// The bytes as the inside of a C array initialiser, 20 a line.
static void printWeightsText(llvm::raw_ostream &os,
                             llvm::ArrayRef<uint8_t> bytes) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string line;
  for (size_t i = 0; i < bytes.size(); ++i) {
    line += " 0X";
    line += digits[bytes[i] >> 4];
    line += digits[bytes[i] & 15];
    line += ',';
    if (i % 20 == 19 || i + 1 == bytes.size()) {
      os << line << '\n';
      line.clear();
    }
  }
}

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

llvm::Error glowish::writeBundle(CPUBackend &backend,
                                 const IRFunction &function,
                                 const MemoryPlan &plan,
                                 const BundleOptions &options) {
  if (!backend.getTargetMachine().createDataLayout().isLittleEndian())
    return makeError("target '{0}' is big-endian; weights are written for "
                     "little-endian targets only",
                     backend.getTargetMachine().getTargetTriple().str());
  Tensor region = makeConstantRegion(function, plan);
  llvm::ArrayRef<uint8_t> weights = region.getByteRange();
  BundleFacts facts{options, plan, getBundleSymbols(function, plan),
                    checksum64(weights), backend.hasLevels()};

  llvm::LLVMContext context;
  GLOWISH_TRY(std::unique_ptr<llvm::Module> module,
              backend.emitModule(context, function, plan, options.entryName));
  if (options.api == BundleApi::Dynamic)
    emitConfig(*module, facts);
  if (options.weights == BundleWeights::Embed)
    emitWeights(*module, facts, weights);
  GLOWISH_TRY(auto object, backend.emitObject(*module));

  GLOWISH_CHECK(createDirectories(options.folder));
  BundleFiles files(options);
  auto writeBytes = [](llvm::raw_ostream &os, const void *data, size_t size) {
    os.write(static_cast<const char *>(data), size);
  };
  GLOWISH_CHECK(files.add(".o", [&](llvm::raw_ostream &os) {
    writeBytes(os, object.data(), object.size());
  }));
  GLOWISH_CHECK(files.add(".h", [&](llvm::raw_ostream &os) {
    printBundleHeader(os, facts);
  }));
  if (backend.getTarget().numThreads > 1) {
    GLOWISH_CHECK(
        files.addFile("glowish_threads.c", [](llvm::raw_ostream &os) {
          os << threadsSource;
        }));
    GLOWISH_CHECK(
        files.addFile("glowish_threads.h", [](llvm::raw_ostream &os) {
          os << threadsHeader;
        }));
  }
  if (options.weights == BundleWeights::File) {
    GLOWISH_CHECK(files.add(".weights.bin", [&](llvm::raw_ostream &os) {
      writeBytes(os, weights.data(), weights.size());
    }));
    if (options.api == BundleApi::Static)
      GLOWISH_CHECK(files.add(".weights.txt", [&](llvm::raw_ostream &os) {
        printWeightsText(os, weights);
      }));
  }
  return files.commit();
}
