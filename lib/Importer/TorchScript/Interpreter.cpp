//===- Interpreter.cpp - Execution of programs during import --------------===//

#include "TorchScript/Interpreter.h"
#include "Aten/Complex.h"
#include "Common/ExtentFinder.h"
#include "Common/Folding.h"
#include "Common/Messages.h"
#include "Common/Outputs.h"
#include "glowish/Base/TensorSource.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

ScriptInterpreter::ScriptInterpreter(const Program &program, ScriptScope scope,
                                     const ImportOptions &options,
                                     FoldingBudget &folding,
                                     const ScriptAttributes &attributes)
    : program(program), options(options), attributes(attributes),
      report(
          [this](llvm::StringRef line) { return this->options.report(line); }),
      aten{folding, options.evaluate, report, options.variables != nullptr},
      memory(aten, journal), mainScope(scope), values(program.values.size()) {
  memory.scope = &mainScope;
}

//===- Registry -----------------------------------------------------------===//

/// Created on first use, as the order of static initialization across files is
/// unspecified.
static llvm::StringMap<ScriptHandler> &getHandlers() {
  static llvm::StringMap<ScriptHandler> handlers;
  return handlers;
}

ScriptOperators::ScriptOperators(
    ScriptHandler handler, std::initializer_list<llvm::StringLiteral> kinds) {
  for (llvm::StringRef kind : kinds) {
    bool isNew = getHandlers().try_emplace(kind, handler).second;
    assert(isNew && "an operator has one handler");
    (void)isNew;
  }
}

ScriptHandler torchscript::findScriptOperator(llvm::StringRef kind) {
  return getHandlers().lookup(kind);
}

llvm::Expected<int64_t> ScriptCall::getInt(unsigned index) const {
  const ScriptValue &value = inputs[index];
  if (value.isInt())
    return value.getInt();
  if (value.is<bool>())
    return int64_t(value.get<bool>());
  return refuse(index, "an int that is known when the model is compiled");
}

llvm::Error ScriptCall::refuse(unsigned index, llvm::StringRef accepted) const {
  return makeError("input {0} is {1}; accepted: {2}", index,
                   inputs[index].describe(), accepted);
}

//===- Execution ----------------------------------------------------------===//

/// The name of the nodes of \p node: that of its module, or of its result.
static std::string getNodeName(const Program &program,
                               const ProgramNode &node) {
  if (!node.scope.empty())
    return node.scope;
  if (!node.outputs.empty())
    if (const std::string &name = program.values[node.outputs[0]].name;
        !name.empty())
      return name;
  return llvm::StringRef(node.kind).rsplit(':').second.str();
}

std::string ScriptInterpreter::describe(const ProgramNode &node) const {
  std::string kind = node.kind;
  if (!node.overload.empty())
    kind += "." + node.overload;
  if (!node.source.empty())
    kind += ", " + node.source;
  return describeNode(getNodeName(program, node), kind);
}

/// How many operators are executed at most: loops repeat them.
static constexpr int64_t maxRun = 1 << 20;

/// Refuses \p node if it asks for what a list has that a loop appends to.
llvm::Error ScriptInterpreter::checkGrowing(const ProgramNode &node) const {
  for (auto [i, input] : llvm::enumerate(node.inputs)) {
    const ScriptValue &value = values[input];
    bool isAppend =
        i == 0 && (node.kind == "aten::append" || node.kind == "aten::add_" ||
                   node.kind == "aten::extend");
    if (value.isList() && !isAppend && growingLists.contains(&value.getList()))
      return makeError("a loop of many iterations appends to the list; "
                       "accepted: that an iteration asks for nothing else");
  }
  return llvm::Error::success();
}

llvm::Expected<ScriptValues> ScriptInterpreter::call(const ProgramNode &node) {
  if (!growingLists.empty())
    GLOWISH_RETURN_IF_ERROR(checkGrowing(node));
  ScriptValues inputs;
  for (size_t input : node.inputs)
    inputs.push_back(values[input]);
  return call(node, inputs);
}

