//===- DLPack.h - The structures of DLPack ----------------------*- C++ -*-===//
//
// The memory that an object's method __dlpack__ describes, by the Python array
// API standard: a capsule "dltensor" with a DLManagedTensor.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_PYTHON_BINDINGS_DLPACK_H
#define GLOWISH_PYTHON_BINDINGS_DLPACK_H

#include <cstdint>

namespace glowish::python::dlpack {

/// The memory of the processor.
constexpr int32_t cpuDevice = 1;

enum TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Bool = 6 };

struct Device {
  int32_t type, number;
};

struct DataType {
  uint8_t code, bits;
  uint16_t lanes;
};

struct Tensor {
  void *data;
  Device device;
  int32_t rank;
  DataType type;
  int64_t *shape;
  /// In elements; null for a tensor without gaps.
  int64_t *strides;
  uint64_t offset;
};

struct ManagedTensor {
  Tensor tensor;
  void *context;
  void (*release)(ManagedTensor *self);
};

} // namespace glowish::python::dlpack

#endif // GLOWISH_PYTHON_BINDINGS_DLPACK_H
