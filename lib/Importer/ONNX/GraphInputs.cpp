//===- GraphInputs.cpp - Types of model inputs ----------------------------===//

#include "ONNX/GraphInputs.h"
#include "ONNX/ModelFile.h"
#include "glowish/Base/DimExpression.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using namespace glowish::onnximport;
using onnx::ValueInfoProto;
using Dimension = onnx::TensorShapeProto::Dimension;

/// Returns the element kind declared in the model.
static llvm::Expected<ElemKind> readKind(const ValueInfoProto &input) {
  if (!input.type().has_tensor_type())
    return makeError("input '{0}' is not a tensor", input.name());
  return addContext(getElemKind(input.type().tensor_type().elem_type()),
                    "input '" + input.name() + "': ");
}

/// Checks that \p type, given by \p origin, is compatible with the model.
static llvm::Error checkStated(const ValueInfoProto &input, const Type &type,
                               ElemKind kind, llvm::StringRef origin) {
  const auto &tensor = input.type().tensor_type();
  if (type.isQuantized())
    return makeError("{0} states {1} for '{2}'; accepted in ONNX models: kinds "
                     "that are not quantized",
                     origin, type.str(), input.name());
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
    : inputs(inputs), options(options), given(options.givenTypes),
      symbols(options.symbols) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (i < options.givenTypesInOrder.size())
      given.try_emplace(inputs[i]->name(), options.givenTypesInOrder[i]);
  for (const ValueInfoProto *input : inputs) {
    auto type = given.find(input->name());
    const auto &shape = input->type().tensor_type().shape();
    // A rank mismatch is reported when the input is set.
    if (type == given.end() || shape.dim_size() != int(type->second.getRank()))
      continue;
    for (int d = 0; d < shape.dim_size(); ++d)
      if (!shape.dim(d).dim_param().empty() &&
          !isRanged(shape.dim(d).dim_param()))
        symbols.try_emplace(shape.dim(d).dim_param(),
                            type->second.getShape()[d]);
  }
}

bool InputTypes::isRanged(llvm::StringRef dim) const {
  if (options.symbols.count(dim.str()))
    return false;
  if (options.symbolRanges.count(dim.str()))
    return true;
  return llvm::any_of(getDimSymbols(dim), [&](const std::string &symbol) {
    return options.symbolRanges.count(symbol) != 0;
  });
}

llvm::Expected<Extent> InputTypes::parseExtent(llvm::StringRef dim) const {
  auto findValue = [&](llvm::StringRef symbol) -> std::optional<Extent> {
    auto known = symbols.find(symbol.str());
    return known == symbols.end() ? std::nullopt
                                  : std::optional(Extent(known->second));
  };
  std::optional<Extent> extent = options.symbolRanges.count(dim.str())
                                     ? Extent::symbol(dim)
                                     : Extent::parse(dim, findValue);
  if (!extent)
    return makeError("the dimension '{0}' is no sum of products and quotients "
                     "of symbols and numbers",
                     dim);
  return *extent;
}

/// Returns the largest value of \p dim, which depends on symbols with ranges;
/// nothing if it also depends on others that have no value in \p symbols.
static llvm::Expected<std::optional<int64_t>>
findLargest(llvm::StringRef dim, std::map<std::string, IntRange> ranges,
            const std::map<std::string, int64_t> &symbols) {
  for (const auto &[name, value] : symbols)
    ranges.try_emplace(name, IntRange{value, value});
  GLOWISH_ASSIGN_OR_RETURN(std::optional<IntRange> range,
                           boundDim(dim, ranges));
  if (!range)
    return std::nullopt;
  return range->high;
}

llvm::Expected<std::optional<int64_t>>
InputTypes::findExtent(const ValueInfoProto &input, unsigned index) const {
  const auto &shape = input.type().tensor_type().shape();
  const Dimension &dim = shape.dim(index);
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return dim.dim_value();
  auto evaluate = [&](const std::map<std::string, int64_t> &values)
      -> llvm::Expected<std::optional<int64_t>> {
    if (dim.dim_param().empty())
      return std::nullopt;
    auto extent =
        isRanged(dim.dim_param())
            ? findLargest(dim.dim_param(), options.symbolRanges, values)
            : evaluateDim(dim.dim_param(), values);
    if (!extent)
      return addContext(extent.takeError(), "input '" + input.name() + "': ");
    return extent;
  };
  GLOWISH_ASSIGN_OR_RETURN(std::optional<int64_t> stated,
                           evaluate(options.symbols));
  if (stated)
    return stated;
  auto type = given.find(input.name());
  if (type != given.end() && int(type->second.getRank()) == shape.dim_size() &&
      !isRanged(dim.dim_param()))
    return type->second.getShape()[index];
  return evaluate(symbols);
}

/// Returns the error that dimension \p dim of \p input needs a value for
/// \p symbol.
static llvm::Error reportUnbound(const ValueInfoProto &input,
                                 llvm::StringRef dim, llvm::StringRef symbol,
                                 ElemKind kind) {
  return makeError("input '{0}' has the symbolic dimension '{1}'; bind it with "
                   "«define-symbol={2},VALUE» or state the type with "
                   "«model-input={0},{3},[...]»",
                   input.name(), dim, symbol, getElemKindName(kind));
}

