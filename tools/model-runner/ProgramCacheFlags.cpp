//===- ProgramCacheFlags.cpp - The options of the cache -------------------===//

#include "ProgramCacheFlags.h"
#include "common/ImportFlags.h"
#include "common/RunResults.h"
#include "common/ValueOption.h"
#include "llvm/Support/raw_ostream.h"

using namespace glowish;
namespace cl = llvm::cl;

static cl::opt<std::string>
    folder("cache",
           cl::desc("Keep compiled programs in this folder, and take them from "
                    "there when model, options and target are the same again"),
           cl::value_desc("folder"), cl::cat(runCategory));
static ValueOption<uint64_t>
    maxBytes("max-cache-bytes",
             cl::desc("The most bytes of the programs in that folder (default "
                      "4 GiB): those used least recently are removed"),
             cl::value_desc("bytes"), cl::cat(runCategory));

llvm::Expected<std::unique_ptr<ProgramCache>>
glowish::openProgramCache(Backend &backend, llvm::StringRef other) {
  if (!folder.getNumOccurrences()) {
    if (maxBytes.getNumOccurrences())
      return makeError("-max-cache-bytes has no effect without -cache, whose "
                       "folder it limits; accepted: with -cache=FOLDER");
    return nullptr;
  }
  if (!other.empty())
    return makeError("-cache has no effect with -{0}, for which the model is "
                     "compiled in any case; accepted: one of both",
                     other);
  if (!backend.createCodeSerializer())
    return makeError("-cache: the back end {0} has no programs to keep; "
                     "accepted: -backend=CPU",
                     backend.getName());
  ProgramCache::Options options;
  options.folder = folder;
  if (maxBytes.getNumOccurrences())
    options.maxBytes = maxBytes;
  options.warn = [](llvm::StringRef line) {
    printWarning(("-cache: " + line).str());
  };
  auto cache = ProgramCache::open(std::move(options));
  if (!cache)
    return addContext(cache.takeError(), "-cache: ");
  return cache;
}
