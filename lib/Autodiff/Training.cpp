//===- Training.cpp - Training steps --------------------------------------===//

#include "DataParallel.h"
#include "Losses.h"
#include "Solvers.h"
#include "TrainingForm.h"
#include "glowish/Support/Error.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

using namespace glowish;

namespace {

class StepMaker {
public:
  StepMaker(Function &function, VariableValues &variables,
            const TrainingConfig &config)
      : module(function.getModule()), variables(variables), config(config),
        function(*function.clone("train")), b(this->function, "train") {}
  llvm::Expected<TrainingStep> make();

private:
  llvm::Error makeLabelAndLoss();
  std::vector<Placeholder *> findTrained();
  Placeholder *addVariable(llvm::StringRef name, const Type &type);
  void save(NodeValue value, Placeholder *target) {
    function.create<SaveNode>(target->getName(), value, NodeValue(target));
  }
  /// Of the solver, which is not in the part that computes gradients.
  void saveUpdated(NodeValue value, Placeholder *target);
  llvm::Expected<std::vector<NodeValue>>
  makeGradients(llvm::ArrayRef<Placeholder *> trained);
  std::vector<NodeValue>
  exchangeGradients(llvm::ArrayRef<NodeValue> gradients,
                    llvm::ArrayRef<Placeholder *> trained);
  void keepUpdates();
  void clip(std::vector<NodeValue> &gradients);
  void update(llvm::ArrayRef<Placeholder *> trained,
              llvm::ArrayRef<NodeValue> gradients);

  Module &module;
  VariableValues &variables;
  const TrainingConfig &config;
  Function &function;
  NodeBuilder b;
  TrainingStep step;
  Placeholder *learningRate = nullptr;
  /// The scalar that is differentiated.
  NodeValue loss;
  /// The number of the step, from 1.
  NodeValue count;
  /// What the solver saves.
  std::vector<Node *> updates;
};

} // namespace

/// Returns the Save to the output that the loss compares.
static llvm::Expected<SaveNode *> findPrediction(Function &function,
                                                 const TrainingConfig &config) {
  for (const auto &placeholder : function.getModule().getPlaceholders()) {
    llvm::StringRef name = placeholder->getModelName();
    bool isSelected =
        config.output.empty() ? !placeholder->isInput() : name == config.output;
    if (!isSelected || !placeholder->isOutput())
      continue;
    for (const Use &use : placeholder->uses())
      if (auto *save = llvm::dyn_cast<SaveNode>(use.getUser()))
        if (save->getParent() == &function)
          return save;
  }
  if (config.output.empty())
    return makeError("the model computes no output that a loss could use");
  return makeError("the model computes no output '{0}'", config.output);
}

/// Returns the value that the loss compares: the logits if \p output is their
/// softmax or sigmoid and the loss contains it.
static NodeValue findCompared(SaveNode *output, LossKind kind) {
  NodeValue value = output->getInput();
  if (auto *softmax = llvm::dyn_cast<SoftmaxNode>(value.node))
    if (kind == LossKind::SoftmaxCrossEntropy &&
        softmax->getAxis() == int64_t(value.getShape().size()) - 1)
      return softmax->getInput();
  if (auto *sigmoid = llvm::dyn_cast<SigmoidNode>(value.node))
    if (kind == LossKind::BinaryCrossEntropy)
      return sigmoid->getOperand(0);
  return value;
}

/// Returns the model's name of the output that \p output saves to.
static llvm::StringRef getOutputName(SaveNode &output) {
  return llvm::cast<Placeholder>(output.getOutput().node)->getModelName();
}

/// Checks that \p names are free in \p module.
static llvm::Error checkNames(const Module &module,
                              llvm::ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (module.findPlaceholder(name))
      return makeError(
          "the model has an input, output or weight '{0}' already; "
          "«label=NAME» states another name for the label",
          name);
  return llvm::Error::success();
}

/// Creates the input for the labels of \p prediction, which \p output saves.
static llvm::Expected<Placeholder *> makeLabel(SaveNode &output,
                                               NodeValue prediction,
                                               const TrainingConfig &config) {
  Module &module = output.getParent()->getModule();
  GLOWISH_ASSIGN_OR_RETURN(
      Type type, addContext(getLabelType(prediction.getType(), config),
                            "the output '" + getOutputName(output) + "': "));
  GLOWISH_RETURN_IF_ERROR(checkNames(module, config.label));
  return module.createPlaceholder(config.label, type, /*isInput=*/true,
                                  /*isOutput=*/false);
}

