//===- ShadowMemory.h - Owner of each byte of memory ------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IR_PLANPROOF_SHADOWMEMORY_H
#define GLOWISH_LIB_IR_PLANPROOF_SHADOWMEMORY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <map>

namespace glowish {

class Buffer;

/// For every byte of a memory the buffer that wrote it last; null where none
/// has. Costs memory by the number of ranges that differ, not of bytes.
class ShadowMemory {
public:
  /// The bytes from \p begin to \p end (excluded) are \p owner's from now on.
  void write(uint64_t begin, uint64_t end, const Buffer *owner);

  /// Whether \p owner wrote all bytes from \p begin to \p end last. If not,
  /// \p other is the owner of the first that it did not.
  bool isOwned(uint64_t begin, uint64_t end, const Buffer *owner,
               const Buffer *&other) const;

  /// Joins the states after two branches: bytes whose owners differ have none.
  void meet(const ShadowMemory &other);

private:
  struct Range {
    uint64_t end;
    const Buffer *owner;
  };
  using Ranges = std::map<uint64_t, Range>;

  /// Makes a range begin at \p at, if one is there.
  void splitAt(uint64_t at);

  Ranges ranges; // by their begins; disjoint, owners not null
};

} // namespace glowish

#endif // GLOWISH_LIB_IR_PLANPROOF_SHADOWMEMORY_H
