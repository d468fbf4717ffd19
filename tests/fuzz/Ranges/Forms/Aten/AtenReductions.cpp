//===- AtenReductions.cpp - Operators along axes as ATen's ----------------===//

#include "AtenBuilder.h"

using namespace glowish;
using namespace glowish::fuzz;

/// The type of \p x without the elements along \p axes, which ascend.
static AtenTensorType reduce(AtenTensorType type, llvm::ArrayRef<int64_t> axes,
                             bool keepsDims) {
  for (int64_t axis : llvm::reverse(axes)) {
    if (keepsDims)
      type.dims[size_t(axis)] = Extent(1);
    else
      type.dims.erase(type.dims.begin() + axis);
  }
  return type;
}

/// The arguments of a sum: of ints PyTorch makes int64 if no kind is stated.
static std::pair<AtenArg::List, AtenNamed> getSum(const AtenArg &x,
                                                  llvm::ArrayRef<int64_t> axes,
                                                  bool keepsDims,
                                                  ElemKind kind) {
  AtenNamed named;
  if (!isFloatKind(kind))
    named.push_back({"dtype", kind});
  return {{x, axes, keepsDims}, named};
}

/// Multiplies elements along one axis after the other.
static void multiplyElements(AtenBuilder &b, const FormNode &node,
                             std::vector<int64_t> axes, bool keepsDims) {
  AtenArg x = b.getInput(node, 0);
  ElemKind kind = node.getType(0).getKind();
  AtenNamed named;
  if (!isFloatKind(kind))
    named.push_back({"dtype", kind});
  while (axes.size() > 1) {
    x = b.call("prod.dim_int", {x, axes.back(), keepsDims},
               reduce(b.getType(x), {axes.back()}, keepsDims), named);
    axes.pop_back();
  }
  b.finish(node, "prod.dim_int", {x, axes[0], keepsDims}, named);
}

/// The first result of an operator that has indices besides.
static void finishWithIndices(AtenBuilder &b, const FormNode &node,
                              llvm::StringRef op, int64_t axis,
                              bool keepsDims) {
  AtenArg x = b.getInput(node, 0);
  b.finishAll(node, op, {x, axis, keepsDims}, AtenResult::Tuple);
  AtenTensorType type = reduce(b.getType(x), {axis}, keepsDims);
  type.kind = ElemKind::Int64;
  b.addResult(type);
}

/// A mean as a sum by the number of elements, which a run may decide.
static bool divideSum(AtenBuilder &b, const FormNode &node, const AtenArg &x,
                      llvm::ArrayRef<int64_t> axes, bool keepsDims) {
  AtenTensorType type = b.getType(x);
  // A sum is not to be too large.
  if (type.kind != ElemKind::Float)
    return false;
  std::vector<Extent> extents;
  for (int64_t axis : axes)
    extents.push_back(type.dims[size_t(axis)]);
  auto count = multiplyAll(extents);
  auto number = count ? b.makeNumber(*count) : std::nullopt;
  if (!number)
    return false;
  AtenArg sum = b.call("sum.dim_IntList", {x, axes, keepsDims},
                       reduce(type, axes, keepsDims));
  b.finish(node, "div.Scalar", {sum, *number});
  return true;
}

/// The reductions \p op that floats alone have.
static bool reduceFloats(AtenBuilder &b, const FormNode &node,
                         llvm::StringRef op, AtenArg x,
                         llvm::ArrayRef<int64_t> axes, bool keepsDims) {
  if (op == "LogSum") {
    auto [arguments, named] = getSum(x, axes, keepsDims, b.getType(x).kind);
    x = b.call("sum.dim_IntList", arguments,
               reduce(b.getType(x), axes, keepsDims), named);
    b.finish(node, "log", {x});
    return true;
  }
  AtenArg list = axes;
  if (op == "Mean" && b.chance(node, 40)) {
    if (divideSum(b, node, x, axes, keepsDims))
      return true;
  }
  if (op == "L2" && b.chance(node, 40)) {
    AtenTensorType type = reduce(b.getType(x), axes, keepsDims);
    AtenArg squares = b.callUnary("square", x);
    b.finish(node, "sqrt",
             {b.call("sum.dim_IntList", {squares, list, keepsDims}, type)});
    return true;
  }
  if (op == "Mean")
    b.finish(node, "mean.dim", {x, list, keepsDims});
  else if (op == "LogSumExp")
    b.finish(node, "logsumexp", {x, list, keepsDims});
  else if (b.chance(node, 50))
    b.finish(node, "linalg_vector_norm",
             {x, op == "L1" ? int64_t(1) : int64_t(2), list, keepsDims});
  else
    b.finish(node, "norm.ScalarOpt_dim",
             {x, op == "L1" ? int64_t(1) : int64_t(2), list, keepsDims});
  return true;
}

