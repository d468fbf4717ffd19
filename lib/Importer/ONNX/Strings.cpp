//===- Strings.cpp - Strings of fixed content -----------------------------===//

#include "ONNX/Strings.h"
#include "ONNX/OpContext.h"
#include "glowish/Support/Escape.h"

using namespace glowish;
using namespace glowish::onnximport;

//===- Numbers ------------------------------------------------------------===//

std::vector<int64_t> StringNumbers::getAll(llvm::ArrayRef<std::string> texts) {
  std::vector<int64_t> result;
  for (const std::string &text : texts)
    result.push_back(get(text));
  return result;
}

llvm::Expected<Tensor> StringNumbers::read(const onnx::TensorProto &proto) {
  Dims dims(proto.dims().begin(), proto.dims().end());
  GLOWISH_RETURN_IF_ERROR(checkShape(ElemKind::Int64, dims));
  if (proto.has_raw_data() || proto.has_segment() ||
      proto.data_location() == onnx::TensorProto::EXTERNAL)
    return makeError("strings are in raw data, a segment or a file; accepted: "
                     "string_data");
  Tensor tensor(Type(ElemKind::Int64, dims));
  if (proto.string_data_size() != tensor.getNumElements())
    return makeError("{0} strings are needed, got {1}", tensor.getNumElements(),
                     proto.string_data_size());
  for (auto [number, text] :
       llvm::zip_equal(tensor.data<int64_t>(), proto.string_data()))
    number = get(text);
  return std::move(tensor);
}

//===- Operators ----------------------------------------------------------===//

namespace {

/// An operator that takes strings.
struct StringOperator {
  llvm::StringLiteral name;
  /// A bit for each input that is strings.
  unsigned inputs;
  /// Whether the outputs are strings, too.
  bool givesStrings;
  llvm::StringLiteral domain = "";
};

} // namespace

static constexpr unsigned firstInput = 1, allInputs = ~0u;

/// The operators that move strings, compare them or return their shape; none
/// that fills up with zeros, sorts or adds.
static constexpr StringOperator stringOperators[] = {
    {"ArrayFeatureExtractor", firstInput, true, machineLearningDomain},
    {"Compress", firstInput, true},
    {"Concat", allInputs, true},
    {"DepthToSpace", firstInput, true},
    {"Equal", allInputs, false},
    {"Expand", firstInput, true},
    {"Flatten", firstInput, true},
    {"Gather", firstInput, true},
    {"GatherElements", firstInput, true},
    {"GatherND", firstInput, true},
    {"Identity", firstInput, true},
    {"LabelEncoder", firstInput, false, machineLearningDomain},
    {"OneHotEncoder", firstInput, false, machineLearningDomain},
    {"Reshape", firstInput, true},
    {"ReverseSequence", firstInput, true},
    {"Shape", firstInput, false},
    {"Size", firstInput, false},
    {"Slice", firstInput, true},
    {"SpaceToDepth", firstInput, true},
    {"Split", firstInput, true},
    {"Squeeze", firstInput, true},
    {"Tile", firstInput, true},
    {"Transpose", firstInput, true},
    {"Unsqueeze", firstInput, true},
    // The condition is none.
    {"Where", allInputs & ~firstInput, true},
};

static const StringOperator *findOperator(const onnx::NodeProto &node) {
  std::string domain = normalizeDomain(node.domain());
  for (const StringOperator &each : stringOperators)
    if (each.name == node.op_type() && each.domain == domain)
      return &each;
  return nullptr;
}

llvm::Expected<bool> onnximport::checkStringInputs(
    const onnx::NodeProto &node,
    llvm::function_ref<bool(llvm::StringRef name)> isString) {
  auto describeAt = [&](int index) {
    return llvm::formatv("input {0} ({1})", index, quote(node.input(index)))
        .str();
  };
  std::optional<int> strings, numbers;
  const StringOperator *found = findOperator(node);
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty())
      continue;
    bool takesStrings = found && i < 32 && (found->inputs >> i & 1);
    if (!isString(node.input(i))) {
      if (takesStrings)
        numbers = i;
      continue;
    }
    if (!takesStrings)
      return refuseStrings(describeAt(i));
    strings = i;
  }
  if (strings && numbers)
    return makeError("{0} is a tensor of strings and {1} is none; accepted: "
                     "both of strings, or none",
                     describeAt(*strings), describeAt(*numbers));
  return strings && found->givesStrings;
}

llvm::Error onnximport::refuseStrings(llvm::StringRef value) {
  return makeError("{0} is a tensor of strings; accepted: floats, integers and "
                   "bool",
                   value);
}
