//===- AtenElementWise.cpp - Element-wise operators as ATen's -------------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

//===- One operand --------------------------------------------------------===//

/// An operator of ONNX, and that of ATen which computes the same where no
/// attribute is stated.
struct Renamed {
  llvm::StringLiteral op, name;
  /// Whether its second operand may be a number.
  bool takesNumbers = false;
};

static constexpr Renamed unaryOperators[] = {{"Abs", "abs"},
                                             {"Acos", "acos"},
                                             {"Acosh", "acosh"},
                                             {"Asin", "asin"},
                                             {"Asinh", "asinh"},
                                             {"Atan", "atan"},
                                             {"Atanh", "atanh"},
                                             {"BitwiseNot", "bitwise_not"},
                                             {"Ceil", "ceil"},
                                             {"Celu", "celu"},
                                             {"Cos", "cos"},
                                             {"Cosh", "cosh"},
                                             {"Elu", "elu"},
                                             {"Erf", "erf"},
                                             {"Exp", "exp"},
                                             {"Floor", "floor"},
                                             {"HardSwish", "hardswish"},
                                             {"Identity", "clone"},
                                             {"IsInf", "isinf"},
                                             {"IsNaN", "isnan"},
                                             {"LeakyRelu", "leaky_relu"},
                                             {"Log", "log"},
                                             {"Mish", "mish"},
                                             {"Neg", "neg"},
                                             {"Not", "logical_not"},
                                             {"Reciprocal", "reciprocal"},
                                             {"Relu", "relu"},
                                             {"Round", "round"},
                                             {"Selu", "selu"},
                                             {"Shrink", "hardshrink"},
                                             {"Sigmoid", "sigmoid"},
                                             {"Sign", "sign"},
                                             {"Sin", "sin"},
                                             {"Sinh", "sinh"},
                                             {"Softplus", "softplus"},
                                             {"Sqrt", "sqrt"},
                                             {"Tan", "tan"},
                                             {"Tanh", "tanh"}};

static llvm::StringRef findName(llvm::ArrayRef<Renamed> operators,
                                llvm::StringRef op) {
  return llvm::find_if(operators,
                       [&](const Renamed &own) { return own.op == op; })
      ->name;
}

static bool translateUnary(AtenBuilder &b, const FormNode &node) {
  // No generator states these, and their defaults are PyTorch's.
  if (node.proto.attribute_size() != 0)
    return false;
  AtenArg x = b.getInput(node, 0);
  ElemKind kind = node.getType(0).getKind();
  llvm::StringRef op = node.getOp();
  bool isFloatAlone = op == "Shrink" || op == "Mish" || op == "Softplus";
  if (isFloatAlone && !isFloatKind(kind))
    return false;
  // The sign of NaN is 0 in PyTorch, and NaN in ONNX.
  if (op == "Sign" && isFloatKind(kind))
    return false;
  llvm::StringRef name = findName(unaryOperators, op);
  static constexpr llvm::StringLiteral inPlace[] = {
      "abs", "neg", "relu", "sigmoid", "tanh", "exp", "sqrt", "floor", "sin"};
  if (b.isScript() && llvm::is_contained(inPlace, name) && b.chance(node, 40)) {
    AtenArg copy = b.callUnary("clone", x);
    b.write((name + "_").str(), {copy});
    b.finish(node, "alias", {copy});
    return true;
  }
  b.finish(node, name, {x});
  // The other branch would have x.
  if (b.isScript() && kind == node.getOutputType().getKind() &&
      b.chance(node, 30, 2))
    b.enclose(node);
  return true;
}

static bool translateGelu(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0);
  // libtorch 1.13 has no other one.
  if (b.isScript()) {
    b.finish(node, "gelu", {x});
    return node.getString("approximate", "none") == "none";
  }
  b.finish(node, "gelu", {x},
           {{"approximate", node.getString("approximate", "none").c_str()}});
  return true;
}

static bool translateHardSigmoid(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0);
  AtenArg scaled =
      b.callUnary("mul.Scalar", x, {node.getFloat("alpha", double(0.2f))});
  AtenArg moved =
      b.callUnary("add.Scalar", scaled, {node.getFloat("beta", 0.5)});
  b.finish(node, "clamp", {moved, 0.0, 1.0});
  return true;
}

static bool translateSoftsign(AtenBuilder &b, const FormNode &node) {
  if (!isFloatKind(node.getType(0).getKind()))
    return false;
  AtenArg x = b.getInput(node, 0);
  AtenArg divisor =
      b.callUnary("add.Scalar", b.callUnary("abs", x), {int64_t(1)});
  b.finish(node, "div.Tensor", {x, divisor});
  return true;
}

static bool translateThreshold(AtenBuilder &b, const FormNode &node) {
  b.finish(node, "threshold",
           {b.getInput(node, 0), node.getFloat("alpha", 1.0), 0.0});
  return true;
}

static bool translateClip(AtenBuilder &b, const FormNode &node) {
  AtenArg::List arguments = {b.getInput(node, 0)};
  for (unsigned i : {1u, 2u}) {
    if (!node.hasInput(i)) {
      arguments.emplace_back();
      continue;
    }
    std::optional<AtenArg> bound = b.findScalar(node, i);
    if (!bound)
      return false;
    arguments.push_back(*bound);
  }
  b.finish(node, "clamp", std::move(arguments));
  return true;
}

