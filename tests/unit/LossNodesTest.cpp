//===- LossNodesTest.cpp - Losses as nodes of a function ------------------===//
//
// Functions that are built with Loss nodes: what they are in inference, and
// what a training step makes of them.
//
//===----------------------------------------------------------------------===//

#include "GraphTexts.h"
#include "Messages.h"
#include "glowish/Autodiff/Training.h"
#include "glowish/Backends/CPU/CPUBackend.h"
#include "glowish/Backends/Interpreter/Interpreter.h"
#include "glowish/Driver/Compilation.h"
#include "glowish/Driver/Session.h"
#include "glowish/Graph/GraphText.h"
#include "gmock/gmock.h"
#include <cmath>

using namespace glowish;
using testing::HasSubstr;
using testing::Not;

namespace {

using Values = std::vector<float>;

/// y = x + w, compared with what is expected of it.
class Regression {
public:
  explicit Regression(llvm::StringRef loss = "mean-squared-error",
                      double delta = 1)
      : module(std::make_unique<Module>("net")),
        function(module->createFunction("main")) {
    x = addInput("x");
    weights = module->createPlaceholder("w", type, true, true);
    variables["w"] = std::make_shared<const Tensor>(
        Tensor::fromValues<float>(type, {1, -2, 4}));
    sum = function->create<AddNode>("sum", x, weights)->getResult();
    y = addOutput("y", addLoss(sum, "expected", loss, delta));
  }

  Placeholder *addInput(llvm::StringRef name) {
    return module->createPlaceholder(name, type, true, false);
  }
  Placeholder *addOutput(llvm::StringRef name, NodeValue value) {
    auto *output = module->createPlaceholder(name, type, false, true);
    function->create<SaveNode>("save", value, NodeValue(output));
    return output;
  }
  NodeValue addLoss(NodeValue value, llvm::StringRef expected,
                    llvm::StringRef loss, double delta = 1) {
    return function
        ->create<LossNode>("loss." + expected.str(), value,
                           NodeValue(addInput(expected)), loss.str(), delta)
        ->getResult();
  }

  Type type = Type(ElemKind::Float, {3});
  std::unique_ptr<Module> module;
  Function *function;
  Placeholder *x, *weights, *y;
  NodeValue sum;
  VariableValues variables;
};

/// A program with all its inputs set by name.
class Running {
public:
  Running(Backend &backend, std::unique_ptr<Module> module,
          const std::map<std::string, Values> &inputs)
      : compilation(backend, {}),
        program(
            llvm::cantFail(compilation.compile(ModelGraph(std::move(module))))),
        session(llvm::cantFail(Session::create(program))) {
    for (const auto &[name, values] : inputs) {
      const Buffer *buffer = llvm::cantFail(session->findPlaceholder(name));
      llvm::cantFail(session->setInput(
          buffer, Tensor::fromValues<float>(
                      session->getTensor(buffer).getType(), values)));
    }
    llvm::cantFail(session->run());
  }

  Values get(llvm::StringRef name) {
    const Buffer *buffer = llvm::cantFail(session->findPlaceholder(name));
    auto data = session->getTensor(buffer).data<float>();
    return Values(data.begin(), data.end());
  }

private:
  Compilation compilation;
  PlannedProgram program;
  std::unique_ptr<Session> session;
};

std::vector<std::unique_ptr<Backend>> makeBackends() {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(createInterpreter());
  backends.push_back(llvm::cantFail(CPUBackend::create({})));
  return backends;
}

/// Makes the training step the module's only function.
llvm::Error train(Regression &net, TrainingConfig config) {
  config.outputGradients = true;
  auto step = makeTrainingStep(*net.function, net.variables, config);
  if (!step)
    return step.takeError();
  net.module->eraseFunction(net.function);
  return llvm::Error::success();
}

const Values x = {0.5, 0, -1}, w = {1, -2, 4}, expected = {1, 1, 2};

} // namespace

TEST(LossNodes, AreTheIdentityInInference) {
  for (auto &backend : makeBackends()) {
    Regression net;
    Running running(*backend, std::move(net.module), {{"x", x}, {"w", w}});
    EXPECT_EQ(running.get("y"), (Values{1.5, -2, 3}))
        << backend->getName().str();
  }
  // Nothing of it is left in the lowered graph.
  Regression net;
  auto interpreter = createInterpreter();
  Compilation compilation(*interpreter, {});
  LoweredGraph lowered =
      llvm::cantFail(compilation.lower(ModelGraph(std::move(net.module))));
  EXPECT_THAT(print(lowered.getModule()), Not(HasSubstr("Loss(")));
  EXPECT_THAT(print(lowered.getModule()), Not(HasSubstr("Copy")));
}

/// In training they are the gradient of the loss: for squares, a subtraction.
TEST(LossNodes, AreASubtractionInTraining) {
  for (auto &backend : makeBackends()) {
    SCOPED_TRACE(backend->getName().str());
    Regression net;
    ASSERT_EQ(getMessage(train(net, {})), "");
    Running running(
        *backend, std::move(net.module),
        {{"x", x}, {"w", w}, {"expected", expected}, {"learning_rate", {0.5}}});
    EXPECT_EQ(running.get("y"), (Values{1.5, -2, 3}));
    EXPECT_FLOAT_EQ(running.get("loss")[0], (0.25f + 9 + 1) / 3);
    Values gradient = running.get("w.gradient"), updated = running.get("w");
    for (size_t i = 0; i < 3; ++i) {
      float difference = x[i] + w[i] - expected[i];
      EXPECT_FLOAT_EQ(gradient[i], 2 * difference / 3);
      EXPECT_FLOAT_EQ(updated[i], w[i] - difference / 3);
    }
  }
}

