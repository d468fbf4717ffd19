//===- ResultExtents.cpp - Checked extents of results ---------------------===//

#include "TorchScript/ResultExtents.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

/// Values of symbols.
using Point = std::map<std::string, int64_t>;

/// Calls \p visit with each extent in \p value that a run decides.
static void forEachExtent(const AtenValue &value,
                          llvm::function_ref<void(const Extent &)> visit) {
  if (value.is<Extent>())
    visit(value.get<Extent>());
  if (value.isTensor())
    for (const auto &extent : value.get<NodeValue>().getType().getExtents())
      if (extent)
        visit(*extent);
  if (value.isQuantized())
    forEachExtent(value.get<AtenQuantized>().values, visit);
  if (value.is<AtenValue::List>())
    for (const AtenValue &element : value.get<AtenValue::List>())
      forEachExtent(element, visit);
}

/// Returns some values of the symbols in \p arguments; none if there are none.
static std::vector<Point> choosePoints(const AtenValue::List &arguments,
                                       const SymbolRanges &symbols) {
  std::map<std::string, IntRange> ranges;
  for (const AtenValue &argument : arguments)
    forEachExtent(argument, [&](const Extent &extent) {
      for (const std::string &symbol : extent.getSymbols())
        ranges[symbol] = *symbols.find(symbol);
    });
  std::vector<Point> points;
  if (ranges.empty())
    return points;
  auto add = [&](llvm::function_ref<int64_t(size_t, IntRange)> choose) {
    Point &point = points.emplace_back();
    for (auto [i, entry] : llvm::enumerate(ranges))
      point[entry.first] = choose(i, entry.second);
  };
  auto getMiddle = [](IntRange range) {
    return range.low + (range.high - range.low) / 2;
  };
  int64_t common = 0;
  for (const auto &[symbol, range] : ranges)
    common = std::max(common, range.low);
  add([](size_t, IntRange range) { return range.low; });
  add([&](size_t, IntRange range) { return getMiddle(range); });
  // Some are equal in all runs that an operator accepts.
  add([&](size_t, IntRange range) { return std::min(common, range.high); });
  for (size_t own = 0; own < ranges.size(); ++own)
    add([&](size_t i, IntRange range) {
      return i == own ? range.low + (range.high - range.low) / 3
                      : getMiddle(range);
    });
  return points;
}

static std::optional<int64_t> evaluate(const Extent &extent,
                                       const Point &point) {
  return extent.evaluate([&](llvm::StringRef symbol) -> std::optional<int64_t> {
    auto found = point.find(symbol.str());
    return found == point.end() ? std::nullopt : std::optional(found->second);
  });
}

namespace {

/// An operator that is imported for one value of each symbol.
class StaticCall {
public:
  StaticCall(const Point &point) : point(point), module("check") {}

  llvm::Expected<AtenValue::List> import(const RegisteredAtenOp &op,
                                         const AtenValue::List &arguments,
                                         const AtenContext &context);

private:
  AtenValue convert(const AtenValue &value);
  NodeValue convert(NodeValue value);

  const Point &point;
  Module module;
  unsigned numInputs = 0;
};

} // namespace

NodeValue StaticCall::convert(NodeValue value) {
  // What decides shapes is small.
  constexpr int64_t mostElements = 1 << 12;
  auto *constant = value.getNodeAs<Constant>();
  if (constant && constant->getType().getNumElements() <= mostElements)
    return NodeValue(module.createConstant("constant", constant->getPayload()));
  Dims shape;
  const Type &type = value.getType();
  for (unsigned d = 0; d < type.getRank(); ++d)
    shape.push_back(
        evaluate(type.getLength(d), point).value_or(type.getDim(d)));
  return NodeValue(module.createPlaceholder(
      "input" + std::to_string(numInputs++),
      type.withoutExtents().withShape(shape), /*isInput=*/true,
      /*isOutput=*/false));
}

AtenValue StaticCall::convert(const AtenValue &value) {
  if (value.is<Extent>())
    return AtenValue(evaluate(value.get<Extent>(), point).value_or(0));
  if (value.isTensor())
    return AtenValue(convert(value.get<NodeValue>()));
  if (value.isComplex()) {
    const auto &[real, imaginary] = value.get<AtenComplex>();
    return AtenValue(AtenComplex{convert(real), convert(imaginary)});
  }
  if (value.isQuantized()) {
    const AtenQuantized &own = value.get<AtenQuantized>();
    return AtenValue(AtenQuantized{convert(own.values), convert(own.scale),
                                   convert(own.zeroPoint), own.axis});
  }
  if (!value.is<AtenValue::List>())
    return value;
  AtenValue::List list;
  for (const AtenValue &element : value.get<AtenValue::List>())
    list.push_back(convert(element));
  return AtenValue(std::move(list));
}