static bool translateReduce(AtenBuilder &b, const FormNode &node) {
  llvm::StringRef op = node.getOp();
  op.consume_front("Reduce");
  ElemKind kind = node.getType(0).getKind();
  auto axes = node.findAxes();
  // Of an empty list PyTorch takes all dimensions, as ONNX does without one.
  if (!axes || axes->empty() || node.getInt("noop_with_empty_axes", 0) ||
      kind == ElemKind::Bool)
    return false;
  bool keepsDims = node.getInt("keepdims", 1) != 0;
  AtenArg x = b.getInput(node, 0);
  if (op == "Prod") {
    multiplyElements(b, node, *axes, keepsDims);
    return true;
  }
  if ((op == "Max" || op == "Min") && axes->size() == 1 && b.chance(node, 30)) {
    finishWithIndices(b, node, op == "Max" ? "max.dim" : "min.dim", (*axes)[0],
                      keepsDims);
    return true;
  }
  if (op == "Max" || op == "Min") {
    b.finish(node, op == "Max" ? "amax" : "amin",
             {x, llvm::ArrayRef(*axes), keepsDims});
    return true;
  }
  if (op == "Sum" || op == "SumSquare" || (op == "L1" && !isFloatKind(kind))) {
    if (op == "SumSquare")
      x = b.callBinary("mul.Tensor", x, x);
    if (op == "L1")
      x = b.callUnary("abs", x);
    auto [arguments, named] = getSum(x, *axes, keepsDims, kind);
    b.finish(node, "sum.dim_IntList", arguments, named);
    return true;
  }
  return isFloatKind(kind) && reduceFloats(b, node, op, x, *axes, keepsDims);
}

static bool translateArg(AtenBuilder &b, const FormNode &node) {
  if (node.getInt("select_last_index", 0))
    return false;
  bool isMax = node.getOp() == "ArgMax";
  b.finish(node, isMax ? "argmax" : "argmin",
           {b.getInput(node, 0), node.getAxis("axis", 0, node.getRank(0)),
            node.getInt("keepdims", 1) != 0});
  return true;
}

static bool translateSoftmax(AtenBuilder &b, const FormNode &node) {
  bool isLog = node.getOp() == "LogSoftmax";
  int64_t axis = node.getInt("axis", -1);
  AtenArg x = b.getInput(node, 0);
  if (!b.isScript() && b.chance(node, 40))
    b.finish(node, isLog ? "_log_softmax" : "_softmax", {x, axis, false});
  else
    b.finish(node, isLog ? "log_softmax.int" : "softmax.int",
             {x, axis, AtenArg()});
  return true;
}

/// The extents from dimension \p axis on, if no run decides them.
static std::optional<std::vector<int64_t>> getTail(const Type &type,
                                                   int64_t axis) {
  std::vector<int64_t> dims;
  for (auto d = unsigned(axis); d < type.getRank(); ++d) {
    auto length = type.getLength(d).getConstant();
    if (!length)
      return std::nullopt;
    dims.push_back(*length);
  }
  return dims;
}

static bool translateLayerNorm(AtenBuilder &b, const FormNode &node) {
  int64_t axis = node.getAxis("axis", -1, node.getRank(0));
  auto dims = getTail(node.getType(0), axis);
  if (!dims)
    return false;
  double epsilon = node.getFloat("epsilon", double(1e-5f));
  AtenArg x = b.getInput(node, 0), scale = b.getInput(node, 1);
  if (node.getOp() == "RMSNormalization") {
    // libtorch 1.13 has none.
    if (b.isScript())
      return false;
    b.finish(node, "rms_norm", {x, llvm::ArrayRef(*dims), scale, epsilon});
    return true;
  }
  AtenArg bias = node.hasInput(2) ? b.getInput(node, 2) : AtenArg();
  if (!b.isScript() && b.chance(node, 40)) {
    b.finishAll(node, "native_layer_norm",
                {x, llvm::ArrayRef(*dims), scale, bias, epsilon},
                AtenResult::Tuple);
    AtenTensorType type = b.getType(x);
    for (auto d = size_t(axis); d < type.dims.size(); ++d)
      type.dims[d] = Extent(1);
    b.addResult(type);
    b.addResult(type);
    return true;
  }
  b.finish(node, "layer_norm",
           {x, llvm::ArrayRef(*dims), scale, bias, epsilon, false});
  return true;
}

