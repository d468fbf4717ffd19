//===- AtenCalls.cpp - Execute operators of the table ---------------------===//

#include "TorchScript/AtenCalls.h"
#include "Aten/Complex.h"
#include "Aten/Extents.h"
#include "Aten/External.h"
#include "Aten/Quantized.h"
#include "TorchScript/ResultExtents.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;
using Base = AtenType::Base;

//===- Conversion ---------------------------------------------------------===//

/// Converts a number or a string; none of others.
template <typename ToT, typename FromT>
static std::optional<ToT> convertPlain(const FromT &value) {
  auto convert = [](const auto &own) -> std::optional<ToT> {
    using T = std::decay_t<decltype(own)>;
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
      return ToT(own);
    return std::nullopt;
  };
  return std::visit(convert, value.value);
}

llvm::Expected<AtenValue> ScriptInterpreter::convert(const ScriptValue &value,
                                                     const AtenType &type) {
  if (value.is<ScriptIgnored>() && type.base == Base::Tensor)
    return makeError("it is {0}; accepted: {1}", value.describe(),
                     value.get<ScriptIgnored>().accepted);
  if (value.isNone() || value.is<ScriptIgnored>() || type.base == Base::Ignored)
    return AtenValue();
  if (value.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor,
                             memory.read(value.getTensor()->place));
    return AtenValue(tensor);
  }
  if (value.isComplex()) {
    const ScriptValues &parts = value.getList().elements;
    GLOWISH_ASSIGN_OR_RETURN(NodeValue real,
                             memory.read(parts[0].getTensor()->place));
    GLOWISH_ASSIGN_OR_RETURN(NodeValue imaginary,
                             memory.read(parts[1].getTensor()->place));
    return AtenValue(AtenComplex{real, imaginary});
  }
  if (value.isQuantized()) {
    const ScriptValues &own = value.getList().elements;
    AtenQuantized tensor;
    GLOWISH_ASSIGN_OR_RETURN(tensor.values,
                             memory.read(own[0].getTensor()->place));
    GLOWISH_ASSIGN_OR_RETURN(tensor.scale,
                             memory.read(own[1].getTensor()->place));
    GLOWISH_ASSIGN_OR_RETURN(tensor.zeroPoint,
                             memory.read(own[2].getTensor()->place));
    if (own.size() > 3)
      tensor.axis = own[3].getInt();
    return AtenValue(tensor);
  }
  if (value.isComputed())
    return AtenValue(memory.enter(value.get<NodeValue>()));
  if (value.is<Extent>())
    return AtenValue::ofExtent(value.get<Extent>());
  if (value.isInt() && type.base == Base::Kind) {
    if (std::optional<ElemKind> part = getPartKind(value.getInt()))
      return AtenValue(AtenComplexKind{*part});
    if (std::optional<ElemKind> integers = getQuantizedKind(value.getInt()))
      return AtenValue(AtenQuantizedKind{*integers});
    std::optional<ElemKind> kind = getAtenKind(value.getInt());
    if (!kind)
      return makeError("elements of PyTorch's type {0} are not supported; "
                       "accepted: floats, integers and bool",
                       value.getInt());
    return AtenValue(*kind);
  }
  if (auto plain = convertPlain<AtenValue>(value))
    return *plain;
  if (!value.isList())
    return makeError("{0} is no argument of an operator", value.describe());
  AtenValue::List list;
  for (const ScriptValue &element : value.getList().elements) {
    GLOWISH_ASSIGN_OR_RETURN(AtenValue own, convert(element, type));
    list.push_back(std::move(own));
  }
  return AtenValue(std::move(list));
}

