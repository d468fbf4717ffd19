//===- GradientCheck.cpp - Gradients against differences ------------------===//

#include "GradientCheck.h"
#include "Differential.h"
#include "InferTypes.h"
#include "glowish/Graph/GraphText.h"
#include "llvm/Support/xxhash.h"

using namespace glowish;

/// So small that a difference of the fourth order is exact to 1e-10, and that
/// distinct values stay as they are ordered.
static constexpr double step = 2e-4;

std::ostream &glowish::operator<<(std::ostream &os,
                                  const GradientCase &tested) {
  return os << tested.text;
}

//===- Modules ------------------------------------------------------------===//

static std::string replaceKind(std::string text, llvm::StringRef kind) {
  constexpr llvm::StringRef from = "double<";
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += kind.size())
    text.replace(at, from.size() - 1, kind);
  return text;
}

/// A module with inputs x0, x1 ... and outputs y0 ... of one node.
static llvm::Expected<std::unique_ptr<Module>>
makeNodeModule(llvm::StringRef text) {
  GLOWISH_ASSIGN_OR_RETURN(ParsedOp op, parseOp(text));
  if (!op.node)
    return makeError("no node '{0}'", text);
  auto module = std::make_unique<Module>("test");
  Function *function = module->createFunction("main");
  auto makeInput = [&](unsigned i, const Type &type) {
    return makeOperand(*module, i, type, /*isConstant=*/false);
  };
  GLOWISH_ASSIGN_OR_RETURN(Node *node, createNode(*function, op, makeInput));
  for (unsigned i = 0; i < node->getNumResults(); ++i)
    function->create<SaveNode>(
        "save", node->getResult(i),
        NodeValue(module->createPlaceholder("y" + std::to_string(i),
                                            node->getType(i), /*isInput=*/false,
                                            /*isOutput=*/true)));
  return module;
}

static llvm::Expected<std::unique_ptr<Module>>
makeForwardModule(const GradientCase &tested, llvm::StringRef kind) {
  std::string text = replaceKind(tested.text, kind);
  if (llvm::StringRef(text).ltrim().starts_with("module"))
    return parseModule(text, "test", nullptr);
  return makeNodeModule(text);
}

static InputValues getValues(const GradientCase &tested, size_t input) {
  return input < tested.values.size() ? tested.values[input] : InputValues();
}

static std::string getSeedPrefix(unsigned order) {
  return "seed" + std::to_string(order) + ".";
}

static std::string getGradientPrefix(unsigned order) {
  return "gradient" + std::to_string(order) + ".";
}

/// Differentiates what is saved to the outputs called \p prefix... once more.
static llvm::Error differentiate(Module &module, llvm::StringRef prefix,
                                 unsigned order,
                                 std::vector<Placeholder *> &variables) {
  Function &function = *module.getFunctions().front();
  std::vector<SaveNode *> saves;
  for (Node &node : function.getNodes())
    if (auto *save = llvm::dyn_cast<SaveNode>(&node))
      if (isFloatKind(save->getInput().getElemKind()) &&
          llvm::cast<Placeholder>(save->getOutput().node)
              ->getModelName()
              .starts_with(prefix))
        saves.push_back(save);
  std::vector<GradientSeed> seeds;
  std::vector<Placeholder *> added;
  for (SaveNode *save : saves) {
    auto *output = llvm::cast<Placeholder>(save->getOutput().node);
    added.push_back(module.createPlaceholder(
        getSeedPrefix(order) + output->getModelName().str(), output->getType(),
        /*isInput=*/true, /*isOutput=*/false));
    seeds.push_back({save->getInput(), NodeValue(added.back())});
  }
  std::vector<NodeValue> values(variables.begin(), variables.end());
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> gradients,
                           addGradients(function, seeds, values));
  for (auto [gradient, variable] : llvm::zip_equal(gradients, variables)) {
    std::string name =
        getGradientPrefix(order) + variable->getModelName().str();
    function.create<SaveNode>(
        "save", gradient,
        NodeValue(module.createPlaceholder(name, gradient.getType(),
                                           /*isInput=*/false,
                                           /*isOutput=*/true)));
  }
  llvm::append_range(variables, added);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Module>>