namespace {

/// The losses of a function, and the output that the first one compares.
struct Losses {
  std::vector<LossNode *> nodes;
  std::string output;
};

} // namespace

/// Adds a Loss node that compares the output of \p config with a label.
static llvm::Expected<Losses> addLoss(Function &function,
                                      const TrainingConfig &config) {
  GLOWISH_ASSIGN_OR_RETURN(SaveNode *output, findPrediction(function, config));
  NodeValue prediction = findCompared(output, config.loss);
  GLOWISH_ASSIGN_OR_RETURN(Placeholder *label,
                           makeLabel(*output, prediction, config));
  std::string name = getOutputName(*output).str();
  GLOWISH_ASSIGN_OR_RETURN(
      LossNode *node, function.tryCreate<LossNode>(
                          name + ".loss", prediction, label,
                          getLossName(config.loss).str(), config.huberDelta));
  return Losses{{node}, name};
}

/// Returns an error if a body inside \p node has a Loss.
static llvm::Error checkBodies(const Node &node) {
  for (const Function *body : getBodies(node))
    for (const Node &inner : body->getNodes()) {
      if (llvm::isa<LossNode>(inner))
        return makeError("Loss '{0}': it is in a body of '{1}'; accepted: in "
                         "the function that is trained",
                         inner.getName(), node.getName());
      GLOWISH_RETURN_IF_ERROR(checkBodies(inner));
    }
  return llvm::Error::success();
}

/// Checks the Loss nodes of \p function.
static llvm::Error checkLosses(const Function &function) {
  for (const Node &node : function.getNodes()) {
    GLOWISH_RETURN_IF_ERROR(checkBodies(node));
    if (llvm::isa<LossNode>(node) && node.getType().getNumElements() == 0)
      return makeError("Loss '{0}': its input is {1}; accepted: at least one "
                       "element",
                       node.getName(), node.getType().str());
  }
  return llvm::Error::success();
}

/// Returns the Loss nodes of \p function. If there are none, adds one.
static llvm::Expected<Losses> findLosses(Function &function,
                                         const TrainingConfig &config) {
  GLOWISH_RETURN_IF_ERROR(
      checkNames(function.getModule(),
                 {config.lossName, config.rateName, config.gradientsName}));
  Losses losses;
  for (Node &node : function.getNodes())
    if (auto *loss = llvm::dyn_cast<LossNode>(&node))
      losses.nodes.push_back(loss);
  if (losses.nodes.empty())
    return addLoss(function, config);
  for (const Use &use : losses.nodes.front()->uses())
    if (auto *save = llvm::dyn_cast<SaveNode>(use.getUser()))
      losses.output = getOutputName(*save).str();
  return losses;
}

/// Sums what \p make builds of each of \p losses, in the kind of the first, and
/// leaves their inputs in place of the nodes.
static llvm::Expected<NodeValue>
sumLosses(NodeBuilder &b, const Losses &losses,
          NodeValue (*make)(NodeBuilder &b, const LossNode &node)) {
  NodeValue sum;
  for (LossNode *node : losses.nodes) {
    NodeValue own = make(b, *node);
    GLOWISH_RETURN_IF_ERROR(b.takeError());
    if (sum && sum.getShape() != own.getShape())
      return makeError("Loss '{0}': its samples are {1}, and those of '{2}' "
                       "{3}; accepted: as many",
                       node->getName(), formatShape(own.getShape()),
                       losses.nodes.front()->getName(),
                       formatShape(sum.getShape()));
    sum = sum ? b.add(sum, b.cast(own, sum.getElemKind())) : own;
  }
  for (LossNode *node : losses.nodes) {
    node->getResult().replaceAllUsesWith(node->getInput());
    b.getFunction().erase(node);
  }
  return b.finish(sum);
}

llvm::Error StepMaker::makeLabelAndLoss() {
  GLOWISH_ASSIGN_OR_RETURN(Losses losses, findLosses(function, config));
  step.output = losses.output;
  learningRate = module.createPlaceholder(
      config.rateName, Type(ElemKind::Float, Dims()), true, false);
  b.setName(config.lossName);
  GLOWISH_ASSIGN_OR_RETURN(loss, sumLosses(b, losses, makeLoss));
  Placeholder *lossOutput =
      module.createPlaceholder(config.lossName, loss.getType(),
                               /*isInput=*/false, /*isOutput=*/true);
  save(average(b, loss, config.processes), lossOutput);
  return llvm::Error::success();
}

