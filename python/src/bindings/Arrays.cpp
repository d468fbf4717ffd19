//===- Arrays.cpp - NumPy arrays and DLPack tensors -----------------------===//

#include "bindings/Arrays.h"
#include "bindings/DLPack.h"
#include "core/Failure.h"

namespace py = pybind11;
using namespace glowish;
using namespace glowish::python;
using Api = py::detail::npy_api;

namespace {

/// What is known of an element kind's arrays.
struct ArrayKind {
  int typeNumber;
  const char *typeName;
};

} // namespace

static ArrayKind getArrayKind(ElemKind kind) {
  switch (kind) {
  case ElemKind::Float:
    return {Api::NPY_FLOAT_, "float32"};
  case ElemKind::Float16:
    return {23, "float16"};
  case ElemKind::BFloat16:
  case ElemKind::UInt16:
    return {Api::NPY_USHORT_, "uint16"};
  case ElemKind::Double:
    return {Api::NPY_DOUBLE_, "float64"};
  case ElemKind::Int8:
  case ElemKind::Int8Q:
  case ElemKind::Int4:
  case ElemKind::Int2:
    return {Api::NPY_BYTE_, "int8"};
  case ElemKind::Int16:
  case ElemKind::Int16Q:
    return {Api::NPY_SHORT_, "int16"};
  case ElemKind::Int32:
  case ElemKind::Int32Q:
    return {Api::NPY_INT_, "int32"};
  case ElemKind::UInt32:
    return {Api::NPY_UINT_, "uint32"};
  case ElemKind::Int64:
    return {Api::NPY_LONG_, "int64"};
  case ElemKind::UInt64:
    return {Api::NPY_ULONG_, "uint64"};
  case ElemKind::Bool:
    return {Api::NPY_BOOL_, "bool"};
  default:
    // UInt8, UInt8Q, and the bits of low precisions.
    return {Api::NPY_UBYTE_, "uint8"};
  }
}

int glowish::python::getTypeNumber(ElemKind kind) {
  return getArrayKind(kind).typeNumber;
}

const char *glowish::python::getTypeName(ElemKind kind) {
  return getArrayKind(kind).typeName;
}

const char *glowish::python::getKindName(ElemKind kind) {
  switch (kind) {
#define ELEM_KIND(ENUM, TYPE, SPELLING)                                        \
  case ElemKind::ENUM:                                                         \
    return SPELLING;
#include "glowish/Base/ElemKinds.def"
  }
  return "";
}

/// The kind of the elements of an array as such, without a model.
static std::optional<ElemKind> findKind(int typeNumber) {
  // NumPy has two numbers for integers of the same size.
  if (typeNumber == Api::NPY_LONGLONG_)
    return ElemKind::Int64;
  if (typeNumber == Api::NPY_ULONGLONG_)
    return ElemKind::UInt64;
  for (ElemKind kind :
       {ElemKind::Float, ElemKind::Double, ElemKind::Float16, ElemKind::Int8,
        ElemKind::UInt8, ElemKind::Int16, ElemKind::UInt16, ElemKind::Int32,
        ElemKind::UInt32, ElemKind::Int64, ElemKind::UInt64, ElemKind::Bool})
    if (getTypeNumber(kind) == typeNumber)
      return kind;
  return std::nullopt;
}

//===- NumPy --------------------------------------------------------------===//

static bool isNative(const py::detail::PyArrayDescr_Proxy &type) {
  return type.byteorder != '>';
}

bool glowish::python::isPlainArray(py::handle object, int typeNumber,
                                   ArrayShape &shape) {
  static PyTypeObject *const arrayType = Api::get().PyArray_Type_;
  if (Py_TYPE(object.ptr()) != arrayType)
    return false;
  const auto *array = py::detail::array_proxy(object.ptr());
  const auto *type = py::detail::array_descriptor_proxy(array->descr);
  constexpr int flags = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_ALIGNED_;
  if (type->type_num != typeNumber || !isNative(*type) ||
      (array->flags & flags) != flags)
    return false;
  static_assert(sizeof(*array->dimensions) == sizeof(int64_t));
  shape = {reinterpret_cast<const int64_t *>(array->dimensions),
           size_t(array->nd), array->data};
  return true;
}

[[noreturn]] static void failType(const std::string &name, ElemKind expected,
                                  const std::string &given) {
  std::string accepted = getTypeName(expected);
  if (expected == ElemKind::BFloat16)
    accepted = "uint16, the bits of bfloat16, or bfloat16";
  throw Failure{Failure::Kind::Type,
                "input '" + name + "' is " + given + "; accepted: " + accepted};
}

