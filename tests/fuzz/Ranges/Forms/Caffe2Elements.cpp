//===- Caffe2Elements.cpp - Element-wise operators as Caffe2's ------------===//

#include "Caffe2Net.h"
#include "glowish/Support/Error.h"

using namespace glowish;
using namespace glowish::fuzz;

/// The operators that have the same inputs and no arguments.
static const std::map<llvm::StringRef, llvm::StringRef> &getSameOperators() {
  static const std::map<llvm::StringRef, llvm::StringRef> same = {
      {"Abs", "Abs"},         {"Neg", "Negative"},
      {"Sign", "Sign"},       {"Exp", "Exp"},
      {"Log", "Log"},         {"Sqrt", "Sqrt"},
      {"Ceil", "Ceil"},       {"Floor", "Floor"},
      {"Relu", "Relu"},       {"Tanh", "Tanh"},
      {"Sigmoid", "Sigmoid"}, {"Not", "Not"},
      {"Identity", "Copy"},   {"Softplus", "Softplus"},
      {"Sub", "Sub"},         {"Div", "Div"},
      {"Pow", "Pow"},         {"Equal", "EQ"},
      {"Less", "LT"},         {"LessOrEqual", "LE"},
      {"Greater", "GT"},      {"GreaterOrEqual", "GE"},
      {"And", "And"},         {"Or", "Or"},
      {"Xor", "Xor"},         {"Max", "Max"},
      {"Min", "Min"},         {"Reciprocal", "Reciprocal"}};
  return same;
}

static llvm::Error writeSame(NetWriter &w, const FormNode &n) {
  w.add(getSameOperators().at(n.getOp()),
        {n.proto.input().begin(), n.proto.input().end()}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeAdd(NetWriter &w, const FormNode &n) {
  w.add(n.takesOther() ? "Sum" : "Add", {n.getInput(0), n.getInput(1)},
        {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeMul(NetWriter &w, const FormNode &n) {
  if (n.getInput(0) == n.getInput(1))
    w.add("Sqr", {n.getInput(0)}, {n.getOutput()});
  else
    w.add("Mul", {n.getInput(0), n.getInput(1)}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeGelu(NetWriter &w, const FormNode &n) {
  w.add("Gelu", {n.getInput(0)}, {n.getOutput()})
      .addInt("fast_gelu", n.getString("approximate", "none") == "tanh");
  return llvm::Error::success();
}

static llvm::Error writeIsNaN(NetWriter &w, const FormNode &n) {
  w.add("NE", {n.getInput(0), n.getInput(0)}, {n.getOutput()});
  return llvm::Error::success();
}

/// x * tanh(softplus(x)).
static llvm::Error writeMish(NetWriter &w, const FormNode &n) {
  std::string rate = w.add("Tanh", {w.add("Softplus", {n.getInput(0)})});
  w.add("Mul", {n.getInput(0), rate}, {n.getOutput()});
  return llvm::Error::success();
}

/// x / (1 + |x|).
static llvm::Error writeSoftsign(NetWriter &w, const FormNode &n) {
  Tensor one(Type(n.getType(0).getKind(), {}));
  one.setFromDouble(0, 1);
  std::string size = w.add("Abs", {n.getInput(0)}), number = w.makeName();
  w.addConstant(number, one);
  w.add("Div", {n.getInput(0), w.add("Add", {size, number})}, {n.getOutput()});
  return llvm::Error::success();
}

static llvm::Error writeClip(NetWriter &w, const FormNode &n) {
  std::optional<double> bounds[2];
  for (unsigned i : {0u, 1u}) {
    if (!n.hasInput(i + 1))
      continue;
    const Tensor *bound = n.findConstant(i + 1);
    if (!bound)
      return n.refuse("its bounds are not known");
    bounds[i] = bound->getAsDouble(0);
    if (double(float(*bounds[i])) != *bounds[i])
      return n.refuse("its bounds are no floats");
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  w.add("Clip", {n.getInput(0)}, {n.getOutput()})
      .addFloat("min", bounds[0].value_or(-infinity))
      .addFloat("max", bounds[1].value_or(infinity));
  return llvm::Error::success();
}

static llvm::Error writeCast(NetWriter &w, const FormNode &n) {
  llvm::StringRef to = getKindName(n.getOutputType().getKind());
  if (to.empty())
    return n.refuse("there is no such kind");
  ElemKind from = n.getType(0).getKind();
  if (from == ElemKind::Float && to == "FLOAT16")
    w.add("FloatToHalf", {n.getInput(0)}, {n.getOutput()});
  else if (from == ElemKind::Float16 && to == "FLOAT")
    w.add("HalfToFloat", {n.getInput(0)}, {n.getOutput()});
  else
    w.add("Cast", {n.getInput(0)}, {n.getOutput()}).addString("to", to);
  return llvm::Error::success();
}

/// x - x / y * y has the sign of x; the sum of that and y is treated alike.
static llvm::Error writeMod(NetWriter &w, const FormNode &n) {
  ElemKind kind = n.getType(0).getKind();
  if (!isSignedIntegerKind(kind) || n.getInt("fmod", 0))
    return n.refuse("only a remainder of signed integers");
  std::string y = n.getInput(1);
  const Tensor *divisor = n.findConstant(1);
  if (divisor && divisor->getNumElements() == 1 && divisor->getAsInt(0) != 0 &&
      std::abs(divisor->getAsInt(0)) < INT32_MAX && n.getRank(1) == 0) {
    w.add("Mod", {n.getInput(0)}, {n.getOutput()})
        .addInt("divisor", divisor->getAsInt(0))
        .addInt("sign_follow_divisor", 1);
    return llvm::Error::success();
  }
  auto takeRest = [&](const std::string &x) {
    return std::vector{x, w.add("Mul", {w.add("Div", {x, y}), y})};
  };
  std::string rest = w.add("Sub", takeRest(n.getInput(0)));
  w.add("Sub", takeRest(w.add("Add", {rest, y})), {n.getOutput()});
  return llvm::Error::success();
}

/// A slope for each element, or one.
static llvm::Error writePRelu(NetWriter &w, const FormNode &n) {
  const Type &slope = n.getType(1);
  if (slope.getNumElements() != 1 || slope.hasExtents())
    return n.refuse("only one slope");
  w.add("PRelu", {n.getInput(0), n.getInput(1)}, {n.getOutput()});
  return llvm::Error::success();
}

NetWriter::NodeWriter fuzz::findCaffe2ElementWriter(llvm::StringRef op) {
  static const std::map<llvm::StringRef, NetWriter::NodeWriter> writers = {
      {"Add", writeAdd},     {"Mul", writeMul},   {"Gelu", writeGelu},
      {"IsNaN", writeIsNaN}, {"Mish", writeMish}, {"Softsign", writeSoftsign},
      {"Clip", writeClip},   {"Cast", writeCast}, {"Mod", writeMod},
      {"PRelu", writePRelu}};
  if (getSameOperators().count(op))
    return writeSame;
  auto found = writers.find(op);
  return found == writers.end() ? nullptr : found->second;
}
