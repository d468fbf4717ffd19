//===- Reductions.cpp - Reductions and order ------------------------------===//

#include "Common/Reductions.h"
#include "Aten/AtenOp.h"
#include "Common/ElementWise.h"
#include "Common/Positions.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

namespace {

/// What is reduced, and how.
struct Reduction {
  NodeValue x;
  std::vector<int64_t> axes;
  bool keepsDims = false;
};

} // namespace

/// `self`, and `dim` and `keepdim` where the schema has them.
static llvm::Expected<Reduction> readReduction(AtenOp &op) {
  Reduction reduction;
  reduction.x = op.tensor("self");
  int64_t rank = op.getRank("self");
  if (op.has("dim")) {
    GLOWISH_ASSIGN_OR_RETURN(reduction.axes, op.axes("dim", rank));
  } else {
    reduction.axes = getAllDims(rank);
  }
  if (op.has("keepdim"))
    reduction.keepsDims = op.flag("keepdim");
  return reduction;
}

static NodeValue reduce(AtenOp &op, const Reduction &reduction,
                        llvm::StringRef mode) {
  return op.reduce(reduction.x, mode, reduction.axes, reduction.keepsDims);
}

/// Bools have no order: as integers, of which those of nothing are neither 0
/// nor 1.
static NodeValue reduceOrdered(AtenOp &op, Reduction reduction,
                               llvm::StringRef mode) {
  if (!reduction.x || reduction.x.getElemKind() != ElemKind::Bool)
    return reduce(op, reduction, mode);
  bool isEmpty = reduction.x.getType().getNumElements() == 0;
  reduction.x = op.cast(reduction.x, ElemKind::Int32);
  NodeValue result = reduce(op, reduction, mode);
  if (isEmpty && result)
    return op.splat(ElemKind::Bool, result.getShape(), mode == "min");
  return op.cast(result, ElemKind::Bool);
}

//===- Sums and products --------------------------------------------------===//

/// Of the kind `dtype`; integers and bools become int64. Of bools,
/// addition is "or" and multiplication "and".
template <bool IsSum> static llvm::Error importSum(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  ElemKind own = reduction.x.getElemKind();
  ElemKind kind = op.kind("dtype", isFloatKind(own) ? own : ElemKind::Int64);
  reduction.x = op.cast(reduction.x, kind);
  if (kind == ElemKind::Bool)
    return op.setResult(reduceOrdered(op, reduction, IsSum ? "max" : "min"));
  return op.setResult(reduce(op, reduction, IsSum ? "sum" : "prod"));
}

static llvm::Error importMean(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  ElemKind kind = op.kind("dtype", reduction.x.getElemKind());
  if (!isFloatKind(kind))
    return op.refuse("self", "floats");
  reduction.x = op.cast(reduction.x, kind);
  return op.setResult(reduce(op, reduction, "mean"));
}

static llvm::Error importCountNonzero(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  reduction.x = op.cast(op.cast(reduction.x, ElemKind::Bool), ElemKind::Int64);
  return op.setResult(reduce(op, reduction, "sum"));
}

static AtenOperators
    sums({{importSum<true>,
           {"sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
            "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
            "ScalarType? dtype=None) -> Tensor"}},
          {importSum<false>,
           {"prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
            "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
            "ScalarType? dtype=None) -> Tensor"}},
          {importMean,
           {"mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
            "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
            "ScalarType? dtype=None) -> Tensor"}},
          {importCountNonzero,
           {"count_nonzero(Tensor self, int? dim=None) -> Tensor",
            "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor"}}});

//===- Maxima -------------------------------------------------------------===//

template <bool IsMax> static llvm::Error importExtreme(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  return op.setResult(reduceOrdered(op, reduction, IsMax ? "max" : "min"));
}

/// Whether any element is true, or all are; of uint8 it is a uint8. An empty
/// list of dimensions has none, where other reductions have all.
template <bool IsAny> static llvm::Error importAny(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  ElemKind own = reduction.x.getElemKind();
  ElemKind kind = own == ElemKind::UInt8 ? own : ElemKind::Bool;
  reduction.x = op.cast(reduction.x, ElemKind::Bool);
  if (op.isStated("dim") && op.integers("dim").empty())
    return op.setResult(op.cast(reduction.x, kind));
  return op.setResult(
      op.cast(reduceOrdered(op, reduction, IsAny ? "max" : "min"), kind));
}

/// The index of the first maximum along \p axis, or minimum.
static NodeValue findExtreme(AtenOp &op, NodeValue x, int64_t axis,
                             bool keepsDims, bool isMax) {
  if (!x)
    return x;
  if (x.getElemKind() == ElemKind::Bool || x.getElemKind() == ElemKind::UInt8)
    x = op.cast(x, ElemKind::Int32);
  if (!isMax)
    x = turnOrder(op, x);
  return op.make<ArgMaxNode>(x, axis, keepsDims, /*selectLast=*/false);
}

