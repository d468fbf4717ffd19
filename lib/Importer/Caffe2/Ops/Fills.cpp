//===- Fills.cpp - Constant and random tensors ----------------------------===//

#include "Caffe2/ElemKinds.h"
#include "Caffe2/Quantization.h"
#include "Common/OpenReshape.h"
#include "glowish/Graph/RandomValues.h"
#include "glowish/Support/Checksum.h"

using namespace glowish;
using namespace glowish::caffe2;

//===- Shapes -------------------------------------------------------------===//

/// Returns the argument `shape`, or the shape of the input or, with
/// input_as_shape, its elements; extra_shape is appended.
static llvm::Expected<std::vector<Extent>> readShape(NetOp &op) {
  std::vector<int64_t> stated = op.getInts("shape");
  std::vector<Extent> shape(stated.begin(), stated.end());
  bool isElements = op.getInt("input_as_shape", 0) != 0;
  op.ignoreArgs({"run_once"});
  if (op.hasInput(0) && isElements) {
    GLOWISH_ASSIGN_OR_RETURN(shape, op.getExtents(0));
  } else if (op.hasInput(0)) {
    shape.clear();
    for (unsigned d = 0; d < op.input(0).getType().getRank(); ++d)
      shape.push_back(op.input(0).getType().getLength(d));
  }
  for (int64_t extent : op.getInts("extra_shape"))
    shape.push_back(extent);
  return shape;
}

static llvm::Error importConstantFill(NetOp &op) {
  const schema::Argument *value = op.findArg("value");
  bool isInteger = value && value->has_i() && !value->has_f();
  GLOWISH_ASSIGN_OR_RETURN(
      ElemKind kind,
      readKind(op, "dtype", isInteger ? ElemKind::Int64 : ElemKind::Float));
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> shape, readShape(op));
  GLOWISH_ASSIGN_OR_RETURN(Type type, makeType(kind, shape, op.getSymbols()));
  return op.setOutput(0, op.splatLike(kind, type, op.getFloat("value", 0)));
}

/// The key is a checksum of the blob's name: blobs differ from each other, runs
/// do not.
template <bool isNormal> static llvm::Error importRandomFill(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<Extent> extents, readShape(op));
  GLOWISH_ASSIGN_OR_RETURN(Type type,
                           makeType(ElemKind::Float, extents, op.getSymbols()));
  if (type.hasExtents())
    return makeError("the result would be {0}; accepted: extents that no run "
                     "decides, as each number is drawn for its position",
                     type.str());
  Dims shape(type.getShape());
  llvm::StringRef name = op.getName();
  uint64_t key = checksum64(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(name.data()), name.size()));
  double first = op.getFloat(isNormal ? "mean" : "min", 0);
  double second = op.getFloat(isNormal ? "std" : "max", 1);
  RandomValues random(op, shape, op.uint64(key));
  NodeValue drawn = isNormal ? random.normal(ElemKind::Float)
                             : random.uniform(ElemKind::Float);
  double scale = isNormal ? second : second - first;
  return op.setOutput(0, op.add(op.mul(drawn, scale), first));
}

//===- Given values -------------------------------------------------------===//

/// Allocates a tensor with the shape of the argument `shape`, which must have
/// \p count elements.
static llvm::Expected<Tensor> makeTensor(NetOp &op, ElemKind kind,
                                         size_t count) {
  std::vector<int64_t> shape = op.getInts("shape");
  GLOWISH_RETURN_IF_ERROR(op.takeError());
  GLOWISH_RETURN_IF_ERROR(checkShape(kind, shape));
  Type type(kind, shape);
  if (type.getNumElements() != int64_t(count))
    return makeError("it has {0} values; the shape {1} has {2}", count,
                     formatShape(shape), type.getNumElements());
  op.getNet().budget.grow(type.getSizeInBytes());
  return Tensor(type);
}