/// -loss= makes the node that a function without any lacks.
TEST(LossNodes, MakeTheStepThatALossOfTheConfigMakes) {
  for (llvm::StringRef loss :
       {"binary-cross-entropy", "mean-squared-error", "l1", "huber"}) {
    SCOPED_TRACE(loss.str());
    Regression own(loss, 0.75);
    ASSERT_EQ(getMessage(train(own, {})), "");
    Regression plain;
    auto *node = llvm::cast<LossNode>(
        plain.module->findPlaceholder("expected")->uses().begin()->getUser());
    node->getResult().replaceAllUsesWith(node->getInput());
    plain.function->erase(node);
    plain.module->erasePlaceholder(plain.module->findPlaceholder("expected"));
    TrainingConfig config;
    config.loss = *parseLoss(loss);
    config.huberDelta = 0.75;
    config.label = "expected";
    ASSERT_EQ(getMessage(train(plain, config)), "");
    auto interpreter = createInterpreter();
    std::map<std::string, Values> inputs = {
        {"x", x}, {"w", w}, {"expected", expected}, {"learning_rate", {0.5}}};
    Running first(*interpreter, std::move(own.module), inputs);
    Running second(*interpreter, std::move(plain.module), inputs);
    for (const char *name : {"y", "loss", "w", "w.gradient"})
      EXPECT_EQ(first.get(name), second.get(name)) << name;
  }
}

TEST(LossNodes, AddUp) {
  Regression net;
  net.addOutput("z", net.addLoss(net.sum, "other", "l1"));
  auto interpreter = createInterpreter();
  ASSERT_EQ(getMessage(train(net, {})), "");
  Running running(*interpreter, std::move(net.module),
                  {{"x", x},
                   {"w", w},
                   {"expected", expected},
                   {"other", {0, 0, 0}},
                   {"learning_rate", {1}}});
  EXPECT_FLOAT_EQ(running.get("loss")[0], (0.25f + 9 + 1) / 3 + 6.5f / 3);
  Values gradient = running.get("w.gradient");
  EXPECT_FLOAT_EQ(gradient[0], (2 * 0.5f + 1) / 3);
  EXPECT_FLOAT_EQ(gradient[1], (2 * -3.0f - 1) / 3);
}

TEST(LossNodes, HaveALossOfEachSample) {
  Regression net;
  net.addOutput("z", net.addLoss(net.sum, "other", "l1"));
  ASSERT_EQ(getMessage(addSampleLosses(*net.function, {})), "");
  auto interpreter = createInterpreter();
  Running running(
      *interpreter, std::move(net.module),
      {{"x", x}, {"w", w}, {"expected", expected}, {"other", {0, 0, 0}}});
  EXPECT_EQ(running.get("loss"), (Values{0.25f + 1.5f, 9 + 2, 1 + 3}));
}

/// Classes are the only dimension: there is one sample, with one loss.
TEST(LossNodes, HaveOneLossOfClassesAlone) {
  Regression net("softmax-cross-entropy");
  ASSERT_EQ(getMessage(addSampleLosses(*net.function, {})), "");
  auto interpreter = createInterpreter();
  Running running(*interpreter, std::move(net.module),
                  {{"x", x}, {"w", w}, {"expected", {0, 1, 0}}});
  EXPECT_EQ(running.get("loss").size(), 1u);
}

TEST(LossNodes, ArePartOfBothTextForms) {
  Regression net("huber", 0.5);
  std::string text = print(*net.module);
  EXPECT_THAT(text, HasSubstr("= Loss(%sum, %expected) {loss = \"huber\", "
                              "delta = 0.5} : float<3>"));
  EXPECT_EQ(print(*llvm::cantFail(parseModule(text, "net.graph", nullptr))),
            text);
}

TEST(LossNodes, AreRefusedWhereTheyCannotBeTrained) {
  Regression samples;
  Type longer(ElemKind::Float, {4});
  auto *other = samples.module->createPlaceholder("u", longer, true, false);
  samples.function->create<LossNode>("second", other, other, "l1", 1.0);
  EXPECT_EQ(getMessage(addSampleLosses(*samples.function, {})),
            "Loss 'second': its samples are 4, and those of 'loss.expected' "
            "3; accepted: as many");
  Regression taken;
  taken.addInput("loss");
  EXPECT_THAT(getMessage(train(taken, {})),
              HasSubstr("has an input, output or weight 'loss' already"));
  Regression empty;
  Type none(ElemKind::Float, {0});
  auto *nothing = empty.module->createPlaceholder("n", none, true, false);
  empty.function->create<LossNode>("of.nothing", nothing, nothing, "l1", 1.0);
  EXPECT_EQ(getMessage(train(empty, {})),
            "Loss 'of.nothing': its input is float<0>; accepted: at least one "
            "element");
  auto module = llvm::cantFail(parseModule(R"(module "m"
placeholder %flag : bool<> input "flag"
placeholder %x : float<3> input "x"
placeholder %y : float<3> output "y"
function "main" {
  %if = If(%flag, %x) {thenBody = body "then" (%a : float<3>) -> (%b : float<3>) {
    %inner = Loss(%a, %a) {loss = "l1"} : float<3>
    Save(%inner, %b)
  }, elseBody = body "else" (%c : float<3>) -> (%d : float<3>) {
    Save(%c, %d)
  }} : float<3>
  Save(%if, %y)
})",
                                           "m.graph", nullptr));
  VariableValues variables;
  EXPECT_EQ(getMessage(makeTrainingStep(*module->getFunctions().front(),
                                        variables, {})),
            "Loss 'inner': it is in a body of 'if'; accepted: in the function "
            "that is trained");
}
