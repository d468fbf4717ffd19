//===- AtenBuilder.cpp - Builds programs of ATen's operators --------------===//

#include "AtenBuilder.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace glowish;
using namespace glowish::fuzz;

AtenBuilder::AtenBuilder(const TypedModel &model, AtenDialect dialect)
    : dialect(dialect), model(model) {
  for (const auto &input : model.model.proto.graph().input()) {
    program.inputs.push_back(input.name());
    program.types[input.name()] = AtenTensorType(model.getType(input.name()));
  }
  for (const auto &output : model.model.proto.graph().output())
    program.outputs.push_back(output.name());
}

bool AtenBuilder::chance(const FormNode &node, unsigned percent,
                         unsigned salt) const {
  std::string text = node.getOutput() + "/" + std::to_string(salt);
  return llvm::xxh3_64bits(text) % 100 < percent;
}

//===- Tensors ------------------------------------------------------------===//

AtenArg AtenBuilder::getInput(const FormNode &node, unsigned index) {
  const std::string &name = node.getInput(index);
  if (!program.types.count(name)) {
    program.weights.emplace(name, node.findConstant(index)->clone());
    program.types[name] = AtenTensorType(model.getType(name));
  }
  AtenArg x = AtenTensor{name};
  return chance(node, 25, 100 + index)
             ? takeDetour(x, llvm::xxh3_64bits(name + "/" + node.getOutput()))
             : x;
}

const AtenTensorType &AtenBuilder::getType(const AtenArg &tensor) const {
  return program.types.at(tensor.getIf<AtenTensor>()->name);
}

AtenArg AtenBuilder::call(llvm::StringRef op, AtenArg::List arguments,
                          AtenTensorType type, AtenNamed named) {
  std::string name = makeName("t");
  program.types[name] = std::move(type);
  program.calls.push_back({op.str(),
                           std::move(arguments),
                           std::move(named),
                           AtenResult::Tensor,
                           {name}});
  return AtenTensor{name};
}

void AtenBuilder::addResult(AtenTensorType type) {
  std::string name = makeName("t");
  program.types[name] = std::move(type);
  program.calls.back().results.push_back(name);
}

void AtenBuilder::enclose(const FormNode &node) {
  AtenCall &last = program.calls.back();
  if (chance(node, 40, 20)) {
    last.place = AtenPlace::Loop;
    return;
  }
  // The call moves behind those that compute the size.
  AtenCall call = std::move(last);
  program.calls.pop_back();
  const std::vector<Extent> &dims = getType(call.arguments[0]).dims;
  SymbolRanges ranges(model.model.ranges);
  for (const Extent &dim : dims) {
    auto range = ranges.getRange(dim);
    std::optional<AtenArg> size = makeNumber(dim);
    if (!range || !size || !size->getIf<AtenNumber>())
      continue;
    call.place = AtenPlace::Branch;
    call.condition = *size;
    call.least = range->low;
    break;
  }
  program.calls.push_back(std::move(call));
}

void AtenBuilder::write(llvm::StringRef op, AtenArg::List arguments) {
  AtenArg written = arguments[0];
  call(op, std::move(arguments), getType(written));
  program.calls.back().writes = true;
}

AtenArg::List AtenBuilder::callAll(llvm::StringRef op, AtenArg::List arguments,
                                   AtenResult form,
                                   std::vector<AtenTensorType> types) {
  AtenCall call{op.str(), std::move(arguments), {}, form, {}};
  AtenArg::List results;
  for (AtenTensorType &type : types) {
    std::string name = makeName("t");
    program.types[name] = std::move(type);
    results.push_back(AtenTensor{name});
    call.results.push_back(name);
  }
  program.calls.push_back(std::move(call));
  return results;
}

void AtenBuilder::finish(const FormNode &node, llvm::StringRef op,
                         AtenArg::List arguments, AtenNamed named) {
  finishAll(node, op, std::move(arguments), AtenResult::Tensor,
            std::move(named));
}

void AtenBuilder::finishAll(const FormNode &node, llvm::StringRef op,
                            AtenArg::List arguments, AtenResult form,
                            AtenNamed named) {
  AtenCall call{op.str(), std::move(arguments), std::move(named), form, {}};
  for (const std::string &output : node.proto.output()) {
    program.types[output] = AtenTensorType(model.getType(output));
    call.results.push_back(output);
  }
  program.calls.push_back(std::move(call));
}

AtenArg AtenBuilder::callUnary(llvm::StringRef op, const AtenArg &x,
                               AtenArg::List more) {
  AtenArg::List arguments = {x};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return call(op, std::move(arguments), getType(x));
}