llvm::Expected<ScriptValue>
ScriptInterpreter::convert(const AtenValue &value, const ProgramType &type,
                           const ScriptLayout &layout) {
  using Kind = ProgramType::Kind;
  if (value.isTensor()) {
    bool isNumber = type.kind == Kind::Int || type.kind == Kind::Float ||
                    type.kind == Kind::Bool || type.kind == Kind::Number;
    NodeValue node = value.get<NodeValue>();
    return isNumber ? makeNumber(node)
                    : ScriptValue(memory.create(node, layout));
  }
  if (value.isComplex()) {
    const auto &[real, imaginary] = value.get<AtenComplex>();
    return makeComplex(memory.create(real, layout),
                       memory.create(imaginary, layout));
  }
  if (value.isQuantized()) {
    const AtenQuantized &own = value.get<AtenQuantized>();
    return makeQuantized(memory.create(own.values, layout),
                         memory.createDense(own.scale),
                         memory.createDense(own.zeroPoint), own.axis);
  }
  if (value.isNone())
    return ScriptValue();
  if (value.is<Extent>())
    return ScriptValue::ofExtent(value.get<Extent>());
  if (auto plain = convertPlain<ScriptValue>(value))
    return *plain;
  if (!value.is<AtenValue::List>())
    return makeError("it returns {0}", value.describe());
  ScriptValues elements;
  for (const AtenValue &element : value.get<AtenValue::List>()) {
    GLOWISH_ASSIGN_OR_RETURN(
        ScriptValue own,
        convert(element, type.elements.empty() ? type : type.elements.front(),
                layout));
    elements.push_back(std::move(own));
  }
  return makeList(std::move(elements));
}

//===- Arguments ----------------------------------------------------------===//

/// Whether an argument that the table doesn't know says nothing.
static bool isDefault(const ScriptValue &value) {
  return value.isNone() || value.is<ScriptIgnored>() ||
         areEqual(value, false) == true ||
         (value.isList() && value.getList().elements.empty());
}

llvm::Expected<AtenCall>
torchscript::matchInputs(const Program &program, const ProgramNode &node,
                         const RegisteredAtenOp &op,
                         llvm::ArrayRef<ScriptValue> inputs) {
  AtenCall call{node, op,
                std::vector<const ScriptValue *>(op.schema.arguments.size())};
  const ProgramSchema *schema =
      node.schema ? &program.schemas[*node.schema] : nullptr;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    std::optional<unsigned> index;
    std::string name;
    if (schema && i < schema->arguments.size()) {
      name = schema->arguments[i].name;
      index = op.schema.findArgument(name);
    }
    // Names have changed with releases; the order has not.
    if (!index && i < op.schema.arguments.size() && !call.inputs[i] &&
        (!schema || schema->arguments.size() == op.schema.arguments.size()))
      index = unsigned(i);
    if (index)
      call.inputs[*index] = &input;
    else if (!isDefault(input) && name != "pin_memory")
      return makeError("argument '{0}' is {1}; accepted: None", name,
                       input.describe());
  }
  return call;
}

llvm::Expected<AtenValue::List>
torchscript::convertInputs(ScriptInterpreter &in, const AtenCall &call) {
  AtenValue::List arguments;
  for (auto [argument, input] :
       llvm::zip_equal(call.op.schema.arguments, call.inputs)) {
    if (!input) {
      if (!argument.fallback && !argument.type.isOptional)
        return makeError("argument '{0}' is missing", argument.name);
      arguments.push_back(argument.fallback.value_or(AtenValue()));
      continue;
    }
    auto value = in.convert(*input, argument.type);
    if (!value)
      return addContext(value.takeError(),
                        "argument '" + argument.name + "': ");
    arguments.push_back(std::move(*value));
  }
  return arguments;
}

//===- Order of elements --------------------------------------------------===//

/// The memory format that \p call states; none if it keeps that of its operand.
static std::optional<MemoryFormat> getFormat(const AtenCall &call) {
  const ScriptValue *format = call.find("memory_format");
  if (!format || !format->isInt() ||
      MemoryFormat(format->getInt()) == MemoryFormat::Preserve)
    return std::nullopt;
  return MemoryFormat(format->getInt());
}

/// What decides about the order of elements of the results of \p call.
static ScriptLayout getLayout(const AtenCall &call) {
  ScriptLayout layout{.order = call.op.order};
  if (std::optional<MemoryFormat> format = getFormat(call)) {
    layout.isChannelsLast = *format != MemoryFormat::Contiguous;
    layout.order = AtenOrder::RowMajor;
    return layout;
  }
  auto add = [&](const ScriptValue &value) {
    if (value.isTensor())
      layout.operands.push_back(value.getTensor()->place);
  };
  for (const ScriptValue *input : call.inputs) {
    if (!input)
      continue;
    if (input->isList())
      llvm::for_each(input->getList().elements, add);
    else
      add(*input);
    if (layout.order == AtenOrder::Kept)
      break;
  }
  if (layout.order != AtenOrder::OfOperands)
    return layout;
  bool areDense =
      llvm::all_of(layout.operands, [](const ScriptPlaceRef &operand) {
        return operand->isDense;
      });
  return {.order = areDense ? AtenOrder::RowMajor : AtenOrder::Unknown};
}

