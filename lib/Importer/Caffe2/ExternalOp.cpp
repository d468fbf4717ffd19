//===- ExternalOp.cpp - External operators in Caffe2 nets -----------------===//

#include "Caffe2/ExternalOp.h"
#include "Common/External.h"
#include "Common/Messages.h"

using namespace glowish;
using namespace glowish::caffe2;
using schema::Argument;

/// What \p arg has; nothing of nets.
static std::optional<NamedValue::Content> readContent(const Argument &arg) {
  if (arg.has_i())
    return int64_t(arg.i());
  if (arg.has_f())
    return double(arg.f());
  if (arg.has_s())
    return arg.s();
  if (arg.has_n() || arg.nets_size())
    return std::nullopt;
  if (arg.floats_size())
    return std::vector<double>(arg.floats().begin(), arg.floats().end());
  if (arg.strings_size())
    return std::vector<std::string>(arg.strings().begin(), arg.strings().end());
  return std::vector<int64_t>(arg.ints().begin(), arg.ints().end());
}

llvm::Error caffe2::importExternalNetOp(NetOp &op) {
  const ExternalOperator *external =
      findExternalOperator(op.getNet().options, caffe2Domain, op.getType());
  std::vector<NodeValue> inputs;
  for (unsigned i = 0; i < op.getNumInputs(); ++i)
    inputs.push_back(op.input(i));
  NamedValues attributes;
  for (const Argument &arg : op.getArgs()) {
    std::optional<NamedValue::Content> content = readContent(arg);
    if (!content)
      return makeError("argument {0} is a net; accepted of an external "
                       "operator: numbers, strings and lists of them",
                       quote(arg.name()));
    attributes.push_back({arg.name(), std::move(*content)});
  }
  GLOWISH_ASSIGN_OR_RETURN(
      auto results,
      importExternalOperator(*external, op.getFunction(), op.getName(), inputs,
                             std::move(attributes), op.getNumOutputs()));
  for (unsigned i = 0; i < op.getNumOutputs(); ++i)
    GLOWISH_RETURN_IF_ERROR(op.setOutput(i, results[i]));
  return llvm::Error::success();
}
