//===- Values.h - Inputs, outputs and their elements ------------*- C++ -*-===//

#ifndef GLOWISH_PYTHON_CORE_VALUES_H
#define GLOWISH_PYTHON_CORE_VALUES_H

#include "glowish/Base/ElemKind.h"
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace glowish::python {

/// An extent, a symbol or an expression of symbols, or nothing that is known.
using Dim = std::variant<std::monostate, int64_t, std::string>;

/// An input or an output of a model.
struct ValueInfo {
  std::string name;
  /// None where the model states it nowhere.
  std::optional<ElemKind> kind;
  /// None where not even the rank is known.
  std::optional<std::vector<Dim>> shape;
  /// Of quantized kinds: value = (integer - offset) * scale.
  std::vector<float> scales = {};
  std::vector<int32_t> offsets = {};
  /// Whether it is an input and an output at once, which a call leaves for the
  /// next.
  bool isState = false;
  /// The names of the classes that its integers number from 0 on.
  std::vector<std::string> classNames = {};
};

/// Elements in memory that others own, row-major without gaps.
struct TensorView {
  ElemKind kind = ElemKind::Float;
  std::vector<int64_t> shape;
  void *data = nullptr;
};

} // namespace glowish::python

#endif // GLOWISH_PYTHON_CORE_VALUES_H
