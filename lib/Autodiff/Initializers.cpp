//===- Initializers.cpp - Initialization of trainable weights -------------===//

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

/// How a node uses a variable.
struct Role {
  enum Kind { Weight, Bias, Other } kind = Other;
  /// Of weights only.
  int64_t fanIn = 0, fanOut = 0;
};

} // namespace

/// Returns the role of the matmul operand \p value, which is contracted along
/// its rows, or along its columns if \p sumsColumns.
static Role makeWeight(NodeValue value, bool sumsColumns) {
  DimsRef matrix = value.getShape().take_back(2);
  return {Role::Weight, matrix[sumsColumns], matrix[!sumsColumns]};
}

//===- Functions of nodes -------------------------------------------------===//
//
// getVariableRoleNAME for the nodes whose record has HasVariableRoles.

#define VARIABLE_ROLES(NAME)                                                   \
  static Role getVariableRole##NAME(NAME##Node &node, NodeValue value);
#define GET_VARIABLE_ROLES_LIST
#include "glowish/Graph/NodeFunctions.inc"

static Role getVariableRoleConvolution(ConvolutionNode &node, NodeValue value) {
  if (node.getBias() == value)
    return {Role::Bias};
  if (node.getFilter() != value)
    return {};
  DimsRef shape = value.getShape();
  int64_t taps = shape[1] * shape[2];
  return {Role::Weight, taps * shape[3], taps * shape[0] / node.getGroup()};
}

static Role getVariableRoleFullyConnected(FullyConnectedNode &node,
                                          NodeValue value) {
  if (node.getBias() == value)
    return {Role::Bias};
  return makeWeight(value, /*sumsColumns=*/node.getInput() == value);
}

static Role getVariableRoleMatMul(MatMulNode &node, NodeValue value) {
  return makeWeight(value, /*sumsColumns=*/node.getLhs() == value);
}

static Role getVariableRoleAdd(AddNode &, NodeValue) { return {Role::Bias}; }

/// Returns the role of \p value, an operand of \p user.
static Role findDirectRole(Node *user, NodeValue value) {
  switch (user->getKind()) {
#define VARIABLE_ROLES(NAME)                                                   \
  case NodeKind::NAME:                                                         \
    return getVariableRole##NAME(llvm::cast<NAME##Node>(*user), value);
#define GET_VARIABLE_ROLES_LIST
#include "glowish/Graph/NodeFunctions.inc"
  default:
    return {};
  }
}

/// Whether \p node multiplies a value by a number.
static bool isScaling(const Node &node) {
  auto *mul = llvm::dyn_cast<MulNode>(&node);
  auto *factor = mul ? mul->getY().getNodeAs<Constant>() : nullptr;
  return factor && factor->getType().getNumElements() == 1;
}

/// Returns the role of \p value, directly or through data movement; a bias
/// times a number is one, as that of a gemm. Use as a weight takes precedence
/// over use as a bias.
static Role findRole(NodeValue value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 8;
  Role found;
  for (const Use &use : value.node->uses()) {
    Node *user = use.getUser();
    if (user->getOperand(use.getOperandIndex()) != value)
      continue;
    bool isMovement = user->getInfo().has(OpTrait::StaticDataMovement);
    bool scales = isScaling(*user);
    Role role = (isMovement || scales) && depth < maxDepth
                    ? findRole(NodeValue(user, 0), depth + 1)
                    : findDirectRole(user, value);
    if (role.kind == Role::Weight && !scales)
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