llvm::Expected<ScriptValues>
ScriptInterpreter::call(const ProgramNode &node,
                        llvm::ArrayRef<ScriptValue> inputs) {
  if (isOnComplex(node, inputs))
    return callComplex(node, inputs);
  if (isOnQuantized(node, inputs))
    return callQuantized(node, inputs);
  if (ScriptHandler handler = findScriptOperator(node.kind)) {
    ScriptCall call{*this, node, ScriptValues(inputs)};
    GLOWISH_ASSIGN_OR_RETURN(bool isDone, handler(call));
    if (isDone)
      return std::move(call.outputs);
  }
  return callAten(node, inputs);
}

/// Refuses extents that a run decides in a branch or loop.
llvm::Error ScriptInterpreter::checkBody(const ProgramNode &node,
                                         const ScriptValues &outputs) const {
  auto refuse = [](const ScriptValue &value) {
    return makeError("{0} is in a branch or loop that data decide; accepted "
                     "there: extents that no run decides",
                     value.describe());
  };
  for (size_t input : node.inputs)
    if (values[input].isOpen())
      return refuse(values[input]);
  for (const ScriptValue &output : outputs)
    if (output.isOpen())
      return refuse(output);
  return llvm::Error::success();
}

llvm::Error ScriptInterpreter::run(const ProgramNode &node) {
  std::string outer = memory.nodeName, name = getNodeName(program, node);
  memory.nodeName = name;
  if (++numRun > maxRun)
    return makeError("it executes more than {0} operators", maxRun);
  llvm::Expected<ScriptValues> outputs = call(node);
  memory.nodeName = outer;
  if (outputs && getFunction().isBody())
    if (llvm::Error error = checkBody(node, *outputs))
      outputs = std::move(error);
  if (!outputs) {
    std::string message = llvm::toString(outputs.takeError());
    // Of nested ones the innermost is told.
    if (!llvm::StringRef(message).starts_with("node "))
      message = describe(node) + ": " + message;
    return makeError("{0}", message);
  }
  // What operators that change their arguments return is never read.
  for (size_t i = 0; i < node.outputs.size(); ++i)
    values[node.outputs[i]] =
        i < outputs->size() ? (*outputs)[i] : ScriptValue();
  return llvm::Error::success();
}

llvm::Error ScriptInterpreter::run(const ProgramBlock &block) {
  for (const ProgramNode &node : block.nodes)
    GLOWISH_RETURN_IF_ERROR(run(node));
  return llvm::Error::success();
}

ScriptValues ScriptInterpreter::getOutputs(const ProgramBlock &block) const {
  ScriptValues outputs;
  for (size_t output : block.outputs)
    outputs.push_back(values[output]);
  return outputs;
}

//===- Making values ------------------------------------------------------===//

ScriptValue ScriptInterpreter::makeList(ScriptValues elements, bool isTuple,
                                        std::vector<std::string> names) {
  auto list = std::make_shared<ScriptList>();
  list->birth = memory.tick();
  list->elements = std::move(elements);
  list->isTuple = isTuple;
  list->names = std::move(names);
  return list;
}

ScriptValue ScriptInterpreter::makeComplex(ScriptTensorRef real,
                                           ScriptTensorRef imaginary) {
  ScriptValue parts = makeList({std::move(real), std::move(imaginary)},
                               /*isTuple=*/true, {"real", "imag"});
  parts.getList().meaning = ScriptList::Meaning::Complex;
  return parts;
}

ScriptValue ScriptInterpreter::makeQuantized(ScriptTensorRef values,
                                             ScriptTensorRef scale,
                                             ScriptTensorRef zeroPoint,
                                             std::optional<int64_t> axis) {
  ScriptValues elements = {std::move(values), std::move(scale),
                           std::move(zeroPoint)};
  std::vector<std::string> names = {"values", "scale", "zero_point"};
  if (axis) {
    elements.push_back(*axis);
    names.push_back("axis");
  }
  ScriptValue own = makeList(std::move(elements), /*isTuple=*/true, names);
  own.getList().meaning = ScriptList::Meaning::Quantized;
  return own;
}

