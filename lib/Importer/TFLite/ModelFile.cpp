//===- ModelFile.cpp - TensorFlow Lite files ------------------------------===//

#include "TFLite/ModelFile.h"
#include "Common/Messages.h"
#include "TFLite/FieldCheck.h"

using namespace glowish;
using namespace glowish::tflite;
using schema::TensorType;

//===- Validity -----------------------------------------------------------===//

llvm::Expected<TFLiteFile> TFLiteFile::read(llvm::ArrayRef<uint8_t> bytes) {
  // What a malformed file may make the verifier visit.
  constexpr unsigned maxDepth = 64, maxTables = 1u << 24;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), maxDepth,
                                 maxTables);
  if (bytes.size() < 8 || !schema::ModelBufferHasIdentifier(bytes.data()))
    return makeError("it is no TensorFlow Lite model: the identifier TFL3 is "
                     "missing");
  if (!schema::VerifyModelBuffer(verifier))
    return makeError("it is malformed: its offsets are wrong");
  TFLiteFile file(bytes, schema::GetModel(bytes.data()));
  GLOWISH_RETURN_IF_ERROR(file.check());
  return file;
}

/// The length of a vector that may be absent.
template <typename Vector> static size_t getSize(const Vector *vector) {
  return vector ? vector->size() : 0;
}

llvm::Error TFLiteFile::check() const {
  if (model->version() != 3)
    return makeError("its schema has version {0}; accepted: 3",
                     model->version());
  if (getSize(model->subgraphs()) == 0)
    return makeError("it has no subgraph");
  GLOWISH_RETURN_IF_ERROR(checkFields(*model, bytes));
  GLOWISH_RETURN_IF_ERROR(checkBuffers());
  for (const schema::SubGraph *graph : *model->subgraphs())
    GLOWISH_RETURN_IF_ERROR(checkGraph(*graph));
  return llvm::Error::success();
}

/// Models of more than 2 GB have what buffers hold behind the rest.
llvm::Error TFLiteFile::checkBuffers() const {
  for (size_t i = 0; i < getSize(model->buffers()); ++i) {
    const schema::Buffer &buffer = *model->buffers()->Get(unsigned(i));
    GLOWISH_RETURN_IF_ERROR(checkFields(buffer, bytes));
    bool isHere = buffer.data() && buffer.data()->size() > 0;
    if (isHere && buffer.offset() > 1)
      return makeError("it is malformed: buffer {0} has {1} bytes, and others "
                       "at {2}",
                       i, buffer.data()->size(), buffer.offset());
    bool isInside = buffer.data() || buffer.offset() <= 1 ||
                    (buffer.offset() <= bytes.size() &&
                     buffer.size() <= bytes.size() - buffer.offset());
    if (!isInside)
      return makeError("it is malformed: buffer {0} has {1} bytes at {2}, and "
                       "the file has {3}",
                       i, buffer.size(), buffer.offset(), bytes.size());
  }
  return llvm::Error::success();
}

/// An error unless \p indices, of \p what, are those of \p count tensors.
static llvm::Error checkIndices(const flatbuffers::Vector<int32_t> *indices,
                                size_t count, bool mayBeAbsent,
                                llvm::StringRef what) {
  for (size_t i = 0; i < getSize(indices); ++i) {
    int32_t index = indices->Get(i);
    if (!(mayBeAbsent && index == -1) && (index < 0 || size_t(index) >= count))
      return makeError("it is malformed: {0} names tensor {1} of {2}", what,
                       index, count);
  }
  return llvm::Error::success();
}

llvm::Error TFLiteFile::checkGraph(const schema::SubGraph &graph) const {
  GLOWISH_RETURN_IF_ERROR(checkFields(graph, bytes));
  size_t numTensors = getSize(graph.tensors());
  for (size_t i = 0; i < numTensors; ++i) {
    const schema::Tensor &tensor = *graph.tensors()->Get(i);
    if (tensor.buffer() >= getSize(model->buffers()) && tensor.buffer() != 0)
      return makeError("it is malformed: tensor {0} has buffer {1} of {2}",
                       quote(getName(tensor)), tensor.buffer(),
                       getSize(model->buffers()));
  }
  GLOWISH_RETURN_IF_ERROR(
      checkIndices(graph.inputs(), numTensors, false, "an input"));
  GLOWISH_RETURN_IF_ERROR(
      checkIndices(graph.outputs(), numTensors, false, "an output"));
  for (size_t i = 0; i < getSize(graph.operators()); ++i)
    GLOWISH_RETURN_IF_ERROR(checkOperator(graph, *graph.operators()->Get(i)));
  return llvm::Error::success();
}

llvm::Error TFLiteFile::checkOperator(const schema::SubGraph &graph,
                                      const schema::Operator &op) const {
  size_t numTensors = getSize(graph.tensors());
  if (op.opcode_index() >= getSize(model->operator_codes()))
    return makeError("it is malformed: an operator has code {0} of {1}",
                     op.opcode_index(), getSize(model->operator_codes()));
  std::string name = getOperatorName(op);
  GLOWISH_RETURN_IF_ERROR(checkIndices(op.inputs(), numTensors, true, name));
  GLOWISH_RETURN_IF_ERROR(
      checkIndices(op.intermediates(), numTensors, true, name));
  return checkIndices(op.outputs(), numTensors, false, name);
}

//===- Contents -----------------------------------------------------------===//

/// The name of a custom operator, which is not that of another one.
static std::string getCustomName(const flatbuffers::String *name) {
  if (!name)
    return "CUSTOM";
  for (const char *const *builtin = schema::EnumNamesBuiltinOperator();
       *builtin; ++builtin)
    if (name->str() == *builtin)
      return "CUSTOM " + name->str();
  return name->str();
}