llvm::Expected<int64_t> InputTypes::resolveDim(const ValueInfoProto &input,
                                               unsigned index,
                                               ElemKind kind) const {
  GLOWISH_ASSIGN_OR_RETURN(std::optional<int64_t> extent,
                           findExtent(input, index));
  if (extent)
    return *extent;
  const std::string &name =
      input.type().tensor_type().shape().dim(index).dim_param();
  if (name.empty())
    return makeError("input '{0}' has a dimension without a value; state its "
                     "type with «model-input={0},{1},[...]»",
                     input.name(), getElemKindName(kind));
  return reportUnbound(input, name, name, kind);
}

std::vector<const ValueInfoProto *>
onnximport::getDataInputs(const onnx::GraphProto &graph) {
  llvm::StringSet<> weights;
  for (const auto &tensor : graph.initializer())
    weights.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    weights.insert(tensor.values().name());
  std::vector<const ValueInfoProto *> inputs;
  for (const ValueInfoProto &input : graph.input())
    if (!weights.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

/// Returns the undefined symbols of dimension \p dim. "batch-size" is a name
/// rather than a difference unless one of its parts is \p known or defined.
std::vector<std::string>
InputTypes::getMissing(llvm::StringRef dim,
                       const llvm::StringSet<> &known) const {
  std::vector<std::string> names = getDimSymbols(dim);
  auto isDefined = [&](const std::string &name) {
    return symbols.count(name) != 0 || options.symbolRanges.count(name) != 0;
  };
  bool mayBeName = dim.find_first_of("+*/( ") == llvm::StringRef::npos;
  if (mayBeName && llvm::none_of(names, [&](const std::string &name) {
        return isDefined(name) || known.contains(name);
      }))
    return {dim.str()};
  llvm::erase_if(names, isDefined);
  return names;
}

namespace {
/// A dimension without a value.
struct OpenDim {
  const ValueInfoProto *input;
  llvm::StringRef text;
};
} // namespace

/// Returns an error if the tensor for \p input has another rank than the model
/// states: it binds no dimension.
llvm::Error InputTypes::checkGivenRank(const ValueInfoProto &input) const {
  auto type = given.find(input.name());
  int rank = input.type().tensor_type().shape().dim_size();
  if (type == given.end() || int(type->second.getRank()) == rank)
    return llvm::Error::success();
  return makeError("the tensor for input '{0}' is {1}; accepted: rank {2}",
                   input.name(), type->second.str(), rank);
}

namespace {
/// A dimension of an input with the extent of the tensor for the input.
struct GivenDim {
  const ValueInfoProto *input;
  const Type *type;
  llvm::StringRef text;
  int64_t extent;
};
} // namespace

static std::string describe(const GivenDim &dim) {
  return llvm::formatv("'{0}' ({1})", dim.input->name(), dim.type->str());
}

std::string InputTypes::findContradiction() const {
  std::vector<GivenDim> dims;
  for (const ValueInfoProto *input : inputs) {
    auto type = given.find(input->name());
    const auto &shape = input->type().tensor_type().shape();
    if (type == given.end() || options.inputTypes.count(input->name()) ||
        shape.dim_size() != int(type->second.getRank()))
      continue;
    for (int d = 0; d < shape.dim_size(); ++d) {
      const std::string &text = shape.dim(d).dim_param();
      if (!text.empty() && !options.symbols.count(text) && !isRanged(text))
        dims.push_back(
            {input, &type->second, text, type->second.getShape()[d]});
    }
  }
  std::map<std::string, GivenDim> bindings;
  std::map<std::string, int64_t> values = options.symbols;
  for (const GivenDim &dim : dims) {
    const GivenDim &first =
        bindings.try_emplace(dim.text.str(), dim).first->second;
    if (first.extent != dim.extent)
      return llvm::formatv("the tensors for inputs {0} and {1} do not fit "
                           "together: dimension '{2}' is {3} in the one and "
                           "{4} in the other",
                           describe(first), describe(dim), dim.text,
                           first.extent, dim.extent);
    if (getDimSymbols(dim.text) == std::vector{dim.text.str()})
      values.try_emplace(dim.text.str(), dim.extent);
  }
  for (const GivenDim &dim : dims) {
    llvm::Expected<std::optional<int64_t>> extent =
        evaluateDim(dim.text, values);
    if (!extent)
      return llvm::formatv("the tensor for input {0} does not fit the others: "
                           "{1}",
                           describe(dim), llvm::toString(extent.takeError()));
    if (*extent && **extent != dim.extent)
      return llvm::formatv("the tensor for input {0} does not fit the others, "
                           "with which its dimension '{1}' is {2}",
                           describe(dim), dim.text, **extent);
  }
  return "";
}

llvm::Error InputTypes::checkSymbols() const {
  llvm::StringSet<> known;
  std::vector<OpenDim> open;
  for (const ValueInfoProto *input : inputs) {
    const auto &shape = input->type().tensor_type().shape();
    bool isStated = options.inputTypes.count(input->name()) ||
                    options.constantInputs.count(input->name());
    for (int d = 0; d < shape.dim_size(); ++d) {
      if (shape.dim(d).dim_param().empty())
        continue;
      known.insert(shape.dim(d).dim_param());
      if (isStated)
        continue;
      GLOWISH_ASSIGN_OR_RETURN(std::optional<int64_t> extent,
                               findExtent(*input, d));
      if (!extent)
        open.push_back({input, shape.dim(d).dim_param()});
    }
  }
  if (open.empty())
    return llvm::Error::success();
  // Such a tensor would have bound them.
  for (const OpenDim &dim : open)
    GLOWISH_RETURN_IF_ERROR(checkGivenRank(*dim.input));
  std::vector<std::string> missing, places, flags;
  llvm::StringSet<> seen;
  for (const OpenDim &dim : open)
    for (const std::string &name : getMissing(dim.text, known))
      if (seen.insert(name).second) {
        missing.push_back(name);
        places.push_back(
            llvm::formatv("'{0}' (input '{1}')", dim.text, dim.input->name()));
        flags.push_back(nameSetting("define-symbol", name + ",VALUE"));
      }
  if (missing.size() == 1) {
    const OpenDim &first = open.front();
    GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(*first.input));
    return reportUnbound(*first.input, first.text, missing.front(), kind);
  }
  return makeError("the inputs have {0} symbolic dimensions without values: "
                   "{1}; bind them with {2}",
                   missing.size(), llvm::join(places, ", "),
                   llvm::join(flags, " "));
}

llvm::Expected<OnnxModel::StatedInput>
InputTypes::getStated(const ValueInfoProto &input) const {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(input));
  OnnxModel::StatedInput result = {input.name(), kind, {}};
  auto stated = options.inputTypes.find(input.name());
  if (stated != options.inputTypes.end()) {
    GLOWISH_RETURN_IF_ERROR(
        checkStated(input, stated->second, kind, "«model-input»"));
    for (int64_t extent : stated->second.getShape())
      result.shape.push_back(extent);
    return result;
  }
  for (int d = 0; d < input.type().tensor_type().shape().dim_size(); ++d) {
    GLOWISH_ASSIGN_OR_RETURN(std::optional<int64_t> extent,
                             findExtent(input, d));
    result.shape.push_back(extent);
  }
  return result;
}

