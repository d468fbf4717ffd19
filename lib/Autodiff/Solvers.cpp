//===- Solvers.cpp - Update rules of trained variables --------------------===//

#include "Solvers.h"

using namespace glowish;

static constexpr std::pair<SolverKind, llvm::StringLiteral> solverNames[] = {
    {SolverKind::SGD, "sgd"},
    {SolverKind::Adam, "adam"},
    {SolverKind::AdamW, "adamw"},
    {SolverKind::RMSProp, "rmsprop"},
    {SolverKind::Adagrad, "adagrad"}};

std::vector<llvm::StringRef> glowish::getSolverNames() {
  std::vector<llvm::StringRef> names;
  for (const auto &[kind, name] : solverNames)
    names.push_back(name);
  return names;
}

std::optional<SolverKind> glowish::parseSolver(llvm::StringRef name) {
  for (const auto &[kind, known] : solverNames)
    if (known == name)
      return kind;
  return std::nullopt;
}

static bool isAdam(const SolverConfig &config) {
  return config.kind == SolverKind::Adam || config.kind == SolverKind::AdamW;
}

Solver::Solver(const SolverConfig &config, NodeBuilder &b, NodeValue rate,
               NodeValue count)
    : config(config), b(b), rate(rate) {
  epsilon = config.epsilon.value_or(config.kind == SolverKind::Adagrad ? 1e-10
                                                                       : 1e-8);
  if (!isAdam(config))
    return;
  // Computed in double: 1 - beta^count cancels in float.
  NodeValue number = b.cast(count, ElemKind::Double);
  auto rest = [&](double beta) { return b.sub(1, b.pow(beta, number)); };
  meanCorrection = b.div(1, rest(config.beta1));
  rootCorrection = b.div(1, b.unary<SqrtNode>(rest(config.beta2)));
}

llvm::ArrayRef<llvm::StringLiteral> Solver::getStateNames() const {
  static constexpr llvm::StringLiteral velocity[] = {"velocity"};
  static constexpr llvm::StringLiteral moments[] = {"mean", "squares"};
  static constexpr llvm::StringLiteral squares[] = {"squares"};
  static constexpr llvm::StringLiteral both[] = {"squares", "velocity"};
  switch (config.kind) {
  case SolverKind::SGD:
    return config.momentum ? llvm::ArrayRef(velocity)
                           : llvm::ArrayRef<llvm::StringLiteral>();
  case SolverKind::Adam:
  case SolverKind::AdamW:
    return moments;
  case SolverKind::RMSProp:
    return config.momentum ? llvm::ArrayRef(both) : llvm::ArrayRef(squares);
  case SolverKind::Adagrad:
    return squares;
  }
  llvm_unreachable("not a solver");
}

NodeValue Solver::takeStep(NodeValue x, NodeValue direction) {
  return b.sub(x, b.mul(direction, b.cast(rate, x.getElemKind())));
}

/// Exponential moving average with weight \p share of the old value.
NodeValue Solver::average(NodeValue old, NodeValue value, double share) {
  return b.add(b.mul(old, share), b.mul(value, 1 - share));
}

Solver::Update Solver::updateSGD(NodeValue x, NodeValue g,
                                 llvm::ArrayRef<NodeValue> states) {
  if (states.empty())
    return {takeStep(x, g), {}};
  NodeValue velocity = b.add(b.mul(states[0], config.momentum), g);
  NodeValue direction =
      config.nesterov ? b.add(g, b.mul(velocity, config.momentum)) : velocity;
  return {takeStep(x, direction), {velocity}};
}

Solver::Update Solver::updateAdam(NodeValue x, NodeValue g,
                                  llvm::ArrayRef<NodeValue> states) {
  NodeValue mean = average(states[0], g, config.beta1);
  NodeValue squares = average(states[1], b.mul(g, g), config.beta2);
  ElemKind kind = x.getElemKind();
  NodeValue root =
      b.mul(b.unary<SqrtNode>(squares), b.cast(rootCorrection, kind));
  NodeValue direction =
      b.div(b.mul(mean, b.cast(meanCorrection, kind)), b.add(root, epsilon));
  if (config.kind == SolverKind::AdamW && config.l2)
    x = b.sub(x, b.mul(x, b.mul(b.cast(rate, kind), config.l2)));
  return {takeStep(x, direction), {mean, squares}};
}

Solver::Update Solver::updateRMSProp(NodeValue x, NodeValue g,
                                     llvm::ArrayRef<NodeValue> states) {
  NodeValue squares = average(states[0], b.mul(g, g), config.decayRate);
  NodeValue direction = b.div(g, b.add(b.unary<SqrtNode>(squares), epsilon));
  if (states.size() == 1)
    return {takeStep(x, direction), {squares}};
  NodeValue velocity = b.add(b.mul(states[1], config.momentum), direction);
  return {takeStep(x, velocity), {squares, velocity}};
}

Solver::Update Solver::updateAdagrad(NodeValue x, NodeValue g,
                                     llvm::ArrayRef<NodeValue> states) {
  NodeValue squares = b.add(states[0], b.mul(g, g));
  NodeValue direction = b.div(g, b.add(b.unary<SqrtNode>(squares), epsilon));
  return {takeStep(x, direction), {squares}};
}

Solver::Update Solver::update(NodeValue x, NodeValue gradient,
                              llvm::ArrayRef<NodeValue> states) {
  if (config.l2 && config.kind != SolverKind::AdamW)
    gradient = b.add(gradient, b.mul(x, config.l2));
  if (config.l1)
    gradient = b.add(gradient, b.mul(b.unary<SignNode>(x), config.l1));
  switch (config.kind) {
  case SolverKind::SGD:
    return updateSGD(x, gradient, states);
  case SolverKind::Adam:
  case SolverKind::AdamW:
    return updateAdam(x, gradient, states);
  case SolverKind::RMSProp:
    return updateRMSProp(x, gradient, states);
  case SolverKind::Adagrad:
    return updateAdagrad(x, gradient, states);
  }
  llvm_unreachable("not a solver");
}