ScriptValue ScriptInterpreter::makeContainer(const ScriptValue &like,
                                             ScriptValues elements) {
  if (like.isList()) {
    ScriptValue list = makeList(std::move(elements), like.getList().isTuple,
                                like.getList().names);
    list.getList().meaning = like.getList().meaning;
    return list;
  }
  std::vector<ScriptDict::Entry> entries = like.getDict().entries;
  for (auto [entry, element] : llvm::zip_equal(entries, elements))
    entry.value = element;
  return makeDict(std::move(entries));
}

ScriptValue
ScriptInterpreter::makeDict(std::vector<ScriptDict::Entry> entries) {
  auto dict = std::make_shared<ScriptDict>();
  dict->birth = memory.tick();
  dict->entries = std::move(entries);
  return dict;
}

void ScriptInterpreter::forbidChanges(const ScriptValue &container) {
  if (container.isDict()) {
    journal.save(container.get<std::shared_ptr<ScriptDict>>());
    container.getDict().isUncertain = true;
  } else if (!container.getList().isTuple) {
    journal.save(container.get<std::shared_ptr<ScriptList>>());
    container.getList().isUncertain = true;
  }
}

ScriptValue ScriptInterpreter::makeNumber(NodeValue value) {
  auto *constant = value.getNodeAs<Constant>();
  if (!constant) {
    // An int may follow from extents.
    if (value.getElemKind() == ElemKind::Int64)
      if (auto extents = findExtents(getFunction().getModule(), value);
          extents && extents->size() == 1)
        return ScriptValue::ofExtent(extents->front());
    return value;
  }
  const Tensor &tensor = constant->getTensor();
  if (isFloatKind(value.getElemKind()))
    return tensor.getAsDouble(0);
  if (value.getElemKind() == ElemKind::Bool)
    return tensor.getAsInt(0) != 0;
  return tensor.getAsInt(0);
}

NodeValue ScriptInterpreter::makeScalar(const ScriptValue &number) {
  if (number.isComputed())
    return memory.enter(number.get<NodeValue>());
  if (number.is<Extent>()) {
    // Inputs state all symbols, and sums and products don't fail.
    NodeBuilder b(mainScope.function, memory.nodeName);
    return memory.enter(
        llvm::cantFail(b.finish(b.compute(number.get<Extent>()))));
  }
  Tensor tensor(*number.getType());
  if (number.isInt())
    tensor.data<int64_t>()[0] = number.getInt();
  else
    tensor.setFromDouble(0, number.getNumber());
  return NodeValue(getFunction().getModule().createConstant(memory.nodeName,
                                                            std::move(tensor)));
}

/// Whether \p tensor of \p kind repeats so few elements, by strides of 0, that
/// they must not be copied.
static bool isExpanded(const ProgramTensor &tensor, ElemKind kind) {
  Type type(kind, tensor.shape);
  if (type.getNumElements() == 0)
    return false;
  // The reader has compared it with the storage.
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip_equal(tensor.shape, tensor.strides))
    span += std::abs(stride) * (extent - 1);
  return type.getSizeInBytes() > getMostExpanded(span * getElemSize(kind));
}

/// The elements of \p tensor in row-major order: its own memory, which
/// \p program keeps, if that is in order.
static std::shared_ptr<const Tensor> borrowOrCopy(const Program &program,
                                                  const ProgramTensor &tensor,
                                                  ElemKind kind) {
  Type type(kind, tensor.shape);
  Dims dense = getDenseStrides(tensor.shape);
  bool isDense = true;
  for (auto [extent, stride, own] :
       llvm::zip_equal(tensor.shape, tensor.strides, dense))
    isDense &= extent == 1 || stride == own;
  isDense |= type.getNumElements() == 0;
  bool isAligned = uintptr_t(tensor.data) % Tensor::alignment == 0;
  if (isDense && isAligned && tensor.data)
    return std::make_shared<const Tensor>(StoredElements::makeTensor(
        type, {{static_cast<const uint8_t *>(tensor.data),
                size_t(type.getSizeInBytes())},
               program.owner}));
  auto copy = std::make_shared<Tensor>(type);
  size_t size = getElemSize(kind);
  auto *to = static_cast<char *>(copy->getBytes());
  auto *from = static_cast<const char *>(tensor.data);
  for (int64_t i = 0, count = type.getNumElements(); i < count; ++i) {
    int64_t offset = 0, rest = i;
    for (auto [stride, own] : llvm::zip_equal(tensor.strides, dense)) {
      offset += rest / own * stride;
      rest %= own;
    }
    memcpy(to + size_t(i) * size, from + offset * int64_t(size), size);
  }
  return copy;
}