//===- Views --------------------------------------------------------------===//

/// Whether the operator returns its argument where there is nothing to do.
static bool mayReturnArgument(llvm::StringRef name) {
  static constexpr llvm::StringLiteral names[] = {"to",
                                                  "type_as",
                                                  "cpu",
                                                  "detach",
                                                  "alias",
                                                  "dropout",
                                                  "alpha_dropout",
                                                  "feature_dropout",
                                                  "lift",
                                                  "lift_fresh",
                                                  "float",
                                                  "contiguous",
                                                  "expand",
                                                  "feature_alpha_dropout",
                                                  "expand_as",
                                                  "positive",
                                                  "resolve_conj",
                                                  "resolve_neg"};
  return llvm::is_contained(names, name) || name.starts_with("_cast_");
}

/// Whether it depends on the order of elements if the operator copies them.
static bool mayCopy(llvm::StringRef name) {
  static constexpr llvm::StringLiteral names[] = {
      "reshape", "reshape_as", "flatten", "contiguous", "ravel"};
  return llvm::is_contained(names, name);
}

/// The input that result \p index shares the memory of; null if there is none.
static const ScriptValue *findShared(const Program &program,
                                     const AtenCall &call, size_t index) {
  if (!call.node.schema)
    return nullptr;
  const ProgramSchema &schema = program.schemas[*call.node.schema];
  if (index >= schema.results.size() || schema.results[index].aliasSet.empty())
    return nullptr;
  for (auto [i, argument] : llvm::enumerate(schema.arguments))
    if (argument.aliasSet == schema.results[index].aliasSet)
      return call.find(argument.name);
  return nullptr;
}

/// Makes views of \p shared, an input, of what an operator returned.
static ScriptValue makeViews(ScriptInterpreter &in, const AtenCall &call,
                             const AtenValue::List &arguments,
                             const AtenValue &result,
                             const ScriptValue &shared) {
  llvm::StringRef name = call.op.schema.name;
  const ScriptPlaceRef &base = shared.getTensor()->place;
  ScriptView view{.call = {.op = &call.op, .arguments = arguments}};
  // Another argument may be the same tensor: x.view_as(x).
  view.call.self =
      unsigned(llvm::find(call.inputs, &shared) - call.inputs.begin());
  view.call.arguments[view.call.self] = {};
  auto make = [&](NodeValue value) -> ScriptValue {
    // Each result is a copy of its own.
    if (mayCopy(name))
      view.copy = std::make_shared<ScriptCopy>();
    return in.memory.createView(base, view, value);
  };
  if (result.isTensor())
    return make(result.get<NodeValue>());
  ScriptValues elements;
  for (auto [i, element] : llvm::enumerate(result.get<AtenValue::List>())) {
    view.call.element = i;
    elements.push_back(make(element.get<NodeValue>()));
  }
  return in.makeList(std::move(elements));
}

/// What contiguous() or to() with a memory format makes of \p tensor, whose
/// elements are \p value: itself if it has that format.
static llvm::Expected<ScriptValue>
changeFormat(ScriptInterpreter &in, const ScriptTensorRef &tensor,
             NodeValue value, MemoryFormat format, bool isConversion) {
  DimsRef shape = value.getShape();
  GLOWISH_ASSIGN_OR_RETURN(std::optional<Dims> own,
                           in.memory.getStrides(*tensor->place));
  std::optional<Dims> wanted = getStrides(format, shape);
  if (!wanted)
    return makeError("argument 'memory_format' is that of images; accepted: "
                     "tensors of 4 or 5 dimensions");
  if (!own) {
    ScriptTensorRef uncertain = in.memory.create(value, std::move(wanted));
    in.memory.join(*uncertain->place, *tensor->place);
    return ScriptValue(uncertain);
  }
  bool isLast = format != MemoryFormat::Contiguous;
  // A conversion takes what isn't channels last for row-major.
  bool isSame = isConversion ? areChannelsLast(shape, *own) == isLast
                             : haveSameOrder(shape, *own, *wanted);
  return isSame ? ScriptValue(tensor)
                : ScriptValue(in.memory.create(value, std::move(wanted)));
}

