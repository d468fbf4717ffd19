//===- Kinds.cpp - Nodes of element kinds that operators have -------------===//
//
// ONNX's schemas tell which element types an operator has in operator set 17.
// What it does not have, or ONNX Runtime has not, is computed in a wider kind
// of the same class: sums and products of integers have the same low bits
// there, and floats are no less exact.
//
//===----------------------------------------------------------------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Exporter/ONNX.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/defs/schema.h>

using namespace glowish;
using Parameter = onnx::OpSchema::FormalParameter;

static const onnx::OpSchema &getSchema(llvm::StringRef type) {
  const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(
      type.str(), onnxWriterOpset, onnx::ONNX_DOMAIN);
  assert(schema && "an operator that operator set 17 does not have");
  return *schema;
}

static std::string getTypeName(ElemKind kind) {
  return ("tensor(" + getElemKindName(kind) + ")").str();
}

static bool accepts(const Parameter &parameter, ElemKind kind) {
  return llvm::any_of(parameter.GetTypes(), [&](const std::string *type) {
    return *type == getTypeName(kind);
  });
}

/// Kinds that hold all values of \p kind, or at least, of integers, all that
/// matters to those who go back to it: the low bits. The narrowest first.
static llvm::ArrayRef<ElemKind> getWiderKinds(ElemKind kind) {
  using enum ElemKind;
  static const ElemKind floats[] = {Float, Double};
  static const ElemKind wide[] = {Double};
  static const ElemKind ofSigned[] = {Int16, Int32, Int64};
  static const ElemKind ofUnsigned[] = {UInt16, UInt32, UInt64, Int32, Int64};
  static const ElemKind ofInt32[] = {Int64};
  static const ElemKind ofUInt32[] = {UInt64, Int64};
  static const ElemKind ofUInt64[] = {Int64};
  static const ElemKind ofBool[] = {UInt8, Int32};
  switch (kind) {
  case Float16:
  case BFloat16:
    return floats;
  case Float:
    return wide;
  case Int8:
    return ofSigned;
  case Int16:
    return llvm::ArrayRef(ofSigned).drop_front();
  case UInt8:
    return ofUnsigned;
  case UInt16:
    return llvm::ArrayRef(ofUnsigned).drop_front();
  case Int32:
    return ofInt32;
  case UInt32:
    return ofUInt32;
  case UInt64:
    return ofUInt64;
  case Bool:
    return ofBool;
  default:
    return {};
  }
}

/// Integers that ONNX Runtime 1.30 has no code for on CPUs.
static bool isMissingInRuntime(llvm::StringRef type, ElemKind kind) {
  using enum ElemKind;
  struct Gap {
    llvm::StringLiteral type;
    std::initializer_list<ElemKind> kinds;
  };
  static const Gap gaps[] = {
      {"ArgMax", {Int16, UInt16, UInt32, UInt64}},
      {"BitShift", {UInt16}},
      {"Clip", {Int16, UInt16}},
      {"Max", {Int16, UInt16}},
      {"Min", {Int16, UInt16}},
      {"Pad", {Int16, UInt16}},
      {"ReduceMax", {UInt32, UInt64}},
      {"ReduceMin", {UInt32, UInt64}},
      {"ReduceProd", {UInt32, UInt64}},
      {"ReduceSum", {UInt32, UInt64}},
      {"Relu", {Int16}},
      {"TopK", {UInt16, UInt32, UInt64}},
      {"Where", {Bool, Int8, Int16, UInt16, UInt32, UInt64}},
  };
  return llvm::any_of(gaps, [&](const Gap &gap) {
    return gap.type == type && llvm::is_contained(gap.kinds, kind);
  });
}

/// Whether the results' low bits are those of the same operator on other kinds
/// with the operands' low bits, whatever the sign.
static bool keepsLowBits(llvm::StringRef type) {
  return type == "Where" || type == "ReduceSum" || type == "ReduceProd";
}

static std::optional<ElemKind>
findCarrier(llvm::StringRef type, const Parameter &parameter, ElemKind kind) {
  bool isAccepted = accepts(parameter, kind);
  // One type is a condition's, or a shape's.
  if (isAccepted &&
      (parameter.GetTypes().size() == 1 || !isMissingInRuntime(type, kind)))
    return kind;
  if (kind != ElemKind::UInt64 || keepsLowBits(type))
    for (ElemKind wider : getWiderKinds(kind))
      if (accepts(parameter, wider) && !isMissingInRuntime(type, wider))
        return wider;
  return isAccepted ? std::optional(kind) : std::nullopt;
}

/// What \p parameter accepts, for messages.
static std::string describe(const Parameter &parameter) {
  std::vector<std::string> names;
  for (const std::string *type : parameter.GetTypes())
    names.push_back(*type);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

namespace {
/// The element kinds that one node binds the types of its schema to.
struct Binding {
  /// By the name of the type: "T". What is computed in, and what was asked for.
  std::map<std::string, std::pair<ElemKind, ElemKind>> kinds;

  /// The kind of a result, and what it is to be cast to.
  std::pair<ElemKind, ElemKind> getResult(const Parameter &result) const {
    auto bound = kinds.find(result.GetTypeStr());
    if (bound != kinds.end())
      return bound->second;
    assert(result.GetTypes().size() == 1 && "the caller states the kind");
    llvm::StringRef name = **result.GetTypes().begin();
    name.consume_front("tensor(");
    ElemKind kind = *parseElemKind(name.drop_back());
    return {kind, kind};
  }
};
} // namespace

OnnxValues GraphWriter::emit(unsigned count, llvm::StringRef type,
                             llvm::ArrayRef<OnnxValue> inputs,
                             std::optional<ElemKind> resultKind,
                             OnnxAttrs attrs) {
  const onnx::OpSchema &schema = getSchema(type);
  Binding binding;
  OnnxValues carried(inputs);
  for (unsigned i = 0; i < carried.size() && !hasFailed(); ++i) {
    const auto &parameters = schema.inputs();
    const Parameter &parameter =
        parameters[std::min<size_t>(i, parameters.size() - 1)];
    if (!carried[i])
      continue;
    ElemKind kind = carried[i].kind;
    std::optional<ElemKind> carrier = findCarrier(type, parameter, kind);
    if (!carrier) {
      fail("ONNX's operator " + type + " does not have " +
           getElemKindName(kind) + " in operator set " +
           llvm::Twine(onnxWriterOpset) + "; accepted: " + describe(parameter));
      break;
    }
    carried[i] = cast(carried[i], *carrier);
    binding.kinds[parameter.GetTypeStr()] = {*carrier, kind};
  }
  if (hasFailed())
    return OnnxValues(count);
  if (resultKind)
    return raw(type, carried, {*resultKind}, std::move(attrs));
  llvm::SmallVector<ElemKind, 2> kinds;
  for (unsigned i = 0; i < count; ++i)
    kinds.push_back(binding.getResult(schema.outputs()[i]).first);
  OnnxValues results = raw(type, carried, kinds, std::move(attrs));
  if (count == 1)
    results[0] =
        cast(results[0], binding.getResult(schema.outputs()[0]).second);
  return results;
}
