//===- Facts.cpp - What is known of values --------------------------------===//
//
// Extents and types of tensors, comparisons of what isn't a number, and what
// has no effect on results.
//
//===----------------------------------------------------------------------===//

#include "Common/Messages.h"
#include "TorchScript/Exits.h"

using namespace glowish;
using namespace glowish::aten;
using namespace glowish::torchscript;

//===- Tensors ------------------------------------------------------------===//

static const Type &getTensorType(const ScriptCall &call) {
  return call.inputs[0].getTensor()->getType();
}

/// The extent of dimension \p dim of the tensor.
static ScriptValue getExtent(const ScriptCall &call, int64_t dim) {
  return ScriptValue::ofExtent(getTensorType(call).getLength(unsigned(dim)));
}

static llvm::Expected<bool> importSize(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return call.refuse(0, "a tensor");
  unsigned rank = getTensorType(call).getRank();
  if (call.inputs.size() == 1) {
    ScriptValues extents;
    for (unsigned d = 0; d < rank; ++d)
      extents.push_back(getExtent(call, d));
    return call.done(call.in.makeList(std::move(extents)));
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, call.getInt(1));
  GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, rank));
  return call.done(getExtent(call, axis));
}
static const ScriptOperators sizes(importSize, {"aten::size", "prim::shape"});

static llvm::Expected<bool> importLength(ScriptCall &call) {
  const ScriptValue &of = call.inputs[0];
  if (of.isList())
    return call.done(int64_t(of.getList().elements.size()));
  if (of.isDict())
    return call.done(int64_t(of.getDict().entries.size()));
  if (of.is<std::string>())
    return call.done(int64_t(of.get<std::string>().size()));
  if (!of.isTensor() || getTensorType(call).getRank() == 0)
    return call.refuse(0, "a list, or a tensor with dimensions");
  return call.done(getExtent(call, 0));
}
static const ScriptOperators lengths(importLength, {"aten::len"});

/// The number that PyTorch has for \p kind.
static int64_t getKindNumber(ElemKind kind) {
  for (int64_t number = 0; number < 64; ++number)
    if (getAtenKind(number) == kind)
      return number;
  llvm_unreachable("a kind that PyTorch doesn't have");
}

/// The strides of the tensor; an error if they aren't known.
static llvm::Expected<Dims> getKnownStrides(ScriptCall &call) {
  GLOWISH_ASSIGN_OR_RETURN(
      std::optional<Dims> strides,
      call.in.memory.getStrides(*call.inputs[0].getTensor()->place));
  if (!strides)
    return makeError("the strides of this tensor are not known; accepted: "
                     "inputs, weights, views of them, and what is computed of "
                     "them element by element");
  return *strides;
}

static llvm::Expected<bool> importFact(ScriptCall &call) {
  if (!call.inputs[0].isTensor())
    return false;
  const ScriptTensor &tensor = *call.inputs[0].getTensor();
  const Type &type = tensor.getType();
  llvm::StringRef kind = call.node.kind;
  kind = kind.rsplit(':').second;
  if (kind == "dim" || kind == "ndim")
    return call.done(int64_t(type.getRank()));
  if (kind == "numel") {
    std::optional<Extent> count = multiplyAll(type.getLengths());
    if (!count)
      return call.refuse(0, "fewer extents that a run decides");
    return call.done(ScriptValue::ofExtent(*count));
  }
  if (kind == "dtype")
    return call.done(getKindNumber(type.getKind()));
  if (kind == "element_size" || kind == "itemsize")
    return call.done(int64_t(getElemSize(type.getKind())));
  if (kind == "is_floating_point")
    return call.done(isFloatKind(type.getKind()));
  if (kind == "is_signed")
    return call.done(isFloatKind(type.getKind()) ||
                     isSignedIntegerKind(type.getKind()));

  if (kind == "layout")
    return call.done(int64_t(0));
  if (kind == "device")
    return call.done(ScriptIgnored());
  assert((kind == "stride" || kind == "is_contiguous") && "a fact of tensors");
  if (type.hasExtents()) {
    bool isFormat =
        call.inputs.size() > 1 && areEqual(call.inputs[1], int64_t(0)) != true;
    if (kind == "is_contiguous" && tensor.place->isDense && !isFormat)
      return call.done(true);
    return call.refuse(0, "extents that no run decides, as it asks for the "
                          "order of elements in memory");
  }
  GLOWISH_ASSIGN_OR_RETURN(Dims strides, getKnownStrides(call));
  if (kind == "is_contiguous") {
    DimsRef shape = type.getShape();
    int64_t format = call.inputs.size() > 1 && call.inputs[1].isInt()
                         ? call.inputs[1].getInt()
                         : 0;
    std::optional<Dims> wanted = getStrides(MemoryFormat(format), shape);
    return call.done(wanted && haveSameOrder(shape, strides, *wanted));
  }
  auto check = [&](int64_t stride) -> llvm::Error {
    if (stride == TensorMemory::unknownStride)
      return makeError("the stride of a dimension with one index is not known");
    return llvm::Error::success();
  };
  if (call.inputs.size() == 1) {
    ScriptValues all;
    for (int64_t stride : strides) {
      GLOWISH_RETURN_IF_ERROR(check(stride));
      all.push_back(stride);
    }
    return call.done(call.in.makeList(std::move(all)));
  }
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, call.getInt(1));
  GLOWISH_ASSIGN_OR_RETURN(axis, normalizeAxis(axis, type.getRank()));
  GLOWISH_RETURN_IF_ERROR(check(strides[size_t(axis)]));
  return call.done(strides[size_t(axis)]);
}
static const ScriptOperators
    facts(importFact,
          {"aten::dim", "prim::ndim", "aten::numel", "prim::dtype",
           "aten::element_size", "prim::itemsize", "aten::is_floating_point",
           "aten::is_signed", "aten::is_contiguous", "aten::stride",
           "prim::layout", "prim::device"});

