//===- DeclaredTypes.cpp - Types that a model declares --------------------===//

#include "ONNX/DeclaredTypes.h"
#include "ONNX/ModelFile.h"
#include "glowish/Base/DimExpression.h"
#include "llvm/ADT/StringExtras.h"

using namespace glowish;
using namespace glowish::onnximport;

DeclaredTypes::DeclaredTypes(const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &info : graph.value_info())
    inner[info.name()] = &info;
}

void DeclaredTypes::bindInput(const onnx::ValueInfoProto &input,
                              const Type &type) {
  const auto &shape = input.type().tensor_type().shape();
  if (shape.dim_size() != int(type.getRank()))
    return;
  for (int d = 0; d < shape.dim_size(); ++d) {
    int64_t extent = type.getDim(d);
    const Dimension &dim = shape.dim(d);
    if (dim.has_dim_value() && dim.dim_value() >= 0 &&
        dim.dim_value() != extent)
      comparesExtents = false;
    // Some exporters write one symbol for dimensions that differ.
    if (!dim.dim_param().empty() &&
        symbols.try_emplace(dim.dim_param(), extent).first->second != extent)
      comparesExtents = false;
  }
}

/// Returns the declared extent, if it is known.
std::optional<int64_t> DeclaredTypes::findExtent(const Dimension &dim) const {
  if (dim.has_dim_value() && dim.dim_value() >= 0)
    return dim.dim_value();
  if (dim.dim_param().empty())
    return std::nullopt;
  llvm::Expected<std::optional<int64_t>> extent =
      evaluateDim(dim.dim_param(), symbols);
  if (extent)
    return *extent;
  llvm::consumeError(extent.takeError());
  return std::nullopt;
}

/// Returns the name of the element type \p dataType.
static std::string getTypeName(int dataType) {
  if (llvm::Expected<ElemKind> kind = getElemKind(dataType))
    return getElemKindName(*kind).str();
  else
    llvm::consumeError(kind.takeError());
  if (!onnx::TensorProto::DataType_IsValid(dataType))
    return std::to_string(dataType);
  return llvm::StringRef(onnx::TensorProto::DataType_Name(
                             onnx::TensorProto::DataType(dataType)))
      .lower();
}

/// Returns the text of a declared type, such as "float<1x?x8>".
static std::string getText(const onnx::TypeProto &type) {
  const auto &tensor = type.tensor_type();
  std::string text = getTypeName(tensor.elem_type());
  if (!tensor.has_shape())
    return text;
  std::vector<std::string> dims;
  for (const auto &dim : tensor.shape().dim())
    dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0
                       ? std::to_string(dim.dim_value())
                   : dim.dim_param().empty() ? "?"
                                             : dim.dim_param());
  return text + "<" + llvm::join(dims, "x") + ">";
}

/// Whether the shape of a value of type \p own may be that of \p type.
bool DeclaredTypes::hasShape(const onnx::TypeProto &type,
                             const Type &own) const {
  const auto &tensor = type.tensor_type();
  DimsRef shape = own.getShape();
  if (!tensor.has_shape())
    return true;
  if (tensor.shape().dim_size() != int(shape.size()))
    return false;
  for (auto [d, extent] : llvm::enumerate(shape)) {
    if (!comparesExtents || own.getExtent(d))
      continue;
    if (findExtent(tensor.shape().dim(d)).value_or(extent) != extent)
      return false;
  }
  return true;
}

/// Returns the type of what \p type holds if it is an optional: an optional
/// with a value is represented by that value.
static const onnx::TypeProto &skipOptional(const onnx::TypeProto &type) {
  return type.has_optional_type() ? type.optional_type().elem_type() : type;
}

std::string DeclaredTypes::compare(llvm::StringRef name,
                                   const onnx::TypeProto &declared,
                                   const Type &type) const {
  std::string start = quote(name) + " is " + type.withoutExtents().str() +
                      "; the model declares ";
  // A ZipMap gives the tensor of which maps would be made.
  if (declared.has_sequence_type() &&
      !declared.sequence_type().elem_type().has_map_type())
    return start + "a sequence";
  if (!declared.has_tensor_type())
    return "";
  int dataType = declared.tensor_type().elem_type();
  // Labels that are strings are int64 indices, of which there was a warning.
  bool isLabel = dataType == onnx::TensorProto::STRING &&
                 type.getKind() == ElemKind::Int64;
  bool isKind = dataType == onnx::TensorProto::UNDEFINED || isLabel ||
                getTypeName(dataType) == getElemKindName(type.getKind());
  if (isKind && hasShape(declared, type))
    return "";
  return start + cleanMessage(getText(declared));
}

std::string DeclaredTypes::compare(const onnx::ValueInfoProto &declared,
                                   const Type &type) const {
  return compare(declared.name(), skipOptional(declared.type()), type);
}

std::string DeclaredTypes::compare(const onnx::ValueInfoProto &declared,
                                   const Sequence &sequence) const {
  const onnx::TypeProto &type = skipOptional(declared.type());
  if (type.has_tensor_type() && !sequence.isAbsent)
    return quote(declared.name()) + " is a sequence; the model declares " +
           cleanMessage(getText(type));
  if (!type.has_sequence_type())
    return "";
  for (auto [i, element] : llvm::enumerate(sequence.elements)) {
    std::string difference =
        compare(declared.name() + "." + std::to_string(i),
                type.sequence_type().elem_type(), element.getType());
    if (!difference.empty())
      return difference;
  }
  return "";
}

std::string DeclaredTypes::compareInner(llvm::StringRef name,
                                        const Type &type) const {
  auto found = inner.find(name);
  return found == inner.end() ? "" : compare(*found->second, type);
}