std::string TFLiteFile::getOperatorName(const schema::Operator &op) const {
  const schema::OperatorCode &code =
      *model->operator_codes()->Get(op.opcode_index());
  // Old files have the number in a byte, which has a filler in later ones.
  int number = std::max(int(code.builtin_code()),
                        int(uint8_t(code.deprecated_builtin_code())));
  if (number == int(schema::BuiltinOperator::CUSTOM))
    return getCustomName(code.custom_code());
  const char *name =
      schema::EnumNameBuiltinOperator(schema::BuiltinOperator(number));
  return *name ? name : "operator " + std::to_string(number);
}

llvm::StringRef tflite::getName(const schema::Tensor &tensor) {
  return tensor.name()
             ? llvm::StringRef(tensor.name()->c_str(), tensor.name()->size())
             : llvm::StringRef();
}

const schema::SubGraph *TFLiteFile::findSubgraph(int32_t index) const {
  if (index < 0 || size_t(index) >= model->subgraphs()->size())
    return nullptr;
  return model->subgraphs()->Get(unsigned(index));
}

llvm::SmallVector<int32_t, 2> tflite::getSubgraphs(const schema::Operator &op) {
  if (auto *options = op.builtin_options_as_IfOptions())
    return {options->then_subgraph_index(), options->else_subgraph_index()};
  if (auto *options = op.builtin_options_as_WhileOptions())
    return {options->cond_subgraph_index(), options->body_subgraph_index()};
  if (auto *options = op.builtin_options_as_CallOptions())
    return {int32_t(options->subgraph())};
  if (auto *options = op.builtin_options_as_CallOnceOptions())
    return {options->init_subgraph_index()};
  if (auto *options = op.builtin_options_2_as_StableHLOCompositeOptions())
    return {options->decomposition_subgraph_index()};
  return {};
}

std::optional<ElemKind> tflite::findKind(TensorType type) {
  using enum TensorType;
  static constexpr std::pair<TensorType, ElemKind> kinds[] = {
      {FLOAT32, ElemKind::Float},     {FLOAT16, ElemKind::Float16},
      {BFLOAT16, ElemKind::BFloat16}, {FLOAT64, ElemKind::Double},
      {INT4, ElemKind::Int4},         {INT8, ElemKind::Int8},
      {INT16, ElemKind::Int16},       {INT32, ElemKind::Int32},
      {INT64, ElemKind::Int64},       {UINT8, ElemKind::UInt8},
      {UINT16, ElemKind::UInt16},     {UINT32, ElemKind::UInt32},
      {UINT64, ElemKind::UInt64},     {BOOL, ElemKind::Bool},
  };
  for (auto [stored, kind] : kinds)
    if (stored == type)
      return kind;
  return std::nullopt;
}

llvm::Expected<Type> tflite::getType(const schema::Tensor &tensor) {
  std::optional<ElemKind> kind = findKind(tensor.type());
  if (!kind)
    return makeError("tensor {0} is of {1}; accepted: floats, integers, bool",
                     quote(getName(tensor)),
                     schema::EnumNameTensorType(tensor.type()));
  Dims shape;
  for (size_t i = 0; i < getSize(tensor.shape()); ++i)
    shape.push_back(tensor.shape()->Get(i));
  if (llvm::Error error = checkShape(*kind, shape))
    return addContext(std::move(error),
                      "tensor " + quote(getName(tensor)) + ": ");
  return Type(*kind, shape);
}

llvm::ArrayRef<uint8_t>
TFLiteFile::getBytes(const schema::Tensor &tensor) const {
  if (tensor.buffer() == 0 || tensor.buffer() >= getSize(model->buffers()))
    return {};
  const schema::Buffer &buffer = *model->buffers()->Get(tensor.buffer());
  if (buffer.data())
    return {buffer.data()->data(), buffer.data()->size()};
  if (buffer.offset() > 1)
    return bytes.slice(buffer.offset(), buffer.size());
  return {};
}

/// Two numbers of 4 bits in a byte, the first in its lower half, as one a byte.
static void unpackInt4(llvm::ArrayRef<uint8_t> packed, Tensor &tensor) {
  auto *elements = static_cast<int8_t *>(tensor.getBytes());
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    uint8_t half = packed[size_t(i / 2)] >> (i % 2 ? 4 : 0);
    elements[i] = int8_t(int8_t(half << 4) >> 4);
  }
}

llvm::Expected<Tensor>
TFLiteFile::readConstant(const schema::Tensor &tensor) const {
  GLOWISH_ASSIGN_OR_RETURN(Type type, getType(tensor));
  llvm::ArrayRef<uint8_t> data = getBytes(tensor);
  bool isPacked = type.getKind() == ElemKind::Int4;
  int64_t expected =
      isPacked ? (type.getNumElements() + 1) / 2 : type.getSizeInBytes();
  if (int64_t(data.size()) != expected)
    return makeError("tensor {0} is {1} and has {2} bytes; expected {3}",
                     quote(getName(tensor)), type.str(), data.size(), expected);
  Tensor result(type);
  if (isPacked)
    unpackInt4(data, result);
  else if (!data.empty())
    std::memcpy(result.getBytes(), data.data(), data.size());
  // Any byte but 0 stands for true in a file.
  if (type.getKind() == ElemKind::Bool)
    for (size_t i = 0; i < data.size(); ++i)
      static_cast<uint8_t *>(result.getBytes())[i] = data[i] != 0;
  return result;
}
