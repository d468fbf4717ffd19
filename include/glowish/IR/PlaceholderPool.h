//===- PlaceholderPool.h - Placeholders shared by functions -----*- C++ -*-===//

#ifndef GLOWISH_IR_PLACEHOLDERPOOL_H
#define GLOWISH_IR_PLACEHOLDERPOOL_H

#include "glowish/IR/MemoryPlan.h"
#include "llvm/ADT/StringMap.h"

namespace glowish {

/// The placeholders that a function has in common with others that run with the
/// same mutable region.
struct PlaceholderSharing {
  /// Functions with the same number find all placeholders of one name in one
  /// place.
  unsigned placeholders = 0;
  /// Functions with the same number find there each placeholder that is input
  /// and output at once in one of them, and keep it.
  unsigned states = 0;
};

/// The mutable region of several functions: each placeholder has bytes of its
/// own, and those that functions share are there once.
class PlaceholderPool {
public:
  struct Member {
    const IRFunction *function;
    /// In errors: "the function 'encode'".
    std::string title;
    PlaceholderSharing sharing = {};
  };
  /// Arranges the placeholders of \p members, in their order. The error names a
  /// placeholder that has several types in functions that share it.
  static llvm::Expected<PlaceholderPool> create(std::vector<Member> members);

  /// Moves the placeholders of \p function, a member, to their places in this
  /// region. None may be in the arena.
  void place(const IRFunction &function, MemoryPlan &plan) const;

  /// The bytes of the region.
  uint64_t getSize() const { return size; }

private:
  struct Slot {
    Type type;
    /// The number of the member that has the placeholder first.
    size_t owner;
    uint64_t offset;
  };
  explicit PlaceholderPool(std::vector<Member> newMembers)
      : members(std::move(newMembers)), slots(members.size()) {}
  llvm::Error add(size_t member, const Buffer &buffer);
  /// Returns the place that an earlier member has for the placeholder \p name
  /// of \p member; null if there is none.
  const Slot *findShared(size_t member, llvm::StringRef name) const;

  std::vector<Member> members;
  /// For each member, by the names of placeholders in the model.
  std::vector<llvm::StringMap<Slot>> slots;
  uint64_t size = 0;
};

} // namespace glowish

#endif // GLOWISH_IR_PLACEHOLDERPOOL_H