/// Result \p index of \p call.
static llvm::Expected<ScriptValue> makeResult(ScriptInterpreter &in,
                                              const AtenCall &call,
                                              const AtenValue::List &arguments,
                                              const AtenValue &result,
                                              size_t index) {
  llvm::StringRef name = call.op.schema.name;
  const ScriptValue *self = call.inputs.empty() ? nullptr : call.inputs[0];
  const AtenType &type = call.op.schema.results[index].type;
  if (result.isNone() && type.base == Base::Tensor && !type.isOptional)
    return ScriptValue(
        ScriptIgnored{llvm::formatv("result {0} of {1}, which is not computed",
                                    index, call.op.schema.getFullName()),
                      "results that inference computes"});
  const ScriptValue *copy = call.find("copy");
  if (mayReturnArgument(name) && self && self->isTensor() &&
      result.isTensor() && (!copy || areEqual(*copy, false) == true)) {
    const ScriptTensorRef &tensor = self->getTensor();
    NodeValue value = result.get<NodeValue>();
    bool isSame = value == arguments[0].get<NodeValue>();
    std::optional<MemoryFormat> format = getFormat(call);
    bool isContiguous = name == "contiguous";
    if (isSame && format &&
        !(isContiguous && *format == MemoryFormat::Contiguous))
      return changeFormat(in, tensor, value, *format, !isContiguous);
    if (isSame && (!isContiguous || tensor->place->isDense))
      return *self;
  }
  const ScriptValue *shared = findShared(in.program, call, index);
  // Conversions to other kinds are copies.
  bool isCopy = name == "to" || name == "type_as" || name == "cpu";
  if (shared && shared->isTensor() && !isCopy && !hasComplex(result))
    return makeViews(in, call, arguments, result, *shared);
  size_t output = call.node.outputs[index];
  return in.convert(result, in.program.values[output].type, getLayout(call));
}

//===- Calls --------------------------------------------------------------===//

/// tensor.select(dim, index) with an index that the graph computes.
static llvm::Expected<std::optional<ScriptValue>>
selectComputed(ScriptInterpreter &in, const AtenCall &call) {
  const ScriptValue *index = call.find("index"), *dim = call.find("dim"),
                    *self = call.find("self");
  if (call.op.schema.name != "select" || !index || !index->isComputed() ||
      !dim || !dim->isInt() || !self || !self->isTensor())
    return std::nullopt;
  const ScriptPlaceRef &base = self->getTensor()->place;
  GLOWISH_ASSIGN_OR_RETURN(NodeValue value, in.memory.read(base));
  ScriptView view;
  GLOWISH_ASSIGN_OR_RETURN(
      view.axis, normalizeAxis(dim->getInt(), value.getType().getRank()));
  // Negative ones count from the end.
  NodeBuilder b(in.getFunction(), in.memory.nodeName);
  NodeValue number = in.makeScalar(*index);
  NodeValue extent = b.getLength(value, unsigned(view.axis));
  GLOWISH_ASSIGN_OR_RETURN(
      view.index,
      b.finish(b.select(b.less(number, 0), b.add(number, extent), number)));
  GLOWISH_ASSIGN_OR_RETURN(NodeValue element, in.memory.apply(view, value));
  return ScriptValue(in.memory.createView(base, view, element));
}