llvm::Expected<AtenValue::List>
StaticCall::import(const RegisteredAtenOp &op, const AtenValue::List &arguments,
                   const AtenContext &context) {
  AtenValue::List own;
  for (const AtenValue &argument : arguments)
    own.push_back(convert(argument));
  FoldingBudget budget;
  // What the program itself may create.
  budget.grow(int64_t(1) << 26);
  auto report = [](llvm::StringRef) { return llvm::Error::success(); };
  AtenContext single{.budget = budget,
                     .evaluate = context.evaluate,
                     .report = report,
                     .isTraining = context.isTraining};
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List results,
                           importAtenOperator(op,
                                              *module.createFunction("main"),
                                              "check", std::move(own), single));
  return results;
}

/// Whether \p value has at \p point the shapes that \p single has.
static bool agrees(const AtenValue &value, const AtenValue &single,
                   const Point &point) {
  if (value.is<AtenValue::List>() || single.is<AtenValue::List>()) {
    if (!value.is<AtenValue::List>() || !single.is<AtenValue::List>())
      return false;
    const auto &x = value.get<AtenValue::List>(),
               &y = single.get<AtenValue::List>();
    return x.size() == y.size() &&
           llvm::all_of(llvm::zip(x, y), [&](const auto &pair) {
             return agrees(std::get<0>(pair), std::get<1>(pair), point);
           });
  }
  if (value.isQuantized() && single.isQuantized())
    return agrees(value.get<AtenQuantized>().values,
                  single.get<AtenQuantized>().values, point);
  // A number that is known here is computed there.
  if (!value.isTensor() || !single.isTensor())
    return true;
  const Type &type = value.get<NodeValue>().getType();
  DimsRef shape = single.get<NodeValue>().getShape();
  if (type.getRank() != shape.size())
    return false;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (evaluate(type.getLength(d), point) != shape[d])
      return false;
  return true;
}

static std::string describe(const Point &point) {
  std::string text;
  for (const auto &[symbol, value] : point)
    text +=
        (text.empty() ? "" : ", ") + symbol + " is " + std::to_string(value);
  return text;
}

/// Describes the shapes of \p value.
static std::string describeShapes(const AtenValue &value) {
  if (!value.is<AtenValue::List>())
    return value.describe();
  const auto &list = value.get<AtenValue::List>();
  return value.describe() +
         (list.empty() ? "" : " of " + list.front().describe());
}

llvm::Expected<AtenValue::List> torchscript::importChecked(
    const RegisteredAtenOp &op, Function &function, llvm::StringRef name,
    const AtenValue::List &arguments, AtenContext &context) {
  const Module &module = function.getModule();
  size_t numRequired = module.getRequirements().size();
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      importAtenOperator(op, function, name, arguments, context));
  // Some importers compute with bounds.
  for (const auto &[a, b] : module.getRequirements().drop_front(numRequired))
    if (a.isConstant() != b.isConstant())
      return makeError(
          "an extent, {0}, would have to be {1}; accepted: extents "
          "that may have all of their values",
          a.describe(), b.describe());
  std::string refusal;
  unsigned numChecked = 0;
  std::vector<Point> points = choosePoints(arguments, module.getSymbols());
  for (const Point &point : points) {
    StaticCall call(point);
    llvm::Expected<AtenValue::List> single =
        call.import(op, arguments, context);
    // Not all values need be accepted.
    if (!single) {
      refusal = llvm::toString(single.takeError());
      continue;
    }
    ++numChecked;
    for (auto [i, value, own] : llvm::enumerate(results, *single))
      if (!agrees(value, own, point))
        return makeError(
            "result {0} would be {1}, and is {2} where {3}; accepted: extents "
            "of operands from which those of the results follow in all runs",
            i, describeShapes(value), describeShapes(own), describe(point));
  }
  if (!points.empty() && numChecked == 0)
    return makeError("where {0}: {1}", describe(points.back()), refusal);
  return results;
}
