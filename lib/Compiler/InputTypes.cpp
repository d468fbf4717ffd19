//===- InputTypes.cpp - Parses what is stated of inputs -------------------===//

#include "glowish/Compiler/InputTypes.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/SettingNames.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace glowish;

/// The element kind that is called \p name, also as Glow calls it.
static std::optional<ElemKind> parseKindName(llvm::StringRef name) {
  if (std::optional<ElemKind> kind = parseElemKind(name))
    return kind;
  if (findFusedRows(name))
    return ElemKind::UInt8;
  return std::nullopt;
}

/// Parses the scale and offset before the dimensions of a quantized input.
static llvm::Expected<QuantParams> parseQuantParams(llvm::StringRef text) {
  auto [scaleText, offsetText] = text.trim().split(',');
  float scale = 0;
  int32_t offset = 0;
  if (!llvm::to_float(scaleText.trim(), scale) || !(scale > 0) ||
      !std::isfinite(scale) || offsetText.trim().getAsInteger(10, offset))
    return makeError("'{0}' is no scale and offset; the form is "
                     "int8q,0.5,3,[1,3,224,224]",
                     text.trim());
  return QuantParams{{scale}, {offset}};
}

/// The comma before the element type in \p head, what is before the dimensions.
/// The name may contain commas itself; scale and offset may follow the type.
static size_t findType(llvm::StringRef head) {
  size_t last = head.rfind(','), at = last;
  for (unsigned field = 0; field < 3 && at != llvm::StringRef::npos; ++field) {
    if (parseKindName(head.substr(at + 1).split(',').first.trim()))
      return at;
    at = head.take_front(at).rfind(',');
  }
  return last;
}

namespace {
/// The dimensions of an input.
struct InputDims {
  Dims bounds;
  ExtentList extents;
};
} // namespace

/// Adds the dimension \p text to \p dims: a number, or an expression of
/// symbols.
static llvm::Error addDim(InputDims &dims, llvm::StringRef text,
                          const ImportOptions &options) {
  int64_t dim = 0;
  if (!text.getAsInteger(10, dim) && dim >= 0) {
    dims.bounds.push_back(dim);
    dims.extents.emplace_back();
    return llvm::Error::success();
  }
  auto findValue = [&](llvm::StringRef symbol) -> std::optional<Extent> {
    auto known = options.symbols.find(symbol.str());
    return known == options.symbols.end()
               ? std::nullopt
               : std::optional(Extent(known->second));
  };
  std::optional<Extent> extent = Extent::parse(text, findValue);
  if (!extent || (extent->isConstant() && *extent->getConstant() < 0))
    return makeError("'{0}' is not an extent", text);
  SymbolRanges ranges(options.symbolRanges);
  for (const std::string &symbol : extent->getSymbols())
    if (!ranges.find(symbol))
      return makeError("'{0}' depends on the symbol '{1}', which has neither "
                       "one value nor a range; state «define-symbol={1},1..16»",
                       text, symbol);
  std::optional<IntRange> range = ranges.getRange(*extent);
  if (!range || range->low < 0)
    return makeError("'{0}' may be {1}; accepted: 0 and more", text,
                     range ? std::to_string(range->low) : "beyond 64 bits");
  dims.bounds.push_back(range->high);
  dims.extents.push_back(extent->isConstant() ? std::nullopt : extent);
  return llvm::Error::success();
}

llvm::Expected<Type> glowish::parseInputType(llvm::StringRef text,
                                             const ImportOptions &options) {
  auto [kindName, rest] = text.split(',');
  std::optional<ElemKind> kind = parseKindName(kindName.trim());
  if (!kind)
    return makeError("'{0}' is not an element type; float, int64, uint8, ... "
                     "are",
                     kindName.trim());
  auto [paramsText, dimsText] = rest.trim().split('[');
  paramsText = paramsText.trim();
  if (!dimsText.consume_back("]") ||
      (!paramsText.empty() && !paramsText.consume_back(",")))
    return makeError("the dimensions are not of the form [1,3,224,224]");
  InputDims dims;
  while (!(dimsText = dimsText.trim()).empty()) {
    auto [first, others] = dimsText.split(',');
    GLOWISH_RETURN_IF_ERROR(addDim(dims, first.trim(), options));
    dimsText = others;
  }
  GLOWISH_RETURN_IF_ERROR(checkShape(*kind, dims.bounds));
  if (isQuantizedKind(*kind)) {
    GLOWISH_ASSIGN_OR_RETURN(QuantParams params, parseQuantParams(paramsText));
    return Type(*kind, dims.bounds, params).withExtents(dims.extents);
  }
  if (!paramsText.empty())
    return makeError("'{0}' is before the dimensions of a type that is not "
                     "quantized",
                     paramsText);
  return Type(*kind, dims.bounds).withExtents(dims.extents);
}

