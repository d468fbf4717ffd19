//===- ExtentInference.cpp - Extents of results ---------------------------===//

#include "glowish/Ops/ExtentRules.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using llvm::Error;

ExtentInference::ExtentInference(const OpView &op, llvm::ArrayRef<Type> results,
                                 const SymbolRanges &symbols)
    : op(op), results(results), symbols(symbols),
      extents(results.empty() ? 0 : results.front().getRank()) {}

void ExtentInference::set(unsigned dim, std::optional<Extent> extent) {
  if (!extent && !tooLong)
    tooLong = dim;
  extents[dim] = std::move(extent);
}

void ExtentInference::setSame(unsigned dim, unsigned index, unsigned own) {
  const Extent *extent = find(index, own);
  if (!extent)
    return;
  if (extents[dim])
    require(*extents[dim], *extent);
  else
    extents[dim] = *extent;
}

void ExtentInference::require(const Extent &a, const Extent &b) {
  if (a != b && symbols.areEqual(a, b) != Certainty::Yes)
    requirements.push_back({a, b});
}

Error ExtentInference::refuse(unsigned index, unsigned dim,
                              const llvm::Twine &why) const {
  if (!op.hasInput(index) || !find(index, dim))
    return Error::success();
  return op.operandError(index, "a run decides the extent of dimension " +
                                    llvm::Twine(dim) + ", and " + why);
}

Error ExtentInference::checkAll() const {
  if (tooLong)
    return makeError(
        "the extent of dimension {0} of the result has too many "
        "terms; accepted: at most {1}, each of at most {2} factors",
        *tooLong, Extent::maxTerms, Extent::maxDegree);
  for (auto [d, extent] : llvm::enumerate(extents))
    if (extent && (symbols.isAtMost(0, *extent) != Certainty::Yes ||
                   symbols.isAtMost(*extent, getShape()[d]) != Certainty::Yes))
      return makeError("the extent of dimension {0} of the result is {1}; "
                       "accepted: 0 to {2} for all values of its symbols",
                       d, extent->str(), getShape()[d]);
  return Error::success();
}

TypeList ExtentInference::takeTypes() const {
  TypeList types(results);
  if (!types.empty())
    types.front() = types.front().withExtents(extents);
  return types;
}

//===- Nodes --------------------------------------------------------------===//

llvm::Expected<TypeList> glowish::inferBounds(const OpView &op) {
  std::vector<Type> bounds;
  bounds.reserve(op.getNumInputs());
  llvm::SmallVector<const Type *, 4> inputs;
  for (const Type *type : op.getInputs())
    inputs.push_back(type ? &bounds.emplace_back(type->withoutExtents())
                          : nullptr);
  const OpInfo &info = op.getInfo();
  return info.inferTypes(OpView(info, inputs, {}, op.getAttrs()));
}

llvm::Expected<TypeList>
glowish::inferTypes(const OpView &op, const SymbolRanges &symbols,
                    std::vector<ExtentRequirement> &requirements) {
  const OpInfo &info = op.getInfo();
  auto hasExtents = [](const Type *type) { return type && type->hasExtents(); };
  auto own = llvm::find_if(op.getInputs(), hasExtents);
  if (own == op.getInputs().end() && !info.has(OpTrait::StatesExtents))
    return info.inferTypes(op);
  if (!info.inferExtents)
    return op.operandError(own - op.getInputs().begin(),
                           "a run decides an extent, which " + info.name +
                               " does not take");
  GLOWISH_ASSIGN_OR_RETURN(TypeList types, inferBounds(op));
  ExtentInference inference(op, types, symbols);
  GLOWISH_RETURN_IF_ERROR(info.inferExtents(inference));
  GLOWISH_RETURN_IF_ERROR(inference.checkAll());
  llvm::append_range(requirements, inference.takeRequirements());
  return inference.takeTypes();
}
