//===- ProgramTerms.h - What programs of the IR compute ---------*- C++ -*-===//
//
// The elements that a program leaves, as terms over what it finds: which
// operations are applied to which elements, in which order. Nothing is known of
// the operations but that those of two arguments commute where their records
// say so. Two programs with the same terms compute the same bits of all inputs,
// whatever the operations are: infinities, NaN and roundings included.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_PROOFS_PROGRAMTERMS_H
#define GLOWISH_TESTS_PROOFS_PROGRAMTERMS_H

#include "glowish/IR/IR.h"
#include <map>

namespace glowish::proofs {

/// A number of a TermTable.
using Term = unsigned;

/// Terms, each of which is there once: equal terms have equal numbers.
class TermTable {
public:
  Term get(const std::string &operation, std::vector<Term> arguments = {});
  /// A term that is like no other, as what is in memory that nothing wrote.
  Term makeUndefined();
  /// \p term in full down to a depth of three.
  std::string print(Term term, unsigned depth = 3) const;

private:
  struct Definition {
    std::string operation;
    std::vector<Term> arguments;
    auto operator<=>(const Definition &) const = default;
  };
  std::map<Definition, Term> numbers;
  std::vector<const Definition *> definitions;
  unsigned numUndefined = 0;
};

/// The elements of mutable buffers, by the names of the buffers.
using ProgramState = std::map<std::string, std::vector<Term>>;

/// What \p function leaves in its mutable buffers, in inputs only where
/// \p keepsInputs.
ProgramState evaluate(TermTable &terms, const IRFunction &function,
                      bool keepsInputs = true);

/// The first element that differs; empty where there is none.
std::string compare(const TermTable &terms, const ProgramState &before,
                    const ProgramState &after);

} // namespace glowish::proofs

#endif // GLOWISH_TESTS_PROOFS_PROGRAMTERMS_H
