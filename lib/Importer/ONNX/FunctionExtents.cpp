//===- FunctionExtents.cpp - Extents of a function's values ---------------===//

#include "ONNX/FunctionExtents.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- From types to scalars ----------------------------------------------===//

void FunctionExtents::define(llvm::StringRef symbol, NodeValue value) {
  record(Extent::symbol(symbol), value);
}

/// \p value is that of \p extent, and bounded as this is.
void FunctionExtents::record(const Extent &extent, NodeValue value) {
  values[extent] = value;
  extents[value] = extent;
  const SymbolRanges &symbols = function.getModule().getSymbols();
  if (std::optional<IntRange> range = symbols.getRange(extent))
    state.bounds[value] = range->high;
}

NodeValue FunctionExtents::getValue(const Extent &extent) {
  auto known = values.find(extent);
  if (known != values.end())
    return known->second;
  NodeBuilder b(function, extent.describe());
  NodeValue value = b.compute(extent, [&](llvm::StringRef symbol) {
    return values.at(Extent::symbol(symbol));
  });
  // Sums and products of int64 scalars.
  value = llvm::cantFail(b.finish(value));
  record(extent, value);
  return value;
}

Lengths FunctionExtents::getValues(const Type &type) {
  Lengths result;
  for (const std::optional<Extent> &extent : type.getExtents())
    result.push_back(extent ? getValue(*extent) : NodeValue());
  return result;
}

//===- From scalars to types ----------------------------------------------===//

/// A symbol that neither the module nor the options have.
Extent FunctionExtents::makeSymbol(llvm::StringRef name) {
  const auto &stated = state.options.symbolRanges;
  const SymbolRanges &symbols = function.getModule().getSymbols();
  std::string symbol = name.str();
  for (unsigned i = 1; symbol.empty() || stated.count(symbol) ||
                       symbols.find(symbol).has_value();
       ++i)
    symbol = name.str() + "." + std::to_string(i);
  return Extent::symbol(symbol);
}

ExtentFinder FunctionExtents::makeFinder() const {
  return {extents, function.getModule().getSymbols(), &state.bounds};
}

Extent FunctionExtents::getExtent(NodeValue value, int64_t bound,
                                  llvm::StringRef name) {
  Module &module = function.getModule();
  std::optional<Extent> extent = makeFinder().find({value, 0});
  if (extent && extent->getConstant() == bound)
    return *extent;
  if (extent && !extent->isConstant()) {
    std::optional<IntRange> range = module.getSymbols().getRange(*extent);
    // The range of a symbol that a node declares never exceeds the node's
    // bound.
    bool isDeclared =
        !extent->getSymbol().empty() &&
        !state.options.symbolRanges.count(extent->getSymbol().str());
    bool isWithin = range && range->low >= 0 && range->high <= bound;
    if (isDeclared || isWithin) {
      values.try_emplace(*extent, value);
      return *extent;
    }
  }
  Extent symbol = makeSymbol(name);
  module.declareSymbol(symbol.getSymbol(), {0, bound});
  values[symbol] = value;
  if (!llvm::isa<Constant>(value.node))
    extents[value] = symbol;
  return symbol;
}

NodeValue FunctionExtents::declare(NodeValue value,
                                   llvm::ArrayRef<NodeValue> lengths) {
  ExtentList list(value.getShape().size());
  for (auto [d, length] : llvm::enumerate(lengths))
    if (length)
      list[d] = getExtent(length, value.getShape()[d],
                          (value.node->getName() + "." + llvm::Twine(d)).str());
  return restate(value, value.getType().withExtents(list));
}

/// Creates a node that states the extents of \p type, and declares each of
/// their symbols that no input states.
template <typename T>
NodeValue FunctionExtents::stateExtents(NodeValue value, const Type &type) {
  std::vector<NodeValue> counts;
  std::vector<int64_t> dims;
  for (unsigned d = 0; d < type.getRank(); ++d) {
    const Extent *extent = type.getExtent(d);
    if (!extent || extent->getSymbol().empty() ||
        state.options.symbolRanges.count(extent->getSymbol().str()))
      continue;
    counts.push_back(values.at(*extent));
    dims.push_back(d);
  }
  return function.create<T>(value.node->getName(), value, type, counts, dims)
      ->getResult();
}

NodeValue FunctionExtents::restate(NodeValue value, const Type &type) {
  if (type == value.getType())
    return value;
  NodeValue bounds = drop(value);
  if (type == bounds.getType())
    return bounds;
  NodeValue typed = stateExtents<DeclareExtentsNode>(bounds, type);
  dropped[typed] = bounds;
  return typed;
}

NodeValue FunctionExtents::repack(NodeValue value, const Type &type) {
  return type == value.getType() ? value
                                 : stateExtents<RepackNode>(value, type);
}

NodeValue FunctionExtents::drop(NodeValue value) {
  if (!value || !value.getType().hasExtents())
    return value;
  NodeValue &bounds = dropped[value];
  if (!bounds)
    bounds = function
                 .create<DeclareExtentsNode>(value.node->getName(), value,
                                             value.getType().withoutExtents())
                 ->getResult();
  return bounds;
}

void FunctionExtents::forget(Node &node) {
  for (unsigned i = 0; i < node.getNumResults(); ++i) {
    state.bounds.erase(node.getResult(i));
    extents.erase(node.getResult(i));
  }
  std::erase_if(values,
                [&](const auto &entry) { return entry.second.node == &node; });
  llvm::SmallVector<NodeValue, 4> gone;
  for (const auto &[value, bounds] : dropped)
    if (value.node == &node || bounds.node == &node)
      gone.push_back(value);
  for (NodeValue value : gone)
    dropped.erase(value);
}
