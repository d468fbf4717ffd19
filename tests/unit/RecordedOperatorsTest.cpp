//===- RecordedOperatorsTest.cpp - Operators that records alone name ------===//
//
// An element-wise operator's record names the operators of the formats that it
// is imported of: nothing else mentions it. Each is imported from each format
// by that name, and computes the same.
//
//===----------------------------------------------------------------------===//

#include "Aten/AtenOp.h"
#include "Caffe2Text.h"
#include "TFLiteRuns.h"
#include "glowish/Backends/CPU/CPUBackend.h"

using namespace glowish;
using tflite::schema::TensorType;

namespace {

/// Returns the node that the output of \p module is computed by, which has one.
const Node *findNode(const Module &module) {
  for (const Node &node : module.findFunction("main")->getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      return save->getInput().node;
  return nullptr;
}

const Node *findNode(llvm::Expected<std::unique_ptr<Module>> &module) {
  EXPECT_TRUE(bool(module));
  return module ? findNode(**module) : nullptr;
}

llvm::Expected<std::unique_ptr<Module>>
importCaffe2Operator(llvm::StringRef name, unsigned numOperands,
                     llvm::StringRef args = "") {
  std::vector<std::string> inputs = {"x", "y"};
  inputs.resize(numOperands);
  ImportOptions options;
  for (const std::string &input : inputs)
    options.inputTypes.emplace(input, Type(ElemKind::Float, {2, 3}));
  return importNet(netText(netOp(name, inputs, {"z"}, args), {"z"}), "",
                   options);
}

llvm::Expected<std::unique_ptr<Module>> importTFLiteOperator(const char *name) {
  TFLiteModel model;
  int x = model.tensor("x", {2, 3}, TensorType::FLOAT32);
  int z = model.tensor("z", {2, 3}, TensorType::FLOAT32);
  model.custom(name, {x}, {z});
  return importTFLiteBytes(model.finish({x}, {z}));
}

/// Whether the operands of \p kind may be floats.
bool importsFloats(NodeKind kind) {
  return kind != NodeKind::And && kind != NodeKind::Or && kind != NodeKind::Not;
}

/// Returns the result of the operator \p name of ATen in \p function.
NodeValue importAten(llvm::StringRef name, Function &function,
                     aten::AtenValue::List arguments) {
  const aten::RegisteredAtenOp *op = aten::findAtenOperator(name);
  if (!op) {
    ADD_FAILURE() << "there is no " << name.str();
    return {};
  }
  FoldingBudget budget;
  NodeEvaluator evaluate;
  auto report = [](llvm::StringRef) { return llvm::Error::success(); };
  aten::AtenContext context{budget, evaluate, report};
  auto results = aten::importAtenOperator(*op, function, "z",
                                          std::move(arguments), context);
  if (!results) {
    ADD_FAILURE() << llvm::toString(results.takeError());
    return {};
  }
  return results->front().get<NodeValue>();
}

/// Returns what \p module makes of -3, -2 ... 2 on \p backend.
std::vector<double> run(Backend &backend, std::unique_ptr<Module> module) {
  Compilation compilation(backend, CompilationOptions());
  PlannedProgram program =
      llvm::cantFail(compilation.compile(std::move(module)));
  auto session = llvm::cantFail(Session::create(program));
  const Buffer *input = llvm::cantFail(session->findPlaceholder("x"));
  Tensor x(input->getType());
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    x.setFromDouble(i, double(i - 3));
  llvm::cantFail(session->setInput(input, x));
  llvm::cantFail(session->run());
  Tensor z = session->getTensor(session->getOutputs().front());
  std::vector<double> values;
  for (int64_t i = 0; i < z.getNumElements(); ++i)
    values.push_back(z.getAsDouble(i));
  return values;
}

/// Returns LogSigmoid of x from each format. In ONNX it is a function of a
/// domain, in TensorFlow Lite a custom operator.
std::vector<std::unique_ptr<Module>> importLogSigmoids() {
  TextModel model;
  model.header =
      "opset_import { domain: \"own\" version: 1 } functions { name: "
      "\"LogSigmoid\" domain: \"own\" input: \"a\" output: \"b\" node { "
      "op_type: \"Neg\" input: \"a\" output: \"n\" } node { op_type: "
      "\"Softplus\" input: \"n\" output: \"s\" } node { op_type: \"Neg\" "
      "input: \"s\" output: \"b\" } opset_import { version: 13 } } ";
  model.body = "node { op_type: \"LogSigmoid\" domain: \"own\" input: \"x\" "
               "output: \"y\" name: \"y\" } ";
  std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(llvm::cantFail(model.import()));
  modules.push_back(llvm::cantFail(importCaffe2Operator("LogSigmoid", 1)));
  modules.push_back(llvm::cantFail(importTFLiteOperator("LogSigmoid")));
  auto module = std::make_unique<Module>("aten");
  Function *function = module->createFunction("main");
  Type type(ElemKind::Float, {2, 3});
  NodeValue x(module->createPlaceholder("x", type, true, false));
  NodeValue y(module->createPlaceholder("y", type, false, true));
  function->create<SaveNode>("save", importAten("log_sigmoid", *function, {x}),
                             y);
  modules.push_back(std::move(module));
  return modules;
}

} // namespace

/// A record without another line of code in an importer.
TEST(RecordedOperators, OneOfAllFormats) {
  std::unique_ptr<Backend> backends[] = {
      createInterpreter(), llvm::cantFail(CPUBackend::create({}))};
  for (auto &backend : backends)
    for (auto &module : importLogSigmoids()) {
      std::vector<double> values = run(*backend, std::move(module));
      ASSERT_EQ(values.size(), 6u);
      for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(values[i], -std::log1p(std::exp(3.0 - i)), 1e-6);
    }
}

/// Each is a node of its kind; numbers are.
TEST(RecordedOperators, Caffe2) {
#define CAFFE2_ELEMENT_WISE(NAME, CAFFE2, NUM_OPERANDS, ...)                   \
  if (importsFloats(NodeKind::NAME)) {                                         \
    auto module = importCaffe2Operator(CAFFE2, NUM_OPERANDS);                  \
    const Node *node = findNode(module);                                       \
    EXPECT_TRUE(node && node->getKind() == NodeKind::NAME) << CAFFE2;          \
  }
#define GET_CAFFE2_ELEMENT_WISE_LIST
#include "glowish/Graph/NodeFunctions.inc"
}

/// Attributes are those that the model states, or the record's.
TEST(RecordedOperators, Attributes) {
  for (auto [args, alpha, beta] :
       {std::tuple(std::string(), 0.2, 0.5),
        {floatArg("beta", 0.25), 0.2, 0.25},
        {floatArg("alpha", 0.5) + floatArg("beta", 0.75), 0.5, 0.75}}) {
    auto module = importCaffe2Operator("HardSigmoid", 1, args);
    auto *node = llvm::dyn_cast_or_null<HardSigmoidNode>(findNode(module));
    ASSERT_TRUE(node);
    EXPECT_FLOAT_EQ(float(node->getAlpha()), float(alpha));
    EXPECT_FLOAT_EQ(float(node->getBeta()), float(beta));
  }
  auto wrong =
      importCaffe2Operator("HardSigmoid", 1, stringArg("alpha", "large"));
  EXPECT_EQ(llvm::toString(wrong.takeError()),
            "'n': node 'z' (HardSigmoid): argument 'alpha' has the wrong type; "
            "accepted: a number");
}