/// Without `dim`, an index of all elements in a row.
template <bool IsMax> static llvm::Error importArg(AtenOp &op) {
  NodeValue x = op.tensor("self");
  bool keepsDims = op.flag("keepdim");
  if (!op.isNone("dim") && !x.getShape().empty()) {
    GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
    return op.setResult(findExtreme(op, x, axis, keepsDims, IsMax));
  }
  Dims ones(keepsDims ? x.getShape().size() : 0, 1);
  x = op.reshape(x, {x.getType().getNumElements()});
  return op.setResult(
      op.reshape(findExtreme(op, x, 0, /*keepsDims=*/false, IsMax), ones));
}

/// Maximum and its index along `dim`.
template <bool IsMax> static llvm::Error importExtremeWithIndex(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  NodeValue x = reduction.x;
  GLOWISH_RETURN_IF_ERROR(
      op.setResult(reduceOrdered(op, reduction, IsMax ? "max" : "min"), 0));
  if (reduction.axes.empty())
    return op.setResult(op.ints(ElemKind::Int64, {}, {0}), 1);
  return op.setResult(
      findExtreme(op, x, reduction.axes[0], reduction.keepsDims, IsMax), 1);
}

static AtenOperators extremes(
    {{importExtreme<true>,
      {"max(Tensor self) -> Tensor",
       "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"}},
     {importExtreme<false>,
      {"min(Tensor self) -> Tensor",
       "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"}}});
static AtenOperators
    extremesWithIndex({".dim(Tensor self, int dim, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"},
                      {{importExtremeWithIndex<true>, {"max"}},
                       {importExtremeWithIndex<false>, {"min"}}});
static AtenOperators
    indices({"(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"},
            {{importArg<true>, {"argmax"}}, {importArg<false>, {"argmin"}}});
static AtenOperators quantifiers(
    {"(Tensor self) -> Tensor",
     ".dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
     ".dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor"},
    {{importAny<true>, {"any"}}, {importAny<false>, {"all"}}});

//===- Variance and norms -------------------------------------------------===//

/// What is taken from the number of elements: 1 unless the schema or the
/// program says otherwise.
static double readCorrection(const AtenOp &op) {
  if (op.has("correction"))
    return op.number("correction", 1);
  return op.flag("unbiased") ? 1 : 0;
}

namespace {

struct Spread {
  NodeValue variance, mean;
};

} // namespace

static llvm::Expected<Spread> computeSpread(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  double count = 1;
  NodeValue open;
  for (int64_t axis : reduction.axes) {
    const Type &type = op.tensor("self").getType();
    count *= double(type.getDim(axis));
    if (!open && type.getExtent(axis))
      open = op.countAlong(op.tensor("self"), reduction.axes);
  }
  NodeValue mean = op.reduce(reduction.x, "mean", reduction.axes, true);
  NodeValue centred = op.sub(reduction.x, mean);
  Reduction squares = reduction;
  squares.x = op.mul(centred, centred);
  double correction = readCorrection(op);
  NodeValue variance;
  if (correction == 0)
    variance = reduce(op, squares, "mean");
  else if (open)
    variance = op.div(
        reduce(op, squares, "sum"),
        op.max(op.sub(op.cast(open, squares.x.getElemKind()), correction), 0));
  else
    variance =
        op.div(reduce(op, squares, "sum"), std::max(count - correction, 0.0));
  return Spread{variance, reduce(op, reduction, "mean")};
}

template <bool IsRoot, bool WithMean>
static llvm::Error importVariance(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(Spread spread, computeSpread(op));
  if (WithMean)
    GLOWISH_RETURN_IF_ERROR(op.setResult(spread.mean, 1));
  return op.setResult(IsRoot ? op.unary<SqrtNode>(spread.variance)
                             : spread.variance);
}

static AtenOperators
    spreads({"(Tensor self, bool unbiased=True) -> Tensor",
             ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool "
             "keepdim=False) -> Tensor",
             ".correction(Tensor self, int[1]? dim=None, *, Scalar? "
             "correction=None, bool keepdim=False) -> Tensor"},
            {{importVariance<false, false>, {"var"}},
             {importVariance<true, false>, {"std"}}});
static AtenOperators spreadsWithMean(
    {"(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
     ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) "
     "-> (Tensor, Tensor)",
     ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
     "bool keepdim=False) -> (Tensor, Tensor)"},
    {{importVariance<false, true>, {"var_mean"}},
     {importVariance<true, true>, {"std_mean"}}});

/// (sum of |x|^p)^(1/p); the largest |x| if p is infinite, and the number of
/// elements that are not 0 if p is 0.
static NodeValue computeNorm(AtenOp &op, Reduction reduction, double p) {
  NodeValue x = reduction.x;
  if (p == 2) {
    reduction.x = op.mul(x, x);
    return op.unary<SqrtNode>(reduce(op, reduction, "sum"));
  }
  reduction.x = op.unary<AbsNode>(x);
  if (std::isinf(p))
    return reduce(op, reduction, p > 0 ? "max" : "min");
  if (p == 0) {
    reduction.x = op.cast(op.cast(x, ElemKind::Bool), x.getElemKind());
    return reduce(op, reduction, "sum");
  }
  if (p != 1)
    reduction.x = op.pow(reduction.x, p);
  NodeValue sum = reduce(op, reduction, "sum");
  return p == 1 ? sum : op.pow(sum, 1 / p);
}

