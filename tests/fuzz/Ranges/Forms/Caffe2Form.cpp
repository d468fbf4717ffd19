//===- Caffe2Form.cpp - Ranged models as nets of Caffe2 -------------------===//

#include "../../GraphTarget.h"
#include "Form.h"
#include "glowish/Importer/Caffe2.h"
#include "glowish/Support/Error.h"
#include "llvm/Support/Format.h"

using namespace glowish;
using namespace glowish::fuzz;

namespace {

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
  static std::string printFloat(double value) {
    return llvm::formatv("{0}", llvm::format("%.9g", value));
  }

  llvm::raw_string_ostream os;
};

/// Writes a model: the net that computes, and the one that makes its constants.
class NetWriter {
public:
  explicit NetWriter(const TypedModel &model) : model(model) {}

  NetOperator add(llvm::StringRef type, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &outputs) {
    operators.insert(type.str());
    return NetOperator(predict, type, inputs, outputs);
  }
  /// The name of a blob that the model does not have.
  std::string makeName() { return "blob" + std::to_string(numNames++); }
  /// Adds a blob with the elements of \p tensor; false for a kind that has
  /// none.
  bool addConstant(const std::string &name, const Tensor &tensor);

  llvm::Expected<FormModel> write();

private:
  const TypedModel &model;
  /// Protobuf text.
  std::string predict, init;
  std::set<std::string> operators;
  unsigned numNames = 0;
};

using NodeWriter = llvm::Error (*)(NetWriter &, const FormNode &);

} // namespace

//===- Operators ----------------------------------------------------------===//

/// The operators that have the same inputs and no arguments.
static const std::map<llvm::StringRef, llvm::StringRef> &getSameOperators() {
  static const std::map<llvm::StringRef, llvm::StringRef> same = {
      {"Abs", "Abs"},
      {"Neg", "Negative"},
      {"Sign", "Sign"},
      {"Exp", "Exp"},
      {"Log", "Log"},
      {"Sqrt", "Sqrt"},
      {"Reciprocal", "Reciprocal"},
      {"Ceil", "Ceil"},
      {"Floor", "Floor"},
      {"Relu", "Relu"},
      {"Tanh", "Tanh"},
      {"Sigmoid", "Sigmoid"},
      {"Not", "Not"},
      {"Identity", "Copy"},
      {"Softplus", "Softplus"},
      {"Add", "Add"},
      {"Sub", "Sub"},
      {"Mul", "Mul"},
      {"Div", "Div"}};
  return same;
}

static llvm::Error writeTranspose(NetWriter &w, const FormNode &n) {
  NetOperator op = w.add("Transpose", {n.getInput(0)}, {n.getOutput()});
  if (n.hasAttr("perm"))
    op.addInts("axes", n.getInts("perm"));
  return llvm::Error::success();
}

static const std::map<llvm::StringRef, NodeWriter> &getWriters() {
  static const std::map<llvm::StringRef, NodeWriter> writers = {
      {"Transpose", writeTranspose}};
  return writers;
}

//===- Nets ---------------------------------------------------------------===//

bool NetWriter::addConstant(const std::string &name, const Tensor &tensor) {
  ElemKind kind = tensor.getType().getKind();
  llvm::StringRef type = kind == ElemKind::Float     ? "GivenTensorFill"
                         : kind == ElemKind::Float16 ? "GivenTensorFp16Fill"
                         : kind == ElemKind::Double  ? "GivenTensorDoubleFill"
                         : kind == ElemKind::Int32   ? "GivenTensorIntFill"
                         : kind == ElemKind::Int64   ? "GivenTensorInt64Fill"
                         : kind == ElemKind::Bool    ? "GivenTensorBoolFill"
                                                     : "";
  if (type.empty())
    return false;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (isFloatKind(kind))
      floats.push_back(tensor.getAsDouble(i));
    else
      ints.push_back(tensor.getAsInt(i));
  operators.insert(type.str());
  NetOperator op(init, type, {}, {name});
  op.addInts("shape", tensor.getType().getShape());
  if (isFloatKind(kind))
    op.addFloats("values", floats);
  else
    op.addInts("values", ints);
  return true;
}

llvm::Expected<FormModel> NetWriter::write() {
  const onnx::GraphProto &graph = model.model.proto.graph();
  for (const auto &tensor : graph.initializer())
    if (!addConstant(tensor.name(), *model.findConstant(tensor.name())))
      return llvm::make_error<Inexpressible>(
          "there is no fill of the kind of '" + tensor.name() + "'");
  for (const auto &proto : graph.node()) {
    FormNode node(model, proto);
    auto same = getSameOperators().find(node.getOp());
    if (same != getSameOperators().end()) {
      add(same->second, {proto.input().begin(), proto.input().end()},
          {node.getOutput()});
      continue;
    }
    auto writer = getWriters().find(node.getOp());
    if (writer == getWriters().end())
      return node.refuse("caffe2 has no counterpart");
    GLOWISH_RETURN_IF_ERROR(writer->second(*this, node));
  }
  for (const auto &input : graph.input())
    predict += "external_input: \"" + input.name() + "\"\n";
  for (const auto &output : graph.output())
    predict += "external_output: \"" + output.name() + "\"\n";
  predict += "name: \"fuzz\"\n";
  return FormModel{{predict, init}, operators};
}

static std::vector<std::string> listOperators() {
  std::vector<std::string> names;
  for (const Caffe2OperatorInfo &info : listCaffe2Operators())
    names.push_back(info.name);
  return names;
}

const Form fuzz::caffe2Form = {
    .name = "caffe2",
    .takes =
        [](llvm::StringRef op) {
          return getSameOperators().count(op) || getWriters().count(op);
        },
    .listOperators = listOperators,
    .write = [](const TypedModel &model) { return NetWriter(model).write(); },
    .import =
        [](const FormModel &written, const TypedModel &model) {
          return importCaffe2({written.files[0], written.files[1]}, "fuzz",
                              makeFormOptions(model, /*statesTypes=*/true));
        }};
