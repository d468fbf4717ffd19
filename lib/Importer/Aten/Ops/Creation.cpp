//===- Creation.cpp - New tensors -----------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/Positions.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

//===- Of a shape ---------------------------------------------------------===//

template <int Value> static llvm::Error importSplat(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, op.newType(ElemKind::Float));
  return op.setResult(op.declareExtents(
      op.splat(type.getKind(), type.getShape(), Value), type));
}

/// Broadcasts the number, which may be computed when the program runs.
static llvm::Error importFull(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Type type, op.newType(op.promote({"fill_value"})));
  return op.setResult(op.declareExtents(
      op.broadcast(op.operand("fill_value", type.getKind()), type.getShape()),
      type));
}

/// Fills a tensor of the shape of `self`.
static llvm::Error importFill(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(op.declareExtents(
      op.broadcast(op.operand("value", x.getElemKind()), x.getShape()),
      x.getType()));
}

static AtenOperators
    ofSize({tensorOptions},
           {{importSplat<0>,
             {"zeros(SymInt[] size, ", "new_zeros(Tensor self, SymInt[] size, ",
              "new_empty(Tensor self, SymInt[] size, "}},
            {importSplat<1>,
             {"ones(SymInt[] size, ", "new_ones(Tensor self, SymInt[] size, "}},
            {importFull,
             {"full(SymInt[] size, Scalar fill_value, ",
              "new_full(Tensor self, SymInt[] size, Scalar fill_value, "}}},
           AtenOrder::RowMajor);
static AtenOperators
    uninitialized({tensorOptionsWithFormat},
                  {{importSplat<0>, {"empty.memory_format(SymInt[] size, "}}},
                  AtenOrder::RowMajor);
static AtenOperators
    filled({{importFill,
             {"fill.Scalar(Tensor self, Scalar value) -> Tensor",
              "fill.Tensor(Tensor self, Tensor value) -> Tensor"}}},
           AtenOrder::Kept);
static AtenOperators likes(
    {tensorOptionsWithFormat},
    {{importSplat<0>, {"zeros_like(Tensor self, ", "empty_like(Tensor self, "}},
     {importSplat<1>, {"ones_like(Tensor self, "}},
     {importFull, {"full_like(Tensor self, Scalar fill_value, "}}},
    AtenOrder::Kept);

//===- Sequences ----------------------------------------------------------===//

/// The most elements of a sequence, which is a constant.
static constexpr double maxElements = 1 << 24;

/// Returns an error if a sequence of \p count elements is too long.
static llvm::Error checkCount(double count) {
  if (!(count >= 0 && count <= maxElements))
    return makeError("it has {0} elements; accepted: at most {1}", count,
                     maxElements);
  return llvm::Error::success();
}

/// Returns a known number as an int64, cut as casts are.
static llvm::Expected<int64_t> readInt(AtenOp &op, llvm::StringRef argument) {
  const AtenValue &value = op.get(argument);
  if (value.is<int64_t>())
    return value.get<int64_t>();
  GLOWISH_ASSIGN_OR_RETURN(double number, op.number(argument));
  if (!(std::fabs(number) < 0x1p63))
    return op.refuse(argument, "numbers that are an int64");
  return int64_t(number);
}

/// Returns a sequence of \p count elements of \p kind; \p at returns each by
/// its index.
static NodeValue makeSequence(AtenOp &op, ElemKind kind, int64_t count,
                              llvm::function_ref<double(int64_t)> at) {
  return op.table(kind, {count}, [&](DimsRef index) { return at(index[0]); });
}

/// Returns \p count integers of \p kind: start, start + step, ...
static NodeValue makeIntegers(AtenOp &op, ElemKind kind, int64_t count,
                              int64_t start, int64_t step) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)));
  return op.ints(kind, {count}, values);
}

/// Sets \p sequence, the elements up to the bound of `end`, whose extent a run
/// decides: there are as many as come before it.
static llvm::Error setOpenSequence(AtenOp &op, NodeValue sequence) {
  auto isInt = [&](llvm::StringRef name) {
    return !op.has(name) || op.get(name).is<int64_t>();
  };
  int64_t start = isInt("start") && op.has("start") ? op.integer("start") : 0,
          step = isInt("step") && op.has("step") ? op.integer("step") : 1;
  if (!isInt("start"))
    return op.refuse("start", "an int that is known when the model is "
                              "compiled, where a run decides the end");
  if (!isInt("step") || step < 1)
    return op.refuse("step", "an int of 1 and more, where a run decides the "
                             "end");
  const Extent end = *op.extent("end");
  std::optional<Extent> count = subtract(end, start);
  count = count ? divideUp(*count, step) : count;
  if (!count || op.getSymbols().isAtMost(start, end) != Certainty::Yes)
    return op.refuse("end", "an end that is never before the start");
  if (!sequence)
    return op.setResult(sequence);
  return op.setResult(
      op.declareExtents(sequence, sequence.getType().withExtents({*count})));
}