/// The power is named `p` or `ord`; without either it is 2. The norm of no
/// elements is 0.
static llvm::Error importNorm(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  double p = 2;
  for (llvm::StringRef name : {"p", "ord"})
    if (op.has(name))
      p = op.number(name, 2);
  if (op.has("dtype"))
    reduction.x =
        op.cast(reduction.x, op.kind("dtype", reduction.x.getElemKind()));
  ElemKind kind = reduction.x.getElemKind();
  if (p != 1 && p != 2 && !std::isinf(p))
    reduction.x = op.widen(reduction.x);
  NodeValue result = op.cast(computeNorm(op, reduction, p), kind);
  if (result && op.tensor("self").getType().getNumElements() == 0)
    result = op.splat(kind, result.getShape(), 0);
  return op.setResult(result);
}

static AtenOperators
    norms({{importNorm,
            {"norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
             "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool "
             "keepdim=False) -> Tensor",
             "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, "
             "bool keepdim, *, ScalarType dtype) -> Tensor",
             "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) "
             "-> Tensor",
             "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, "
             "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"}}});

static llvm::Error importLogSumExp(AtenOp &op) {
  GLOWISH_RETURN_IF_ERROR(op.checkFloat("self"));
  GLOWISH_ASSIGN_OR_RETURN(Reduction reduction, readReduction(op));
  ElemKind kind = reduction.x.getElemKind();
  NodeValue sum = makeLogSumExp(op, op.widen(reduction.x), reduction.axes,
                                reduction.keepsDims);
  return op.setResult(op.cast(sum, kind));
}

static AtenOperators logSumExp(
    {{importLogSumExp,
      {"logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"}}});

//===- Cumulative ---------------------------------------------------------===//

template <bool IsSum> static llvm::Error importCumulative(AtenOp &op) {
  NodeValue x = op.tensor("self");
  ElemKind own = x.getElemKind();
  x = op.cast(x, op.kind("dtype", isFloatKind(own) ? own : ElemKind::Int64));
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", op.getRank("self")));
  if (op.getRank("self") > 0)
    x = IsSum ? op.cumSum(x, axis)
              : multiplyAlong(op, x, axis, /*exclusive=*/false,
                              /*reverse=*/false);
  return op.setResult(x);
}

static AtenOperators cumulative(
    {{importCumulative<true>,
      {"cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"}},
     {importCumulative<false>,
      {"cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"}}});

//===- Order --------------------------------------------------------------===//

/// The first \p count elements along \p axis in order, and their indices.
static llvm::Error setOrdered(AtenOp &op, int64_t axis, int64_t count,
                              bool isDescending, bool wantsValues) {
  NodeValue x = op.tensor("self");
  int64_t rank = op.getRank("self");
  if (rank == 0) {
    NodeValue zero = op.ints(ElemKind::Int64, {}, {0});
    if (wantsValues)
      GLOWISH_RETURN_IF_ERROR(op.setResult(x, 0));
    return op.setResult(zero, wantsValues ? 1 : 0);
  }
  TopElements top = takeTop(op, x, axis, count, isDescending);
  if (wantsValues)
    GLOWISH_RETURN_IF_ERROR(op.setResult(top.values, 0));
  return op.setResult(top.indices, wantsValues ? 1 : 0);
}

static llvm::Error importTopK(AtenOp &op) {
  int64_t rank = op.getRank("self"), count = op.integer("k");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", rank));
  if (count < 0 || (rank > 0 && count > op.getShape("self")[axis]))
    return op.refuse("k", "a number of elements of the dimension");
  return setOrdered(op, axis, count, op.flag("largest"), /*wantsValues=*/true);
}

template <bool WantsValues> static llvm::Error importSort(AtenOp &op) {
  int64_t rank = op.getRank("self");
  GLOWISH_ASSIGN_OR_RETURN(int64_t axis, op.axis("dim", rank));
  return setOrdered(op, axis, rank ? op.getShape("self")[axis] : 1,
                    op.flag("descending"), WantsValues);
}

static AtenOperators order(
    {{importTopK,
      {"topk(Tensor self, int k, int dim=-1, bool largest=True, bool "
       "sorted=True) -> (Tensor values, Tensor indices)"}},
     {importSort<true>,
      {"sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor "
       "values, Tensor indices)",
       "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool "
       "descending=False) -> (Tensor values, Tensor indices)"}},
     {importSort<false>,
      {"argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
       "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool "
       "descending=False) -> Tensor"}}});
