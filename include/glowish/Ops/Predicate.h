//===- Predicate.h - Which rows of results are needed -----------*- C++ -*-===//
//
// A node or an instruction may have a predicate: an operand that states, for
// each row of its results, whether anything needs the row. A row that is not
// needed may have any values, so that a program is right with all predicates
// ignored, and a back end may leave such rows uncomputed. Passes may drop
// predicates, but must not add any (Glow's IR has them for batches of sequences
// of different lengths).
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_PREDICATE_H
#define GLOWISH_OPS_PREDICATE_H

#include "glowish/Ops/OpInfo.h"

namespace glowish {

/// Returns how the parser and messages refer to a predicate: as an operand that
/// is read.
const OperandInfo &getPredicateInfo();

/// Returns whether operators of \p info may have a predicate: those that do
/// nothing but compute results.
bool takesPredicate(const OpInfo &info);

/// Returns how many leading extents of \p shape, multiplied, are \p count, the
/// fewest; none if no number of them is.
std::optional<unsigned> countRowDims(DimsRef shape, int64_t count);

/// Returns whether \p predicate can be that of a result of \p shape: bool<> for
/// all of it, or bool<N> where N is the product of leading extents, one for
/// each row of the rest. So bool<8> and bool<40> both fit float<8x5x16>.
bool isPredicateOf(const Type &predicate, DimsRef shape);

/// Returns an error that describes why an operator of \p info with \p results
/// can't have \p predicate.
llvm::Error checkPredicate(const OpInfo &info, const Type &predicate,
                           const TypeList &results);

} // namespace glowish

#endif // GLOWISH_OPS_PREDICATE_H