static InputArray readNumpy(py::array array, const std::string &name,
                            std::optional<ElemKind> expected) {
  int typeNumber =
      py::detail::array_descriptor_proxy(array.dtype().ptr())->type_num;
  std::optional<ElemKind> kind = findKind(typeNumber);
  std::string typeName = py::str(array.dtype());
  // What ml_dtypes brings.
  if (!kind && typeName == "bfloat16") {
    array = array.attr("view")("uint16");
    kind = ElemKind::BFloat16;
  }
  if (!kind)
    throw Failure{Failure::Kind::Type,
                  "input '" + name + "' is " + typeName + "; accepted: " +
                      (expected ? getTypeName(*expected)
                                : "an array of numbers or truth values")};
  if (expected && getTypeNumber(*kind) != getTypeNumber(*expected))
    failType(name, *expected, typeName);
  array = py::array::ensure(array, int(py::array::c_style) |
                                       int(Api::NPY_ARRAY_ALIGNED_));
  if (array &&
      !isNative(*py::detail::array_descriptor_proxy(array.dtype().ptr())))
    array = array.attr("astype")(getTypeName(*kind));
  if (!array)
    throw py::error_already_set();
  InputArray result;
  result.view.kind = expected ? *expected : *kind;
  result.view.shape.assign(array.shape(), array.shape() + array.ndim());
  result.view.data = const_cast<void *>(array.data());
  result.owner = std::move(array);
  return result;
}

//===- DLPack -------------------------------------------------------------===//

static std::optional<ElemKind> findKind(dlpack::DataType type) {
  if (type.lanes != 1)
    return std::nullopt;
  switch (type.code) {
  case dlpack::Float:
    return type.bits == 32   ? std::optional(ElemKind::Float)
           : type.bits == 64 ? std::optional(ElemKind::Double)
           : type.bits == 16 ? std::optional(ElemKind::Float16)
                             : std::nullopt;
  case dlpack::BFloat:
    return type.bits == 16 ? std::optional(ElemKind::BFloat16) : std::nullopt;
  case dlpack::Bool:
    return type.bits == 8 ? std::optional(ElemKind::Bool) : std::nullopt;
  case dlpack::Int:
    return type.bits == 8    ? std::optional(ElemKind::Int8)
           : type.bits == 16 ? std::optional(ElemKind::Int16)
           : type.bits == 32 ? std::optional(ElemKind::Int32)
           : type.bits == 64 ? std::optional(ElemKind::Int64)
                             : std::nullopt;
  case dlpack::UInt:
    return type.bits == 8    ? std::optional(ElemKind::UInt8)
           : type.bits == 16 ? std::optional(ElemKind::UInt16)
           : type.bits == 32 ? std::optional(ElemKind::UInt32)
           : type.bits == 64 ? std::optional(ElemKind::UInt64)
                             : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Takes what a capsule "dltensor" has: the capsule is renamed, and the tensor
/// released when \p capsule's successor is.
static py::capsule takeTensor(py::object capsule,
                              dlpack::ManagedTensor *&managed) {
  managed = static_cast<dlpack::ManagedTensor *>(
      PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!managed || PyCapsule_SetName(capsule.ptr(), "used_dltensor"))
    throw py::error_already_set();
  return py::capsule(managed, [](void *pointer) {
    auto *tensor = static_cast<dlpack::ManagedTensor *>(pointer);
    if (tensor->release)
      tensor->release(tensor);
  });
}

static bool isContiguous(const dlpack::Tensor &tensor) {
  int64_t stride = 1;
  for (int32_t d = tensor.rank; tensor.strides && d-- > 0;) {
    if (tensor.shape[d] > 1 && tensor.strides[d] != stride)
      return false;
    stride *= tensor.shape[d];
  }
  return true;
}

static InputArray readDLPack(py::handle object, const std::string &name,
                             std::optional<ElemKind> expected) {
  dlpack::ManagedTensor *managed = nullptr;
  InputArray result;
  result.owner = takeTensor(object.attr("__dlpack__")(), managed);
  const dlpack::Tensor &tensor = managed->tensor;
  if (tensor.device.type != dlpack::cpuDevice)
    throw Failure{Failure::Kind::Value,
                  "input '" + name +
                      "' is in the memory of a device; accepted: of the CPU"};
  std::optional<ElemKind> kind = findKind(tensor.type);
  std::string type =
      kind ? kind == ElemKind::BFloat16 ? "bfloat16" : getTypeName(*kind)
           : "of a type that arrays do not have";
  // PyTorch passes truth values as bytes.
  bool isBool = expected == ElemKind::Bool && kind == ElemKind::UInt8;
  if (!kind && !expected)
    throw Failure{Failure::Kind::Type, "input '" + name + "' is " + type};
  if (!kind ||
      (expected && !isBool && getTypeNumber(*kind) != getTypeNumber(*expected)))
    failType(name, *expected, type);
  ElemKind own = expected ? *expected : *kind;
  auto *data = static_cast<uint8_t *>(tensor.data) + tensor.offset;
  size_t size = tensor.type.bits / 8;
  bool isAligned = reinterpret_cast<uintptr_t>(data) % size == 0;
  if (!isContiguous(tensor) || !isAligned) {
    std::vector<py::ssize_t> strides;
    for (int32_t d = 0; tensor.strides && d < tensor.rank; ++d)
      strides.push_back(py::ssize_t(tensor.strides[d] * int64_t(size)));
    std::vector<py::ssize_t> shape(tensor.shape, tensor.shape + tensor.rank);
    py::array view(py::dtype(getTypeName(own)), shape, strides, data,
                   result.owner);
    return readNumpy(std::move(view), name, expected);
  }
  result.view = {own, {tensor.shape, tensor.shape + tensor.rank}, data};
  return result;
}

//===- Anything -----------------------------------------------------------===//

InputArray glowish::python::readArray(py::handle object,
                                      const std::string &name,
                                      std::optional<ElemKind> expected) {
  if (py::isinstance<py::array>(object))
    return readNumpy(py::reinterpret_borrow<py::array>(object), name, expected);
  if (py::hasattr(object, "__dlpack__"))
    return readDLPack(object, name, expected);
  py::module_ numpy = py::module_::import("numpy");
  // A list has no type of its own; what is an array for others has.
  bool hasType =
      py::hasattr(object, "__array__") || PyObject_CheckBuffer(object.ptr());
  py::object array =
      hasType || !expected
          ? numpy.attr("asarray")(object)
          : numpy.attr("asarray")(object, getTypeName(*expected));
  return readNumpy(py::reinterpret_borrow<py::array>(array), name, expected);
}

static const py::dtype &getType(ElemKind kind) {
  // Never destroyed: the interpreter may be gone then.
  static py::dtype *types[256];
  py::dtype *&type = types[size_t(kind)];
  if (!type)
    type = new py::dtype(getTypeName(kind));
  return *type;
}

py::array glowish::python::makeArray(ElemKind kind, const int64_t *shape,
                                     size_t rank) {
  const Api &api = Api::get();
  static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));
  py::object array =
      py::reinterpret_steal<py::object>(api.PyArray_NewFromDescr_(
          api.PyArray_Type_, getType(kind).inc_ref().ptr(), int(rank),
          reinterpret_cast<const Py_intptr_t *>(shape), nullptr, nullptr, 0,
          nullptr));
  if (!array)
    throw py::error_already_set();
  return py::reinterpret_borrow<py::array>(array);
}