/// Returns the variables to train, which the loss depends on. Running
/// statistics are not among them, as batch statistics have replaced them.
std::vector<Placeholder *> StepMaker::findTrained() {
  llvm::DenseSet<Node *> reached = {loss.node};
  std::vector<Node *> pending = {loss.node};
  while (!pending.empty()) {
    Node *node = pending.back();
    pending.pop_back();
    for (NodeValue operand : node->getOperands())
      if (operand && reached.insert(operand.node).second)
        pending.push_back(operand.node);
  }
  std::vector<Placeholder *> trained;
  for (const auto &placeholder : module.getPlaceholders()) {
    std::string name = placeholder->getModelName().str();
    if (reached.contains(placeholder.get()) && variables.count(name) &&
        placeholder->getType().getNumElements() &&
        isFloatKind(placeholder->getType().getKind()) &&
        (!config.isTrained || config.isTrained(name)))
      trained.push_back(placeholder.get());
  }
  return trained;
}

Placeholder *StepMaker::addVariable(llvm::StringRef name, const Type &type) {
  Placeholder *placeholder =
      module.createPlaceholder(name, type, /*isInput=*/true, /*isOutput=*/true);
  Tensor zeros(type);
  for (int64_t i = 0; i < zeros.getNumElements(); ++i)
    zeros.setFromDouble(i, 0);
  variables[placeholder->getModelName().str()] =
      std::make_shared<const Tensor>(std::move(zeros));
  return placeholder;
}

/// Clips by the global norm: scales all gradients by the same factor, at most
/// 1.
void StepMaker::clip(std::vector<NodeValue> &gradients) {
  if (!config.clipNorm)
    return;
  NodeValue squares;
  for (NodeValue gradient : gradients) {
    auto axes =
        llvm::to_vector(llvm::seq<int64_t>(gradient.getType().getRank()));
    NodeValue sum = b.cast(
        b.reduce(b.mul(gradient, gradient), "sum", axes, /*keepDims=*/false),
        ElemKind::Float);
    squares = squares ? b.add(squares, sum) : sum;
  }
  NodeValue norm = b.unary<SqrtNode>(squares);
  // The epsilon avoids a division by zero.
  NodeValue factor = b.min(b.div(config.clipNorm, b.add(norm, 1e-6)), 1.0);
  for (NodeValue &gradient : gradients)
    gradient = b.mul(gradient, b.cast(factor, gradient.getElemKind()));
}

void StepMaker::update(llvm::ArrayRef<Placeholder *> trained,
                       llvm::ArrayRef<NodeValue> gradients) {
  Solver solver(config.solver, b, learningRate, count);
  for (auto [placeholder, gradient] : llvm::zip_equal(trained, gradients)) {
    std::string name = placeholder->getModelName().str();
    b.setName(name);
    step.trained.push_back(name);
    if (config.outputGradients)
      save(gradient, module.createPlaceholder(name + ".gradient",
                                              gradient.getType(), false, true));
    std::vector<Placeholder *> states;
    std::vector<NodeValue> old;
    for (llvm::StringRef state : solver.getStateNames()) {
      states.push_back(
          addVariable((name + "." + state).str(), placeholder->getType()));
      old.push_back(states.back());
    }
    if (config.part == StepPart::Gradients)
      continue;
    Solver::Update next = solver.update(placeholder, gradient, old);
    if (b.hasFailed())
      return;
    saveUpdated(next.x, placeholder);
    for (auto [state, value] : llvm::zip_equal(states, next.states))
      saveUpdated(value, state);
  }
}

void StepMaker::saveUpdated(NodeValue value, Placeholder *target) {
  if (config.part != StepPart::Gradients)
    updates.push_back(
        function.create<SaveNode>(target->getName(), value, NodeValue(target)));
}

/// Leaves out what the step computes and saves beside the updates.
void StepMaker::keepUpdates() {
  for (auto it = function.getNodes().begin();
       it != function.getNodes().end();) {
    Node &node = *it++;
    if (llvm::isa<SaveNode>(node) && !llvm::is_contained(updates, &node))
      function.erase(&node);
  }
}

