//===- Copies.cpp - Copies, conversions and dropout -----------------------===//

#include "Aten/AtenOp.h"
#include "Common/Positions.h"
#include "glowish/Base/CheckedInt.h"
#include <cmath>

using namespace glowish;
using namespace glowish::aten;

/// What only matters to memory, devices and gradients.
static llvm::Error importIdentity(AtenOp &op) {
  return op.setResult(op.tensor(op.getSchema().arguments.front().name));
}

/// To the kind `dtype`, if it is stated.
static llvm::Error importConversion(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(op.cast(x, op.kind("dtype", x.getElemKind())));
}

static llvm::Error importConversionAs(AtenOp &op) {
  return op.setResult(
      op.cast(op.tensor("self"), op.tensor("other").getElemKind()));
}

/// The elements of another tensor, in the shape and kind of this one.
static llvm::Error importCopy(AtenOp &op) {
  NodeValue x = op.tensor("self");
  return op.setResult(
      op.broadcast(op.cast(op.tensor("src"), x.getElemKind()), x.getShape()));
}

static AtenOperators copies(
    {{importCopy,
      {"copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"}}});
static AtenOperators conversions(
    {{importIdentity,
      {"contiguous(Tensor(a) self, *, MemoryFormat memory_format=None) -> "
       "Tensor(a)",
       "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
       "detach(Tensor(a) self) -> Tensor(a)",
       "alias(Tensor(a) self) -> Tensor(a)", "cpu(Tensor(a) self) -> Tensor(a)",
       "positive(Tensor(a) self) -> Tensor(a)",
       "resolve_conj(Tensor(a) self) -> Tensor(a)",
       "resolve_neg(Tensor(a) self) -> Tensor(a)",
       "lift_fresh(Tensor(a) self) -> Tensor(a)",
       "requires_grad_(Tensor(a) self, bool requires_grad=True) -> Tensor(a)",
       "data(Tensor(a) self) -> Tensor(a)",
       "to_dense(Tensor(a) self) -> Tensor(a)",
       "to.prim_other(Tensor(a) self, bool non_blocking=False, bool "
       "copy=False) -> Tensor(a)"}},
     {importConversion,
      {"to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
       "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
       "to.device(Tensor(a) self, Device device, ScalarType dtype, bool "
       "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
       "-> Tensor(a)",
       "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? "
       "layout=None, Device? device=None, bool? pin_memory=None, bool "
       "non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) "
       "-> Tensor(a)",
       "to.prim_Device(Tensor(a) self, Device? device, ScalarType? dtype=None, "
       "bool non_blocking=False, bool copy=False) -> Tensor(a)",
       "to.prim_dtype(Tensor(a) self, ScalarType? dtype=None, bool "
       "non_blocking=False, bool copy=False) -> Tensor(a)",
       "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
       "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
       "MemoryFormat? memory_format=None) -> Tensor"}},
     {importConversionAs,
      {"type_as(Tensor self, Tensor other) -> Tensor",
       "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool "
       "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"}}},
    AtenOrder::Kept);
static AtenOperators
    detached({"(Tensor self) -> Tensor"},
             {{importIdentity, {"detach_copy", "lift_fresh_copy", "lift"}}},
             AtenOrder::Kept);

/// To the kind that the operator's name has.
template <ElemKind kind> static llvm::Error importCast(AtenOp &op) {
  return op.setResult(op.cast(op.tensor("self"), kind));
}

// Archives that PyTorch traced before 1.5 have them.
static AtenOperators casts({"(Tensor self, bool non_blocking=False) -> Tensor"},
                           {{importCast<ElemKind::UInt8>, {"_cast_Byte"}},
                            {importCast<ElemKind::Int8>, {"_cast_Char"}},
                            {importCast<ElemKind::Double>, {"_cast_Double"}},
                            {importCast<ElemKind::Float>, {"_cast_Float"}},
                            {importCast<ElemKind::Int32>, {"_cast_Int"}},
                            {importCast<ElemKind::Int64>, {"_cast_Long"}},
                            {importCast<ElemKind::Int16>, {"_cast_Short"}},
                            {importCast<ElemKind::Float16>, {"_cast_Half"}}},
                           AtenOrder::Kept);

//===- Dropout ------------------------------------------------------------===//

/// A node for training, else the identity.
static llvm::Error importDropout(AtenOp &op) {
  NodeValue x = op.tensor("input");
  double ratio = op.number("p", 0);
  bool isKept = op.isTraining() && ratio > 0 && ratio < 1;
  if (isKept)
    x = op.make<DropoutNode>(x, ratio);
  return op.setResult(x);
}

static AtenOperators
    dropouts({{importDropout,
               {"dropout(Tensor input, float p, bool train) -> Tensor",
                "feature_dropout(Tensor input, float p, bool train) -> Tensor",
                "alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                "native_dropout(Tensor input, float p, bool? train) -> "
                "(Tensor, Tensor)"}}});

//===- Padding ------------------------------------------------------------===//

