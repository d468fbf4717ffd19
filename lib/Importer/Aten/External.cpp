//===- External.cpp - External operators in PyTorch's programs ------------===//

#include "Aten/External.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::aten;

const ExternalOperator *aten::findExternalAten(const ImportOptions &options,
                                               llvm::StringRef name) {
  auto [space, own] = name.split("::");
  if (own.empty())
    return nullptr;
  const ExternalOperator *found = findExternalOperator(options, space, own);
  return found ? found
               : findExternalOperator(options, space, own.split('.').first);
}

namespace {

/// Divides arguments into inputs and attributes.
class ArgumentSorter {
public:
  llvm::Error add(const std::string &name, const AtenValue &value,
                  bool isTensor) {
    if (value.isTensor())
      inputs.push_back(value.get<NodeValue>());
    else if (value.isNone() && isTensor)
      inputs.push_back(NodeValue());
    else if (value.is<AtenValue::List>())
      return addList(name, value.get<AtenValue::List>());
    else if (!value.isNone())
      attributes.push_back({name, readNumberOrText(value)});
    return llvm::Error::success();
  }

  std::vector<NodeValue> inputs;
  NamedValues attributes;

private:
  static NamedValue::Content readNumberOrText(const AtenValue &value) {
    if (value.is<double>())
      return value.get<double>();
    if (value.is<std::string>())
      return value.get<std::string>();
    if (value.is<bool>())
      return int64_t(value.get<bool>());
    if (value.is<ElemKind>())
      return int64_t(value.get<ElemKind>());
    return value.get<int64_t>();
  }

  llvm::Error addList(const std::string &name, const AtenValue::List &list);
  template <typename T>
  void addElements(const std::string &name, const AtenValue::List &list) {
    std::vector<T> elements;
    for (const AtenValue &element : list)
      elements.push_back(std::get<T>(readNumberOrText(element)));
    attributes.push_back({name, std::move(elements)});
  }
};

} // namespace

llvm::Error ArgumentSorter::addList(const std::string &name,
                                    const AtenValue::List &list) {
  auto isAll = [&](auto test) { return llvm::all_of(list, test); };
  if (isAll([](const AtenValue &each) {
        return each.is<int64_t>() || each.is<bool>();
      }))
    addElements<int64_t>(name, list);
  else if (isAll([](const AtenValue &each) { return each.is<double>(); }))
    addElements<double>(name, list);
  else if (isAll([](const AtenValue &each) { return each.is<std::string>(); }))
    addElements<std::string>(name, list);
  else if (isAll([](const AtenValue &each) {
             return each.isTensor() || each.isNone();
           }))
    for (const AtenValue &each : list)
      inputs.push_back(each.isNone() ? NodeValue() : each.get<NodeValue>());
  else
    return makeError("argument '{0}' is a list of several kinds of values; "
                     "accepted of an external operator: tensors, integers, "
                     "floats or strings",
                     name);
  return llvm::Error::success();
}

//===- Effects ------------------------------------------------------------===//

llvm::Expected<ExternalEffects>
aten::findExternalEffects(llvm::ArrayRef<SharedArgument> arguments,
                          llvm::ArrayRef<SharedArgument> results) {
  ExternalEffects effects;
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (argument.isWritten)
      effects.written.push_back(unsigned(i));
  for (auto [i, result] : llvm::enumerate(results)) {
    std::optional<unsigned> &own = effects.results.emplace_back();
    if (result.aliasSet.empty())
      continue;
    auto isShared = [&](const SharedArgument &argument) {
      return argument.aliasSet == result.aliasSet;
    };
    const SharedArgument *shared = llvm::find_if(arguments, isShared);
    if (shared == arguments.end())
      return makeError("its schema says that result {0} may share memory with "
                       "any tensor, Tensor({1}); accepted: new tensors, and "
                       "arguments that it writes, Tensor(a!)",
                       i, result.aliasSet);
    if (!shared->isWritten || !result.isWritten ||
        llvm::count_if(arguments, isShared) != 1)
      return makeError("its schema says that result {0} is a view of the "
                       "argument '{1}'; accepted: new tensors, and arguments "
                       "that it writes, Tensor(a!)",
                       i, shared->name);
    own = unsigned(shared - arguments.begin());
  }
  return effects;
}

llvm::Expected<bool> aten::writesArguments(const ExternalOperator &op) {
  if (op.getSchema().empty())
    return false;
  GLOWISH_ASSIGN_OR_RETURN(AtenSchema schema, parseAtenSchema(op.getSchema()));
  return llvm::any_of(schema.arguments, [](const AtenArgument &argument) {
    return argument.isWritten;
  });
}

//===- Calls --------------------------------------------------------------===//

/// Adds the arguments of \p schema in its order.
static llvm::Error addBySchema(ArgumentSorter &sorter, llvm::StringRef text,
                               llvm::ArrayRef<NamedAtenValue> arguments) {
  GLOWISH_ASSIGN_OR_RETURN(AtenSchema schema, parseAtenSchema(text));
  for (const NamedAtenValue &argument : arguments)
    if (!schema.findArgument(argument.name))
      return makeError("it has the argument '{0}'; accepted: those of the "
                       "schema {1}",
                       argument.name, text);
  for (const AtenArgument &own : schema.arguments) {
    auto stated = llvm::find_if(arguments, [&](const NamedAtenValue &each) {
      return each.name == own.name;
    });
    if (stated == arguments.end() && !own.fallback)
      return makeError("it has no argument '{0}'", own.name);
    GLOWISH_RETURN_IF_ERROR(sorter.add(
        own.name, stated == arguments.end() ? *own.fallback : stated->value,
        own.type.base == AtenType::Base::Tensor));
  }
  return llvm::Error::success();
}

llvm::Expected<AtenValue::List> aten::importExternalAten(
    const ExternalOperator &op, Function &function, llvm::StringRef name,
    llvm::ArrayRef<NamedAtenValue> arguments, unsigned numResults) {
  ArgumentSorter sorter;
  if (!op.getSchema().empty())
    GLOWISH_RETURN_IF_ERROR(addBySchema(sorter, op.getSchema(), arguments));
  else
    for (const NamedAtenValue &argument : arguments)
      GLOWISH_RETURN_IF_ERROR(
          sorter.add(argument.name, argument.value, /*isTensor=*/false));
  GLOWISH_ASSIGN_OR_RETURN(
      auto results,
      importExternalOperator(op, function, name, sorter.inputs,
                             std::move(sorter.attributes), numResults));
  return makeAtenList(results);
}
