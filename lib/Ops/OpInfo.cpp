//===- OpInfo.cpp - Operator records at run time --------------------------===//

#include "glowish/Ops/OpInfo.h"
#include "glowish/Support/Error.h"
#include "glowish/Support/Escape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"

using namespace glowish;

//===- Attributes ---------------------------------------------------------===//

AttrValue::AttrValue() = default;
AttrValue::AttrValue(int value) : AttrVariant(int64_t(value)) {}
AttrValue::AttrValue(int64_t value) : AttrVariant(value) {}
AttrValue::AttrValue(std::vector<int64_t> value)
    : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(double value) : AttrVariant(value) {}
AttrValue::AttrValue(bool value) : AttrVariant(value) {}
AttrValue::AttrValue(std::string value) : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(ElemKind value) : AttrVariant(value) {}
AttrValue::AttrValue(ScalarProgram value) : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(std::shared_ptr<Body> value)
    : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(std::vector<Type> value) : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(NamedValues value) : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(CustomAttr value) : AttrVariant(std::move(value)) {}
AttrValue::AttrValue(const AttrValue &other) = default;
AttrValue::AttrValue(AttrValue &&other) noexcept = default;
AttrValue &AttrValue::operator=(const AttrValue &other) = default;
AttrValue &AttrValue::operator=(AttrValue &&other) noexcept = default;
AttrValue::~AttrValue() = default;

void glowish::appendAttr(std::vector<AttrValue> &attrs, AttrValue value) {
  attrs.push_back(std::move(value));
}

llvm::hash_code glowish::hash_value(const AttrValue &value) {
  llvm::hash_code hash = std::visit(
      [](const auto &content) -> llvm::hash_code {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, double>)
          return llvm::hash_value(llvm::bit_cast<uint64_t>(content));
        else if constexpr (std::is_same_v<T, ElemKind>)
          return llvm::hash_value(unsigned(content));
        else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                           std::is_same_v<T, std::vector<Type>> ||
                           std::is_same_v<T, NamedValues>)
          return llvm::hash_combine_range(content.begin(), content.end());
        else if constexpr (std::is_same_v<T, ScalarProgram> ||
                           std::is_same_v<T, CustomAttr>)
          return hash_value(content);
        else if constexpr (std::is_same_v<T, std::shared_ptr<Body>>)
          return llvm::hash_value(content.get());
        else
          return llvm::hash_value(content);
      },
      value);
  return llvm::hash_combine(value.index(), hash);
}

bool glowish::isIdentical(const AttrValue &a, const AttrValue &b) {
  const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  if (x && y)
    return llvm::bit_cast<uint64_t>(*x) == llvm::bit_cast<uint64_t>(*y);
  return a == b;
}

bool glowish::areIdentical(llvm::ArrayRef<AttrValue> a,
                           llvm::ArrayRef<AttrValue> b) {
  return llvm::equal(a, b, isIdentical);
}

static llvm::StringRef getAttrKindName(AttrKind kind) {
  switch (kind) {
  case AttrKind::Int:
    return "an integer";
  case AttrKind::Ints:
    return "a list of integers";
  case AttrKind::Float:
    return "a number";
  case AttrKind::Bool:
    return "true or false";
  case AttrKind::String:
    return "a string";
  case AttrKind::Kind:
    return "an element kind";
  case AttrKind::Program:
    return "a scalar program";
  case AttrKind::Body:
    return "a body";
  case AttrKind::Types:
    return "a list of types";
  case AttrKind::Values:
    return "a list of named values";
  case AttrKind::Custom:
    return "a value of the back end";
  }
  llvm_unreachable("not an attribute kind");
}

static AttrValue getZero(AttrKind kind) {
  switch (kind) {
  case AttrKind::Int:
    return int64_t(0);
  case AttrKind::Ints:
    return std::vector<int64_t>();
  case AttrKind::Float:
    return 0.0;
  case AttrKind::Bool:
    return false;
  case AttrKind::String:
    return std::string();
  case AttrKind::Kind:
    return ElemKind::Float;
  case AttrKind::Program:
    return ScalarProgram();
  case AttrKind::Body:
    return std::shared_ptr<Body>();
  case AttrKind::Types:
    return std::vector<Type>();
  case AttrKind::Values:
    return NamedValues();
  case AttrKind::Custom:
    return CustomAttr();
  }
  llvm_unreachable("not an attribute kind");
}

std::vector<AttrValue> glowish::getDefaultAttrs(const OpInfo &info) {
  std::vector<AttrValue> attrs;
  for (const AttrInfo &attr : info.attrs)
    attrs.push_back(attr.getDefault ? attr.getDefault() : getZero(attr.kind));
  return attrs;
}

unsigned OpInfo::findAttr(llvm::StringRef attrName) const {
  return llvm::find_if(
             attrs,
             [&](const AttrInfo &attr) { return attr.name == attrName; }) -
         attrs.begin();
}

Body::~Body() = default;

bool OpInfo::hasBodies() const {
  return llvm::any_of(
      attrs, [](const AttrInfo &attr) { return attr.kind == AttrKind::Body; });
}

//===- Operands -----------------------------------------------------------===//

const OperandInfo &OpInfo::findSegment(unsigned index,
                                       llvm::ArrayRef<AttrValue> values) const {
  int64_t end = 0;
  for (auto [operand, count] : llvm::zip(
           operands, std::get<std::vector<int64_t>>(values[segmentsAttr]))) {
    // They may not have been checked.
    end += std::clamp<int64_t>(count, 0, INT32_MAX);
    if (int64_t(index) < end)
      return operand;
  }
  return operands.back();
}

