//===- Numbers.cpp - Numbers and tensors of them --------------------------===//

#include "Aten/Extents.h"
#include "TorchScript/Interpreter.h"
#include "glowish/Base/CheckedInt.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

//===- Numbers ------------------------------------------------------------===//

/// The kind of numbers of type \p type; none for Scalar, which may be any.
static std::optional<ElemKind> findNumberKind(const ProgramType &type) {
  switch (type.kind) {
  case ProgramType::Kind::Int:
    return ElemKind::Int64;
  case ProgramType::Kind::Float:
    return ElemKind::Double;
  case ProgramType::Kind::Bool:
    return ElemKind::Bool;
  default:
    return std::nullopt;
  }
}

/// int(x), float(x), bool(x) and x.item().
static llvm::Expected<bool> importNumber(ScriptCall &call) {
  ScriptInterpreter &in = call.in;
  const ScriptValue &from = call.inputs[0];
  if (from.is<Extent>()) {
    ProgramType::Kind to = call.getType().kind;
    if (to == ProgramType::Kind::Bool) {
      auto isTrue = computeOfExtents("ne", from.get<Extent>(), Extent(0),
                                     in.getFunction().getModule().getSymbols());
      if (!isTrue)
        return call.refuse(0, "an int that is 0 in all runs, or in none");
      return call.done(isTrue->get<bool>());
    }
    if (to != ProgramType::Kind::Float)
      return call.done(from);
  }
  NodeValue value;
  if (from.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(value, in.memory.read(from.getTensor()->place));
    if (value.getType().getNumElements() != 1)
      return call.refuse(0, "a tensor of one element");
  } else if (from.isNumber()) {
    value = in.makeScalar(from);
  } else if (from.is<std::string>()) {
    double number = 0;
    if (llvm::StringRef(from.get<std::string>()).getAsDouble(number))
      return call.refuse(0, "a number");
    value = in.makeScalar(ScriptValue(number));
  } else {
    return call.refuse(0, "a number or a tensor");
  }
  ElemKind own = value.getElemKind();
  ElemKind kind = findNumberKind(call.getType())
                      .value_or(isFloatKind(own)        ? ElemKind::Double
                                : own == ElemKind::Bool ? own
                                                        : ElemKind::Int64);
  auto scalar = in.memory.fold(
      [&](NodeBuilder &b) { return b.cast(b.reshape(value, {}), kind); });
  if (!scalar)
    return scalar.takeError();
  return call.done(in.makeNumber(*scalar));
}
/// Nests the numbers \p all, from \p next on, in lists for each dimension of \p
/// shape.
static ScriptValue nest(ScriptInterpreter &in, DimsRef shape,
                        llvm::ArrayRef<ScriptValue> all, size_t &next) {
  if (shape.empty())
    return all[next++];
  ScriptValues elements;
  for (int64_t i = 0; i < shape.front(); ++i)
    elements.push_back(nest(in, shape.drop_front(), all, next));
  return in.makeList(std::move(elements));
}

/// x.tolist(): each element as a number.
static llvm::Expected<bool> importToList(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return call.refuse(0, "a tensor");
  ScriptInterpreter &in = call.in;
  constexpr int64_t most = 1024;
  const Type type = call.inputs[0].getTensor()->getType();
  if (type.hasExtents())
    return call.refuse(0, "extents that no run decides");
  int64_t count = type.getNumElements();
  if (count > most)
    return makeError("the tensor has {0} elements, each of which would be a "
                     "number of its own; accepted: at most {1}",
                     count, most);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value,
                           in.memory.read(call.inputs[0].getTensor()->place));
  ElemKind kind = isFloatKind(type.getKind())        ? ElemKind::Double
                  : type.getKind() == ElemKind::Bool ? ElemKind::Bool
                                                     : ElemKind::Int64;
  ScriptValues numbers;
  for (int64_t i = 0; i < count; ++i) {
    auto scalar = in.memory.fold([&](NodeBuilder &b) {
      return b.cast(b.reshape(b.slice(b.reshape(value, {count}), 0, i, 1), {}),
                    kind);
    });
    if (!scalar)
      return scalar.takeError();
    numbers.push_back(in.makeNumber(*scalar));
  }
  size_t next = 0;
  return call.done(nest(in, type.getShape(), numbers, next));
}
static const ScriptOperators toLists(importToList, {"prim::tolist"});

