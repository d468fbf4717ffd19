//===- Bundle.cpp - The files of a bundle ---------------------------------===//

#include "glowish/Backends/CPU/Bundle.h"
#include "Config.h"
#include "Header.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/File.h"
#include "llvm/Support/Path.h"
#include <array>
#include <cstring>

using namespace glowish;

static constexpr llvm::StringLiteral threadsSource =
#include "glowish/glowish_threads.c.inc"
    ;
static constexpr llvm::StringLiteral threadsHeader =
#include "glowish/glowish_threads.h.inc"
    ;

namespace {

/// Bytes as the inside of a C array initialiser, 20 a line.
class WeightsText {
public:
  explicit WeightsText(llvm::raw_ostream &os) : os(os) {
    for (unsigned i = 0; i < numbers.size(); ++i) {
      std::string text = std::to_string(i) + ',';
      numbers[i].length = text.size();
      llvm::copy(text, numbers[i].text.begin());
    }
  }
  ~WeightsText() {
    if (inLine)
      endLine();
  }

  void add(llvm::ArrayRef<uint8_t> bytes) {
    for (uint8_t byte : bytes) {
      std::memcpy(end, numbers[byte].text.data(), 4);
      end += numbers[byte].length;
      if (++inLine == perLine)
        endLine();
    }
  }

private:
  void endLine() {
    *end++ = '\n';
    os.write(line.data(), size_t(end - line.data()));
    end = line.data();
    inLine = 0;
  }

  static constexpr size_t perLine = 20;
  struct Number {
    std::array<char, 4> text;
    size_t length;
  };
  llvm::raw_ostream &os;
  std::array<Number, 256> numbers;
  std::array<char, 4 * perLine + 4> line;
  char *end = line.data();
  size_t inLine = 0;
};

} // namespace

/// Gives \p take the bytes of the constant region in order, a constant at a
/// time: all of them at once would be in memory a second time.
static void
visitWeights(const IRFunction &function, const MemoryPlan &plan,
             llvm::function_ref<void(llvm::ArrayRef<uint8_t>)> take) {
  static constexpr std::array<uint8_t, 64> zeros = {};
  uint64_t end = 0;
  auto fillTo = [&](uint64_t begin) {
    for (; end < begin; end += std::min<uint64_t>(begin - end, zeros.size()))
      take(llvm::ArrayRef(zeros).take_front(begin - end));
  };
  for (const auto &buffer : function.getBuffers()) {
    if (buffer->getKind() != Buffer::Kind::Constant)
      continue;
    fillTo(plan.getOffset(buffer.get()));
    llvm::ArrayRef<uint8_t> bytes = buffer->getTensor().getByteRange();
    take(bytes);
    end += bytes.size();
  }
  fillTo(plan.constantSize);
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
  Checksum64 checksum;
  visitWeights(function, plan,
               [&](llvm::ArrayRef<uint8_t> bytes) { checksum.add(bytes); });
  BundleFacts facts{options, plan, getBundleSymbols(function, plan),
                    checksum.finish(), backend.hasLevels()};

  llvm::LLVMContext context;
  GLOWISH_TRY(std::unique_ptr<llvm::Module> module,
              backend.emitModule(context, function, plan, options.entryName));
  if (options.api == BundleApi::Dynamic)
    emitConfig(*module, facts);
  if (options.weights == BundleWeights::Embed)
    emitWeights(*module, facts,
                makeConstantRegion(function, plan).getByteRange());
  GLOWISH_TRY(auto object, backend.emitObject(*module));

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
      visitWeights(function, plan, [&](llvm::ArrayRef<uint8_t> bytes) {
        writeBytes(os, bytes.data(), bytes.size());
      });
    }));
    if (options.api == BundleApi::Static)
      GLOWISH_CHECK(files.add(".weights.txt", [&](llvm::raw_ostream &os) {
        WeightsText text(os);
        visitWeights(function, plan,
                     [&](llvm::ArrayRef<uint8_t> bytes) { text.add(bytes); });
      }));
  }
  return files.commit();
}