glowish::makeGradientModule(const GradientCase &tested, unsigned order,
                            llvm::StringRef kind) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                           makeForwardModule(tested, kind));
  std::vector<Placeholder *> variables;
  size_t input = 0;
  for (const auto &placeholder : module->getPlaceholders())
    if (placeholder->isInput() && getValues(tested, input++).isVariable &&
        isFloatKind(placeholder->getType().getKind()))
      variables.push_back(placeholder.get());
  std::string prefix;
  for (unsigned i = 1; i <= order; ++i) {
    GLOWISH_RETURN_IF_ERROR(differentiate(*module, prefix, i, variables));
    prefix = getGradientPrefix(i);
  }
  return module;
}

static void collectKinds(Function &function, std::vector<NodeKind> &kinds) {
  for (Node &node : function.getNodes()) {
    kinds.push_back(node.getKind());
    for (Function *body : getBodies(node))
      collectKinds(*body, kinds);
  }
}

std::vector<NodeKind> glowish::getKinds(const GradientCase &tested) {
  std::vector<NodeKind> kinds;
  auto module = llvm::cantFail(makeForwardModule(tested, "double"));
  collectKinds(*module->getFunctions().front(), kinds);
  return kinds;
}

//===- Runs ---------------------------------------------------------------===//

namespace {

/// A module that runs again and again, on other inputs.
class Runner {
public:
  static llvm::Expected<std::unique_ptr<Runner>>
  create(std::unique_ptr<Backend> backend, std::unique_ptr<Module> module);

  llvm::Error setInput(const Buffer *buffer, const Tensor &tensor) {
    return session->setInput(buffer, tensor);
  }
  llvm::Expected<NamedTensors> run();
  std::vector<const Buffer *> getInputs() const;

private:
  Runner(std::unique_ptr<Backend> backend) : backend(std::move(backend)) {}
  std::unique_ptr<Backend> backend;
  std::optional<PlannedProgram> program;
  std::unique_ptr<Session> session;
};

} // namespace

llvm::Expected<std::unique_ptr<Runner>>
Runner::create(std::unique_ptr<Backend> backend,
               std::unique_ptr<Module> module) {
  std::unique_ptr<Runner> runner(new Runner(std::move(backend)));
  CompilationOptions options;
  options.verifyEach = true;
  Compilation compilation(*runner->backend, options);
  GLOWISH_ASSIGN_OR_RETURN(runner->program,
                           compilation.compile(std::move(module)));
  GLOWISH_ASSIGN_OR_RETURN(runner->session, Session::create(*runner->program));
  return runner;
}

std::vector<const Buffer *> Runner::getInputs() const {
  std::vector<const Buffer *> inputs;
  for (const Buffer *buffer : session->getPlaceholders())
    if (buffer->isInput())
      inputs.push_back(buffer);
  return inputs;
}

llvm::Expected<NamedTensors> Runner::run() {
  GLOWISH_RETURN_IF_ERROR(session->run());
  NamedTensors outputs;
  for (const Buffer *buffer : session->getPlaceholders())
    if (buffer->isOutput())
      outputs.emplace(buffer->getModelName().str(),
                      session->getTensor(buffer).clone());
  return outputs;
}

/// The values of the inputs called \p inputs of \p tested. Those of variables
/// are distinct, in random order.
static std::vector<Tensor> makeInputs(const GradientCase &tested,
                                      llvm::ArrayRef<const Buffer *> inputs) {
  Random random(12);
  int64_t count = 0;
  for (const Buffer *input : inputs)
    count += input->getType().getNumElements();
  std::vector<int64_t> cells(count);
  for (int64_t i = 0; i < count; ++i) {
    cells[i] = i;
    std::swap(cells[i], cells[random.below(uint64_t(i) + 1)]);
  }
  std::vector<Tensor> tensors;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    InputValues values = getValues(tested, number);
    Tensor &tensor = tensors.emplace_back(input->getType());
    for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
      double cell = double(cells[--count]) + double(random.uniform(0.3f, 0.7f));
      double value =
          values.low + (values.high - values.low) * cell / double(cells.size());
      if (!values.given.empty())
        value = values.given[i % values.given.size()];
      tensor.setFromDouble(i, value);
    }
  }
  return tensors;
}