py::array glowish::python::makeArray(const TensorView &view) {
  py::array array = makeArray(view.kind, view.shape.data(), view.shape.size());
  if (array.nbytes())
    std::memcpy(array.mutable_data(), view.data, size_t(array.nbytes()));
  return array;
}

//===- What Python shows --------------------------------------------------===//

py::object glowish::python::makeValue(const ValueInfo &info) {
  static PyObject *const type =
      py::object(py::module_::import("glowish._values").attr("Value"))
          .release()
          .ptr();
  py::object shape = py::none();
  if (info.shape) {
    py::tuple dims(info.shape->size());
    for (size_t i = 0; i < dims.size(); ++i) {
      const Dim &dim = (*info.shape)[i];
      if (const auto *extent = std::get_if<int64_t>(&dim))
        dims[i] = py::int_(*extent);
      else if (const auto *symbol = std::get_if<std::string>(&dim))
        dims[i] = py::str(*symbol);
      else
        dims[i] = py::none();
    }
    shape = dims;
  }
  py::object dtype = py::none(), kind = py::none();
  if (info.kind) {
    dtype = py::dtype(getTypeName(*info.kind));
    kind = py::str(getKindName(*info.kind));
  }
  py::tuple scales(info.scales.size()), offsets(info.offsets.size());
  for (size_t i = 0; i < info.scales.size(); ++i)
    scales[i] = py::float_(info.scales[i]);
  for (size_t i = 0; i < info.offsets.size(); ++i)
    offsets[i] = py::int_(info.offsets[i]);
  py::tuple classes(info.classNames.size());
  for (size_t i = 0; i < info.classNames.size(); ++i)
    classes[i] = py::str(info.classNames[i]);
  return py::handle(type)(info.name, dtype, shape, kind, scales, offsets,
                          info.isState, classes);
}

void glowish::python::showWarnings(const std::vector<std::string> &lines) {
  for (const std::string &line : lines)
    if (PyErr_WarnEx(PyExc_UserWarning, line.c_str(), 1))
      throw py::error_already_set();
}