/// tensor.as_strided(size, stride, storage_offset), a view of the memory that
/// the tensor has or is a view of; _reshape_alias() has no offset.
static llvm::Expected<std::optional<ScriptValue>>
makeStrided(ScriptInterpreter &in, const AtenCall &call,
            const AtenValue::List &arguments) {
  const ScriptValue *self = call.find("self");
  llvm::StringRef name = call.op.schema.name;
  if ((name != "as_strided" && name != "_reshape_alias") || !self ||
      !self->isTensor())
    return std::nullopt;
  for (const ScriptValue *input : call.inputs)
    if (input && !input->isTensor() && input->isOpen())
      return makeError("an argument has {0}; accepted: ints that no run "
                       "decides",
                       input->describe());
  auto getInts = [](const AtenValue &list) {
    std::vector<int64_t> ints;
    if (list.is<AtenValue::List>())
      for (const AtenValue &value : list.get<AtenValue::List>())
        if (value.is<int64_t>())
          ints.push_back(value.get<int64_t>());
    return ints;
  };
  std::optional<int64_t> offset;
  if (arguments.size() > 3 && arguments[3].is<int64_t>())
    offset = arguments[3].get<int64_t>();
  GLOWISH_ASSIGN_OR_RETURN(
      ScriptPlaceRef place,
      in.memory.makeStrided(self->getTensor()->place, getInts(arguments[1]),
                            getInts(arguments[2]), offset));
  return ScriptValue(in.memory.createAt(std::move(place)));
}

const RegisteredAtenOp *torchscript::findOperator(const ProgramNode &node,
                                                  bool isInPlace) {
  llvm::StringRef name = node.kind, overload = node.overload;
  name.consume_front("aten::");
  if (isInPlace)
    name.consume_back("_");
  auto find = [&]() {
    return findAtenOperator(
        (name + (overload.empty() ? "" : ".") + overload).str());
  };
  const RegisteredAtenOp *found = find();
  // The same for lists of tensors, none of which is None.
  if (!found && overload.consume_back("hacked_twin")) {
    overload.consume_back("_");
    found = find();
  }
  return found;
}

//===- External operators -------------------------------------------------===//

static std::vector<SharedArgument>
getShared(llvm::ArrayRef<ProgramArgument> arguments) {
  std::vector<SharedArgument> shared;
  for (const ProgramArgument &argument : arguments)
    shared.push_back({argument.name, argument.aliasSet, argument.isWritten});
  return shared;
}

/// Returns the tensors of the arguments that an operator writes: \p inputs by
/// \p positions. One that is None has none.
static llvm::Expected<std::vector<ScriptTensorRef>>
findWrittenTensors(const ProgramSchema &schema,
                   llvm::ArrayRef<ScriptValue> inputs,
                   llvm::ArrayRef<unsigned> positions) {
  std::vector<ScriptTensorRef> tensors;
  for (unsigned position : positions) {
    const ScriptValue &input = inputs[position];
    llvm::ArrayRef<ScriptValue> own = input;
    if (input.isList())
      own = input.getList().elements;
    for (const ScriptValue &value : own)
      if (value.isTensor())
        tensors.push_back(value.getTensor());
      else if (!value.isNone())
        return makeError("it writes argument '{0}', which is {1}; accepted: a "
                         "tensor, or a list of tensors",
                         schema.arguments[position].name, value.describe());
  }
  return tensors;
}

static llvm::Expected<ScriptValues>
callExternal(ScriptInterpreter &in, const ExternalOperator &op,
             const ProgramNode &node, llvm::ArrayRef<ScriptValue> inputs) {
  const ProgramSchema &schema = in.program.schemas[*node.schema];
  for (const ScriptValue &input : inputs)
    if (input.isOpen())
      return makeError("an operator that is not built in gets {0}; accepted: "
                       "extents that no run decides",
                       input.describe());
  GLOWISH_ASSIGN_OR_RETURN(ExternalEffects effects,
                           findExternalEffects(getShared(schema.arguments),
                                               getShared(schema.results)));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<ScriptTensorRef> written,
                           findWrittenTensors(schema, inputs, effects.written));
  std::vector<NamedAtenValue> arguments;
  for (auto [argument, input] : llvm::zip_equal(schema.arguments, inputs)) {
    auto value = in.convert(input, AtenType());
    if (!value)
      return addContext(value.takeError(),
                        "argument '" + argument.name + "': ");
    arguments.push_back({argument.name, std::move(*value)});
  }
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      importExternalAten(op, in.getFunction(), in.memory.nodeName, arguments,
                         effects.getNumNew() + unsigned(written.size())));
  size_t next = 0;
  ScriptValues outputs;
  for (auto [output, argument] :
       llvm::zip_equal(node.outputs, effects.results)) {
    if (argument) {
      outputs.push_back(inputs[*argument]);
      continue;
    }
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue value,
                             in.convert(results[next++],
                                        in.program.values[output].type,
                                        {.order = AtenOrder::RowMajor}));
    outputs.push_back(std::move(value));
  }
  for (const ScriptTensorRef &tensor : written) {
    NodeValue value = results[next++].get<NodeValue>();
    if (value.getType() != tensor->getType())
      return makeError("result {0} of its function, which it writes to an "
                       "argument, is {1}; accepted: the type of the argument, "
                       "{2}",
                       next - 1, value.getType().str(),
                       tensor->getType().str());
    GLOWISH_RETURN_IF_ERROR(in.memory.write(tensor->place, value));
  }
  return outputs;
}