static bool translateCast(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0);
  ElemKind kind = node.getOutputType().getKind();
  if (b.isScript() || b.chance(node, 30))
    b.finish(node, "to.dtype", {x, kind, false, false});
  else
    b.finish(node, "_to_copy", {x}, {{"dtype", kind}});
  return true;
}

//===- Several operands ---------------------------------------------------===//

static constexpr Renamed binaryOperators[] = {
    {"Add", "add", true},
    {"Sub", "sub", true},
    {"Mul", "mul", true},
    {"Div", "div", true},
    {"Mod", "remainder", true},
    {"Pow", "pow"},
    {"Equal", "eq", true},
    {"Greater", "gt", true},
    {"GreaterOrEqual", "ge", true},
    {"Less", "lt", true},
    {"LessOrEqual", "le", true},
    {"Max", "maximum"},
    {"Min", "minimum"},
    {"And", "logical_and"},
    {"Or", "logical_or"},
    {"Xor", "logical_xor"},
    {"BitwiseAnd", "bitwise_and", true},
    {"BitwiseOr", "bitwise_or", true},
    {"BitwiseXor", "bitwise_xor", true}};

static bool translateBinary(AtenBuilder &b, const FormNode &node) {
  if (node.getNumInputs() != 2)
    return false;
  AtenArg x = b.getInput(node, 0);
  ElemKind kind = node.getType(0).getKind();
  llvm::StringRef op = node.getOp();
  if (op == "Pow") {
    if (node.getType(1).getKind() != kind)
      return false;
    b.finish(node, "pow.Tensor_Tensor", {x, b.getInput(node, 1)});
    return true;
  }
  if (op == "Div" && !isFloatKind(kind)) {
    b.finish(node, "div.Tensor_mode", {x, b.getInput(node, 1)},
             {{"rounding_mode", "trunc"}});
    return true;
  }
  // PyTorch subtracts no bools, and adds them as ints.
  if (kind == ElemKind::Bool && (op == "Sub" || op == "Add" || op == "Mul"))
    return false;
  if (op == "Mod" && isFloatKind(kind) != (node.getInt("fmod", 0) != 0))
    return false;
  const Renamed &own = *llvm::find_if(
      binaryOperators, [&](const Renamed &each) { return each.op == op; });
  llvm::StringRef name = own.name;
  if (op == "Mod" && isFloatKind(kind))
    name = "fmod";
  std::optional<AtenArg> number = b.findScalar(node, 1);
  // An int that runs decide.
  if (!number && kind == ElemKind::Int64 && node.getRank(1) == 0)
    if (auto known = b.findInts(node.getInput(1)))
      number = b.makeNumber(known->front());
  if (number && own.takesNumbers && kind != ElemKind::Bool &&
      b.chance(node, 60)) {
    b.finish(node, (name + ".Scalar").str(), {x, *number});
    return true;
  }
  bool isPlain =
      name.starts_with("logical") || name == "maximum" || name == "minimum";
  AtenArg y = b.getInput(node, 1);
  // A copy of the larger one is changed.
  bool mayWrite = (name == "add" || name == "sub" || name == "mul") &&
                  b.getType(x).dims == node.getOutputType().getLengths();
  if (b.isScript() && mayWrite && b.chance(node, 30, 1)) {
    AtenArg copy = b.callUnary("clone", x);
    b.write((name + "_.Tensor").str(), {copy, y});
    b.finish(node, "alias", {copy});
    return true;
  }
  b.finish(node, (name + (isPlain ? "" : ".Tensor")).str(), {x, y});
  return true;
}

static bool translateWhere(AtenBuilder &b, const FormNode &node) {
  AtenArg condition = b.getInput(node, 0), x = b.getInput(node, 1);
  std::optional<AtenArg> number = b.findScalar(node, 2);
  if (!number || !isFloatKind(node.getType(2).getKind()) ||
      !b.chance(node, 60)) {
    b.finish(node, "where.self", {condition, x, b.getInput(node, 2)});
    return true;
  }
  // What is filled has the shape of the result.
  if (b.getType(x).dims == node.getOutputType().getLengths() &&
      b.chance(node, 60, 1)) {
    AtenArg others = b.callUnary("logical_not", condition);
    b.finish(node, "masked_fill.Scalar", {x, others, *number});
    return true;
  }
  b.finish(node, "where.self", {condition, x, b.getInput(node, 2)});
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenElementWise() {
  static const std::vector<AtenTranslation> translations = [] {
    std::vector<AtenTranslation> all = {{"Gelu", translateGelu},
                                        {"HardSigmoid", translateHardSigmoid},
                                        {"Softsign", translateSoftsign},
                                        {"ThresholdedRelu", translateThreshold},
                                        {"Clip", translateClip},
                                        {"Cast", translateCast},
                                        {"Where", translateWhere}};
    for (const Renamed &own : unaryOperators)
      all.push_back({own.op, translateUnary});
    for (const Renamed &own : binaryOperators)
      all.push_back({own.op, translateBinary});
    return all;
  }();
  return translations;
}
