//===- Reduction.cpp - Export of reductions -------------------------------===//

#include "ONNX/GraphWriter.h"

using namespace glowish;

/// Returns \p layout without the dimensions \p axes of the result.
static Layout dropAxes(const Layout &layout, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t, 4> removed;
  for (int64_t axis : axes)
    removed.push_back(layout[axis]);
  Layout left;
  for (size_t d = 0; d < layout.size(); ++d)
    if (!llvm::is_contained(axes, int64_t(d)))
      left.push_back(layout[d] - llvm::count_if(removed, [&](int64_t axis) {
                       return axis < layout[d];
                     }));
  return left;
}

/// \p axes of \p layout, as ONNX counts them.
static Layout getAxes(const Layout &layout, llvm::ArrayRef<int64_t> axes) {
  Layout stored;
  for (int64_t axis : axes)
    stored.push_back(layout[axis]);
  llvm::sort(stored);
  return stored;
}

static const NodeExporter reduce = [](GraphWriter &w, const ReduceNode &node) {
  const Type &input = node.getInput().getType();
  llvm::StringRef mode = node.getMode();
  ElemKind kind = input.getKind();
  DimsRef shape = node.getType().getShape();
  if (input.getNumElements() == 0)
    return w.setResult(node, w.filled(kind, shape, mode == "prod" ? 1 : 0));
  Layout layout = w.getLayout(node.getInput());
  Layout axes = getAxes(layout, node.getAxes());
  int64_t count = 1;
  for (int64_t axis : node.getAxes())
    count *= input.getDim(axis);
  // ONNX does not define the rounding of ReduceMean on integers.
  bool isIntegerMean = mode == "mean" && isIntegerKind(kind);
  std::string type =
      isIntegerMean
          ? "ReduceSum"
          : ("Reduce" + mode.substr(0, 1).upper() + mode.substr(1)).str();
  OnnxValue result =
      w.reduce(type, w.getStored(node.getInput()), axes, node.getKeepDims());
  if (isIntegerMean)
    result = w.div(result, w.numberLike(result, double(count)));
  w.setResult(node, result,
              node.getKeepDims() ? layout : dropAxes(layout, node.getAxes()));
};

static void exportReduceInteger(GraphWriter &w, const ReduceIntegerNode &node) {
  if (node.getInput().getType().getNumElements() == 0)
    return w.setResult(node,
                       w.filled(ElemKind::Int32, node.getType().getShape(), 0));
  Layout layout = w.getLayout(node.getInput());
  OnnxValue x = w.cast(w.getStored(node.getInput()), ElemKind::Int32);
  w.setResult(node,
              w.reduce("ReduceSum", x, getAxes(layout, node.getAxes()),
                       node.getKeepDims()),
              node.getKeepDims() ? layout : dropAxes(layout, node.getAxes()));
}
static const NodeExporter reduceInteger = exportReduceInteger;

static const NodeExporter cumSum = [](GraphWriter &w, const CumSumNode &node) {
  Layout layout = w.getLayout(node.getInput());
  OnnxValue x = w.getStored(node.getInput());
  ElemKind kind = x.kind;
  // ONNX Runtime implements signed integers only. The low bits are the same.
  if (isIntegerKind(kind))
    x = w.cast(x, ElemKind::Int64);
  OnnxValue sums = w.op("CumSum", {x, w.ints({layout[node.getAxis()]})},
                        {intAttr("exclusive", node.getExclusive()),
                         intAttr("reverse", node.getReverse())});
  w.setResult(node, w.cast(sums, kind), layout);
};

static const NodeExporter argMax = [](GraphWriter &w, const ArgMaxNode &node) {
  return w.op("ArgMax", {w.get(node.getInput())},
              {intAttr("axis", node.getAxis()),
               intAttr("keepdims", node.getKeepDims()),
               intAttr("select_last_index", node.getSelectLast())});
};
