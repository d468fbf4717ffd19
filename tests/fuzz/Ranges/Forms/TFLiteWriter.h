//===- TFLiteWriter.h - Writes TensorFlow Lite models -----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_TFLITEWRITER_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_TFLITEWRITER_H

#include "../../../unit/TFLiteModels.h"
#include "Form.h"

namespace glowish::fuzz {

namespace schema = glowish::tflite::schema;
using Builtin = schema::BuiltinOperator;

/// Writes a model as one subgraph. Tensors have numbers.
class TFLiteWriter {
public:
  /// Writes a node of \p model.
  using NodeWriter = llvm::Error (*)(TFLiteWriter &, const FormNode &);

  explicit TFLiteWriter(const TypedModel &model) : model(model) {}

  /// The tensor of a value of the model.
  int getTensor(const std::string &value);
  int getInput(const FormNode &n, unsigned index) {
    return getTensor(n.getInput(index));
  }
  int getOutput(const FormNode &n, unsigned index = 0) {
    return getTensor(n.getOutput(index));
  }
  /// A tensor that the model does not have, of what an operator computes. Its
  /// shape is not stated.
  int makeTensor(ElemKind kind);
  int addConstant(const Tensor &tensor);
  /// A list of int32.
  int addInts(llvm::ArrayRef<int64_t> values);
  /// A number without dimensions.
  int addNumber(ElemKind kind, double value);

  void add(Builtin op, std::vector<int> inputs, std::vector<int> outputs) {
    operators.insert(schema::EnumNameBuiltinOperator(op));
    file.op(op, std::move(inputs), std::move(outputs));
  }
  template <typename T>
  void add(Builtin op, std::vector<int> inputs, std::vector<int> outputs,
           flatbuffers::Offset<T> options) {
    operators.insert(schema::EnumNameBuiltinOperator(op));
    file.op(op, std::move(inputs), std::move(outputs), options);
  }
  /// Adds an operator of one result of \p kind, and returns it.
  int compute(Builtin op, ElemKind kind, std::vector<int> inputs) {
    int result = makeTensor(kind);
    add(op, std::move(inputs), {result});
    return result;
  }
  template <typename T>
  int compute(Builtin op, ElemKind kind, std::vector<int> inputs,
              flatbuffers::Offset<T> options) {
    int result = makeTensor(kind);
    add(op, std::move(inputs), {result}, options);
    return result;
  }
  int transpose(ElemKind kind, int x, llvm::ArrayRef<int64_t> perm) {
    return compute(Builtin::TRANSPOSE, kind, {x, addInts(perm)});
  }
  flatbuffers::FlatBufferBuilder &fbb() { return file.fbb(); }

  /// Writes all nodes by \p findWriter, which returns null for an operator that
  /// has none.
  llvm::Expected<FormModel>
  write(llvm::function_ref<NodeWriter(llvm::StringRef)> findWriter);

private:
  /// Finds out which values are bytes of floats, and of which scales.
  llvm::Error findQuantized();
  llvm::Error addQuantized(const FormNode &n, const std::string &bytes);
  int addTensor(const std::string &name, const Type &type,
                std::vector<uint8_t> bytes = {});

  const TypedModel &model;
  TFLiteModel file;
  std::map<std::string, int> tensors;
  std::map<std::string, TFLiteScales> quantized;
  std::set<std::string> operators;
  unsigned numNames = 0;
};

/// Of operators that compute shapes, or from shapes; null for others.
TFLiteWriter::NodeWriter findTFLiteShapeWriter(llvm::StringRef op);

/// The type of elements of \p kind; none where a form writes none.
std::optional<schema::TensorType> findTensorType(ElemKind kind);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_TFLITEWRITER_H