AtenArg AtenBuilder::callBinary(llvm::StringRef op, const AtenArg &x,
                                const AtenArg &y) {
  AtenTensorType type = getType(x);
  std::vector<Extent> other = getType(y).dims;
  if (other.size() > type.dims.size())
    std::swap(type.dims, other);
  size_t skipped = type.dims.size() - other.size();
  for (auto [d, extent] : llvm::enumerate(other))
    if (type.dims[skipped + d] == Extent(1))
      type.dims[skipped + d] = extent;
  return call(op, {x, y}, type);
}

AtenArg AtenBuilder::cast(const AtenArg &x, ElemKind kind) {
  AtenTensorType type(kind, getType(x).dims);
  if (isScript())
    return call("to.dtype", {x, kind, false, false}, type);
  return call("_to_copy", {x}, type, {{"dtype", kind}});
}

AtenArg AtenBuilder::permute(const AtenArg &x, llvm::ArrayRef<int64_t> perm) {
  AtenTensorType type(getType(x).kind, {});
  for (int64_t d : perm)
    type.dims.push_back(getType(x).dims[size_t(d)]);
  return call("permute", {x, perm}, type);
}

AtenArg AtenBuilder::unsqueeze(const AtenArg &x, int64_t dim) {
  AtenTensorType type = getType(x);
  type.dims.insert(type.dims.begin() + dim, Extent(1));
  return call("unsqueeze", {x, dim}, type);
}

AtenArg AtenBuilder::flip(const AtenArg &x, int64_t dim) {
  return call("flip", {x, llvm::ArrayRef(dim)}, getType(x));
}

//===- Numbers ------------------------------------------------------------===//

std::optional<std::vector<Extent>>
AtenBuilder::findInts(const std::string &value) const {
  if (auto found = ints.find(value); found != ints.end())
    return found->second;
  const Tensor *constant = model.findConstant(value);
  if (!constant || !isIntegerKind(constant->getType().getKind()))
    return std::nullopt;
  std::vector<Extent> elements;
  for (int64_t i = 0; i < constant->getNumElements(); ++i)
    elements.push_back(constant->getAsInt(i));
  return elements;
}

std::optional<AtenArg> AtenBuilder::findScalar(const FormNode &node,
                                               unsigned index) const {
  const Tensor *constant = node.findConstant(index);
  if (!constant || constant->getType().getRank() != 0)
    return std::nullopt;
  ElemKind kind = constant->getType().getKind();
  if (isIntegerKind(kind))
    return AtenArg(constant->getAsInt(0));
  double number = constant->getAsDouble(0);
  if (!isFloatKind(kind) || !std::isfinite(number))
    return std::nullopt;
  return AtenArg(number);
}

AtenArg AtenBuilder::callNumber(llvm::StringRef op, AtenArg::List arguments,
                                const Extent &extent, bool isNew) {
  if (auto found = numbers.find(extent); found != numbers.end() && !isNew)
    return found->second;
  std::string name = makeName("n");
  program.numbers[name] = extent;
  program.calls.push_back(
      {op.str(), std::move(arguments), {}, AtenResult::Number, {name}});
  return numbers[extent] = AtenNumber{name};
}

std::optional<AtenArg> AtenBuilder::makeNumber(const Extent &extent) {
  if (auto constant = extent.getConstant())
    return AtenArg(*constant);
  if (auto found = numbers.find(extent); found != numbers.end())
    return found->second;
  // A tensor that has it: one that is computed, at times.
  std::vector<std::pair<std::string, int64_t>> places;
  for (const auto &[name, type] : program.types)
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.dims[size_t(d)] == extent)
        places.emplace_back(name, d);
  std::optional<AtenArg> number;
  if (places.empty()) {
    number = computeNumber(extent);
  } else {
    const auto &[name, dim] =
        places[llvm::xxh3_64bits(extent.str()) % places.size()];
    number = callNumber(isScript() ? "size.int" : "sym_size.int",
                        {AtenTensor{name}, dim}, extent);
  }
  if (number && !extent.getConstant())
    number = numbers[extent] = computeAgain(*number, extent);
  return number;
}

