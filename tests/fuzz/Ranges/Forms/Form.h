//===- Form.h - Formats that ranged models are written in -------*- C++ -*-===//
//
// A random model is one of ONNX. A form writes the same model in another
// format, which is imported with its ranges; the ONNX model with fixed extents
// is the reference.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_FORM_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_FORM_H

#include "../RangedModel.h"

namespace glowish::fuzz {

/// A model, and what the importer of ONNX says of its values.
struct TypedModel {
  const RangedModel &model;
  /// Of inputs, initializers and results. Dimensions that a run decides have
  /// their extents, but those that depend on data.
  std::map<std::string, Type> types;
  /// Initializers and results that are known when the model is imported.
  std::map<std::string, Tensor> constants;
  /// Results of which extents depend on data.
  std::set<std::string> openValues;

  const Type &getType(const std::string &value) const {
    return types.at(value);
  }
  /// The elements of \p value; null where they are not known.
  const Tensor *findConstant(const std::string &value) const;
};

/// A node that a form writes.
class FormNode {
public:
  FormNode(const TypedModel &model, const onnx::NodeProto &proto)
      : model(model), proto(proto) {}

  llvm::StringRef getOp() const { return proto.op_type(); }
  unsigned getNumInputs() const { return unsigned(proto.input_size()); }
  bool hasInput(unsigned index) const {
    return index < getNumInputs() && !proto.input(int(index)).empty();
  }
  const std::string &getInput(unsigned index) const {
    return proto.input(int(index));
  }
  const Type &getType(unsigned index) const {
    return model.getType(getInput(index));
  }
  unsigned getRank(unsigned index) const { return getType(index).getRank(); }
  unsigned getNumOutputs() const { return unsigned(proto.output_size()); }
  const std::string &getOutput(unsigned index = 0) const {
    return proto.output(int(index));
  }
  const Type &getOutputType(unsigned index = 0) const {
    return model.getType(getOutput(index));
  }
  /// Null where input \p index is absent or not known.
  const Tensor *findConstant(unsigned index) const;
  /// The integers of input \p index; none where it is absent or not known.
  std::optional<std::vector<int64_t>> findInts(unsigned index) const;

  bool hasAttr(llvm::StringRef name) const { return findAttr(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise) const;
  double getFloat(llvm::StringRef name, double otherwise) const;
  std::string getString(llvm::StringRef name, llvm::StringRef otherwise) const;
  /// Empty where there are none.
  std::vector<int64_t> getInts(llvm::StringRef name) const;
  /// The attribute \p name, an axis of \p rank dimensions, from the front.
  int64_t getAxis(llvm::StringRef name, int64_t otherwise, unsigned rank) const;
  /// The axes that input 1 or the attribute "axes" states, ascending from the
  /// front; all where neither does. None where they are not known.
  std::optional<std::vector<int64_t>> findAxes() const;

  /// Whether no index of input \p index may count from the end.
  bool hasPlainIndices(unsigned index) const;
  /// Whether to take the second of two operators that do the same.
  bool takesOther() const { return getOutput().back() % 3 == 0; }
  /// The error of a node that the format has no operator for.
  llvm::Error refuse(const llvm::Twine &why) const;

  const TypedModel &model;
  const onnx::NodeProto &proto;

private:
  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
};

/// A model that a form has written.
struct FormModel {
  /// The contents of its files.
  std::vector<std::string> files;
  /// The operators of the format that it has.
  std::set<std::string> operators;
};

struct Form {
  /// As -form has it: "caffe2".
  llvm::StringLiteral name;
  /// Whether some node of the operator \p op of ONNX can be written.
  bool (*takes)(llvm::StringRef op);
  /// The operators of the format that are imported.
  std::vector<std::string> (*listOperators)();
  /// Inputs and outputs keep their names. The error is Inexpressible where a
  /// node or a type has no counterpart.
  llvm::Expected<FormModel> (*write)(const TypedModel &model);
  /// Imports it with the ranges of \p model, as the command line would. Inputs
  /// have the names of \p model.
  llvm::Expected<std::unique_ptr<Module>> (*import)(const FormModel &written,
                                                    const TypedModel &model);
  /// The name that the importer gives the output \p output; null where it keeps
  /// its name.
  std::string (*getOutputName)(llvm::StringRef output) = nullptr;
};

/// All forms but ONNX itself, which each model has.
llvm::ArrayRef<const Form *> getForms();
/// Null where there is none.
const Form *findForm(llvm::StringRef name);

extern const Form caffe2Form, exportedProgramForm, tfliteForm, torchScriptForm;

/// Asks the importer of ONNX for the types of all values of \p model. The error
/// is Inexpressible where it does not take the ranges.
llvm::Expected<TypedModel> findTypes(const RangedModel &model);
/// Writes \p model in its form.
llvm::Expected<FormModel> writeForm(const RangedModel &model);
/// Writes it and imports that.
llvm::Expected<std::unique_ptr<Module>> importForm(const RangedModel &model);
/// The ranges of \p model; with \p statesTypes also the types of its inputs, as
/// -model-input has them, for formats that have no names of dimensions.
ImportOptions makeFormOptions(const TypedModel &model, bool statesTypes);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_FORM_H