/// Pads of the node from PyTorch's, which begin at the last dimension.
static llvm::Expected<std::vector<int64_t>> readPads(AtenOp &op,
                                                     llvm::StringRef argument) {
  std::vector<int64_t> stated = op.integers(argument);
  size_t rank = size_t(op.getRank("self"));
  if (stated.size() % 2 || stated.size() / 2 > rank)
    return op.refuse(argument, "two numbers for each dimension at the end");
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < stated.size() / 2; ++i) {
    pads[rank - 1 - i] = stated[2 * i];
    pads[2 * rank - 1 - i] = stated[2 * i + 1];
  }
  return pads;
}

/// Pads by a number; None is 0.
static llvm::Error importConstantPad(AtenOp &op) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads, readPads(op, "pad"));
  NodeValue x = op.tensor("self");
  if (op.isNone("value"))
    return op.setResult(op.pad(x, pads, 0));
  if (op.get("value").is<int64_t>() && isIntegerKind(x.getElemKind()))
    if (int64_t value = op.integer("value"); std::abs(double(value)) >= 0x1p53)
      return op.setResult(
          padByInteger(op, x, pads, op.ints(x.getElemKind(), {}, {value})));
  GLOWISH_ASSIGN_OR_RETURN(double value, op.number("value"));
  return op.setResult(op.pad(x, pads, value));
}

/// Wraps around: what is before the first element is the last one.
static NodeValue padCircular(AtenOp &op, NodeValue x,
                             llvm::ArrayRef<int64_t> pads) {
  size_t rank = pads.size() / 2;
  for (size_t d = 0; x && d < rank; ++d) {
    int64_t before = pads[d], after = pads[rank + d], extent = x.getShape()[d];
    std::vector<NodeValue> parts;
    if (before > 0)
      parts.push_back(op.slice(x, int64_t(d), extent - before, before));
    parts.push_back(x);
    if (after > 0)
      parts.push_back(op.slice(x, int64_t(d), 0, after));
    x = op.concat(parts, int64_t(d));
  }
  return x;
}

/// \p x without what negative \p pads take away.
static llvm::Expected<NodeValue> crop(AtenOp &op, llvm::StringRef argument,
                                      NodeValue x,
                                      llvm::ArrayRef<int64_t> pads) {
  size_t rank = pads.size() / 2;
  for (size_t d = 0; x && d < rank; ++d) {
    int64_t before = std::min<int64_t>(pads[d], 0),
            after = std::min<int64_t>(pads[rank + d], 0);
    CheckedInt left = CheckedInt(x.getShape()[d]) + before + after;
    if (!left.isBetween(0, INT64_MAX))
      return op.refuse(argument, "numbers that leave elements");
    if (before || after)
      x = op.slice(x, int64_t(d), -before, *left.get());
  }
  return op.finish(x);
}

static llvm::Error setPadded(AtenOp &op, llvm::StringRef argument,
                             llvm::StringRef mode) {
  GLOWISH_ASSIGN_OR_RETURN(std::vector<int64_t> pads, readPads(op, argument));
  std::vector<int64_t> added = pads;
  for (int64_t &pad : added)
    pad = std::max<int64_t>(pad, 0);
  NodeValue x = op.tensor("self");
  // What wraps around are elements that are left; what is reflected or repeated
  // are those of all.
  if (mode != "circular") {
    GLOWISH_ASSIGN_OR_RETURN(
        x, crop(op, argument, op.make<PadNode>(x, added, mode, 0.0), pads));
    return op.setResult(x);
  }
  GLOWISH_ASSIGN_OR_RETURN(x, crop(op, argument, x, pads));
  for (size_t i = 0; i < added.size(); ++i)
    if (added[i] > x.getShape()[i % (added.size() / 2)])
      return op.refuse(argument, "numbers that are not above the extents");
  return op.setResult(padCircular(op, x, added));
}

static llvm::Error importReflectionPad(AtenOp &op) {
  return setPadded(op, "padding", "reflect");
}
static llvm::Error importReplicationPad(AtenOp &op) {
  return setPadded(op, "padding", "edge");
}

static llvm::Error importPad(AtenOp &op) {
  std::string mode = op.text("mode");
  if (mode == "constant")
    return importConstantPad(op);
  if (mode == "replicate")
    return setPadded(op, "pad", "edge");
  if (mode == "reflect" || mode == "circular")
    return setPadded(op, "pad", mode);
  return op.refuse("mode", "constant, reflect, replicate and circular");
}

static AtenOperators paddings(
    {{importConstantPad,
      {"constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor"}},
     {importReflectionPad,
      {"reflection_pad1d(Tensor self, int[2] padding) -> Tensor",
       "reflection_pad2d(Tensor self, int[4] padding) -> Tensor",
       "reflection_pad3d(Tensor self, int[6] padding) -> Tensor"}},
     {importReplicationPad,
      {"replication_pad1d(Tensor self, int[2] padding) -> Tensor",
       "replication_pad2d(Tensor self, int[4] padding) -> Tensor",
       "replication_pad3d(Tensor self, int[6] padding) -> Tensor"}},
     {importPad,
      {"pad(Tensor self, int[] pad, str mode='constant', float? value=None) -> "
       "Tensor"}}});