/// Saves \p gradients for another part, or takes those of \p trained that
/// another one has saved.
std::vector<NodeValue>
StepMaker::exchangeGradients(llvm::ArrayRef<NodeValue> gradients,
                             llvm::ArrayRef<Placeholder *> trained) {
  bool areDouble = llvm::all_of(trained, [](const Placeholder *placeholder) {
    return placeholder->getType().getKind() == ElemKind::Double;
  });
  ElemKind kind = areDouble ? ElemKind::Double : ElemKind::Float;
  int64_t size = 0;
  for (const Placeholder *placeholder : trained) {
    step.gradientStarts.push_back(size);
    size += placeholder->getType().getNumElements();
  }
  Placeholder *all =
      module.createPlaceholder(config.gradientsName, Type(kind, {size}),
                               /*isInput=*/true, /*isOutput=*/true);
  std::vector<NodeValue> taken, parts;
  for (auto [placeholder, start] :
       llvm::zip_equal(trained, step.gradientStarts)) {
    const Type &type = placeholder->getType();
    NodeValue part = b.slice(all, 0, start, type.getNumElements());
    taken.push_back(b.cast(b.reshape(part, type.getShape()), type.getKind()));
  }
  if (config.part == StepPart::Update)
    return taken;
  for (NodeValue gradient : gradients)
    parts.push_back(b.reshape(b.cast(gradient, kind),
                              {gradient.getType().getNumElements()}));
  if (NodeValue whole = b.concat(parts, 0))
    save(whole, all);
  return gradients.vec();
}

/// The gradients of \p trained, averaged over the processes.
llvm::Expected<std::vector<NodeValue>>
StepMaker::makeGradients(llvm::ArrayRef<Placeholder *> trained) {
  std::vector<NodeValue> gradients;
  b.setName(config.gradientsName);
  if (config.part != StepPart::Update) {
    std::vector<NodeValue> values(trained.begin(), trained.end());
    NodeValue one = b.scalar(loss.getElemKind(), 1);
    GLOWISH_ASSIGN_OR_RETURN(gradients,
                             addGradients(function, {{loss, one}}, values));
    averageGradients(b, gradients, config.processes);
  }
  return config.part == StepPart::Whole ? gradients
                                        : exchangeGradients(gradients, trained);
}

llvm::Expected<TrainingStep> StepMaker::make() {
  step.function = &function;
  Placeholder *counter =
      addVariable("training.steps", Type(ElemKind::Int64, Dims()));
  {
    InsertionGuard guard(function, function.getNodes().empty()
                                       ? nullptr
                                       : &function.getNodes().front());
    count = b.add(counter, 1);
  }
  saveUpdated(count, counter);
  GLOWISH_RETURN_IF_ERROR(makeTrainingForm(function, count, config));
  GLOWISH_RETURN_IF_ERROR(makeLabelAndLoss());
  std::vector<Placeholder *> trained = findTrained();
  if (trained.empty())
    return makeError("nothing can be trained: the loss depends on no trainable "
                     "initializer of a float kind");
  GLOWISH_ASSIGN_OR_RETURN(std::vector<NodeValue> gradients,
                           makeGradients(trained));
  clip(gradients);
  update(trained, gradients);
  if (config.part == StepPart::Update)
    keepUpdates();
  GLOWISH_RETURN_IF_ERROR(b.takeError());
  return step;
}

llvm::Expected<TrainingStep>
glowish::makeTrainingStep(Function &function, VariableValues &variables,
                          const TrainingConfig &config) {
  // Before nodes of a copy have other names.
  GLOWISH_RETURN_IF_ERROR(checkLosses(function));
  return StepMaker(function, variables, config).make();
}

llvm::Error glowish::addSampleLosses(Function &function,
                                     const TrainingConfig &config) {
  Module &module = function.getModule();
  GLOWISH_RETURN_IF_ERROR(checkLosses(function));
  GLOWISH_ASSIGN_OR_RETURN(Losses nodes, findLosses(function, config));
  for (LossNode *node : nodes.nodes)
    if (const Type &type = node->getExpected().getType();
        type.getShape().empty())
      return makeError("the label is {0}; accepted: rank 1 or more, the "
                       "samples first",
                       type.str());
  NodeBuilder b(function, config.lossName);
  GLOWISH_ASSIGN_OR_RETURN(NodeValue losses,
                           sumLosses(b, nodes, makeSampleLosses));
  Placeholder *result =
      module.createPlaceholder(config.lossName, losses.getType(),
                               /*isInput=*/false, /*isOutput=*/true);
  function.create<SaveNode>(config.lossName, losses, NodeValue(result));
  return llvm::Error::success();
}