static llvm::Expected<NamedTensors> runOn(std::unique_ptr<Backend> backend,
                                          const GradientCase &tested,
                                          unsigned order,
                                          llvm::StringRef kind) {
  GLOWISH_ASSIGN_OR_RETURN(auto module,
                           makeGradientModule(tested, order, kind));
  GLOWISH_ASSIGN_OR_RETURN(
      auto runner, Runner::create(std::move(backend), std::move(module)));
  std::vector<const Buffer *> inputs = runner->getInputs();
  std::vector<Tensor> tensors = makeInputs(tested, inputs);
  for (auto [input, tensor] : llvm::zip_equal(inputs, tensors))
    GLOWISH_RETURN_IF_ERROR(runner->setInput(input, tensor));
  return runner->run();
}

NamedTensors glowish::runGradients(const GradientCase &tested, unsigned order,
                                   llvm::StringRef kind) {
  auto outputs = runOn(createInterpreter(), tested, order, kind);
  if (outputs)
    return std::move(*outputs);
  ADD_FAILURE() << tested.text << ": " << llvm::toString(outputs.takeError());
  return {};
}

//===- Differences --------------------------------------------------------===//

static double getLargest(const Tensor &tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    largest = std::max(largest, std::abs(tensor.getAsDouble(i)));
  return largest;
}

namespace {

/// Derivatives of the sum of a module's float outputs times seeds, of which
/// the module of the next order has the gradients.
class Differences {
public:
  static llvm::Error check(const GradientCase &tested, unsigned order);

private:
  llvm::Error checkInput(size_t number, const Tensor &gradient);
  llvm::Expected<double> differentiate(size_t number, int64_t element);
  llvm::Expected<NamedTensors> runAt(size_t number, int64_t element,
                                     double value);

  std::unique_ptr<Runner> runner;
  std::vector<const Buffer *> inputs;
  /// Of the inputs, and of the seeds behind them.
  std::vector<Tensor> tensors;
  /// The outputs that are differentiated.
  std::vector<std::string> names;
};

} // namespace

llvm::Expected<NamedTensors> Differences::runAt(size_t number, int64_t element,
                                                double value) {
  tensors[number].setFromDouble(element, value);
  GLOWISH_RETURN_IF_ERROR(runner->setInput(inputs[number], tensors[number]));
  return runner->run();
}

llvm::Expected<double> Differences::differentiate(size_t number,
                                                  int64_t element) {
  double center = tensors[number].getAsDouble(element);
  double size = step * std::max(1.0, std::abs(center));
  double derivative = 0;
  for (int distance : {1, 2}) {
    double weight = distance == 1 ? 8 : -1;
    GLOWISH_ASSIGN_OR_RETURN(NamedTensors above,
                             runAt(number, element, center + distance * size));
    GLOWISH_ASSIGN_OR_RETURN(NamedTensors below,
                             runAt(number, element, center - distance * size));
    for (auto [seed, name] : llvm::enumerate(names))
      for (int64_t i = 0; i < above.at(name).getNumElements(); ++i)
        derivative +=
            weight * tensors[inputs.size() + seed].getAsDouble(i) *
            (above.at(name).getAsDouble(i) - below.at(name).getAsDouble(i));
  }
  GLOWISH_RETURN_IF_ERROR(runAt(number, element, center).takeError());
  return derivative / (12 * size);
}

llvm::Error Differences::checkInput(size_t number, const Tensor &gradient) {
  double largest = getLargest(gradient);
  for (int64_t i = 0; i < gradient.getNumElements(); ++i) {
    GLOWISH_ASSIGN_OR_RETURN(double expected, differentiate(number, i));
    double actual = gradient.getAsDouble(i);
    double scale =
        std::max({std::abs(expected), std::abs(actual), 1e-2 * largest, 1e-4});
    EXPECT_LE(std::abs(actual - expected), 1e-6 * scale)
        << inputs[number]->getModelName().str() << "[" << i << "]: " << actual
        << ", by differences " << expected;
    if (testing::Test::HasFailure())
      break;
  }
  return llvm::Error::success();
}

