//===- Reader.cpp - Read TorchScript archives with libtorch ---------------===//
//
// The only file that uses libtorch, in a library of its own, which is loaded
// when there is an archive to read.
//
//===----------------------------------------------------------------------===//

#include "../Program.h"
#include <ATen/ops/scalar_tensor.h>
#include <algorithm>
#include <c10/core/CPUAllocator.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <cstring>
#include <malloc.h>
#include <mutex>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/library.h>
#include <unordered_map>

using namespace glowish::torchscript;
namespace jit = torch::jit;

namespace {

/// What a program borrows.
struct Owner {
  jit::Module module;
  std::vector<at::Tensor> tensors;
};

/// Describes a module and a graph of it.
class Describer {
public:
  Describer(Program &program, Owner &owner) : program(program), owner(owner) {}

  void describe(const jit::Method &method);

private:
  using TypeKind = ProgramType::Kind;
  using ConstantKind = ProgramConstant::Kind;

  ProgramType describe(const c10::TypePtr &type);
  ProgramConstant describe(const c10::IValue &value, const std::string &path);
  ProgramConstant describeNested(const c10::IValue &value,
                                 const std::string &path);
  ProgramConstant describeList(ConstantKind kind,
                               c10::ArrayRef<c10::IValue> elements,
                               const std::string &path);
  ProgramConstant describeObject(const c10::IValue &value,
                                 const std::string &path);
  ProgramConstant describeQuantized(const at::Tensor &tensor,
                                    const std::string &path);
  ProgramConstant describeState(const c10::IValue &value,
                                const std::string &path);
  size_t addTensor(const at::Tensor &tensor, const std::string &path);
  size_t addValue(const jit::Value *value);
  size_t addSchema(const c10::FunctionSchema &schema);
  ProgramBlock describe(const jit::Block &block);
  ProgramNode describe(const jit::Node &node);

  Program &program;
  Owner &owner;
  std::unordered_map<const void *, size_t> objects;
  /// What objects of C++ hold, by their addresses.
  std::unordered_map<const void *, ProgramConstant> states;
  std::unordered_map<const jit::Value *, size_t> values;
  std::unordered_map<const c10::FunctionSchema *, size_t> schemas;
  /// Keeps values alive, whose addresses are keys.
  std::vector<std::shared_ptr<jit::Graph>> subgraphs;
  /// How many values the one that is described is in.
  unsigned depth = 0;
};

} // namespace

//===- Operators ----------------------------------------------------------===//

/// What archives have that this libtorch may lack: an operator of later
/// releases, and those of torchvision. They are not executed, so that schemas
/// are enough.
static const char *const operatorsOfOthers[] = {
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor "
    "value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, "
    "*, float? scale=None, bool enable_gqa=False) -> Tensor",
    "torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> "
    "Tensor",
    "torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, "
    "int pooled_height, int pooled_width, int sampling_ratio, bool aligned) -> "
    "Tensor",
};

namespace {

/// Operators that libtorch has as long as this exists: a process may load their
/// own library later, which must be the first to define them.
class BorrowedOperators {
public:
  /// Defines the operator of \p text, unless there is one.
  void define(const std::string &text) {
    c10::FunctionSchema schema = jit::parseSchema(text);
    if (c10::Dispatcher::singleton().findSchema(schema.operator_name()))
      return;
    // Arguments are written and shared as it states, Tensor(a!).
    schema.setAliasAnalysis(c10::AliasAnalysisKind::FROM_SCHEMA);
    std::string space = schema.name().substr(0, schema.name().find("::"));
    libraries
        .emplace_back(std::make_unique<torch::Library>(
            torch::Library::FRAGMENT, space, c10::nullopt, __FILE__, __LINE__))
        ->def(std::move(schema));
  }

private:
  std::vector<std::unique_ptr<torch::Library>> libraries;
};

} // namespace

//===- Types --------------------------------------------------------------===//

static ProgramType::Kind getKind(c10::TypeKind kind) {
  using Kind = ProgramType::Kind;
  switch (kind) {
  case c10::TypeKind::TensorType:
    return Kind::Tensor;
  case c10::TypeKind::IntType:
    return Kind::Int;
  case c10::TypeKind::FloatType:
    return Kind::Float;
  case c10::TypeKind::BoolType:
    return Kind::Bool;
  case c10::TypeKind::NumberType:
    return Kind::Number;
  case c10::TypeKind::StringType:
    return Kind::String;
  case c10::TypeKind::NoneType:
    return Kind::None;
  case c10::TypeKind::DeviceObjType:
    return Kind::Device;
  case c10::TypeKind::OptionalType:
    return Kind::Optional;
  case c10::TypeKind::ListType:
    return Kind::List;
  case c10::TypeKind::TupleType:
    return Kind::Tuple;
  case c10::TypeKind::DictType:
    return Kind::Dict;
  case c10::TypeKind::ClassType:
    return Kind::Object;
  default:
    return Kind::Other;
  }
}

