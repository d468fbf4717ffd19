//===- StatedExtents.cpp - Extents that each run states -------------------===//

#include "ONNX/StatedExtents.h"
#include "ONNX/OpContext.h"
#include "glowish/Base/DimExpression.h"

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
  placeholder->setInputExtents(
      {.range = SymbolRange{symbol,
                            scope.getState().options.symbolRanges.at(symbol)}});
  value = placeholder;
  return value;
}

/// Adds the nodes of \p expression. Its divisions have no negative operands
/// (boundDim).
static llvm::Expected<NodeValue>
compose(GraphContext &graph, llvm::StringRef name,
        const DimExpression &expression,
        const std::map<std::string, IntRange> &ranges,
        llvm::function_ref<NodeValue(const std::string &)> getSymbol) {
  // A pseudo node that owns the nodes.
  onnx::NodeProto proto;
  proto.add_output(name.str());
  OpContext op(proto, graph, {});
  std::vector<NodeValue> stack;
  for (const DimExpression::Step &step : expression.getSteps()) {
    using Op = DimExpression::Op;
    if (step.op == Op::Number) {
      stack.push_back(op.scalar(ElemKind::Int64, double(*step.number)));
      continue;
    }
    if (step.op == Op::Symbol) {
      NodeValue symbol = getSymbol(step.symbol);
      IntRange range = ranges.at(step.symbol);
      stack.push_back(range.low == range.high
                          ? op.scalar(ElemKind::Int64, double(range.low))
                          : symbol);
      continue;
    }
    NodeValue right = stack.back();
    stack.pop_back();
    if (step.op == Op::Negate) {
      stack.push_back(op.sub(0, right));
      continue;
    }
    NodeValue &left = stack.back();
    left = step.op == Op::Add        ? op.add(left, right)
           : step.op == Op::Subtract ? op.sub(left, right)
           : step.op == Op::Multiply ? op.mul(left, right)
                                     : op.div(left, right);
  }
  return op.finish(stack.back());
}

llvm::Expected<NodeValue> StatedExtents::getExtent(const std::string &dim) {
  auto known = extents.find(dim);
  if (known != extents.end())
    return known->second;
  const auto &ranges = scope.getState().options.symbolRanges;
  NodeValue extent;
  if (ranges.count(dim)) {
    extent = getSymbol(dim);
  } else {
    std::optional<DimExpression> expression = DimExpression::parse(dim);
    GLOWISH_ASSIGN_OR_RETURN(
        extent,
        compose(
            scope.getContext(), dim, *expression, ranges,
            [&](const std::string &symbol) { return getSymbol(symbol); }));
  }
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IntRange> bounds,
                           boundDim(dim, ranges));
  if (bounds->low == bounds->high)
    extent = {};
  else
    scope.getState().bounds[{extent.node, extent.result}] = bounds->high;
  extents[dim] = extent;
  return extent;
}

llvm::Expected<Extents> StatedExtents::get(llvm::ArrayRef<std::string> dims) {
  Extents result;
  for (const std::string &dim : dims) {
    result.push_back({});
    if (!dim.empty()) {
      GLOWISH_ASSIGN_OR_RETURN(result.back(), getExtent(dim));
    }
  }
  return result;
}