/// Sets output 0 to a constant of \p values, and releases them.
template <typename Values>
static llvm::Error setValues(NetOp &op, ElemKind kind, Values *values) {
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor, makeTensor(op, kind, values->size()));
  if constexpr (std::is_same_v<Values, google::protobuf::RepeatedField<float>>)
    if (kind == ElemKind::Float) {
      std::copy(values->begin(), values->end(), tensor.data<float>().begin());
      values->Clear();
      return op.setOutput(0, op.createConstant(std::move(tensor)));
    }
  dispatchElemKind(kind, [&](auto zero) {
    using T = decltype(zero);
    llvm::MutableArrayRef<T> elements = tensor.data<T>();
    for (int i = 0; i < values->size(); ++i)
      if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16> ||
                    isLowFloat<T>)
        elements[i] = T(float(values->Get(i)));
      else
        elements[i] = T(values->Get(i));
  });
  values->Clear();
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

/// The argument is a list of floats, or of integers.
template <ElemKind Kind, bool isFloat>
static llvm::Error importGiven(NetOp &op) {
  schema::Argument empty, *values = op.takeValues();
  values = values ? values : &empty;
  if (isFloat ? values->ints_size() : values->floats_size())
    return makeError("argument 'values' is a list of {0}; accepted: a list of "
                     "{1}",
                     isFloat ? "integers" : "floats",
                     isFloat ? "floats" : "integers");
  if constexpr (isFloat)
    return setValues(op, Kind, values->mutable_floats());
  else
    return setValues(op, Kind, values->mutable_ints());
}

/// The concatenated bytes of all strings.
static llvm::Error importBytes(NetOp &op) {
  std::string bytes;
  if (const schema::Argument *values = op.takeValues()) {
    bytes = values->s();
    for (const std::string &part : values->strings())
      bytes += part;
  }
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor,
                           makeTensor(op, ElemKind::UInt8, bytes.size()));
  std::copy(bytes.begin(), bytes.end(), tensor.data<uint8_t>().begin());
  return op.setOutput(0, op.createConstant(std::move(tensor)));
}

//===- Quantized values ---------------------------------------------------===//

/// Bytes q + 128; the offset in the file includes the 128 as well.
static llvm::Error importInt8Fill(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto quant, readOutputParams(op));
  schema::Argument *values = op.takeValues();
  std::string bytes = values ? values->s() : "";
  GLOWISH_ASSIGN_OR_RETURN(Tensor tensor,
                           makeTensor(op, ElemKind::Int8, bytes.size()));
  for (auto [element, byte] : llvm::zip_equal(tensor.data<int8_t>(), bytes))
    element = int8_t(uint8_t(byte) ^ 0x80);
  return op.setOutput(0, op.createConstant(std::move(tensor)), quant);
}

/// int32, used for biases.
static llvm::Error importInt8IntFill(NetOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(auto quant, readIntParams(op));
  GLOWISH_RETURN_IF_ERROR(importGiven<ElemKind::Int32, false>(op));
  return op.setOutput(0, op.getOutputs()[0].value, quant);
}

//===- Registrations ------------------------------------------------------===//

static constexpr NetOpTraits noInput{.inputs = 0};
static constexpr NetOpTraits shapeInput{.inputs = {0, 1}};

static const Caffe2Operators operators = {
    {"ConstantFill", importConstantFill, shapeInput},
    {"GaussianFill", importRandomFill<true>, shapeInput},
    {"UniformFill", importRandomFill<false>, shapeInput},
    {"GivenTensorFill", importGiven<ElemKind::Float, true>, noInput},
    {"GivenTensorFp16Fill", importGiven<ElemKind::Float16, true>, noInput},
    {"GivenTensorDoubleFill", importGiven<ElemKind::Double, true>, noInput},
    {"GivenTensorIntFill", importGiven<ElemKind::Int32, false>, noInput},
    {"GivenTensorInt64Fill", importGiven<ElemKind::Int64, false>, noInput},
    {"GivenTensorBoolFill", importGiven<ElemKind::Bool, false>, noInput},
    {"GivenTensorByteStringToUInt8Fill", importBytes, noInput},
    {"Int8GivenTensorFill", importInt8Fill, noInput},
    {"Int8GivenIntTensorFill", importInt8IntFill, noInput}};