ProgramType Describer::describe(const c10::TypePtr &type) {
  ProgramType result;
  result.text = type->annotation_str();
  result.kind = getKind(type->kind());
  // Attributes of an object may contain its class itself.
  if (result.kind == TypeKind::Object || result.kind == TypeKind::Other)
    return result;
  if (result.kind == TypeKind::Tuple)
    if (const auto &schema = type->expectRef<c10::TupleType>().schema())
      for (const c10::Argument &argument : schema->arguments())
        result.names.push_back(argument.name());
  for (const c10::TypePtr &element : type->containedTypes())
    result.elements.push_back(describe(element));
  return result;
}

//===- Constants and attributes -------------------------------------------===//

/// The bytes that the storage of \p tensor has. An archive states a number
/// beside its record, which libtorch does not compare with the record.
static size_t getStorageSize(const at::Tensor &tensor) {
  const at::DataPtr &memory = tensor.storage().data_ptr();
  size_t stated = tensor.storage().nbytes();
  if (!memory.get())
    return 0;
  // What libtorch allocated, records among it, is malloc's.
  if (memory.get_deleter() == c10::GetCPUAllocator()->raw_deleter())
    return std::min(stated, malloc_usable_size(memory.get()));
  return stated;
}

/// Throws unless all elements of \p tensor are in its storage: neither does
/// libtorch compare sizes, strides and offsets of an archive with that.
static void checkExtents(const at::Tensor &tensor, const std::string &path) {
  int64_t first = tensor.storage_offset(), last = first, number = 1, bytes = 0;
  bool isRight = first >= 0, isEmpty = false;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    int64_t size = tensor.size(d), distance = 0;
    isRight &= size >= 0;
    isEmpty |= size == 0;
    isRight &=
        !__builtin_mul_overflow(number, std::max<int64_t>(size, 1), &number) &&
        !__builtin_mul_overflow(size - 1, tensor.stride(d), &distance);
    int64_t &edge = distance < 0 ? first : last;
    isRight &= !__builtin_add_overflow(edge, distance, &edge);
  }
  int64_t itemSize = int64_t(tensor.dtype().itemsize());
  isRight &= !__builtin_mul_overflow(number, itemSize, &number) &&
             !__builtin_add_overflow(last, 1, &last) &&
             !__builtin_mul_overflow(last, itemSize, &bytes);
  if (isRight &&
      (isEmpty || (first >= 0 && uint64_t(bytes) <= getStorageSize(tensor))))
    return;
  throw std::runtime_error(
      (path.empty() ? "a constant tensor" : "the tensor '" + path + "'") +
      " has elements beyond the record of its storage");
}

/// Whether \p tensor has integers of whole bytes, and integers as zero points.
static bool isQuantized(const at::Tensor &tensor) {
  if (!tensor.is_quantized() || !tensor.device().is_cpu())
    return false;
  at::ScalarType kind = tensor.scalar_type();
  c10::QScheme scheme = tensor.qscheme();
  return (kind == at::kQInt8 || kind == at::kQUInt8 || kind == at::kQInt32) &&
         (scheme == c10::kPerTensorAffine || scheme == c10::kPerChannelAffine);
}

size_t Describer::addTensor(const at::Tensor &tensor, const std::string &path) {
  ProgramTensor result;
  result.kind = int64_t(tensor.scalar_type());
  result.shape = tensor.sizes().vec();
  result.isParameter = tensor.requires_grad();
  if (tensor.is_quantized())
    result.unsupported = "quantized";
  else if (tensor.layout() != c10::kStrided)
    result.unsupported = "sparse";
  else if (tensor.is_meta() || !tensor.device().is_cpu())
    result.unsupported = "on another device";
  else {
    checkExtents(tensor, path);
    result.strides = tensor.strides().vec();
    result.data = tensor.numel() ? tensor.data_ptr() : nullptr;
  }
  owner.tensors.push_back(tensor);
  program.tensors.push_back(std::move(result));
  return program.tensors.size() - 1;
}

