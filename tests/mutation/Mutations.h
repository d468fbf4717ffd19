//===- Mutations.h - Small changes of compiled code -------------*- C++ -*-===//
//
// What a mutation tester changes in the code of a function: one instruction at
// a time, and so that each change is one that a programmer could have made.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_MUTATION_MUTATIONS_H
#define GLOWISH_MUTATION_MUTATIONS_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include <functional>
#include <string>
#include <vector>

namespace mutation {

/// A change of one instruction, before it is made.
struct Mutation {
  /// How the changed code differs.
  enum Form {
    /// The result of the instruction is another one.
    Result,
    /// An operand of it is another one.
    Operand,
    /// The instruction, a call, is not executed.
    Removal,
  };
  /// Makes the other value of \p original. Either is computed in all runs, so
  /// it may not trap.
  using Maker =
      std::function<llvm::Value *(llvm::IRBuilder<> &, llvm::Value *original)>;

  llvm::Instruction *instr;
  Form form;
  /// The name of the mutation operator, as the tables have it.
  const char *kind;
  /// What exactly is changed, e.g. `slt -> sle`.
  std::string detail;
  unsigned operand = 0;
  Maker make = nullptr;
};

/// The changes of \p instr alone. Which code the compiler made by itself, such
/// as the calls of destructors, is told by the names of its values: the module
/// needs clang's -fno-discard-value-names.
std::vector<Mutation> listMutations(llvm::Instruction &instr);

/// Whether nothing in \p function is changed: destructors, initializers of
/// global variables, code that dumps for debugging, and functions that cannot
/// be cloned.
bool isLeftAlone(const llvm::Function &function);

} // namespace mutation

#endif // GLOWISH_MUTATION_MUTATIONS_H