/// What no tensor of the graph is.
static llvm::Expected<bool> importFalse(ScriptCall &call) {
  return call.done(false);
}
static const ScriptOperators falseFacts(importFalse,
                                        {"prim::is_cuda",
                                         "prim::is_sparse",
                                         "prim::is_quantized",
                                         "prim::is_mkldnn",
                                         "prim::is_xpu",
                                         "prim::is_mps",
                                         "prim::is_vulkan",
                                         "prim::is_ipu",
                                         "prim::is_meta",
                                         "prim::is_ort",
                                         "prim::is_sparse_csr",
                                         "prim::is_nested",
                                         "prim::requires_grad",
                                         "aten::requires_grad",
                                         "aten::is_complex",
                                         "aten::is_grad_enabled",
                                         "aten::is_autocast_enabled",
                                         "aten::is_autocast_cpu_enabled",
                                         "aten::is_inference",
                                         "aten::is_conj",
                                         "aten::is_neg",
                                         "aten::_is_tracing"});

//===- Comparisons --------------------------------------------------------===//

static llvm::Expected<bool> importIs(ScriptCall &call) {
  const ScriptValue &x = call.inputs[0], &y = call.inputs[1];
  bool isSame =
      x.isNone() || y.isNone() ? x.isNone() && y.isNone() : areSame(x, y);
  return call.done(isSame == (call.node.kind == "aten::__is__"));
}
static const ScriptOperators identities(importIs,
                                        {"aten::__is__", "aten::__isnot__"});

/// Of what is no number and no tensor.
static llvm::Expected<bool> importEqual(ScriptCall &call) {
  const ScriptValue &x = call.inputs[0], &y = call.inputs[1];
  if (x.isNumber() || x.isTensor() || y.isNumber() || y.isTensor())
    return false;
  std::optional<bool> isSame = areEqual(x, y);
  if (!isSame)
    return makeError("what is compared is known only when the model runs");
  return call.done(*isSame == (call.node.kind == "aten::eq"));
}
static const ScriptOperators comparisons(importEqual, {"aten::eq", "aten::ne"});

/// Whether \p value is of \p type; none if that isn't known.
static bool isInstance(const ScriptValue &value, const ProgramType &type) {
  using Kind = ProgramType::Kind;
  switch (type.kind) {
  case Kind::Tensor:
    return value.isTensor() || value.isComplex() || value.isQuantized();
  case Kind::Int:
    return value.getExtent().has_value();
  case Kind::Float:
    return value.is<double>();
  case Kind::Bool:
    return value.is<bool>();
  case Kind::Number:
    return value.isNumber();
  case Kind::String:
    return value.is<std::string>();
  case Kind::None:
    return value.isNone();
  case Kind::Device:
    return value.is<ScriptIgnored>();
  case Kind::Optional:
    return value.isNone() || isInstance(value, type.elements.front());
  case Kind::List:
  case Kind::Tuple:
    return value.isList() &&
           value.getList().isTuple == (type.kind == Kind::Tuple);
  case Kind::Dict:
    return value.isDict();
  case Kind::Object:
    return value.isObject() && value.getObject().type == type.text;
  case Kind::Other:
    return true;
  }
  llvm_unreachable("not a kind of types");
}

