//===- Creation.cpp - New tensors -----------------------------------------===//

#include "Aten/AtenOp.h"
#include "Common/Positions.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

/// The kind of numbers of the argument \p argument.
static ElemKind getNumberKind(const AtenOp &op, llvm::StringRef argument) {
  return op.promote({argument});
}

static llvm::Error setFilled(AtenOp &op, ElemKind kind, DimsRef shape,
                             double value) {
  return op.setResult(op.splat(kind, shape, value));
}

//===- Of a shape ---------------------------------------------------------===//

template <int Value> static llvm::Error importSplat(AtenOp &op) {
  return setFilled(op, op.kind("dtype", ElemKind::Float), op.integers("size"),
                   Value);
}

/// Of the kind of `self`, if none is stated.
template <int Value> static llvm::Error importNew(AtenOp &op) {
  return setFilled(op, op.kind("dtype", op.tensor("self").getElemKind()),
                   op.integers("size"), Value);
}

template <int Value> static llvm::Error importLike(AtenOp &op) {
  NodeValue like = op.tensor("self");
  return setFilled(op, op.kind("dtype", like.getElemKind()), like.getShape(),
                   Value);
}

/// A number that may be computed when the program runs.
static llvm::Error setFull(AtenOp &op, ElemKind kind, DimsRef shape) {
  return op.setResult(op.broadcast(op.operand("fill_value", kind), shape));
}

static llvm::Error importFull(AtenOp &op) {
  return setFull(op, op.kind("dtype", getNumberKind(op, "fill_value")),
                 op.integers("size"));
}

static llvm::Error importNewFull(AtenOp &op) {
  return setFull(op, op.kind("dtype", op.tensor("self").getElemKind()),
                 op.integers("size"));
}

static llvm::Error importFullLike(AtenOp &op) {
  NodeValue like = op.tensor("self");
  return setFull(op, op.kind("dtype", like.getElemKind()), like.getShape());
}

/// `self` as a tensor of its own.
static llvm::Error importFill(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(
      op.broadcast(op.operand("value", x.getElemKind()), x.getShape()));
}

static AtenOperators zerosOp(
    importSplat<0>,
    {"zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None, "
     "MemoryFormat? memory_format=None) -> Tensor"});
static AtenOperators
    onesOp(importSplat<1>,
           {"ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, "
            "Device? device=None, bool? pin_memory=None) -> Tensor"});
static AtenOperators
    newZerosOp(importNew<0>,
               {"new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, "
                "Layout? layout=None, Device? device=None, bool? "
                "pin_memory=None) -> Tensor",
                "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, "
                "Layout? layout=None, Device? device=None, bool? "
                "pin_memory=None) -> Tensor"});
static AtenOperators
    newOnesOp(importNew<1>,
              {"new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, "
               "Layout? layout=None, Device? device=None, bool? "
               "pin_memory=None) -> Tensor"});
static AtenOperators
    zerosLikeOp(importLike<0>,
                {"zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? "
                 "layout=None, Device? device=None, bool? pin_memory=None, "
                 "MemoryFormat? memory_format=None) -> Tensor",
                 "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? "
                 "layout=None, Device? device=None, bool? pin_memory=None, "
                 "MemoryFormat? memory_format=None) -> Tensor"});
static AtenOperators
    onesLikeOp(importLike<1>,
               {"ones_like(Tensor self, *, ScalarType? dtype=None, Layout? "
                "layout=None, Device? device=None, bool? pin_memory=None, "
                "MemoryFormat? memory_format=None) -> Tensor"});
static AtenOperators
    fullOp(importFull,
           {"full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, "
            "Layout? layout=None, Device? device=None, bool? pin_memory=None) "
            "-> Tensor"});
static AtenOperators
    newFullOp(importNewFull,
              {"new_full(Tensor self, int[] size, Scalar fill_value, *, "
               "ScalarType? dtype=None, Layout? layout=None, Device? "
               "device=None, bool? pin_memory=None) -> Tensor"});
static AtenOperators fullLikeOp(
    importFullLike,
    {"full_like(Tensor self, Scalar fill_value, *, ScalarType? "
     "dtype=None, Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"});
static AtenOperators
    fillOp(importFill, {"fill.Scalar(Tensor self, Scalar value) -> Tensor",
                        "fill.Tensor(Tensor self, Tensor value) -> Tensor"});

//===- Sequences ----------------------------------------------------------===//

/// The most elements of a sequence, which is a constant.
static constexpr double maxElements = 1 << 24;