ProgramConstant Describer::describeQuantized(const at::Tensor &tensor,
                                             const std::string &path) {
  bool ofChannels = tensor.qscheme() == c10::kPerChannelAffine;
  at::Tensor scale = ofChannels ? tensor.q_per_channel_scales()
                                : at::scalar_tensor(tensor.q_scale());
  at::Tensor zeroPoint = ofChannels ? tensor.q_per_channel_zero_points()
                                    : at::scalar_tensor(tensor.q_zero_point());
  ProgramConstant result{.kind = ConstantKind::Quantized};
  auto add = [&](const at::Tensor &own, const char *name) {
    result.elements.push_back({.kind = ConstantKind::Tensor,
                               .index = addTensor(own, path + "." + name)});
  };
  add(tensor.int_repr(), "values");
  add(scale.to(at::kFloat).contiguous(), "scale");
  add(zeroPoint.to(at::kInt).contiguous(), "zero_point");
  if (ofChannels)
    result.elements.push_back(
        {.kind = ConstantKind::Int, .integer = tensor.q_per_channel_axis()});
  return result;
}

ProgramConstant Describer::describeList(ConstantKind kind,
                                        c10::ArrayRef<c10::IValue> elements,
                                        const std::string &path) {
  ProgramConstant result;
  result.kind = kind;
  for (size_t i = 0; i < elements.size(); ++i)
    result.elements.push_back(
        describe(elements[i], path + "." + std::to_string(i)));
  return result;
}

ProgramConstant Describer::describeObject(const c10::IValue &value,
                                          const std::string &path) {
  auto object = value.toObject();
  ProgramConstant result;
  result.kind = ConstantKind::Object;
  auto [known, isNew] =
      objects.try_emplace(object.get(), program.objects.size());
  result.index = known->second;
  if (!isNew)
    return result;
  // Recursion adds further ones.
  program.objects.emplace_back();
  ProgramObject described;
  described.path = path;
  described.type = object->type()->annotation_str();
  for (size_t i = 0; i < object->type()->numAttributes(); ++i) {
    const std::string &name = object->type()->getAttributeName(i);
    described.attributes.emplace_back(
        name,
        describe(object->getSlot(i), path.empty() ? name : path + "." + name));
  }
  program.objects[result.index] = std::move(described);
  return result;
}

/// Describes an object of a class of C++, such as packed weights, by what it
/// writes to an archive.
ProgramConstant Describer::describeState(const c10::IValue &value,
                                         const std::string &path) {
  auto object = value.toObject();
  if (auto known = states.find(object.get()); known != states.end())
    return known->second;
  ProgramConstant state{.kind = ConstantKind::Unsupported,
                        .text = object->type()->annotation_str()};
  if (jit::Function *write = object->type()->findMethod("__getstate__"))
    state = describe((*write)({value}), path);
  states.emplace(object.get(), state);
  return state;
}

ProgramConstant Describer::describe(const c10::IValue &value,
                                    const std::string &path) {
  // A list of an archive may contain itself.
  constexpr unsigned mostDeep = 200;
  if (depth == mostDeep)
    throw std::runtime_error("values nest deeper than " +
                             std::to_string(mostDeep));
  ++depth;
  ProgramConstant result = describeNested(value, path);
  --depth;
  return result;
}

ProgramConstant Describer::describeNested(const c10::IValue &value,
                                          const std::string &path) {
  if (value.isNone() || (value.isTensor() && !value.toTensor().defined()))
    return {};
  if (value.isTensor() && isQuantized(value.toTensor())) {
    // Its elements are copied.
    checkExtents(value.toTensor(), path);
    return describeQuantized(value.toTensor(), path);
  }
  if (value.isTensor())
    return {.kind = ConstantKind::Tensor,
            .index = addTensor(value.toTensor(), path)};
  if (value.isInt())
    return {.kind = ConstantKind::Int, .integer = value.toInt()};
  if (value.isDouble())
    return {.kind = ConstantKind::Float, .real = value.toDouble()};
  if (value.isBool())
    return {.kind = ConstantKind::Bool, .integer = value.toBool()};
  if (value.isString())
    return {.kind = ConstantKind::String, .text = value.toStringRef()};
  if (value.isDevice() || value.isGenerator() || value.isStream())
    return {.kind = ConstantKind::Ignored};
  if (value.isList())
    return describeList(ConstantKind::List, value.toListRef(), path);
  if (value.isTuple())
    return describeList(ConstantKind::Tuple, value.toTupleRef().elements(),
                        path);
  if (value.isCustomClass())
    return describeState(value, path);
  if (value.isObject())
    return describeObject(value, path);
  if (!value.isGenericDict())
    return {.kind = ConstantKind::Unsupported,
            .text = value.type()->annotation_str()};
  ProgramConstant result{.kind = ConstantKind::Dict};
  for (const auto &entry : value.toGenericDict()) {
    result.elements.push_back(describe(entry.key(), path));
    const std::string name =
        entry.key().isString() ? entry.key().toStringRef() : "value";
    result.elements.push_back(describe(entry.value(), path + "." + name));
  }
  return result;
}

