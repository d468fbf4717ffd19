//===- Arrays.h - NumPy arrays and DLPack tensors ---------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_BINDINGS_ARRAYS_H
#define GLOWISH_PYTHON_BINDINGS_ARRAYS_H

#include "core/Values.h"
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace glowish::python {

/// The number that NumPy has for the type of arrays of \p kind: that of the
/// bits where NumPy has no such type (bfloat16: uint16), and that of the
/// integer of quantized kinds.
int getTypeNumber(ElemKind kind);
/// "float32", "uint16", ...
const char *getTypeName(ElemKind kind);
/// As the model's files call it: "float", "bfloat16", ...
const char *getKindName(ElemKind kind);

/// The elements of an object that is passed for an input, and what keeps them.
struct InputArray {
  pybind11::object owner;
  TensorView view;
};

/// The elements of \p object for the input \p name, which has elements of
/// \p expected if that is known. Nothing is copied of contiguous arrays and of
/// what has __dlpack__ and lies in the memory of the processor; arrays with
/// strides are copied, and numbers and sequences of them converted. Throws a
/// type failure that names the input and what it accepts.
InputArray readArray(pybind11::handle object, const std::string &name,
                     std::optional<ElemKind> expected);

/// Whether \p object is a contiguous array with elements of \p kind, so that
/// there is nothing to read but its shape. Then \p view gets shape and address.
struct ArrayShape {
  const int64_t *extents;
  size_t rank;
  void *data;
};
bool isPlainArray(pybind11::handle object, int typeNumber, ArrayShape &shape);

/// A new array whose elements are not set.
pybind11::array makeArray(ElemKind kind, const int64_t *shape, size_t rank);
pybind11::array makeArray(const TensorView &view);

/// A value as Python has it: name, dtype, shape, ...
pybind11::object makeValue(const ValueInfo &info);

/// Lets Python show \p lines as warnings.
void showWarnings(const std::vector<std::string> &lines);

} // namespace glowish::python

#endif // GLOWISH_PYTHON_BINDINGS_ARRAYS_H
