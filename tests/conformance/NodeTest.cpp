//===- NodeTest.cpp - One test of ONNX's own ------------------------------===//

#include "NodeTest.h"
#include "common/Comparison.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Session.h"
#include "glowish/Support/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <onnx/onnx_pb.h>
#include <set>

using namespace glowish;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===- Finding tests
//--------------------------------------------------------===//

static std::string join(llvm::StringRef folder, const llvm::Twine &name) {
  llvm::SmallString<128> joined(folder);
  path::append(joined, name);
  return joined.str().str();
}

static llvm::Expected<onnx::ModelProto> readModelProto(llvm::StringRef file) {
  GLOWISH_TRY(auto buffer, readFile(file));
  onnx::ModelProto model;
  if (!model.ParseFromArray(buffer->getBufferStart(),
                            int(buffer->getBufferSize())))
    return makeError("'{0}' is not an ONNX model", file);
  return model;
}

/// The columns suite, test and class of \p file; no field has a comma.
static llvm::Expected<std::map<std::string, std::string>>
readClasses(llvm::StringRef file) {
  GLOWISH_TRY(auto buffer, readFile(file));
  llvm::SmallVector<llvm::StringRef> lines, fields;
  buffer->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::map<std::string, unsigned> columns;
  std::map<std::string, std::string> classes;
  for (llvm::StringRef line : lines) {
    fields.clear();
    line.rtrim('\r').split(fields, ',');
    if (columns.empty()) {
      for (unsigned i = 0; i < fields.size(); ++i)
        columns[fields[i].str()] = i;
      for (const char *name : {"suite", "test", "class"})
        if (!columns.count(name))
          return makeError("'{0}' has no column '{1}'", file, name);
      continue;
    }
    if (fields.size() < columns.size())
      return makeError("'{0}': this line has {1} fields, not {2}: {3}", file,
                       fields.size(), columns.size(), line);
    classes[(fields[columns["suite"]] + "/" + fields[columns["test"]]).str()] =
        fields[columns["class"]].str();
  }
  return classes;
}

