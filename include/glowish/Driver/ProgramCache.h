//===- ProgramCache.h - Compiled programs on disk ---------------*- C++ -*-===//

#ifndef GLOWISH_DRIVER_PROGRAMCACHE_H
#define GLOWISH_DRIVER_PROGRAMCACHE_H

#include "glowish/Support/Error.h"
#include "glowish/Support/KeyHasher.h"
#include <atomic>
#include <functional>
#include <memory>

namespace glowish {

struct ProgramImages;

/// A folder with compiled programs, one file for those of a model, under the
/// key of all that they were made from: the bytes of the model, options, input
/// types, target, and the builds of the libraries that made them
/// (lib/Driver/ProgramKey.h). Several threads and processes may use one folder.
/// A file is read only if it is whole; what is not is replaced. The folder has
/// code that is run: a user that can write to it can run code as any other.
class ProgramCache {
public:
  struct Options {
    std::string folder;
    /// When files have more than this together, those used least recently are
    /// removed. One that is larger by itself is not kept.
    uint64_t maxBytes = uint64_t(4) << 30;
    /// Called with a one-line message where programs could not be kept, or
    /// others not be removed, which is no error. May be null.
    std::function<void(llvm::StringRef)> warn = {};
  };
  /// What became of the requests so far.
  struct Counts {
    /// Programs that were read, and that were not there.
    size_t hits = 0, misses = 0;
    /// Files that were corrupt: misses, too.
    size_t corrupt = 0;
  };

  /// Makes the folder if it is not there.
  static llvm::Expected<std::unique_ptr<ProgramCache>> open(Options options);

  /// The programs with the key \p key; null where there are none.
  std::unique_ptr<ProgramImages> find(const KeyHasher::Digest &key);
  /// Keeps \p images under \p key.
  void keep(const KeyHasher::Digest &key, const ProgramImages &images);

  Counts getCounts() const { return {hits, misses, corrupt}; }

private:
  explicit ProgramCache(Options options) : options(std::move(options)) {}
  std::string getPath(const KeyHasher::Digest &key) const;
  void warn(llvm::Error error) const;
  llvm::Error prune(llvm::StringRef kept) const;

  Options options;
  std::atomic<size_t> hits = 0, misses = 0, corrupt = 0;
};

} // namespace glowish

#endif // GLOWISH_DRIVER_PROGRAMCACHE_H