/// Computes \p number by operators that together leave it as it is, or none.
AtenArg AtenBuilder::computeAgain(const AtenArg &number, const Extent &extent) {
  auto more = add(extent, Extent(5)), twice = multiply(extent, Extent(2)),
       less = multiply(extent, Extent(-1)), half = divideDown(extent, 2);
  if (!more || !twice || !less || !half)
    return number;
  auto call = [&](llvm::StringRef op, AtenArg x, AtenArg y,
                  const Extent &result) {
    return callNumber(op, {std::move(x), std::move(y)}, result);
  };
  AtenArg two(int64_t(2));
  switch (llvm::xxh3_64bits(program.inputs.front() + extent.str()) % 8) {
  case 0:
    return callNumber(
        "sub", {call("add", number, int64_t(5), *more), int64_t(5)}, extent,
        /*isNew=*/true);
  case 1:
    return callNumber("floordiv", {call("mul", number, two, *twice), two},
                      extent, /*isNew=*/true);
  case 2:
    return callNumber("neg", {callNumber("neg", {number}, *less)}, extent,
                      /*isNew=*/true);
  case 3: {
    // A half, rounded down, and what is left.
    auto even = multiply(*half, Extent(2));
    auto rest = even ? subtract(extent, *even) : std::nullopt;
    if (!rest)
      return number;
    AtenArg own = call("mul", call("floordiv", number, two, *half), two, *even);
    AtenArg left = call(isScript() ? "remainder" : "mod", number, two, *rest);
    return callNumber("add", {own, left}, extent, /*isNew=*/true);
  }
  case 4:
    // Sizes are 0 or more.
    return isScript() ? number
                      : callNumber("sym_max", {number, int64_t(0)}, extent,
                                   /*isNew=*/true);
  default:
    return number;
  }
}

// The functions of extents, where members have their names.
static std::optional<Extent> addExtents(const Extent &x, const Extent &y) {
  return add(x, y);
}
static std::optional<Extent> multiplyExtents(const Extent &x, const Extent &y) {
  return multiply(x, y);
}
static std::optional<Extent> divideExtent(const Extent &x, int64_t divisor) {
  return divideDown(x, divisor);
}

namespace {

/// Computes extents by calls of operators on ints.
struct NumberOps {
  using Value = std::optional<std::pair<AtenArg, Extent>>;
  std::function<std::optional<AtenArg>(const Extent &)> makeSymbol;
  std::function<AtenArg(llvm::StringRef, AtenArg::List, const Extent &)> call;

  Value getConstant(int64_t number) {
    return std::pair(AtenArg(number), Extent(number));
  }
  Value getSymbol(llvm::StringRef name) {
    Extent symbol = Extent::symbol(name);
    std::optional<AtenArg> number = makeSymbol(symbol);
    return number ? Value(std::pair(*number, symbol)) : std::nullopt;
  }
  Value compute(llvm::StringRef op, const Value &x, const Value &y,
                std::optional<Extent> result) {
    if (!result)
      return std::nullopt;
    if (auto constant = result->getConstant())
      return getConstant(*constant);
    return std::pair(call(op, {x->first, y->first}, *result), *result);
  }
  Value add(const Value &x, const Value &y) {
    return x && y ? compute("add", x, y, addExtents(x->second, y->second))
                  : std::nullopt;
  }
  Value multiply(const Value &x, const Value &y) {
    return x && y ? compute("mul", x, y, multiplyExtents(x->second, y->second))
                  : std::nullopt;
  }
  Value divideDown(const Value &x, int64_t divisor) {
    return x ? compute("floordiv", x, getConstant(divisor),
                       divideExtent(x->second, divisor))
             : std::nullopt;
  }
};

} // namespace

std::optional<AtenArg> AtenBuilder::computeNumber(const Extent &extent) {
  // A symbol that is no dimension is not known.
  if (!extent.getSymbol().empty())
    return std::nullopt;
  NumberOps ops{[this](const Extent &symbol) { return makeNumber(symbol); },
                [this](llvm::StringRef op, AtenArg::List arguments,
                       const Extent &result) {
                  return callNumber(op, std::move(arguments), result);
                }};
  NumberOps::Value value = extent.compute(ops);
  return value ? std::optional(value->first) : std::nullopt;
}

std::optional<AtenArg>
AtenBuilder::makeNumbers(llvm::ArrayRef<Extent> extents) {
  AtenArg::List list;
  for (const Extent &extent : extents) {
    std::optional<AtenArg> number = makeNumber(extent);
    if (!number)
      return std::nullopt;
    list.push_back(*number);
  }
  return AtenArg(std::move(list));
}

std::optional<AtenArg> AtenBuilder::makeTensor(llvm::ArrayRef<Extent> elements,
                                               bool isScalar) {
  AtenArg::List parts;
  for (const Extent &element : elements) {
    std::optional<AtenArg> number = makeNumber(element);
    if (!number)
      return std::nullopt;
    parts.push_back(call("full", {AtenArg::List(), *number},
                         {ElemKind::Int64, {}}, {{"dtype", ElemKind::Int64}}));
  }
  if (isScalar)
    return parts.front();
  if (parts.empty())
    return std::nullopt;
  return call("stack", {AtenArg(parts)},
              {ElemKind::Int64, {Extent(int64_t(parts.size()))}});
}