/// Gives each test the class that a scope.csv two folders above it states.
static llvm::Error classify(std::vector<NodeTest> &tests) {
  std::map<std::string, std::map<std::string, std::string>> files;
  for (NodeTest &test : tests) {
    llvm::StringRef suite = path::parent_path(test.folder);
    std::string file = join(path::parent_path(suite), "scope.csv");
    auto [found, isNew] = files.try_emplace(file);
    if (isNew && fs::exists(file)) {
      GLOWISH_TRY(found->second, readClasses(file));
    }
    auto known = found->second.find(
        (path::filename(suite) + "/" + path::filename(test.folder)).str());
    if (known != found->second.end())
      test.testClass = known->second;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<NodeTest>>
glowish::findNodeTests(llvm::StringRef root) {
  std::vector<NodeTest> tests;
  std::error_code error;
  for (fs::recursive_directory_iterator i(root, error), end; i != end && !error;
       i.increment(error)) {
    if (path::filename(i->path()) != "model.onnx")
      continue;
    NodeTest test;
    test.folder = path::parent_path(i->path()).str();
    if (!fs::is_directory(join(test.folder, "test_data_set_0")))
      continue;
    llvm::StringRef name = llvm::StringRef(test.folder).substr(root.size());
    test.name = path::convert_to_slash(name.ltrim("/\\"));
    GLOWISH_TRY(onnx::ModelProto model, readModelProto(i->path()));
    std::set<std::string> operators;
    for (const onnx::NodeProto &node : model.graph().node())
      operators.insert(node.op_type());
    test.operators.assign(operators.begin(), operators.end());
    tests.push_back(std::move(test));
  }
  if (error)
    return makeError("'{0}': {1}", root, error.message());
  llvm::sort(tests, [](const NodeTest &a, const NodeTest &b) {
    return a.name < b.name;
  });
  GLOWISH_CHECK(classify(tests));
  return tests;
}

//===- Running a test
//-------------------------------------------------------===//

namespace {

using SharedTensor = std::shared_ptr<const Tensor>;

/// The inputs of one set of data, in the model's order.
struct DataSet {
  std::string folder;
  std::vector<SharedTensor> inputs;
};

/// Which inputs are constants; later ones have those of the earlier.
enum class Binding { None, Small, AllOfRankOne };

class TestRun {
public:
  TestRun(const NodeTest &test, Tolerances tolerances)
      : test(test), tolerances(tolerances) {}

  llvm::Error load();
  unsigned getNumDataSets() const { return dataSets.size(); }
  llvm::Error run(unsigned index, llvm::StringRef backendName);

private:
  bool isBound(const Tensor &input, Binding binding) const;
  ImportOptions getOptions(const DataSet &data, Binding binding) const;
  llvm::Error import(Compilation &compilation, const DataSet &data,
                     Binding &binding) const;
  llvm::Error check(const Session &session, const DataSet &data) const;

  const NodeTest &test;
  Tolerances tolerances;
  /// Inputs that are not weights, and outputs.
  std::vector<onnx::ValueInfoProto> inputs, outputs;
  std::vector<DataSet> dataSets;
};

} // namespace

/// The tensor that \p value, an input or output of the model, has. ONNX 1.10
/// wrote bfloat16 as uint16.
static llvm::Expected<Tensor> readValue(const std::string &file,
                                        const onnx::ValueInfoProto &value) {
  GLOWISH_TRY(Tensor tensor, readTensorProto(file));
  if (tensor.getType().getKind() == ElemKind::UInt16 &&
      value.type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16) {
    Type type = tensor.getType().withKind(ElemKind::BFloat16);
    return std::move(tensor).withType(type);
  }
  return tensor;
}

llvm::Error TestRun::load() {
  GLOWISH_TRY(onnx::ModelProto model,
              readModelProto(join(test.folder, "model.onnx")));
  std::set<std::string> weights;
  for (const auto &initializer : model.graph().initializer())
    weights.insert(initializer.name());
  for (const auto &input : model.graph().input())
    if (!weights.count(input.name()))
      inputs.push_back(input);
  for (const auto &output : model.graph().output())
    outputs.push_back(output);
  for (unsigned i = 0;; ++i) {
    DataSet data;
    data.folder = join(test.folder, "test_data_set_" + llvm::Twine(i));
    if (!fs::is_directory(data.folder))
      return llvm::Error::success();
    for (unsigned k = 0; k < inputs.size(); ++k) {
      GLOWISH_TRY(
          Tensor input,
          readValue(join(data.folder, "input_" + llvm::Twine(k) + ".pb"),
                    inputs[k]));
      data.inputs.push_back(std::make_shared<const Tensor>(std::move(input)));
    }
    dataSets.push_back(std::move(data));
  }
}

bool TestRun::isBound(const Tensor &input, Binding binding) const {
  const Type &type = input.getType();
  if (binding == Binding::None || type.getRank() > 1)
    return false;
  return binding == Binding::AllOfRankOne || type.getRank() == 0 ||
         !isFloatKind(type.getKind());
}

ImportOptions TestRun::getOptions(const DataSet &data, Binding binding) const {
  ImportOptions options;
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (isBound(*data.inputs[i], binding))
      options.constantInputs[inputs[i].name()] = data.inputs[i];
    else
      options.inputTypes[inputs[i].name()] = data.inputs[i]->getType();
  }
  return options;
}

/// \p binding is how the import succeeded. The error is that of the last try.
llvm::Error TestRun::import(Compilation &compilation, const DataSet &data,
                            Binding &binding) const {
  llvm::Error result = llvm::Error::success();
  size_t numBound = 0;
  for (Binding next : {Binding::None, Binding::Small, Binding::AllOfRankOne}) {
    ImportOptions options = getOptions(data, next);
    if (next != Binding::None && options.constantInputs.size() == numBound)
      continue;
    numBound = options.constantInputs.size();
    llvm::consumeError(std::move(result));
    result =
        compilation.import(join(test.folder, "model.onnx"), std::move(options));
    binding = next;
    if (!result)
      break;
  }
  return result;
}

llvm::Error TestRun::check(const Session &session, const DataSet &data) const {
  for (unsigned k = 0; k < outputs.size(); ++k) {
    GLOWISH_TRY(Tensor expected,
                readValue(join(data.folder, "output_" + llvm::Twine(k) + ".pb"),
                          outputs[k]));
    GLOWISH_TRY(const Buffer *buffer,
                session.findPlaceholder(outputs[k].name()));
    Tensor actual = session.getTensor(buffer);
    if (actual.getType() != expected.getType())
      return makeError("output '{0}' is {1}, not {2}", outputs[k].name(),
                       actual.getType().str(), expected.getType().str());
    Comparison result = compareTensors(actual, expected, tolerances.relative,
                                       tolerances.absolute);
    if (result.numMismatches)
      return makeError(
          "output '{0}' differs in {1} of {2} elements, most at {3}: {4}, not "
          "{5}",
          outputs[k].name(), result.numMismatches, expected.getNumElements(),
          result.maxErrorIndex, actual.getAsDouble(result.maxErrorIndex),
          expected.getAsDouble(result.maxErrorIndex));
  }
  return llvm::Error::success();
}

static llvm::Expected<std::unique_ptr<Backend>>
createBackend(llvm::StringRef name) {
  if (name == "Interpreter")
    return createInterpreter();
  GLOWISH_TRY(std::unique_ptr<CPUBackend> backend,
              CPUBackend::create(TargetOptions()));
  return backend;
}

llvm::Error TestRun::run(unsigned index, llvm::StringRef backendName) {
  const DataSet &data = dataSets[index];
  GLOWISH_TRY(std::unique_ptr<Backend> backend, createBackend(backendName));
  Compilation compilation(*backend, CompilationOptions());
  Binding binding = Binding::None;
  GLOWISH_CHECK(import(compilation, data, binding));
  GLOWISH_CHECK(compilation.run());
  GLOWISH_TRY(std::unique_ptr<Session> session, Session::create(compilation));
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (isBound(*data.inputs[i], binding))
      continue;
    GLOWISH_TRY(const Buffer *buffer,
                session->findPlaceholder(inputs[i].name()));
    GLOWISH_CHECK(session->setInput(buffer, *data.inputs[i]));
  }
  GLOWISH_CHECK(session->run());
  return check(*session, data);
}

llvm::Error glowish::runNodeTest(const NodeTest &test, llvm::StringRef backend,
                                 Tolerances tolerances) {
  TestRun run(test, tolerances);
  GLOWISH_CHECK(run.load());
  for (unsigned i = 0; i < run.getNumDataSets(); ++i)
    GLOWISH_CHECK(run.run(i, backend));
  return llvm::Error::success();
}
