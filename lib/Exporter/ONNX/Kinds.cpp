//===- Kinds.cpp - Nodes of element kinds that operators have -------------===//
//
// ONNX's schemas tell which element types an operator has in operator set 17.
// What it does not have is computed in a wider kind of the same class: sums and
// products of integers have the same low bits there, and floats are no less
// exact.
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
  case Bool:
    return ofBool;
  default:
    return {};
  }
}

static std::optional<ElemKind> findCarrier(const Parameter &parameter,
                                           ElemKind kind) {
  if (accepts(parameter, kind))
    return kind;
  for (ElemKind wider : getWiderKinds(kind))
    if (accepts(parameter, wider))
      return wider;
  return std::nullopt;
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
    std::optional<ElemKind> carrier = findCarrier(parameter, kind);
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
  llvm::SmallVector<ElemKind, 2> kinds, wanted;
  for (unsigned i = 0; i < count; ++i) {
    auto [kind, cast] = resultKind ? std::pair(*resultKind, *resultKind)
                                   : binding.getResult(schema.outputs()[i]);
    kinds.push_back(kind);
    wanted.push_back(cast);
  }
  OnnxValues results = raw(type, carried, kinds, std::move(attrs));
  for (unsigned i = 0; i < count; ++i)
    results[i] = cast(results[i], wanted[i]);
  return results;
}