/// start, start + step, ...; \p count of them.
static llvm::Error setSequence(AtenOp &op, ElemKind kind, double start,
                               double step, double count) {
  if (!(count >= 0 && count <= maxElements))
    return makeError("it has {0} elements; accepted: at most {1}", count,
                     maxElements);
  return op.setResult(op.table(kind, {int64_t(count)}, [&](DimsRef index) {
    return start + double(index[0]) * step;
  }));
}

/// The same of integers, which a double may not have.
static llvm::Error setIntegers(AtenOp &op, ElemKind kind, int64_t start,
                               int64_t end, int64_t step) {
  double count = countIntegers(start, end, step);
  if (count > maxElements)
    return makeError("it has {0} elements; accepted: at most {1}", count,
                     maxElements);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < int64_t(count); ++i)
    values.push_back(int64_t(uint64_t(start) + uint64_t(i) * uint64_t(step)));
  return op.setResult(op.ints(kind, {int64_t(count)}, values));
}

/// From `start` (0) by `step` (1) to before `end`.
static llvm::Error importArange(AtenOp &op) {
  auto has = [&](llvm::StringRef argument) {
    return op.getSchema().findArgument(argument).has_value();
  };
  double start = 0, step = 1;
  std::vector<llvm::StringRef> numbers = {"end"};
  GLOWISH_ASSIGN_OR_RETURN(double end, op.number("end"));
  if (has("start")) {
    GLOWISH_ASSIGN_OR_RETURN(start, op.number("start"));
    numbers.push_back("start");
  }
  if (has("step")) {
    GLOWISH_ASSIGN_OR_RETURN(step, op.number("step"));
    numbers.push_back("step");
  }
  if (step == 0)
    return op.refuse("step", "another number than 0");
  ElemKind kind = op.kind("dtype", op.promote(numbers));
  auto areIntegers = [&](llvm::StringRef name) {
    return op.get(name).is<int64_t>();
  };
  if (isIntegerKind(kind) && llvm::all_of(numbers, areIntegers))
    return setIntegers(op, kind, has("start") ? op.integer("start") : 0,
                       op.integer("end"), has("step") ? op.integer("step") : 1);
  return setSequence(op, kind, start, step,
                     std::max(std::ceil((end - start) / step), 0.0));
}

static llvm::Error importLinspace(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(double start, op.number("start"));
  GLOWISH_ASSIGN_OR_RETURN(double end, op.number("end"));
  int64_t steps = op.integer("steps");
  double step = steps > 1 ? (end - start) / double(steps - 1) : 0;
  return setSequence(op, op.kind("dtype", ElemKind::Float), start, step,
                     double(steps));
}

static llvm::Error importEye(AtenOp &op) {
  int64_t rows = op.integer("n");
  int64_t columns = op.getSchema().findArgument("m") ? op.integer("m") : rows;
  return op.setResult(
      op.table(op.kind("dtype", ElemKind::Float), {rows, columns},
               [](DimsRef index) { return double(index[0] == index[1]); }));
}

static AtenOperators arangeOp(
    importArange,
    {"arange(Scalar end, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) -> "
     "Tensor",
     "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, "
     "Layout? layout=None, Device? device=None, bool? "
     "pin_memory=None) -> Tensor",
     "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, "
     "ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor"});
static AtenOperators
    linspaceOp(importLinspace,
               {"linspace(Scalar start, Scalar end, int steps, *, ScalarType? "
                "dtype=None, Layout? layout=None, Device? device=None, bool? "
                "pin_memory=None) -> Tensor"});
static AtenOperators eyeOp(
    importEye,
    {"eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? "
     "device=None, bool? pin_memory=None) -> Tensor",
     "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor"});

//===- Numbers ------------------------------------------------------------===//

static llvm::Error importScalarTensor(AtenOp &op) {
  return op.setResult(op.operand("s", op.kind("dtype", ElemKind::Float)));
}

static AtenOperators scalarTensorOp(
    importScalarTensor,
    {"scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? "
     "layout=None, Device? device=None, bool? pin_memory=None) "
     "-> Tensor"});

//===- Triangles ----------------------------------------------------------===//

/// What is not above diagonal `diagonal` of matrices, or not below.
template <bool IsLower> static llvm::Error importTriangle(AtenOp &op) {
  NodeValue x = op.tensor("self");
  if (x.getShape().size() < 2)
    return op.refuse("self", "rank 2 and more");
  return op.setResult(keepTriangle(op, x, op.integer("diagonal"), IsLower));
}

static AtenOperators trilOp(importTriangle<true>,
                            {"tril(Tensor self, int diagonal=0) -> Tensor"});
static AtenOperators triuOp(importTriangle<false>,
                            {"triu(Tensor self, int diagonal=0) -> Tensor"});
