//===- AtenProgram.h - Programs of ATen's operators -------------*- C++ -*-===//
//
// A model as calls of PyTorch's operators: what exported programs and
// TorchScript have in common, before it is written as one of both.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENPROGRAM_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENPROGRAM_H

#include "../Form.h"
#include <variant>

namespace glowish::fuzz {

/// What an exporter states of a tensor.
struct AtenTensorType {
  ElemKind kind = ElemKind::Float;
  std::vector<Extent> dims;

  AtenTensorType() = default;
  AtenTensorType(ElemKind kind, std::vector<Extent> dims)
      : kind(kind), dims(std::move(dims)) {}
  explicit AtenTensorType(const Type &type)
      : kind(type.getKind()), dims(type.getLengths()) {}
  int64_t getRank() const { return int64_t(dims.size()); }
};

/// A tensor of the program, by its name.
struct AtenTensor {
  std::string name;
};
/// An int that the program computes.
struct AtenNumber {
  std::string name;
};

/// An argument of an operator; std::monostate is None.
struct AtenArg {
  using List = std::vector<AtenArg>;
  std::variant<std::monostate, AtenTensor, AtenNumber, int64_t, double, bool,
               std::string, ElemKind, List>
      value;

  AtenArg() = default;
  AtenArg(AtenTensor tensor) : value(std::move(tensor)) {}
  AtenArg(AtenNumber number) : value(std::move(number)) {}
  AtenArg(int64_t number) : value(number) {}
  AtenArg(double number) : value(number) {}
  AtenArg(bool flag) : value(flag) {}
  AtenArg(const char *text) : value(std::string(text)) {}
  AtenArg(ElemKind kind) : value(kind) {}
  AtenArg(List list) : value(std::move(list)) {}
  AtenArg(llvm::ArrayRef<int64_t> numbers)
      : value(List(numbers.begin(), numbers.end())) {}

  template <typename T> const T *getIf() const {
    return std::get_if<T>(&value);
  }
  bool isNone() const { return getIf<std::monostate>(); }
};

/// What an operator returns.
enum class AtenResult { Tensor, Number, ListOfTensors, Tuple };

/// What a call is in: nothing, the branch of a condition that holds for all
/// values of the symbols, or a loop of one iteration.
enum class AtenPlace { Here, Branch, Loop };

/// A call of an operator.
struct AtenCall {
  /// "add.Tensor"; of ints "add", "mul", "sub" and "floordiv".
  std::string op;
  AtenArg::List arguments;
  /// Those that the schema has behind a `*`.
  std::vector<std::pair<std::string, AtenArg>> named;
  AtenResult form = AtenResult::Tensor;
  std::vector<std::string> results;
  /// Whether it writes to its first argument, which other tensors may share.
  bool writes = false;
  AtenPlace place = AtenPlace::Here;
  /// The size of which a branch's condition is, and its least value.
  AtenArg condition = {};
  int64_t least = 0;
};

/// The language that a program is written in: operators that one of them
/// doesn't have are avoided.
enum class AtenDialect { Exported, Script };

struct AtenProgram {
  /// The names of the inputs.
  std::vector<std::string> inputs;
  /// Initializers of the model.
  std::map<std::string, Tensor> weights;
  std::vector<AtenCall> calls;
  /// Of all tensors.
  std::map<std::string, AtenTensorType> types;
  /// Of all ints.
  std::map<std::string, Extent> numbers;
  /// The names of the results.
  std::vector<std::string> outputs;

  /// Removes calls and weights whose results nothing needs.
  void dropUnused();
  /// The operators that it calls.
  std::set<std::string> getOperators() const;
};

/// Whether some node of the operator \p op of ONNX can be translated.
bool isTranslatedToAten(llvm::StringRef op);
/// Translates a model. The error is Inexpressible where a node has no
/// counterpart.
llvm::Expected<AtenProgram> translateToAten(const TypedModel &model,
                                            AtenDialect dialect);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_ATEN_ATENPROGRAM_H
