//===- StatedExtents.cpp - Extents that each run states -------------------===//

#include "ONNX/StatedExtents.h"
#include "ONNX/OpContext.h"

using namespace glowish;
using namespace glowish::onnximport;

/// The input that states the extent of \p symbol.
NodeValue StatedExtents::getSymbol(const std::string &symbol) {
  NodeValue &value = symbols[symbol];
  if (value)
    return value;
  GraphContext &graph = scope.getContext();
  // A model may have a value of the same name.
  std::string name = scope.makePlaceholderName(symbol, ".extent");
  Placeholder *placeholder = graph.function.getModule().createPlaceholder(
      name, Type(ElemKind::Int64, {}), /*isInput=*/true, /*isOutput=*/false);
  graph.function.getModule().stateSymbol(
      *placeholder, {symbol, scope.getState().options.symbolRanges.at(symbol)});
  value = placeholder;
  return value;
}

llvm::Expected<NodeValue> StatedExtents::getValue(const Extent &extent) {
  NodeValue &value = values[extent];
  if (value)
    return value;
  // A pseudo node that owns the nodes.
  onnx::NodeProto proto;
  proto.add_output(extent.describe());
  OpContext op(proto, scope.getContext(), {});
  GLOWISH_ASSIGN_OR_RETURN(value, op.finish(op.compute(
                                      extent,
                                      [&](llvm::StringRef symbol) {
                                        return getSymbol(symbol.str());
                                      })));
  SymbolRanges ranges(scope.getState().options.symbolRanges);
  scope.getState().bounds[{value.node, value.result}] =
      ranges.getRange(extent)->high;
  return value;
}

llvm::Expected<Extents>
StatedExtents::get(llvm::ArrayRef<std::optional<Extent>> extents) {
  SymbolRanges ranges(scope.getState().options.symbolRanges);
  Extents result;
  for (const std::optional<Extent> &extent : extents) {
    result.push_back({});
    if (!extent)
      continue;
    for (const std::string &symbol : extent->getSymbols())
      getSymbol(symbol);
    std::optional<IntRange> range = ranges.getRange(*extent);
    if (!range || range->low != range->high) {
      GLOWISH_ASSIGN_OR_RETURN(result.back(), getValue(*extent));
    }
  }
  return result;
}
