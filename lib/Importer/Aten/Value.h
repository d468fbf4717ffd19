//===- Value.h - Values of PyTorch's programs -------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_IMPORTER_ATEN_VALUE_H
#define GLOWISH_LIB_IMPORTER_ATEN_VALUE_H

#include "glowish/Base/Extent.h"
#include "glowish/Graph/Node.h"
#include <string>
#include <variant>
#include <vector>

namespace glowish::aten {

/// A complex tensor, whose parts are two real tensors of the same type.
struct AtenComplex {
  NodeValue real, imaginary;

  bool operator==(const AtenComplex &other) const = default;
};

/// The element kind of complex tensors with parts of kind `part`.
struct AtenComplexKind {
  ElemKind part;

  bool operator==(const AtenComplexKind &other) const = default;
};

/// A quantized tensor, whose elements are (values - zeroPoint) * scale.
struct AtenQuantized {
  /// The integers: int8, uint8 or int32.
  NodeValue values = {};
  /// A float and an int32, or one for each index of the dimension `axis`.
  NodeValue scale = {}, zeroPoint = {};
  std::optional<int64_t> axis = {};

  bool operator==(const AtenQuantized &other) const = default;
};

/// The element kind of quantized tensors with integers of kind `values`.
struct AtenQuantizedKind {
  ElemKind values;

  bool operator==(const AtenQuantizedKind &other) const = default;
};

/// A value of a PyTorch program during import: a tensor of the graph, a value
/// that is known before the program runs, or an int that follows from extents
/// that a run decides. Other numbers that the program computes are tensors
/// without dimensions.
struct AtenValue {
  using List = std::vector<AtenValue>;
  /// None, a tensor, int, float, bool, string, dtype, a list or tuple, a
  /// complex or quantized tensor or dtype, or an expression of extents, no
  /// constant.
  std::variant<std::monostate, NodeValue, int64_t, double, bool, std::string,
               ElemKind, List, AtenComplex, AtenComplexKind, AtenQuantized,
               AtenQuantizedKind, Extent>
      value;

  AtenValue() = default;
  /// A null \p tensor is None.
  AtenValue(NodeValue tensor) {
    if (tensor)
      value = tensor;
  }
  AtenValue(int64_t number) : value(number) {}
  AtenValue(double number) : value(number) {}
  AtenValue(bool flag) : value(flag) {}
  AtenValue(std::string text) : value(std::move(text)) {}
  AtenValue(ElemKind kind) : value(kind) {}
  AtenValue(List list) : value(std::move(list)) {}
  AtenValue(AtenComplex tensor) : value(tensor) {}
  AtenValue(AtenComplexKind kind) : value(kind) {}
  AtenValue(AtenQuantized tensor) : value(tensor) {}
  AtenValue(AtenQuantizedKind kind) : value(kind) {}
  /// Returns \p extent as a value, an int where it is a constant.
  static AtenValue ofExtent(Extent extent) {
    AtenValue result;
    if (std::optional<int64_t> number = extent.getConstant())
      result.value = *number;
    else
      result.value = std::move(extent);
    return result;
  }

  template <typename T> bool is() const {
    return std::holds_alternative<T>(value);
  }
  template <typename T> const T &get() const { return std::get<T>(value); }
  bool isNone() const { return is<std::monostate>(); }
  /// Whether it is a real tensor.
  bool isTensor() const { return is<NodeValue>(); }
  bool isComplex() const { return is<AtenComplex>(); }
  bool isQuantized() const { return is<AtenQuantized>(); }
  /// Whether it is an int, a float or a bool.
  bool isNumber() const { return is<int64_t>() || is<double>() || is<bool>(); }
  /// Returns an int or an expression as an Extent; none of other values.
  std::optional<Extent> getExtent() const {
    if (is<int64_t>())
      return Extent(get<int64_t>());
    return is<Extent>() ? std::optional(get<Extent>()) : std::nullopt;
  }
  /// The number as a double.
  double getNumber() const {
    return is<int64_t>()  ? double(get<int64_t>())
           : is<double>() ? get<double>()
                          : double(get<bool>());
  }

  bool operator==(const AtenValue &other) const = default;

  /// For messages: "float<2x3>", "an int", "a list of 3".
  std::string describe() const;
};

/// A list of the tensors \p values.
AtenValue::List makeAtenList(llvm::ArrayRef<NodeValue> values);

} // namespace glowish::aten

#endif // GLOWISH_LIB_IMPORTER_ATEN_VALUE_H
