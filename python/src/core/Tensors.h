//===- Tensors.h - Views as tensors of the library --------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_TENSORS_H
#define GLOWISH_PYTHON_CORE_TENSORS_H

#include "core/Values.h"
#include "glowish/Base/Tensor.h"

namespace glowish::python {

/// Of a quantized kind, the type of the integers: Python's arrays have no
/// scales.
inline Type getType(const TensorView &view) {
  return Type(view.kind, DimsRef(view.shape));
}

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_TENSORS_H