static const ScriptOperators
    numbers(importNumber, {"aten::Int", "aten::Float", "aten::Bool",
                           "aten::item", "aten::IntImplicit",
                           "aten::FloatImplicit", "aten::ScalarImplicit"});

//===- Tensors of numbers -------------------------------------------------===//

static llvm::Expected<bool> importNumToTensor(ScriptCall &call) {
  return call.done(call.in.makeTensor(call.in.makeScalar(call.inputs[0])));
}
static const ScriptOperators numToTensor(importNumToTensor,
                                         {"prim::NumToTensor"});

/// Appends the numbers of nested lists, which have the extents \p shape.
static llvm::Error addNumbers(const ScriptValue &value, size_t depth,
                              Dims &shape, ScriptValues &numbers) {
  auto refuse = [&] {
    return makeError("the lists have different lengths, or {0} in them; "
                     "accepted: numbers",
                     value.describe());
  };
  if (!value.isList()) {
    if (depth != shape.size() || !(value.isNumber() || value.isTensor()))
      return refuse();
    numbers.push_back(value);
    return llvm::Error::success();
  }
  const ScriptValues &elements = value.getList().elements;
  if (depth == shape.size() && numbers.empty())
    shape.push_back(int64_t(elements.size()));
  if (depth >= shape.size() || shape[depth] != int64_t(elements.size()))
    return refuse();
  for (const ScriptValue &element : elements)
    GLOWISH_RETURN_IF_ERROR(addNumbers(element, depth + 1, shape, numbers));
  return llvm::Error::success();
}

/// torch.tensor(data, dtype).
static llvm::Expected<bool> importTensor(ScriptCall &call) {
  ScriptInterpreter &in = call.in;
  if (call.inputs[0].isTensor())
    return false;
  Dims shape;
  ScriptValues numbers;
  GLOWISH_RETURN_IF_ERROR(addNumbers(call.inputs[0], 0, shape, numbers));
  std::vector<NodeValue> scalars;
  ElemKind kind = numbers.empty() ? ElemKind::Float : ElemKind::Bool;
  for (const ScriptValue &number : numbers) {
    NodeValue scalar;
    if (number.isTensor()) {
      GLOWISH_ASSIGN_OR_RETURN(scalar,
                               in.memory.read(number.getTensor()->place));
    } else {
      scalar = in.makeScalar(number);
    }
    // A float of Python is a float unless the program states more.
    ElemKind own = scalar.getElemKind();
    kind = promoteKinds(kind, own == ElemKind::Double && !number.isTensor()
                                  ? ElemKind::Float
                                  : own);
    scalars.push_back(scalar);
  }
  if (call.inputs.size() > 1 && call.inputs[1].isInt()) {
    std::optional<ElemKind> stated = getAtenKind(call.inputs[1].getInt());
    if (!stated)
      return call.refuse(1, "the type of floats, integers or bool");
    kind = *stated;
  }
  auto tensor = in.memory.fold([&](NodeBuilder &b) {
    if (scalars.empty())
      return b.createConstant(Tensor(Type(kind, shape)));
    std::vector<NodeValue> parts;
    for (NodeValue scalar : scalars)
      parts.push_back(b.reshape(b.cast(scalar, kind), {1}));
    return b.reshape(parts.size() == 1 ? parts[0] : b.concat(parts, 0), shape);
  });
  if (!tensor)
    return tensor.takeError();
  return call.done(in.makeTensor(*tensor));
}
static const ScriptOperators tensors(importTensor,
                                     {"aten::tensor", "aten::as_tensor"});

