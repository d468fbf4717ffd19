//===- GraphInputs.cpp - Types of a model's inputs ------------------------===//

#include "ONNX/GraphInputs.h"
#include "ONNX/ModelFile.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace glowish;
using onnx::ValueInfoProto;
using Dimension = onnx::TensorShapeProto::Dimension;

/// The element kind that the model states.
static llvm::Expected<ElemKind> readKind(const ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    return makeError("input '{0}' is not a tensor", input.name());
  llvm::Expected<ElemKind> kind =
      getElemKind(input.type().tensor_type().elem_type());
  if (!kind)
    return addContext(kind.takeError(), "input '" + input.name() + "': ");
  return kind;
}

/// Whether \p type, which \p origin states, can stand for what the model says.
static llvm::Error checkStated(const ValueInfoProto &input, const Type &type,
                               ElemKind kind, llvm::StringRef origin) {
  const auto &tensor = input.type().tensor_type();
  if (type.getKind() != kind)
    return makeError("{0} states {1} for '{2}'; the model has {3}", origin,
                     getElemKindName(type.getKind()), input.name(),
                     getElemKindName(kind));
  if (tensor.has_shape() && tensor.shape().dim_size() != int(type.getRank()))
    return makeError("{0} states rank {1} for '{2}'; the model has {3}", origin,
                     type.getRank(), input.name(), tensor.shape().dim_size());
  return llvm::Error::success();
}

InputTypes::InputTypes(llvm::ArrayRef<const ValueInfoProto *> inputs,
                       const ImportOptions &options)
    : options(options), given(options.givenTypes) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i < options.givenTypesInOrder.size())
      given.try_emplace(inputs[i]->name(), options.givenTypesInOrder[i]);
  for (const ValueInfoProto *input : inputs) {
    auto type = given.find(input->name());
    const auto &shape = input->type().tensor_type().shape();
    // Another rank is an error when the input is set.
    if (type == given.end() ||
        shape.dim_size() != int(type->second.getRank()))
      continue;
    for (int d = 0; d < shape.dim_size(); ++d)
      if (!shape.dim(d).dim_param().empty())
        symbols.try_emplace(shape.dim(d).dim_param(),
                            type->second.getShape()[d]);
  }
}

llvm::Expected<int64_t> InputTypes::resolveDim(const ValueInfoProto &input,
                                               unsigned index,
                                               ElemKind kind) const {
  const auto &shape = input.type().tensor_type().shape();
  const Dimension &dim = shape.dim(index);
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return dim.dim_value();
  auto stated = options.symbols.find(dim.dim_param());
  if (stated != options.symbols.end())
    return stated->second;
  auto type = given.find(input.name());
  if (type != given.end() && int(type->second.getRank()) == shape.dim_size())
    return type->second.getShape()[index];
  auto other = symbols.find(dim.dim_param());
  if (other != symbols.end())
    return other->second;
  if (dim.dim_param().empty())
    return makeError("input '{0}' has a dimension without a value; state its "
                     "type with -model-input={0},{1},[...]",
                     input.name(), getElemKindName(kind));
  return makeError("input '{0}' has the symbolic dimension '{1}'; bind it with "
                   "-onnx-define-symbol={1},VALUE or state the type with "
                   "-model-input={0},{2},[...]",
                   input.name(), dim.dim_param(), getElemKindName(kind));
}

llvm::Expected<Type> InputTypes::resolve(const ValueInfoProto &input) const {
  GLOWISH_TRY(ElemKind kind, readKind(input));
  auto stated = options.inputTypes.find(input.name());
  if (stated != options.inputTypes.end()) {
    GLOWISH_CHECK(checkStated(input, stated->second, kind, "-model-input"));
    return stated->second;
  }
  const auto &tensor = input.type().tensor_type();
  auto type = given.find(input.name());
  if (!tensor.has_shape() && type != given.end())
    return type->second.withKind(kind);
  if (!tensor.has_shape())
    return makeError("input '{0}' has no shape; state its type with "
                     "-model-input={0},{1},[...]",
                     input.name(), getElemKindName(kind));
  Dims dims;
  for (int d = 0; d < tensor.shape().dim_size(); ++d) {
    GLOWISH_TRY(int64_t extent, resolveDim(input, d, kind));
    dims.push_back(extent);
  }
  if (llvm::Error error = checkShape(kind, dims))
    return addContext(std::move(error), "input '" + input.name() + "': ");
  return Type(kind, dims);
}

llvm::Expected<std::shared_ptr<const Tensor>>
glowish::resolveConstantInput(const ValueInfoProto &input,
                              const ImportOptions &options) {
  auto bound = options.constantInputs.find(input.name());
  if (bound == options.constantInputs.end())
    return nullptr;
  GLOWISH_TRY(ElemKind kind, readKind(input));
  GLOWISH_CHECK(
      checkStated(input, bound->second->getType(), kind, "the constant"));
  return bound->second;
}

llvm::Error glowish::checkInputNames(const std::vector<std::string> &names,
                                     const ImportOptions &options) {
  llvm::StringSet<> known;
  std::vector<std::string> quoted;
  for (const std::string &name : names) {
    known.insert(name);
    quoted.push_back("'" + name + "'");
  }
  auto check = [&](llvm::StringRef origin,
                   const std::string &name) -> llvm::Error {
    if (known.contains(name))
      return llvm::Error::success();
    return makeError("{0}: the model has no input '{1}'; it has {2}", origin,
                     name, quoted.empty() ? "none" : llvm::join(quoted, ", "));
  };
  for (const auto &[name, type] : options.inputTypes)
    GLOWISH_CHECK(check("-model-input", name));
  for (const auto &[name, tensor] : options.constantInputs)
    GLOWISH_CHECK(check("a constant input", name));
  return llvm::Error::success();
}