static llvm::Error readInputType(llvm::StringRef text, ImportOptions &options) {
  size_t bracket = text.find_last_of('[');
  size_t second = findType(text.substr(0, bracket).rtrim(", "));
  if (bracket == llvm::StringRef::npos || second == llvm::StringRef::npos)
    return makeError("«model-input={0}»: the form is name,type,[dims], for "
                     "example data,float,[1,3,224,224]",
                     text);
  llvm::StringRef typeText = text.substr(second + 1);
  std::string name = text.substr(0, second).trim().str();
  GLOWISH_ASSIGN_OR_RETURN(options.inputTypes[name],
                           addContext(parseInputType(typeText, options),
                                      nameSetting("model-input", text) + ": "));
  llvm::SmallVector<llvm::StringRef, 4> dims;
  text.substr(bracket + 1).rtrim("] ").split(dims, ',');
  for (llvm::StringRef dim : dims)
    if (auto expression = DimExpression::parse(dim.trim()))
      for (std::string &symbol : expression->getSymbols())
        options.typeSymbols.insert(std::move(symbol));
  options.fusedInputs.erase(name);
  if (const FusedRows *rows = findFusedRows(typeText.split(',').first.trim()))
    options.fusedInputs[name] = rows;
  return llvm::Error::success();
}

llvm::Error glowish::readInputTypes(llvm::ArrayRef<std::string> texts,
                                    ImportOptions &options) {
  for (llvm::StringRef text : texts)
    GLOWISH_RETURN_IF_ERROR(readInputType(text, options));
  return llvm::Error::success();
}

/// An integer, a float or a truth value as a scalar; none if it is no number.
static std::optional<Tensor> parseNumber(llvm::StringRef text) {
  if (text == "true" || text == "false") {
    Tensor flag(Type(ElemKind::Bool, {}));
    flag.setFromDouble(0, text == "true");
    return flag;
  }
  if (int64_t number = 0; !text.getAsInteger(10, number))
    return Tensor::fromValues<int64_t>(Type(ElemKind::Int64, {}), {number});
  if (float number = 0; llvm::to_float(text, number))
    return Tensor::fromValues<float>(Type(ElemKind::Float, {}), {number});
  return std::nullopt;
}

/// Reads `name,"text"`, whose text may have commas and quotes, into \p options.
/// Returns whether it has that form.
static bool readConstantText(llvm::StringRef stated, ImportOptions &options) {
  auto [name, rest] = stated.split(',');
  rest = rest.trim();
  if (name.trim().empty() || rest.size() < 2 || !rest.consume_front("\"") ||
      !rest.consume_back("\""))
    return false;
  std::string own = name.trim().str();
  options.constantTexts[own] = rest.str();
  options.constantInputs.erase(own);
  return true;
}

llvm::Error glowish::readConstantInputs(llvm::ArrayRef<std::string> texts,
                                        ImportOptions &options) {
  for (llvm::StringRef text : texts) {
    if (readConstantText(text, options))
      continue;
    auto [name, number] = text.rsplit(',');
    std::optional<Tensor> value = parseNumber(number.trim());
    std::string own = name.trim().str();
    if (!value || own.empty())
      return makeError("«constant-input={0}»: the form is name,number, for "
                       "example sr,16000, or name,\"text\"",
                       text);
    options.constantInputs[own] =
        std::make_shared<const Tensor>(std::move(*value));
    options.constantTexts.erase(own);
  }
  return llvm::Error::success();
}