llvm::StringRef glowish::getRoleName(OperandRole role) {
  switch (role) {
  case OperandRole::In:
    return "in";
  case OperandRole::Out:
    return "out";
  case OperandRole::InOut:
    return "inout";
  case OperandRole::Scratch:
    return "scratch";
  }
  llvm_unreachable("not a role");
}

/// "filter", or "inputs[2]" for a value of a variadic operand; \p index counts
/// the operands that are read.
static std::string getInputName(const OpInfo &info, unsigned index) {
  unsigned next = 0;
  for (const OperandInfo &operand : info.operands) {
    if (operand.role != OperandRole::In && operand.role != OperandRole::InOut)
      continue;
    if (operand.isVariadic)
      return llvm::formatv("{0}[{1}]", operand.name, index - next);
    if (next++ == index)
      return operand.name.str();
  }
  llvm_unreachable("not an operand of the record");
}

llvm::Error OpView::operandError(unsigned index,
                                 const llvm::Twine &what) const {
  return makeError("operand '{0}' ({1}): {2}", getInputName(info, index),
                   getInput(index), what.str());
}

llvm::Error OpView::attrError(llvm::StringRef name,
                              const llvm::Twine &what) const {
  return makeError("attribute '{0}': {1}", name, what.str());
}

//===- Structure ----------------------------------------------------------===//

/// The counts of \p info's segments fit its operands and \p present.
static llvm::Error checkSegments(const OpInfo &info,
                                 llvm::ArrayRef<bool> present,
                                 llvm::ArrayRef<int64_t> counts) {
  if (counts.size() != info.operands.size())
    return makeError("attribute 'segments' has {0} counts; accepted: {1}",
                     counts.size(), info.operands.size());
  size_t next = 0;
  for (auto [operand, count] : llvm::zip_equal(info.operands, counts)) {
    if (count < 0 || (!operand.isVariadic && count != 1) ||
        size_t(count) > present.size() - next)
      return makeError("attribute 'segments': {0} values for operand '{1}'",
                       count, operand.name);
    for (size_t end = next + count; next < end; ++next)
      if (!present[next] && !operand.isOptional)
        return makeError("operand '{0}' is missing", operand.name);
  }
  if (next != present.size())
    return makeError("attribute 'segments' counts {0} of {1} operands", next,
                     present.size());
  return llvm::Error::success();
}

static llvm::Error checkOperands(const OpInfo &info,
                                 llvm::ArrayRef<bool> present) {
  size_t fixed = info.operands.size() - (info.isVariadic() ? 1 : 0);
  if (present.size() < fixed || (present.size() > fixed && !info.isVariadic()))
    return makeError("takes {0}{1} operand{2}, got {3}",
                     info.isVariadic() ? "at least " : "", fixed,
                     fixed == 1 ? "" : "s", present.size());
  for (unsigned i = 0; i < present.size(); ++i) {
    const OperandInfo &operand = info.getOperandInfo(i);
    if (present[i] || operand.isOptional)
      continue;
    std::string name = operand.name.str();
    if (operand.isVariadic)
      name += llvm::formatv("[{0}]", i - fixed).str();
    return makeError("operand '{0}' is missing", name);
  }
  return llvm::Error::success();
}

llvm::Error glowish::checkStructure(const OpInfo &info,
                                    llvm::ArrayRef<bool> present,
                                    llvm::ArrayRef<AttrValue> attrs) {
  if (!info.hasSegments())
    if (llvm::Error error = checkOperands(info, present))
      return error;
  if (attrs.size() != info.attrs.size())
    return makeError("takes {0} attributes, got {1}", info.attrs.size(),
                     attrs.size());
  for (unsigned i = 0; i < attrs.size(); ++i) {
    const AttrInfo &attr = info.attrs[i];
    if (attrs[i].index() != size_t(attr.kind))
      return makeError("attribute '{0}': expected {1}", attr.name,
                       getAttrKindName(attr.kind));
    if (attr.kind == AttrKind::Body &&
        !std::get<std::shared_ptr<Body>>(attrs[i]))
      return makeError("attribute '{0}' is missing", attr.name);
    if (attr.kind == AttrKind::Custom &&
        std::get<CustomAttr>(attrs[i]).getType() != attr.customType)
      return makeError("attribute '{0}': accepted: {1}", attr.name,
                       attr.customType->listForms());
    if (attr.allowed.empty())
      continue;
    const std::string &text = std::get<std::string>(attrs[i]);
    if (!llvm::is_contained(attr.allowed, text))
      return makeError("attribute '{0}': {1} is not one of {2}", attr.name,
                       quote(text), llvm::join(attr.allowed, ", "));
  }
  if (!info.hasSegments())
    return llvm::Error::success();
  return checkSegments(
      info, present, std::get<std::vector<int64_t>>(attrs[info.segmentsAttr]));
}

//===- Broadcasting -------------------------------------------------------===//

llvm::Expected<Dims> glowish::broadcastShapes(llvm::ArrayRef<DimsRef> shapes) {
  size_t rank = 0;
  for (DimsRef shape : shapes)
    rank = std::max(rank, shape.size());
  Dims result(rank, 1);
  // Which shape each extent of the result comes from.
  llvm::SmallVector<unsigned, 4> origin(rank, 0);
  for (unsigned i = 0; i < shapes.size(); ++i) {
    size_t leading = rank - shapes[i].size();
    for (size_t d = leading; d < rank; ++d) {
      int64_t extent = shapes[i][d - leading];
      if (extent == 1 || extent == result[d])
        continue;
      if (result[d] != 1)
        return makeError("shapes {0} and {1} do not broadcast",
                         formatShape(shapes[origin[d]]),
                         formatShape(shapes[i]));
      result[d] = extent;
      origin[d] = i;
    }
  }
  return result;
}