/// A tensor that was there before the program began.
ScriptTensorRef ScriptInterpreter::addStored(NodeValue value,
                                             const std::string &name,
                                             DimsRef strides) {
  ScriptTensorRef tensor = memory.create(value, Dims(strides));
  ScriptPlace &place = *tensor->place;
  place.storage->name = name;
  place.storage->birth = place.birth = tensor->birth = 0;
  for (const ScriptAttribute &other : tensors)
    if (sharing.contains({name, other.name}) ||
        sharing.contains({other.name, name}))
      memory.join({other.storage, place.storage});
  tensors.push_back({name, place.storage, value});
  return tensor;
}

std::string ScriptInterpreter::getConstantName(size_t index) {
  return "constant_" + std::to_string(index);
}

ScriptInterpreter::MemoryKey
ScriptInterpreter::getMemoryKey(const ProgramTensor &tensor) {
  std::vector<int64_t> layout = tensor.shape;
  llvm::append_range(layout, tensor.strides);
  layout.push_back(tensor.kind);
  return {tensor.data, std::move(layout)};
}

/// Calls \p visit with each tensor in \p constant, which is called \p name.
static void forEachTensor(
    const ProgramConstant &constant, const std::string &name,
    llvm::function_ref<void(size_t index, const std::string &name)> visit) {
  if (constant.kind == ProgramConstant::Kind::Tensor)
    visit(constant.index, name);
  for (auto [i, element] : llvm::enumerate(constant.elements))
    forEachTensor(element, name + "." + std::to_string(i), visit);
}

/// Returns the name of the attribute that the caller states for \p tensor,
/// which is called \p name: that one, or another name of the same tensor.
std::string ScriptInterpreter::findGivenName(const ProgramTensor &tensor,
                                             const std::string &name) {
  auto isGiven = [&](const std::string &own) {
    auto found = attributes.find(own);
    return found != attributes.end() && found->second.tensor;
  };
  if (isGiven(name) || attributes.empty() || !tensor.data)
    return name;
  if (names.empty())
    for (const ProgramObject &object : program.objects)
      for (const auto &[own, value] : object.attributes)
        forEachTensor(
            value, object.path + (object.path.empty() ? "" : ".") + own,
            [&](size_t index, const std::string &path) {
              names[getMemoryKey(program.tensors[index])].push_back(path);
            });
  for (const std::string &own : names[getMemoryKey(tensor)])
    if (isGiven(own))
      return own;
  return name;
}

/// Returns the tensor that the caller states for the attribute \p name, which
/// is \p archived before the first run; null if that is no tensor.
ScriptTensorRef ScriptInterpreter::addGiven(const std::string &name,
                                            const ProgramTensor *archived) {
  ScriptTensorRef &tensor = given[name];
  if (tensor)
    return tensor;
  NodeValue value = attributes.find(name)->second.tensor;
  // It may have another shape by then.
  bool isLike = archived && DimsRef(archived->shape) == value.getShape();
  tensor = addStored(value, name,
                     isLike ? Dims(DimsRef(archived->strides))
                            : getDenseStrides(value.getShape()));
  return tensor;
}

