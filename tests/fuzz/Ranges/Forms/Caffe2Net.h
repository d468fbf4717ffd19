//===- Caffe2Net.h - Writes nets of Caffe2 ----------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_CAFFE2NET_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_CAFFE2NET_H

#include "Form.h"
#include "llvm/Support/raw_ostream.h"

namespace glowish::fuzz {

/// An operator of a net in protobuf text, which is written with its arguments
/// and ends with this.
class NetOperator {
public:
  NetOperator(std::string &text, llvm::StringRef type,
              const std::vector<std::string> &inputs,
              const std::vector<std::string> &outputs)
      : os(text) {
    os << "op { type: \"" << type << "\"";
    for (const std::string &input : inputs)
      os << " input: \"" << input << "\"";
    for (const std::string &output : outputs)
      os << " output: \"" << output << "\"";
  }
  NetOperator(const NetOperator &) = delete;
  NetOperator &operator=(const NetOperator &) = delete;
  ~NetOperator() { os << " }\n"; }

  NetOperator &addInt(llvm::StringRef name, int64_t value) {
    return addArg(name, "i: " + std::to_string(value));
  }
  NetOperator &addFloat(llvm::StringRef name, double value) {
    return addArg(name, "f: " + printFloat(value));
  }
  NetOperator &addString(llvm::StringRef name, llvm::StringRef value) {
    return addArg(name, ("s: \"" + value + "\"").str());
  }
  NetOperator &addInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    std::string text;
    for (int64_t value : values)
      text += "ints: " + std::to_string(value) + " ";
    return addArg(name, text);
  }
  NetOperator &addFloats(llvm::StringRef name, llvm::ArrayRef<double> values) {
    std::string text;
    for (double value : values)
      text += "floats: " + printFloat(value) + " ";
    return addArg(name, text);
  }

private:
  NetOperator &addArg(llvm::StringRef name, const std::string &value) {
    os << " arg { name: \"" << name << "\" " << value << " }";
    return *this;
  }
  static std::string printFloat(double value);

  llvm::raw_string_ostream os;
};

/// Writes a model: the net that computes, and the one that makes its constants.
class NetWriter {
public:
  /// Writes a node of \p model.
  using NodeWriter = llvm::Error (*)(NetWriter &, const FormNode &);

  explicit NetWriter(const TypedModel &model) : model(model) {}

  NetOperator add(llvm::StringRef type, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &outputs) {
    operators.insert(type.str());
    return NetOperator(predict, type, inputs, outputs);
  }
  /// Adds an operator of one result, and returns its name.
  std::string add(llvm::StringRef type,
                  const std::vector<std::string> &inputs) {
    std::string name = makeName();
    add(type, inputs, {name});
    return name;
  }
  /// The name of a blob that the model does not have.
  std::string makeName() { return "blob" + std::to_string(numNames++); }
  /// Adds a blob with the elements of \p tensor; false for a kind that has
  /// none.
  bool addConstant(const std::string &name, const Tensor &tensor);

  /// Writes all nodes by \p findWriter, which returns null for an operator that
  /// has none.
  llvm::Expected<FormModel>
  write(llvm::function_ref<NodeWriter(llvm::StringRef)> findWriter);

private:
  const TypedModel &model;
  /// Protobuf text.
  std::string predict, init;
  std::set<std::string> operators;
  unsigned numNames = 0;
};

/// Of element-wise operators; null for others.
NetWriter::NodeWriter findCaffe2ElementWriter(llvm::StringRef op);

/// The name of \p kind in Caffe2; empty where it has none.
llvm::StringRef getKindName(ElemKind kind);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_CAFFE2NET_H