//===- Extents that runs decide -------------------------------------------===//

/// Returns what an operator on numbers computes of ints that follow from
/// extents; none of other operators, and where the graph computes the number.
static llvm::Expected<std::optional<ScriptValue>>
computeInts(ScriptInterpreter &in, const ProgramNode &node,
            llvm::ArrayRef<ScriptValue> inputs) {
  auto isOpen = [](const ScriptValue &input) { return input.is<Extent>(); };
  if (llvm::none_of(inputs, isOpen) || inputs.size() > 2)
    return std::nullopt;
  const ScriptValue &first = inputs.front(), &last = inputs.back();
  std::optional<Extent> x = first.getExtent(), y = last.getExtent();
  llvm::StringRef name = llvm::StringRef(node.kind).rsplit(':').second;
  if (x && y)
    if (auto result = computeOfExtents(
            name, *x, *y, in.getFunction().getModule().getSymbols())) {
      if (result->is<bool>())
        return ScriptValue(result->get<bool>());
      return ScriptValue::ofExtent(*result->getExtent());
    }
  static constexpr llvm::StringLiteral comparisons[] = {"eq", "ne", "lt",
                                                        "le", "gt", "ge"};
  if (first.isNumber() && last.isNumber() &&
      llvm::is_contained(comparisons, name))
    return refuseExtents(first.describe(), last.describe());
  return std::nullopt;
}

//===- Dispatch -----------------------------------------------------------===//

llvm::Expected<ScriptValues>
ScriptInterpreter::callAten(const ProgramNode &node,
                            llvm::ArrayRef<ScriptValue> inputs) {
  bool isWriting =
      node.schema &&
      llvm::any_of(program.schemas[*node.schema].arguments,
                   [](const auto &argument) { return argument.isWritten; });
  if (auto *external = findExternalAten(options, node.kind);
      external && node.schema)
    return callExternal(*this, *external, node, inputs);
  return isWriting ? callWriting(node, inputs) : callReturning(node, inputs);
}

llvm::Expected<ScriptValues>
ScriptInterpreter::callReturning(const ProgramNode &node,
                                 llvm::ArrayRef<ScriptValue> inputs) {
  const RegisteredAtenOp *op = findOperator(node, /*isInPlace=*/false);
  if (!op)
    return makeError("the operator is not supported");
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValue> computed,
                           computeInts(*this, node, inputs));
  if (computed)
    return ScriptValues{*computed};
  GLOWISH_ASSIGN_OR_RETURN(AtenCall call,
                           matchInputs(program, node, *op, inputs));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValue> selected,
                           selectComputed(*this, call));
  if (selected)
    return ScriptValues{*selected};
  GLOWISH_ASSIGN_OR_RETURN(AtenValue::List arguments,
                           convertInputs(*this, call));
  GLOWISH_ASSIGN_OR_RETURN(std::optional<ScriptValue> strided,
                           makeStrided(*this, call, arguments));
  if (strided)
    return ScriptValues{*strided};
  GLOWISH_ASSIGN_OR_RETURN(
      AtenValue::List results,
      importChecked(*op, getFunction(), memory.nodeName, arguments, aten));
  ScriptValues outputs;
  for (size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(ScriptValue output,
                             makeResult(*this, call, arguments, results[i], i));
    outputs.push_back(std::move(output));
  }
  return outputs;
}
