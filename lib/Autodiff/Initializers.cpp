//===- Initializers.cpp - Weights to begin training with ------------------===//

#include "glowish/Autodiff/Initializers.h"
#include "glowish/Graph/Nodes.h"
#include "glowish/Support/Checksum.h"
#include "glowish/Support/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace glowish;

std::optional<InitializerKind> glowish::parseInitializer(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<InitializerKind>>(name)
      .Case("keep", InitializerKind::Keep)
      .Case("xavier", InitializerKind::Xavier)
      .Case("kaiming", InitializerKind::Kaiming)
      .Default(std::nullopt);
}

namespace {

/// What a variable is to the node that takes it.
struct Role {
  enum Kind { Weight, Bias, Other } kind = Other;
  /// Of a weight.
  int64_t fanIn = 0, fanOut = 0;
};

} // namespace

/// Of the matrix \p value, which the product sums over rows (or, with
/// \p sumsColumns, columns) of.
static Role makeWeight(NodeValue value, bool sumsColumns) {
  DimsRef matrix = value.getShape().take_back(2);
  return {Role::Weight, matrix[sumsColumns], matrix[!sumsColumns]};
}

static Role findDirectRole(Node *user, NodeValue value) {
  if (auto *conv = llvm::dyn_cast<ConvolutionNode>(user)) {
    if (conv->getBias() == value)
      return {Role::Bias};
    if (conv->getFilter() != value)
      return {};
    DimsRef shape = value.getShape();
    int64_t taps = shape[1] * shape[2];
    return {Role::Weight, taps * shape[3], taps * shape[0] / conv->getGroup()};
  }
  if (auto *gemm = llvm::dyn_cast<GemmNode>(user)) {
    if (gemm->getC() == value)
      return {Role::Bias};
    return gemm->getB() == value
               ? makeWeight(value, /*sumsColumns=*/gemm->getTransposeB())
               : makeWeight(value, /*sumsColumns=*/!gemm->getTransposeA());
  }
  if (auto *full = llvm::dyn_cast<FullyConnectedNode>(user)) {
    if (full->getBias() == value)
      return {Role::Bias};
    return makeWeight(value, /*sumsColumns=*/full->getInput() == value);
  }
  if (auto *product = llvm::dyn_cast<MatMulNode>(user))
    return makeWeight(value, /*sumsColumns=*/product->getLhs() == value);
  if (llvm::isa<AddNode>(user))
    return {Role::Bias};
  return {};
}

/// The role of \p value, perhaps after data movement. A weight that some node
/// adds is a weight.
static Role findRole(NodeValue value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 8;
  Role found;
  for (const Use &use : value.node->uses()) {
    Node *user = use.getUser();
    if (user->getOperand(use.getOperandIndex()) != value)
      continue;
    bool isMovement = llvm::isa<TransposeNode, ReshapeNode, SliceNode,
                                ConcatNode, PadNode, BroadcastNode>(user);
    Role role = isMovement && depth < maxDepth
                    ? findRole(NodeValue(user, 0), depth + 1)
                    : findDirectRole(user, value);
    if (role.kind == Role::Weight)
      return role;
    if (role.kind == Role::Bias)
      found = role;
  }
  return found;
}

static Tensor makeWeights(const Type &type, const Role &role,
                          InitializerKind kind, Random random) {
  double limit = std::sqrt(6.0 / double(role.fanIn + role.fanOut));
  double deviation = std::sqrt(2.0 / double(role.fanIn));
  Tensor tensor(type);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setFromDouble(i, kind == InitializerKind::Xavier
                                ? double(random.uniform(-1, 1)) * limit
                                : double(random.normal()) * deviation);
  return tensor;
}

void glowish::initializeVariables(const Module &module, InitializerKind kind,
                                  const TrainingConfig &config,
                                  VariableValues &variables) {
  if (kind == InitializerKind::Keep)
    return;
  for (const auto &placeholder : module.getPlaceholders()) {
    const Type &type = placeholder->getType();
    std::string name = placeholder->getModelName().str();
    if (!variables.count(name) || (config.isTrained && !config.isTrained(name)))
      continue;
    Role role = findRole(placeholder.get());
    if (role.kind == Role::Weight && role.fanIn > 0) {
      uint64_t own = checksum64(llvm::arrayRefFromStringRef(name));
      variables[name] = std::make_shared<const Tensor>(makeWeights(
          type, role, kind, Random(Random(config.seed).next() ^ own)));
    } else if (role.kind == Role::Bias && type.getRank() == 1) {
      variables[name] = std::make_shared<const Tensor>(type);
    }
  }
}