/// Makes a complex tensor of the archive, whose elements are pairs of numbers.
ScriptValue ScriptInterpreter::makeStoredComplex(const ProgramTensor &tensor,
                                                 const std::string &name) {
  auto makePart = [&](llvm::StringRef part, size_t position) {
    ProgramTensor own = tensor;
    own.kind -= complexKindDistance;
    for (int64_t &stride : own.strides)
      stride *= 2;
    if (own.data)
      own.data = static_cast<const char *>(own.data) +
                 position * getElemSize(*getPartKind(tensor.kind));
    ScriptValue value = makeStoredTensor(own, name + "." + part.str());
    return value.isTensor() ? value.getTensor() : nullptr;
  };
  ScriptTensorRef real = makePart("real", 0), imaginary = makePart("imag", 1);
  if (!real || !imaginary)
    return ScriptIgnored{"a complex tensor that repeats few elements"};
  return makeComplex(std::move(real), std::move(imaginary));
}

ScriptValue ScriptInterpreter::makeStoredTensor(size_t index,
                                                llvm::StringRef name) {
  return makeStoredTensor(program.tensors[index],
                          name.empty() ? getConstantName(index) : name.str());
}

ScriptValue ScriptInterpreter::makeStoredTensor(const ProgramTensor &tensor,
                                                const std::string &name) {
  std::string own = findGivenName(tensor, name);
  auto stated = attributes.find(own);
  if (stated != attributes.end() && stated->second.tensor)
    return addGiven(own, &tensor);
  // Empty ones have no address.
  ScriptTensorRef unshared;
  ScriptTensorRef &known =
      tensor.data ? stored[getMemoryKey(tensor)] : unshared;
  if (known)
    return known;
  if (tensor.unsupported.empty() && getPartKind(tensor.kind))
    return makeStoredComplex(tensor, own);
  std::optional<ElemKind> kind = getAtenKind(tensor.kind);
  if (!tensor.unsupported.empty())
    return ScriptIgnored{"a tensor that is " + tensor.unsupported};
  if (!kind)
    return ScriptIgnored{"a tensor of PyTorch's type " +
                         std::to_string(tensor.kind)};
  if (isExpanded(tensor, *kind))
    return ScriptIgnored{"a tensor that repeats few elements"};
  auto elements = borrowOrCopy(program, tensor, *kind);
  aten.budget.grow(elements->getSizeInBytes());
  Module &module = getFunction().getModule();
  NodeValue value;
  if (options.variables && tensor.isParameter && isFloatKind(*kind) &&
      !tensor.shape.empty()) {
    std::string variable = getUniqueModelName(module, own, "_variable");
    value = NodeValue(module.createPlaceholder(variable, elements->getType(),
                                               /*isInput=*/true,
                                               /*isOutput=*/true));
    (*options.variables)[variable] = elements;
  } else {
    value = NodeValue(module.createConstant(own, elements));
  }
  known = addStored(value, own, tensor.strides);
  return known;
}

std::optional<ScriptValue>
torchscript::readPlainConstant(const ProgramConstant &constant) {
  using Kind = ProgramConstant::Kind;
  switch (constant.kind) {
  case Kind::None:
    return ScriptValue();
  case Kind::Int:
    return ScriptValue(constant.integer);
  case Kind::Float:
    return ScriptValue(constant.real);
  case Kind::Bool:
    return ScriptValue(constant.integer != 0);
  case Kind::String:
    return ScriptValue(constant.text);
  default:
    return std::nullopt;
  }
}