//===- Graphs -------------------------------------------------------------===//

size_t Describer::addValue(const jit::Value *value) {
  auto [known, isNew] = values.try_emplace(value, program.values.size());
  if (isNew)
    program.values.push_back(
        {value->hasDebugName() ? value->debugNameBase() : "",
         describe(value->type())});
  return known->second;
}

static std::vector<ProgramArgument>
describeArguments(const std::vector<c10::Argument> &arguments) {
  std::vector<ProgramArgument> result;
  for (const c10::Argument &argument : arguments) {
    ProgramArgument described;
    described.name = argument.name();
    const c10::AliasInfo *alias = argument.alias_info();
    // Lists contain what may be aliases.
    while (alias && alias->beforeSets().empty() &&
           !alias->containedTypes().empty())
      alias = &alias->containedTypes().front();
    if (alias && !alias->beforeSets().empty()) {
      std::string name = alias->beforeSets().begin()->toUnqualString();
      described.aliasSet = name;
      described.isWritten = alias->isWrite();
    }
    result.push_back(std::move(described));
  }
  return result;
}

size_t Describer::addSchema(const c10::FunctionSchema &schema) {
  auto [known, isNew] = schemas.try_emplace(&schema, program.schemas.size());
  if (isNew)
    program.schemas.push_back({describeArguments(schema.arguments()),
                               describeArguments(schema.returns())});
  return known->second;
}

/// "model.py:17": where the Python program has \p node.
static std::string describeSource(const jit::Node &node) {
  jit::SourceRange range = node.sourceRange();
  if (auto original = range.findSourceRangeThatGenerated())
    range = *original;
  auto place = range.file_line_col();
  if (!place)
    return "";
  const auto &[file, line, column] = *place;
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(line);
}

/// "layer1.0.conv1": the module that executes \p node.
static std::string describeScope(const jit::Node &node) {
  std::string path;
  if (!node.callstack())
    return path;
  for (const auto &entry : (*node.callstack())->vec()) {
    const auto &instance = std::get<2>(entry);
    if (!instance || instance->instance_name().empty() ||
        instance->instance_name() == "SELF" ||
        instance->instance_name() == "UNKNOWN_INSTANCE")
      continue;
    path += (path.empty() ? "" : ".") + instance->instance_name();
  }
  return path;
}

ProgramNode Describer::describe(const jit::Node &node) {
  ProgramNode result;
  result.kind = node.kind().toQualString();
  if (const c10::FunctionSchema *schema = node.maybeSchema()) {
    result.overload = schema->overload_name();
    result.schema = addSchema(*schema);
  }
  for (const jit::Value *input : node.inputs())
    result.inputs.push_back(addValue(input));
  for (const jit::Value *output : node.outputs())
    result.outputs.push_back(addValue(output));
  if (node.hasAttribute(c10::attr::name) &&
      node.kindOf(c10::attr::name) == jit::AttributeKind::s)
    result.attribute = node.s(c10::attr::name);
  if (node.kind() == c10::prim::Constant)
    if (auto value = jit::toIValue(node.output()))
      result.constant = describe(*value, "");
  if (node.hasAttribute(c10::attr::types))
    for (const c10::TypePtr &type : node.tys(c10::attr::types))
      result.types.push_back(describe(type));
  result.source = describeSource(node);
  result.scope = describeScope(node);
  for (const jit::Block *block : node.blocks())
    result.blocks.push_back(describe(*block));
  // What may run at the same time is a block of its own.
  if (node.kind() == c10::prim::fork || result.kind == "prim::awaitable") {
    subgraphs.push_back(node.g(c10::attr::Subgraph)->copy());
    jit::Inline(*subgraphs.back());
    jit::EliminateDeadCode(subgraphs.back());
    result.blocks.push_back(describe(*subgraphs.back()->block()));
  }
  return result;
}

ProgramBlock Describer::describe(const jit::Block &block) {
  ProgramBlock result;
  for (const jit::Value *input : block.inputs())
    result.inputs.push_back(addValue(input));
  for (const jit::Node *node : block.nodes())
    result.nodes.push_back(describe(*node));
  for (const jit::Value *output : block.outputs())
    result.outputs.push_back(addValue(output));
  return result;
}

