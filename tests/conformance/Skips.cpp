//===- Skips.cpp - Tests of what glowish does not do ----------------------===//

#include "Skips.h"
#include "llvm/ADT/STLExtras.h"
#include <onnx/onnx_pb.h>
#include <set>
#include <string>

using namespace glowish;

namespace {

/// What a model and its data need, from all graphs and functions in it.
struct ModelFacts {
  explicit ModelFacts(const onnx::ModelProto &model);

  std::set<int64_t> elementTypes;
  /// Those of inputs and outputs of the model, which runs have.
  std::set<int64_t> runTypes;
  std::set<std::string> operators;
  /// The kinds of values (TypeProto's oneof).
  std::set<int> valueKinds;

private:
  void add(const onnx::TypeProto &type);
  void add(const onnx::AttributeProto &attribute);
  void add(const onnx::NodeProto &node);
  void add(const onnx::GraphProto &graph);
};

struct SkipRule {
  SkipKind kind;
  bool (*applies)(const ModelFacts &facts);
  /// Whether the rule is one for models that are written as ONNX alone.
  bool isOfWritten = false;
};

} // namespace

ModelFacts::ModelFacts(const onnx::ModelProto &model) {
  for (const auto *values : {&model.graph().input(), &model.graph().output()})
    for (const auto &value : *values)
      add(value.type());
  runTypes = elementTypes;
  add(model.graph());
  for (const auto &function : model.functions())
    for (const auto &node : function.node())
      add(node);
}

void ModelFacts::add(const onnx::TypeProto &type) {
  valueKinds.insert(type.value_case());
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    elementTypes.insert(type.tensor_type().elem_type());
    break;
  case onnx::TypeProto::kSparseTensorType:
    elementTypes.insert(type.sparse_tensor_type().elem_type());
    break;
  case onnx::TypeProto::kSequenceType:
    add(type.sequence_type().elem_type());
    break;
  case onnx::TypeProto::kOptionalType:
    add(type.optional_type().elem_type());
    break;
  case onnx::TypeProto::kMapType:
    elementTypes.insert(type.map_type().key_type());
    add(type.map_type().value_type());
    break;
  default:
    break;
  }
}

/// Attributes that name an element type (Cast, RandomNormal, QuantizeLinear).
static bool namesElementType(llvm::StringRef attribute) {
  return attribute == "to" || attribute == "dtype" ||
         attribute == "output_dtype";
}

void ModelFacts::add(const onnx::AttributeProto &attribute) {
  if (attribute.has_t())
    elementTypes.insert(attribute.t().data_type());
  for (const auto &tensor : attribute.tensors())
    elementTypes.insert(tensor.data_type());
  if (attribute.has_sparse_tensor())
    elementTypes.insert(attribute.sparse_tensor().values().data_type());
  if (attribute.has_tp())
    add(attribute.tp());
  if (attribute.has_g())
    add(attribute.g());
  for (const auto &graph : attribute.graphs())
    add(graph);
  if (namesElementType(attribute.name()))
    elementTypes.insert(attribute.i());
}

void ModelFacts::add(const onnx::NodeProto &node) {
  operators.insert(node.op_type());
  for (const auto &attribute : node.attribute())
    add(attribute);
}

void ModelFacts::add(const onnx::GraphProto &graph) {
  for (const auto *values :
       {&graph.input(), &graph.output(), &graph.value_info()})
    for (const auto &value : *values)
      add(value.type());
  for (const auto &tensor : graph.initializer())
    elementTypes.insert(tensor.data_type());
  for (const auto &tensor : graph.sparse_initializer())
    elementTypes.insert(tensor.values().data_type());
  for (const auto &node : graph.node())
    add(node);
}

/// FLOAT8E4M3FN is 17; what ONNX has added since are float8, 4 and 2 bits, up
/// to INT2. Not named: the library may be older than the model.
static bool isLowBitType(int64_t elementType) { return elementType >= 17; }
static bool isNewType(int64_t elementType) { return elementType > 26; }

/// Why tests are not run, in one place. The first that applies counts.
static const SkipRule skipRules[] = {
    {{"strings", "inputs and outputs of programs are no strings"},
     [](const ModelFacts &facts) {
       return facts.runTypes.count(onnx::TensorProto::STRING) != 0;
     }},
    {{"new types", "element types that ONNX 1.22 does not have"},
     [](const ModelFacts &facts) {
       return llvm::any_of(facts.elementTypes, isNewType);
     }},
    {{"low-bit",
      "models are written with opset 17: float8 and types under 8 bits are "
      "newer"},
     [](const ModelFacts &facts) {
       return llvm::any_of(facts.elementTypes, isLowBitType);
     },
     /*isOfWritten=*/true},
    {{"maps", "values are tensors"},
     [](const ModelFacts &facts) {
       return facts.valueKinds.count(onnx::TypeProto::kMapType) != 0;
     }},
    {{"images", "decoding of image files is the application's"},
     [](const ModelFacts &facts) {
       return facts.operators.count("ImageDecoder") != 0;
     }},
};

const SkipKind *glowish::findSkip(const onnx::ModelProto &model,
                                  bool isWritten) {
  ModelFacts facts(model);
  for (const SkipRule &rule : skipRules)
    if ((isWritten || !rule.isOfWritten) && rule.applies(facts))
      return &rule.kind;
  return nullptr;
}