llvm::Expected<Type> InputTypes::resolve(const ValueInfoProto &input) const {
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(input));
  auto stated = options.inputTypes.find(input.name());
  if (stated != options.inputTypes.end()) {
    GLOWISH_RETURN_IF_ERROR(
        checkStated(input, stated->second, kind, "«model-input»"));
    return stated->second;
  }
  const auto &tensor = input.type().tensor_type();
  auto type = given.find(input.name());
  if (!tensor.has_shape() && type != given.end())
    return type->second.withKind(kind);
  if (!tensor.has_shape())
    return makeError("input '{0}' has no shape; state its type with "
                     "«model-input={0},{1},[...]»",
                     input.name(), getElemKindName(kind));
  Dims dims;
  ExtentList extents(tensor.shape().dim_size());
  for (int d = 0; d < tensor.shape().dim_size(); ++d) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t bound, resolveDim(input, d, kind));
    dims.push_back(bound);
    const std::string &dim = tensor.shape().dim(d).dim_param();
    if (!isRanged(dim))
      continue;
    llvm::Expected<Extent> extent = parseExtent(dim);
    if (!extent)
      return addContext(extent.takeError(), "input '" + input.name() + "': ");
    extents[d] = std::move(*extent);
  }
  if (llvm::Error error = checkShape(kind, dims))
    return addContext(std::move(error), "input '" + input.name() + "': ");
  return Type(kind, dims).withExtents(extents);
}

llvm::Expected<std::shared_ptr<const Tensor>>
onnximport::resolveConstantInput(const ValueInfoProto &input,
                                 const ImportOptions &options) {
  auto bound = options.constantInputs.find(input.name());
  if (bound == options.constantInputs.end())
    return nullptr;
  GLOWISH_ASSIGN_OR_RETURN(ElemKind kind, readKind(input));
  GLOWISH_RETURN_IF_ERROR(
      checkStated(input, bound->second->getType(), kind, "the constant"));
  return bound->second;
}

std::set<std::string>
onnximport::findSymbols(llvm::ArrayRef<const ValueInfoProto *> inputs) {
  std::set<std::string> symbols;
  for (const ValueInfoProto *input : inputs)
    for (const Dimension &dim : input->type().tensor_type().shape().dim())
      if (!dim.dim_param().empty()) {
        symbols.insert(dim.dim_param());
        for (std::string &symbol : getDimSymbols(dim.dim_param()))
          symbols.insert(std::move(symbol));
      }
  return symbols;
}