static bool translateCumSum(AtenBuilder &b, const FormNode &node) {
  auto axes = node.findInts(1);
  if (!axes || node.getInt("exclusive", 0))
    return false;
  ElemKind kind = node.getType(0).getKind();
  auto rank = int64_t(node.getRank(0));
  int64_t axis = (*axes)[0] + ((*axes)[0] < 0 ? rank : 0);
  AtenArg x = b.getInput(node, 0);
  AtenNamed named;
  if (!isFloatKind(kind) || b.chance(node, 20))
    named.push_back({"dtype", kind});
  if (!node.getInt("reverse", 0)) {
    b.finish(node, "cumsum", {x, axis}, named);
    return true;
  }
  x = b.flip(x, axis);
  x = b.call("cumsum", {x, axis}, b.getType(x), named);
  b.finish(node, "flip", {x, llvm::ArrayRef(axis)});
  return true;
}

static bool translateTopK(AtenBuilder &b, const FormNode &node) {
  int64_t axis = node.getAxis("axis", -1, node.getRank(0));
  bool isLargest = node.getInt("largest", 1) != 0;
  AtenArg x = b.getInput(node, 0);
  auto counts = b.findInts(node.getInput(1));
  if (!counts)
    return false;
  // All of them are sorted.
  if ((*counts)[0] == node.getType(0).getLength(unsigned(axis)) &&
      b.chance(node, 60)) {
    b.finishAll(node, "sort.stable", {x}, AtenResult::Tuple,
                {{"stable", true}, {"dim", axis}, {"descending", isLargest}});
    return true;
  }
  auto count = b.makeNumber((*counts)[0]);
  if (!count)
    return false;
  b.finishAll(node, "topk", {x, *count, axis, isLargest, true},
              AtenResult::Tuple);
  return true;
}

static bool translateImageNorm(AtenBuilder &b, const FormNode &node) {
  AtenArg x = b.getInput(node, 0), scale = b.getInput(node, 1),
          bias = b.getInput(node, 2);
  double epsilon = node.getFloat("epsilon", double(1e-5f));
  const AtenTensorType &type = b.getType(x);
  auto size = multiplyAll(llvm::ArrayRef(type.dims).drop_front(2));
  int64_t groups = node.getInt("num_groups", 1);
  if (node.getOp() == "GroupNormalization" && !b.isScript() &&
      b.chance(node, 50)) {
    auto batch = b.makeNumber(type.dims[0]),
         channels = b.makeNumber(type.dims[1]),
         elements = size ? b.makeNumber(*size) : std::nullopt;
    if (!batch || !channels || !elements)
      return false;
    AtenTensorType means(type.kind, {type.dims[0], Extent(groups)});
    b.finishAll(node, "native_group_norm",
                {x, scale, bias, *batch, *channels, *elements, groups, epsilon},
                AtenResult::Tuple);
    b.addResult(means);
    b.addResult(means);
    return true;
  }
  if (node.getOp() == "InstanceNormalization")
    b.finish(node, "instance_norm",
             {x, scale, bias, AtenArg(), AtenArg(), true, 0.1, epsilon, false});
  else
    b.finish(node, "group_norm",
             {x, node.getInt("num_groups", 1), scale, bias, epsilon, false});
  return true;
}

llvm::ArrayRef<AtenTranslation> fuzz::getAtenReductions() {
  static const AtenTranslation translations[] = {
      {"ReduceSum", translateReduce},
      {"ReduceMean", translateReduce},
      {"ReduceMax", translateReduce},
      {"ReduceMin", translateReduce},
      {"ReduceProd", translateReduce},
      {"ReduceSumSquare", translateReduce},
      {"ReduceL1", translateReduce},
      {"ReduceL2", translateReduce},
      {"ReduceLogSumExp", translateReduce},
      {"ReduceLogSum", translateReduce},
      {"ArgMax", translateArg},
      {"ArgMin", translateArg},
      {"Softmax", translateSoftmax},
      {"LogSoftmax", translateSoftmax},
      {"LayerNormalization", translateLayerNorm},
      {"RMSNormalization", translateLayerNorm},
      {"CumSum", translateCumSum},
      {"TopK", translateTopK},
      {"InstanceNormalization", translateImageNorm},
      {"GroupNormalization", translateImageNorm}};
  return translations;
}
