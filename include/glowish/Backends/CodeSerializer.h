//===- CodeSerializer.h - Compiled programs as bytes ------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CODESERIALIZER_H
#define GLOWISH_BACKENDS_CODESERIALIZER_H

#include "glowish/Support/KeyHasher.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace glowish {

class Executable;
class IRFunction;
struct MemoryPlan;

/// Compiles programs of a back end to bytes that another process loads and
/// runs (ProgramCache).
class CodeSerializer {
public:
  virtual ~CodeSerializer() = default;

  /// Adds to \p key all that code depends on beside the model and the options
  /// of its compilation: target and options of the back end. Refuses one where
  /// compiling does more than that, as where it prints something.
  virtual void addToKey(KeyHasher &key) const = 0;
  /// The code of \p function, which the back end has prepared and \p plan lays
  /// out. It has neither addresses nor paths of this process or machine.
  virtual llvm::Expected<llvm::SmallVector<char, 0>>
  serialize(const IRFunction &function, const MemoryPlan &plan) = 0;
  /// Loads what serialize() returned in a process with the same key.
  virtual llvm::Expected<std::unique_ptr<Executable>>
  load(llvm::ArrayRef<char> code) = 0;
};

} // namespace glowish

#endif // GLOWISH_BACKENDS_CODESERIALIZER_H
