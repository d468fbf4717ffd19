//===- External.cpp - Import of external operators ------------------------===//

#include "Common/External.h"
#include "glowish/Graph/GraphText.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Error.h"

using namespace glowish;

using Values = llvm::SmallVector<NodeValue, 4>;

const ExternalOperator *
glowish::findExternalOperator(const ImportOptions &options,
                              llvm::StringRef domain, llvm::StringRef name) {
  return options.operators ? options.operators->find(domain, name) : nullptr;
}

static ExternalUse makeUse(llvm::ArrayRef<NodeValue> inputs,
                           NamedValues attributes, unsigned numResults) {
  ExternalUse use;
  for (NodeValue input : inputs) {
    use.inputs.push_back(input ? std::optional(input.getType()) : std::nullopt);
    auto *constant = input ? input.getNodeAs<Constant>() : nullptr;
    use.constants.push_back(constant ? &constant->getTensor() : nullptr);
  }
  use.attributes = std::move(attributes);
  use.numResults = numResults;
  return use;
}

static std::string formatTypes(llvm::ArrayRef<NodeValue> values) {
  std::string text = "(";
  for (NodeValue value : values)
    text += (text.size() > 1 ? ", " : "") + value.getType().str();
  return text + ")";
}

/// What \p op is composed of, in the place of its use.
static llvm::Expected<Values> compose(const ExternalOperator &op,
                                      Function &function,
                                      llvm::ArrayRef<NodeValue> present,
                                      const ExternalUse &use) {
  GLOWISH_ASSIGN_OR_RETURN(std::string text, op.compose(use));
  GLOWISH_ASSIGN_OR_RETURN(std::shared_ptr<FunctionBody> body,
                           parseBody(text, "composition of " + op.getFullName(),
                                     function.getModule()));
  TypeList parameters = body->getParameterTypes();
  if (!llvm::equal(parameters, present, [](const Type &type, NodeValue value) {
        return type == value.getType();
      }))
    return makeError("the plug-in's composition has other parameters; "
                     "accepted: {0}",
                     formatTypes(present));
  return body->getFunction().inlineInto(function, present);
}

static llvm::Expected<Values>
createCall(const ExternalOperator &op, Function &function, llvm::StringRef name,
           llvm::ArrayRef<NodeValue> present, const ExternalUse &use) {
  GLOWISH_ASSIGN_OR_RETURN(TypeList types, op.inferTypes(use));
  std::vector<int64_t> absent;
  for (auto [i, input] : llvm::enumerate(use.inputs))
    if (!input)
      absent.push_back(int64_t(i));
  GLOWISH_ASSIGN_OR_RETURN(ExternalCallNode *call,
                           function.tryCreate<ExternalCallNode>(
                               name, present, op.getFullName(),
                               op.getFunction().str(),
                               std::vector<Type>(types.begin(), types.end()),
                               use.attributes, absent));
  Values results;
  for (unsigned i = 0; i < call->getNumResults(); ++i)
    results.push_back(call->getResult(i));
  return results;
}

llvm::Expected<Values>
glowish::importExternalOperator(const ExternalOperator &op, Function &function,
                                llvm::StringRef name,
                                llvm::ArrayRef<NodeValue> inputs,
                                NamedValues attributes, unsigned numResults) {
  while (!inputs.empty() && !inputs.back())
    inputs = inputs.drop_back();
  ExternalUse use = makeUse(inputs, std::move(attributes), numResults);
  std::vector<NodeValue> present;
  llvm::copy_if(inputs, std::back_inserter(present),
                [](NodeValue input) { return bool(input); });
  GLOWISH_ASSIGN_OR_RETURN(Values results,
                           op.isComposed()
                               ? compose(op, function, present, use)
                               : createCall(op, function, name, present, use));
  if (results.size() < numResults)
    return makeError("the operator has {0} results; the model names {1}",
                     results.size(), numResults);
  return results;
}