//===- Lists of numbers ---------------------------------------------------===//

/// The least and the largest of a list, and their sum.
static llvm::Expected<bool> importOfList(ScriptCall &call) {
  if (!call.inputs[0].isList() ||
      (call.inputs.size() > 1 && call.inputs[1].isList()))
    return false;
  const ScriptValues &elements = call.inputs[0].getList().elements;
  bool isSum = call.node.kind == "aten::sum",
       isMin = call.node.kind == "prim::min";
  if (elements.empty() && !isSum)
    return call.refuse(0, "a list with elements");
  if (!llvm::all_of(elements,
                    [](const ScriptValue &x) { return x.isKnownNumber(); }))
    return call.refuse(0, "numbers that are known when the model is compiled");
  auto isLess = [&](const ScriptValue &x, const ScriptValue &y) {
    return x.isInt() && y.isInt() ? x.getInt() < y.getInt()
                                  : x.getNumber() < y.getNumber();
  };
  auto toInt = [](const ScriptValue &x) {
    return x.isInt() ? x.getInt() : int64_t(x.get<bool>());
  };
  ScriptValue result = isSum ? ScriptValue(int64_t(0)) : elements[0];
  for (const ScriptValue &element : elements) {
    if (!isSum) {
      if (isMin ? isLess(element, result) : isLess(result, element))
        result = element;
    } else if (result.isInt() && !element.is<double>()) {
      CheckedInt sum = CheckedInt(result.getInt()) + toInt(element);
      if (!sum.get())
        return call.refuse(0, "numbers whose sum fits 64 bits");
      result = ScriptValue(*sum.get());
    } else {
      result = ScriptValue(result.getNumber() + element.getNumber());
    }
  }
  return call.done(result);
}
static const ScriptOperators ofLists(importOfList,
                                     {"prim::min", "prim::max", "aten::sum"});

/// Lists of numbers and strings in ascending order.
static llvm::Expected<bool> importSort(ScriptCall &call) {
  if (!call.inputs[0].isList())
    return false;
  bool isCopy = call.node.kind == "aten::sorted",
       isReverse = !isCopy && call.inputs.size() > 1 &&
                   areEqual(call.inputs[1], true) == true;
  ScriptValues elements = call.inputs[0].getList().elements;
  auto isSortable = [](const ScriptValue &x) {
    return x.isKnownNumber() || x.is<std::string>();
  };
  if (!llvm::all_of(elements, isSortable))
    return call.refuse(0, "numbers that are known when the model is compiled");
  llvm::stable_sort(elements, [&](const ScriptValue &x, const ScriptValue &y) {
    const ScriptValue &a = isReverse ? y : x, &b = isReverse ? x : y;
    if (a.is<std::string>())
      return a.get<std::string>() < b.get<std::string>();
    if (a.is<double>())
      return a.get<double>() < b.get<double>();
    return a.isInt() ? a.getInt() < b.getInt() : a.get<bool>() < b.get<bool>();
  });
  if (isCopy)
    return call.done(call.in.makeList(std::move(elements)));
  call.in.journal.save(call.inputs[0].get<std::shared_ptr<ScriptList>>());
  call.inputs[0].getList().elements = std::move(elements);
  return call.done({});
}
static const ScriptOperators sorting(importSort,
                                     {"aten::sort", "aten::sorted"});

static llvm::Expected<bool> importRangeList(ScriptCall &call) {
  GLOWISH_ASSIGN_OR_RETURN(int64_t count, call.getInt(0));
  ScriptValues numbers;
  for (int64_t i = 0; i < std::min<int64_t>(count, 1 << 20); ++i)
    numbers.push_back(i);
  return call.done(call.in.makeList(std::move(numbers)));
}
static const ScriptOperators rangeLists(importRangeList, {"prim::rangelist"});
