//===- OperatorProbe.cpp - Element types that operators take --------------===//

#include "OperatorProbe.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Base/Comparison.h"
#include "glowish/Importer/ONNX.h"
#include <cmath>
#include <onnx/onnx_pb.h>
#include <optional>

using namespace glowish;

std::string glowish::getOnlyOperator(const NodeTest &test) {
  llvm::Expected<onnx::ModelProto> model = readModelProto(test.model);
  if (!model) {
    llvm::consumeError(model.takeError());
    return "";
  }
  if (model->graph().node_size() != 1)
    return "";
  const onnx::NodeProto &node = model->graph().node(0);
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.has_g() || attribute.graphs_size())
      return "";
  return node.domain().empty() ? node.op_type()
                               : node.domain() + "." + node.op_type();
}

/// The test's model with the inputs' element types of \p data.
static llvm::Expected<std::unique_ptr<Module>>
import(const OperatorProbe &probe, const TestData &data,
       const std::set<std::string> &constants) {
  GLOWISH_ASSIGN_OR_RETURN(onnx::ModelProto model,
                           readModelProto(probe.test->model));
  for (const NamedTensor &input : data.inputs)
    for (auto &value : *model.mutable_graph()->mutable_input()) {
      onnx::TensorProto::DataType type;
      ElemKind kind = input.tensor->getType().getKind();
      if (value.name() == input.name &&
          onnx::TensorProto::DataType_Parse(getElemKindName(kind).upper(),
                                            &type))
        value.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    }
  std::string bytes = model.SerializeAsString();
  ImportOptions options = makeImportOptions(data, constants);
  options.evaluate = evaluateNode;
  return importOnnx(
      llvm::ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()),
                     bytes.size()),
      probe.test->model, options);
}

static llvm::Expected<std::vector<Tensor>>
run(const OperatorProbe &probe, const TestData &data,
    const std::set<std::string> &constants, llvm::StringRef backendName) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                           createTestBackend(backendName));
  Compilation compilation(*backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           import(probe, data, constants));
  return compileAndRun(compilation, {std::move(module), constants}, data);
}

llvm::Expected<std::set<std::string>>
glowish::findConstants(const OperatorProbe &probe) {
  GLOWISH_ASSIGN_OR_RETURN(PassedTest passed,
                           runNodeTest(*probe.test, "Interpreter"));
  std::set<std::string> constants = std::move(passed.constants);
  for (const NamedTensor &input : probe.data.inputs) {
    std::set<std::string> fewer = constants;
    if (!fewer.erase(input.name))
      continue;
    auto outputs = run(probe, probe.data, fewer, "Interpreter");
    llvm::Expected<double> ulps =
        outputs ? checkOutputs(probe.data, *outputs) : outputs.takeError();
    if (ulps)
      constants = std::move(fewer);
    else
      llvm::consumeError(ulps.takeError());
  }
  return constants;
}

void glowish::groupInputs(OperatorProbe &probe) {
  std::vector<ElemKind> kinds;
  for (const NamedTensor &input : probe.data.inputs) {
    if (probe.constants.count(input.name))
      continue;
    ElemKind kind = input.tensor->getType().getKind();
    size_t at = llvm::find(kinds, kind) - kinds.begin();
    if (at == kinds.size()) {
      kinds.push_back(kind);
      probe.groups.emplace_back();
    }
    probe.groups[at].push_back(input.name);
  }
}

/// \p tensor's values in \p kind: indices stay what they are, and what were
/// fractions are small positive integers where there are none.
static std::shared_ptr<const Tensor> convert(const Tensor &tensor,
                                             ElemKind kind) {
  bool isRounded =
      isFloatKind(tensor.getType().getKind()) && !isFloatKind(kind);
  auto result = std::make_shared<Tensor>(tensor.getType().withKind(kind));
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    double value = tensor.getAsDouble(i);
    if (isRounded)
      value = std::isfinite(value)
                  ? 1 + std::fmod(std::floor(std::fabs(value) * 2), 3)
                  : 1;
    if (kind == ElemKind::Bool)
      value = i % 2;
    result->setFromDouble(i, value);
  }
  return result;
}

/// What roundings of \p kind can make of equal sums.
static bool agree(const Tensor &actual, const Tensor &expected) {
  if (actual.getType() != expected.getType())
    return false;
  ElemKind kind = expected.getType().getKind();
  bool isHalf = kind == ElemKind::Float16 || kind == ElemKind::BFloat16;
  double tolerance = !isFloatKind(kind) ? 0 : isHalf ? 3e-2 : 1e-4;
  Comparison result = compareTensors(actual, expected, tolerance, 0);
  return result.numMismatches == 0 ||
         result.maxError <= tolerance * result.maxMagnitude;
}

/// \p data with \p kind for all of \p names.
static TestData withKind(TestData data, const std::set<std::string> &names,
                         ElemKind kind) {
  for (NamedTensor &input : data.inputs)
    if (names.count(input.name))
      input.tensor = convert(*input.tensor, kind);
  return data;
}

static ProbeResult runBoth(const OperatorProbe &probe, const TestData &data) {
  ProbeResult result;
  auto expected = run(probe, data, probe.constants, "Interpreter");
  if (!expected) {
    llvm::consumeError(expected.takeError());
    return result;
  }
  result.onInterpreter = true;
  auto actual = run(probe, data, probe.constants, "CPU");
  if (!actual) {
    llvm::consumeError(actual.takeError());
    return result;
  }
  result.onCPU =
      llvm::all_of(llvm::zip_equal(*actual, *expected), [](const auto &pair) {
        return agree(std::get<0>(pair), std::get<1>(pair));
      });
  return result;
}

ProbeResult glowish::tryKind(const OperatorProbe &probe, unsigned group,
                             ElemKind kind) {
  std::set<std::string> names(probe.groups[group].begin(),
                              probe.groups[group].end());
  ProbeResult result = runBoth(probe, withKind(probe.data, names, kind));
  if (result.onInterpreter)
    return result;
  // Constants of the group's type may have to change with it: the limits of
  // Range, not the scales of Resize.
  std::optional<ElemKind> old;
  for (const NamedTensor &input : probe.data.inputs)
    if (names.count(input.name))
      old = input.tensor->getType().getKind();
  size_t numBefore = names.size();
  for (const NamedTensor &input : probe.data.inputs)
    if (input.tensor->getType().getKind() == old)
      names.insert(input.name);
  if (names.size() == numBefore)
    return result;
  return runBoth(probe, withKind(probe.data, names, kind));
}
