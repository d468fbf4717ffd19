//===- ModelInputs.cpp - Inputs and outputs of programs -------------------===//

#include "TorchScript/ModelInputs.h"
#include "Common/Messages.h"
#include "Common/SymbolInputs.h"
#include "glowish/Support/SettingNames.h"

using namespace glowish;
using namespace glowish::torchscript;
using TypeKind = ProgramType::Kind;

//===- Inputs -------------------------------------------------------------===//

/// The type that the options state for the input \p name; null if there is
/// none.
const Type *ModelInputs::findType(llvm::StringRef name) {
  for (const auto *types : {&options.inputTypes, &options.givenTypes})
    if (auto found = types->find(name.str()); found != types->end())
      return &found->second;
  return numTaken < options.givenTypesInOrder.size()
             ? &options.givenTypesInOrder[numTaken++]
             : nullptr;
}

/// Whether the options state something for \p name or an element of it.
static bool isStated(const ImportOptions &options, llvm::StringRef name) {
  auto covers = [&](llvm::StringRef stated) {
    return stated == name ||
           (stated.starts_with(name) && stated[name.size()] == '.');
  };
  auto any = [&](const auto &map) {
    return llvm::any_of(map,
                        [&](const auto &entry) { return covers(entry.first); });
  };
  return any(options.inputTypes) || any(options.constantInputs) ||
         any(options.constantTexts) || any(options.givenTypes);
}

static bool isNumber(const ProgramType &type) {
  return type.kind == TypeKind::Int || type.kind == TypeKind::Float ||
         type.kind == TypeKind::Bool || type.kind == TypeKind::Number;
}

/// The kind of a number that the graph gets as an input.
static ElemKind getNumberKind(const ProgramType &type) {
  return type.kind == TypeKind::Bool  ? ElemKind::Bool
         : type.kind == TypeKind::Int ? ElemKind::Int64
                                      : ElemKind::Double;
}

/// Makes a string of what the options state for \p name, an input of \p type.
llvm::Expected<ModelInputs::Input>
ModelInputs::createText(const std::string &name, const ProgramType &type) {
  names.push_back(name);
  auto text = options.constantTexts.find(name);
  if (text == options.constantTexts.end())
    return makeError("the input {0} is of type {1}; accepted: "
                     "«constant-input={2},\"text\"»",
                     quote(name), type.text, name);
  return Input{.known = text->second};
}

llvm::Expected<ModelInputs::Input>
ModelInputs::createPlaceholder(const std::string &name,
                               const ProgramType &type) {
  names.push_back(name);
  if (options.constantTexts.contains(name))
    return makeError("the input {0} is of type {1}; stated for it is a string",
                     quote(name), type.text);
  Input input{.isNumber = isNumber(type),
              .isReal = type.kind == TypeKind::Float};
  if (auto constant = options.constantInputs.find(name);
      constant != options.constantInputs.end()) {
    input.known = NodeValue(module.createConstant(name, constant->second));
    ElemKind kind = constant->second->getType().getKind();
    if (type.kind == TypeKind::Int && kind != ElemKind::Int64)
      return makeError("the input {0} is an int; stated for it is {1}",
                       quote(name), constant->second->getType().str());
    return input;
  }
  const Type *stated = findType(name);
  if (!stated && !input.isNumber)
    return makeError("the type of the input {0} is unknown; accepted: "
                     "«model-input={1},float,[...]» with its extents",
                     quote(name), name);
  Type own = input.isNumber ? Type(getNumberKind(type), {}) : *stated;
  if (input.isNumber && stated &&
      (stated->getKind() != own.getKind() || stated->getNumElements() != 1))
    return makeError("the input {0} is {1}; stated for it is {2}", quote(name),
                     own.str(), stated->str());
  if (own.isQuantized())
    return makeError("the input {0} is {1}; accepted: floats, plain integers "
                     "and bool",
                     quote(name), own.str());
  std::vector<std::string> all = names;
  for (const ProgramInput &other : program.inputs)
    all.push_back(other.name);
  input.placeholder =
      createInput(module, {name, own}, SymbolRanges(options.symbolRanges), all);
  return input;
}

/// Whether inputs of \p type are tensors, numbers, strings, or lists of such.
static bool canBeStated(const ProgramType &type) {
  switch (type.kind) {
  case TypeKind::List:
  case TypeKind::Tuple:
  case TypeKind::Optional:
    return llvm::all_of(type.elements, canBeStated);
  case TypeKind::Dict:
    return type.elements[0].kind == TypeKind::String &&
           canBeStated(type.elements[1]);
  default:
    return type.kind == TypeKind::Tensor || type.kind == TypeKind::String ||
           isNumber(type);
  }
}

