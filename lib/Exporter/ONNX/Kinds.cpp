//===- Kinds.cpp - Choose supported element kinds -------------------------===//
//
// ONNX's schemas list the element types of each operator in opset 17. A kind
// that the operator does not support, or that ONNX Runtime does not implement,
// is computed in a wider kind of the same class: integer sums and products have
// the same low bits there, and floats are at least as precise.
//
//===----------------------------------------------------------------------===//

#include "ONNX/GraphWriter.h"
#include "glowish/Exporter/ONNX.h"
#include "llvm/ADT/StringExtras.h"
#include <onnx/defs/schema.h>

using namespace glowish;
using Parameter = onnx::OpSchema::FormalParameter;

static const onnx::OpSchema &getSchema(llvm::StringRef type, int opset) {
  const onnx::OpSchema *schema =
      onnx::OpSchemaRegistry::Schema(type.str(), opset, onnx::ONNX_DOMAIN);
  assert(schema && "an operator that the operator set does not have");
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

/// Returns the kinds, narrowest first, that hold all values of \p kind, or for
/// integers at least preserve the low bits when the result is cast back.
static llvm::ArrayRef<ElemKind> getWiderKinds(ElemKind kind) {
  using enum ElemKind;
  struct Widening {
    ElemKind kind;
    std::initializer_list<ElemKind> wider;
  };
  static const Widening all[] = {
      {Float16, {Float, Double}},
      {BFloat16, {Float, Double}},
      {Float, {Double}},
      {Int8, {Int16, Int32, Int64}},
      {Int16, {Int32, Int64}},
      {Int32, {Int64}},
      {UInt8, {UInt16, UInt32, UInt64, Int32, Int64}},
      {UInt16, {UInt32, UInt64, Int32, Int64}},
      {UInt32, {UInt64, Int64}},
      {UInt64, {Int64}},
      {Bool, {UInt8, Int32}},
  };
  for (const Widening &each : all)
    if (each.kind == kind)
      return each.wider;
  return {};
}

/// Integer kinds that ONNX Runtime 1.30 does not implement on CPUs.
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

/// Whether the low bits of the results depend only on the low bits of the
/// operands, for signed and unsigned integers alike. (Pow's exponent is of any
/// kind.)
static bool keepsLowBits(llvm::StringRef type) {
  return type == "Where" || type == "ReduceSum" || type == "ReduceProd" ||
         type == "Pow";
}

static std::optional<ElemKind> findComputeKind(llvm::StringRef type,
                                               const Parameter &parameter,
                                               ElemKind kind) {
  bool isAccepted = accepts(parameter, kind);
  // A parameter with a single type is a condition or a shape.
  if (isAccepted &&
      (parameter.GetTypes().size() == 1 || !isMissingInRuntime(type, kind)))
    return kind;
  if (kind != ElemKind::UInt64 || keepsLowBits(type))
    for (ElemKind wider : getWiderKinds(kind))
      if (accepts(parameter, wider) && !isMissingInRuntime(type, wider))
        return wider;
  return isAccepted ? std::optional(kind) : std::nullopt;
}

/// Lists the types that \p parameter accepts, for messages.
static std::string describe(const Parameter &parameter) {
  std::vector<std::string> names;
  for (const std::string *type : parameter.GetTypes())
    names.push_back(*type);
  llvm::sort(names);
  return llvm::join(names, ", ");
}

namespace {
/// The element kinds bound to the type variables of a node's schema.
struct Binding {
  /// By type variable ("T"): the kind to compute in and the requested kind.
  std::map<std::string, std::pair<ElemKind, ElemKind>> kinds;

  /// Returns the kind of a result as computed, and the kind to cast it to.
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
  const onnx::OpSchema &schema = getSchema(type, pool.getOpset());
  Binding binding;
  OnnxValues operands(inputs);
  for (unsigned i = 0; i < operands.size() && !hasFailed(); ++i) {
    const auto &parameters = schema.inputs();
    const Parameter &parameter =
        parameters[std::min<size_t>(i, parameters.size() - 1)];
    // An input that the operator has in a newer operator set than the ONNX
    // library knows: the axes of reductions.
    bool isUnknown = i >= parameters.size() &&
                     parameters.back().GetOption() != onnx::OpSchema::Variadic;
    if (!operands[i] || isUnknown)
      continue;
    ElemKind kind = operands[i].kind;
    std::optional<ElemKind> computeKind =
        findComputeKind(type, parameter, kind);
    if (!computeKind) {
      fail("ONNX's operator " + type + " does not support " +
           getElemKindName(kind) + " in opset " + llvm::Twine(pool.getOpset()) +
           "; accepted: " + describe(parameter));
      break;
    }
    operands[i] = cast(operands[i], *computeKind);
    binding.kinds[parameter.GetTypeStr()] = {*computeKind, kind};
  }
  if (hasFailed())
    return OnnxValues(count);
  if (resultKind)
    return raw(type, operands, {*resultKind}, std::move(attrs));
  llvm::SmallVector<ElemKind, 2> kinds;
  for (unsigned i = 0; i < count; ++i)
    kinds.push_back(binding.getResult(schema.outputs()[i]).first);
  OnnxValues results = raw(type, operands, kinds, std::move(attrs));
  if (count == 1)
    results[0] =
        cast(results[0], binding.getResult(schema.outputs()[0]).second);
  return results;
}