/// Counts from `start` (0) by `step` (1) to before `end`.
static llvm::Error importArange(AtenOp &op) {
  std::vector<llvm::StringRef> numbers = {"end"};
  for (llvm::StringRef name : {"start", "step"})
    if (op.has(name))
      numbers.push_back(name);
  ElemKind kind = op.kind("dtype", op.promote(numbers));
  double start = 0, step = 1;
  // An end that a run decides stands for all elements up to its bound.
  std::optional<int64_t> bound = op.getBound("end");
  double end = bound ? double(*bound) : 0;
  if (!bound) {
    GLOWISH_ASSIGN_OR_RETURN(end, op.number("end"));
  }
  if (op.has("start")) {
    GLOWISH_ASSIGN_OR_RETURN(start, op.number("start"));
  }
  if (op.has("step")) {
    GLOWISH_ASSIGN_OR_RETURN(step, op.number("step"));
  }
  if (step == 0)
    return op.refuse("step", "another number than 0");
  double count = std::max(std::ceil((end - start) / step), 0.0);
  if (!isIntegerKind(kind)) {
    GLOWISH_RETURN_IF_ERROR(checkCount(count));
    NodeValue sequence = makeSequence(op, kind, int64_t(count), [&](int64_t i) {
      return start + double(i) * step;
    });
    return bound ? setOpenSequence(op, sequence) : op.setResult(sequence);
  }
  // Numbers of integer kinds are cut first; their count follows from the
  // numbers before that, but for int64.
  int64_t first = 0, distance = 1;
  if (op.has("start")) {
    GLOWISH_ASSIGN_OR_RETURN(first, readInt(op, "start"));
  }
  if (op.has("step")) {
    GLOWISH_ASSIGN_OR_RETURN(distance, readInt(op, "step"));
  }
  int64_t last = bound.value_or(0);
  if (!bound) {
    GLOWISH_ASSIGN_OR_RETURN(last, readInt(op, "end"));
  }
  if (distance == 0)
    return op.refuse("step", "a number whose integer is not 0");
  if (kind == ElemKind::Int64)
    count = countIntegers(first, last, distance);
  GLOWISH_RETURN_IF_ERROR(checkCount(count));
  NodeValue sequence = makeIntegers(op, kind, int64_t(count), first, distance);
  return bound ? setOpenSequence(op, sequence) : op.setResult(sequence);
}

/// Divides the range from `start` to `end`, both of which it has; each half is
/// computed from its own end.
static llvm::Error importLinspace(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(double start, op.number("start"));
  GLOWISH_ASSIGN_OR_RETURN(double end, op.number("end"));
  ElemKind kind = op.kind("dtype", ElemKind::Float);
  if (isIntegerKind(kind))
    start = std::trunc(start), end = std::trunc(end);
  int64_t steps = op.integer("steps");
  GLOWISH_RETURN_IF_ERROR(checkCount(double(steps)));
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  return op.setResult(makeSequence(op, kind, steps, [&](int64_t i) {
    return i < (steps + 1) / 2 ? start + double(i) * step
                               : end - double(steps - 1 - i) * step;
  }));
}

static llvm::Error importEye(AtenOp &op) {
  int64_t rows = op.integer("n");
  int64_t columns = op.has("m") ? op.integer("m") : rows;
  return op.setResult(
      op.table(op.kind("dtype", ElemKind::Float), {rows, columns},
               [](DimsRef index) { return double(index[0] == index[1]); }));
}

static AtenOperators sequences(
    {tensorOptions},
    {{importArange,
      {"arange(Scalar end, ", "arange.start(Scalar start, Scalar end, ",
       "arange.start_step(Scalar start, Scalar end, Scalar step=1, "}},
     {importLinspace, {"linspace(Scalar start, Scalar end, int steps, "}},
     {importEye, {"eye(int n, ", "eye.m(int n, int m, "}}},
    AtenOrder::RowMajor);

//===- Numbers ------------------------------------------------------------===//

static llvm::Error importScalarTensor(AtenOp &op) {
  return op.setResult(op.operand("s", op.kind("dtype", ElemKind::Float)));
}

static AtenOperators numbers({tensorOptions}, {{importScalarTensor,
                                                {"scalar_tensor(Scalar s, "}}});

//===- Triangles ----------------------------------------------------------===//

/// Keeps the elements that are not above diagonal `diagonal` of matrices, or
/// not below.
template <bool IsLower> static llvm::Error importTriangle(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (x.getShape().size() < 2)
    return op.refuse("self", "rank 2 and more");
  return op.setResult(keepTriangle(op, x, op.integer("diagonal"), IsLower));
}

static AtenOperators triangles(
    {{importTriangle<true>, {"tril(Tensor self, int diagonal=0) -> Tensor"}},
     {importTriangle<false>, {"triu(Tensor self, int diagonal=0) -> Tensor"}}});
