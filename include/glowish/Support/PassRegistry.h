//===- PassRegistry.h - Passes that libraries add ---------------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_PASSREGISTRY_H
#define GLOWISH_SUPPORT_PASSREGISTRY_H

#include "glowish/Support/Pass.h"
#include <deque>
#include <mutex>

namespace glowish {

/// The passes over a kind of unit, sorted by name. Libraries add theirs while
/// other threads have a list: each list stays, and a longer one follows it.
template <typename Unit, typename Context> class PassRegistry {
public:
  using Pass = PassInfo<Unit, Context>;

  /// \p own: sorted by name.
  explicit PassRegistry(std::vector<Pass> own) : lists({std::move(own)}) {}

  llvm::ArrayRef<Pass> getPasses() {
    std::lock_guard lock(mutex);
    return lists.back();
  }

  /// Adds \p pass, unless there is one of its name.
  void add(const Pass &pass) {
    std::lock_guard lock(mutex);
    std::vector<Pass> passes = lists.back();
    if (findPass(llvm::ArrayRef(passes), pass.name))
      return;
    auto isBefore = [](const Pass &left, const Pass &right) {
      return left.name < right.name;
    };
    passes.insert(llvm::lower_bound(passes, pass, isBefore), pass);
    lists.push_back(std::move(passes));
  }

private:
  std::mutex mutex;
  std::deque<std::vector<Pass>> lists;
};

} // namespace glowish

#endif // GLOWISH_SUPPORT_PASSREGISTRY_H