llvm::Error Differences::check(const GradientCase &tested, unsigned order) {
  GLOWISH_ASSIGN_OR_RETURN(auto gradientModule,
                           makeGradientModule(tested, order));
  GLOWISH_ASSIGN_OR_RETURN(
      auto gradients,
      Runner::create(createInterpreter(), std::move(gradientModule)));
  GLOWISH_ASSIGN_OR_RETURN(auto module, makeGradientModule(tested, order - 1));
  Differences differences;
  GLOWISH_ASSIGN_OR_RETURN(
      differences.runner,
      Runner::create(createInterpreter(), std::move(module)));
  differences.inputs = differences.runner->getInputs();
  differences.tensors = makeInputs(tested, gradients->getInputs());
  for (auto [input, tensor] :
       llvm::zip_equal(gradients->getInputs(), differences.tensors))
    GLOWISH_RETURN_IF_ERROR(gradients->setInput(input, tensor));
  for (auto [input, tensor] :
       llvm::zip(differences.inputs, differences.tensors))
    GLOWISH_RETURN_IF_ERROR(differences.runner->setInput(input, tensor));
  GLOWISH_ASSIGN_OR_RETURN(NamedTensors results, gradients->run());
  for (const Buffer *input : gradients->getInputs()) {
    llvm::StringRef name = input->getModelName();
    if (name.consume_front(getSeedPrefix(order)))
      differences.names.push_back(name.str());
  }
  unsigned numChecked = 0;
  for (size_t i = 0; i < differences.inputs.size(); ++i) {
    auto gradient = results.find(getGradientPrefix(order) +
                                 differences.inputs[i]->getModelName().str());
    if (gradient == results.end())
      continue;
    GLOWISH_RETURN_IF_ERROR(differences.checkInput(i, gradient->second));
    ++numChecked;
  }
  EXPECT_GT(numChecked, 0u) << "it has no variable";
  return llvm::Error::success();
}

void glowish::checkAgainstDifferences(const GradientCase &tested,
                                      unsigned order) {
  if (llvm::Error error = Differences::check(tested, order))
    ADD_FAILURE() << tested.text << ": " << llvm::toString(std::move(error));
}

//===- Compiled code ------------------------------------------------------===//

/// Expects outputs to agree within \p bound times the largest element of each.
/// One that is small beside the others is a difference of what cancels.
static void compareOutputs(const NamedTensors &expected,
                           const NamedTensors &actual, double bound,
                           const std::string &where) {
  ASSERT_EQ(expected.size(), actual.size());
  double ofAll = 1e-3;
  for (const auto &[name, tensor] : expected)
    ofAll = std::max(ofAll, getLargest(tensor));
  for (const auto &[name, tensor] : expected) {
    const Tensor &other = actual.at(name);
    ASSERT_EQ(tensor.getType(), other.getType()) << name;
    double largest = std::max(getLargest(tensor), 0.1 * ofAll);
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      ASSERT_LE(std::abs(tensor.getAsDouble(i) - other.getAsDouble(i)),
                bound * largest)
          << name << "[" << i << "] is " << other.getAsDouble(i) << ", not "
          << tensor.getAsDouble(i) << ", " << where;
  }
}

static llvm::Expected<NamedTensors> runCompiled(const GradientCase &tested,
                                                llvm::StringRef kind,
                                                const TargetOptions &options) {
  GLOWISH_ASSIGN_OR_RETURN(std::unique_ptr<Backend> backend,
                           CPUBackend::create(options));
  return runOn(std::move(backend), tested, 1, kind);
}

void glowish::checkCompiled(const GradientCase &tested, llvm::StringRef kind,
                            double bound) {
  NamedTensors expected = runGradients(tested, 1, kind);
  // A case is a test of its own, and has no number.
  size_t turn = 2 + size_t(llvm::xxh3_64bits(tested.text + kind.str()) % 1000);
  for (TargetOptions options : getLevelsInTurn(turn)) {
    std::string where = "on '" + options.cpu + "'";
    std::optional<NamedTensors> sequential;
    for (unsigned threads : {1u, 3u}) {
      // Levels differ in their code, not in how work is shared.
      if (threads > 1 && !options.cpu.empty())
        continue;
      options.numThreads = threads;
      auto actual = runCompiled(tested, kind, options);
      ASSERT_TRUE(bool(actual))
          << where << ": " << llvm::toString(actual.takeError());
      if (!sequential) {
        compareOutputs(expected, *actual, bound, where);
        sequential = std::move(*actual);
      } else {
        compareOutputs(*sequential, *actual, /*bound=*/0,
                       where + " with 3 threads");
      }
    }
  }
}