/// How the options state an input of \p type that is called \p name.
static std::string describeOption(const std::string &name,
                                  const ProgramType &type) {
  const ProgramType *own = &type;
  while (own->kind == TypeKind::Optional && own->elements.size() == 1)
    own = &own->elements.front();
  return own->kind == TypeKind::String
             ? nameSetting("constant-input", name + ",\"text\"")
             : nameSetting("model-input", name + ",float,[...]");
}

/// Returns the keys of the dictionary \p name for which the options state
/// something.
static std::vector<std::string> findKeys(const ImportOptions &options,
                                         const std::string &name) {
  std::vector<std::string> keys;
  auto find = [&](const auto &map) {
    for (const auto &[stated, own] : map)
      if (llvm::StringRef key = stated; key.consume_front(name + ".") &&
                                        !key.contains('.') &&
                                        !llvm::is_contained(keys, key))
        keys.push_back(key.str());
  };
  find(options.inputTypes);
  find(options.givenTypes);
  find(options.constantInputs);
  find(options.constantTexts);
  return keys;
}

/// A list has as many elements as the options state types for.
llvm::Expected<ModelInputs::Input>
ModelInputs::createList(const std::string &name, const ProgramType &type) {
  Input input{.isContainer = true, .isTuple = type.kind == TypeKind::Tuple};
  auto getElementName = [&](size_t i) {
    return name + "." + std::to_string(i);
  };
  if (type.kind == TypeKind::Dict) {
    for (const std::string &key : findKeys(options, name)) {
      GLOWISH_ASSIGN_OR_RETURN(
          Input element, create(name + "." + key, type.elements[1], nullptr));
      input.keys.push_back(key);
      input.elements.push_back(std::move(element));
    }
    if (input.keys.empty())
      return makeError("the input {0} is a dictionary; accepted: {1} for each "
                       "of its keys",
                       quote(name),
                       describeOption(name + ".KEY", type.elements[1]));
    return input;
  }
  size_t length = type.elements.size();
  if (type.kind == TypeKind::List)
    for (length = 0; isStated(options, getElementName(length));)
      ++length;
  for (size_t i = 0; i < length; ++i) {
    const ProgramType &own = type.elements[input.isTuple ? i : 0];
    GLOWISH_ASSIGN_OR_RETURN(Input element,
                             create(getElementName(i), own, nullptr));
    input.elements.push_back(std::move(element));
  }
  if (input.elements.empty())
    return makeError("the input {0} is a list; accepted: {1} and so on for its "
                     "elements",
                     quote(name),
                     describeOption(name + ".0", type.elements.front()));
  return input;
}

/// Returns the value that the archive states for an input, if it is known.
static std::optional<ScriptValue> getKnown(const ProgramConstant *fallback) {
  return fallback ? readPlainConstant(*fallback) : std::nullopt;
}

llvm::Expected<ModelInputs::Input>
ModelInputs::create(const std::string &name, const ProgramType &type,
                    const ProgramConstant *fallback) {
  if (type.kind == TypeKind::Optional && type.elements.size() == 1) {
    if (isStated(options, name))
      return create(name, type.elements.front(), nullptr);
    names.push_back(name);
    return Input{.known = getKnown(fallback).value_or(ScriptValue())};
  }
  if (type.kind == TypeKind::Tensor)
    return createPlaceholder(name, type);
  bool isContainer = type.kind == TypeKind::List ||
                     type.kind == TypeKind::Tuple ||
                     type.kind == TypeKind::Dict;
  if (isContainer && canBeStated(type))
    return createList(name, type);
  std::optional<ScriptValue> known = getKnown(fallback);
  if (known && !isStated(options, name)) {
    names.push_back(name);
    return Input{.known = *known};
  }
  if (isNumber(type))
    return createPlaceholder(name, type);
  if (type.kind == TypeKind::String)
    return createText(name, type);
  if (type.kind == TypeKind::Device)
    return Input{.known = ScriptIgnored()};
  return makeError("the input {0} is of type {1}; accepted: tensors, numbers, "
                   "strings, and lists, tuples and dictionaries of them",
                   quote(name), type.text);
}