static llvm::Expected<bool> importIsInstance(ScriptCall &call) {
  if (call.inputs[0].isComputed())
    return call.refuse(0, "a value that is known when the model is compiled");
  return call.done(llvm::any_of(call.node.types, [&](const ProgramType &type) {
    return isInstance(call.inputs[0], type);
  }));
}
static const ScriptOperators instances(importIsInstance, {"prim::isinstance"});

//===- Values as they are -------------------------------------------------===//

static llvm::Expected<bool> importConstant(ScriptCall &call) {
  return call.done(call.in.makeConstant(call.node.constant));
}
static const ScriptOperators constants(importConstant, {"prim::Constant"});

static llvm::Expected<bool> importSame(ScriptCall &call) {
  call.in.stopsGradients |= call.node.kind == "prim::data" ||
                            call.node.kind == "aten::set_grad_enabled";
  return call.done(call.inputs[0]);
}
static const ScriptOperators
    sameValues(importSame,
               {"prim::unchecked_cast", "prim::unchecked_unwrap_optional",
                "prim::data", "aten::cuda", "aten::wait",
                "prim::awaitable_wait", "aten::set_grad_enabled"});

/// Executes a call that may run at the same time: its result is there when it
/// is asked for.
static llvm::Expected<bool> importFork(ScriptCall &call) {
  const ProgramBlock &block = call.node.blocks[0];
  for (auto [input, value] : llvm::zip_equal(block.inputs, call.inputs))
    call.in.set(input, value);
  GLOWISH_RETURN_IF_ERROR(call.in.run(block));
  ScriptValues outputs = call.in.getOutputs(block);
  return call.done(outputs.size() == 1 ? outputs.front()
                                       : call.in.makeList(std::move(outputs),
                                                          /*isTuple=*/true));
}
static const ScriptOperators forks(importFork,
                                   {"prim::fork", "prim::awaitable"});

static llvm::Expected<bool> importUnwrap(ScriptCall &call) {
  if (call.inputs[0].isNone())
    return call.refuse(0, "another value");
  return call.done(call.inputs[0]);
}
static const ScriptOperators unwrapping(importUnwrap,
                                        {"aten::_unwrap_optional"});

static llvm::Expected<bool> importNone(ScriptCall &call) {
  return call.done({});
}
static const ScriptOperators
    effectless(importNone, {"prim::Uninitialized", "prim::Print", "aten::warn",
                            "aten::manual_seed", "prim::profile"});

/// Blocks without gradients; other contexts might change what is computed.
static llvm::Expected<bool> importContext(ScriptCall &call) {
  llvm::StringRef type = call.inputs[0].isObject()
                             ? llvm::StringRef(call.inputs[0].getObject().type)
                             : llvm::StringRef();
  static constexpr llvm::StringLiteral known[] = {
      "no_grad", "enable_grad", "set_grad_enabled", "inference_mode",
      "record_function"};
  if (llvm::none_of(known,
                    [&](llvm::StringRef own) { return type.ends_with(own); }))
    return makeError("it is in a context of {0}; accepted: torch.no_grad()",
                     type.empty() ? "another kind" : quote(type));
  call.in.stopsGradients |= type.ends_with("no_grad") ||
                            type.ends_with("set_grad_enabled") ||
                            type.ends_with("inference_mode");
  return call.done(call.inputs[0]);
}
static const ScriptOperators contexts(importContext,
                                      {"prim::Enter", "prim::Exit"});

//===- Exceptions ---------------------------------------------------------===//

static llvm::Expected<bool> importRaise(ScriptCall &call) {
  const ScriptValue &message = call.inputs[0];
  if (message.is<std::string>() && message.get<std::string>().empty())
    return makeError("the program raises an exception");
  return makeError("the program raises {0}",
                   quote(message.is<std::string>() ? message.get<std::string>()
                                                   : message.describe()));
}
static const ScriptOperators raising(importRaise, {"prim::RaiseException"});
