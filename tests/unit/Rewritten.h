//===- Rewritten.h - Modules written as ONNX and read again -----*- C++ -*-===//

#ifndef GLOWISH_TESTS_UNIT_REWRITTEN_H
#define GLOWISH_TESTS_UNIT_REWRITTEN_H

#include "Differential.h"
#include "glowish/Exporter/ONNX.h"
#include "glowish/Importer/ONNX.h"
#include <onnx/onnx_pb.h>

namespace glowish {

/// Another input, with a name of its own.
inline NodeValue newInput(Module &module, ElemKind kind, DimsRef shape) {
  std::string name = "x" + std::to_string(module.getPlaceholders().size());
  return NodeValue(module.createPlaceholder(name, Type(kind, shape),
                                            /*isInput=*/true,
                                            /*isOutput=*/false));
}

/// What the interpreter makes of \p module: the outputs by their names. Inputs
/// come from seeds by their places; those in \p given have these elements.
inline llvm::Expected<std::map<std::string, Tensor>>
runModule(std::unique_ptr<Module> module,
          const std::map<std::string, std::vector<double>> &given = {}) {
  std::unique_ptr<Backend> backend = createInterpreter();
  Compilation compilation(*backend, CompilationOptions());
  GLOWISH_ASSIGN_OR_RETURN(PlannedProgram program,
                           compilation.compile(std::move(module)));
  GLOWISH_ASSIGN_OR_RETURN(auto session, Session::create(program));
  uint64_t seed = 7;
  for (const Buffer *buffer : session->getPlaceholders()) {
    if (!buffer->isInput())
      continue;
    Tensor tensor = makeRandom(buffer->getType(), seed++);
    auto found = given.find(buffer->getModelName().str());
    if (found != given.end())
      for (auto [i, value] : llvm::enumerate(found->second))
        tensor.setFromDouble(i, value);
    GLOWISH_RETURN_IF_ERROR(session->setInput(buffer, tensor));
  }
  GLOWISH_RETURN_IF_ERROR(session->run());
  std::map<std::string, Tensor> outputs;
  for (const Buffer *buffer : session->getOutputs())
    outputs[buffer->getModelName().str()] = session->getOutput(buffer).clone();
  return outputs;
}

/// \p bytes, an ONNX model, as a module.
inline llvm::Expected<std::unique_ptr<Module>>
readWritten(llvm::StringRef bytes) {
  ImportOptions options;
  options.evaluate = evaluateNode;
  return importOnnx(llvm::ArrayRef(bytes.bytes_begin(), bytes.size()),
                    "written", options);
}

/// The operators of \p bytes' graph, in order.
inline std::vector<std::string> getOperators(const std::string &bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  std::vector<std::string> operators;
  for (const onnx::NodeProto &node : model.graph().node())
    operators.push_back(node.op_type());
  return operators;
}

/// How far two roundings of the same number may be apart.
inline double getBound(ElemKind kind) {
  if (kind == ElemKind::Float16)
    return 4e-3;
  if (kind == ElemKind::BFloat16)
    return 3e-2;
  return kind == ElemKind::Float ? 1e-5 : 0;
}

/// \p actual is \p expected but for rounding; integers are the same.
inline void expectSame(const std::string &name, const Tensor &actual,
                       const Tensor &expected) {
  ASSERT_EQ(actual.getType(), expected.getType()) << name;
  ElemKind kind = expected.getType().getKind();
  double bound = kind == ElemKind::Double ? 1e-7 : getBound(kind);
  double largest = 1e-3;
  for (int64_t i = 0; i < expected.getNumElements(); ++i)
    if (std::isfinite(expected.getAsDouble(i)))
      largest = std::max(largest, std::abs(expected.getAsDouble(i)));
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    double x = actual.getAsDouble(i), y = expected.getAsDouble(i);
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    ASSERT_LE(std::abs(x - y), bound * largest) << name << " at " << i;
  }
}

/// The module that \p make makes gives the same outputs when it has been
/// written and read.
inline void
checkRewritten(const std::string &name,
               const std::function<std::unique_ptr<Module>()> &make,
               const std::map<std::string, std::vector<double>> &given = {}) {
  auto expected = runModule(make(), given);
  ASSERT_TRUE(bool(expected))
      << name << ": " << llvm::toString(expected.takeError());
  auto bytes = writeOnnx(*make());
  ASSERT_TRUE(bool(bytes)) << name << ": " << llvm::toString(bytes.takeError());
  auto module = readWritten(*bytes);
  ASSERT_TRUE(bool(module))
      << name << ": " << llvm::toString(module.takeError());
  auto actual = runModule(std::move(*module), given);
  ASSERT_TRUE(bool(actual))
      << name << ": " << llvm::toString(actual.takeError());
  ASSERT_EQ(actual->size(), expected->size()) << name;
  for (const auto &[output, tensor] : *expected) {
    ASSERT_TRUE(actual->count(output)) << name << ": " << output;
    expectSame(name + ": " + output, (*actual)[output], tensor);
  }
}

} // namespace glowish

#endif // GLOWISH_TESTS_UNIT_REWRITTEN_H