llvm::Error ModelInputs::create() {
  for (const ProgramInput &input : program.inputs) {
    GLOWISH_ASSIGN_OR_RETURN(
        Input own, create(input.name, input.type,
                          input.fallback ? &*input.fallback : nullptr));
    inputs.push_back(std::move(own));
  }
  if (options.variables && !options.symbolRanges.empty())
    return makeError("the symbol {0} has a range; accepted in trainings: one "
                     "value",
                     quote(options.symbolRanges.begin()->first));
  GLOWISH_RETURN_IF_ERROR(checkStatedInputs(options, names));
  return checkStatedSymbols(options);
}

/// A known int as the float that the program takes.
static ScriptValue toFloat(const ScriptValue &value) {
  return value.isInt() ? ScriptValue(double(value.getInt())) : value;
}

ScriptValue ModelInputs::make(ScriptInterpreter &in, const Input &input) const {
  if (input.isContainer) {
    ScriptValues elements;
    for (const Input &element : input.elements)
      elements.push_back(make(in, element));
    if (input.keys.empty())
      return in.makeList(std::move(elements), input.isTuple);
    auto dict = std::make_shared<ScriptDict>();
    for (auto [key, element] : llvm::zip_equal(input.keys, elements))
      dict->entries.push_back({key, element});
    return dict;
  }
  bool isComputed = input.known.isComputed();
  if (!input.placeholder && !isComputed)
    return input.known;
  NodeValue value =
      isComputed ? input.known.get<NodeValue>() : NodeValue(input.placeholder);
  if (input.isNumber)
    return input.isReal ? toFloat(in.makeNumber(value)) : in.makeNumber(value);
  ScriptTensorRef tensor = in.memory.createDense(value);
  if (input.placeholder)
    tensors.emplace_back(input.placeholder, tensor->place->storage);
  return tensor;
}

void ModelInputs::set(ScriptInterpreter &in) const {
  tensors.clear();
  if (program.self)
    in.set(*program.self, in.getObject(0));
  for (auto [input, own] : llvm::zip_equal(program.inputs, inputs))
    in.set(input.value, make(in, own));
}

std::vector<ModelInputs::Written> ModelInputs::getWritten() const {
  std::vector<Written> written;
  for (const auto &[placeholder, storage] : tensors)
    if (storage->value != NodeValue(placeholder))
      written.push_back({placeholder, storage->value});
  return written;
}

//===- Outputs ------------------------------------------------------------===//

/// Appends the tensors and numbers of \p value, which is called \p name.
static llvm::Error addOutputs(ScriptInterpreter &in, const ScriptValue &value,
                              const std::string &name,
                              std::vector<ModelOutput> &outputs) {
  auto addElement = [&](const std::string &key, const ScriptValue &element) {
    return addOutputs(in, element, name + "." + key, outputs);
  };
  if (value.isTensor()) {
    GLOWISH_ASSIGN_OR_RETURN(NodeValue tensor,
                             in.memory.read(value.getTensor()->place));
    outputs.push_back({name, tensor});
  } else if (value.isNumber()) {
    outputs.push_back({name, in.makeScalar(value)});
  } else if (value.isList()) {
    const ScriptList &list = value.getList();
    for (auto [i, element] : llvm::enumerate(list.elements))
      GLOWISH_RETURN_IF_ERROR(addElement(
          i < list.names.size() ? list.names[i] : std::to_string(i), element));
  } else if (value.isDict()) {
    for (const ScriptDict::Entry &entry : value.getDict().entries)
      GLOWISH_RETURN_IF_ERROR(
          addElement(entry.key.is<std::string>() ? entry.key.get<std::string>()
                     : entry.key.isInt() ? std::to_string(entry.key.getInt())
                                         : "value",
                     entry.value));
  } else if (value.isObject()) {
    for (const auto &[attribute, own] : value.getObject().attributes)
      GLOWISH_RETURN_IF_ERROR(addElement(attribute, own));
  } else if (!value.isNone()) {
    return in.report(llvm::formatv("'{0}': the output '{1}' is {2}, and left "
                                   "out",
                                   in.program.name, name, value.describe())
                         .str());
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<ModelOutput>>
torchscript::readOutputs(ScriptInterpreter &in) {
  std::vector<ModelOutput> outputs;
  ScriptValues values = in.getOutputs(in.program.body);
  for (auto [i, value] : llvm::enumerate(values))
    GLOWISH_RETURN_IF_ERROR(addOutputs(
        in, value,
        values.size() == 1 ? "output" : "output." + std::to_string(i),
        outputs));
  if (outputs.empty())
    return makeError("the program returns no tensor");
  return outputs;
}
