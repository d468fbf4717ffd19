//===- ExtentRules.h - Extents of results -----------------------*- C++ -*-===//
//
// The types of a node's results are inferred in two steps. Its type rule sees
// the shapes, which are the bounds of the extents; where a run decides an
// extent of an operand, its extent rule then tells the extents of the results.
// Static types never come to the second step.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_OPS_EXTENTRULES_H
#define GLOWISH_OPS_EXTENTRULES_H

#include "glowish/Ops/TypeRules.h"

namespace glowish {

/// The operands of a node and the bounds of its results, for its extent rule,
/// which sets the extents.
class ExtentInference {
public:
  /// \p results: as the type rule has inferred them.
  ExtentInference(const OpView &op, llvm::ArrayRef<Type> results,
                  const SymbolRanges &symbols);

  const OpView &getOp() const { return op; }
  DimsRef getShape(unsigned result = 0) const {
    return results[result].getShape();
  }
  /// Whether a run decides an extent of operand \p index, which may be absent.
  bool hasExtents(unsigned index) const {
    return op.hasInput(index) && op.getInput(index).hasExtents();
  }
  /// Returns the extent of a dimension of operand \p index; null where it is
  /// always the same.
  const Extent *find(unsigned index, unsigned dim) const {
    return op.getInput(index).getExtent(dim);
  }
  /// Returns the same, a constant where it is always the same.
  Extent get(unsigned index, unsigned dim) const {
    return op.getInput(index).getLength(dim);
  }
  const SymbolRanges &getSymbols() const { return symbols; }

  /// Sets the extent of dimension \p dim of result 0; none for what does not
  /// fit an Extent, which is an error at the end.
  void set(unsigned dim, std::optional<Extent> extent);
  /// Sets the extent of dimension \p dim of result 0 to that of dimension
  /// \p own of operand \p index. Where it is set already, both must be the
  /// same; a static one is as long as the other, of which it has the first
  /// elements.
  void setSame(unsigned dim, unsigned index, unsigned own);
  /// Requires that these two are the same.
  void require(const Extent &a, const Extent &b);

  /// Returns an error if a run decides the extent of dimension \p dim of
  /// operand
  /// \p index. \p why: "the filter needs all channels".
  llvm::Error refuse(unsigned index, unsigned dim,
                     const llvm::Twine &why) const;
  /// Returns an error unless each extent that was set is from 0 to the bound
  /// for all values of the symbols.
  llvm::Error checkAll() const;

  /// Returns the types of the results with the extents.
  TypeList takeTypes() const;
  std::vector<ExtentRequirement> takeRequirements() {
    return std::move(requirements);
  }

private:
  const OpView &op;
  llvm::ArrayRef<Type> results;
  const SymbolRanges &symbols;
  ExtentList extents;
  /// The first dimension whose extent did not fit.
  std::optional<unsigned> tooLong;
  std::vector<ExtentRequirement> requirements;
};

/// \name Extent rules
/// The functions of OpInfo::inferExtents, defined in lib/Ops/ExtentRules.cpp.
/// @{
#define EXTENT_RULE(FUNCTION) llvm::Error FUNCTION(ExtentInference &inference);
#define GET_EXTENT_RULE_LIST
#include "glowish/Ops/TypeRules.inc"
/// @}

/// \name Fillers
/// The functions of OpInfo::findFiller, defined in lib/Ops/Fillers.cpp.
/// @{
#define FILLER(FUNCTION)                                                       \
  std::optional<Filler> FUNCTION(const OpView &op, unsigned operand,           \
                                 unsigned dim);
#define GET_FILLER_LIST
#include "glowish/Ops/TypeRules.inc"
/// @}

/// Infers the types of the results of \p op, a node, without extents.
llvm::Expected<TypeList> inferBounds(const OpView &op);
/// Infers the types of the results of \p op, a node, with their extents.
/// \p symbols: those of its module. Adds to \p requirements.
llvm::Expected<TypeList>
inferTypes(const OpView &op, const SymbolRanges &symbols,
           std::vector<ExtentRequirement> &requirements);

} // namespace glowish

#endif // GLOWISH_OPS_EXTENTRULES_H