static ScriptValue makeConstantWith(
    ScriptInterpreter &in, const ProgramConstant &constant,
    llvm::function_ref<ScriptValue(const ProgramConstant &)> makeElement) {
  using Kind = ProgramConstant::Kind;
  if (std::optional<ScriptValue> plain = readPlainConstant(constant))
    return *plain;
  switch (constant.kind) {
  case Kind::List:
  case Kind::Tuple: {
    ScriptValues elements;
    for (const ProgramConstant &element : constant.elements)
      elements.push_back(makeElement(element));
    return in.makeList(std::move(elements), constant.kind == Kind::Tuple);
  }
  case Kind::Quantized: {
    ScriptValues own;
    for (const ProgramConstant &element : constant.elements)
      own.push_back(makeElement(element));
    // One that repeats few elements is none.
    for (size_t i = 0; i < 3; ++i)
      if (!own[i].isTensor())
        return own[i];
    std::optional<int64_t> axis;
    if (own.size() > 3)
      axis = own[3].getInt();
    // libtorch does not compare what an archive states of them.
    DimsRef shape = own[0].getTensor()->getType().getShape();
    Dims wanted;
    if (axis && *axis >= 0 && *axis < int64_t(shape.size()))
      wanted.push_back(shape[size_t(*axis)]);
    for (size_t i : {1, 2})
      if (own[i].getTensor()->getType().getShape() != DimsRef(wanted) ||
          wanted.empty() == axis.has_value())
        return ScriptIgnored{"a quantized tensor whose scales or zero points "
                             "don't fit its dimensions"};
    return in.makeQuantized(own[0].getTensor(), own[1].getTensor(),
                            own[2].getTensor(), axis);
  }
  case Kind::Dict: {
    std::vector<ScriptDict::Entry> entries;
    for (size_t i = 0; i + 1 < constant.elements.size(); i += 2)
      entries.push_back({makeElement(constant.elements[i]),
                         makeElement(constant.elements[i + 1])});
    return in.makeDict(std::move(entries));
  }
  case Kind::Object:
    return in.getObject(constant.index);
  case Kind::Unsupported:
    return ScriptIgnored{"a value of type " + constant.text};
  default:
    return ScriptIgnored();
  }
}

ScriptValue ScriptInterpreter::makeConstant(const ProgramConstant &constant) {
  if (constant.kind == ProgramConstant::Kind::Tensor)
    return makeStoredTensor(constant.index, "");
  return makeConstantWith(*this, constant, [&](const ProgramConstant &element) {
    return makeConstant(element);
  });
}

//===- Attributes ---------------------------------------------------------===//

std::shared_ptr<ScriptObject> ScriptInterpreter::getObject(size_t index) {
  std::shared_ptr<ScriptObject> &object = objects[index];
  if (!object) {
    object = std::make_shared<ScriptObject>();
    object->stored = &program.objects[index];
    object->type = object->stored->type;
  }
  return object;
}

llvm::Error ScriptInterpreter::loadAttribute(llvm::StringRef name) {
  for (size_t i = 0; i < program.objects.size(); ++i)
    for (const auto &[own, value] : program.objects[i].attributes) {
      const std::string &path = program.objects[i].path;
      std::string full = path + (path.empty() ? "" : ".") + own;
      if (name == full || name.starts_with(full + "."))
        GLOWISH_RETURN_IF_ERROR(getAttribute(*getObject(i), own).takeError());
    }
  return llvm::Error::success();
}

llvm::Expected<ScriptValue>
ScriptInterpreter::getAttribute(ScriptObject &object, llvm::StringRef name) {
  if (auto *known = object.attributes.find(name.str());
      known != object.attributes.end())
    return known->second;
  const ProgramConstant *found = nullptr;
  if (object.stored)
    for (const auto &[own, value] : object.stored->attributes)
      if (own == name)
        found = &value;
  if (!found)
    return makeError("the object has no attribute '{0}'", name);
  std::string path = object.stored->path;
  path += (path.empty() ? "" : ".") + name.str();
  std::function<ScriptValue(const ProgramConstant &, const std::string &)>
      make = [&](const ProgramConstant &constant,
                 const std::string &own) -> ScriptValue {
    if (constant.kind == ProgramConstant::Kind::Tensor)
      return makeStoredTensor(constant.index, own);
    // They were there before the program began.
    size_t number = 0;
    ScriptValue value =
        makeConstantWith(*this, constant, [&](const ProgramConstant &element) {
          return make(element, own + "." + std::to_string(number++));
        });
    if (value.isList())
      value.getList().birth = 0;
    if (value.isDict())
      value.getDict().birth = 0;
    return value;
  };
  auto stated = attributes.find(path);
  ScriptValue value = make(*found, path);
  if (stated != attributes.end() && !stated->second.tensor)
    value = stated->second.other;
  else if (stated != attributes.end() && !value.isTensor())
    value = addGiven(path, /*archived=*/nullptr);
  object.attributes[name.str()] = object.before[name.str()] = value;
  return value;
}