void Describer::describe(const jit::Method &method) {
  describe(owner.module._ivalue(), "");
  std::shared_ptr<jit::Graph> graph = method.graph()->copy();
  jit::Inline(*graph);
  jit::EliminateDeadCode(graph);
  program.body = describe(*graph->block());
  const auto &arguments = method.function().getSchema().arguments();
  for (size_t i = 0; i < program.body.inputs.size(); ++i) {
    size_t value = program.body.inputs[i];
    if (i == 0 && program.values[value].type.kind == TypeKind::Object) {
      program.self = value;
      continue;
    }
    ProgramInput input;
    input.name =
        i < arguments.size() ? arguments[i].name() : program.values[value].name;
    input.value = value;
    input.type = program.values[value].type;
    if (i < arguments.size() && arguments[i].default_value())
      input.fallback = describe(*arguments[i].default_value(), input.name);
    program.inputs.push_back(std::move(input));
  }
}

//===- Entry points -------------------------------------------------------===//

/// Returns the method \p name; forward(), or the only one where that is empty.
static jit::Method findMethod(const jit::Module &module,
                              const std::string &name) {
  if (auto method = module.find_method(name.empty() ? "forward" : name))
    return *method;
  std::vector<jit::Method> methods = module.get_methods();
  if (methods.size() == 1 && name.empty())
    return methods.front();
  std::string names;
  for (const jit::Method &method : methods)
    names += (names.empty() ? "'" : ", '") + method.name() + "'";
  throw std::runtime_error(
      "the module has no method '" + (name.empty() ? "forward" : name) + "'" +
      (names.empty() ? "" : "; accepted: «method» with " + names));
}

/// What \p message says in a line: exceptions of libtorch state where it was
/// thrown, and quote code.
static std::string shorten(const std::string &message) {
  std::string line;
  for (char c : message.substr(0, message.find("Exception raised from")))
    line += c == '\n' ? ' ' : c;
  size_t end = line.find_last_not_of(" .");
  line.resize(end == std::string::npos ? 0 : end + 1);
  // What nothing but a malformed archive leads to is no bug to report.
  if (size_t at = line.find(" INTERNAL ASSERT FAILED"); at != std::string::npos)
    return "libtorch cannot read it: '" + line.substr(0, at) +
           "' does not hold";
  return line.empty() ? "libtorch cannot read it" : line;
}

namespace {

/// An archive in memory, from which nothing is read beyond its end.
class ArchiveBytes final : public caffe2::serialize::ReadAdapterInterface {
public:
  ArchiveBytes(const void *bytes, size_t numBytes)
      : bytes(static_cast<const char *>(bytes)), numBytes(numBytes) {}

  size_t size() const override { return numBytes; }
  size_t read(uint64_t position, void *buffer, size_t count,
              const char * /*what*/) const override {
    size_t rest = numBytes - std::min<uint64_t>(position, numBytes);
    count = std::min(count, rest);
    if (count > 0)
      std::memcpy(buffer, bytes + position, count);
    return count;
  }

private:
  const char *bytes;
  size_t numBytes;
};

} // namespace

#define GLOWISH_EXPORT extern "C" __attribute__((visibility("default")))

GLOWISH_EXPORT uint32_t glowishTorchVersion() { return programVersion; }

GLOWISH_EXPORT bool glowishTorchRead(const void *bytes, size_t size,
                                     const char *method,
                                     const std::vector<std::string> &schemas,
                                     Program &program, std::string &error) {
  // Operators are of the whole process.
  static std::mutex reading;
  std::lock_guard lock(reading);
  try {
    BorrowedOperators operators;
    for (const char *text : operatorsOfOthers)
      operators.define(text);
    for (const std::string &text : schemas)
      operators.define(text);
    auto owner = std::make_shared<Owner>();
    owner->module = jit::load(std::make_shared<ArchiveBytes>(bytes, size),
                              c10::Device(c10::kCPU));
    owner->module.eval();
    program.name = owner->module.type()->name()
                       ? owner->module.type()->name()->name()
                       : "model";
    Describer(program, *owner).describe(findMethod(owner->module, method));
    program.owner = owner;
    return true;
  } catch (const c10::Error &exception) {
    error = shorten(exception.what_without_backtrace());
  } catch (const std::exception &exception) {
    error = shorten(exception.what());
  } catch (...) {
    error = "libtorch cannot read it";
  }
  return false;
}
